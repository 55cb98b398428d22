"""BrowserGym tasks that break in every way a page, a site, a scorer or a policy can; `[gym] packages` names this module.

    fault.<name>     one page each of PAGES; done when its title is "done"; goals that begin with "policy:" are orders to
                     `FaultyPolicy`, the agent of these runs
    row.<n>          harmless pages, three steps each; whether they end well depends on n alone
    down.<n>         pages of a site that may be down

Pages come from the server of the test, whose address is in the environment (SITE_VARIABLE).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import Any

import psutil
from browsergym.core.registration import register_task
from browsergym.core.task import AbstractBrowserTask

from harness.actions import make_action
from harness.errors import SiteError
from harness.types import Observation, PolicyOutput, Task
from tests.support.web import Page, Reply

SITE_VARIABLE = "FAULT_SITE"
ROWS, DOWN = 6, 4

HEALTHY = "<title>healthy</title><button onclick='document.title = `done`'>Go</button>"


def button(script: str) -> str:
    """A page with one button that runs `script`."""
    return f"<title>fault</title><button onclick='{script}'>Go</button>"


PAGES: dict[str, Page] = {
    "/healthy": HEALTHY,
    "/hang": button("while (true) {}"),
    "/http-500": Reply("<h1>oops</h1>", 500),
    "/closes-itself": button("window.close()"),
    "/alert-loop": button("while (true) alert(1)"),
    "/popup-storm": button("for (let i = 0; i < 20; i++) window.open(`/healthy?` + i); document.title = `done`"),
    "/bad-scorer": HEALTHY,
    "/scorer-exits": HEALTHY,
    "/no-number": HEALTHY,
    **{f"/row/{number}": HEALTHY for number in range(ROWS)},
}
ORDERS = ("raises", "returns-none", "hangs", "exits", "kills-itself", "kills-browser", "kills-driver")


class PageTask(AbstractBrowserTask):  # type: ignore[misc]  # BrowserGym has no types
    """Opens `path`; pays 1 and is done when the title of any open page is "done"."""

    def __init__(self, seed: int, path: str, goal: str = "Press Go.") -> None:
        super().__init__(seed)
        self.viewport = {"width": 500, "height": 400}
        self.path = path
        self.goal = goal

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        response = page.goto(os.environ[SITE_VARIABLE] + self.path)
        if response.status >= 500:
            raise SiteError(f"{self.path} answered {response.status}")
        return self.goal, {}

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        done = any(open_page.title() == "done" for open_page in page.context.pages)
        return float(done), done, "", {}

    def teardown(self) -> None: ...


class RaisingScorer(PageTask):
    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        raise LookupError("the answer key is missing")


class ExitingScorer(PageTask):
    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        raise SystemExit("scorers should not do this")


class NoNumber(PageTask):
    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        return "much", False, "", {}  # type: ignore[return-value]


class RowTask(PageTask):
    """Even rows pay, odd ones end without pay: a run of them has a rate that depends on nothing else."""

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        done = page.title() == "done"
        return float(done and int(self.path[-1]) % 2 == 0), done, "", {}


class FaultyPolicy:
    """Waits one step, then presses the page's button, unless the goal orders it to misbehave instead."""

    name = "faulty"

    def __init__(self, refuse: str = "") -> None:
        """`refuse`: an exception's message, to be raised at once."""
        if refuse:
            raise RuntimeError(refuse)
        self._order = ""
        self._steps = 0

    def reset(self, goal: str, task: Task, seed: int) -> None:
        print(f"next: {task.task_id}", flush=True)  # into the worker's log
        self._order, self._steps = goal.removeprefix("policy:") if goal.startswith("policy:") else "", 0

    def act(self, observation: Observation) -> PolicyOutput:
        self._steps += 1
        if self._steps == 1:
            return PolicyOutput(action=make_action("noop", {"wait_ms": 0}))
        if self._order:
            self._misbehave()
        if self._order == "returns-none":
            return None  # type: ignore[return-value]
        if "button" not in observation.axtree:
            return PolicyOutput(action=make_action("noop", {"wait_ms": 0}))
        bid = observation.axtree.split("] button")[0].rsplit("[", 1)[1]
        return PolicyOutput(action=make_action("click", {"bid": bid}))

    def close(self) -> None: ...

    def _misbehave(self) -> None:
        if self._order == "raises":
            raise ValueError("out of ideas")
        if self._order == "hangs":
            threading.Event().wait()
        if self._order == "exits":
            os._exit(7)
        if self._order == "kills-itself":
            _kill(psutil.Process())
        if self._order == "kills-browser":
            for driver in psutil.Process().children():
                for browser in driver.children(recursive=True):
                    _kill(browser)
        if self._order == "kills-driver":
            for process in psutil.Process().children():
                _kill(process)


class Agentless:
    """Not a policy: it has no `act`."""

    name = "agentless"


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGKILL)


_SPECIAL: dict[str, type[PageTask]] = {"bad-scorer": RaisingScorer, "scorer-exits": ExitingScorer, "no-number": NoNumber}

for _path in PAGES:
    if not _path.startswith("/row"):
        _name = _path.removeprefix("/")
        register_task(f"fault.{_name}", _SPECIAL.get(_name, PageTask), task_kwargs={"path": _path})
for _order in ORDERS:
    register_task(f"fault.policy-{_order}", PageTask, task_kwargs={"path": "/healthy", "goal": f"policy:{_order}"})
register_task("fault.zz-healthy", PageTask, task_kwargs={"path": "/healthy"})
for _number in range(ROWS):
    register_task(f"row.{_number}", RowTask, task_kwargs={"path": f"/row/{_number}"})
for _number in range(DOWN):
    register_task(f"down.{_number}", PageTask, task_kwargs={"path": f"/down/{_number}"})
