"""The explorer acts legally on any page, repeats itself for a seed, and does what its mode says."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.actions import bids_of, print_action
from harness.errors import UsageError
from harness.policies import ExploreConfig, ExplorePolicy, PolicyConfig, load_policy_config, make_policy
from harness.policies.explore_moves import WRONG, forms, leaves, openings, wrong
from harness.policies.explore_values import phrases, value_for
from harness.policies.page import read_page
from harness.types import INVALID_ACTION, Observation, PolicyOutput
from tests.policies.observations import TASK, page

SHOP = page(
    "[1] link 'Kitchen'", "[2] link 'Logout'",
    "[3] form ''", "\t[4] searchbox 'Search'", "\t[5] button 'Search'",
    "[6] form ''", "\t[7] textbox 'E-mail'", "\t[8] spinbutton 'Quantity' value=2", "\t[9] combobox 'Size' value='S'",
    "\t\t[10] option 'S', selected=True", "\t\t[11] option 'L', selected=False",
    "\t[12] checkbox 'Gift', checked='false'", "\t[13] button 'Cancel'", "\t[14] button 'Add to basket'",
    "[15] button 'Closed', disabled=True",
    "[16] paragraph ''", "\tStaticText 'Powered by'", "\t[17] link 'Some Software'",
)  # fmt: skip
NO_ASIDES = ExploreConfig(back=0, fail=0)


def walked(policy: ExplorePolicy, pages: list[Observation], seed: int = 0) -> list[PolicyOutput]:
    policy.reset("", TASK, seed)
    return [policy.act(found) for found in pages]


@pytest.mark.parametrize("mode", ["goal", "random"])
def test_the_same_seed_walks_the_same_way_and_another_does_not(mode: str) -> None:
    policy = ExplorePolicy(ExploreConfig(mode=mode))  # type: ignore[arg-type]
    first = walked(policy, [SHOP] * 25)
    assert walked(policy, [SHOP] * 25) == first
    assert walked(policy, [SHOP] * 25, seed=1) != first
    policy.reset("", TASK.model_copy(update={"task_id": "2"}), 0)
    assert [policy.act(SHOP) for _ in range(25)] != first


def test_every_control_of_the_page_is_tried_and_the_exit_hardly_ever() -> None:
    touched = Counter(
        bid for seed in range(12) for out in walked(ExplorePolicy(NO_ASIDES), [SHOP] * 25, seed) for bid in bids_of(out.action)
    )
    assert {"1", "4", "5", "7", "8", "9", "12", "14"} <= set(touched)
    assert "15" not in touched
    assert touched["2"] + touched["17"] < touched["1"] / 2


def test_a_form_is_filled_field_by_field_and_then_sent() -> None:
    for seed in range(20):
        texts = [out.text for out in walked(ExplorePolicy(NO_ASIDES), [SHOP] * 12, seed)]
        if "send the form with 'Add to basket'" in texts:
            before = texts[: texts.index("send the form with 'Add to basket'")]
            assert any(text.startswith(("write", "choose", "tick")) for text in before)
            return
    pytest.fail("no walk of twenty sent the form")


def test_it_never_speaks_so_it_never_ends_an_episode() -> None:
    for mode in ("goal", "random"):
        for seed in range(10):
            names = {out.action.name for out in walked(ExplorePolicy(ExploreConfig(mode=mode)), [SHOP] * 30, seed)}  # type: ignore[arg-type]
            assert not names & {"send_msg_to_user", "report_infeasible"}


def test_failing_on_purpose_is_said_and_can_be_switched_off() -> None:
    always = walked(ExplorePolicy(ExploreConfig(fail=1)), [SHOP] * 40)
    assert all(out.text.startswith(WRONG) for out in always)
    assert len({out.text for out in always}) >= 4
    assert not any(out.text.startswith(WRONG) for out in walked(ExplorePolicy(NO_ASIDES), [SHOP] * 40))


def test_what_must_fail_points_at_nothing_or_at_what_cannot_do_it() -> None:
    found = read_page(SHOP.axtree)
    for seed in range(60):
        move = wrong(found, Random(seed))
        (bid,) = bids_of(move.action)
        element = next((e for e in found.elements if e.bid == bid), None)
        if element is None:
            continue
        assert (
            (move.action.name == "fill" and element.role in ("link", "button"))
            or (move.action.name == "fill" and element.role == "spinbutton" and not str(move.action.arguments["value"]).isdigit())
            or (move.action.name == "select_option" and element.role == "combobox")
            or not element.enabled
        )


def test_going_back_never_leaves_the_first_page_of_a_tab() -> None:
    always = ExplorePolicy(ExploreConfig(back=1, fail=0))
    tab = {"active_page_index": 1}
    other, deeper = ({**tab, "url": "http://test.example/b"}, {**tab, "url": "http://test.example/c"})
    pages = [SHOP, *(SHOP.model_copy(update=found) for found in (other, deeper, other, {}))]
    for seed in range(10):
        names = [out.action.name for out in walked(always, pages, seed)]
        assert [name == "go_back" for name in names] == [False, False, True, False, False]


def test_forms_are_found_with_their_buttons() -> None:
    search, order = forms(read_page(SHOP.axtree))
    assert search.button is not None and search.button.bid == "5"
    assert order.button is not None and order.button.name == "Add to basket"
    assert [field.bid for field in order.fields] == ["7", "8", "9", "12"]
    loose = page("[1] textbox 'User'", "[2] textbox 'Word'", "[3] button 'Login'", "[4] textbox 'Other'")
    assert [form.button.name if form.button else "" for form in forms(read_page(loose.axtree))] == ["Login", ""]


def test_options_of_a_menu_are_chosen_and_not_clicked() -> None:
    found = read_page(SHOP.axtree)
    assert {"10", "11"}.isdisjoint(element.bid for element in openings(found))
    assert [element.name for element in openings(found) if leaves(found, element)] == ["Logout", "Some Software"]


def test_a_menu_drawn_by_a_script_is_opened_and_then_chosen_from() -> None:
    closed = page("[1] form ''", "\t[2] combobox '-- status --' value='-- status --', hasPopup='menu', expanded=False",
                  "\t\t[3] textbox '' value='-- status --'", "\t[4] button 'Go'")  # fmt: skip
    opened = page(*closed.axtree.replace("expanded=False", "expanded=True").replace("\n\t", "\n").split("\n")[1:],
                  "[5] listbox ''", "\t[6] option 'Sent'", "\t[7] option 'Paid'")  # fmt: skip
    for seed in range(10):
        first, second = walked(ExplorePolicy(NO_ASIDES), [closed, opened], seed)
        if first.text.startswith("open the menu"):
            assert bids_of(first.action) == ("2",)
            assert bids_of(second.action)[0] in ("6", "7")
            return
    pytest.fail("no walk of ten opened the menu")


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("[1] textbox 'E-mail address'", r"[a-z.]+@example\.com"),
        ("[1] textbox 'Due date'", r"2026-03-\d\d"),
        ("[1] spinbutton 'Anything' value=7", r"\d+"),
        ("[1] textbox 'Quantity'", r"[1-5]"),
        ("[1] textbox 'Price'", r"\d+\.\d\d"),
        ("[1] textbox 'Your message'", r"A note on .+"),
        ("[1] searchbox ''", r"Brass Lamp|Brass|Lamp|Oak Stool|Oak|Stool"),
        ("[1] textbox 'Colour'", r"Brass Lamp|Oak Stool"),
    ],
)
def test_values_fit_the_label_and_come_from_the_page(line: str, pattern: str) -> None:
    found = read_page(page(line, "[2] link 'Brass Lamp'", "[3] heading 'Oak Stool'").axtree)
    (field,) = found.fields()
    for seed in range(20):
        value = value_for(found, field, Random(seed))
        assert re.fullmatch(pattern, value), value


def test_an_empty_page_is_waited_on_and_a_dead_end_left() -> None:
    policy = ExplorePolicy(NO_ASIDES)
    empty = page()
    (output,) = walked(policy, [empty])
    assert output.action.name in ("noop", "scroll")
    names = [out.action.name for out in walked(policy, [SHOP, empty.model_copy(update={"url": "http://test.example/none"})])]
    assert names[1] == "go_back"


ROLES = ["link", "button", "textbox", "combobox", "option", "checkbox", "form", "spinbutton", "generic", "heading"]
LINES = st.lists(
    st.builds(
        lambda depth, bid, role, name: "\t" * depth + f"[{bid}] {role} {name!r}",
        st.integers(0, 4), st.integers(1, 99), st.sampled_from(ROLES),
        st.text(max_size=30),
    ) | st.text(max_size=60),
    max_size=25,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(LINES, st.sampled_from(["goal", "random"]), st.integers(0, 99))
def test_any_page_gets_a_printable_legal_action(lines: list[str], mode: str, seed: int) -> None:
    policy = ExplorePolicy(ExploreConfig(mode=mode))  # type: ignore[arg-type]
    for output in walked(policy, [page(*lines)] * 4, seed):
        assert output.action.name != INVALID_ACTION
        assert output.action.raw == print_action(output.action)
        assert output.text


def test_hostile_pages_are_read_within_bounds() -> None:
    found = read_page(page(*(f"[{n}] link 'name number {n} {'x' * 300}'" for n in range(2000))).axtree)
    assert len(phrases(found)) <= 400


def test_the_policy_is_reached_by_name_and_its_options_are_checked() -> None:
    assert isinstance(make_policy(load_policy_config("explore")), ExplorePolicy)
    assert PolicyConfig(name="explore", explore=ExploreConfig(mode="random")).explore is not None
    for wrong_config in ({"name": "noop", "explore": {}}, {"name": "explore", "explore": {"fail": 2}}):
        with pytest.raises(ValueError, match="explore"):
            PolicyConfig.model_validate(wrong_config)
    with pytest.raises(UsageError):
        load_policy_config("exploring")
