"""Small pages, transitions and a world model whose answers are written down: everything around them is the real thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import HealthCheck, settings

from harness.actions import parse_action
from harness.axtree import describe, parse
from harness.predictions import PastStep, Prediction, WorldModelQuery
from harness.types import Action, JsonDict, Observation, OpenPage, TargetDescriptor

PATIENT = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For trees: drawing them is slow on a busy machine, which says nothing about the code."""

ROOM = "http://shop.localhost/room/"


def page(*lines: str, url: str = ROOM, title: str = "Room") -> Observation:
    """A page with these lines below its root, each indented once more by a leading tab."""
    tree = "\n".join([f"RootWebArea {title!r}, focused", *(f"\t{line}" for line in lines)])
    return Observation(url=url, title=title, axtree=tree, open_pages=(OpenPage(url=url, title=title),))


def on(now: Observation, action: str) -> Action:
    """The action with the descriptor of its element on `now`."""
    read = parse_action(action)
    tree, bid = parse(now.axtree), str(read.arguments.get("bid", ""))
    return read.model_copy(update={"target": describe(tree, bid)}) if bid in tree.by_bid else read


@dataclass(frozen=True)
class Row:
    """An `audits.fidelity.Example`."""

    query: WorldModelQuery
    next_observation: Observation
    provenance: JsonDict
    critical: tuple[TargetDescriptor, ...] = ()


def row(
    now: Observation,
    action: str,
    then: Observation,
    *,
    step: int = 0,
    episode: str = "e1",
    template: str = "t1",
    goal: str = "",
    history: Sequence[PastStep] = (),
    critical: Sequence[TargetDescriptor] = (),
) -> Row:
    return Row(
        query=WorldModelQuery(goal=goal, observation=now, action=on(now, action), history=tuple(history), site="shop"),
        next_observation=then,
        provenance={"run": "r", "episode": episode, "step": step, "template": template, "site": "shop", "change": "page"},
        critical=tuple(critical),
    )


def foreseen(now: Observation | None, **fields: object) -> Prediction:
    return Prediction(world_model="test 1", next_observation=now, **fields)  # type: ignore[arg-type]


@dataclass
class Told:
    """A world model that knows its answers: (tree, action as text) → next page, or None for an unreadable answer.

    What it does not know it calls unreadable. `asked` counts questions.
    """

    answers: Mapping[tuple[str, str], Observation | None]
    name: str = "told"
    version: str = "1"
    asked: int = 0
    batches: list[int] = field(default_factory=list)

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        self.asked += len(queries)
        self.batches.append(len(queries))
        return [[self._answer(query)] * samples for query in queries]

    def close(self) -> None: ...

    def _answer(self, query: WorldModelQuery) -> Prediction:
        then = self.answers.get((query.observation.axtree, query.action.raw))
        return foreseen(then, malformed="" if then else "not known")


def knows(*rows: Row) -> Told:
    """A world model that is right about these rows."""
    return Told({(r.query.observation.axtree, r.query.action.raw): r.next_observation for r in rows})
