"""Reading a small stored file takes little memory, and a file that unpacks to too much is refused early."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from results.files import MAX_STORED_BYTES, Unreadable, gzipped, read_gzipped


def peak_of(path: Path, limit: int) -> int:
    tracemalloc.start()
    try:
        read_gzipped(path, limit)
    except Unreadable:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def test_a_small_file_needs_no_large_buffer(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzipped("page " * 1000))
    assert peak_of(path, MAX_STORED_BYTES) < 8 * 2**20
    assert read_gzipped(path) == "page " * 1000


def test_a_file_that_unpacks_to_too_much_is_left_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"\0" * (64 * 2**20), compresslevel=9))
    assert peak_of(path, 2**20) < 16 * 2**20
    with pytest.raises(Unreadable, match="unpacks to more than 1 MiB"):
        read_gzipped(path, 2**20)
