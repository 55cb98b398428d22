"""What a model is shown: never the page that follows, always within its budget; and the `paper` format."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.axtree import approximate_tokens, parse
from harness.errors import UsageError
from harness.predictions import PastStep
from tests.training.formats.shop import act, edited, home, product, query
from tests.training.formats.test_edits import same_tree
from training.world_model.formats import EditsFormat, Format, PaperFormat, get_format
from training.world_model.formats.asking import ask
from training.world_model.formats.hinting import hints
from training.world_model.labels import DiffLabeler
from training.world_model.memory import PageMemory

CANARY = "zq9canary"
FORMATS = ["edits", "paper"]


def pair():
    """A click on a product, whose page and only whose page holds the canary in every kind of place."""
    before = home()
    after = edited(
        product("Brass Lamp", 7, "£26.25"),
        ("A fine Brass Lamp.", CANARY),
        ("Add to basket", f"{CANARY} 2"),
        ("£26.25", f"{CANARY}3"),
    )
    after = after.model_copy(update={"title": f"{CANARY} title", "url": f"{after.url}?{CANARY}"})
    return query(before, act(before, "click", "20")), after


@pytest.mark.parametrize("name", FORMATS)
def test_the_next_page_is_never_in_the_prompt(name: str) -> None:
    asked, after = pair()
    form: Format = get_format(name)
    alone = form.prompt(asked)
    target = form.target(asked, after, DiffLabeler().label(asked, after))
    assert CANARY in target
    assert form.prompt(asked) == alone
    assert CANARY not in alone
    assert list(inspect.signature(type(form).prompt).parameters) == ["self", "query"]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=40), st.integers(60, 600))
def test_the_prompt_keeps_to_its_budget(text: str, budget: int) -> None:
    before = edited(home(), ("link 'Clay Lamp'", f"link {text!r}"))
    past = PastStep(observation=before, action=act(before, "click", "20"))
    asked = query(before, act(before, "type", "6", text=text), past, goal=text * 20)
    form = get_format("edits", max_prompt_tokens=budget)
    assert isinstance(form, EditsFormat)
    shown = form.view(asked)
    first = "\n".join(shown.text.split("\n")[:4])
    assert approximate_tokens(shown.text) <= max(budget, approximate_tokens(first))
    assert 0 <= shown.dropped_lines <= len(parse(before.axtree))


def test_a_small_budget_keeps_the_action_and_its_element() -> None:
    before = home()
    asked = query(before, act(before, "click", "22"))
    small, large = get_format("edits", max_prompt_tokens=60), get_format("edits", max_prompt_tokens=600)
    assert isinstance(small, EditsFormat) and isinstance(large, EditsFormat)
    assert 'it checkbox "In stock"' in small.prompt(asked) and "do click it" in small.prompt(asked)
    assert small.view(asked).dropped_lines > large.view(asked).dropped_lines


def test_the_prompt_names_what_decides() -> None:
    before = home(search="brass")
    asked = query(before, act(before, "type", "6", text="clay"), goal="Find the clay lamp")
    text = get_format("edits").prompt(asked)
    for line in (
        'at shop.localhost/ "Home | Lamps & More"',
        'do type it "clay" enter',
        'f1 textbox "Search" = "brass"',
        'goal "Find the clay lamp"',
    ):
        assert line in text
    assert "goal" not in get_format("edits", goal=False).prompt(asked)
    assert "goal" not in get_format("paper", goal=False).prompt(asked).lower().replace("the agent's task", "goal")


def test_paper_writes_the_whole_page_and_reads_it_back() -> None:
    before = home()
    after = product("Brass Lamp", 7, "£26.25")
    asked = query(before, act(before, "click", "20"))
    form = PaperFormat(PageMemory())
    label = DiffLabeler().label(asked, after)
    text = form.target(asked, after, label)
    reading = form.read(asked, text)
    assert reading.malformed == "" and reading.next_observation is not None
    assert same_tree(reading.next_observation, after)
    assert (reading.next_observation.url, reading.next_observation.title, reading.terminal) == (after.url, after.title, False)
    assert reading.delta.splitlines() == list(label.sentences) and reading.rationale == label.rationale
    # What stays keeps its number, what is new gets one that o_t does not use.
    tree, old = parse(reading.next_observation.axtree), parse(before.axtree)
    assert tree.nodes[tree.by_bid["6"]].name == "Search"
    new = next(node for node in tree.nodes if node.name == "Write a review")
    assert new.bid not in old.by_bid


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not all there"),
        ("<Rationale>\nr\n<State changes>\nNothing changes.", "not all there"),
        ("<Rationale>\nr\n<State changes>\nx\n<Next page>\nRootWebArea 'x'", "no URL"),
        ("<Rationale>\nr\n<State changes>\nx\n<Next page>\nURL: u\nTitle: t\n", "no tree"),
        ("<Rationale>\nr\n<State changes>\nx\n<Next page>\nURL: u\nTitle: t\nAs before.", "no tree"),
    ],
)
def test_paper_says_what_is_wrong(text: str, reason: str) -> None:
    before = home()
    reading = get_format("paper").read(query(before, act(before, "noop")), text)
    assert reading.next_observation is None and reason in reading.malformed


def test_paper_surfaces_lines_that_are_no_nodes() -> None:
    before = home()
    tree = "RootWebArea 'x'\n\t[1] button 'OK'\nand so on"
    text = f"<Rationale>\nr\n<State changes>\nx\n<Next page>\nURL: u\nTitle: t\n{tree}\n<End>\nno"
    reading = get_format("paper").read(query(before, act(before, "noop")), text)
    assert reading.next_observation is not None
    assert reading.malformed == "1 of 3 lines of the tree cannot be read"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_paper_never_raises(text: str) -> None:
    before = home()
    reading = get_format("paper").read(
        query(before, act(before, "noop")), f"<Rationale>\n{text}\n<State changes>\n{text}\n<Next page>\nURL: {text}"
    )
    assert reading.next_observation is not None or reading.malformed


def test_formats_are_chosen_by_name() -> None:
    with pytest.raises(UsageError, match="no format 'html'"):
        get_format("html")
    with pytest.raises(UsageError, match="format edits"):
        get_format("edits", colour="red")
    assert get_format("paper", goal=False).name == "paper"


def test_answers_that_the_page_has_nodes_for_come_first() -> None:
    asked = ask(query(home(), act(home(), "click", "21")))
    absent, present = 'focus textbox "City"', 'drop link "Brass Lamp"\nadd in it\n link "City"'
    opens, several = 'open /x "y" ~1\ndrop link "Elsewhere"', 'name "a" to "b"\nset textbox "Search" "x"'
    assert hints([absent, present], asked, 1) == [" ; ".join(present.split("\n"))]
    assert hints([absent, opens], asked, 2) == [" ; ".join(opens.split("\n")), absent]
    assert hints([absent, several, present], asked, 1) == [" ; ".join(several.split("\n"))]
    assert hints(['drop link "', absent], asked, 2) == ['drop link "', absent], "neither fits: the order stays"
    assert hints([f'set it "{"x" * 300}"'], asked, 1)[0].endswith("x…")
