"""How much memory and time a data set takes to build from a large file of NNetNav's rows, and to read again.

    python benchmarks/data_memory.py [--megabytes 200] [--gz]

Goal: 1.8 GB of JSONL within 2 GB of memory. The file is generated: pages of some 40,000 characters, different on every
row, each twice in its row (prompt and messages), as in the real data. Both commands run in a process of their own; the
figure is the largest resident set that the kernel saw of it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SEED = 20240229
STEPS = 6
NODES = 600
READ = """
import sys
from training.world_model.transitions import SPLITS, read_dataset
print(sum(len(e.query.history) + 1 for split in SPLITS for e in read_dataset(sys.argv[1], split)))
"""


def rows(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Demonstrations without end, `STEPS` rows each."""
    number = 0
    while True:
        number += 1
        page = [f"\t[{k}] link 'Item {rng.randrange(10**9)} of shop {number}', clickable, visible" for k in range(10, NODES)]
        done = ["1: None"]
        for step in range(STEPS):
            at = rng.randrange(10, NODES)
            page[rng.randrange(len(page))] = f"\t[{NODES + step}] StaticText 'Changed in step {step} of {number}'"
            page[at - 10] = f"\t[{at}] button 'Press {number}', clickable, visible"
            tree = "\n".join([f"RootWebArea 'Shop {number}', focused", *page])
            action = f"click [{at}]" if step < STEPS - 1 else "stop [done]"
            yield row(number, tree, "\n".join(done), action)
            done.append(f"{step + 2}: {action} where [{at}] is button 'Press {number}'")


def row(number: int, tree: str, done: str, action: str) -> dict[str, Any]:
    user = f"OBSERVATION:\n{tree}\nURL: http://shop{number % 5}.test/\nOBJECTIVE: Goal {number}\nPREVIOUS ACTIONS:\n{done}"
    return {
        "dataset": "generated",
        "id": f"t{number}",
        "task_name": f"t{number}",
        "output": f"In summary, the next action I will perform is ```{action}```",
        "prompt": f"<|start_header_id|>user<|end_header_id|>\n{user}\n<|eot_id|>",
        "messages": [{"role": "user", "content": user}],
        "n_tokens": 10_000,
    }


def generate(path: Path, megabytes: float) -> int:
    """Writes whole demonstrations until the unpacked file is large enough; returns the number of rows."""
    written = count = 0
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
        for data in rows(random.Random(SEED)):
            line = json.dumps(data).encode() + b"\n"
            file.write(line)
            written += len(line)
            count += 1
            if written >= megabytes * 2**20 and count % STEPS == 0:
                return count
    return count


def measure(*command: str) -> tuple[float, float, str]:
    """Wall seconds, largest resident set in MiB of the largest child so far, and what it printed."""
    began = time.monotonic()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--gz", action="store_true", help="a compressed file")
    options = parser.parse_args()
    with TemporaryDirectory(dir=".") as place:
        path = Path(place) / ("rows.jsonl.gz" if options.gz else "rows.jsonl")
        count = generate(path, options.megabytes)
        print(f"{count} rows, {options.megabytes:.0f} MiB unpacked, {path.stat().st_size / 2**20:.0f} MiB on disk", flush=True)
        out = str(Path(place) / "set")
        seconds, peak, text = measure(sys.executable, "-m", "harness.cli.main", "data", "build", str(path), "--out", out)
        print(f"build: {peak:.0f} MiB, {seconds:.0f} s, {count / seconds:.0f} rows/s\n{text}", flush=True)
        seconds, peak, text = measure(sys.executable, "-c", READ, out)
        print(f"read:  at most {peak:.0f} MiB, {seconds:.0f} s, {text.strip()} pages handed out")


if __name__ == "__main__":
    main()
