"""What two recordings of a page may differ in, and nothing else."""

from __future__ import annotations

from harness.axtree import parse
from harness.benchmarks.arena.volatile import steady, volatile

PAGE = """RootWebArea 'Ticket', focused{busy}
\t[5] radio 'leave', checked='true'
\t[6] LabelText ''{text}
\t[7] StaticText 'as reopened'
\t[9] paragraph ''
\t\tStaticText '{comment}'
"""


def page(busy: str = "", text: str = "", comment: str = "Leave it.") -> str:
    return PAGE.format(busy=busy, text=text, comment=comment)


def test_a_page_still_loading_and_a_label_s_own_text_make_no_difference() -> None:
    plain = steady(parse(page()))
    assert steady(parse(page(busy=", busy=1"))) == plain
    assert steady(parse(page(text="\n\t\tStaticText 'leave'"))) == plain
    assert "LabelText" in plain.to_text() and "as reopened" in plain.to_text()


def test_everything_else_does() -> None:
    assert steady(parse(page(comment="Take it."))) != steady(parse(page()))
    assert steady(parse(page().replace("checked='true'", "checked='false'"))) != steady(parse(page()))


def test_what_stood_below_is_gone_and_what_follows_keeps_its_place() -> None:
    deep = parse(page(text="\n\t\tStaticText 'leave'\n\t\t\tStaticText 'it'"))
    assert steady(deep) == steady(parse(page()))


def test_the_list_is_short() -> None:
    assert len(volatile().nodes) + len(volatile().properties) <= 5
