"""The ladder on recorded pages that were changed in known ways: there the right element is known.

    same             bids renumbered, nothing else                    right: the recorded element
    shrunk           a tenth of the other leaves gone                 〃
    grown            namesakes of the target added in other places    〃
    reworded         a word of the target's name changed              〃
    renamed          the target is called something else              right: none
    deleted          the target is gone                               right: none

Precision: right choices over choices. Recall: right choices over cases with a right element. A refusal costs recall and is the
safe mistake: a replay that stops is looked at, one that acts on something else is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from random import Random
from typing import Final, NamedTuple

from audits.grounding.config import GroundingConfig
from audits.grounding.ladder import resolve
from audits.metrics.numbers import Estimate, proportion
from harness.actions import bids_of
from harness.axtree import Node, Tree, describe, parse
from harness.types import Episode, Record, TargetDescriptor

CHANGES: Final = ("same", "shrunk", "grown", "reworded", "renamed", "deleted")
_WITHOUT: Final = frozenset({"renamed", "deleted"})
SHRINK: Final = 0.1


class Case(NamedTuple):
    """A changed page, what is looked for, and the bid that is right (empty: none is)."""

    change: str
    tree: Tree
    target: TargetDescriptor
    right: str
    cluster: str


class LadderScore(Record):
    """Of one kind of change."""

    change: str
    cases: int
    precision: Estimate
    recall: Estimate
    """Undefined where no element is right."""
    refused: Estimate
    """Cases without a choice: all of them where no element is right."""


def cases(episodes: Iterable[Episode], seed: int = 0) -> Iterator[Case]:
    """One case of each change for every element action that had an effect."""
    for episode in episodes:
        for step in episode.trajectory.steps:
            bids = bids_of(step.output.action)
            if not bids or step.action_error is not None:
                continue
            tree = parse(step.observation.axtree)
            if bids[0] not in tree.by_bid:
                continue
            rng = Random(sha256(f"{seed}/{episode.spec.key}/{step.index}".encode()).digest())
            target = describe(tree, bids[0])
            for change in CHANGES:
                yield _case(change, tree, tree.by_bid[bids[0]], target, episode.spec.task.cluster, rng)


def measure(found: Iterable[Case], config: GroundingConfig) -> tuple[LadderScore, ...]:
    """Scores by change, in the order of `CHANGES`."""
    results: dict[str, list[tuple[str, str, str]]] = {change: [] for change in CHANGES}
    for case in found:
        answer = resolve(case.tree, case.target, config)
        results[case.change].append((case.right, answer.bid if answer.acted_on else "", case.cluster))
    return tuple(_score(change, rows) for change, rows in results.items() if rows)


def _score(change: str, rows: list[tuple[str, str, str]]) -> LadderScore:
    chosen = [row for row in rows if row[1]]
    owed = [row for row in rows if row[0]]
    return LadderScore(
        change=change,
        cases=len(rows),
        precision=proportion([right == got for right, got, _ in chosen], [cluster for *_, cluster in chosen]),
        recall=proportion([right == got for right, got, _ in owed], [cluster for *_, cluster in owed]),
        refused=proportion([not got for _, got, _ in rows], [cluster for *_, cluster in rows]),
    )


def _case(change: str, tree: Tree, index: int, target: TargetDescriptor, cluster: str, rng: Random) -> Case:
    nodes: list[Node | None] = list(tree.nodes)
    depths = list(tree.depths)
    if change == "shrunk":
        leaves = [i for i in range(1, len(nodes)) if tree.ends[i] == i + 1 and i != index]
        for i in rng.sample(leaves, int(len(leaves) * SHRINK)):
            nodes[i] = None
    elif change in ("reworded", "renamed"):
        name = tree.nodes[index].name
        nodes[index] = tree.nodes[index]._replace(name=_reworded(name, rng) if change == "reworded" else _other(name, rng))
    elif change == "deleted":
        for i in range(index, tree.ends[index]):
            nodes[i] = None
    kept = [(node, depth, i) for i, (node, depth) in enumerate(zip(nodes, depths, strict=True)) if node is not None]
    if change == "grown":
        for place in sorted(rng.sample(range(1, len(kept)), min(2, len(kept) - 1)), reverse=True):
            kept.insert(place, (tree.nodes[index], kept[place][1], -1))
    numbers = rng.sample(range(1, 10 * len(kept) + 10), len(kept))
    renumbered, right = [], ""
    for (node, _, origin), number in zip(kept, numbers, strict=True):
        bid = str(number) if node.bid is not None else None
        renumbered.append(node._replace(bid=bid))
        if origin == index and change not in _WITHOUT:
            right = bid or ""
    return Case(change, Tree.from_depths(renumbered, [depth for _, depth, _ in kept]), target, right, cluster)


def _reworded(name: str, rng: Random) -> str:
    """One word more, or a number changed: what a counter or a new release does to a label."""
    words = name.split()
    numbers = [i for i, word in enumerate(words) if any(c.isdigit() for c in word)]
    if numbers:
        place = rng.choice(numbers)
        words[place] = "".join(str((int(c) + 3) % 10) if c.isdecimal() and c.isascii() else c for c in words[place])
    else:
        words.insert(rng.randint(0, len(words)), rng.choice(("now", "all", "my", "new")))
    return " ".join(words)


def _other(name: str, rng: Random) -> str:
    choice = rng.choice(("Proceed to the annexe", "Apply quarterly rota", "Unfold the ledger", "Quick handout"))
    return choice if choice != name else "Fetch more vouchers"
