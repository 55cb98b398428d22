"""How long the arena's sites take: to come up, and to be set back after half of all rows were deleted.

    python benchmarks/sites.py [--resets 20]

Beside each reset stands a plain copy of the same files (shutil.copytree), the least that any reset must do. Goals: up within
20 s where the first state exists, a reset within 200 ms per application. Sites and state are the script's own, in a
temporary directory; the applications' environment must exist (`harness sites install`).
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from harness.sites import APPS, InstanceSet, Sites, reset


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of the arena's sites.")
    parser.add_argument("--resets", type=int, default=20)
    resets = parser.parse_args().resets
    with tempfile.TemporaryDirectory() as folder:
        sites = Sites(Path(folder), first_port=18700)
        apps = tuple(APPS.values())
        try:
            print(f"up, first states made:  {_seconds(lambda: sites.up(apps)):6.1f} s")
            sites.down(apps)
            print(f"up, first states there: {_seconds(lambda: sites.up(apps)):6.1f} s   (goal 20)")
            (found,) = sites.up(apps)
            head = f"{'rows deleted':>12} {'reset, median':>14} {'largest':>9} {'plain copy':>11} {'ratio':>6}"
            print(f"{'application':12} {head}   n={resets}")
            for app in APPS:
                _report(found, app, resets, Path(folder) / "copy")
        finally:
            sites.down(apps)


def _report(found: InstanceSet, app: str, resets: int, target: Path) -> None:
    times, copies, gone = [], [], 0
    for _ in range(resets):
        gone = _delete_half(found.database(app))
        times.append(_seconds(lambda: reset(found, [app])))
        copies.append(_seconds(lambda: shutil.copytree(found.app(app).golden, target)))
        shutil.rmtree(target)
    middle, copy = statistics.median(times), statistics.median(copies)
    print(f"{app:12} {gone:12} {middle * 1e3:11.0f} ms {max(times) * 1e3:6.0f} ms {copy * 1e3:8.0f} ms {middle / copy:6.2f}")


def _delete_half(database: Path) -> int:
    with closing(sqlite3.connect(database, timeout=20)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        gone = sum(
            connection.execute(f'DELETE FROM "{table}" WHERE rowid % 2 = 0').rowcount
            for table in tables
            if not table.startswith("sqlite_")
        )
        connection.commit()
    return gone


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
