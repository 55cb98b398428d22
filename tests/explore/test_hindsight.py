"""The rules name what a walk achieved, and nothing that it did not."""

from __future__ import annotations

import pytest

from results.hindsight import label_walk
from results.labels import HindsightLabel
from tests.explore.walks import Seen, seen, walk

HOME = seen("/", "Home | Loom", "[1] heading 'Welcome'", "[2] textbox 'Search'", "[3] button 'Search'", "[4] link 'Brass Lamp'")
TYPED = seen(
    "/",
    "Home | Loom",
    "[1] heading 'Welcome'",
    "[2] textbox 'Search' value='bread'",
    "[3] button 'Search'",
    "[4] link 'Brass Lamp'",
)
FOUND = seen("/search?q=bread", "bread | Loom", "[1] heading 'Results for bread'", "[5] link 'Bread knife'")
LAMP = seen("/things/brass-lamp_5/", "Brass Lamp | Loom", "[1] heading 'Brass Lamp'", "[6] button 'Add to basket'")
ADDED = seen(
    "/things/brass-lamp_5/", "Brass Lamp | Loom", "[9] alert 'Brass Lamp has been added'", "[1] heading 'Brass Lamp'",
    "[6] button 'Add to basket'",
)  # fmt: skip
TICKETS = seen("/report/1", "Open tickets – Desk", "[1] heading 'Open tickets'", "[2] link '#12'", "[3] link 'Printer jams'")
TICKET = seen("/ticket/12", "#12 (Printer jams) – Desk", "[1] heading '#12 (Printer jams)'")
ORDERS = seen("/orders", "Orders", "[1] heading 'Orders'", "[2] link 'View'")
ORDER = seen("/orders/7", "Order 7", "[1] heading 'Order 7'")
FORM = seen("/new", "New ticket", "[1] textbox 'Title'", "[2] combobox 'Kind'", "\t[3] option 'bug'", "[4] button 'Create'")
FORM_1 = seen(
    "/new", "New ticket", "[1] textbox 'Title' value='Lamp'", "[2] combobox 'Kind'", "\t[3] option 'bug'", "[4] button 'Create'"
)
FORM_2 = seen(
    "/new", "New ticket", "[1] textbox 'Title' value='Lamp'", "[2] combobox 'Kind' value='bug'", "\t[3] option 'bug'",
    "[4] button 'Create'",
)  # fmt: skip
REFUSED = seen("/new", "New ticket", "[9] alert 'Error: Title is required'", *FORM_2.lines)
LIST = seen(
    "/things", "Things | Loom", "[1] heading 'Things'",
    "[2] article ''", "\t[3] heading 'Oak Stool'", "\t[4] button 'Add to basket'",
    "[5] article ''", "\t[6] heading 'Tin Mug'", "\t[7] button 'Add to basket'",
)  # fmt: skip
LISTED = seen("/things", "Things | Loom", *LIST.lines, "[8] alert 'Tin Mug has been added'")
BOX = seen("/prefs", "Preferences", "[1] checkbox 'Weekly letter', checked='false'", "[2] tab 'Advanced', selected=False")
BOX_ON = seen("/prefs", "Preferences", "[1] checkbox 'Weekly letter', checked='true'", "[2] tab 'Advanced', selected=False")
BOX_TAB = seen("/prefs", "Preferences", "[1] checkbox 'Weekly letter', checked='true'", "[2] tab 'Advanced', selected=True")


def goals(*script: Seen | str) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(label.goal, label.steps, label.needed_steps) for label in label_walk(walk(*script))]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            (HOME, 'fill("2", "bread")', TYPED, 'click("3")', FOUND),
            [("Write 'bread' into 'Search'", 1, (0,)), ("Search for 'bread'", 2, (0, 1))],
            id="a field and its button",
        ),
        pytest.param((HOME, 'type("2", "bread")', FOUND), [("Search for 'bread'", 1, (0,))], id="typed and sent at once"),
        pytest.param(
            (HOME, 'click("4")', LAMP, 'click("6")', ADDED),
            [("Open the page 'Brass Lamp'", 1, (0,)), ("Add 'Brass Lamp' to the basket", 2, (1,))],
            id="a page, then its button",
        ),
        pytest.param((LIST, 'click("7")', LISTED), [("Add 'Tin Mug' to the basket", 1, (0,))], id="one of several items"),
        pytest.param((TICKETS, 'click("3")', TICKET), [("Open the ticket #12 'Printer jams'", 1, (0,))], id="a numbered page"),
        pytest.param((ORDERS, 'click("2")', ORDER), [("Open the order #7", 1, (0,))], id="a number says it all"),
        pytest.param(
            (FORM, 'fill("1", "Lamp")', FORM_1, 'select_option("2", "bug")', FORM_2, 'click("4")', TICKET),
            [
                ("Write 'Lamp' into 'Title'", 1, (0,)),
                ("Choose 'bug' in 'Kind'", 2, (1,)),
                ("Fill in 'Title' with 'Lamp' and 'Kind' with 'bug', then press 'Create'", 3, (0, 1, 2)),
            ],
            id="a form",
        ),
        pytest.param(
            (BOX, 'click("1")', BOX_ON, 'click("2")', BOX_TAB, 'click("1")', seen("/prefs", "Preferences", *BOX.lines)),
            [
                ("Tick 'Weekly letter'", 1, (0,)),
                ("Open 'Advanced' on the page 'Preferences'", 2, (1,)),
                ("Untick 'Weekly letter'", 3, (2,)),
            ],
            id="boxes and tabs",
        ),
        pytest.param((HOME, '!click("4")', LAMP), [], id="an action that failed achieved nothing"),
        pytest.param((HOME, 'click("4")', HOME), [], id="nor did one that changed nothing"),
        pytest.param((HOME, "go_back()", LAMP), [], id="going back is no goal"),
        pytest.param(
            (HOME, 'click("4")', LAMP, "go_back()", HOME, 'click("4")', LAMP),
            [("Open the page 'Brass Lamp'", 1, (0,))],
            id="once per walk, where it was first reached",
        ),
    ],
)
def test_golden_walks(script: tuple[Seen | str, ...], expected: list[tuple[str, int, tuple[int, ...]]]) -> None:
    assert goals(*script) == expected


def sent(*script: Seen | str) -> HindsightLabel:
    return next(label for label in label_walk(walk(*script)) if label.kind == "send")


def test_a_form_that_was_refused_is_doubted() -> None:
    fill = (FORM, 'fill("1", "Lamp")', FORM_1, 'click("4")')
    assert sent(*fill, REFUSED).confidence < 0.5 <= sent(*fill, TICKET).confidence


def test_detours_cost_confidence() -> None:
    direct = label_walk(walk(HOME, 'click("4")', LAMP))
    wander = label_walk(walk(HOME, "scroll(0, 10)", HOME, "scroll(0, 10)", HOME, 'click("4")', LAMP))
    assert wander[0].goal == direct[0].goal
    assert (wander[0].steps, wander[0].needed_steps) == (3, (2,))
    assert wander[0].confidence < direct[0].confidence


def test_the_evidence_says_what_changed() -> None:
    (label,) = label_walk(walk(LAMP, 'click("6")', ADDED))
    assert label.evidence == ('An alert "Brass Lamp has been added" appeared.',)


def test_words_of_a_page_stay_words() -> None:
    """A page whose texts are long, broken or full of quotes gives a label of bounded size, or none."""
    nasty = "x'\\\" {} </walk> " * 500
    page = seen("/", "Home", "[1] heading 'Home'", f"[2] button {nasty!r}")
    after = seen("/", "Home", "[1] heading 'Home'", f"[2] button {nasty!r}", "StaticText 'done'")
    for label in label_walk(walk(page, 'click("2")', after)):
        assert len(label.goal) <= 300
        assert "\n" not in label.goal
