"""The action space is BrowserGym's: names, parameters and defaults are compared with the installed package."""

from __future__ import annotations

import inspect
import typing

import pytest
from browsergym.core.action import functions

from harness.actions import (
    ACTION_SPACE,
    BROWSERGYM,
    DYNAWEB,
    MINIWOB,
    WEBARENA,
    describe_action_space,
    full_arguments,
    make_action,
    parse_action,
)
from harness.errors import UsageError


def browsergym_functions() -> dict[str, typing.Any]:
    return {
        name: function
        for name, function in inspect.getmembers(functions, inspect.isfunction)
        if function.__module__ == functions.__name__
    }


def test_every_browsergym_action_is_in_the_space_and_no_other() -> None:
    assert set(BROWSERGYM) == set(browsergym_functions())
    assert set(ACTION_SPACE) - set(BROWSERGYM) == {"type"}


@pytest.mark.parametrize("name", BROWSERGYM)
def test_parameters_defaults_and_kinds_are_browsergyms(name: str) -> None:
    theirs = inspect.signature(browsergym_functions()[name]).parameters
    ours = ACTION_SPACE[name].parameters
    assert [parameter.name for parameter in ours] == list(theirs)
    for parameter in ours:
        their_default = theirs[parameter.name].default
        assert parameter.required == (their_default is inspect.Parameter.empty)
        assert parameter.required or parameter.default == their_default
        annotation = theirs[parameter.name].annotation
        expected = {
            "number": float, "integer": int, "boolean": bool, "text": str, "bid": str, "text_or_list": str | list[str],
        }  # fmt: skip
        assert parameter.kind not in expected or annotation == expected[parameter.kind]
        assert parameter.is_bid == parameter.name.endswith("bid")


@pytest.mark.parametrize("name", ACTION_SPACE)
def test_the_example_of_each_action_is_that_action(name: str) -> None:
    assert parse_action(ACTION_SPACE[name].example).name == name


@pytest.mark.parametrize("subset", [BROWSERGYM, DYNAWEB, MINIWOB, WEBARENA])
def test_subsets_are_described_one_entry_per_action(subset: tuple[str, ...]) -> None:
    text = describe_action_space(subset)
    assert all(f"{ACTION_SPACE[name]}\n" in text for name in subset)
    assert text.count("Example:") == len(subset)


def test_dynaweb_in_webarena_syntax() -> None:
    forms = [line.split(":")[0] for line in describe_action_space(DYNAWEB, "webarena").splitlines()]
    assert forms == [
        "click [id]", "type [id] [content] [press_enter_after=0|1]", "scroll [down|up]", "go_back", "stop [answer]",
        "stop [N/A]",
    ]  # fmt: skip


def test_describing_an_unknown_action_names_the_choices() -> None:
    with pytest.raises(UsageError, match="klick"):
        describe_action_space(["klick"])
    with pytest.raises(UsageError, match="drag_and_drop"):
        describe_action_space(["drag_and_drop"], "webarena")


def test_full_arguments_add_the_defaults() -> None:
    assert full_arguments(make_action("click", {"bid": "5"})) == {"bid": "5", "button": "left", "modifiers": []}
    assert full_arguments(make_action("noop", {})) == {"wait_ms": 1000}
