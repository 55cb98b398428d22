"""Navigation: pages opened from the memory, what is done without the model, and labels made as a later episode would."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.predictions import PastStep
from harness.types import OpenPage
from tests.training.formats.shop import TAIL, act, edited, example, home, page, product, query
from tests.training.formats.test_edits import same_tree, taught
from training.world_model.formats import get_format
from training.world_model.formats.opening import abstract, concrete, last_parts, parts_of, tail_of
from training.world_model.formats.rows import build_rows, learn, left_out, remember
from training.world_model.labels import DiffLabeler
from training.world_model.memory import PageMemory

BRASS, CLAY = product("Brass Lamp", 7, "£26.25"), product("Clay Lamp", 12, "£9.50")


def memory_of(*pages) -> PageMemory:
    memory = PageMemory()
    for number, seen in enumerate(pages):
        memory.add(seen, "shop", f"r/e{number}")
    return memory


def test_a_remembered_page_is_opened_by_kind_and_title() -> None:
    before = home()
    asked = query(before, act(before, "click", "20"))
    memory = memory_of(BRASS, CLAY)
    text = taught(asked, BRASS, memory)
    assert text == 'open /catalogue/*_N/ "{it}" ~1'
    reading = get_format("edits", memory=memory).read(asked, text)
    assert reading.next_observation is not None
    assert same_tree(reading.next_observation, BRASS)
    assert (reading.next_observation.url, reading.next_observation.title) == (BRASS.url, BRASS.title)
    assert reading.next_observation.open_pages == (OpenPage(url=BRASS.url, title=BRASS.title),)
    assert reading.retrieved == "title shop.localhost/catalogue/brass-lamp_7/"


def test_another_instance_of_the_site_shares_the_memory_and_keeps_its_port() -> None:
    before = home(port=8130)
    reading = get_format("edits", memory=memory_of(CLAY)).read(
        query(before, act(before, "click", "21")), 'open /catalogue/*_N/ "{it}" ~1'
    )
    assert reading.next_observation is not None
    assert reading.next_observation.url == "http://shop.localhost:8130/catalogue/clay-lamp_12/"


def test_the_header_keeps_what_the_present_page_shows() -> None:
    before = home(basket="£9.50")
    reading = get_format("edits", memory=memory_of(BRASS)).read(
        query(before, act(before, "click", "20")), 'open /catalogue/*_N/ "{it}" ~1'
    )
    assert reading.next_observation is not None
    assert "StaticText '£9.50'" in reading.next_observation.axtree


def test_an_unseen_page_of_a_known_kind_is_made_from_one_of_its_kind() -> None:
    before = home()
    asked = query(before, act(before, "click", "21"))
    memory = memory_of(BRASS)
    reading = get_format("edits", memory=memory).read(asked, 'open /catalogue/*_N/ "{it}" ~1\nname "£26.25" to "£9.50"')
    assert reading.next_observation is not None and reading.malformed == ""
    assert reading.retrieved.startswith("similar ")
    assert same_tree(reading.next_observation, CLAY)
    assert reading.next_observation.url == "http://shop.localhost:8100/catalogue/clay-lamp_0/"


def test_nothing_is_claimed_about_a_kind_of_page_never_seen() -> None:
    before = home()
    reading = get_format("edits", memory=memory_of(BRASS)).read(
        query(before, act(before, "click", "20")), 'open /catalogue/new/arrivals/ "Arrivals" ~1'
    )
    assert reading.next_observation is not None and reading.retrieved.startswith("frame ")
    assert "Basket total" in reading.next_observation.axtree
    assert "Brass Lamp" not in reading.next_observation.axtree
    assert reading.next_observation.title == "Arrivals" + TAIL


def test_no_memory_no_page() -> None:
    before = home()
    reading = get_format("edits").read(query(before, act(before, "click", "20")), 'open /about "About" ~1')
    # The present page itself is known: another page of the site is not made up from it.
    assert reading.next_observation is None
    assert "remembered" in reading.malformed


def test_going_back_shows_the_page_of_this_episode_not_of_training() -> None:
    first = edited(home(), ("In stock", "Only what is in stock"))
    asked = query(BRASS, act(BRASS, "go_back"), PastStep(observation=first, action=act(first, "click", "20")))
    memory = memory_of(home())
    text = taught(asked, first, memory)
    assert text.splitlines()[0] == "back"
    reading = get_format("edits", memory=memory).read(asked, text)
    assert reading.next_observation is not None and reading.next_observation.url == first.url
    assert reading.retrieved.startswith("history exact")
    assert same_tree(reading.next_observation, first)


def test_tabs() -> None:
    other = page("/other", "Other", "StaticText 'x'")
    tabs = (OpenPage(url=BRASS.url, title=BRASS.title), OpenPage(url=other.url, title=other.title))
    first = BRASS.model_copy(update={"open_pages": tabs})
    second = other.model_copy(update={"open_pages": tabs, "active_page_index": 1})
    asked = query(first, act(first, "tab_focus", index=1))
    memory = memory_of(other, BRASS)
    assert taught(asked, second, memory) == "tab 1"
    reading = get_format("edits", memory=memory).read(asked, "tab 1")
    assert reading.next_observation is not None
    assert (reading.next_observation.active_page_index, reading.next_observation.url) == (1, other.url)
    closed = get_format("edits", memory=memory).read(query(second, act(second, "tab_close")), "tab close 0")
    assert closed.next_observation is not None and closed.next_observation.open_pages == tabs[:1]


def test_a_jump_on_the_page_keeps_the_page() -> None:
    after = BRASS.model_copy(
        update={"url": BRASS.url + "#reviews", "open_pages": (OpenPage(url=BRASS.url + "#reviews", title=BRASS.title),)}
    )
    asked = query(BRASS, act(BRASS, "click", "31"))
    text = taught(asked, after, memory_of(CLAY))
    assert text.startswith("keep ")
    reading = get_format("edits", memory=memory_of(CLAY)).read(asked, text)
    assert reading.next_observation is not None and same_tree(reading.next_observation, after)


def test_only_foreseeable_exceptions_are_taught() -> None:
    """The alert's words and the price stood on the page before; the new text stood nowhere."""
    before = edited(home(), ("[22] checkbox 'In stock'", "[22] checkbox 'Lamp now sold out £9.50'"))
    changed = edited(CLAY, ("A fine Clay Lamp.", "Baked twice."), ("\t[30]", "\t[60] alert 'Lamp sold out'\n\t[30]"))
    asked = query(before, act(before, "click", "21"))
    lines = taught(asked, changed, memory_of(BRASS), exception_tokens=60).splitlines()
    assert lines[1:] == ['add after heading "{it}"', ' StaticText "£9.50"', ' alert "Lamp sold out"']
    assert len(taught(asked, changed, memory_of(BRASS), exception_tokens=0).splitlines()) == 1


def test_nodes_of_the_page_that_opens_are_not_named_where_the_model_cannot_know_them() -> None:
    """The remembered lamp has a price and a maker that no prompt shows."""
    other = edited(BRASS, ("[30]", "[61] link 'Ironworks of Aldermarsh'\n\t\t[30]"))
    asked = query(home(), act(home(), "click", "21"))
    assert len(taught(asked, CLAY, memory_of(other), exception_tokens=200).splitlines()) == 1


def episodes():
    """Two episodes that click the same link; only the second has seen another price."""
    for name, price in (("e1", "£26.25"), ("e2", "£27.00")):
        before, after = home(), product("Brass Lamp", 7, price)
        yield example(before, act(before, "click", "20"), after, episode=name)


def test_a_label_is_made_with_the_memory_of_other_episodes() -> None:
    """With its own page in the memory every label would be a perfect hit; the first episode's must name the other price."""
    memory = remember(episodes())
    form = get_format("edits", memory=memory, rationale=False, exception_tokens=400)
    assert len(memory) == 4
    targets = learn(episodes(), form, DiffLabeler())
    rows = list(build_rows(episodes(), form, targets))
    assert [row.target.splitlines()[0] for row in rows] == ['open /catalogue/*_N/ "{it}" ~1'] * 2
    for item, target, known in zip(episodes(), targets, ("£27.00", "£26.25"), strict=True):
        own = f"r/{item.provenance['episode']}"
        reading = form.with_memory(memory.without(own)).read(item.query, str(target).splitlines()[0])
        assert reading.next_observation is not None and known in reading.next_observation.axtree


def test_a_prompt_shows_what_others_found_never_its_own_answer() -> None:
    memory = remember(episodes())
    form = get_format("edits", memory=memory, rationale=False)
    learn(episodes(), form, DiffLabeler())
    [first, _] = episodes()
    assert [link.episode for link in memory.without("r/e1").links(first.query, 9)] == ["r/e2"]
    assert 'seen open /catalogue/*_N/ "{it}" ~1' in form.prompt(first.query)
    assert "seen" not in form.with_memory(memory.without("r/e1").without("r/e2")).prompt(first.query)


def test_rejected_rows_are_left_out_and_counted() -> None:
    class Refuses(DiffLabeler):
        def label(self, asked, next_observation, *, terminal=False):
            from training.world_model.labels import Rejected

            self.rejects["unreadable"] += 1
            raise Rejected("unreadable", "no")

    labeler = Refuses()
    form = get_format("edits", memory=remember(episodes()))
    assert list(build_rows(episodes(), form, learn(episodes(), form, labeler))) == []
    assert labeler.rejects == Counter(unreadable=2)


@pytest.mark.parametrize(
    ("one", "other", "tail"),
    [
        ("A | Shop", "B | Shop", " | Shop"),
        ("A", "B", ""),
        ("X | D | Shop - Good", "Y | D | Shop - Good", " | D | Shop - Good"),
        ("A - x", "B - y", ""),
    ],
)
def test_title_tails(one: str, other: str, tail: str) -> None:
    assert tail_of(one, other) == tail
    if tail:
        assert last_parts(other, parts_of(tail)) == tail


def test_addresses_hide_what_nobody_can_know() -> None:
    assert abstract("/topic/70/what-i-learned/?page=2#c3") == "/topic/N/*/?page=2#c3"
    assert concrete("/topic/N/*/?page=2", "What I Learned | Forum") == "/topic/0/what-i-learned/?page=2"


def test_every_second_episode_is_labelled_without_its_template() -> None:
    """At test time templates are new: a model must also learn to answer without pages and answers of its own."""
    before, after = home(), BRASS
    items = [
        example(before, act(before, "click", "20"), after, episode=f"e{number}", template=f"t{number % 2}")
        for number in range(20)
    ]
    origins = [left_out(item) for item in items]
    assert {len(origin) for origin in origins} == {1, 2}
    memory = remember(items)
    form = get_format("edits", memory=memory, rationale=False)
    learn(items, form, DiffLabeler())
    for item, origin in zip(items, origins, strict=True):
        found = memory.without(*origin).links(item.query, 20)
        assert {link.template for link in found} <= ({"t0", "t1"} - set(origin[1:]))
        assert found and all(link.episode != origin[0] for link in found)
    # Whichever template came last, versions and links of both stay.
    assert {page.template for page in memory.pages() if page.route == "/"} == {"t0", "t1"}
