"""What a replay says: outcomes, causes, divergences. Pure functions on trajectories made by hand."""

from __future__ import annotations

import pytest

from audits.grounding import Grounding
from audits.replay.assess import NOTE, Assessment, Note, assess
from audits.replay.calibration import Calibration, Volatile, VolatilePlace, learn, learn_places
from audits.replay.compare import compare_pages, differing
from audits.replay.script import script_of
from harness.errors import EnvError, EpisodeTimeout, error_info
from harness.predictions import RETOLD
from harness.rollout import error_verdict
from harness.types import ActionError, Observation, Trajectory, Verdict
from tests.audits.replay.dreams import TASK, page, trajectory

ONE = "RootWebArea 'One'\n\t[1] link 'Next'\n\t[2] link 'Back'"
TWO = "RootWebArea 'Two'\n\t[3] heading 'Total 41'\n\t[4] button 'Go'\n\t[5] checkbox 'All', checked='false'"
NO_MASK = Calibration()
SUCCESS = Verdict(status="success", reward=1.0, scorer="s", scorer_version="1")
FAILURE = Verdict(status="failure", reward=0.0, scorer="s", scorer_version="1", reason="the shelf is empty")


def dream(second: str | Observation = TWO, final: str | Observation = ONE) -> Trajectory:
    return trajectory([(ONE, 'click("1")'), (second, 'click("4")')], final)


def replayed(
    *pages: str | Observation, moves: tuple[str, ...] = ("executed", "executed"), error: ActionError | None = None
) -> Trajectory:
    """A replay that saw these pages; the last one after the last action."""
    made = trajectory([(seen, "noop()") for seen in pages[:-1]], pages[-1], source="replay")
    steps = []
    for number, (step, move) in enumerate(zip(made.steps, moves, strict=False), start=1):
        missing = move == "halted" and error is None
        grounding = Grounding(kind="absent", reason="gone") if missing else Grounding(kind="exact", rung="exact", bid="1")
        note = Note(move=move, action=number, groundings=(grounding,))  # type: ignore[arg-type]
        failed = error if number == len(moves) else None
        steps.append(step.model_copy(update={"metadata": {NOTE: note.model_dump(mode="json")}, "action_error": failed}))
    return made.model_copy(update={"steps": tuple(steps)})


def judged(
    made: Trajectory, verdict: Verdict = SUCCESS, dreamt: Trajectory | None = None, calibration: Calibration = NO_MASK
) -> Assessment:
    return assess(script_of(dreamt or dream(), TASK), made, verdict, calibration, "stop")


def test_reality_as_dreamed() -> None:
    found = judged(replayed(ONE, TWO, ONE))
    assert (found.outcome, found.cause, found.compared, found.divergences) == ("success", "", 3, ())
    assert found.finished


def test_a_failure_without_divergence_is_the_judges() -> None:
    found = judged(replayed(ONE, TWO, ONE), FAILURE)
    assert (found.outcome, found.cause, found.detail) == ("failure", "oracle", "the shelf is empty")


def test_an_action_that_cannot_be_executed_stops_the_replay() -> None:
    real = TWO.replace("button 'Go'", "button 'Leave'")
    found = judged(replayed(ONE, real, real, moves=("executed", "halted")), FAILURE)
    assert (found.outcome, found.cause) == ("failure", "exec")
    assert found.first is not None and (found.first.page, found.first.cause) == (2, "exec")
    assert found.compared == 2, "what came after a stop is not the dream's"


def test_an_error_of_the_action_counts_as_one_that_cannot_be_executed() -> None:
    error = ActionError(kind="covered", message="is covered")
    found = judged(replayed(ONE, TWO, TWO, moves=("executed", "halted"), error=error), FAILURE)
    assert found.first is not None and (found.first.page, found.first.cause) == (2, "exec")
    assert "covered" in found.detail


@pytest.mark.parametrize(
    ("second", "cause"),
    [
        (page(TWO, "http://shop.localhost:1/elsewhere"), "url"),
        (TWO.replace("'Two'", "'Three'"), "url"),
        (TWO.replace("[4] button", "[9] dialog 'Sure?'\n\t[4] button"), "url"),
        (TWO.replace("button 'Go'", "button 'Off'"), "crit"),
        (TWO.replace("41", "42"), "any"),
        (TWO.replace("[5]", "[6] link 'More'\n\t[5]"), "any"),
    ],
)
def test_where_and_why_a_page_differs(second: str | Observation, cause: str) -> None:
    found = judged(replayed(ONE, second, ONE))
    assert found.outcome == "success", "a divergence alone is no failure"
    assert found.first is not None and (found.first.page, found.first.cause) == (2, cause)


def test_another_login_is_another_place() -> None:
    ours = compare_pages(
        2, page("RootWebArea 'A'\n\t[1] link 'Log out'"), page("RootWebArea 'A'\n\t[1] link 'Log in'"), None, NO_MASK
    )
    assert any("signed in" in reason for reason in ours.url)


def test_the_answer_is_critical() -> None:
    made = trajectory([(ONE, 'click("1")'), (TWO, 'send_msg_to_user("41")')], answer="41")
    found = judged(replayed(ONE, TWO.replace("41", "37"), ONE), FAILURE, made)
    assert found.first is not None and (found.first.page, found.first.cause) == (2, "crit")


def test_order_counts() -> None:
    rows = "RootWebArea 'R'\n\t[1] row ''\n\t\t[2] cell '{}'\n\t[3] row ''\n\t\t[4] cell '{}'\n\t[5] row ''\n\t\t[6] cell 'c'"
    check = compare_pages(2, page(rows.format("b", "a")), page(rows.format("a", "b")), page(rows.format("a", "b")), NO_MASK)
    assert not check.equal and check.agreement < 1.0
    assert (check.only_dreamed, check.only_real) == (0, 0)


@pytest.mark.parametrize(
    ("verdict", "cause"),
    [
        (error_verdict(error_info(EnvError("gone", kind="browser_lost"))), "infrastructure"),
        (error_verdict(error_info(EpisodeTimeout("late"))), "timeout"),
        (Verdict(status="blocked", scorer="s", scorer_version="1", reason="captcha"), "site_refused"),
        (Verdict(status="inconclusive", scorer="s", scorer_version="1", reason="no judge"), "no_oracle"),
        (FAILURE.model_copy(update={"evidence": {"left_the_sites": ["http://evil.example/"]}}), "safety"),
    ],
)
def test_what_says_nothing_about_the_dream(verdict: Verdict, cause: str) -> None:
    found = judged(replayed(ONE, TWO, ONE), verdict)
    assert (found.outcome, found.cause) == ("inconclusive", cause)


def test_another_start_page_says_nothing_about_the_dream() -> None:
    found = judged(replayed(ONE.replace("Back", "Log in"), TWO, ONE), FAILURE)
    assert (found.outcome, found.cause) == ("inconclusive", "start_parity")


def test_bad_dreams_have_a_cause() -> None:
    script = script_of(dream(), None)
    assert script.problem == "unknown_task"
    changed = TASK.model_copy(update={"goal": "something else"})
    assert script_of(dream(), changed).problem == "site_version"
    assert script_of(dream().model_copy(update={"steps": ()}), TASK).problem == "empty_dream"
    retold = dream().model_copy(update={"task": TASK.model_copy(update={"metadata": {RETOLD: 1}})})
    assert script_of(retold, TASK).problem == "retold_goal"
    blind = trajectory([(ONE, 'click("77")')])
    assert script_of(blind, TASK).problem == "missing_descriptor"
    found = assess(script_of(blind, TASK), replayed(ONE, ONE), FAILURE, NO_MASK, "stop")
    assert (found.outcome, found.cause) == ("inconclusive", "missing_descriptor")


def test_an_action_that_failed_in_the_dream_needs_no_descriptor() -> None:
    made = trajectory([(ONE, 'click("77")'), (ONE, 'click("1")')])
    error = ActionError(kind="stale", message="there is no element 77")
    made = made.model_copy(update={"steps": (made.steps[0].model_copy(update={"action_error": error}), made.steps[1])})
    assert script_of(made, TASK).problem == ""


def test_a_mask_hides_what_two_identical_runs_differ_in_and_nothing_else() -> None:
    before, after = TWO.replace("Total 41", "21 minutes ago"), TWO.replace("Total 41", "22 minutes ago")
    mask = learn(("shop.localhost", node) for node in differing(page(before), page(after)))
    assert mask == (Volatile(site="shop.localhost", role="heading", shape="# minutes ago", seen=2),)
    calibration = Calibration(mask=mask)
    found = judged(replayed(ONE, after, ONE), dreamt=dream(before), calibration=calibration)
    assert found.divergences == ()
    found = judged(replayed(ONE, after.replace("'Go'", "'Off'"), ONE), dreamt=dream(before), calibration=calibration)
    assert found.first is not None and found.first.cause == "crit"
    assert judged(replayed(ONE, after, ONE), dreamt=dream(before)).first is not None


def test_volatile_parts_of_addresses() -> None:
    pairs = [("shop", "http://a/wish/xyz/1?t=5&q=a", "http://b/wish/abc/1?t=6&q=a"), ("shop", "http://a/x", "http://b/y/z")]
    places = learn_places(pairs)
    assert {place.before for place in places} == {"/wish", "/wish/*/1?t"}
    found = Calibration(places=places)
    assert found.address("shop", pairs[0][1]) == found.address("shop", pairs[0][2]) == "/wish/*/1?t=*&q=a"
    assert found.address("shop", "http://a/wish/abc/2") != found.address("shop", "http://a/wish/xyz/1")
    assert VolatilePlace(site="shop", before="/wish", seen=1) in places


def test_the_same_sites_on_other_ports() -> None:
    real = [page(text, "http://shop.localhost:2/") for text in (ONE, TWO, ONE)]
    assert judged(replayed(*real)).divergences == ()


def test_the_same_evidence_gives_the_same_assessment_to_the_bit() -> None:
    made = replayed(ONE, TWO.replace("41", "42"), ONE)
    assert judged(made).model_dump_json() == judged(made).model_dump_json()
