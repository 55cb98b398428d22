"""`harness fetch webvoyager`: the published files, from their repository or a local copy, by pinned sha256.

    original repository at a pinned commit ─┐
    --from PATH (a directory)              ─┴→ bytes → sha256 == pinned? → temporary file → rename into place

A file that differs from the published one is refused, whatever its source, with both digests in the message;
`accept_sha256` takes it all the same, by naming the digest that is accepted. A file that is already in place and right is
not fetched again. Nothing is written before all files are right.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from harness.benchmarks.webvoyager.data import MAX_FILE_BYTES, PINNED_SHA256, sha256_of
from harness.errors import NotReadyError, UsageError, first_line

COMMIT = "5a78967"
REPOSITORY = "https://raw.githubusercontent.com/MinorJerry/WebVoyager"
BASE_URLS = (f"{REPOSITORY}/{COMMIT}/data", f"{REPOSITORY}/main/data")
"""Tried in order where one answers 404. The digest decides what is taken, not the address."""
TIMEOUT_SECONDS = 60.0


class FetchReport(NamedTuple):
    """What `fetch` did: file name → "downloaded", "copied" or "already there"."""

    destination: Path
    files: dict[str, str]


def fetch(
    destination: Path,
    source: Path | None = None,
    *,
    accept_sha256: Collection[str] = (),
    base_urls: Sequence[str] = BASE_URLS,
    pinned: Mapping[str, str] = PINNED_SHA256,
) -> FetchReport:
    """Put the published files into `destination`. Raises UsageError for a wrong file, NotReadyError for no network."""
    done: dict[str, str] = {}
    ready: dict[str, bytes] = {}
    for name, expected in pinned.items():
        present = destination / name
        if present.is_file() and sha256_of(present.read_bytes()) in {expected, *accept_sha256}:
            done[name] = "already there"
            continue
        content = _read(source / name) if source else _download([f"{base}/{name}" for base in base_urls])
        actual = sha256_of(content)
        if actual != expected and actual not in accept_sha256:
            raise UsageError(
                f"{source / name if source else name} is not the published file: sha256 expected {expected}, actual {actual}",
                fix=f"to take it all the same, run again with --accept-sha256 {actual}",
            )
        ready[name] = content
        done[name] = "copied" if source else "downloaded"
    for name, content in ready.items():
        _write(destination / name, content)
    return FetchReport(destination, done)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", fix="--from takes a directory that holds the published files"
        ) from error


def _download(urls: Sequence[str]) -> bytes:
    """The first of `urls` that does not answer 404."""
    failure: httpx.HTTPError | None = None
    for url in urls:
        try:
            return _get(url)
        except httpx.HTTPError as error:
            failure = error
            if not isinstance(error, httpx.HTTPStatusError) or error.response.status_code != httpx.codes.NOT_FOUND:
                break
    raise NotReadyError(
        f"cannot download {urls[0]}: {type(failure).__name__}: {first_line(failure) if failure else ''}",
        fix="check the network, or copy the files by hand and run `harness fetch webvoyager --from DIRECTORY`",
    ) from failure


def _get(url: str) -> bytes:
    with httpx.stream("GET", url, timeout=TIMEOUT_SECONDS, follow_redirects=True) as response:
        response.raise_for_status()
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > MAX_FILE_BYTES:
                raise UsageError(f"{url} sends more than {MAX_FILE_BYTES:,} bytes", fix="is it the right address?")
        return bytes(content)


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: a reader never sees half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", fix="free space, or choose another --to") from error
