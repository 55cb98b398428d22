"""The same weights in this process and behind a real server, greedy: the same predictions.

The server is `transformers serve` in its own environment, as scripts/serve_smollm2.py installs it
(python3 scripts/serve_smollm2.py --setup-only).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.training.model.support import checkpoint, query
from training.world_model.model import load

SERVE = Path(__file__).resolve().parents[3] / ".venv-serve" / "bin" / "transformers"


@contextmanager
def server(folder: Path, name: str) -> Iterator[str]:
    """Serves `folder/name` under its bare name. Ends its own process group."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    settings = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    command = [str(SERVE), "serve", name, "--device", "cpu", "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | settings, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.5)
        else:
            pytest.fail((folder / "server.log").read_text(encoding="utf-8", errors="replace")[-2000:])
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


@pytest.mark.slow
@pytest.mark.skipif(
    not SERVE.is_file(), reason="a real model server has an environment of its own: python3 scripts/serve_smollm2.py --setup-only"
)
def test_a_served_world_model_foresees_what_it_does_in_process(tmp_path: Path) -> None:
    directory = checkpoint(tmp_path / "tiny")
    queries = [query(), query(goal="Find a lamp"), query(goal="")]
    here = load(directory).predict(queries)
    with server(tmp_path, "tiny") as url:
        file = tmp_path / "served.toml"
        file.write_text(
            f'checkpoint = "tiny"\nconcurrency = 1\n[server]\nbase_url = "{url}"\nmodel = "tiny"\ntimeout_seconds = 200\n',
            encoding="utf-8",
        )
        model = load(f"http:{file}")
        there = model.predict(queries)
        model.close()
    for ours, theirs in zip(here, there, strict=True):
        assert theirs[0].text == ours[0].text
        assert theirs[0].next_observation == ours[0].next_observation
        assert theirs[0].finish_reason == ours[0].finish_reason
