"""An explorer: walks through a site to see what its pages do. It pursues no task; what it did is named afterwards.

    random   any legal action with equal chances, as `RandomPolicy`, with values that stand on the page
    goal     has an intention at a time, and carries it out before the next:
               complete a form      field by field, then its button
               open something       one link, button, tab, box
             both the rather, the less often it was done before
    both     now and then go back, scroll, change tabs; now and then do something that must fail (`WRONG`)

Every choice comes from the task's id and the seed, so a walk can be repeated; walks of one seed differ between tasks.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from urllib.parse import urlsplit

from harness.actions import make_action, print_action
from harness.policies.config import ExploreConfig
from harness.policies.explore_moves import Form, Move, fill_move, forms, leaves, open_menu, openings, send_move, wrong
from harness.policies.explore_values import FALLBACK, phrases
from harness.policies.page import Element, Page, read_page
from harness.policies.random import legal_actions
from harness.types import Observation, PolicyOutput, Task

VERSION = "explore-1"
OPTIONAL_FIELD = 0.75
"""Chance that a field of a form is filled in at all: forms that lack something answer with a complaint, also worth seeing."""
FORM_SHARE = 0.6
"""Chance to prefer a form that was never sent to a click; each sending quarters it: a search box is on every page."""
TAB_SHARE = 0.15
SCROLL_SHARE = 0.02
LEAVING_WEIGHT = 0.02


class ExplorePolicy:
    """`--policy explore`, and what `harness explore` uses."""

    name = "explore"

    def __init__(self, config: ExploreConfig | None = None) -> None:
        self._config = config or ExploreConfig()
        self._begin(Random(0))

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._begin(Random(f"{task.benchmark}/{task.task_id}/{seed}"))

    def act(self, observation: Observation) -> PolicyOutput:
        self._arrive(observation)
        page = read_page(observation.axtree)
        move = self._aside(page, observation) or (
            self._random_move(page) if self._config.mode == "random" else self._goal_move(page, observation.url)
        )
        action = move.action.model_copy(update={"raw": print_action(move.action)})
        return PolicyOutput(action=action, text=move.note, policy_version=f"{VERSION} {self._config.mode}")

    def close(self) -> None: ...

    # ------------------------------------------------------------------ what is remembered

    def _begin(self, rng: Random) -> None:
        self._rng = rng
        self._start_url = ""
        self._url = ""
        self._tab = 0
        self._depths: Counter[int] = Counter()
        """Per tab: pages opened since the start, less those gone back. At 0, back would leave the site."""
        self._went_back = False
        self._tried: Counter[tuple[str, str]] = Counter()
        self._sent: Counter[str] = Counter()
        self._plan: tuple[str, str] | None = None
        """Page and key of the form that is being filled in."""
        self._handled: set[str] = set()
        """Labels of that form that were filled in or left out."""

    def _arrive(self, observation: Observation) -> None:
        tab, url = observation.active_page_index, observation.url
        if not self._start_url:
            self._start_url = url
        elif tab == self._tab and url != self._url:
            self._depths[tab] = max(0, self._depths[tab] - 1) if self._went_back else self._depths[tab] + 1
        self._tab, self._url, self._went_back = tab, url, False

    # ------------------------------------------------------------------ moves

    def _aside(self, page: Page, observation: Observation) -> Move | None:
        """Something else than what was intended; mostly nothing."""
        if self._rng.random() < self._config.fail:
            return wrong(page, self._rng)
        if len(observation.open_pages) > 1 and self._rng.random() < TAB_SHARE:
            others = [i for i in range(len(observation.open_pages)) if i != observation.active_page_index]
            return Move(make_action("tab_focus", {"index": self._rng.choice(others)}), "look at another tab")
        if self._depths[self._tab] and self._rng.random() < self._config.back:
            return self._go_back()
        if self._rng.random() < SCROLL_SHARE:
            return Move(make_action("scroll", {"delta_x": 0, "delta_y": 500}), "look further down")
        return None

    def _random_move(self, page: Page) -> Move:
        words = self._rng.sample(found, 2) if len(found := phrases(page)) > 1 else [FALLBACK]
        return Move(self._rng.choice(legal_actions(page, words)), "any legal action")

    def _goal_move(self, page: Page, url: str) -> Move:
        if options := open_menu(page):
            chosen = self._rng.choice(options)
            return Move(make_action("click", {"bid": chosen.bid}), f"choose {page.text(chosen)[:80]!r} in the open menu")
        place = _place(url)
        found = {form.key(page): form for form in forms(page)}
        if self._plan and self._plan[0] == place and self._plan[1] in found:
            return self._continue(page, found[self._plan[1]])
        self._plan = None
        newness = {key: 0.25 ** self._sent[key] for key in found}
        clicks = openings(page)
        if newness and (not clicks or self._rng.random() < FORM_SHARE * max(newness.values())):
            (key,) = self._rng.choices(list(newness), list(newness.values()))
            self._plan, self._handled = (place, key), set()
            return self._continue(page, found[key])
        if clicks:
            return self._open(page, clicks)
        if self._depths[self._tab]:
            return self._go_back()
        if url != self._start_url:
            return Move(make_action("goto", {"url": self._start_url}), "nothing to do here: back to the start")
        anything = [element for element in page.elements if element.bid and element.role != "RootWebArea"]
        if not anything:
            return Move(make_action("noop", {"wait_ms": 0}), "an empty page: wait")
        chosen = self._rng.choice(anything)
        return Move(make_action("click", {"bid": chosen.bid}), f"nothing looks clickable: try a {chosen.role}")

    def _continue(self, page: Page, form: Form) -> Move:
        """The next field of the form, else send it. A field that is skipped costs no step."""
        for number, field in enumerate(form.fields):
            label = f"{number} {page.label(field)}"
            if label in self._handled:
                continue
            self._handled.add(label)
            alone = len(form.fields) == 1
            if (alone or self._rng.random() < OPTIONAL_FIELD) and (move := fill_move(page, field, self._rng)):
                return move
        assert self._plan is not None
        self._sent[self._plan[1]] += 1
        self._plan = None
        return send_move(form)

    def _open(self, page: Page, clicks: list[Element]) -> Move:
        """What was tried less often has the better chances; a site's menu, which is on every page, soon has few."""
        keys = [(element.role, page.text(element)) for element in clicks]
        weights = [
            (LEAVING_WEIGHT if leaves(page, element) else 1.0) / (1 + self._tried[key]) ** 3
            for element, key in zip(clicks, keys, strict=True)
        ]
        chosen = self._rng.choices(range(len(clicks)), weights)[0]
        self._tried[keys[chosen]] += 1
        role, name = keys[chosen]
        again = ", again" if self._tried[keys[chosen]] > 1 else ""
        return Move(make_action("click", {"bid": clicks[chosen].bid}), f"open the {role} {name[:80]!r}{again}")

    def _go_back(self) -> Move:
        self._went_back = True
        return Move(make_action("go_back", {}), "go back")


def _place(url: str) -> str:
    """A page without its query: the same form on another page of a list is the same form."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"
