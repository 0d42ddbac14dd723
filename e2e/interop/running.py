"""Starts programs on free loopback ports and talks to them; shared by the checks in this folder."""
import contextlib, json, os, pathlib, random, signal, socket, subprocess, sys, tempfile, time, urllib.error, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEEWAY = os.environ.get("LEEWAY", str(ROOT / "leeway"))
DEMO = ROOT / "workers" / "sim" / "demo"


def free_port():
    """A port that nobody listens on, below those that systems give to connections: it may be a while until it is used."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def program(*args, env=None):
    """Runs a program until the block ends; if the block fails, shows the end of what it printed."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([str(a) for a in args], stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
        try:
            yield process
        except BaseException:
            log.seek(0)
            print(f"--- {args[0]} ({process.poll()}):\n{log.read()[-4000:]}", file=sys.stderr)
            raise
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def get(url, timeout=5):
    with urllib.request.urlopen(url, timeout=timeout) as response:
        return response.read().decode()


def post(url, body, timeout=60):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return response.read().decode()


def until(what, seconds, probe):
    """Polls probe until it returns something true, and returns that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, urllib.error.URLError):
            if found := probe():
                return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


def metric(port, name):
    """The sum of a metric's samples on a Prometheus port; 0 if it has none."""
    lines = get(f"http://127.0.0.1:{port}/metrics").splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)


@contextlib.contextmanager
def gateway(*flags, patience=30):
    """The built leeway on free ports, ready to serve; yields (base URL, metrics port)."""
    port, metrics = free_port(), free_port()
    with program(LEEWAY, "serve", "--host", "127.0.0.1", "--port", port, "--prometheus-port", metrics, *flags):
        base = f"http://127.0.0.1:{port}"
        until("readiness", patience, lambda: get(base + "/readiness"))
        yield base, metrics


def events(text):
    """The JSON events of a stream that ends with one [DONE]."""
    frames = [frame for frame in text.split("\n\n") if frame]
    assert all(frame.startswith("data: ") for frame in frames), frames
    assert frames[-1] == "data: [DONE]" and frames.count("data: [DONE]") == 1, frames[-3:]
    return [json.loads(frame[6:]) for frame in frames[:-1]]
