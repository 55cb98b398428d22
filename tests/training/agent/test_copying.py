"""Steps told again with other names: what the goal names is copied, what belongs to the site or has a meaning stays."""

from __future__ import annotations

import re

from training.agent.copying import told_again
from training.world_model.sft.rows import Row

PEOPLE = ("Imogen", "Felix", "Ramona", "Casper", "Ursula", "Silas", "Otto", "Juno")


def choose(number: int) -> Row:
    person, other = f"{PEOPLE[number % 8]}{'a' * (number // 8)}", f"x{number}Q"
    return Row(
        "transition",
        f'goal "Select {person} from the list and click Submit."\nat choose-list.html "Choose List"\n'
        f'option "{person}" selected\noption "{other}"\nbutton "Submit"',
        f'select combobox "" "{person}"',
    )


def test_a_name_changes_everywhere_or_nowhere_and_the_words_of_the_site_stay() -> None:
    known = [choose(number) for number in range(60)]
    found = list(told_again(known, 3, seed=0))
    assert len(found) == 180
    for row in found:
        chosen = re.fullmatch(r'select combobox "" "(\w+)"', row.completion)[1]  # type: ignore[index]
        assert re.fullmatch(
            rf'goal "Select {chosen} from the list and click Submit\."\nat choose-list\.html "Choose List"\n'
            rf'option "{chosen}" selected\noption "\w+"\nbutton "Submit"',
            row.prompt,
        )
    assert sum(row.completion != known[n % 60].completion for n, row in enumerate(found)) > 120, "four in five"
    chosen = {row.completion for row in found}
    assert len(chosen - {row.completion for row in known}) > 60, "half of the changes are names that nobody has heard"
    assert len(chosen & {row.completion for row in known}) > 40, "the others are names of other steps"


def test_the_case_in_which_a_name_is_said_is_kept() -> None:
    """`Type "Kasie" in all upper case letters` would be a lie otherwise."""
    known = [
        Row("transition", f'goal "Type \\"{person}{n}\\" in upper case."\nat x.html', f'fill textbox "" "{person.upper()}{n}"')
        for n, person in enumerate(PEOPLE * 8)
    ]
    found = list(told_again(known, 2, seed=0))
    for row in found:
        said = re.search(r'Type \\"(\w+)\\"', row.prompt)[1]  # type: ignore[index]
        assert row.completion == f'fill textbox "" "{said.upper()}"'
    assert sum(row.completion != known[n % 64].completion for n, row in enumerate(found)) > 80


def test_what_only_the_goal_says_and_a_number_said_once_keep_their_meaning() -> None:
    """The day of a date is spelt otherwise where it is clicked, and `4th` says which field to focus."""
    known = [
        Row(
            "transition",
            f'goal "Focus field q{n}th on 12/{n}/2016"\nat x.html\nlink "{n}{n}"\nlink "Name{n}" ',
            'focus textbox "" 2/3',
        )
        for n in range(10, 90)
    ]
    found = list(told_again(known, 1, seed=0))
    for before, row in zip(known, found, strict=True):
        assert row.prompt.split("\n")[:3] == before.prompt.split("\n")[:3]
    assert sum(row.prompt != before.prompt for before, row in zip(known, found, strict=True)) > 40, "names on the page change"


def test_it_is_a_function_of_the_seed_and_leaves_rows_without_names_alone() -> None:
    known = [choose(number) for number in range(60)]
    assert list(told_again(known, 2, seed=1)) == list(told_again(known, 2, seed=1)) != list(told_again(known, 2, seed=2))
    assert list(told_again(known, 0, seed=0)) == []
    same = Row("transition", 'goal "Click the button."\nat click-test.html\nbutton "Click Me!"', 'click button "Click Me!"')
    assert (
        list(told_again([same._replace(prompt=same.prompt.replace("button.", f"button {n}.")) for n in range(9)], 5, seed=0))
        == []
    )
