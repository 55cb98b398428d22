"""A replay as the dream's judge would have seen it: the dream's actions on the real pages.

What the replay alone did (second looks, waits for an element) is left out, and so is what a successor did after a hand-over.
"""

from __future__ import annotations

from audits.replay.assess import note_of
from audits.replay.evidence import Replay
from harness.types import Step, Trajectory


def as_seen(replay: Replay) -> Trajectory | None:
    """Prefix and dreamed actions with the real page before each, and the real page at the end. None where nothing was done.

    An action that could not be executed is no step: it did nothing. One that failed in the dream too is kept as dreamed, for it
    names elements of the dreamed page.
    """
    real, dreamt = replay.episode.trajectory, replay.dream.steps if replay.dream is not None else ()
    steps: list[Step] = []
    last = None
    following = [*(step.observation for step in real.steps[1:]), real.final_observation]
    for step, after in zip(real.steps, following, strict=True):
        note = note_of(step)
        if note is None or note.move in ("policy", "handed_over"):
            break
        last = step.observation if note.move == "halted" else after or step.observation
        if note.move == "failed_in_dream" and 0 < note.action <= len(dreamt):
            step = dreamt[note.action - 1]
        if note.move in ("executed", "failed_in_dream"):
            steps.append(step.model_copy(update={"index": len(steps)}))
    if last is None:
        return None
    return real.model_copy(update={"steps": tuple(steps), "final_observation": last})
