"""A dream that would pay, delete, leave or let something out: stopped in a real browser, and no failure of the dream."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from audits.replay.assess import NOTE, Assessment, assess
from audits.replay.config import ReplaySettings, SafetyConfig
from audits.replay.safety import BLOCKED_WORDS, Guard, guarded
from audits.replay.script import script_of
from audits.replay.stage import DreamPolicy, ReplayEnv, Stage
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.rollout import run_episode
from harness.types import Trajectory, Verdict
from tests.audits.replay.dreams import Asked, remembering, trajectory
from tests.support.pages import open_url, url_spec

pytestmark = pytest.mark.browser

PAGES = {
    "/": """<title>start</title>
        <button onclick="document.title='paid'">Pay now</button>
        <button aria-label="x" onclick="document.title='gone'">Delete</button>
        <form method=post action=/send><input aria-label=Text name=t><button>Go on</button></form>
        <form method=get action=/found><input aria-label=Find name=q><button>Look up</button></form>
        <form method=get action=/card><input aria-label=Number autocomplete=cc-number><button>Next</button></form>
        <button onclick="fetch('/quiet', {method: 'POST'})">Refresh</button>
        <a href="/here">Here</a> <a href="/away">Away</a>
        <button onclick="location = ELSE + '/other'">Elsewhere</button>
        <button onclick="window.open(ELSE + '/other')">Window</button>
        <button onclick="setTimeout(late, 600, this)">Soon</button>
        <script>function late(b) { b.textContent = 'Late'; b.onclick = () => { document.title = 'done' } }</script>""",
    "/here": "<title>done</title><p>here",
    "/found": "<title>done</title><p>found",
    "/other": "<title>other</title><p>elsewhere",
}


class Sites:
    def __init__(self, own: Asked, other: Asked) -> None:
        self.own, self.other = own, other


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    with remembering(PAGES) as other:
        pages = {path: f"<script>const ELSE = '{other.url}'</script>{text}" for path, text in PAGES.items()}
        with remembering(pages, {"/away": f"{other.url}/other"}) as own:
            yield Sites(own, other)


Play = Callable[..., tuple[Trajectory, Verdict, Assessment]]


@pytest.fixture
def play(browser_session: BrowserSession, sites: Sites) -> Iterator[Play]:
    """Dreams the actions on the start page, one after the other, and replays them."""
    envs: list[BrowserEnv] = []

    def replay(*actions: str, mode: str = "live") -> tuple[Trajectory, Verdict, Assessment]:
        settings = ReplaySettings(dreams="", safety=SafetyConfig(mode=mode))  # type: ignore[arg-type]
        guard, stage = Guard(settings.safety), Stage()
        inner = BrowserEnv(browser_session, guarded(open_url, guard))
        envs.append(inner)
        spec = url_spec(sites.own.url + "/")
        _, start = inner.reset(spec)
        bids = {
            line.split("] ")[1].split("'")[1]: line.split("[")[1].split("]")[0]
            for line in start.axtree.splitlines()
            if "] " in line and "'" in line
        }
        texts = [action.replace("@", "").format(**{k.replace(" ", "_"): v for k, v in bids.items()}) for action in actions]
        late = start.model_copy(update={"axtree": start.axtree.replace("'Soon'", "'Late'")})
        pages = [late if action == "LATE" else start for action in actions]
        texts = [f'click("{bids["Soon"]}")' if action == "LATE" else text for action, text in zip(actions, texts, strict=True)]
        dream = trajectory(list(zip(pages, texts, strict=True)), task=spec.task)
        script = script_of(dream, spec.task)
        stage.begin(script)
        del sites.own.requests[:], sites.other.requests[:]
        env = ReplayEnv(inner, stage, settings, guard)
        made, verdict = run_episode(DreamPolicy(stage, settings, None), env, spec, max_steps=9, source="replay")
        return made, verdict, assess(script, made, verdict, settings.calibration, "stop")

    yield replay
    for env in envs:
        env.end_episode()


def posts(asked: Asked) -> list[str]:
    return [line for line in asked.requests if line.startswith("POST")]


@pytest.mark.parametrize(
    ("action", "because"),
    [
        ('click("{Pay_now}")', "block list"),
        ('click("{x}")', "block list"),  # called x, says Delete
        ('click("{Go_on}")', "by POST"),
        ('press("{Text}", "Enter")', "by POST"),
        ('click("{Next}")', "card fields"),
        ('fill("{Number}", "4111")', "card fields"),
        ('goto("http://127.0.0.1:9/")', "none of the task's sites"),
    ],
)
def test_what_is_seen_beforehand_is_never_executed(play: Play, sites: Sites, action: str, because: str) -> None:
    made, _, found = play(action)
    assert (found.outcome, found.cause) == ("inconclusive", "safety")
    assert because in found.detail
    assert made.final_observation is not None and made.final_observation.title == "start", "the page is as it was"
    assert posts(sites.own) == [] and sites.other.requests == []
    note = made.steps[-1].metadata[NOTE]
    assert isinstance(note, dict) and note["move"] == "halted"


@pytest.mark.parametrize("name", ["Elsewhere", "Window", "Away"])
def test_what_leads_elsewhere_is_stopped_on_its_way(play: Play, sites: Sites, name: str) -> None:
    _, _, found = play(f'click("{{{name}}}")')
    assert (found.outcome, found.cause) == ("inconclusive", "safety")
    assert "allow-list" in found.detail
    assert sites.other.requests == [], "nothing arrived there, by address, popup or redirect"


def test_a_request_that_writes_is_stopped_although_nothing_announced_it(play: Play, sites: Sites) -> None:
    _, _, found = play('click("{Refresh}")')
    assert (found.outcome, found.cause) == ("inconclusive", "safety")
    assert "read only" in found.detail and posts(sites.own) == []


@pytest.mark.parametrize("actions", [('click("{Here}")',), ('fill("{Find}", "mugs")', 'click("{Look_up}")')])
def test_reading_goes_through(play: Play, sites: Sites, actions: tuple[str, ...]) -> None:
    _, verdict, found = play(*actions)
    assert (found.outcome, verdict.status) == ("success", "success")
    assert found.finished


def test_on_our_own_sites_writing_is_what_tasks_ask_for(play: Play, sites: Sites) -> None:
    _, _, found = play('fill("{Text}", "hello")', 'click("{Go_on}")', mode="local")
    assert found.outcome == "success"
    assert posts(sites.own) == ["POST /send"]


def test_the_block_list_knows_words_not_letters() -> None:
    assert all(BLOCKED_WORDS.search(name) for name in ("Pay", "Place your order", "delete account", "Send message", "Check out"))
    assert not any(BLOCKED_WORDS.search(name) for name in ("Paying guests", "Bookshelf", "Postcards", "Search", "Sender list"))


def test_an_element_that_comes_late_is_waited_for(play: Play, sites: Sites) -> None:
    made, _, found = play('click("{Soon}")', "LATE")
    assert found.outcome == "success", found.detail
    moves = [note["move"] for step in made.steps if isinstance(note := step.metadata[NOTE], dict)]
    assert "waited" in moves and moves[-1] == "executed"
