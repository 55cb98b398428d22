"""The heuristic on small pages of our own: which rule speaks, what it does, and that nothing makes it crash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.actions import print_action
from harness.policies import HeuristicPolicy
from harness.policies.heuristic.goal import Goal
from harness.policies.page import read_page
from harness.types import INVALID_ACTION, Observation
from tests.policies.observations import TASK, page

SUBMIT = "[90] button 'Submit'"
LOGIN = ("LabelText ''", "\tStaticText 'Username'", "[2] textbox ''", "LabelText ''", "\tStaticText 'Password'", "[4] textbox ''")


def first_action(goal: str, *lines: str) -> str:
    return actions(goal, page(*lines))[0]


def actions(goal: str, *observations: Observation) -> list[str]:
    policy = HeuristicPolicy()
    policy.reset(goal, TASK, 0)
    return [print_action(policy.act(observation).action) for observation in observations]


@pytest.mark.parametrize(
    ("goal", "lines", "expected"),
    [
        ('Click on the "no" button.', ("[1] button 'yes'", "[2] button 'no'"), 'click("2")'),
        ("Click button TWO.", ("[1] button 'ONE'", "[2] button 'TWO'"), 'click("2")'),
        ("Click the button.", ("[1] button 'Whatever'",), 'click("1")'),
        ('Close the dialog by clicking the "x".', ("[1] button 'Other'", "[2] button 'Close'"), 'click("2")'),
        ('Click on a "checkbox" widget.', ("[1] button 'checkbox'", "[2] checkbox 'a', checked='false'"), 'click("2")'),
        ("Click on Tab #2.", ("[1] tab 'Tab #1', selected=True", "[2] tab 'Tab #2', selected=False"), 'click("2")'),
        ('Enter "Ann" into the text field and press Submit.', ("[1] textbox ''", SUBMIT), 'fill("1", "Ann")'),
        ('Type "ann" in all upper case letters and press Submit.', ("[1] textbox ''", SUBMIT), 'fill("1", "ANN")'),
        ('Enter "Ann" into the text field and press Submit.', ("[1] textbox '' value='Ann'", SUBMIT), 'click("90")'),
        ('Enter the number "16" into the 2nd textbox.', ("[1] textbox ''", "[2] textbox ''"), 'fill("2", "16")'),
        ('Enter the username "ann" and the password "x1".', LOGIN, 'fill("2", "ann")'),
        ('Enter the password "x1" and the username "ann".', LOGIN, 'fill("4", "x1")'),
        (
            "Select b, c and click Submit.",
            ("[1] checkbox 'a', checked='false'", "[2] checkbox 'b', checked='false'", SUBMIT),
            'click("2")',
        ),
        (
            "Select b and click Submit.",
            ("[1] checkbox 'a', checked='true'", "[2] checkbox 'b', checked='true'", SUBMIT),
            'click("1")',
        ),
        ("Select b and click Submit.", ("[2] checkbox 'b', checked='true'", SUBMIT), 'click("90")'),
        (
            "Select Bo from the list and click Submit.",
            ("[1] combobox ''", "\t[2] option 'Al', selected=True", "\t[3] option 'Bo', selected=False", SUBMIT),
            'select_option("1", "Bo")',
        ),
        ("Check the 2nd radio button.", ("[1] radio '', checked='false'", "[2] radio '', checked='false'"), 'click("2")'),
        ("Focus into the 2nd input textbox.", ("[1] textbox ''", "[2] textbox ''"), 'focus("2")'),
        ("Enter 02/04/2012 as the date.", ("[1] Date ''", SUBMIT), 'fill("1", "2012-02-04")'),
        ("Enter 1:10 PM as the time.", ("[1] InputTime ''", SUBMIT), 'fill("1", "13:10")'),
        ("Enter 12:10 AM as the time.", ("[1] InputTime ''", SUBMIT), 'fill("1", "00:10")'),
        ("Select 03/17/2016 as the date.", ("StaticText 'Date:'", "[1] textbox ''", SUBMIT), 'click("1")'),
        (
            "Select 03/17/2016 as the date.",
            ("[1] link 'Prev'", "StaticText 'May'", "StaticText '2016'", "[2] link '17'"),
            'click("1")',
        ),
        (
            "Select 03/17/2016 as the date.",
            ("[1] link 'Prev'", "StaticText 'March'", "StaticText '2016'", "[2] link '17'"),
            'click("2")',
        ),
        ("Solve the math problem.", ("StaticText '9 x 0 ='", "[1] textbox ''", SUBMIT), 'fill("1", "0")'),
        ("Solve for x and type your answer.", ("StaticText '2 + x = 43'", "[1] textbox ''", SUBMIT), 'fill("1", "41")'),
        ("Solve the math problem.", ("StaticText '4 / 0 ='", "[1] textbox ''", SUBMIT), 'click("90")'),
        ("Generate a number less than 6, then press submit.", ("StaticText '7'", "[1] button 'Generate'", SUBMIT), 'click("1")'),
        ("Generate a number less than 6, then press submit.", ("StaticText '5'", "[1] button 'Generate'", SUBMIT), 'click("90")'),
        ("Buy RED stock when the price is less than $54.30.", ("StaticText '$60.00'", "[1] button 'Buy'"), "noop(wait_ms=500)"),
        ("Buy RED stock when the price is less than $54.30.", ("StaticText '$54.20'", "[1] button 'Buy'"), 'click("1")'),
        (
            "Buy the ticket with the shortest duration.",
            ("StaticText '3h'", "[1] button 'Book for $9'", "StaticText '2h 5m'", "[2] button 'Book for $90'"),
            'click("2")',
        ),
        (
            "Buy the ticket with the cheapest cost.",
            ("StaticText '3h'", "[1] button 'Book for $9'", "StaticText '2h 5m'", "[2] button 'Book for $90'"),
            'click("1")',
        ),
        ("Mark the numbers as odd or even.", ("[1] button 'Odd'", "StaticText '-3'", "[2] button 'Even'"), 'click("1")'),
        (
            "Sort the numbers in increasing order.",
            ("[1] listitem ''", "\tStaticText '5'", "[2] listitem ''", "\tStaticText '-1'", SUBMIT),
            'drag_and_drop("2", "1")',
        ),
        (
            "Enter the value of Gender.",
            ("[1] row ''", "\t[2] cell 'Gender'", "\t[3] cell 'Male'", "[4] textbox ''", SUBMIT),
            'fill("4", "Male")',
        ),
        (
            "Find the 2nd word in the paragraph, type that into the textbox.",
            ("StaticText 'One two, three.'", "[1] textbox ''"),
            'fill("1", "two")',
        ),
        (
            "Copy the text in the textarea below, paste it into the textbox.",
            ("[1] textbox '' value='a b '", "[2] textbox ''"),
            'fill("2", "a b ")',
        ),
        ("Select File>Save", ("[1] menuitem 'File', hasPopup='menu'",), 'hover("1")'),
        ("Select File>Save", ("[1] menuitem 'File', hasPopup='menu'", "[2] menuitem 'Save'"), 'click("2")'),
        (
            "How many digits are there?",
            ("StaticText '1'", "StaticText 'a'", "StaticText '2'", "[1] button '3'", "[2] button '2'"),
            'click("2")',
        ),
        ("Do something else entirely.", ("[1] button 'a'", "[2] button 'b'"), "noop(wait_ms=500)"),
    ],
)
def test_first_action(goal: str, lines: tuple[str, ...], expected: str) -> None:
    assert first_action(goal, *lines) == expected


def test_a_sequence_follows_the_goals_order() -> None:
    shown = page("[2] button 'TWO'", "[1] button 'ONE'")
    assert actions("Click button ONE, then click button TWO.", shown, shown) == ['click("1")', 'click("2")']


def test_guessing_halves_the_interval() -> None:
    def shown(hint: str, value: str = "") -> Observation:
        return page(f"StaticText '{hint}'", f"[1] spinbutton '' value='{value}'", SUBMIT)

    done = actions(
        "Guess the number between 0-9 and press Submit.",
        shown("Waiting"),
        shown("Waiting", "4"),
        shown("The number is higher than 4.", "4"),
    )
    assert done == ['fill("1", "4")', 'click("90")', 'fill("1", "7")']


def test_a_popup_over_the_form_is_refused() -> None:
    form = page("StaticText 'Name'", "[1] textbox ''", "[3] button 'OK'")
    covered = page("[1] textbox '', disabled=True", "[3] button 'OK', disabled=True", "[7] button 'OK'", "[8] button 'Cancel'")
    assert actions('Enter "Ann" and press OK.', form, covered) == ['fill("1", "Ann")', 'click("8")']


def test_an_action_without_effect_is_not_repeated_for_ever() -> None:
    stuck = page("[1] button 'Go'")
    done = actions('Click on the "Go" button.', *([stuck] * 8))
    assert done[:2] == ['click("1")', 'click("1")']
    assert 'report_infeasible("no rule applies")' in done
    assert done.count('click("1")') <= 4


def test_a_reset_forgets() -> None:
    policy = HeuristicPolicy()
    shown = page("[1] button 'ONE'", "[2] button 'TWO'")
    for _ in range(2):
        policy.reset("Click button ONE, then click button TWO.", TASK, 0)
        assert print_action(policy.act(shown).action) == 'click("1")'


def test_the_output_names_its_rule() -> None:
    policy = HeuristicPolicy()
    policy.reset("Click button ONE.", TASK, 0)
    assert policy.act(page("[1] button 'ONE'", "[2] button 'TWO'")).text == "rule: click_named"


GOALS = st.text(max_size=60) | st.sampled_from(
    [
        'Enter "',
        "Select [ and click Submit.",
        "Solve 2 / x = 5",
        "Enter 99/99/0000 as the date",
        "Click the 999999999999999999999th checkbox",
        "Set the sliders to the combination [-,,9] and submit.",
        "Guess the number between 9-0",
        "Drag ( up by zero",
        "Find the 0th word in the paragraph",
        "Mark the numbers as odd or even",
        "Sort the numbers in increasing order",
        "Buy the ticket with the cheapest cost",
        "Buy RED stock when the price is less than $1.2.3",
        "Select " + "9" * 5000 + " with the slider",
    ]
)
LINES = st.lists(
    st.text(max_size=30)
    | st.sampled_from(
        [
            "\t[1] textbox ''",
            "\t[1] spinbutton '' value='nan'",
            "\tStaticText '1 / 0 = 5'",
            "\tStaticText 'x / x = 5'",
            "\tStaticText '²'",
            "\tStaticText '--5'",
            "\tStaticText '$1.2.3'",
            "\tStaticText '" + "9" * 5000 + "'",
            "\t[7] button 'Odd'",
            "\t[8] button 'Buy'",
            "\t[2] checkbox '', checked='mixed'",
            "\t\t[3] button 'Generate'",
            "\t[4] Date ''",
            "\t[5] listitem ''",
            "\t[6] button 'Buy $1.2.3'",
        ]
    ),
    max_size=8,
)


@given(GOALS, LINES)
def test_no_goal_and_no_page_make_it_crash(goal: str, lines: list[str]) -> None:
    policy = HeuristicPolicy()
    policy.reset(goal, TASK, 0)
    shown = page().model_copy(update={"axtree": "\n".join(["RootWebArea 'x'", *lines])})
    for _ in range(3):
        assert policy.act(shown).action.name != INVALID_ACTION


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Select a, b and c and click Submit.", ("a", "b", "c")),
        ("Select Ann from the list and click Submit.", ("Ann",)),
        ("Choose 5ft 10in from the dropdown, then click OK.", ("5ft 10in",)),
        ("Click the button.", ()),
    ],
)
def test_lists_in_goals(text: str, listed: tuple[str, ...]) -> None:
    assert Goal(text).listed == listed


def test_quotes_to_write_and_quotes_to_press() -> None:
    goal = Goal('Use the textbox to enter "Ann" and press "Search", then click the 4th result.')
    assert [quote.text for quote in goal.written] == ["Ann"]
    assert goal.pressed == ("Search",)
    assert goal.ordinal == 4


def test_a_field_is_labelled_by_the_text_before_it_not_by_its_own_value() -> None:
    shown = read_page(page("[1] row ''", "\t[2] rowheader 'Year'", "\t[3] cell '2002'", "\t\t[4] textbox '' value='2002'").axtree)
    (field,) = shown.fields()
    assert shown.label(field) == "Year"
