"""Free running: chains, compounding, lost targets, unreadable answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.fidelity import Answers, chains, run_chains
from audits.fidelity.free_running import depths, reground
from harness.types import Observation
from tests.audits.fidelity.factory import Row, Told, knows, on, page, row

PAGES = [page("[1] button 'Next'", *(f"StaticText 'step {k}'" for k in range(n))) for n in range(10)]


def episode(length: int, name: str = "e", template: str = "t") -> list[Row]:
    return [row(PAGES[n], "click('1')", PAGES[n + 1], step=n, episode=name, template=template) for n in range(length)]


def test_chains_are_consecutive_and_at_most_eight_long() -> None:
    rows = [*episode(9), *episode(3, "f")]
    assert [[r.provenance["step"] for r in chain] for chain in chains(rows)] == [list(range(8)), [0, 1, 2]]
    gap = [*episode(5)[:2], *episode(5)[3:]]
    assert [len(chain) for chain in chains(gap)] == [2, 2]
    assert chains(episode(1)) == []
    assert len(chains([r for n in range(10) for r in episode(2, f"e{n}")], limit=4)) == 4


def test_a_perfect_model_compounds_nothing(tmp_path: Path) -> None:
    rows = [*episode(4, "a", "t1"), *episode(3, "b", "t2")]
    model = knows(*rows)
    found = depths(run_chains(chains(rows), Answers(tmp_path, model)))
    assert [depth.figures["free.full_f1"].n for depth in found] == [2, 2, 2, 1]
    for depth in found:
        for name in ("free.full_f1", "kappa.full", "free.delta_f1", "kappa.delta"):
            assert depth.figures[name].value == 1, name
        assert depth.figures["lost_target.rate"].value == 0


def test_an_early_error_is_carried_along(tmp_path: Path) -> None:
    """The model is wrong once, at the first step; from its own page it does not find the way back."""
    rows = episode(3)
    astray = page("[1] button 'Next'", "StaticText 'elsewhere'")
    further = page("[1] button 'Next'", "StaticText 'elsewhere'", "StaticText 'step 1'")
    answers = dict(knows(*rows).answers)
    answers[PAGES[0].axtree, "click('1')"] = astray
    answers[astray.axtree, "click('1')"] = further
    answers[further.axtree, "click('1')"] = further
    one, two, three = depths(run_chains(chains(rows), Answers(tmp_path, Told(answers))))
    assert one.figures["kappa.full"].value == 1, "the first step is the teacher's"
    assert one.figures["free.delta_f1"].value == 0
    # o_2 holds root, button, step 0 and step 1; the page of the model misses one of them
    assert two.figures["free.full_f1"].value == pytest.approx(2 * 3 / 8)
    assert two.figures["forced.full_f1"].value == 1
    assert two.figures["free.delta_f1"].value == 1, "the step itself is right: a text more"
    assert three.figures["kappa.full"].value is not None
    assert three.figures["kappa.full"].value < two.figures["kappa.full"].value  # type: ignore[operator]


def test_an_unreadable_answer_ends_a_chain_at_zero_and_keeps_the_denominator(tmp_path: Path) -> None:
    rows = episode(4)
    answers: dict[tuple[str, str], Observation | None] = dict(knows(*rows).answers)
    answers[PAGES[1].axtree, "click('1')"] = None
    model = Told(answers)
    found = depths(run_chains(chains(rows), Answers(tmp_path, model)))
    assert [depth.figures["malformed.rate"].value for depth in found] == [0, 1, 1, 1]
    assert [depth.figures["free.full_f1"].value for depth in found] == [1, 0, 0, 0]
    assert [depth.figures["free.full_f1"].n for depth in found] == [1, 1, 1, 1]


def test_actions_are_grounded_anew_on_the_models_own_page() -> None:
    action = on(page("[5] button 'Buy'"), "click('5')")
    assert reground(action, page("[7] link 'x'", "[9] button 'Buy'"))[0].arguments["bid"] == "9"
    assert reground(action, page("button 'Buy'")) == (action, False), "a page written out may have no bids"
    assert reground(action, page("[5] button 'Sell'")) == (action, True)
    assert reground(on(page(), "scroll(0, 200)"), page())[1] is False


def test_without_a_model_chains_go_as_far_as_answers_are_stored(tmp_path: Path) -> None:
    rows = episode(4)
    run_chains(chains(rows[:3]), Answers(tmp_path, knows(*rows)))
    found = run_chains(chains(rows), Answers(tmp_path, None))
    assert [s.depth for s in found] == [1, 2, 3]
