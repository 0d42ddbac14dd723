"""Runs the official SDKs for Python and JavaScript through a scripted conversation with a worker of each dialect.
Usage: sdks.py FOLDER_WITH_NODE_MODULES"""
import contextlib, pathlib, shutil, subprocess, sys

from running import LEEWAY, free_port, gateway, program

here, home = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1]).resolve()
with contextlib.ExitStack() as fleet:
    urls = []
    for dialect in ("sglang", "vllm", "tokenspeed"):
        port = free_port()
        fleet.enter_context(program(LEEWAY, "sim", "--dialect", dialect, "--port", port, "--speed", 10,
                                    "--replies", here / "conversation.jsonl"))
        urls.append(f"grpc://127.0.0.1:{port}")
    base, _ = fleet.enter_context(gateway("--policy", "round_robin", "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3",
                                          "--worker-urls", *urls))
    subprocess.run([sys.executable, here / "sdk.py", base], check=True)
    # node looks for packages beside the script
    script = shutil.copy(here / "sdk.mjs", home / "sdk.mjs")
    subprocess.run(["node", script, base], check=True)
