"""parse_webarena_action and print_webarena_action: round trips, brackets in text, agreement with WebArena's reader."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.actions import WEBARENA, error_kind, make_action, parse_webarena_action, print_webarena_action
from harness.errors import UsageError
from harness.types import Action
from tests.actions.strategies import TEXTS, actions

EXPRESSIBLE = tuple(name for name in WEBARENA if name not in ("scroll", "report_infeasible"))


@given(actions(EXPRESSIBLE))
def test_print_then_parse_gives_the_same_action(action: Action) -> None:
    try:
        text = print_webarena_action(action)
    except UsageError:
        assume(False)
    back = parse_webarena_action(text)
    assert (back.name, back.arguments) == (action.name, action.arguments) or back.name == "report_infeasible"


@given(st.text("[]ab 01", max_size=30), st.booleans())
def test_brackets_inside_a_text_survive(text: str, press_enter: bool) -> None:
    action = make_action("type", {"bid": "7", "text": text, "press_enter": press_enter})
    assert parse_webarena_action(print_webarena_action(action)).arguments == action.arguments


@given(st.text(max_size=100) | st.tuples(st.sampled_from(["stop [", "type [5] [", "goto", "press"]), TEXTS).map("".join))
def test_no_text_raises(text: str) -> None:
    action = parse_webarena_action(text)
    assert (action.name == "invalid") == bool(action.error)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("click [1757]", "click", {"bid": "1757"}),
        ("click[a12]", "click", {"bid": "a12"}),
        ("hover [ 5 ]", "hover", {"bid": "5"}),
        ("type [5] [red shoes] [1]", "type", {"bid": "5", "text": "red shoes"}),
        ("type [5] [red shoes] [press_enter_after=0]", "type", {"bid": "5", "text": "red shoes", "press_enter": False}),
        ("type [5] [red shoes]", "type", {"bid": "5", "text": "red shoes"}),
        ("type [5] [x[0]] [0]", "type", {"bid": "5", "text": "x[0]", "press_enter": False}),
        ("type [5] [a ] b [ c][0]", "type", {"bid": "5", "text": "a ] b [ c", "press_enter": False}),
        ("type [5] [1]", "type", {"bid": "5", "text": "1"}),
        ("type [5] []", "type", {"bid": "5", "text": ""}),
        ("type [5] [two\nlines] [1]", "type", {"bid": "5", "text": "two\nlines"}),
        ("press [Control+a]", "keyboard_press", {"key": "Control+a"}),
        ("scroll [down]", "scroll", {"delta_x": 0, "delta_y": 720}),
        ("scroll up", "scroll", {"delta_x": 0, "delta_y": -720}),
        ("scroll [direction=down]", "scroll", {"delta_x": 0, "delta_y": 720}),
        ("new_tab", "new_tab", {}),
        ("tab_focus [2]", "tab_focus", {"index": 2}),
        ("close_tab", "tab_close", {}),
        ("goto [http://a/?q[]=1]", "goto", {"url": "http://a/?q[]=1"}),
        ("go_back", "go_back", {}),
        ("goback", "go_back", {}),
        ("go_forward", "go_forward", {}),
        ("stop", "send_msg_to_user", {"text": ""}),
        ("stop [[1, 2]]", "send_msg_to_user", {"text": "[1, 2]"}),
        ("stop [N/A]", "report_infeasible", {"reason": "N/A"}),
        ("stop [n/a ]", "report_infeasible", {"reason": "N/A"}),
    ],
)
def test_accepted(text: str, name: str, arguments: dict[str, object]) -> None:
    action = parse_webarena_action(text)
    assert (action.name, action.arguments, action.error) == (name, arguments, "")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "parse"),
        ("[5]", "parse"),
        ("click", "bad_argument"),
        ("click [OK]", "bad_argument"),
        ("click [5] to open it", "bad_argument"),
        ("click [5]\nclick [6]", "parse"),
        ("type [5] [x]\nclick [6]", "parse"),
        ("type [5]", "bad_argument"),
        ("type [5] [x", "bad_argument"),
        ("scroll [left]", "bad_argument"),
        ("scroll down the page", "bad_argument"),
        ("go_back now", "bad_argument"),
        ("tab_focus [first]", "bad_argument"),
        ("stop [42", "bad_argument"),
        ("stop here", "bad_argument"),
        ("press []]]", "invalid?"),
        ("buy [5]", "unknown_action"),
    ],
)
def test_refused(text: str, kind: str) -> None:
    action = parse_webarena_action(text)
    if kind == "invalid?":  # brackets need no balance: this is the key "]]"
        assert action.arguments == {"key": "]]"}
        return
    assert (action.name, error_kind(action)) == ("invalid", kind)


def test_what_the_syntax_cannot_say_is_an_error_not_a_wrong_text() -> None:
    for action in (
        make_action("drag_and_drop", {"from_bid": "1", "to_bid": "2"}),
        make_action("scroll", {"delta_x": 0, "delta_y": 100}),
        make_action("click", {"bid": "5", "button": "right"}),
        make_action("type", {"bid": "5", "text": "x]\nclick [6"}),
    ):
        with pytest.raises(UsageError, match="cannot express"):
            print_webarena_action(action)


def test_the_same_effect_prints_the_same() -> None:
    assert print_webarena_action(make_action("fill", {"bid": "5", "value": "x"})) == "type [5] [x] [0]"
    assert print_webarena_action(make_action("report_infeasible", {"reason": "no such page"})) == "stop [N/A]"
    assert print_webarena_action(make_action("send_msg_to_user", {"text": "N/A"})) == "stop [N/A]"
    assert print_webarena_action(parse_webarena_action("oops")) == "oops"


@pytest.mark.webarena
@given(actions(("click", "type", "hover", "goto")).filter(lambda action: "button" not in action.arguments))
def test_webarenas_own_reader_reads_what_we_print(action: Action) -> None:
    reader = pytest.importorskip("webarena.browser_env.actions")
    text = action.arguments.get("text", action.arguments.get("url", "x"))
    # WebArena knows ids without frame prefix; its pattern wants one line, its keys are ASCII.
    assume(str(action.arguments.get("bid", "0")).isdigit())
    assume(isinstance(text, str) and text.strip() and text.isascii() and text.isprintable() and text == text.strip())
    try:
        printed = print_webarena_action(action)
    except UsageError:
        assume(False)
    theirs = reader.create_id_based_action(printed)
    assert theirs["element_id"] == str(action.arguments.get("bid", ""))
