"""The tickets of the tracker's world: two years of reports, comments, new owners and resolutions.

    make_tickets(rng, owners of components, team, reporters) → tickets numbered from 1, oldest first

A ticket's fields are its state today; its changes lead from what was reported to that, as in Trac's database.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness.sites.worlds.tracker_words import CLOSING, COMPONENTS, KEYWORDS, MILESTONES, REMARKS, SUBJECTS, VERSIONS

COUNT = 260
FIRST_DAY = datetime(2024, 2, 1)
LAST_DAY = datetime(2026, 2, 27)

PRIORITIES = ("blocker", "critical", "major", "minor", "trivial")
TYPES = ("defect", "enhancement", "task")
RESOLUTIONS = ("fixed", "wontfix", "duplicate", "invalid", "worksforme")
_MOST_EDITS = 9
_DONE = frozenset(plan.name for plan in MILESTONES if plan.completed)
_TO_DO = tuple(plan.name for plan in MILESTONES if not plan.completed)


@dataclass(frozen=True, slots=True)
class Change:
    """One edit: a comment (may be empty) and fields as (name, old, new). `number` counts the ticket's edits from 1."""

    time: str
    author: str
    number: int
    comment: str
    fields: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Ticket:
    id: int
    created: str
    changed: str
    type: str
    component: str
    priority: str
    owner: str
    reporter: str
    cc: str
    version: str
    milestone: str
    status: str
    resolution: str
    summary: str
    description: str
    keywords: str
    changes: tuple[Change, ...]

    @property
    def is_open(self) -> bool:
        return self.status != "closed"


def make_tickets(
    rng: random.Random, owners: Mapping[str, str], team: Sequence[str], reporters: Sequence[str]
) -> tuple[Ticket, ...]:
    """`COUNT` tickets; no two have the same summary."""
    subjects = rng.sample(_subjects(), COUNT)
    minutes = int((LAST_DAY - FIRST_DAY).total_seconds() // 60)
    times = sorted(FIRST_DAY + timedelta(minutes=m) for m in rng.sample(range(minutes), COUNT))
    maker = _Maker(rng, owners, team, reporters)
    return tuple(maker.ticket(k, when, *subject) for k, (when, subject) in enumerate(zip(times, subjects, strict=True), 1))


def _subjects() -> list[tuple[str, str, str, str]]:
    """(component, type, summary, description) of every ticket that could be."""
    return [
        (component, type_, summary.format(thing=thing, Thing=thing[0].upper() + thing[1:]), text)
        for component, part in COMPONENTS.items()
        for thing in part.parts
        for type_, summary, text in SUBJECTS
    ]


class _Maker:
    def __init__(self, rng: random.Random, owners: Mapping[str, str], team: Sequence[str], reporters: Sequence[str]) -> None:
        self.rng, self.owners, self.team, self.reporters = rng, owners, team, reporters

    def ticket(self, number: int, created: datetime, component: str, kind: str, summary: str, text: str) -> Ticket:
        rng = self.rng
        version = _released_before(created)
        reporter = rng.choice(self.reporters if rng.random() < 0.7 else self.team)
        values = {
            "owner": self.owners[component],
            "priority": rng.choices(PRIORITIES, (3, 10, 45, 30, 12))[0],
            "milestone": "",
            "status": "new",
            "resolution": "",
            "keywords": " ".join(sorted(rng.sample(KEYWORDS, rng.choice((0, 1, 1, 2))))),
            "cc": ", ".join(sorted(rng.sample(self.reporters, rng.choice((0, 0, 0, 1, 2))))),
        }
        changes = self._history(created, values, reporter)
        return Ticket(
            id=number,
            created=_text(created),
            changed=changes[-1].time if changes else _text(created),
            type=kind,
            component=component,
            reporter=reporter,
            version=version if kind == "defect" else "",
            summary=summary,
            description=f"{text}\n\nVersion {version}, {rng.choice(('small', 'middle-sized', 'large'))} branch.",
            changes=tuple(changes),
            **values,
        )

    def _history(self, created: datetime, values: dict[str, str], reporter: str) -> list[Change]:
        """Edits from `created` on; `values` become what they are today."""
        rng = self.rng
        age = LAST_DAY - created
        closes = rng.random() < (0.86 if age > timedelta(days=240) else 0.5 if age > timedelta(days=60) else 0.15)
        times = self._times(created)
        changes: list[Change] = []

        def edit(author: str, comment: str, **new: str) -> None:
            fields = tuple((name, values[name], value) for name, value in new.items() if values[name] != value)
            values.update(new)
            changes.append(Change(_text(next(times)), author, len(changes) + 1, comment, fields))

        edit(values["owner"], rng.choice(REMARKS), milestone=_due_after(created, rng), status="accepted" if closes else "new")
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            if rng.random() < 0.3:
                owner = rng.choice([name for name in self.team if name != values["owner"]])
                edit(values["owner"], "I have no time for this; over to somebody else.", owner=owner, status="assigned")
            elif rng.random() < 0.3:
                edit(rng.choice(self.team), rng.choice(REMARKS), priority=rng.choice(PRIORITIES))
            else:
                edit(reporter if rng.random() < 0.5 else rng.choice(self.team), rng.choice(REMARKS))
        if closes:
            resolution = rng.choices(RESOLUTIONS, (60, 12, 10, 8, 10))[0]
            edit(values["owner"], rng.choice(CLOSING[resolution]), status="closed", resolution=resolution)
            if rng.random() < 0.06:
                edit(reporter, "It is back on the current version.", status="reopened", resolution="")
        elif values["status"] == "new" and rng.random() < 0.4:
            edit(values["owner"], "", status="accepted")
        if values["status"] != "closed" and values["milestone"] in _DONE:
            edit(values["owner"], "Moved: the old milestone is done.", milestone=rng.choice(_TO_DO))
        return changes

    def _times(self, created: datetime) -> Iterator[datetime]:
        """When edits may have been made: within five months, before the last day is over."""
        span = min(timedelta(days=150), LAST_DAY + timedelta(days=2) - created)
        minutes = range(15, int(span.total_seconds() // 60))
        return iter(sorted(created + timedelta(minutes=m) for m in self.rng.sample(minutes, _MOST_EDITS)))


def _due_after(when: datetime, rng: random.Random) -> str:
    """The milestone that was next at that time, now and then the one after it or none."""
    later = [plan.name for plan in MILESTONES if plan.due > _text(when)[:10]]
    return rng.choice((*later[:1], *later[:1], *later[:2][-1:], "Someday"))


def _released_before(when: datetime) -> str:
    return [name for name, day in VERSIONS if day < _text(when)[:10]][-1]


def _text(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M:%S")
