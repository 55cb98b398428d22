"""Every action on a real page, and every reason why one can fail: the kinds that reports count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.actions import ACTION_SPACE, parse_action
from harness.envs.browser import BrowserEnv
from harness.envs.config import BrowserConfig
from harness.envs.execute import EXECUTABLE
from harness.envs.session import BrowserSession
from harness.protocols import StepResult
from tests.support.pages import open_url, url_spec
from tests.support.web import serve

pytestmark = pytest.mark.browser

PAGES = {
    "/form": """<title>form</title>
        <label>Name <input id=name oninput="log('input')" onkeydown="log('key ' + event.key)"></label>
        <textarea aria-label=Notes></textarea>
        <label><input type=checkbox id=agree> Agree</label>
        <select aria-label=Colour><option>red</option><option>green</option></select>
        <select aria-label=Many multiple><option>a</option><option>b</option><option>c</option></select>
        <button onclick="log('click ' + event.button + event.shiftKey)" ondblclick="log('dbl')">Go</button>
        <button disabled>Off</button>
        <button style="visibility:hidden">Unseen</button>
        <div style="position:relative"><button>Under</button><div style="position:absolute;inset:0">over</div></div>
        <input type=file aria-label=File onchange="log('file ' + this.files[0].name)">
        <a href="/other">Other</a> <a href="/other" target=_blank>New tab</a>
        <div draggable=true id=drag role=img aria-label=Piece ondragstart="log('drag')">piece</div>
        <div role=img aria-label=Place ondragover="event.preventDefault()" ondrop="log('drop')">place</div>
        <div style="height:3000px"></div><p id=log role=log aria-label=Log></p>
        <script>function log(text) { document.getElementById('log').textContent += '|' + text }</script>""",
    "/other": "<title>other</title><button onclick='this.remove()'>Vanish</button><p>here</p>",
    "/copies": "<title>copies</title><button onclick='this.after(this.cloneNode(true))'>Copy</button>",
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


class Form:
    """The /form page: act on elements by what they are called."""

    def __init__(self, env: BrowserEnv, site: str) -> None:
        self._env = env
        _, self._observation = env.reset(url_spec(f"{site}/form"))

    def bid(self, pattern: str) -> str:
        found = re.search(rf"\[(\w+)\] {pattern}", self._observation.axtree)
        assert found, f"no {pattern} in\n{self._observation.axtree}"
        return found.group(1)

    def act(self, template: str) -> StepResult:
        text = re.sub(r"\{([^}]+)\}", lambda match: self.bid(match.group(1)), template)
        result = self._env.step(parse_action(text))
        self._observation = result.observation
        return result

    def log(self) -> str:
        return str(self._env.active_page.evaluate("document.getElementById('log').textContent"))

    def evaluate(self, expression: str) -> object:
        return self._env.active_page.evaluate(expression)


@pytest.fixture
def form(env: BrowserEnv, site: str) -> Form:
    return Form(env, site)


def test_every_action_of_the_space_can_be_executed() -> None:
    assert set(ACTION_SPACE) == EXECUTABLE


@pytest.mark.parametrize(
    ("actions", "expression", "expected"),
    [
        (["fill('{textbox .Name}', 'Ann')"], "document.getElementById('name').value", "Ann"),
        (["fill('{textbox .Name}', 'Ann')", "clear('{textbox .Name}')"], "document.getElementById('name').value", ""),
        (["focus('{textbox .Name}')", "keyboard_type('hi')"], "document.getElementById('name').value", "hi"),
        (["focus('{textbox .Name}')", "keyboard_insert_text('é')"], "document.getElementById('name').value", "é"),
        (["press('{textbox .Name}', 'a')"], "document.getElementById('name').value", "a"),
        (["check('{checkbox}')"], "document.getElementById('agree').checked", True),
        (["click('{checkbox}')", "uncheck('{checkbox}')"], "document.getElementById('agree').checked", False),
        (["select_option('{combobox}', 'green')"], "document.querySelector('select').value", "green"),
        (["select_option('{listbox}', ['a', 'c'])"], "[...document.querySelector('[multiple]').selectedOptions].length", 2),
        (["hover('{button .Go}')"], "document.querySelector('button:hover').textContent", "Go"),
        (["scroll(0, 500)", "noop(200)"], "window.scrollY", 500),
    ],
)
def test_effects_on_the_page(form: Form, actions: list[str], expression: str, expected: object) -> None:
    for action in actions:
        assert form.act(action).action_error is None
    assert form.evaluate(expression) == expected


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("click('{button .Go}')", "|click 0false"),
        ("click('{button .Go}', modifiers=['Shift'])", "|click 0true"),
        ("dblclick('{button .Go}')", "|click 0false|click 0false|dbl"),
        ("fill('{textbox .Name}', 'xy', True)", "|input|key y|input"),
        ("drag_and_drop('{image .Piece}', '{image .Place}')", "|drag|drop"),
    ],
)
def test_events_the_page_sees(form: Form, action: str, expected: str) -> None:
    assert form.act(action).action_error is None
    assert form.log() == expected


def test_type_fills_and_presses_enter(form: Form) -> None:
    """The default presses it: a WebArena `type [id] [text]` without a third argument does."""
    assert form.act("type('{textbox .Name}', 'q')").action_error is None
    assert form.act("type('{textbox .Name}', 'r', press_enter=False)").action_error is None
    assert form.log() == "|input|key Enter|input"


@pytest.mark.parametrize(
    "action",
    [
        "hover('{button .Off}')",
        "focus('{button .Off}')",
        "press('{button .Off}', 'Enter')",
        "drag_and_drop('{button .Off}', '{image .Place}')",
    ],
)
def test_a_disabled_element_takes_what_needs_no_enabled_one(form: Form, action: str) -> None:
    """The resolver of audits relies on it (audits.grounding.ladder)."""
    assert form.act(action).action_error is None


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("click('9999')", "stale"),
        ("click('no bid!')", "bad_argument"),
        ("click('{button .Off}')", "disabled"),
        ("dblclick('{button .Off}')", "disabled"),
        ("fill('{button .Go}', 'x')", "not_editable"),
        ("click('{button .Under}')", "covered"),
        ("select_option('{combobox}', 'blue')", "no_option"),
        ("check('{button .Go}')", "bad_argument"),
        ("press('{textbox .Name}', 'NoSuchKey')", "bad_argument"),
        ("keyboard_press('NoSuchKey')", "bad_argument"),
        ("tab_focus(7)", "bad_argument"),
        ("goto('http://127.0.0.1:9/')", "navigation"),
        ("goto('file:///etc/passwd')", "blocked_by_policy"),
        ("goto('javascript:alert(1)')", "blocked_by_policy"),
        ("goto('chrome://version')", "blocked_by_policy"),
        ("upload_file('{button .File}', '/etc/passwd')", "blocked_by_policy"),
        ("click(", "parse"),
        ("launch_missiles()", "unknown_action"),
    ],
)
def test_a_failed_action_has_a_reason_and_the_episode_goes_on(form: Form, action: str, kind: str) -> None:
    result = form.act(action)
    assert result.action_error is not None
    assert result.action_error.kind == kind
    assert result.observation.last_action_error == result.action_error.message
    assert "\n" not in result.action_error.message
    assert not result.terminated
    assert form.act("noop(0)").action_error is None


def test_an_element_that_is_not_visible_is_hidden(form: Form) -> None:
    form.evaluate("document.querySelector('#name').style.display = 'none'")
    bid = form.bid("textbox .Name")
    result = form.act(f"click('{bid}')")
    assert result.action_error is not None
    assert result.action_error.kind == "hidden"


def test_copies_of_an_element_are_ambiguous_until_seen(env: BrowserEnv, site: str) -> None:
    _, observation = env.reset(url_spec(f"{site}/copies"))
    bid = re.search(r"\[(\w+)\] button", observation.axtree)
    assert bid
    after = env.step(parse_action(f"click('{bid.group(1)}')")).observation
    bids = re.findall(r"\[(\w+)\] button", after.axtree)
    assert len(set(bids)) == 2, "the copy gets a bid of its own"
    env.active_page.evaluate("document.body.append(document.querySelector('button').cloneNode(true))")
    result = env.step(parse_action(f"click('{bid.group(1)}')"))
    assert result.action_error is not None
    assert result.action_error.kind == "ambiguous"


def test_tabs_and_history(form: Form, site: str) -> None:
    form.act("click('{link .Other}')")
    assert form.act("go_back()").observation.title == "form"
    assert form.act("go_forward()").observation.title == "other"
    opened = form.act(f"goto('{site}/form')").observation
    assert opened.title == "form"
    popup = form.act("click('{link .New tab}')").observation
    assert (popup.title, popup.active_page_index) == ("other", 1)
    assert form.act("tab_focus(0)").observation.title == "form"
    assert form.act("new_tab()").observation.url == "about:blank"
    back = form.act("tab_close()").observation
    assert back.title == "form"
    result = form.act("go_back()")
    assert result.observation.title == "other"


def test_uploads_only_from_the_allowed_folder(browser_session: BrowserSession, site: str, tmp_path: Path) -> None:
    (tmp_path / "bill.txt").write_text("1")
    config = BrowserConfig(upload_root=str(tmp_path))
    session = BrowserSession(config, browser_session.chromium)
    session._driver, session._browser = browser_session._driver, browser_session._browser
    env = BrowserEnv(session, open_url)
    form = Form(env, site)
    assert form.act("upload_file('{button .File}', 'bill.txt')").action_error is None
    assert form.log() == "|file bill.txt"
    outside = form.act("upload_file('{button .File}', '../../etc/passwd')")
    assert outside.action_error is not None
    assert outside.action_error.kind == "blocked_by_policy"
    env.end_episode()


def test_episodes_share_no_cookies_and_keep_the_viewport(env: BrowserEnv, site: str) -> None:
    env.reset(url_spec(f"{site}/other"))
    env.active_page.evaluate("document.cookie = 'a=b'")
    env.step(parse_action("noop(0)"))
    size = env.active_page.evaluate("[innerWidth, innerHeight, devicePixelRatio, navigator.language]")
    assert size == [1280, 720, 1, "en-US"], "a screenshot must not shrink the window"
    env.reset(url_spec(f"{site}/other"))
    assert env.active_page.evaluate("document.cookie") == ""
    assert env.active_page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") == "UTC"
