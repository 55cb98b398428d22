"""What a page does a little after an action is in the observation: looking early saves time only where nothing moved."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from harness.actions import parse_action
from harness.envs.browser import BrowserEnv
from harness.envs.config import BrowserConfig
from harness.envs.observe import glance, look
from harness.envs.session import BrowserSession
from harness.types import Observation
from tests.support.pages import open_url, url_spec
from tests.support.web import Reply, serve

pytestmark = pytest.mark.browser

# Each is run `LATE_MS` after the click, within the quiet time (60 ms).
LATE_MS = 40
LATE = {
    "text": "document.querySelector('p').textContent = 'late'",
    "focus": "document.querySelector('input').focus()",
    "value": "document.querySelector('input').value = 'late'",
    "checked": "document.querySelector('[type=checkbox]').checked = true",
    "selected": "document.querySelector('select').selectedIndex = 1",
    "address": "history.pushState({}, '', '?late')",
    "shadow": "document.querySelector('section').shadowRoot.querySelector('b').textContent = 'late'",
    "frame": "document.querySelector('iframe').contentDocument.querySelector('b').textContent = 'late'",
}
BODY = (
    "<title>late</title><p>early</p><input aria-label=Field><input type=checkbox aria-label=Box>"
    "<select aria-label=List><option>one<option>two</select>"
)
SPECIAL = {
    "shadow": "<section><template shadowrootmode=open><b>x</b></template></section>",
    "frame": "<iframe srcdoc='<b>x</b>'></iframe>",
}


def late_page(name: str) -> str:
    return f'{BODY}{SPECIAL.get(name, "")}<button onclick="setTimeout(() => {{ {LATE[name]} }}, {LATE_MS})">Go</button>'


def slow_answer(_path: str) -> Reply:
    threading.Event().wait(0.15)  # longer than the quiet time
    return Reply("answered", content_type="text/plain")


PAGES = {f"/{name}": late_page(name) for name in LATE} | {
    "/still": f"{BODY}<button onclick='this.textContent = `Gone`'>Go</button>",
    "/asks": f"{BODY}<button onclick='fetch(`/answer`).then((r) => r.text()).then((t) => document.body.append(t))'>Go</button>",
    "/answer": slow_answer,
    "/canvas": f"{BODY}<canvas></canvas><button>Go</button>",
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serve(PAGES) as url:
        yield url


@pytest.fixture
def env(browser_session: BrowserSession) -> Iterator[BrowserEnv]:
    env = BrowserEnv(browser_session, open_url)
    yield env
    env.end_episode()


def click_go(env: BrowserEnv, observation: Observation) -> Observation:
    bid = observation.axtree.split("] button 'Go'")[0].rsplit("[", 1)[1]
    return env.step(parse_action(f"click('{bid}')")).observation


@pytest.mark.parametrize("name", LATE)
def test_a_late_change_is_seen(env: BrowserEnv, site: str, name: str) -> None:
    _, before = env.reset(url_spec(f"{site}/{name}"))
    after = click_go(env, before)
    assert not after.slow
    match name:
        case "focus":
            assert after.focused_bid and after.focused_bid != before.focused_bid
            assert "textbox 'Field', focused" in after.axtree.replace("value='', ", "")
        case "checked":
            assert "checked='true'" in after.axtree
        case "selected":
            assert "option 'two', selected=True" in after.axtree
        case "address":
            assert after.url.endswith("?late")
        case _:
            assert "late'" in after.axtree.partition("\n")[2]


def test_the_answer_to_a_request_is_waited_for(env: BrowserEnv, site: str) -> None:
    _, before = env.reset(url_spec(f"{site}/asks"))
    after = click_go(env, before)
    assert "StaticText 'answered'" in after.axtree
    assert not after.slow


def test_a_look_stays_true_until_the_page_changes(env: BrowserEnv, site: str) -> None:
    """Marking is no change; what forms hold, where the focus is and how far the page is scrolled are."""
    env.reset(url_spec(f"{site}/still"))
    pages, config = env._pages, BrowserConfig()
    first, second = glance(pages, config), glance(pages, config)
    assert first is not None and second is not None
    assert first.version == second.version
    assert first.tree == second.tree
    seen = first
    for change in (
        "document.body.style.height = '9000px'",
        "window.scrollTo(0, 300)",
        "document.querySelector('input').value = 'new'",
        "document.querySelector('[type=checkbox]').checked = true",
        "document.querySelector('select').selectedIndex = 1",
        "document.querySelector('select').focus()",
        "document.querySelector('p').firstChild.data = 'new'",
        "history.pushState({}, '', '?elsewhere')",
    ):
        assert seen.still_true(pages), f"before {change}"
        pages.active.evaluate(change)
        assert not seen.still_true(pages), f"after {change}"
        again = glance(pages, config)
        assert again is not None
        seen = again
    pages.active.reload()
    assert not seen.still_true(pages)


@pytest.mark.parametrize("name", ["still", "frame"])
def test_a_look_that_is_not_kept_leaves_no_trace_in_the_numbers(env: BrowserEnv, site: str, name: str) -> None:
    """Else the bids of a page that a script adds to would tell whether this machine was fast enough to see it without."""
    added = [f"document.body.insertAdjacentHTML('afterbegin', '<button>{name}</button>')" for name in ("first", "second")]
    copied = "document.body.prepend(document.querySelector('button').cloneNode(true))"
    seen = []
    for glances in (False, True):
        env.reset(url_spec(f"{site}/{name}"))
        pages, config = env._pages, BrowserConfig()
        for change in (*added, copied):
            pages.active.evaluate(change)
            if glances:
                glance(pages, config)
        seen.append(look(pages, config).tree)
    assert seen[0] == seen[1]
    assert seen[0].text.count("button 'second'") == 2


@pytest.mark.parametrize("name", ["canvas", "frame", "shadow"])
def test_no_early_look_at_what_can_move_unseen(env: BrowserEnv, site: str, name: str) -> None:
    env.reset(url_spec(f"{site}/{name}"))
    assert glance(env._pages, BrowserConfig()) is None


def test_a_new_page_makes_a_look_untrue(env: BrowserEnv, site: str) -> None:
    env.reset(url_spec(f"{site}/still"))
    seen = glance(env._pages, BrowserConfig())
    assert seen is not None
    with env.active_page.expect_popup() as popup:
        env.active_page.evaluate("void window.open('about:blank')")
    popup.value.wait_for_load_state()
    assert not seen.still_true(env._pages)
