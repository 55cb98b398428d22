"""webarena-verified tasks in a real browser: the library judges the JSON answer and the requests that Chromium really sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.webarena.conftest import Player
from tests.webarena.test_official_tasks import comment

pytestmark = [pytest.mark.browser, pytest.mark.webarena]


def response(task_type: str, status: str = "SUCCESS", data: Any = None) -> str:
    return json.dumps({"task_type": task_type, "status": status, "retrieved_data": data, "error_details": None})


def play(player: Player, task_id: int, act: Any = bool, **arguments: Any) -> Any:
    return player.play(task_id, act, benchmark="webarena-verified", **arguments)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (response("RETRIEVE", data=["Quest Lumaflex™ Band"]), "success"),
        (response("retrieve", data=["quest lumaflex™ band"]), "success"),
        (response("RETRIEVE", data=["Sprite Foam Roller"]), "failure"),
        (response("NAVIGATE", data=["Quest Lumaflex™ Band"]), "failure"),
        (response("RETRIEVE", "NOT_FOUND_ERROR"), "failure"),
        ("Quest Lumaflex™ Band", "failure"),
    ],
)
def test_retrieve(player: Player, answer: str, status: str) -> None:
    verdict = play(player, 0, answer=answer)
    assert verdict.status == status and verdict.scorer == "webarena-verified" and verdict.scorer_version == "1.2.3"
    assert '"task_type"' in player.goal
    if not answer.startswith("{"):
        assert verdict.reason.startswith("malformed answer: not JSON")


def test_navigate_is_read_from_the_requests(player: Player) -> None:
    answer = response("NAVIGATE")
    right = play(player, 44, lambda page: page.get_by_text("To-Do List").click(), answer=answer)
    wrong = play(player, 44, answer=answer)
    assert (right.status, wrong.status) == ("success", "failure"), right.reason
    assert right.evidence["network_entries"] > wrong.evidence["network_entries"] >= 1
    assert right.evidence["lost_requests"] == 0


def test_mutate_is_read_from_the_posted_data(player: Player) -> None:
    answer = response("MUTATE")
    right = play(player, 389, comment("Thanks, working on reviews"), answer=answer)
    assert right.status == "success", right.reason
    assert play(player, 389, comment("Thanks"), answer=answer).status == "failure"
    assert play(player, 389, answer=answer).status == "failure"


def test_giving_up_claims_no_particular_error(player: Player) -> None:
    assert play(player, 22, stop="infeasible", answer="cannot").status == "failure"
    assert play(player, 22, answer=response("RETRIEVE", "NOT_FOUND_ERROR")).status == "success"


def test_no_cookie_of_the_trace_is_stored(player: Player) -> None:
    verdict = play(player, 389, comment("x"), answer=response("MUTATE"))
    tokens = list(player.sites.gitlab._sessions)
    assert tokens and not any(token in verdict.model_dump_json() for token in tokens)


def test_task_that_nothing_can_satisfy_is_excluded_by_errata(player: Player) -> None:
    scores = {s.profile: s.status for s in play(player, 319, answer=response("RETRIEVE", "NOT_FOUND_ERROR")).other_scores}
    assert scores == {"webarena-verified": "failure", "webarena-errata": "inconclusive"}
