"""Fetching by digest: from a server and from a copy; a wrong file is refused with both digests, and nothing is written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.benchmarks.webvoyager.data import sha256_of
from harness.benchmarks.webvoyager.fetch import fetch
from harness.cli.main import app
from harness.errors import NotReadyError, UsageError

CONTENT = {"tasks.jsonl": b'{"id": "A--0"}\n', "reference.json": b"{}"}
PINNED = {name: sha256_of(content) for name, content in CONTENT.items()}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "source"
    directory.mkdir()
    for name, content in CONTENT.items():
        (directory / name).write_bytes(content)
    return directory


@pytest.fixture
def base_url(source: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(source)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_download_then_already_there(base_url: str, tmp_path: Path) -> None:
    to = tmp_path / "deep" / "data"
    assert set(fetch(to, base_urls=[base_url], pinned=PINNED).files.values()) == {"downloaded"}
    assert {path.name: path.read_bytes() for path in to.iterdir()} == CONTENT  # and no temporary file is left
    (to / "reference.json").write_bytes(b"{ }")  # damaged: only this one is fetched again
    again = fetch(to, base_urls=[f"{base_url}/moved", base_url], pinned=PINNED)
    assert again.files == {"tasks.jsonl": "already there", "reference.json": "downloaded"}


def test_a_changed_file_is_refused_and_nothing_is_written(base_url: str, source: Path, tmp_path: Path) -> None:
    (source / "reference.json").write_bytes(b"changed")
    actual = sha256_of(b"changed")
    to = tmp_path / "data"
    for options in ({"base_urls": [base_url]}, {"source": source}):
        with pytest.raises(UsageError) as caught:
            fetch(to, pinned=PINNED, **options)  # type: ignore[arg-type]
        assert PINNED["reference.json"] in str(caught.value)
        assert actual in str(caught.value)
        assert f"--accept-sha256 {actual}" in caught.value.fix
    assert not to.exists()
    fetch(to, source, pinned=PINNED, accept_sha256=[actual])
    assert (to / "reference.json").read_bytes() == b"changed"


def test_no_server_and_no_file(base_url: str, source: Path, tmp_path: Path) -> None:
    with pytest.raises(NotReadyError, match="404") as caught:
        fetch(tmp_path / "data", base_urls=[base_url + "/nowhere"], pinned=PINNED)
    assert "--from" in caught.value.fix
    with pytest.raises(NotReadyError, match="ConnectError"):
        fetch(tmp_path / "data", base_urls=["http://127.0.0.1:9", base_url], pinned=PINNED)
    with pytest.raises(UsageError, match="cannot read"):
        fetch(tmp_path / "data", tmp_path / "nowhere", pinned=PINNED)


def test_a_destination_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot write"):
        fetch(tmp_path / "file" / "data", source, pinned=PINNED)


def test_command_refuses_a_copy_that_is_not_the_published_one(source: Path, tmp_path: Path) -> None:
    (source / "WebVoyager_data.jsonl").write_text("something else")
    result = CliRunner().invoke(app, ["fetch", "webvoyager", "--from", str(source), "--to", str(tmp_path / "data")])
    assert isinstance(result.exception, UsageError)
    assert "sha256 expected 69b19fd8" in str(result.exception)
    other = CliRunner().invoke(app, ["fetch", "miniwob"])
    assert isinstance(other.exception, UsageError)
    assert "Example: harness fetch webvoyager" in CliRunner().invoke(app, ["fetch", "--help"]).output
