"""Stands for `harness` where a test is about how stages are run: a real process that does one small thing.

program.py write OUT WORD …      OUT/answer holds the words        program.py fail OUT          says why, exit code 2
program.py hang OUT              OUT/begun, then waits for a signal; with --resume it goes on: OUT/answer
program.py broken OUT            exit code 4, with no run in OUT    program.py together OUT DIR  waits for its twin in DIR
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

verb, out, *words = sys.argv[1:]
place = Path(out)
place.mkdir(parents=True, exist_ok=True)
print(f"working on {verb}", flush=True)
if verb == "fail":
    sys.exit("harness: no luck\n   fix: try again")
if verb == "broken":
    sys.exit(4)
if verb == "hang" and "--resume" not in words:
    (place / "begun").touch()
    signal.pause()
if verb == "together":  # ends only if both run at the same time
    (Path(words[0]) / place.name).touch()
    while len(list(Path(words[0]).iterdir())) < 2:
        time.sleep(0.01)
(place / "answer").write_text(" ".join(words))
