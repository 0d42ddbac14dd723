"""leeway in front of a real vLLM on the CPU (dummy weights), behind each of its two gRPC servicers.

    python check.py RUN_ENGINE_SH VENV MODEL_DIR [python|rust ...]

RUN_ENGINE_SH starts `vllm.entrypoints.grpc_server` with the Python of VENV on the port it is given (SERVICER=rust: behind
the Rust servicer). Too heavy for CI: 3 GB of packages and half a minute until the engine serves. What it showed last is in
seen.txt.
"""
import http.client, json, pathlib, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "interop"))
from running import events, free_port, gateway, get, post, program, until

RUN, VENV, MODEL = sys.argv[1:4]
NAME = pathlib.Path(MODEL).name
LONG = "A prefix that two requests share is computed once and found in the cache by the second. " * 20


def chat(content, **fields):
    return {"model": NAME, "messages": [{"role": "user", "content": content}], **fields}


def say(servicer, what):
    print(f"{servicer:7} {what}", flush=True)


def streams(base, servicer):
    stream = events(post(base + "/v1/chat/completions", chat("Hello.", stream=True, max_tokens=20, ignore_eos=True, stream_options={"include_usage": True})))
    assert stream[-1]["usage"]["completion_tokens"] == 20, stream[-1]
    assert stream[-2]["choices"][0]["finish_reason"] == "length", stream[-2]
    whole = json.loads(post(base + "/v1/chat/completions", chat("Hello.", max_tokens=20, ignore_eos=True, temperature=0)))
    again = events(post(base + "/v1/chat/completions", chat("Hello.", stream=True, max_tokens=20, ignore_eos=True, temperature=0)))
    text = "".join(c["delta"].get("content") or "" for e in again for c in e["choices"])
    assert text == whole["choices"][0]["message"]["content"], (text, whole)
    say(servicer, f"streams: {len(stream)} events, 20 tokens; at temperature 0 the stream and the whole answer are equal")


def caches(base, servicer):
    cached = []
    for _ in range(2):
        usage = json.loads(post(base + "/v1/chat/completions", chat(LONG, max_tokens=4)))["usage"]
        cached.append(usage["prompt_tokens_details"]["cached_tokens"])
    assert cached[0] < 64 and cached[1] > usage["prompt_tokens"] // 2, (cached, usage)
    say(servicer, f"caches: {usage['prompt_tokens']} prompt tokens, cached {cached[0]} and then {cached[1]}")


def leaves(base, servicer):
    """A client that goes away mid-stream frees the engine."""
    connection = http.client.HTTPConnection(base.removeprefix("http://"))
    connection.request("POST", "/v1/chat/completions", json.dumps(chat("Go on.", stream=True, max_tokens=3000, ignore_eos=True)),
                       {"content-type": "application/json"})
    connection.getresponse().read(200)
    running = lambda: json.loads(get(base + "/loads"))["loads"][0]["num_running_reqs"]
    until("the engine reports a running request", 8, lambda: running() == 1)
    connection.close()
    gone = time.monotonic()
    until("the engine reports none", 8, lambda: running() == 0)
    say(servicer, f"leaves: the engine reports no running request {time.monotonic() - gone:.2f} s after the client left (it reports every second)")


def dies(base, servicer):
    """The engine core is killed: the stream ends with an error event, and the worker is no longer chosen."""
    connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=60)
    connection.request("POST", "/v1/chat/completions", json.dumps(chat("Go on.", stream=True, max_tokens=3000, ignore_eos=True)),
                       {"content-type": "application/json"})
    response = connection.getresponse()
    head = response.read(600)
    core = subprocess.run(["pgrep", "-f", "VLLM::EngineCore"], capture_output=True, text=True).stdout.split()
    assert core, "no engine core found"
    subprocess.run(["kill", "-9", *core], check=True)
    killed = time.monotonic()
    rest = (head + response.read()).decode()
    assert rest.endswith("data: [DONE]\n\n") and '"error":' in rest and '"finish_reason":"stop"' not in rest, rest[-500:]
    say(servicer, f"dies: {time.monotonic() - killed:.2f} s after the core was killed the stream ended with {rest.split(chr(10) + chr(10))[-3]}")
    until("the worker is out of service", 15, lambda: status(base) == 503)
    say(servicer, f"dies: out of service after {time.monotonic() - killed:.1f} s")


def status(base):
    connection = http.client.HTTPConnection(base.removeprefix("http://"))
    connection.request("GET", "/readiness")
    return connection.getresponse().status


def certified(base, servicer):
    """Repeated prompts are certified and the engine's cached_tokens confirm the claims."""
    for _ in range(3):
        events(post(base + "/v1/chat/completions", chat(LONG + "Certified?", stream=True, max_tokens=4)))
        time.sleep(0.5)
    receipts = json.loads(get(base + "/routing/decisions?limit=1"))
    say(servicer, f"certifies: {json.dumps(receipts)[:1500]}")


def check(servicer):
    port = free_port()
    with program(RUN, VENV, port, MODEL, env={"SERVICER": servicer}):
        with gateway("--load-monitor-interval", "1", "--health-check-interval-secs", "1", "--least-load-cache-mode", "shadow",
                     "--worker-urls", f"grpc://127.0.0.1:{port}", patience=180) as (base, _):
            say(servicer, "serves")
            streams(base, servicer)
            caches(base, servicer)
            certified(base, servicer)
            leaves(base, servicer)
            dies(base, servicer)


for name in sys.argv[4:] or ["python", "rust"]:
    check(name)
