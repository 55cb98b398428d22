"""Rules that compute: sums, equations, comparisons, guesses, prices."""

from __future__ import annotations

import operator
import re

from harness.policies.heuristic.clicks import submit
from harness.policies.heuristic.fields import first_unwritten
from harness.policies.heuristic.situation import Situation, click, fill, press_key, wait
from harness.policies.page import Element, Page, dollars, normal, whole_number
from harness.types import Action

_OPERATORS = {
    "+": operator.add, "-": operator.sub, "x": operator.mul, "*": operator.mul, "×": operator.mul, "/": operator.floordiv,
}  # fmt: skip
_EQUATION = re.compile(r"(-?\d{1,9}|x)\s*([+\-x*×/])\s*(-?\d{1,9}|x)\s*=\s*(-?\d{1,9})?")
_FEW_STEPS = 2
"""Slider steps that are not worth a whole page."""
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
    """`Generate a number less than 6`: press the generating button until the shown number fits, then
    submit."""
    button = next((b for b in s.page.role("button") if s.goal.says(b.name) and normal(b.name) == "generate"), None)
    if button is None:
        return None
    number = next(iter(_shown_numbers(s.page)), None)
    return click(button) if number is None or not _fits(s, number) else submit(s)


def guess(s: Situation) -> Action | None:
    """`Guess the number between 0-9`: halve the interval by the page's "higher" and "lower"."""
    bounds = re.search(r"(\d{1,9})\s*(?:-|and|to)\s*(\d{1,9})", s.goal.text)
    fields = s.page.fields()
    if not s.goal.says("guess") or bounds is None or not fields:
        return None
    low, high = int(bounds[1]), int(bounds[2])
    for page in (*s.pages, s.page):
        hint = re.search(r"\b(higher|lower|greater|less)\b\D*(\d{1,9})", page.all_text)
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
    number = re.search(r"-?\d{1,9}", s.goal.text)
    spinners = s.page.role("spinbutton")
    if not s.goal.says("spinner") or number is None or not spinners:
        return None
    return first_unwritten(s, [(spinners[0], number[0])])


def move_sliders(s: Situation) -> Action | None:
    """`Select 103 with the slider`, `the combination [7,0,12]`: Tab to a handle, arrow keys until its number fits."""
    wanted = _slider_values(s.goal.text)
    shown = _shown_numbers(s.page)
    if not wanted or len(shown) < len(wanted):
        return None
    tabs = sum(a == press_key("Tab") for a in s.done)
    for place, (target, value) in enumerate(zip(wanted, shown, strict=False)):
        if target == value:
            continue
        if tabs <= place:
            return press_key("Tab")
        return press_key(_slider_key(s, place, target - value)) if tabs == place + 1 else None
    return None


def _slider_key(s: Situation, place: int, distance: int) -> str:
    """A whole page where that does not overshoot. How far a page goes is seen by trying it once."""
    step = next(
        (
            abs(_shown_numbers(after)[place] - _shown_numbers(before)[place])
            for action, before, after in zip(s.done, s.pages, (*s.pages[1:], s.page), strict=True)
            if action in (press_key("PageUp"), press_key("PageDown")) and before != after
        ),
        None,
    )
    if abs(distance) > _FEW_STEPS and (step is None or step <= abs(distance) + _FEW_STEPS):
        return "PageUp" if distance > 0 else "PageDown"
    return "ArrowRight" if distance > 0 else "ArrowLeft"


def _shown_numbers(page: Page) -> list[int]:
    return [number for t in page.texts() if (number := whole_number(t.name)) is not None]


def _slider_values(goal: str) -> list[int]:
    match = re.search(r"select (-?\d{1,9}) with the slider|sliders to the combination \[([-\d, ]+)\]", goal, re.IGNORECASE)
    return [int(number) for number in re.findall(r"-?\d{1,9}", match[1] or match[2])] if match else []


def buy_below(s: Situation) -> Action | None:
    """`Buy FLW stock when the price is less than $54.30`: wait for the price."""
    limit = dollars(s.goal.text) if s.goal.says("price is less than") else None
    button = next((b for b in s.page.role("button") if normal(b.name) == "buy"), None)
    if limit is None or button is None:
        return None
    prices = [price for t in s.page.texts() if (price := dollars(t.name)) is not None]
    return click(button) if prices and prices[0] < limit else wait()


def pick_extreme(s: Situation) -> Action | None:
    """`Buy the ticket with the shortest duration`, `the most expensive cost`: the button of the best offer."""
    buttons = [b for b in s.page.role("button", "link") if re.search(r"\$\d", b.name)]
    lowest = s.goal.says("cheapest", "shortest", "lowest", "least")
    if len(buttons) < 2 or not (lowest or s.goal.says("most expensive", "longest", "highest")):
        return None
    by_time = s.goal.says("shortest", "longest", "duration")
    measured = [(_duration_before(s, b) if by_time else _price(b), b) for b in buttons]
    return click((min if lowest else max)(measured, key=lambda pair: pair[0])[1])


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


def _answer(match: re.Match[str]) -> int | None:
    left, sign, right, result = match.groups()
    compute = _OPERATORS[sign]
    unknown = "x" in (left, right)
    if not unknown:
        solvable = result is None and not (sign == "/" and int(right) == 0)
        return int(compute(int(left), int(right))) if solvable else None
    for x in _SEARCHED if result is not None else ():
        a, b = (x if left == "x" else int(left)), (x if right == "x" else int(right))
        if (sign != "/" or b) and compute(a, b) == int(result):
            return x
    return None


def _fits(s: Situation, number: int) -> bool:
    bound = re.search(r"\b(less|smaller|lower|greater|larger|higher|more) than (-?\d{1,9})", s.goal.text)
    if bound:
        below = bound[1] in ("less", "smaller", "lower")
        return number < int(bound[2]) if below else number > int(bound[2])
    if s.goal.says("even"):
        return number % 2 == 0
    if s.goal.says("odd"):
        return number % 2 == 1
    return True


def _price(button: Element) -> float:
    price = dollars(button.name)
    return float("inf") if price is None else price


def _duration_before(s: Situation, button: Element) -> float:
    """Minutes of the last duration that stands before the button."""
    for text in reversed(s.page.elements[: button.index]):
        match = re.fullmatch(r"(?:(\d{1,5})h)?\s*(?:(\d{1,5})m)?", text.name)
        if match and match[0]:
            return int(match[1] or 0) * 60 + int(match[2] or 0)
    return float("inf")
