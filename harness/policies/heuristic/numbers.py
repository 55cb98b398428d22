"""Rules that compute: sums, equations, comparisons, guesses, prices."""

from __future__ import annotations

import operator
import re

from harness.actions import make_action
from harness.policies.heuristic.fields import first_unwritten
from harness.policies.heuristic.situation import Situation, click, fill, press_key, wait
from harness.policies.page import Element, normal
from harness.types import Action

_OPERATORS = {
    "+": operator.add, "-": operator.sub, "x": operator.mul, "*": operator.mul, "×": operator.mul, "/": operator.floordiv,
}  # fmt: skip
_EQUATION = re.compile(r"(-?\d+|x)\s*([+\-x*×/])\s*(-?\d+|x)\s*=\s*(-?\d+)?")
_SEARCHED = range(-1000, 1001)


def solve(s: Situation) -> Action | None:
    """`2 x 4 =` and `2 + x = 43`."""
    if not s.goal.says("solve", "math", "answer"):
        return None
    fields = s.page.fields()
    for text in s.page.texts():
        match = _EQUATION.search(text.name)
        if match and fields and (answer := _answer(match)) is not None:
            return first_unwritten(s, [(fields[0], str(answer))])
    return None


def generate_until(s: Situation) -> Action | None:
    """`Generate a number less than 6`: press the generating button until the shown number fits."""
    button = next((b for b in s.page.role("button") if s.goal.says(b.name) and normal(b.name) == "generate"), None)
    if button is None:
        return None
    number = next((int(t.name) for t in s.page.texts() if re.fullmatch(r"-?\d+", t.name)), None)
    return click(button) if number is None or not _fits(s, number) else None


def guess(s: Situation) -> Action | None:
    """`Guess the number between 0-9`: halve the interval by the page's "higher" and "lower"."""
    bounds = re.search(r"(\d+)\s*(?:-|and|to)\s*(\d+)", s.goal.text)
    fields = s.page.fields()
    if not s.goal.says("guess") or bounds is None or not fields:
        return None
    low, high = int(bounds[1]), int(bounds[2])
    for page in (*s.pages, s.page):
        hint = re.search(r"\b(higher|lower|greater|less)\b\D*(\d+)", page.all_text)
        if hint and hint[1] in ("higher", "greater"):
            low = max(low, int(hint[2]) + 1)
        elif hint:
            high = min(high, int(hint[2]) - 1)
    value = str((low + high) // 2)
    last = s.done[-1] if s.done else None
    if last is not None and last.name == "fill":
        return None
    return fill(fields[0], value)


def set_spinner(s: Situation) -> Action | None:
    """`Select 8 with the spinner`."""
    number = re.search(r"-?\d+", s.goal.text)
    spinners = s.page.role("spinbutton")
    if not s.goal.says("spinner") or number is None or not spinners:
        return None
    return first_unwritten(s, [(spinners[0], number[0])])


def move_slider(s: Situation) -> Action | None:
    """`Select 103 with the slider`: reach the handle with Tab, then move it with arrow keys by the number shown."""
    wanted = re.search(r"select (-?\d+) with the slider", s.goal.text, re.IGNORECASE)
    shown = next((t for t in s.page.texts() if re.fullmatch(r"-?\d+", t.name)), None)
    if wanted is None or shown is None or int(shown.name) == int(wanted[1]):
        return None
    if not any(a.name == "keyboard_press" for a in s.done):
        return press_key("Tab")
    return press_key("ArrowRight" if int(wanted[1]) > int(shown.name) else "ArrowLeft")


def buy_below(s: Situation) -> Action | None:
    """`Buy FLW stock when the price is less than $54.30`: wait for the price."""
    limit = re.search(r"price is less than \$?([\d.]+\d)", s.goal.text)
    button = next((b for b in s.page.role("button") if normal(b.name) == "buy"), None)
    if limit is None or button is None:
        return None
    prices = [float(m[1]) for t in s.page.texts() if (m := re.fullmatch(r"\$\s*([\d.]*\d)", t.name))]
    return click(button) if prices and prices[0] < float(limit[1]) else wait()


def pick_extreme(s: Situation) -> Action | None:
    """`Buy the ticket with the shortest duration`, `the cheapest`: the button of the best offer."""
    buttons = [b for b in s.page.role("button", "link") if re.search(r"\$\d", b.name)]
    if len(buttons) < 2 or not s.goal.says("cheapest", "shortest", "lowest", "least"):
        return None
    if s.goal.says("shortest", "duration"):
        return click(min(buttons, key=lambda b: _duration_before(s, b)))
    return click(min(buttons, key=_price))


def count_on_buttons(s: Situation) -> Action | None:
    """`How many digits are there?`: count texts of that kind, press the button with the number."""
    if not s.goal.says("how many"):
        return None
    texts = [t.name for t in s.page.texts() if len(t.name) == 1]
    kinds = {"digits": str.isdigit, "letters": str.isalpha}
    for word, fits in kinds.items():
        if re.search(rf"how many {word}", s.goal.text, re.IGNORECASE):
            count = sum(fits(text) for text in texts)
            return next((click(b) for b in s.page.role("button") if b.name == str(count)), None)
    return None


def sort_list(s: Situation) -> Action | None:
    """`Sort the numbers in increasing order`: drag the first misplaced item to its place."""
    items = [(e, s.page.text(e)) for e in s.page.role("listitem")]
    if not s.goal.says("sort") or not items or not all(re.fullmatch(r"-?\d+", text) for _, text in items):
        return None
    values = [int(text) for _, text in items]
    ordered = sorted(values, reverse=s.goal.says("decreasing", "descending"))
    for place, value in enumerate(ordered):
        if values[place] != value:
            source = values.index(value, place)
            return make_action("drag_and_drop", {"from_bid": items[source][0].bid, "to_bid": items[place][0].bid})
    return None


def _answer(match: re.Match[str]) -> int | None:
    left, sign, right, result = match.groups()
    compute = _OPERATORS[sign]
    unknown = "x" in (left, right)
    if not unknown:
        return int(compute(int(left), int(right))) if result is None and int(right or 1) else None
    for x in _SEARCHED if result is not None else ():
        a, b = (x if left == "x" else int(left)), (x if right == "x" else int(right))
        if (sign != "/" or b) and compute(a, b) == int(result):
            return x
    return None


def _fits(s: Situation, number: int) -> bool:
    bound = re.search(r"\b(less|smaller|lower|greater|larger|higher|more) than (-?\d+)", s.goal.text)
    if bound:
        below = bound[1] in ("less", "smaller", "lower")
        return number < int(bound[2]) if below else number > int(bound[2])
    if s.goal.says("even"):
        return number % 2 == 0
    if s.goal.says("odd"):
        return number % 2 == 1
    return True


def _price(button: Element) -> float:
    match = re.search(r"\$\s*([\d,.]*\d)", button.name)
    return float(match[1].replace(",", "")) if match else float("inf")


def _duration_before(s: Situation, button: Element) -> float:
    """Minutes of the last duration that stands before the button."""
    for text in reversed(s.page.elements[: button.index]):
        match = re.fullmatch(r"(?:(\d+)h)?\s*(?:(\d+)m)?", text.name)
        if match and match[0]:
            return int(match[1] or 0) * 60 + int(match[2] or 0)
    return float("inf")
