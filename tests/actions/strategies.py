"""Hypothesis strategies for valid actions of the whole space, arguments as hostile as the types allow."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.actions import ACTION_SPACE, make_action
from harness.actions.space import BUTTONS, MODIFIERS, Kind
from harness.types import Action

TEXTS = st.text(max_size=40) | st.sampled_from(
    ['"', "'", "\\", "\n", "\r\n", 'it\'s "both"', "C:\\Users\\x", "`", "```", "#", "]", "[", "a] [0", "\x00", " "]
)
BIDS = st.from_regex(r"\A[A-Za-z]{0,3}[0-9]{1,5}\Z")
NUMBERS = st.integers(-10000, 10000) | st.floats(-10000, 10000).filter(lambda x: x != int(x))

VALUES: dict[Kind, st.SearchStrategy[object]] = {
    "bid": BIDS,
    "text": TEXTS,
    "number": NUMBERS,
    "integer": st.integers(-1000, 1000),
    "boolean": st.booleans(),
    "button": st.sampled_from(BUTTONS),
    "modifiers": st.lists(st.sampled_from(MODIFIERS), max_size=3),
    "text_or_list": TEXTS | st.lists(TEXTS, max_size=3),
}


@st.composite
def actions(draw: st.DrawFn, names: tuple[str, ...] = tuple(ACTION_SPACE)) -> Action:
    signature = ACTION_SPACE[draw(st.sampled_from(names))]
    arguments = {
        parameter.name: draw(VALUES[parameter.kind])
        for parameter in signature.parameters
        if parameter.required or draw(st.booleans())
    }
    return make_action(signature.name, arguments)
