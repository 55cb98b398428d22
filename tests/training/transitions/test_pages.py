"""Keys are equal for equal content and only then; the quick comparison says what the exact one says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.types import Action, TargetDescriptor
from results.transitions import change_of
from tests.training.transitions.data import CART, HOME, bids, page
from training.world_model.transitions.cleaning import clean
from training.world_model.transitions.pages import changed_lines, pair_key, size_of
from training.world_model.transitions.pages import page as parsed
from training.world_model.transitions.raw import RawEpisode, RawStep

names = st.sampled_from(["Cart", "Pay", "a, focused", "", "Total: 3"])
nodes = st.lists(st.tuples(st.sampled_from(["link", "button", "StaticText"]), names, st.booleans()), max_size=6)


def tree(found: list[tuple[str, str, bool]]) -> str:
    lines = [f"\t[{10 + n}] {role} {name!r}{', focused' if focus else ''}" for n, (role, name, focus) in enumerate(found)]
    return "\n".join(["RootWebArea 'Page'", *lines])


@given(nodes, nodes, st.booleans())
def test_the_quick_comparison_is_exact(a: list[tuple[str, str, bool]], b: list[tuple[str, str, bool]], moved: bool) -> None:
    before = page(tree(a))
    after = page(tree([(role, name, not focus) for role, name, focus in a]) if moved else tree(b))
    raw = RawStep(0, before, Action(name="noop"), after)
    cleaned = clean(RawEpisode("shop", ("shop",), "", {}, (raw,)))
    assert cleaned.episode.steps[0].provenance["change"] == change_of(before, after)


@given(nodes, nodes)
def test_the_size_of_a_change_is_a_distance(a: list[tuple[str, str, bool]], b: list[tuple[str, str, bool]]) -> None:
    one, two = parsed(tree(a)), parsed(tree(b))
    assert changed_lines(one, two) == changed_lines(two, one) <= one.labels.total() + two.labels.total()
    assert changed_lines(one, one) == 0
    if one.key == two.key:
        assert changed_lines(one, two) == 0


def test_sizes_have_classes() -> None:
    assert [size_of(n) for n in (0, 1, 3, 4, 10, 11, 50, 51, 200, 201)] == [
        "0", "1-3", "1-3", "4-10", "4-10", "11-50", "11-50", "51-200", "51-200", "over 200",
    ]  # fmt: skip


def test_a_page_keeps_its_key_under_other_bids_and_no_other_change() -> None:
    assert parsed(HOME).key == parsed(bids(HOME, 300)).key != parsed(CART).key
    assert parsed(HOME).key != parsed(HOME.replace("Cart", "cart")).key


def test_an_action_is_known_by_what_it_points_at_and_says() -> None:
    def fill(bid: str, value: str, index: int = 0) -> Action:
        return Action(
            name="fill",
            arguments={"bid": bid, "value": value},
            target=TargetDescriptor(role="textbox", name="Search", index=index, count=2),
        )

    home = parsed(HOME)
    assert pair_key(home, fill("13", "x")) == pair_key(home, fill("99", "x"))
    assert len({pair_key(home, a) for a in (fill("13", "x"), fill("13", "13"), fill("13", ""), fill("13", "x", 1))}) == 4
    assert pair_key(home, fill("13", "x")) != pair_key(parsed(CART), fill("13", "x"))
