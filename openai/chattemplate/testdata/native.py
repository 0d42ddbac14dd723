"""Writes native.json.gz: chat requests and the prompts that the published encoders of models without a template make.

    pip download --no-deps vllm mlx-vlm lmdeploy, unpack the wheels into one folder each below DIR, pip install openai-harmony,
    put o200k_base.tiktoken where TIKTOKEN_ENCODINGS_BASE says, then: python native.py DIR

DeepSeek V4 and V4.1: vllm/tokenizers/deepseek_v4_encoding.py and deepseek_v41_encoding.py. DeepSeek V3.2:
lmdeploy/deepseek_v32_encoding.py, whose text on tools is the checkpoint's own. Kimi K3: mlx_vlm/models/kimi_k3/encoding_k3.py.
gpt-oss: openai_harmony, its messages made of the request as vLLM makes them.
A golden is {"config": config.json, "request": …, "ok": prompt} or {…, "err": exception}.
"""
import copy, gzip, importlib.util, json, pathlib, random, sys
import openai_harmony as oh

HERE, DIR = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])


def load(pattern):
    path = next(DIR.glob("*/" + pattern))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


v32, v4, v41 = load("lmdeploy/deepseek_v32_encoding.py"), load("vllm/tokenizers/deepseek_v4_encoding.py"), load("vllm/tokenizers/deepseek_v41_encoding.py")
k3 = load("mlx_vlm/models/kimi_k3/encoding_k3.py")


def messages_of(request, separator, reasoning):
    messages = copy.deepcopy(request["messages"])
    for m in messages:
        if isinstance(m["content"], list):
            m["content"] = separator.join(part["text"] for part in m["content"])
        thought = m.pop("reasoning_content", None)
        if thought is not None:
            m[reasoning] = thought
    if request.get("continue_final_message"):
        messages[-1]["wo_eos"] = messages[-1]["prefix"] = True
    return messages


def thinks(request, by_default, effort_says):
    kwargs = request.get("chat_template_kwargs", {})
    if "thinking" in kwargs or "enable_thinking" in kwargs:
        return bool(kwargs.get("thinking") or kwargs.get("enable_thinking"))
    said = effort_says(request.get("reasoning_effort"))
    if said is None and "thinking" in request:
        said = request["thinking"]["type"] == "enabled"
    return by_default if said is None else said


def declare(messages, tools, fits):
    if tools:
        at = next((i for i, m in enumerate(messages) if fits(i, m["role"])), None)
        if at is None:
            messages.insert(0, {"role": "system", "content": ""})
        messages[at or 0]["tools"] = tools


def deepseek_v32(request):
    messages = messages_of(request, "\n", "reasoning_content")
    declare(messages, request.get("tools"), lambda i, role: i == 0 and role in ("system", "developer"))
    mode = "thinking" if thinks(request, False, lambda effort: None) else "chat"
    return v32.encode_messages(messages, mode, drop_thinking=not request.get("tools"))


def deepseek_v4(request):
    messages = messages_of(request, "\n\n", "reasoning")
    declare(messages, request.get("tools"), lambda i, role: role == "system")
    effort = request.get("reasoning_effort")
    mode = "thinking" if thinks(request, True, lambda effort: effort != "none" if effort else None) else "chat"
    level = {"low": "low", "minimal": "low", "medium": "low", "max": "max"}.get(effort, "high")
    return v4.encode_messages(messages, mode, reasoning_effort=level)


def deepseek_v41(request):
    messages = messages_of(request, "\n\n", "reasoning_content")
    declare(messages, request.get("tools"), lambda i, role: role == "system")
    says = {"none": False, "minimal": False, "low": True, "high": True, "xhigh": True, "max": True}
    mode = "thinking" if thinks(request, True, says.get) else "chat"
    effort = request.get("reasoning_effort")
    return v41.encode_messages(messages, mode, reasoning_effort="high" if effort in (None, "none", "minimal") else effort)


def kimi_k3(request):
    think = thinks(request, True, lambda effort: False if effort == "none" else None)
    effort = request.get("reasoning_effort")
    if effort == "minimal" and not {"thinking", "chat_template_kwargs"} & request.keys():
        think = False
    options = {"thinking_effort": effort if effort in ("low", "high") else "max"}
    for name in ("tool_choice", "response_format"):
        if name in request:
            options[name] = request[name]
    segments = k3.build_chat_segments(request["messages"], request.get("tools"), thinking=think, **options)
    return "".join(s.text for s in segments)


def harmony_messages(request):
    """Yields openai_harmony's messages for a chat request. Thoughts before the last final answer are dropped."""
    text = lambda c: c if isinstance(c, str) else "".join(part["text"] for part in c)
    say = lambda content, channel: oh.Message.from_role_and_content(oh.Role.ASSISTANT, content).with_channel(channel)
    instruct = lambda content: oh.DeveloperContent.new().with_instructions(content)
    effort = {"low": "LOW", "high": "HIGH", "none": "LOW", "minimal": "LOW", None: "MEDIUM", "medium": "MEDIUM"}[request.get("reasoning_effort")]
    system = oh.SystemContent.new().with_conversation_start_date("2025-07-26").with_reasoning_effort(oh.ReasoningEffort[effort])
    yield oh.Message.from_role_and_content(oh.Role.SYSTEM, system)
    messages, tools, names = list(request["messages"]), request.get("tools"), {}
    first = text(messages.pop(0)["content"]) if messages[0]["role"] == "system" else None
    if first or tools:
        developer = instruct(first) if first is not None else oh.DeveloperContent.new()
        if tools:
            developer = developer.with_function_tools([oh.ToolDescription.new(
                t["function"]["name"], t["function"].get("description", ""), parameters=t["function"].get("parameters")) for t in tools])
        yield oh.Message.from_role_and_content(oh.Role.DEVELOPER, developer)
    for m in messages:
        content, calls = text(m["content"]), m.get("tool_calls", [])
        if m["role"] == "user":
            yield oh.Message.from_role_and_content(oh.Role.USER, content)
        elif m["role"] == "system":
            yield oh.Message.from_role_and_content(oh.Role.DEVELOPER, instruct(content))
        elif m["role"] == "tool":
            author = oh.Author.new(oh.Role.TOOL, "functions." + names[m["tool_call_id"]])
            yield oh.Message.from_author_and_content(author, content).with_channel("commentary").with_recipient("assistant")
        else:
            if calls and content:
                yield say(content, "commentary")
            if m.get("reasoning_content"):
                yield say(m["reasoning_content"], "analysis")
            if content and not calls:
                yield say(content, "final")
            for call in calls:
                name = names[call["id"]] = call["function"]["name"]
                yield say(call["function"]["arguments"], "commentary").with_recipient("functions." + name).with_content_type("json")


def gpt_oss(request):
    messages = list(harmony_messages(request))
    final = max((i for i, m in enumerate(messages) if m.channel == "final"), default=-1)
    messages = [m for i, m in enumerate(messages) if i > final or m.channel != "analysis"]
    encoding = oh.load_harmony_encoding(oh.HarmonyEncodingName.HARMONY_GPT_OSS)
    config = oh.RenderConversationConfig(auto_drop_analysis=False)
    return encoding.decode(encoding.render_conversation_for_completion(oh.Conversation.from_messages(messages), oh.Role.ASSISTANT, config=config))


TEXTS = ["Hi", "", " x\n", "<think>a</think>b", "你好 « é »", '{"a":1}', "a\n\n\nb", "a</think>", "& \"q\" <b>", "<｜User｜>x"]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "°C & <b>\n\"q\"", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "number", "default": 1.0, "minimum": 1e-07}}}}},
    {"type": "function", "function": {"name": "f", "parameters": {"z": 1, "a": {}}}}]
ARGUMENTS = ["{}", '{"city":"Pärís","n":1.0,"x":null,"l":[1,true,{"k":"v"}]}', '{"a": 1e5, "s":"x\\ny", "b":false}', '{"big":12345678901234567890}']


def schema(depth=0):
    """A JSON schema with what declarations in TypeScript make a difference of."""
    options = {"description": ["Desc", "two\nlines"], "nullable": [True, False], "title": ["T"], "examples": [["a", "b"], [1], []],
               "default": [1, 1.0, "x", None, True, [1, "a"], {"k": 1.5}, 1e-7, 1e20, 12345678901234567890, 0.00001]}
    out = {key: random.choice(values) for key, values in options.items() if random.random() < .2}
    kind = random.choice(["object", "array", "oneOf", "types", "enum", "plain", "plain"] if depth < 3 else ["plain", "enum"])
    if kind == "object":
        out.update(type="object", properties={k: schema(depth + 1) for k in random.sample("cab", random.randint(0, 3))}, required=random.sample("abc", 1))
    elif kind == "array":
        out.update(type="array", **({"items": schema(depth + 1)} if random.random() < .8 else {}))
    elif kind == "oneOf":
        out["oneOf"] = [schema(depth + 1) for _ in range(random.randint(0, 3))]
    elif kind == "types":
        out["type"] = random.choice([["string", "null"], ["integer", "number"], [], ["null", 1]])
    elif kind == "enum":
        out.update(type="string", enum=random.choice([["a", "b"], [1], []]))
    else:
        out.update(type=random.choice(["string", "integer", "number", "boolean", "null"]))
    return out


def rich_tools():
    return [{"type": "function", "function": {"name": f"f{i}", "description": random.choice(["D", "l1\nl2\r\nl3", "", "x\n"]), "parameters": {
        "type": "object", "properties": {k: schema() for k in random.sample("bac", random.randint(0, 3))}, "required": ["a"]}}} for i in range(random.randint(1, 3))]


def content():
    return random.choice(TEXTS) if random.random() < .85 else [{"type": "text", "text": random.choice(TEXTS)} for _ in range(random.randint(1, 3))]


def turn(messages, number):
    for _ in range(random.choice([1, 1, 2])):
        messages.append({"role": "user", "content": content()})
    if random.random() < .1:
        messages.append({"role": "system", "content": content()})
    answer = {"role": "assistant", "content": content()}
    if random.random() < .6:
        answer["reasoning_content"] = random.choice(TEXTS)
    messages.append(answer)
    if random.random() < .5:
        answer["tool_calls"] = [{"id": f"c{number}_{i}", "type": "function", "function": {
            "name": random.choice(["weather", "f"]), "arguments": random.choice(ARGUMENTS)}} for i in range(random.randint(1, 3))]
        calls = random.sample(answer["tool_calls"], len(answer["tool_calls"]) - (random.random() < .1))
        messages.extend({"role": "tool", "tool_call_id": c["id"], "content": content()} for c in calls)


def request():
    messages = [{"role": "system", "content": content()}] if random.random() < .5 else []
    for number in range(random.randint(0, 2)):
        turn(messages, number)
    if random.random() < .7 or not messages:
        messages.append({"role": "user", "content": content()})
    out = {"model": "m", "messages": messages}
    if random.random() < .4:
        out["tools"] = random.sample(TOOLS, random.randint(1, 2))
    if random.random() < .3:
        out["chat_template_kwargs"] = {random.choice(["thinking", "enable_thinking"]): random.random() < .6}
    elif random.random() < .3:
        out["thinking"] = {"type": random.choice(["enabled", "disabled"])}
    if random.random() < .4:
        out["reasoning_effort"] = random.choice(["low", "high", "max", "none", "medium", "minimal", "xhigh"])
    if random.random() < .15:
        out["response_format"] = random.choice([{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"b": {}, "a": {}}}}}])
    return out


if __name__ == "__main__":
    random.seed(1)
    cases = []
    for config, encode in [({"model_type": "gpt_oss"}, gpt_oss), ({"architectures": ["DeepseekV32ForCausalLM"]}, deepseek_v32), ({"architectures": ["DeepseekV4ForCausalLM"]}, deepseek_v4),
                           ({"model_type": "deepseek_v41"}, deepseek_v41), ({"architectures": ["KimiK3ForConditionalGeneration"]}, kimi_k3)]:
        for _ in range(60):
            case = {"config": config, "request": request()}
            if encode == gpt_oss and random.random() < .5:
                case["request"]["tools"] = rich_tools()
            try:
                case["ok"] = encode(case["request"])
            except Exception as x:
                case["err"] = f"{type(x).__name__}: {x}"[:100]
            cases.append(case)
    data = json.dumps({"cases": cases}, ensure_ascii=False, indent=0).encode()
    (HERE / "native.json.gz").write_bytes(gzip.compress(data, mtime=0))
