"""Trains the tokenizer of the demonstration model on text of our own: sentences put together from the word lists below,
and the Go source of this repository. Usage: demo.py REPOSITORY DIRECTORY"""

import json
import pathlib
import random
import sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PLAIN = ["<think>", "</think>", "<tool_call>", "</tool_call>"]

NOUNS = """river harbour engine teacher garden window letter market bridge mountain question answer machine library village
winter summer morning evening journey doctor student worker ticket station island captain neighbour kitchen recipe weather
forecast cloud storm sailor painter music violin orchestra number table reason problem solution example language model
prompt token cache memory request server gateway queue block prefix history science planet telescope forest animal horse
bread coffee paper pencil story newspaper government election decision company product customer price budget result
experiment measure temperature pressure distance speed light shadow colour circle square triangle theory proof computer
program function variable loop error message file folder network signal country city street building school hospital
family mother father sister brother child friend stranger meeting plan project schedule deadline holiday picture camera
film theatre actor audience football match player goal team coach season championship battery motor wheel road traffic
ocean fish bird feather nest tree leaf root flower seed farmer field harvest food water glass bottle fire candle lamp
clock minute hour week month year century moment idea thought dream memory feeling anger joy patience courage""".split()
VERBS = """finds keeps loses brings carries opens closes watches follows answers explains describes remembers forgets measures
compares builds repairs paints writes reads sends receives counts divides multiplies calculates improves changes replaces
chooses prefers expects promises begins finishes continues stops starts reaches leaves enters crosses climbs teaches learns
understands believes doubts needs wants allows requires returns creates removes updates checks tests prints shows hides
protects breaks mends sells buys borrows lends cooks eats drinks hears sees touches moves holds drops pulls pushes""".split()
ADJECTIVES = """quiet old young bright heavy light warm cold careful honest patient curious strange simple complex useful
beautiful ordinary famous local distant early late quick slow narrow wide deep shallow modern ancient empty full
important possible impossible different similar certain uncertain public private strong weak rich poor clean dirty fresh
green blue red yellow white black silver golden wooden""".split()
ADVERBS = """slowly quickly carefully often never always sometimes usually rarely suddenly quietly today tomorrow yesterday
again together alone nearly almost perhaps certainly finally already soon outside inside everywhere nowhere""".split()
LINKS = "and but because although while when if so unless until before after since whereas".split()
OPENINGS = """However Therefore Meanwhile In fact For example On the other hand At first In the end Of course As a result
Let us look at this step by step First Second Third Finally To summarise Here is what I would suggest It depends on""".split("  ")
QUESTIONS = ["What is", "How does", "Why does", "Where can I find", "Who invented", "When should I use", "Can you explain", "Could you please describe"]


def clause(r):
    noun = lambda: " ".join(([r.choice(ADJECTIVES)] if r.random() < 0.5 else []) + [r.choice(NOUNS)])
    words = [r.choice(["the", "a", "this", "every", "our", "their", "some", "one"]), noun(), r.choice(VERBS)]
    words += [r.choice(["the", "a", "its", "another", "my", "your"]), noun()]
    if r.random() < 0.4:
        words += [r.choice(["of", "in", "with", "from", "under", "near", "without", "for", "about", "through"]), "the", noun()]
    if r.random() < 0.4:
        words.append(r.choice(ADVERBS))
    return " ".join(words)


def sentence(r):
    text = clause(r)
    for _ in range(r.randrange(3)):
        text += r.choice([", ", " ", "; "]) + r.choice(LINKS) + " " + clause(r)
    if r.random() < 0.2:
        text = r.choice(OPENINGS).strip().replace("\n", " ") + ", " + text
    if r.random() < 0.15:
        return r.choice(QUESTIONS) + " " + clause(r) + "?"
    if r.random() < 0.1:
        text += " (%d %s)" % (r.randrange(1, 3000), r.choice(["metres", "tokens", "requests", "years", "people", "milliseconds"]))
    if r.random() < 0.1:
        text = text.replace(" is ", " isn't ").replace("the", "it's the", 1)
    return text[0].upper() + text[1:] + r.choice([".", ".", ".", "!", ":"])


def snippet(r):
    a, b, c = (r.choice(NOUNS) for _ in range(3))
    n = r.randrange(2, 100)
    return r.choice([
        f"def {a}_{b}({c}, limit={n}):\n    result = []\n    for item in {c}:\n        if item.{a} > limit:\n            result.append(item)\n    return result\n",
        f'{{"name": "{a}", "arguments": {{"{b}": "{c}", "count": {n}, "exact": true}}}}\n',
        f"SELECT {a}, count(*) FROM {b} WHERE {c} = {n} GROUP BY {a} ORDER BY 2 DESC;\n",
        f"const {a} = async ({b}) => {{\n  const response = await fetch(`/api/{c}/${{{b}}}`);\n  return response.json();\n}};\n",
        f"## {a.title()} and {b}\n\n* **{c}**: {n}\n* `{a}`\n\n1. {b}\n2. {c}\n",
        f"| {a} | {b} |\n|---|---|\n| {n} | {n * 7} |\n| {c} | {n / 8} |\n",
        f"curl -s http://localhost:{8000 + n}/v1/{a} -H 'Content-Type: application/json' -d '{{}}'\n",
    ])


def corpus(repository):
    r = random.Random(20)
    for _ in range(6000):
        yield " ".join(sentence(r) for _ in range(r.randrange(1, 6))) + "\n"
    for _ in range(1500):
        yield snippet(r)
    for path in sorted(pathlib.Path(repository).rglob("*.go")):
        if not path.name.endswith(("_tables.go", ".pb.go", "_test.go")):
            yield path.read_text()


def train(repository):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=4096, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    t.train_from_iterator(corpus(repository), trainer)
    t.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL])
    t.add_tokens([AddedToken(s, special=False, normalized=False) for s in PLAIN])
    return t


TEMPLATE = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- 'You may call these functions. Each line describes one in JSON:\\n' }}
{%- for tool in tools %}{{- tool | tojson + '\\n' }}{%- endfor %}
{{- 'To call one, write its name and its arguments in JSON between the marks:\\n<tool_call>\\n{"name": ..., "arguments": {...}}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'system' %}
{%- if not loop.first %}{{- '<|im_start|>system\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function or call %}
{{- '\\n<tool_call>\\n{"name": "' + function.name + '", "arguments": ' }}
{%- if function.arguments is string %}{{- function.arguments }}{%- else %}{{- function.arguments | tojson }}{%- endif %}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>tool\\n' + message.content + '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}
"""


def main(repository, directory):
    t = train(repository)
    out = pathlib.Path(directory)
    ids = {s: t.token_to_id(s) for s in SPECIAL + PLAIN}
    saved = json.loads(t.to_str())
    (out / "tokenizer.json").write_text(json.dumps(saved, ensure_ascii=False, separators=(",", ":")) + "\n")
    added = {str(a["id"]): {k: v for k, v in a.items() if k != "id"} for a in saved["added_tokens"]}
    write = lambda name, value: (out / name).write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    write("tokenizer_config.json", {
        "tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False, "added_tokens_decoder": added,
        "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None,
        "model_max_length": 32768, "chat_template": TEMPLATE,
    })
    end = [ids["<|im_end|>"], ids["<|endoftext|>"]]
    write("config.json", {
        "architectures": ["DemoForCausalLM"], "model_type": "demo", "vocab_size": t.get_vocab_size(),
        "max_position_embeddings": 32768, "eos_token_id": end[0], "pad_token_id": end[1],
    })
    write("generation_config.json", {"eos_token_id": end, "pad_token_id": end[1], "temperature": 0.7, "top_p": 0.9})
    print(t.get_vocab_size(), ids)


main(*sys.argv[1:])
