"""What a policy is shown: within the budget, by a stated rule, in the words that it must use."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.actions import make_action
from harness.axtree import approximate_tokens
from harness.predictions import PastStep
from harness.rollout import with_target
from harness.types import Action, Observation, OpenPage
from training.agent.view import view

TREE = """RootWebArea 'Lamps'
\t[1] link 'Home'
\t[2] heading 'Lamps'
\t[3] textbox 'Search' value='desk'
\t[4] link 'Green lamp'
\t\tStaticText 'Green lamp'
\t[5] button 'Buy'
\t[6] button 'Buy'
\tStaticText 'Only text'
\tStaticText '\ue001'
\t[7] checkbox 'Gift', checked='true'
\t[8] generic ''
"""
PAGE = Observation(url="http://shop.test/lamps?page=2", title="All lamps", axtree=TREE)


def shown(budget: int = 1000, page: Observation = PAGE, history: tuple[PastStep, ...] = ()) -> list[str]:
    return view("Buy a green lamp", page, history, count_tokens=approximate_tokens, max_tokens=budget).text.splitlines()


def test_a_page_in_the_words_that_a_policy_must_use() -> None:
    assert shown() == [
        'goal "Buy a green lamp"',
        'at /lamps?page=2 "All lamps"',
        'link "Home"',
        'heading "Lamps"',
        'textbox "Search" = "desk"',
        'link "Green lamp"',
        'button "Buy" 1/2',
        'button "Buy" 2/2',
        'text "Only text"',
        'checkbox "Gift" checked=true',
    ]


def test_where_a_file_lies_is_not_shown() -> None:
    assert (
        shown(page=PAGE.model_copy(update={"url": "file:///somewhere/miniwob/click-test.html"}))[1]
        == 'at click-test.html "All lamps"'
    )


def test_a_value_is_said_once_and_the_past_tells_namesakes_apart() -> None:
    page = Observation(
        url="http://x.test/", title="t",
        axtree="RootWebArea 't'\n\t[1] textbox '' value='ab'\n\t\t[3] generic ''\n\t\tStaticText 'ab'\n\t[2] textbox ''",
    )  # fmt: skip
    past = PastStep(observation=page, action=with_target(make_action("fill", {"bid": "2", "value": "c"}), page))
    assert shown(page=page, history=(past,))[2:] == ['past fill textbox "" 2/2 "c"', 'textbox "" 1/2 = "ab"', 'textbox "" 2/2']


def test_what_does_not_fit_goes_by_the_rule() -> None:
    """Fields, headings and what is checked stay; then words of the goal; then what can be acted on; then text."""
    found = view("Buy a green lamp", PAGE, (), count_tokens=approximate_tokens, max_tokens=62)
    lines = found.text.splitlines()
    assert {'heading "Lamps"', 'textbox "Search" = "desk"', 'checkbox "Gift" checked=true'} <= set(lines)
    assert 'text "Only text"' not in lines
    assert found.dropped_lines == 10 - len(lines)
    tight = shown(45)
    assert 'heading "Lamps"' in tight
    assert 'link "Home"' not in tight


def test_the_past_the_last_error_and_the_tabs() -> None:
    action = with_target(make_action("fill", {"bid": "3", "value": "desk"}), PAGE)
    past = (
        PastStep(observation=PAGE, action=action),
        PastStep(observation=PAGE, action=Action(name="invalid", error="parse: x")),
    )
    pages = (OpenPage(url="a", title="One"), OpenPage(url="b", title="Two"))
    page = PAGE.model_copy(update={"last_action_error": "there is no\nbutton", "open_pages": pages, "active_page_index": 1})
    lines = shown(page=page, history=past)
    assert lines[2:6] == [
        'tabs "One" "Two" active 1',
        "error there is no button",
        'past fill textbox "Search" "desk"',
        "past unreadable",
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=90), max_size=30),
    st.text(max_size=2000),
    st.integers(400, 900),
    st.text(max_size=200),
)
def test_the_budget_holds_whatever_the_page_says(names: list[str], goal: str, budget: int, title: str) -> None:
    tree = "\n".join(["RootWebArea ''", *(f"\t[{k}] link {name!r}" for k, name in enumerate(names))])
    page = Observation(url="http://x.test/" + "y" * 300, title=title, axtree=tree)
    found = view(goal, page, (), count_tokens=approximate_tokens, max_tokens=budget)
    used = sum(approximate_tokens(line + "\n") for line in found.text.splitlines())
    assert used <= max(budget, sum(approximate_tokens(line + "\n") for line in found.text.splitlines()[:2]))
