"""Real `browsergym/webarena.N` tasks of every evaluator kind on stand-in sites: right and wrong, by the real evaluators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.webarena.conftest import Player
from tests.webarena.sites.reddit import USER

pytestmark = [pytest.mark.browser, pytest.mark.webarena]


# ------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("task_id", "answer", "reward"),
    [
        (0, "quest lumaflex™ band", 1.0),  # exact_match ignores case
        (0, "The Quest Lumaflex™ Band", 0.0),
        (11, "There are 6 such reviews.", 1.0),  # must_include of one character: as a word of its own
        (11, "There are 16 such reviews.", 0.0),
        (231, "000000170", 1.0),  # must_include of several: as a substring
        (231, "Order 171", 0.0),
        (27, None, 0.0),
    ],
)
def test_string_match(player: Player, task_id: int, answer: str | None, reward: float) -> None:
    verdict = player.play(task_id, answer=answer)
    assert (verdict.status, verdict.reward) == ("success" if reward else "failure", reward)
    assert verdict.scorer == "webarena-official" and verdict.scorer_version.startswith("libwebarena ")


@pytest.mark.parametrize(("stop", "answer"), [("stop", "N/A"), ("infeasible", "anything"), ("infeasible", None)])
def test_unachievable_task_is_right_however_it_is_called_off(player: Player, stop: Any, answer: str | None) -> None:
    assert player.play(22, answer=answer, stop=stop).reward == 1.0


# ------------------------------------------------------------------------------- where the agent ends


def test_url_match(player: Player) -> None:
    right = player.play(44, lambda page: page.get_by_text("To-Do List").click())
    wrong = player.play(44, lambda page: page.goto(page.url))
    assert (right.reward, wrong.reward) == (1.0, 0.0)
    assert right.evidence["final_url"] == f"{player.sites.gitlab.url}/dashboard/todos"


def test_string_and_url_must_both_be_right(player: Player) -> None:
    def open_issue(page: Any) -> None:
        page.goto(f"{player.sites.gitlab.url}/a11yproject/a11yproject.com/-/issues/719")

    assert player.play(182, open_issue, answer="Yes").reward == 1.0
    assert player.play(182, open_issue, answer="No").reward == 0.0
    assert player.play(182, answer="Yes").reward == 0.0


# ------------------------------------------------------------------------------- what the agent left behind


def comment(text: str) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        page.get_by_text("Octovisuals").click()
        page.get_by_label("Write a comment").fill(text)
        with page.expect_response(lambda r: r.request.method == "POST"):
            page.get_by_role("button", name="Comment").click()
        page.get_by_text(text, exact=True).wait_for()

    return act


def test_program_html_opens_the_page_that_proves_it(player: Player) -> None:
    assert player.play(389, comment("Thanks, working on reviews")).reward == 1.0
    player.sites.reset()
    assert player.play(389, comment("lgtm")).reward == 0.0


@pytest.mark.parametrize(("bio", "reward"), [("I am a robot", 1.0), ("I am a robot!", 0.0)])
def test_program_html_exact_match(player: Player, bio: str, reward: float) -> None:
    def act(page: Any) -> None:
        page.goto(f"{player.sites.reddit.url}/user/{USER}")
        page.get_by_label("Biography").fill(bio)
        page.get_by_role("button", name="Save").click()

    assert player.play(399, act).reward == reward


def submit(player: Player, forum: str, title: str) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        page.goto(f"{player.sites.reddit.url}/submit")
        page.get_by_label("Title").fill(title)
        page.get_by_label("Forum").fill(forum)
        page.get_by_role("button", name="Create submission").click()

    return act


@pytest.mark.parametrize(
    ("forum", "title", "reward"),
    [
        ("consoles", "What is the recommended console to buy these days", 1.0),
        ("consoles", "Which console?", 0.0),
        ("gaming", "What is the recommended console to buy these days", 0.0),
    ],
)
def test_program_html_finds_the_post_by_the_last_url(player: Player, forum: str, title: str, reward: float) -> None:
    assert player.play(600, submit(player, forum, title)).reward == reward


@pytest.mark.parametrize(("sku", "reward"), [("B01CTR3DLE", 1.0), ("B0OTHER", 0.0)])
def test_program_html_finds_the_latest_order_through_the_shops_api(player: Player, sku: str, reward: float) -> None:
    assert player.play(506, lambda page: page.goto(f"{player.sites.shopping.url}/buy/{sku}")).reward == reward


@pytest.mark.parametrize(("reviews", "reward"), [([("Emma Lopez", 100)], 1.0), ([("Emma Lopez", 80)], 0.0), ([], 0.0)])
def test_program_html_reads_reviews_through_the_shops_api(player: Player, reviews: list[tuple[str, int]], reward: float) -> None:
    player.sites.shopping.reviews = reviews
    assert player.play(585).reward == reward


@pytest.mark.parametrize(("role", "reward"), [("Guest", 1.0), ("Owner", 0.0)])
def test_program_html_reads_a_members_role(player: Player, role: str, reward: float) -> None:
    def act(page: Any) -> None:
        page.goto(f"{player.sites.gitlab.url}/byteblaze/dotfiles/-/project_members")
        page.get_by_label("Account").fill("koush")
        page.get_by_label("Role").fill(role)
        page.get_by_role("button", name="Invite").click()

    assert player.play(483, act).reward == reward


@pytest.mark.parametrize(("discount", "reward"), [("40", 1.0), ("4", 0.0)])
def test_program_html_prepares_the_page_before_reading(player: Player, discount: str, reward: float) -> None:
    def act(page: Any) -> None:
        page.goto(f"{player.sites.shopping_admin.url}/sales_rule/promo_quote/new")
        page.get_by_label("Rule Name").fill("Thanks giving sale")
        page.get_by_role("button", name="Actions").click()
        page.get_by_label("Discount").fill(discount)

    assert player.play(703, act).reward == reward


def test_program_html_on_two_sites(player: Player) -> None:
    def act(page: Any) -> None:
        page.get_by_role("link", name="Directions").click()
        page.get_by_label("Engine").select_option("Car")
        page.get_by_label("From").fill("Carnegie Mellon University, Pittsburgh")
        page.get_by_label("To").fill("Wells Fargo Center, South Philadelphia Sports Complex")

    assert player.play(737, act).reward == 1.0
    assert player.play(737).reward == 0.0


# ------------------------------------------------------------------------------- WebArena-Lite


def test_lite_runs_its_own_definitions_and_evaluators(player: Player) -> None:
    verdict = player.play(182, answer="Yes", benchmark="webarena-lite")
    assert verdict.reward == 0.0
    assert verdict.scorer == "webarena-lite-official" and "browsergym-webarenalite" in verdict.scorer_version
    assert player.play(235, answer="N/A", benchmark="webarena-lite").reward == 1.0
