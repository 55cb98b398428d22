"""The page memory: what is found, in which order, within which bounds; and addresses."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.types import Observation
from tests.training.formats.shop import act, edited, home, product, query
from training.world_model.memory import PageMemory
from training.world_model.memory.addresses import document, pattern, route, shelf, slug

BRASS, CLAY = product("Brass Lamp", 7, "£26.25"), product("Clay Lamp", 12, "£9.50")


def memory_of(*pages: Observation, **bounds: int) -> PageMemory:
    memory = PageMemory(**bounds)
    for number, page in enumerate(pages):
        memory.add(page, "shop", f"e{number}")
    return memory


def kind_of(memory: PageMemory, url: str, title: str = "") -> str:
    found = memory.lookup("shop", url, title)
    return found.kind if found else "none"


def test_address_then_title_then_kind_then_frame() -> None:
    memory = memory_of(BRASS, CLAY)
    assert kind_of(memory, "http://shop.localhost:8140/catalogue/brass-lamp_7/") == "exact"
    assert kind_of(memory, "http://shop.localhost/catalogue/*_N/", CLAY.title) == "title"
    assert kind_of(memory, "http://shop.localhost/catalogue/*_N/", "Tin Lamp") == "similar"
    assert kind_of(memory, "http://shop.localhost/catalogue/new/arrivals/") == "frame"
    assert kind_of(memory, "http://forum.localhost/catalogue/brass-lamp_7/") == "none"
    assert kind_of(PageMemory(), BRASS.url) == "none"


def test_of_one_kind_the_page_with_most_words_in_common_is_found() -> None:
    found = memory_of(BRASS, CLAY, home()).lookup("shop", "http://shop.localhost/catalogue/*_N/", "Small Brass Lamp")
    assert found is not None and found.page.route == "/catalogue/brass-lamp_7/"


def test_pages_of_this_episode_win_the_newest_first() -> None:
    older, newer = edited(BRASS, ("£26.25", "£20.00")), edited(BRASS, ("£26.25", "£21.00"))
    found = memory_of(BRASS).with_history([older, newer, home()], "shop").lookup("shop", BRASS.url)
    assert found is not None and found.from_history and "£21.00" in found.page.axtree


def test_an_episode_can_be_left_out() -> None:
    cheaper = edited(BRASS, ("£26.25", "£20.00"))
    memory = memory_of(BRASS, cheaper)
    for left_out, price in ((("e1",), "£26.25"), (("e0",), "£20.00")):
        found = memory.without(*left_out).lookup("shop", BRASS.url)
        assert found is not None and price in found.page.axtree
    assert memory.without("e0").without("e1").lookup("shop", BRASS.url) is None
    assert len(memory) == 2


def test_an_episode_has_one_version_of_a_page_and_the_bounds_hold() -> None:
    memory = PageMemory(max_pages=6, max_versions=2)
    for price in range(5):
        memory.add(edited(BRASS, ("£26.25", f"£{price}.00")), "shop", "e0")
    assert len(memory) == 1
    for episode in range(5):
        memory.add(BRASS, "shop", f"e{episode}")
    assert len(memory) == 2
    memory.add(home(), "shop", "e0")
    for number in range(40):
        memory.add(product(f"Lamp {number}", number, "£1.00"), "shop", "e0")
    assert len(memory) <= 6
    # The rare kind of page stays when the common one must give way.
    assert memory.lookup("shop", home().url) is not None


def test_pages_without_a_tree_are_not_remembered() -> None:
    memory = memory_of(BRASS.model_copy(update={"axtree": ""}))
    assert len(memory) == 0
    assert memory.with_history([BRASS.model_copy(update={"axtree": ""})]).lookup("shop", BRASS.url) is None


def test_links_prefer_the_same_element_then_the_same_place() -> None:
    memory = PageMemory()
    before = home()
    brass, clay = query(before, act(before, "click", "20")), query(before, act(before, "click", "21"))
    memory.add_link(brass, "open /brass", "e0")
    assert [link.answer for link in memory.links(clay)] == ["open /brass"]
    memory.add_link(clay, "open /clay", "e1")
    memory.add_link(clay, "open /clay", "e2")
    assert [link.answer for link in memory.links(clay, 2)] == ["open /clay", "open /brass"]
    assert [link.answer for link in memory.without("e1").without("e2").links(clay, 2)] == ["open /brass"]
    assert memory.links(query(before, act(before, "click", "22"))) == []


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    memory = memory_of(BRASS, CLAY, home())
    before = home()
    memory.add_link(query(before, act(before, "click", "20")), "open /brass", "e0")
    memory.save(tmp_path / "a.jsonl.gz")
    loaded = PageMemory.load(tmp_path / "a.jsonl.gz")
    loaded.save(tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert list(loaded.pages()) == list(memory.pages())
    assert loaded.links(query(before, act(before, "click", "20"))) == memory.links(query(before, act(before, "click", "20")))


DAMAGED = [
    b"",
    b"not gzip",
    *map(gzip.compress, (b"", b"[]\n", b'{"version":99}\n', b'{"version":1}\n{"page":{}}\n', b'{"version":1}\n[1]\n')),
    gzip.compress(b'{"version":1,"max_pages":5}\n{"page":'),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "memory.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="page memory"):
        PageMemory.load(path)
    with pytest.raises(UsageError, match="page memory"):
        PageMemory.load(tmp_path / "missing.gz")


@pytest.mark.parametrize(
    ("url", "place", "kind"),
    [
        ("http://shop.localhost:8120/catalogue/urban-mister_12/?page=2&csrf=abc", "shop.localhost", "/catalogue/*_N/?page"),
        ("http://forum.localhost:8101/topic/70/what-i-learned/#c3", "forum.localhost", "/topic/N/*/"),
        ("http://forum.localhost:8101/category/23/photography/", "forum.localhost", "/category/N/*/"),
        ("http://localhost:7780/admin/sales/order/view/order_id/299/", "localhost:7780", "/admin/sales/order/view/*/N/"),
        ("http://127.0.0.1:3000/", "127.0.0.1:3000", "/"),
        ("file:///somewhere/html/miniwob/click-test.html", "miniwob", "/miniwob/click-test.html"),
        ("about:blank", "miniwob", "about:blank"),
        ("http://[broken", "miniwob", "http://[broken"),
    ],
)
def test_addresses(url: str, place: str, kind: str) -> None:
    assert shelf(url, "miniwob") == place
    assert pattern(document(route(url))) == kind
    assert pattern(kind) == kind


@given(st.text(max_size=60))
def test_addresses_never_raise(text: str) -> None:
    assert isinstance(pattern(route(text)), str)
    assert isinstance(shelf(text, "x"), str)
    assert slug(text) == slug(slug(text))
