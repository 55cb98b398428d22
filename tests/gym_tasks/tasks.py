"""A user's own BrowserGym tasks, registered at import: the module that `[gym] packages` names in tests."""

from __future__ import annotations

from typing import Any

from browsergym.core.registration import register_task
from browsergym.core.task import AbstractBrowserTask

PAGE = """<title>Counter</title><h1>Counter</h1>
<button onclick="n.textContent = Number(n.textContent) + 1">Add</button> <output id="n">0</output>"""


class CountTask(AbstractBrowserTask):
    """Click a button `clicks` times. Pays 0.5 on the way and 0.5 at the end, as BrowserGym's `validate` may."""

    def __init__(self, seed: int, clicks: int = 2) -> None:
        super().__init__(seed)
        self.viewport = {"width": 500, "height": 400}
        self.locale = "de-DE"
        self.clicks = clicks
        self.seen = 0
        self.closed = False

    @classmethod
    def get_task_id(cls) -> str:
        return "mine.count"

    def setup(self, page: Any) -> tuple[Any, dict[str, Any]]:
        page.set_content(PAGE)
        return [{"type": "text", "text": f"Click Add {self.clicks} times."}, {"type": "image_url", "image_url": "data:,"}], {}

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        count = int(page.locator("#n").inner_text())
        paid = 0.5 * (count - self.seen) if count <= self.clicks else 0.0
        self.seen = count
        return paid, count >= self.clicks, "well done" if count >= self.clicks else "", {"count": count, "odd": object()}

    def teardown(self) -> None:
        self.closed = True


class SayTask(AbstractBrowserTask):
    """Tell the user the colour; scored from the chat. A report that it cannot be done pays 1 as well."""

    @classmethod
    def get_task_id(cls) -> str:
        return "mine.say"

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        page.set_content("<p>The sky is blue.</p>")
        return "Which colour is the sky?", {}

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        last = chat_messages[-1]
        if last["role"] == "infeasible":
            return 1.0, True, "", {}
        said = [m["message"] for m in chat_messages if m["role"] == "assistant"][1:]
        if not said:
            return 0.0, False, "", {}
        if "blue" in said[-1]:
            return 1.0, True, "", {"roles": [m["role"] for m in chat_messages]}
        return 0.0, False, "look again", {}


class BrokenTask(CountTask):
    """Pays a reward that is not a number."""

    @classmethod
    def get_task_id(cls) -> str:
        return "mine.broken"

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        return float("nan"), False, "", {}


register_task(CountTask.get_task_id(), CountTask)
register_task("mine.count-three", CountTask, task_kwargs={"clicks": 3})
register_task(SayTask.get_task_id(), SayTask)
register_task(BrokenTask.get_task_id(), BrokenTask)
