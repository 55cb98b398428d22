"""A finished replay → what it says: the outcome with its cause, and where dream and reality parted. A pure function.

    Script + replayed Trajectory + Verdict + Calibration ─► Assessment

The same function runs when the replay ends and when `harness audit rescore` reads it from disk years later.

    inconclusive   the dream cannot be replayed · infrastructure, timeout, evaluator · the site refused · a safety rule held ·
                   the start page is not the one that was dreamed from · no oracle
    success        the benchmark's own evaluators say so, at the end
    failure        they say no; cause: `exec` (stopped at an action), else the first divergence's, else `oracle`
"""

from __future__ import annotations

from typing import Final, Literal

from audits.grounding import Grounding
from audits.records import Arm, DivergenceCause, Outcome
from audits.replay.calibration import Calibration
from audits.replay.compare import PageCheck, compare_pages
from audits.replay.config import REPLAY_VERSION
from audits.replay.origins import origin_map, translated
from audits.replay.script import Script
from harness.types import Boundary, JsonDict, Observation, Record, Step, Trajectory, Verdict

NOTE: Final = "replay"
"""Key of a replay's notes in a step's metadata and in a verdict's evidence."""
SAFETY, START_PARITY = "safety", "start_parity"

_INFRASTRUCTURE: Final[dict[Boundary, str]] = {
    "policy": "policy", "env": "infrastructure", "site": "infrastructure", "evaluator": "evaluator", "judge": "evaluator",
    "harness": "infrastructure", "timeout": "timeout",
}  # fmt: skip

Move = Literal["executed", "waited", "skipped", "failed_in_dream", "halted", "handed_over", "policy"]


class Note(Record):
    """What a replay did at one step; kept in `Step.metadata["replay"]`."""

    move: Move
    action: int
    """Number of the dreamed action, 1 … T; 0 for a prefix action. At a hand-over: of the page where the policy took over."""
    groundings: tuple[Grounding, ...] = ()
    reason: str = ""
    safety: str = ""
    """The rule that held; the action was not executed, or was stopped on its way."""


class Divergence(Record):
    page: int
    cause: DivergenceCause
    detail: str = ""


class Assessment(Record):
    """The outcome of one replay. Equal evidence gives an equal assessment, to the bit."""

    version: int = REPLAY_VERSION
    arm: Arm
    outcome: Outcome
    cause: str = ""
    detail: str = ""
    length: int
    """T: dreamed actions."""
    compared: int = 0
    checks: tuple[PageCheck, ...] = ()
    divergences: tuple[Divergence, ...] = ()
    """The first one of each cause, in order of pages."""
    groundings: tuple[Grounding, ...] = ()
    """The worst grounding of each attempted action, in order."""
    finished: bool = False
    """All dreamed actions were executed, or failed in the dream too."""
    slow: int = 0
    """Pages that were still busy when they were read."""
    calibration: str = ""

    @property
    def first(self) -> Divergence | None:
        """τ: the earliest; of several on one page the one that explains the others."""
        return min(self.divergences, key=lambda d: (d.page, _RANK[d.cause]), default=None)


_RANK: Final[dict[DivergenceCause, int]] = {"url": 0, "exec": 1, "crit": 2, "any": 3}
_WORST: Final = (
    "absent",
    "ambiguous",
    "wrong_state",
    "missing_descriptor",
    "off_origin",
    "invalid_argument",
    "fuzzy",
    "contextual",
)


def assess(script: Script, trajectory: Trajectory, verdict: Verdict, calibration: Calibration, arm: Arm) -> Assessment:
    """Judge one replay."""
    length = len(script.cues)
    if script.problem:
        return Assessment(
            arm=arm,
            outcome="inconclusive",
            cause=script.problem,
            detail=script.detail,
            length=length,
            calibration=calibration.digest,
        )
    notes = [note_of(step) for step in trajectory.steps]
    checks = tuple(check_pages(script, trajectory, notes, calibration))
    divergences = tuple(_divergences(script, trajectory, notes, checks, calibration))
    found = Assessment(
        arm=arm,
        outcome="inconclusive",
        length=length,
        compared=len(checks),
        checks=checks,
        divergences=divergences,
        groundings=tuple(
            _worst(note.groundings) for note in notes if note and note.groundings and note.action > 0 and note.move != "waited"
        ),
        finished=sum(note.move in ("executed", "failed_in_dream") for note in notes if note and 0 < note.action <= length)
        == length,
        slow=sum(step.observation.slow for step in trajectory.steps),
        calibration=calibration.digest,
    )
    outcome, cause, detail = _outcome(found, verdict, notes)
    return found.model_copy(update={"outcome": outcome, "cause": cause, "detail": detail[:300]})


def note_of(step: Step) -> Note | None:
    """The note of a step; None for a step of something else."""
    found = step.metadata.get(NOTE)
    return Note.model_validate(found) if isinstance(found, dict) else None


def check_pages(script: Script, trajectory: Trajectory, notes: list[Note | None], calibration: Calibration) -> list[PageCheck]:
    """Pages 1 … as far as dream and reality both go."""
    pages = real_pages(trajectory, notes, len(script.cues))
    origins: dict[str, str] = {}
    checks: list[PageCheck] = []
    for number, real in enumerate(pages, start=1):
        dreamed = script.page(number)
        if dreamed is None:
            break
        if number == 1:
            origins = origin_map(dreamed, real)
        checks.append(
            compare_pages(
                number,
                translated(dreamed, origins),
                real,
                pages[number - 2] if number > 1 else None,
                calibration,
                cues=script.cues[number - 1 :],
                answer=script.answer,
            )
        )
    return checks


def real_pages(trajectory: Trajectory, notes: list[Note | None], length: int) -> list[Observation]:
    """Real pages 1 … : before each dreamed action, and after the last one that was executed."""
    pages: list[Observation] = []
    after: Observation | None = None
    following = [*(step.observation for step in trajectory.steps[1:]), trajectory.final_observation]
    for step, note, later in zip(trajectory.steps, notes, following, strict=False):
        if note is None or not 0 < note.action <= length + 1 or note.move in ("policy", "waited"):
            continue
        pages.append(step.observation)
        after = later if note.move not in ("halted", "handed_over") else None
    return [*pages, after] if after is not None else pages


def _divergences(
    script: Script, trajectory: Trajectory, notes: list[Note | None], checks: tuple[PageCheck, ...], calibration: Calibration
) -> list[Divergence]:
    found: dict[DivergenceCause, Divergence] = {}
    failures = _failures(script, trajectory, notes)
    for check in checks:
        reasons: dict[DivergenceCause, str] = {}
        if check.url:
            reasons["url"] = check.url[0]
        if check.number in failures:
            reasons["exec"] = failures[check.number]
        if check.crit:
            reasons["crit"] = check.crit[0]
        if check.agreement < calibration.threshold_of(check.site):
            reasons["any"] = f"agreement {check.agreement:.3f}; {'; '.join(check.differences[:2])}"
        for cause, detail in reasons.items():
            found.setdefault(cause, Divergence(page=check.number, cause=cause, detail=detail[:300]))
    return sorted(found.values(), key=lambda d: (d.page, _RANK[d.cause]))


def _failures(script: Script, trajectory: Trajectory, notes: list[Note | None]) -> dict[int, str]:
    """Dreamed actions that reality did not take, by number: not grounded, or an error where the dream has none."""
    found: dict[int, str] = {}
    for step, note in zip(trajectory.steps, notes, strict=True):
        if (
            note is None
            or note.move == "waited"
            or not 0 < note.action <= len(script.cues)
            or script.cues[note.action - 1].failed
        ):
            continue
        bad = next((g for g in note.groundings if not g.acted_on and g.kind != "no_element"), None)
        if bad is not None:
            found[note.action] = f"{bad.kind}: {bad.reason}"
        elif step.action_error is not None and note.move in ("executed", "halted"):
            found[note.action] = f"{step.action_error.kind}: {step.action_error.message}"
    return found


def _outcome(found: Assessment, verdict: Verdict, notes: list[Note | None]) -> tuple[Outcome, str, str]:
    if verdict.status == "error":
        error = verdict.error
        cause = _INFRASTRUCTURE[error.boundary] if error else "infrastructure"
        return "inconclusive", cause, verdict.reason
    if safety := next((note.safety for note in notes if note and note.safety), "") or _left_the_sites(verdict.evidence):
        return "inconclusive", SAFETY, safety
    if verdict.status == "blocked":
        return "inconclusive", "site_refused", verdict.reason
    if not found.checks:
        return "inconclusive", "no_start_page", "no page of the dream could be compared"
    if not found.checks[0].equal:
        first = found.checks[0]
        return "inconclusive", START_PARITY, "; ".join((*first.url, *first.differences)) or "the order of nodes differs"
    if verdict.status not in ("success", "failure"):
        return "inconclusive", "no_oracle", verdict.reason
    if verdict.status == "success":
        return "success", "", ""
    first_divergence = found.first
    if any(note.move == "halted" for note in notes if note):
        return "failure", "exec", next((d.detail for d in found.divergences if d.cause == "exec"), verdict.reason)
    if first_divergence is not None:
        return "failure", first_divergence.cause, first_divergence.detail
    return "failure", "oracle", verdict.reason


def _left_the_sites(evidence: JsonDict) -> str:
    left = evidence.get("left_the_sites")
    return f"left the sites for {str(left[0])[:200]}" if isinstance(left, list) and left else ""


def _worst(groundings: tuple[Grounding, ...]) -> Grounding:
    return min(groundings, key=lambda g: _WORST.index(g.kind) if g.kind in _WORST else len(_WORST))
