"""Real input: with Qwen3's own tokenizer files, a conversation of twenty turns streams through every dialect, and the ids
that reach the worker are those of Hugging Face's tokenizers for what jinja2 renders.

The files are too large for the repository: they are read from ../shared/tokens/full/qwen3 (or LEEWAY_SHARED).
"""
import gzip, json, os, pathlib, sys, tempfile

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from fakeworker import Worker
from running import ROOT, events, gateway, post

SHARED = pathlib.Path(os.environ.get("LEEWAY_SHARED", ROOT.parent / "shared")) / "tokens" / "full" / "qwen3"
WORDS = ["What is a prefix? Ein Präfix, 前缀, بادئة.", "def f(x):\n    return x ** 2  # 🙂\n", "  indented\n\n\n\ttabs\r\n", "1234567890 + 3.14159e-10",
         "e\u0301 and é, ﬁ, ½, \u200b", "<|im_start|> is text here? <think>no</think>", "https://example.org/a?b=c&d=%20"]


def conversation():
    messages = [{"role": "system", "content": "You are brief. Antworte kurz. 简短回答。"}]
    for turn in range(20):
        messages.append({"role": "user", "content": f"Turn {turn}: " + WORDS[turn % len(WORDS)] * (1 + turn % 3)})
        if turn < 19:
            messages.append({"role": "assistant", "content": f"<think>\nhm {turn}\n</think>\n\nAnswer {turn}. " + WORDS[(turn + 3) % len(WORDS)]})
    return messages


def main():
    if not SHARED.is_dir():
        print(f"SKIPPED: no Qwen3 files at {SHARED}; nothing was checked here")
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in SHARED.glob("*.gz"):
            (pathlib.Path(folder) / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        config = json.loads((pathlib.Path(folder) / "tokenizer_config.json").read_text())
        tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        messages = conversation()
        prompt = environment.from_string(config["chat_template"]).render(messages=messages, add_generation_prompt=True)
        want = tokenizer.encode(prompt, add_special_tokens=False).ids
        answer = "Ein Präfix ist ein Anfang 🙂 — 前缀。"
        for dialect in ("sglang", "vllm", "tokenspeed"):
            worker = Worker(dialect, folder, "qwen3", tokenizer.encode(answer, add_special_tokens=False).ids)
            try:
                with gateway("--worker-urls", worker.url, "--tokenizer-path", folder) as (base, _):
                    stream = events(post(base + "/v1/chat/completions", {"model": "qwen3", "messages": messages, "stream": True}))
            finally:
                worker.close()
            text = "".join(c["delta"].get("content") or "" for e in stream for c in e["choices"])
            assert text == answer, text
            got = list(worker.requests[0].tokenized.input_ids)
            assert got == want, f"{dialect}: {len(got)} ids, want {len(want)}; first difference at {next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)}"
        print(f"Qwen3: {len(messages)} messages, {len(want)} tokens, equal to Hugging Face's in every dialect")


main()
