"""Policy and environment of one replay, joined by a `Stage`: what to do next, what was done, and whether it is over.

run_episode ──▶ DreamPolicy.act     next cue → grounded on the page as it is → action, or why there is none
            ──▶ ReplayEnv.step      safety → BrowserEnv → Note in the step's metadata; ends after the last cue
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from audits.grounding import Grounding, ground, ground_other
from audits.grounding.ladder import origin_of
from audits.replay.assess import NOTE, SAFETY, Note
from audits.replay.compare import PageCheck, compare_pages
from audits.replay.config import ReplaySettings
from audits.replay.origins import origin_map, translated, translated_action
from audits.replay.safety import Guard
from audits.replay.script import Cue, Script, with_bids
from harness.actions import invalid, make_action, print_action
from harness.axtree import parse
from harness.envs.browser import BrowserEnv
from harness.protocols import Policy, StepResult
from harness.types import INVALID_ACTION, Action, EpisodeSpec, Observation, PolicyOutput, Task, Timing, Trajectory, Verdict

VERSION = "replay-3"
LOOK_AGAIN_MS = 300
WAITS, WAIT_MS = 2, 500
"""An element that is not there is waited for before it counts as absent: suggestions come some 300 ms after the last key."""


class Stage:
    """What the two sides of a replay know of each other. One per worker, set anew for each episode."""

    def __init__(self) -> None:
        self.script: Script
        self.note: Note | None = None
        self.halted = False
        self.left = 0
        """Cues not yet given, prefix included."""
        self.handing_over = False
        """Reality and dream have parted; from the next output on the policy acts."""
        self.waits = 0
        """Spent on the cue at hand."""
        self.looked_at = 0
        """The page that was looked at again already."""
        self.last_page_differs: Callable[[Observation], bool] = lambda _page: False
        """Set by the policy, which knows the dream."""

    def begin(self, script: Script) -> None:
        self.script, self.note, self.halted, self.handing_over = script, None, False, False
        self.left, self.waits, self.looked_at = len(script.prefix) + len(script.cues), 0, 0


class DreamPolicy:
    """Gives the dream's actions, each pointing at the element of the real page that its descriptor means."""

    name = "replay"

    def __init__(self, stage: Stage, settings: ReplaySettings, successor: Policy | None) -> None:
        """`successor` goes on after a hand-over; only arm `handover` needs one."""
        self._stage, self._settings, self._successor = stage, settings, successor
        self._origins: dict[str, str] = {}
        self._allowed: tuple[str, ...] = ()
        self._before: Observation | None = None
        self._begun = False
        self._episode: tuple[str, Task, int]

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._origins, self._allowed, self._before, self._begun = {}, (), None, False
        self._stage.last_page_differs = self._last_page_differs
        self._episode = (goal, task, seed)

    def act(self, observation: Observation) -> PolicyOutput:
        if not self._begun:
            self._begin(observation)
        stage, script = self._stage, self._stage.script
        number = len(script.cues) - stage.left + 1
        check = None if stage.handing_over else self._compare(number, observation)
        if check is not None and not check.equal and stage.looked_at != number:
            return self._look_again(number)
        if check is not None and self._settings.arm == "handover" and number > 1:
            stage.handing_over = bool(check.url or check.crit)
        if stage.handing_over:
            return self._hand_over(observation, number)
        cue = (*script.prefix, *script.cues)[len(script.prefix) + number - 1]
        stage.left -= 1
        output = self._perform(cue, max(number, 0), observation)
        if stage.handing_over:
            return self._hand_over(observation, number)
        if stage.note is not None and stage.note.move != "waited":
            self._before = observation
        return PolicyOutput(action=output, text=cue.action.raw or print_action(cue.action), policy_version=VERSION)

    def close(self) -> None:
        if self._successor is not None:
            self._successor.close()

    # ------------------------------------------------------------------ inside

    def _begin(self, observation: Observation) -> None:
        self._begun = True
        tabs = [page.url for page in observation.open_pages] or [observation.url]
        self._allowed = (*map(origin_of, tabs), *self._settings.safety.origins)
        if (start := self._stage.script.page(1)) is not None:
            self._origins = origin_map(start, observation)

    def _perform(self, cue: Cue, number: int, observation: Observation) -> Action:
        stage = self._stage
        action = translated_action(cue.action, self._origins)
        groundings = self._ground(cue, action, observation)
        fit = all(g.acted_on or g.kind in ("no_element", "invalid_argument") for g in groundings)
        if fit:
            stage.waits = 0
            stage.note = Note(move="executed", action=number, groundings=groundings)
            return with_bids(action, [g.bid for g in groundings]) if cue.targets else action
        reason = next(f"{g.kind}: {g.reason}" for g in groundings if not g.acted_on)
        if stage.waits < WAITS and not cue.failed and any(g.kind in ("absent", "ambiguous", "wrong_state") for g in groundings):
            stage.waits, stage.left = stage.waits + 1, stage.left + 1
            stage.note = Note(move="waited", action=number, groundings=groundings, reason=reason)
            return make_action("noop", {"wait_ms": WAIT_MS}, raw=cue.action.raw)
        stage.waits = 0
        stopped = invalid("bad_argument", f"the replay cannot do this: {reason}", cue.action.raw)
        if off := next((g.reason for g in groundings if g.kind == "off_origin"), ""):
            stage.halted = True
            stage.note = Note(move="halted", action=number, groundings=groundings, reason=reason, safety=off)
        elif cue.failed:
            stage.note = Note(move="failed_in_dream", action=number, groundings=groundings, reason=reason)
        elif self._settings.arm == "skip":
            stage.note = Note(move="skipped", action=number, groundings=groundings, reason=reason)
        elif self._settings.arm == "handover" and number > 0:
            stage.handing_over = True
            stage.note = Note(move="handed_over", action=number, groundings=groundings, reason=reason)
        else:
            stage.halted = True
            stage.note = Note(move="halted", action=number, groundings=groundings, reason=reason)
        return stopped if stage.halted else make_action("noop", {"wait_ms": 0}, raw=cue.action.raw)

    def _ground(self, cue: Cue, action: Action, observation: Observation) -> tuple[Grounding, ...]:
        if not cue.targets:
            return (ground_other(action, self._allowed),)
        tree = parse(observation.axtree)
        return tuple(
            ground(tree, target, action.name, self._settings.grounding)
            if target is not None
            else Grounding(kind="missing_descriptor", reason="the dream does not say which element")
            for target in cue.targets
        )

    def _compare(self, number: int, observation: Observation) -> PageCheck | None:
        """Page `number` as dreamed and as it is; None where the dream has none."""
        script = self._stage.script
        dreamed = script.page(number) if number > 0 else None
        if dreamed is None:
            return None
        return compare_pages(
            number,
            translated(dreamed, self._origins),
            observation,
            self._before,
            self._settings.calibration,
            cues=script.cues[number - 1 :],
            answer=script.answer,
        )

    def _last_page_differs(self, observation: Observation) -> bool:
        check = self._compare(len(self._stage.script.cues) + 1, observation)
        return check is not None and not check.equal

    def _look_again(self, number: int) -> PolicyOutput:
        """A page that differs may still be on its way: it is looked at once more. Waiting makes no false page true."""
        self._stage.looked_at = number
        self._stage.note = Note(move="waited", action=number, reason="the page differs")
        wait = make_action("noop", {"wait_ms": LOOK_AGAIN_MS})
        return PolicyOutput(action=wait, text="", policy_version=VERSION)

    def _hand_over(self, observation: Observation, number: int) -> PolicyOutput:
        """The successor acts; the first time it is told that an episode begins, for to it one does."""
        assert self._successor is not None, "arm `handover` needs a policy"
        stage = self._stage
        if stage.left >= 0:
            stopped = stage.note if stage.note is not None and stage.note.move == "handed_over" else None
            self._successor.reset(*self._episode)
            stage.left = -1
            stage.note = stopped or Note(move="handed_over", action=number)
        else:
            stage.note = Note(move="policy", action=len(stage.script.cues) + 1)
        return self._successor.act(observation)


class ReplayEnv:
    """A BrowserEnv that a replay steers: halts where the policy says so, ends with the last action, keeps the rules."""

    def __init__(self, inner: BrowserEnv, stage: Stage, settings: ReplaySettings, guard: Guard) -> None:
        self._inner, self._stage, self._settings, self._guard = inner, stage, settings, guard
        self._seen: Observation

    def reset(self, spec: EpisodeSpec) -> tuple[str, Observation]:
        self._guard.reset()
        goal, self._seen = self._inner.reset(spec)
        return goal, self._seen

    def step(self, action: Action) -> StepResult:
        stage = self._stage
        note = stage.note
        assert note is not None, "DreamPolicy.act comes first"
        if stage.halted:
            return self._ended(note)
        if rule := self._guard.forbids(self._inner.active_page, action, parse(self._seen.axtree)):
            return self._ended(note.model_copy(update={"move": "halted", "reason": SAFETY, "safety": rule}))
        result = self._inner.step(action)
        last = stage.left == 0 and not stage.handing_over and not result.terminated and result.action_error is None
        if last and stage.last_page_differs(result.observation):
            later = self._inner.step(make_action("noop", {"wait_ms": LOOK_AGAIN_MS}))
            result = later._replace(timing=result.timing)
        self._seen = result.observation
        if self._guard.incidents:
            note = note.model_copy(update={"safety": self._guard.incidents[0]})
        over = bool(self._guard.incidents) or (stage.left == 0 and not stage.handing_over)
        if self._failed(result, note, action):
            if self._settings.arm == "stop":
                note, over = note.model_copy(update={"move": "halted"}), True
            elif self._settings.arm == "handover" and stage.left > 0:
                stage.handing_over, over = True, False
        return result._replace(
            terminated=result.terminated or over,
            metadata={**result.metadata, NOTE: note.model_dump(mode="json")},
        )

    def score(self, trajectory: Trajectory) -> Verdict:
        return self._inner.score(trajectory)

    def close(self) -> None:
        self._inner.close()

    def _failed(self, result: StepResult, note: Note, action: Action) -> bool:
        """An error where the dream has none."""
        if result.action_error is None or action.name == INVALID_ACTION or note.move != "executed":
            return False
        cues: Sequence[Cue] = self._stage.script.cues
        return not (0 < note.action <= len(cues) and cues[note.action - 1].failed)

    def _ended(self, note: Note) -> StepResult:
        return StepResult(
            observation=self._seen,
            action_error=None,
            reward=0.0,
            terminated=True,
            truncated=False,
            timing=Timing(),
            metadata={NOTE: note.model_dump(mode="json")},
        )
