"""What a replay must not do, and the watch that stops it before it is done.

    before an action   block list by role and name, by the form it belongs to (method, card fields)       Guard.forbids
    on the network     methods other than GET and HEAD, documents elsewhere, redirects and popups too     Guard.stand
A rule that holds ends the replay: inconclusive, cause `safety`, never a failure of the dream and never carried out.

On sites of this machine (`local`) writing is what tasks ask for; there the benchmark's own fence keeps requests in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urljoin

from playwright.sync_api import Error as PlaywrightError

from audits.grounding.ladder import origin_of
from audits.replay.config import SafetyConfig
from audits.replay.traffic import Traffic
from harness.actions import bids_of
from harness.axtree import Tree
from harness.envs.locate import ActionFailed, find_element
from harness.protocols import PageTask, TaskSignal
from harness.types import Action, EpisodeSpec, Trajectory, Verdict, json_value

READING: Final = frozenset({"GET", "HEAD"})
MAX_INCIDENTS: Final = 20
BLOCKED_WORDS: Final = re.compile(
    r"\b(buy|pay|payment|purchase|check ?out|place (your )?order|order now|subscribe|unsubscribe|donate|book|"
    r"reserve|delete|remove|erase|send|publish|post|submit|transfer|withdraw|confirm|sign up|register|create account|"
    r"log ?out|sign ?out|upload)\b",
    re.IGNORECASE,
)
"""Names of what may do something that stays. A search button is called otherwise."""
ACTING_ROLES: Final = frozenset({"button", "link", "menuitem", "switch", "checkbox", "tab", "option"})
_POINTING: Final = frozenset({"click", "dblclick", "press", "check", "uncheck", "select_option", "drag_and_drop"})
_FILLING: Final = frozenset({"fill", "type", "clear"})
_AT_POINT: Final = frozenset({"mouse_click", "mouse_dblclick", "mouse_down", "mouse_up"})
_AT_FOCUS: Final = frozenset({"keyboard_press", "keyboard_down", "keyboard_type", "keyboard_insert_text"})

# What an element can set off: its own words, and those of the form it would send.
_ABOUT_JS = """(element) => {
    if (!element) return null;
    const control = element.closest('button, a, input, select, textarea, label, [role]') || element;
    const form = control.form || element.closest('form');
    const texts = [control.innerText, control.value, control.title, control.getAttribute('aria-label')];
    const submits = !!form && (control.type === 'submit' || control.type === 'image' || control.tagName === 'INPUT');
    const cards = !!form && [...form.elements].some((e) => (e.autocomplete || '').startsWith('cc-'));
    return {
        words: texts.filter(Boolean).join(' ').slice(0, 200),
        card: (control.autocomplete || '').startsWith('cc-'),
        cards, submits,
        method: form ? (control.formMethod || form.method || 'get').toUpperCase() : '',
    };
}"""
_AT_POINT_JS = "([x, y]) => (" + _ABOUT_JS + ")(document.elementFromPoint(x, y))"
_AT_FOCUS_JS = "() => (" + _ABOUT_JS + ")(document.activeElement)"


class Guard:
    """Stands around the pages of one episode. `incidents`: what was stopped, first to last; `traffic`: what was asked for."""

    def __init__(self, config: SafetyConfig) -> None:
        self._config = config
        self._origins: frozenset[str] = frozenset()
        self.incidents: list[str] = []
        self.traffic = Traffic()

    def reset(self) -> None:
        self.incidents, self.traffic = [], Traffic()
        self._origins = frozenset()

    def stand(self, page: Any) -> None:
        """Listen from now on. On live sites: nothing but reading, and nothing but the origins of the pages that are open."""
        self.traffic.listen(page.context)
        if self._config.mode != "live":
            return
        context = page.context
        self._origins = frozenset({*map(origin_of, (p.url for p in context.pages)), *self._config.origins})
        context.route(re.compile("^https?:"), self._on_request)
        context.on("page", self._on_page)

    def look(self, page: Any) -> None:
        """After an action: is every open page where it may be?"""
        if self._config.mode == "live":
            for open_page in page.context.pages:
                self._check_place(open_page)

    def forbids(self, page: Any, action: Action, tree: Tree) -> str:
        """Why this action must not be executed; empty if it may be."""
        if self._config.mode != "live":
            return ""
        for bid in bids_of(action):
            node = tree.nodes[tree.by_bid[bid]] if bid in tree.by_bid else None
            acts = action.name in _POINTING and node is not None and node.role in ACTING_ROLES
            if acts and node is not None and (word := BLOCKED_WORDS.search(node.name)):
                return f"{node.role} {node.name[:60]!r}: {word.group(0).lower()!r} is on the block list"
        if action.name == "upload_file" or action.name == "mouse_upload_file":
            return "uploads leave something on the site"
        with _unreadable_is_forbidden() as failed:
            for about in self._about(page, action):
                if reason := _forbidden(about, action):
                    return reason
        return failed[0] if failed else ""

    # ------------------------------------------------------------------ inside

    def _about(self, page: Any, action: Action) -> Iterator[dict[str, Any]]:
        found: list[Any] = []
        if action.name in _POINTING | _FILLING:
            found = [find_element(page, bid).evaluate(_ABOUT_JS) for bid in bids_of(action)]
        elif action.name in _AT_POINT:
            found = [page.evaluate(_AT_POINT_JS, [action.arguments["x"], action.arguments["y"]])]
        elif action.name in _AT_FOCUS:
            found = [page.evaluate(_AT_FOCUS_JS)]
        yield from (about for about in found if about)

    def _on_request(self, route: Any) -> None:
        request = route.request
        if request.method not in READING and not self._is_search(request.url):
            self._note(f"{request.method} {request.url[:200]}: live sites are read only")
            route.abort("blockedbyclient")
        elif request.is_navigation_request() and request.frame.parent_frame is None:
            self._open(route, request.url)
        else:
            route.fallback()

    def _open(self, route: Any, url: str) -> None:
        """Documents are fetched without following redirects: where one leads is looked at before it is opened."""
        if origin_of(url) not in self._origins:
            self._note(f"{origin_of(url)[:100]} is not on the allow-list")
            route.abort("blockedbyclient")
            return
        try:
            answer = route.fetch(max_redirects=0)
        except PlaywrightError:
            route.abort()
            return
        target = urljoin(url, answer.headers.get("location", ""))
        if 300 <= answer.status < 400 and origin_of(target) not in self._origins:
            self._note(f"a redirect to {origin_of(target)[:100]}, which is not on the allow-list")
            route.abort("blockedbyclient")
        else:
            route.fulfill(response=answer)

    def _on_page(self, page: Any) -> None:
        page.on("framenavigated", lambda frame: self._check_place(page) if frame.parent_frame is None else None)

    def _check_place(self, page: Any) -> None:
        url = page.url
        if url.startswith(("http:", "https:")) and origin_of(url) not in self._origins:
            self._note(f"a page of {origin_of(url)[:100]}, which is not on the allow-list")

    def _is_search(self, url: str) -> bool:
        return any(url.startswith(prefix) for prefix in self._config.search_paths)

    def _note(self, what: str) -> None:
        if len(self.incidents) < MAX_INCIDENTS:
            self.incidents.append(what)


def _forbidden(about: dict[str, Any], action: Action) -> str:
    if about["card"] or (about["cards"] and action.name not in _FILLING):
        return "a form with card fields"
    sends = action.name not in _FILLING or bool(action.arguments.get("press_enter"))
    if sends and about["submits"] and about["method"] == "POST":
        return "sends a form by POST"
    if action.name in _FILLING | _AT_FOCUS:
        return ""
    word = BLOCKED_WORDS.search(about["words"])
    return f"{about['words'][:60]!r}: {word.group(0).lower()!r} is on the block list" if word else ""


@contextmanager
def _unreadable_is_forbidden() -> Iterator[list[str]]:
    """What cannot be looked at cannot be known to be harmless; an element that is gone does nothing."""
    failed: list[str] = []
    try:
        yield failed
    except ActionFailed:
        pass
    except PlaywrightError as error:
        failed.append(f"what it would do cannot be read: {str(error).splitlines()[0][:100]}")


class GuardedTask:
    """A benchmark's page task with the guard in place from the start page on: signing in comes before."""

    def __init__(self, inner: PageTask, guard: Guard) -> None:
        self._inner, self._guard = inner, guard
        self.ends_on_answer = inner.ends_on_answer
        self.context_options: dict[str, Any] = {**inner.context_options, "service_workers": "block"}

    def setup(self, page: Any) -> str:
        goal = self._inner.setup(page)
        self._guard.stand(page)
        return goal

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        self._guard.look(page)
        signal = self._inner.check(page, answer)
        if not self._guard.incidents:
            return signal
        return signal._replace(terminated=True, metadata={**signal.metadata, "safety": json_value(self._guard.incidents)})

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        return self._inner.score(page, trajectory)

    def teardown(self) -> None:
        self._inner.teardown()


def guarded(open_task: Callable[[EpisodeSpec], PageTask], guard: Guard) -> Callable[[EpisodeSpec], PageTask]:
    """`Benchmark.open` with the guard around every task."""
    return lambda spec: GuardedTask(open_task(spec), guard)
