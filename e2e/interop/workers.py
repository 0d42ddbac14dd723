"""leeway in front of workers built on the published stubs: every dialect is detected, given the tokens that Hugging Face
gives, streams its answer back, is polled for loads and followed for KV events."""
import json

from tokenizers import Tokenizer

from fakeworker import Worker
from running import DEMO, events, gateway, metric, post, until

ANSWER = "A worker of another make says héllo 👋🏽, twice: 你好, 你好."
CHAT = {"model": "fake", "messages": [{"role": "user", "content": "Tell me of prefixes, and of blocks. " * 8}]}


def check(dialect):
    tokenizer = Tokenizer.from_file(str(DEMO / "tokenizer.json"))
    worker = Worker(dialect, DEMO, "fake", tokenizer.encode(ANSWER, add_special_tokens=False).ids)
    try:
        with gateway("--worker-urls", worker.url, "--load-monitor-interval", "1") as (base, metrics):
            whole = json.loads(post(base + "/v1/chat/completions", CHAT))
            assert whole["choices"][0]["message"]["content"] == ANSWER, whole
            stream = events(post(base + "/v1/chat/completions", {**CHAT, "stream": True, "stream_options": {"include_usage": True}}))
            text = "".join(c["delta"].get("content") or "" for e in stream for c in e["choices"])
            assert text == ANSWER, text
            assert stream[-1]["usage"]["completion_tokens"] == len(worker.answer), stream[-1]
            check_request(worker, tokenizer)
            usage = whole["usage"]
            assert usage["prompt_tokens"] == len(worker.requests[0].tokenized.input_ids), usage
            assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] // 2, usage
            for call in ("GetLoads", "GetModelInfo", "GetTokenizer", "SubscribeKvEvents"):
                until(call, 5, lambda: call in worker.calls)
            until("applied KV events", 5, lambda: metric(metrics, "smg_kv_event_batches_total") >= 2)
    finally:
        worker.close()
    print(f"{dialect}: detected, tokenized, streamed, polled and followed")


def check_request(worker, tokenizer):
    """What arrived is what Hugging Face makes of the prompt, with the model's defaults where the client said nothing."""
    request = worker.requests[0]
    text = tokenizer.decode(list(request.tokenized.input_ids), skip_special_tokens=False)
    assert CHAT["messages"][0]["content"] in text, text
    assert tokenizer.encode(text, add_special_tokens=False).ids == list(request.tokenized.input_ids)
    sampling = request.sampling_params
    assert sampling.temperature == 0.5 and sampling.top_k == 7, sampling
    assert sampling.repetition_penalty == 1 and sampling.top_p == 1, sampling
    assert len({r.request_id for r in worker.requests}) == len(worker.requests)


for name in ("sglang", "vllm", "tokenspeed"):
    check(name)
