"""parse_action and print_action: round trips, agreement with BrowserGym's own reader, hostile text."""

from __future__ import annotations

import pytest
from browsergym.core.action.parsers import highlevel_action_parser
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.actions import answer_of, bids_of, error_kind, is_infeasible, make_action, parse_action, print_action
from harness.errors import UsageError
from harness.types import Action
from tests.actions.strategies import TEXTS, actions


@given(actions())
def test_print_then_parse_gives_the_same_action(action: Action) -> None:
    assert action.name != "invalid"
    back = parse_action(print_action(action))
    assert (back.name, back.arguments) == (action.name, action.arguments)


@given(actions())
@settings(max_examples=50)
def test_browsergym_reads_what_we_print(action: Action) -> None:
    ((name, arguments),) = highlevel_action_parser.parse_string(print_action(action), parse_all=True).as_list()
    assert name == action.name
    assert len(arguments) == len(action.arguments)


@given(st.text(max_size=200) | TEXTS.map(lambda text: f'fill("1", {text})') | TEXTS.map(lambda t: f"click('{t}')"))
def test_no_text_raises(text: str) -> None:
    action = parse_action(text)
    assert (action.name == "invalid") == bool(action.error)
    Action.model_validate_json(action.model_dump_json())


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("click(51)", "click", {"bid": "51"}),
        ("click('[51]')", "click", {"bid": "51"}),
        ("click(bid='a51', button='left')", "click", {"bid": "a51"}),
        ("click('5', 'right', ['Shift'])", "click", {"bid": "5", "button": "right", "modifiers": ["Shift"]}),
        ("  scroll(0, -200.0)  # up", "scroll", {"delta_x": 0, "delta_y": -200}),
        ('fill("5", "two\nlines")', "fill", {"bid": "5", "value": "two\nlines"}),
        ("send_msg_to_user('first\r\n\tsecond')", "send_msg_to_user", {"text": "first\r\n\tsecond"}),
        ('send_msg_to_user("""a\n"b" it\'s""")', "send_msg_to_user", {"text": 'a\n"b" it\'s'}),
        (r'fill("5", "C:\Users\new\d")', "fill", {"bid": "5", "value": "C:\\Users\new\\d"}),
        (r'fill("5", r"C:\new")', "fill", {"bid": "5", "value": r"C:\new"}),
        (r'fill("5", "a\"b\\")', "fill", {"bid": "5", "value": 'a"b\\'}),
        ("fill('5', 'a # b')", "fill", {"bid": "5", "value": "a # b"}),
        ("fill('5', 'a' 'b')", "fill", {"bid": "5", "value": "ab"}),
        ("fill('5', 12)", "fill", {"bid": "5", "value": "12"}),
        ("fill(\n  '5',\n  'x',\n)", "fill", {"bid": "5", "value": "x"}),
        ("select_option('5', ('a', 'b'))", "select_option", {"bid": "5", "options": ["a", "b"]}),
        ("noop()", "noop", {}),
        ("tab_focus('2')", "tab_focus", {"index": 2}),
        (r'send_msg_to_user("\ud83d\ude00 \ud800")', "send_msg_to_user", {"text": "😀 \ufffd"}),
    ],
)
def test_accepted(text: str, name: str, arguments: dict[str, object]) -> None:
    action = parse_action(text)
    assert (action.name, action.arguments, action.error) == (name, arguments, "")


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("", "parse", "empty"),
        ("click", "parse", "not a call"),
        ("click('5'); click('6')", "parse", "found 2"),
        ("click('5')\nclick('6')", "parse", "found 2"),
        ("I will click('5')", "parse", "not a call"),
        ("page.click('5')", "parse", "plain name"),
        ("x = click('5')", "parse", "not a call"),
        ("send_msg_to_user('it's')", "parse", "not a call"),
        ("(" * 5000, "parse", "not a call"),
        ("click('5'\x00)", "parse", "not a call"),
        ("click('" + "5" * 200_000, "parse", "longer"),
        ("klick('5')", "unknown_action", "did you mean click?"),
        ("__import__('os')", "unknown_action", "__import__"),
        ("click()", "bad_argument", "needs bid"),
        ("click('5', 'up')", "bad_argument", "left, middle, right"),
        ("click('OK')", "bad_argument", "bid"),
        ("click(True)", "bad_argument", "bid"),
        ("click(None)", "bad_argument", "bid"),
        ("click('5', bid='6')", "bad_argument", "twice"),
        ("click('5', speed=2)", "bad_argument", "no parameter 'speed'"),
        ("click(*['5'])", "bad_argument", "plain texts"),
        ("click(**{'bid': '5'})", "bad_argument", "not allowed"),
        ("click('5', 'left', [], 1)", "bad_argument", "takes 3"),
        ("click(open('/etc/passwd').read())", "bad_argument", "plain texts"),
        ("fill('5', f'{1}')", "bad_argument", "plain texts"),
        ("fill('5', b'x')", "bad_argument", "a text"),
        ("fill('5', 0x" + "f" * 5000 + ")", "bad_argument", "too large to show"),
        ("fill('5', None)", "bad_argument", "a text"),
        ("scroll(0, 1e999)", "bad_argument", "between"),
        ("scroll(0, float('nan'))", "bad_argument", "plain texts"),
        ("scroll(0, True)", "bad_argument", "a number"),
        ("tab_focus(1.5)", "bad_argument", "whole number"),
    ],
)
def test_refused_with_a_reason(text: str, kind: str, says: str) -> None:
    action = parse_action(text)
    assert action.name == "invalid"
    assert error_kind(action) == kind
    assert says in action.error
    assert "\n" not in action.error and len(action.error) < 400


def test_printing_an_invalid_action_gives_its_text_and_a_broken_one_is_refused() -> None:
    assert print_action(parse_action("oops")) == "oops"
    with pytest.raises(UsageError, match="no action"):
        print_action(Action(name="nothing"))


def test_what_an_action_says() -> None:
    assert bids_of(make_action("drag_and_drop", {"from_bid": "1", "to_bid": "2"})) == ("1", "2")
    assert bids_of(make_action("noop", {})) == ()
    assert answer_of(make_action("send_msg_to_user", {"text": ""})) == ""
    assert answer_of(make_action("report_infeasible", {"reason": "x"})) is None
    assert is_infeasible(make_action("report_infeasible", {"reason": "x"}))
    assert error_kind(make_action("noop", {})) is None
