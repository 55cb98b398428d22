"""fit: never over budget, says what it dropped, keeps what matters first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.axtree import Tree, approximate_tokens, fit, parse
from harness.errors import UsageError
from tests.axtree.strategies import trees

COUNTERS = [
    approximate_tokens,
    len,
    lambda text: len(text.split()),
    # Superadditive: the whole costs more than its lines.
    lambda text: len(text) + text.count("\n") ** 2,
]


@given(trees(max_nodes=40) | trees("webarena", max_nodes=40), st.integers(0, 400), st.sampled_from(COUNTERS))
def test_never_over_budget_and_nothing_dropped_silently(tree: Tree, max_tokens: int, count) -> None:  # type: ignore[no-untyped-def]
    text = tree.to_text()
    fitted = fit(text, max_tokens, count)
    assert count(fitted.text) == fitted.tokens
    assert fitted.tokens <= max_tokens or fitted.text == ""
    lines, kept = text.split("\n"), fitted.text.split("\n")
    assert fitted.total_lines == len(lines)
    if fitted.dropped_lines == 0:
        assert fitted.text == text
        return
    if fitted.text:
        assert kept.pop() == f"… {fitted.dropped_lines:,} lines dropped to fit {max_tokens:,} tokens"
        assert len(kept) == len(lines) - fitted.dropped_lines
        rest = iter(lines)
        assert all(line in rest for line in kept), "kept lines are lines of the page, in its order"


def test_root_focus_leading_lines_and_controls_are_kept_first() -> None:
    lines = ["RootWebArea 'Long page'", *(f"\tStaticText 'paragraph number {i}'" for i in range(500))]
    lines[250] = "\t[7] textbox 'Search', clickable, focused"
    lines[480] = "\t[9] button 'Send'"
    fitted = fit("\n".join(lines), 1000)
    kept = fitted.text.split("\n")
    assert kept[:3] == lines[:3]
    for number in (*range(246, 256), 480):
        assert lines[number] in kept
    assert fitted.total_lines == 501 and 350 < fitted.dropped_lines < 450
    assert parse(fitted.text).malformed_lines == 1


def test_webarenas_tabs_and_root_stay() -> None:
    text = "Tab 0 (current): x\n\n[1] RootWebArea 'x' focused: True\n" + "\n".join(f"\t[{i}] link 'l{i}'" for i in range(99))
    assert fit(text, 100).text.startswith("Tab 0 (current): x\n\n[1] RootWebArea 'x' focused: True\n")


def test_a_line_too_long_for_the_budget_is_passed_over() -> None:
    text = "RootWebArea 'x'\n\tStaticText '" + "a" * 10_000 + "'\n\t[1] button 'OK'"
    fitted = fit(text, 100)
    assert "[1] button 'OK'" in fitted.text and fitted.dropped_lines == 1


def test_a_negative_budget_is_an_error_and_a_tiny_one_leaves_nothing() -> None:
    with pytest.raises(UsageError, match="-1"):
        fit("x", -1)
    assert fit("RootWebArea 'x'", 1).text == ""
