"""A run of one replay, stored as `harness audit replay` stores it: the dream saw a message that reality never showed."""

from __future__ import annotations

from pathlib import Path

from audits.replay.assess import NOTE, Note, assess
from audits.replay.calibration import Calibration
from audits.replay.config import ReplaySettings
from audits.replay.evidence import DREAM_KEY, SETTINGS_KEY, with_evidence
from audits.replay.script import script_of
from harness.types import Action, Episode, Observation, Step, TargetDescriptor
from results.store import RunStore
from tests.results.factory import episode, manifest, plan, step, task

START = "RootWebArea 'Shop', focused\n\t[1] button 'Buy'\n\t[3] textbox 'Search' value=''"
DREAMED = START + "\n\t[4] alert 'Thank you for your order'"
REAL = START + "\n\t[4] alert 'Sold out'"
EPISODE = "t0__A__r0__a0"


def replay_run(directory: Path) -> None:
    """Dream: Buy, then an answer, dreamed on a page of thanks. Reality: sold out, failure."""
    spec = plan([task("t0")])[0]
    dream = _episode(spec.model_copy(update={}), (START, DREAMED), DREAMED)
    played = _episode(spec, (START, REAL), REAL)
    noted = tuple(
        one.model_copy(update={"metadata": {NOTE: Note(move="executed", action=n).model_dump(mode="json")}})
        for n, one in enumerate(played.trajectory.steps, start=1)
    )
    trajectory = played.trajectory.model_copy(update={"steps": noted, "source": "replay"})
    settings = ReplaySettings(dreams=str(directory), calibration=Calibration())
    found = assess(script_of(dream.trajectory, spec.task), trajectory, played.verdict, settings.calibration, "stop")
    verdict = with_evidence(played.verdict, dream, found)
    marked = spec.task.model_copy(update={"metadata": {DREAM_KEY: EPISODE}})
    planned = spec.model_copy(update={"task": marked})
    facts = manifest([planned], run_id="replays", benchmark_options={SETTINGS_KEY: settings.model_dump(mode="json")})
    with RunStore.create(directory, facts, [planned]) as store:
        store.record(played.model_copy(update={"spec": planned, "trajectory": trajectory, "verdict": verdict}), {})


def _episode(spec: object, pages: tuple[str, str], final: str) -> Episode:
    target = TargetDescriptor(role="button", name="Buy", path=('RootWebArea "Shop"',))
    buy = Action(name="click", arguments={"bid": "1"}, raw='click("1")', target=target)
    answer = Action(name="send_msg_to_user", arguments={"text": "Done."}, raw='send_msg_to_user("Done.")')
    steps = tuple(_step(n, action, tree) for n, (action, tree) in enumerate(zip((buy, answer), pages, strict=True)))
    last = Observation(url="http://shop.test/", title="Shop", axtree=final)
    status = "success" if "Thank you" in final else "failure"
    return episode(spec, status, steps=steps, run_id="replays", trajectory={"final_observation": last})  # type: ignore[arg-type]


def _step(number: int, action: Action, tree: str) -> Step:
    page = Observation(url="http://shop.test/", title="Shop", axtree=tree)
    return step(number, action).model_copy(update={"observation": page})
