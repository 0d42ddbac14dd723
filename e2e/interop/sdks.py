"""Runs the official SDKs for Python and JavaScript against `leeway --demo`. Usage: sdks.py FOLDER_WITH_NODE_MODULES"""
import pathlib, shutil, subprocess, sys

from running import LEEWAY, free_port, get, program, until

here, home = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1]).resolve()
port, metrics = free_port(), free_port()
with program(LEEWAY, "--demo", "--host", "127.0.0.1", "--port", port, "--prometheus-port", metrics):
    base = f"http://127.0.0.1:{port}"
    until("readiness", 30, lambda: get(base + "/readiness"))
    subprocess.run([sys.executable, here / "sdk.py", base], check=True)
    # node looks for packages beside the script
    script = shutil.copy(here / "sdk.mjs", home / "sdk.mjs")
    subprocess.run(["node", script, base], check=True)
