"""Planted faults: each kind changes one page as it says, and an assessment of reality finds it there, under its cause."""

from __future__ import annotations

from random import Random

import pytest

from audits.controls.faults import FAULTS, plant
from audits.fidelity.pages import read_page
from audits.grounding import Grounding, GroundingConfig, ground
from audits.replay.assess import NOTE, Note, assess
from audits.replay.calibration import Calibration
from audits.replay.script import script_of
from harness.axtree import parse
from harness.types import Trajectory, Verdict
from tests.audits.replay.dreams import TASK, page, trajectory

HEAD = "RootWebArea 'Shop'\n\t[1] link 'Log out'\n\t[2] list ''\n\t\t[3] listitem ''\n\t\t\t[4] link 'Red mug'"
HEAD += (
    "\n\t\t[5] listitem ''\n\t\t\t[6] link 'Blue mug'\n\t\t[7] listitem ''\n\t\t\t[8] link 'Green mug'\n\t[9] heading '3 mugs'"
)
FORM = HEAD + "\n\t[10] combobox 'Size' value='S'\n\t\t[11] option 'S', selected=True\n\t\t[12] option 'L', selected=False"
FORM += "\n\t[13] button 'Add'\n\t[14] heading 'Price 12.50'\n\t[15] link 'Terms'"
RECORDED = trajectory(
    [
        (page(HEAD, "http://shop.localhost:1/"), 'click("6")'),
        (page(FORM, "http://shop.localhost:1/blue"), 'select_option("10", "L")'),
        (page(FORM, "http://shop.localhost:1/blue"), 'click("13")'),
        (page(FORM, "http://shop.localhost:1/basket"), 'send_msg_to_user("12.50")'),
    ],
    answer="12.50",
)


def replay_of(dream: Trajectory) -> Trajectory:
    """Reality is the recording; the dream's actions are grounded on it, and the first that cannot be ends the replay."""
    steps = []
    for number, (real, cue) in enumerate(zip(RECORDED.steps, script_of(dream, TASK).cues, strict=True), start=1):
        tree = parse(real.observation.axtree)
        found = tuple(ground(tree, t, cue.action.name, GroundingConfig()) for t in cue.targets if t is not None)
        option = cue.action.arguments.get("options", "L") if cue.action.name == "select_option" else "L"
        stopped = any(not g.acted_on for g in found) or option not in ("S", "L")
        if option not in ("S", "L"):
            found = (Grounding(kind="wrong_state", reason="no such option"),)
        note = Note(move="halted" if stopped else "executed", action=number, groundings=found)
        steps.append(real.model_copy(update={"metadata": {NOTE: note.model_dump(mode="json")}}))
        if stopped:
            break
    return RECORDED.model_copy(update={"steps": tuple(steps), "source": "replay"})


@pytest.mark.parametrize("fault", sorted(FAULTS))
@pytest.mark.parametrize("seed", range(4))
def test_each_fault_is_found_where_it_was_planted(fault: str, seed: int) -> None:
    planted = plant(RECORDED, fault, Random(seed))
    assert planted is not None
    assert planted.trajectory.source == "dream" and 2 <= planted.page <= len(RECORDED.steps) + 1
    found = assess(
        script_of(planted.trajectory, TASK),
        replay_of(planted.trajectory),
        Verdict(status="failure", reward=0.0, scorer="s", scorer_version="1"),
        Calibration(),
        "stop",
    )
    assert found.first is not None
    assert (found.first.page, found.first.cause) == (planted.page, planted.cause)


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_only_page_k_is_changed(fault: str) -> None:
    planted = plant(RECORDED, fault, Random(0))
    assert planted is not None
    for number in range(1, len(RECORDED.steps) + 2):
        mine, theirs = script_of(planted.trajectory, TASK).page(number), script_of(RECORDED, TASK).page(number)
        assert mine is not None and theirs is not None
        if number != planted.page:
            assert read_page(mine).same_as(read_page(theirs))


def test_a_recording_that_cannot_have_a_fault_gets_none() -> None:
    short = trajectory([(page("RootWebArea 'A'"), "noop()")])
    assert all(plant(short, fault, Random(0)) is None for fault in FAULTS if fault not in ("wrong_url", "fake_success"))


def test_the_negative_of_the_positive_control_nothing_planted_nothing_found() -> None:
    found = assess(
        script_of(RECORDED, TASK),
        replay_of(RECORDED),
        Verdict(status="success", reward=1.0, scorer="s", scorer_version="1"),
        Calibration(),
        "stop",
    )
    assert (found.outcome, found.divergences) == ("success", ())
