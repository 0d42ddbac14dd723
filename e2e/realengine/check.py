"""leeway in front of a real vLLM on the CPU (dummy weights), behind each of its two gRPC servicers.

    python check.py RUN_ENGINE_SH VENV MODEL_DIR [python|rust ...]

RUN_ENGINE_SH starts `vllm.entrypoints.grpc_server` with the Python of VENV on the port it is given (SERVICER=rust: behind
the Rust servicer). Too heavy for CI: 3 GB of packages and half a minute until the engine serves. What it showed last is in
seen.txt.
"""
import contextlib, http.client, json, pathlib, subprocess, sys, time

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


def ask(base, content):
    """A streamed chat; its decision, once the answer has ended."""
    events(post(base + "/v1/chat/completions", chat(content, stream=True, max_tokens=4, ignore_eos=True)))
    newest = lambda: json.loads(get(base + "/routing/decisions?limit=1"))["decisions"][0]
    return until("the outcome", 5, lambda: (r := newest()).get("outcome") and r)


def candidate(receipt, worker=None):
    return next(c for c in receipt["candidates"] if c["worker"] == (worker or receipt["chosen"]))


def audited(metrics, found, worker=""):
    return labelled(metrics, "leeway_kv_claims_audited_total", f'result="{found}"', worker)


def labelled(metrics, name, *labels):
    """The sum of a metric's samples that have all the labels."""
    lines = get(f"http://127.0.0.1:{metrics}/metrics").splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0] == name and all(label in line for label in labels))


def certified(base, metrics, workers, servicer):
    """Repeated prompts are certified, an owner wins where the saving allows it, and cached_tokens confirm the claims."""
    for n in range(40):  # words that no engine has cached make events: both workers get a certificate
        if labelled(metrics, "leeway_kv_certificate") == len(workers):
            break
        ask(base, f"{n} is a number that has not been asked about. " * 5)
        time.sleep(1.1)  # a poll: what was sent before is in the load
    else:
        raise AssertionError("not both workers were certified")
    exact, claims, moved = audited(metrics, "exact"), [], 0
    ask(base, LONG + "Certified?")
    for n in range(40):
        if n >= 12 and moved:  # the base is the owner itself as long as the other engine is warming up
            break
        time.sleep(1.1)
        receipt = ask(base, LONG + "Certified?")
        claims.append((candidate(receipt)["cached"], receipt["outcome"]["cached_tokens"]))
        moved += receipt["chosen"] != receipt["base"]
    owned = [claim for claim in claims if claim[0] > 0]
    assert len(owned) > 8 and all(claimed == found for claimed, found in owned), claims
    assert moved and receipt["slack"] >= 0, receipt
    assert audited(metrics, "exact") >= exact + len(owned) and audited(metrics, "over") == 0, claims
    assert labelled(metrics, "leeway_bound_violations_total") == 0
    say(servicer, f"certifies: {len(claims)} repeats, {len(owned)} with a claim of {owned[-1][0]} of {receipt['prompt_tokens']} tokens, each found; "
                  f"{moved} moved to the owner, saving {receipt['saving']:.3f} s; audited {audited(metrics, 'exact'):.0f} exact, {audited(metrics, 'over'):.0f} over")


def flushed(base, metrics, servicer):
    """What is flushed through the gateway is claimed no more, and a request finds nothing either."""
    post(base + "/flush_cache", {})
    receipt = ask(base, LONG + "Certified?")
    claimed, found = candidate(receipt)["cached"], receipt["outcome"]["cached_tokens"]
    assert (claimed, found) == (0, 0) and audited(metrics, "over") == 0, (claimed, found)
    say(servicer, f"flushes: {claimed} tokens claimed after a flush, {found} found")


def restarts(base, metrics, engine, worker, servicer):
    """Another process at the same address: what the one before held is claimed no more, and new events certify it."""
    for n in range(20):  # until this worker holds something
        if labelled(metrics, "leeway_kv_index_blocks", worker) > 12 and labelled(metrics, "leeway_kv_certificate", worker) == 1:
            break
        ask(base, f"{n} is the beginning of a prompt that is to be held. " * 20)
        time.sleep(1.1)
    held = labelled(metrics, "leeway_kv_index_blocks", worker)
    assert held > 12, held
    engine.stop()
    until("the worker is out of service", 20, lambda: labelled(metrics, "smg_worker_health", worker) == 0)
    assert labelled(metrics, "leeway_kv_certificate", worker) == 0
    began = time.monotonic()
    engine.start()
    until("the worker is back", 180, lambda: labelled(metrics, "smg_worker_health", worker) == 1)
    back = time.monotonic() - began
    left = labelled(metrics, "leeway_kv_index_blocks", worker)
    assert left == 0, f"{left} blocks of the process before are kept"
    for n in range(30):
        if labelled(metrics, "leeway_kv_certificate", worker) == 1:
            break
        ask(base, f"{n} is asked of the new process. " * 20)
        time.sleep(1.1)
    assert labelled(metrics, "leeway_kv_certificate", worker) == 1, "no new certificate"
    assert audited(metrics, "over") == 0
    say(servicer, f"restarts: {held:.0f} blocks held before, none after; lost as {reasons(metrics, worker)}; back after {back:.0f} s, certified again by request {n}")


def reasons(metrics, worker):
    lines = get(f"http://127.0.0.1:{metrics}/metrics").splitlines()
    return ", ".join(line.split('reason="')[1].split('"')[0] for line in lines
                     if line.startswith("leeway_kv_certificate_losses_total") and worker in line)


class Engine:
    """A real engine that can be ended and started anew at its port."""

    def __init__(self, servicer):
        self.servicer, self.port, self.running = servicer, free_port(), None
        self.url = f"grpc://127.0.0.1:{self.port}"

    def start(self):
        self.running = contextlib.ExitStack()
        self.running.enter_context(program(RUN, VENV, self.port, MODEL, env={"SERVICER": self.servicer}))

    def stop(self):
        if self.running:
            self.running.close()
        self.running = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


FLAGS = ("--log-level", "warn", "--load-monitor-interval", "1", "--health-check-interval-secs", "1")
# What a token costs on this machine and model, so that a saved prefill is worth something beside the generation rate.
OWNERS = ("--least-load-cache-mode", "enforce", "--least-load-cache-prefill-throughput", "200")


def check(servicer):
    with Engine(servicer) as one:
        with gateway(*FLAGS, "--worker-urls", one.url, patience=180) as (base, _):
            say(servicer, "serves")
            streams(base, servicer)
            caches(base, servicer)
            leaves(base, servicer)
            with Engine(servicer) as two:
                urls = (one.url, two.url)
                with gateway(*FLAGS, *OWNERS, "--worker-urls", *urls, patience=180) as (both, metrics):
                    until("both engines serve", 180, lambda: labelled(metrics, "smg_worker_health") == 2)
                    certified(both, metrics, urls, servicer)
                    flushed(both, metrics, servicer)
                    restarts(both, metrics, two, two.url, servicer)
            dies(base, servicer)


for name in sys.argv[4:] or ["python", "rust"]:
    check(name)
