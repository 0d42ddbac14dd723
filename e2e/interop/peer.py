"""The published gateway as a client of ours: in front of `leeway sim` it detects the runtime, streams a chat, polls loads
and applies our KV events, in each dialect. Usage: peer.py PATH_TO_SMG"""
import json, sys

from running import DEMO, LEEWAY, events, free_port, get, metric, post, program, until

SMG = sys.argv[1]


def check(dialect):
    sim, port, metrics = free_port(), free_port(), free_port()
    chat = {"model": "demo", "stream": True, "max_tokens": 40,
            "messages": [{"role": "user", "content": "Where will this request go, and why? " * 20}]}
    with program(LEEWAY, "sim", "--dialect", dialect, "--host", "127.0.0.1", "--port", sim, "--model", "demo", "--tokenizer-path", DEMO), \
            program(SMG, "launch", "--host", "127.0.0.1", "--port", port, "--prometheus-port", metrics, "--prometheus-host", "127.0.0.1",
                    "--worker-urls", f"grpc://127.0.0.1:{sim}", "--model-path", DEMO, "--policy", "cache_aware",
                    "--load-monitor-interval", "1", env={"HF_HUB_OFFLINE": "1"}):
        base = f"http://127.0.0.1:{port}"
        until("the peer's readiness", 60, lambda: get(base + "/readiness"))
        workers = json.loads(get(base + "/workers"))["workers"]
        assert [w.get("runtime_type") or w.get("runtime") for w in workers] == [dialect], workers
        for _ in range(3):
            stream = events(post(base + "/v1/chat/completions", chat))
            assert not any("error" in e for e in stream), stream
            text = "".join(c["delta"].get("content") or "" for e in stream for c in e["choices"])
            assert len(text) > 20, stream
        until("load polls", 15, lambda: metric(metrics, "smg_engine_load_polls_total") > 0)
        until("applied KV events", 15, lambda: metric(metrics, "smg_kv_event_batches_total") > 0)
    print(f"{dialect}: the published gateway detects it, streams, polls loads and applies KV events")


for name in ("sglang", "vllm", "tokenspeed"):
    check(name)
