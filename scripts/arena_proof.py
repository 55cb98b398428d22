"""Is the arena right? Reads finished runs of its three policies and says what they prove: scripts/arena_proof.py RUN RUN…

    oracle   every task a success           nearly, noop   none
    all runs of one policy: the same verdict for each task, whatever the order of play and the number of workers
    all runs of the oracle: the same actions lead to the same pages, slow ones and the volatile aside; what differs
             is listed, line by line

Exit code 1 if anything does not hold.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from harness.axtree import parse
from harness.benchmarks.arena.volatile import steady
from harness.types import Observation, Trajectory
from results.intervals import clopper_pearson
from results.reader import RunReader

MUST = {"oracle": "success", "nearly": "failure", "noop": "failure"}
_PORT = re.compile(r"localhost:\d+")


def main(directories: list[str]) -> int:
    runs = [RunReader.open(Path(name)) for name in directories]
    good = True
    for run in runs:
        good &= _verdicts(run)
    for policy in MUST:
        of_policy = [run for run in runs if run.manifest.policy == policy]
        for a, b in combinations(of_policy, 2):
            good &= _same_verdicts(a, b)
            if policy == "oracle":
                good &= _same_pages(a, b)
    return 0 if good else 1


def _verdicts(run: RunReader) -> bool:
    latest = run.latest()
    counts = Counter(row.status for row in latest.values())
    n, reached = len(latest), counts["success"]
    interval = clopper_pearson(reached, n)
    must = MUST[run.manifest.policy]
    shuffle = run.manifest.config.get("run", {}).get("shuffle")
    order = "as listed" if shuffle is None else f"shuffled by {shuffle}"
    print(f"{run.manifest.policy}: {reached}/{n} = {reached / n:.1%} [{interval.low:.1%}, {interval.high:.1%}]  {dict(counts)}")
    print(f"  planned {len(run.plan())}, order {order}, commit {run.manifest.environments[0].commit}")
    wrong = [row.task_id for row in latest.values() if row.status != must]
    if wrong:
        print("  not as it must be:", ", ".join(sorted(wrong)[:20]))
    return not wrong and n == len(run.plan())


def _same_verdicts(a: RunReader, b: RunReader) -> bool:
    first, second = ({row.task_id: row.status for row in run.latest().values()} for run in (a, b))
    both = first.keys() & second.keys()
    differ = sorted(task_id for task_id in both if first[task_id] != second[task_id])
    print(f"{a.manifest.policy}: {len(both)} tasks in both runs, {len(differ)} with another verdict", *differ[:20])
    return not differ


def _same_pages(a: RunReader, b: RunReader) -> bool:
    """Pages are compared up to the first action that differs (an oracle waits where a page is slow), slow ones set aside."""
    first, second = ({row.task_id: row.episode_id for row in run.latest().values()} for run in (a, b))
    pages = differ = slow = acted = 0
    lines: Counter[str] = Counter()
    for task_id in sorted(first.keys() & second.keys()):
        one, other = a.episode(first[task_id]).trajectory, b.episode(second[task_id]).trajectory
        same = _actions_in_common(one, other)
        acted += not same == len(one.steps) == len(other.steps)
        for x, y in zip(_observed(one)[: same + 1], _observed(other)[: same + 1], strict=False):
            if x.slow or y.slow:
                slow += 1
                continue
            pages += 1
            left, right = _lines(x), _lines(y)
            if left != right:
                differ += 1
                lines.update(f"{task_id}: {line}" for line in set(left) ^ set(right))
    print(f"oracle: {pages} pages after the same actions in both runs, {differ} with another tree ({slow} slow ones set aside);")
    print(f"  {acted} episodes with other actions")
    for line, count in lines.most_common(40):
        print(f"  {count} × {line[:200]}")
    return not differ


def _actions_in_common(one: Trajectory, other: Trajectory) -> int:
    """How many actions from the first on are the same, by what they did and to which element (bids are no names)."""
    pairs = zip(one.steps, other.steps, strict=False)
    same = [(x.output.action.name, x.output.action.target) == (y.output.action.name, y.output.action.target) for x, y in pairs]
    return same.index(False) if False in same else len(same)


def _observed(trajectory: Trajectory) -> list[Observation]:
    last = [] if trajectory.final_observation is None else [trajectory.final_observation]
    return [*(step.observation for step in trajectory.steps), *last]


def _lines(observation: Observation) -> list[str]:
    """The tree without bids and what is volatile; the port tells only which instance set it was."""
    text = steady(parse(observation.axtree)).to_text()
    return [_PORT.sub("localhost", line) for line in [observation.url, *text.splitlines()]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
