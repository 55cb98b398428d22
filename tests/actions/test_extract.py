"""extract_action: where an action is looked for in a reply, and where it must not be found."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.actions import WEBARENA, extract_action, print_action, print_webarena_action
from harness.errors import UsageError
from harness.types import Action
from tests.actions.strategies import actions

PROSE = st.text("abc .,\n", max_size=60)


@pytest.mark.parametrize(
    ("reply", "bid"),
    [
        ('click("5")', "5"),
        ('The menu.\n```\nclick("5")\n```', "5"),
        ('```python\nclick("5")\n```', "5"),
        ('First ```click("4")``` no: ```click("5")```.', "5"),
        ('```\nclick("5")', "5"),
        ('```\nclick("5")\n```\n``` ```', "5"),
        ('<action>click("5")</action>', "5"),
        ('<action>\n```\nclick("5")\n```\n</action>', "5"),
        ('```\nsome page text\n```\n<action>click("5")</action>', "5"),
        ('In summary, the next action I will perform is ```click("5")```', "5"),
        ('In summary, the next action I will perform is click("5")\nIt opens the menu.', "5"),
        ('{"thought": "x", "action": "click(\'5\')"}', "5"),
        ('```json\n{"action": {"name": "click", "arguments": {"bid": 5}}}\n```', "5"),
        ('{"name": "click", "arguments": {"bid": "5"}}', "5"),
        ('Well.\n{"action": "click(\'5\')"}', "5"),
        ('I press it.\n\nclick("5")\n', "5"),
        ('I press it.\n`click("5")`', "5"),
        ('Thought: x\nAction: click("5")', "5"),
        ('Thought: x\nAction:\nclick("5")', "5"),
        ('<think>click("4") or ```click("3")```</think>\nclick("5")', "5"),
        ('click("4")? hmm</think>\nclick("5")', "5"),
        ('<think>a</think><think>b</think>click("5")', "5"),
    ],
)
def test_found(reply: str, bid: str) -> None:
    action = extract_action(reply)
    assert (action.name, action.arguments) == ("click", {"bid": bid})


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "<think>",
        '<think>click("5")',
        '<think>click("5")\n```click("5")```',
        '<think>a</think><think>click("5")',
        '<think>```click("5")```</think>',
        'I would use click("5") here.',
        'click("5") is what I would do',
        'I clicked it with click("5")',
        'click("5")\nThen I wait.',
        'click("4")\nclick("5")',
        'The page says "Action: click("5")".',
        'Action: click("5")\nis what the page says',
        '```click("5")``` or rather ```print("x")```',
        '```\nclick("5")\nclick("6")\n```',
        '```\nclick("5',
        "The action is click('5'), then done()",
        '{"action": 5}',
        '{"action": {"name": "click", "arguments": ["5"]}}',
        '{"action": ' + "[" * 100_000 + "}",
        '{"thought": "click(\'5\')"}',
        "<action></action>",
    ],
)
def test_not_found(reply: str) -> None:
    action = extract_action(reply)
    assert action.name == "invalid"
    assert action.error


@pytest.mark.parametrize(
    ("reply", "name", "arguments"),
    [
        ("```click [5]```", "click", {"bid": "5"}),
        ("Let me think. In summary, the next action I will perform is ```stop [42]```", "send_msg_to_user", {"text": "42"}),
        ("```\ngo_back\n```", "go_back", {}),
        ("```go_back\n```", "go_back", {}),
        ("Reason.\nscroll [down]", "scroll", {"delta_x": 0, "delta_y": 720}),
        ("```type [5] [a] b [c] [1]```", "type", {"bid": "5", "text": "a] b [c"}),
        ("stop [[1, 2]]", "send_msg_to_user", {"text": "[1, 2]"}),
    ],
)
def test_found_in_webarena_syntax(reply: str, name: str, arguments: dict[str, object]) -> None:
    action = extract_action(reply, "webarena")
    assert (action.name, action.arguments) == (name, arguments)


@pytest.mark.parametrize(
    "reply",
    [
        "stop [a] is wrong, so click [3]",
        "I could stop [here]",
        "Scroll down the page",
        "First.\nstop [a], no: type [3] [b]",
        "click [5] and click [6]",
    ],
)
def test_webarena_prose_is_not_an_action(reply: str) -> None:
    assert extract_action(reply, "webarena").name == "invalid"


@given(actions(), PROSE, PROSE)
def test_an_action_in_a_tag_is_found_whatever_stands_around_it(action: Action, before: str, after: str) -> None:
    printed = print_action(action)
    if "```" in printed:
        printed = json.dumps({"action": printed})
    found = extract_action(f"{before}\n<action>{printed}</action>\n{after}")
    assert (found.name, found.arguments) == (action.name, action.arguments)


@given(actions(), PROSE)
def test_prose_after_a_call_hides_it(action: Action, prose: str) -> None:
    assert extract_action(f"{print_action(action)}\nso {prose} I wait").name == "invalid"


@given(actions(WEBARENA), PROSE)
def test_webarena_prose_before_a_call_on_its_line_hides_it(action: Action, prose: str) -> None:
    try:
        printed = print_webarena_action(action)
    except UsageError:
        return
    if "`" not in printed and "<" not in printed and "\n" not in printed:
        assert extract_action(f"{prose} I would {printed}", "webarena").name == "invalid"


@given(st.text(max_size=300), st.sampled_from(["browsergym", "webarena"]))
def test_no_reply_raises(reply: str, syntax: str) -> None:
    action = extract_action(reply, syntax)  # type: ignore[arg-type]
    Action.model_validate_json(action.model_dump_json())


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>", "```", "<action>", "{", "[", '"', "\\", "the next action ", "\n", "stop [", "]\n"]
)
def test_repeated_marks_take_no_more_than_linear_time(piece: str) -> None:
    """A quadratic reader takes minutes on these; the bound is far above what a slow machine needs."""
    started = time.process_time()
    for syntax in ("browsergym", "webarena"):
        extract_action(piece * (400_000 // len(piece)), syntax)  # type: ignore[arg-type]
        extract_action("<think>" + piece * (50_000 // len(piece)) + "</think>click('5')", syntax)  # type: ignore[arg-type]
    assert time.process_time() - started < 20
