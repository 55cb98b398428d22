"""An oracle's hands on pages given as trees: what it finds, in which order, and what it says when it is lost."""

from __future__ import annotations

import re
from random import Random

import pytest

from harness.benchmarks.arena.hands import PATIENCE, Hands, OracleLost
from harness.types import Observation, OpenPage

PAGE = """RootWebArea 'Shop'
\t[1] navigation 'Main'
\t\t[2] link 'Basket'
\t[3] table ''
\t\t[4] row ''
\t\t\t[5] cell 'Blue mug'
\t\t\t\tStaticText 'Blue mug'
\t\t\t[6] cell ''
\t\t\t\t[7] button 'Remove'
\t\t[8] row ''
\t\t\t[9] cell 'Red  mug'
\t\t\t\tStaticText 'Red mug'
\t\t\t[10] cell '£4.20'
\t\t\t\tStaticText '£4.20'
\t\t\t\t[11] button 'Remove'
\t[12] textbox 'Search'
\t[13] combobox 'Sort by'
\t[14] link 'Basket'"""


def hands(tree: str = PAGE, pages: tuple[str, ...] = ("http://shop.localhost:1/",)) -> Hands:
    o = Hands(Random(0), "http://shop.localhost:1/", {"shop": "http://shop.localhost:1/", "forum": "http://forum.localhost:2/"})
    tabs = tuple(OpenPage(url=url, title="") for url in pages)
    o.see(Observation(url=pages[0], axtree=tree, open_pages=tabs))
    return o


def only(steps) -> tuple[str, dict]:  # type: ignore[no-untyped-def,type-arg]
    (action,) = list(steps)
    return action.name, action.arguments


def test_near_picks_the_element_of_the_row_that_shows_the_text() -> None:
    assert only(hands().click("button", "remove", near="Red mug")) == ("click", {"bid": "11"})
    assert only(hands().click("button", "Remove", near="Blue mug")) == ("click", {"bid": "7"})


def test_within_and_nth_limit_the_choice() -> None:
    o = hands()
    assert only(o.click("link", "Basket", nth=1)) == ("click", {"bid": "14"})
    assert [e.bid for e in o.find("link", "Basket", within=("navigation", re.compile("^Ma")))] == ["2"]
    assert o.find("link", "Basket", within="form") == []


def test_fields_are_typed_into_and_searched() -> None:
    o = hands()
    assert only(o.fill("textbox", "Search", "mug"))[1] == {"bid": "12", "text": "mug", "press_enter": False}
    assert only(o.search("textbox", "Search", "mug"))[1] == {"bid": "12", "text": "mug"}
    assert only(o.select("Sort by", "Price"))[0] == "select_option"


def test_reading() -> None:
    o = hands()
    assert o.row("red mug") == ["Red mug", "£4.20"]
    assert o.line(r"£\d") == "£4.20"
    assert (found := o.match(r"Red mug\n£([\d.]+)")) is not None
    assert found[1] == "4.20"
    assert o.row("green mug") == []


def test_text_is_read_by_pattern_or_named_as_missing() -> None:
    def script(o: Hands, pattern: str):  # type: ignore[no-untyped-def]
        text = yield from o.read(pattern)
        yield from o.stop(text)

    assert only(script(hands(), r"Red mug\n£([\d.]+)"))[1] == {"text": "4.20"}
    with pytest.raises(OracleLost, match=r"no text like 'green'.*begins with \['Blue mug'"):
        list(script(hands(), "green"))


def test_a_missing_target_is_waited_for_and_then_named() -> None:
    steps = hands().click("button", "Buy")
    for _ in range(PATIENCE):
        assert next(steps).name == "noop"
    with pytest.raises(OracleLost, match=r"no button 'Buy'.*there are 2: \['Remove', 'Remove'\]"):
        next(steps)


def test_a_target_that_appears_while_waiting_is_taken() -> None:
    o = hands()
    steps = o.click("button", "Buy")
    assert next(steps).name == "noop"
    o.see(Observation(url="http://shop.localhost:1/", axtree="RootWebArea 'Shop'\n\t[5] button 'Buy'"))
    assert next(steps).arguments == {"bid": "5"}


def test_another_site_is_reached_by_its_tab_or_its_address() -> None:
    both = ("http://shop.localhost:1/basket/", "http://forum.localhost:2/t/1")
    assert only(hands(pages=both).open("forum")) == ("tab_focus", {"index": 1})
    assert list(hands(pages=both).open("shop")) == []
    assert only(hands().open("forum")) == ("goto", {"url": "http://forum.localhost:2/"})
