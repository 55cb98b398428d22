"""Verdicts again, from what is stored: no browser, no site.

assessment   from the dream, the real pages and the notes                         must equal the stored one, bit for bit
resolver     every decision again, on the stored tree                             must equal the stored one
verdict      the database part from its state diff; answers and addresses by      must equal the stored one
             WebArena's own evaluators. What needs a live page (program_html) is taken as recorded, and counted
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from audits.grounding import GroundingConfig, ground
from audits.replay.assess import note_of
from audits.replay.evidence import Replay, read_replays, same, settings_of
from audits.replay.script import script_of
from harness.axtree import parse
from harness.benchmarks.arena.scoring import STATE_PROFILE
from harness.benchmarks.arena.state import TableDiff, unexpected
from harness.types import Episode, JsonDict, Record
from results.reader import RunReader


class Rescored(Record):
    """What judging a run of replays again gave. Lists name episodes."""

    replays: int
    outcomes: dict[str, int]
    differing: tuple[str, ...] = ()
    """Assessments that are not what the evidence says."""
    resolver: tuple[str, ...] = ()
    """Replays with a decision that the ladder would not take again."""
    decisions: int = 0
    states: int = 0
    """Verdicts on a database that were derived again from their diff."""
    state_differing: tuple[str, ...] = ()
    without_evidence: int = 0
    """Replays whose worker was killed: nothing to judge, inconclusive as before."""

    @property
    def equal(self) -> bool:
        return not (self.differing or self.resolver or self.state_differing)


def rescore(reader: RunReader) -> Rescored:
    """Judge every replay of a run again."""
    settings = settings_of(reader)
    outcomes: Counter[str] = Counter()
    differing, resolver, wrong_states = [], [], []
    decisions = states = lost = number = 0
    for replay in read_replays(reader):
        number += 1
        name = replay.episode.spec.episode_id
        outcomes[replay.assessment.outcome] += 1
        lost += replay.stored is None
        if not same(replay):
            differing.append(name)
        answers = list(_decisions(replay, settings.grounding))
        decisions += len(answers)
        if not all(answers):
            resolver.append(name)
        if (agrees := state_agrees(replay.episode)) is not None:
            states += 1
            if not agrees:
                wrong_states.append(name)
    return Rescored(
        replays=number,
        outcomes=dict(sorted(outcomes.items())),
        differing=tuple(differing),
        resolver=tuple(resolver),
        decisions=decisions,
        states=states,
        state_differing=tuple(wrong_states),
        without_evidence=lost,
    )


def _decisions(replay: Replay, config: GroundingConfig) -> Iterator[bool]:
    """For each element that was looked for: would the ladder say the same today?"""
    if replay.dream is None:
        return
    script = script_of(replay.dream, replay.episode.spec.task)
    for step in replay.episode.trajectory.steps:
        note = note_of(step)
        if note is None or not 0 < note.action <= len(script.cues):
            continue
        cue = script.cues[note.action - 1]
        tree = parse(step.observation.axtree)
        for target, stored in zip(cue.targets, note.groundings, strict=False):
            if target is not None and stored.kind != "missing_descriptor":
                yield ground(tree, target, cue.action.name, config) == stored


def state_agrees(episode: Episode) -> bool | None:
    """Does the arena's verdict on the database follow from its stored diff? None where there is no such verdict."""
    score = next((s for s in episode.verdict.other_scores if s.profile == STATE_PROFILE), None)
    evidence = episode.verdict.evidence.get("state")
    wanted = episode.spec.task.evaluator.spec.get("state")
    if score is None or not isinstance(evidence, dict) or not isinstance(wanted, dict):
        return None
    missed = [check for check in _list(evidence.get("checks")) if check.get("got") != check.get("expected")]
    unintended = _unintended(evidence, wanted)
    return (score.status == "success") == (not missed and not unintended)


def _unintended(evidence: JsonDict, wanted: JsonDict) -> list[str]:
    rules: list[str] = []
    allowed = wanted.get("changes")
    for site_rules in (allowed or {}).values() if isinstance(allowed, dict) else ():
        rules += [str(rule) for rule in site_rules] if isinstance(site_rules, list) else []
    changes = evidence.get("changes")
    found: dict[str, TableDiff] = {}
    for tables in changes.values() if isinstance(changes, dict) else ():
        found.update({name: _diff(shown) for name, shown in tables.items()} if isinstance(tables, dict) else {})
    return list(unexpected(found, rules))


def _diff(shown: Any) -> TableDiff:
    def rows(key: str) -> int:
        return int(shown.get(key, 0)) if isinstance(shown, dict) else 0

    return TableDiff(({},) * rows("added"), ({},) * rows("removed"), (({}, {}),) * rows("changed"))


def _list(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
