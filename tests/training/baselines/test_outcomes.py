"""The judge of endings: what its evidence says by hand, that it learns to compare values, and where it refuses to be made."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from harness.actions import make_action
from harness.errors import UsageError
from harness.predictions import PastStep, WorldModelQuery
from harness.types import Observation
from results.transitions import write_lines
from tests.audits.fidelity.dataset import episode, shop, write_dataset
from tests.audits.fidelity.factory import on, page
from tests.support.repository import ROOT
from training.world_model.model import load, load_judge
from training.world_model.model.assessment import outcome_query
from training.world_model.model.evidence import Rarity, evidence, words_in
from training.world_model.model.outcomes import OutcomesWorldModel
from training.world_model.transitions import OutcomeExample

RARITY = Rarity([("price", "Set the price of Tea to 12.50"), ("price", "Set the price of Oil to 3"), ("open", "Open order 1007")])
"""Two templates. `set the price of to`: 1; `tea 12.50 oil 3`: ½; `open order 1007`: 1."""


def ending(goal: str, typed: str, answer: str | None, last: Observation | None = None, *, said: bool = False) -> WorldModelQuery:
    now = shop()
    history = [PastStep(observation=now, action=on(now, f"fill('1', {typed!r})"))]
    if said and answer is not None:
        history.append(PastStep(observation=last or now, action=make_action("send_msg_to_user", {"text": answer})))
    return outcome_query(goal, history, last or now, answer, "shop")


def test_words_keep_prices_dates_and_addresses_whole() -> None:
    assert words_in("Pay 12.50 to Ann_Lee, a@b.c — 2024-05-01!") == {"pay", "12.50", "to", "ann", "lee", "a@b.c", "2024-05-01"}
    assert words_in(None) == words_in("·—!") == frozenset()


def test_shares_by_hand() -> None:
    common, own, unknown = math.log(3 / 1.5), math.log(3 / 1.0), math.log(3 / 0.5)
    assert (
        RARITY("price") == pytest.approx(common)
        and RARITY("tea") == pytest.approx(own)
        and RARITY("zebra") == pytest.approx(unknown)
    )
    found = evidence(ending("Set the price of Tea to 12.50", "12.50 zebra", "Done."), RARITY)
    assert found["goal in done"] == pytest.approx(own / (5 * common + 2 * own))
    assert found["numbers in done"] == 1.0 and found["typed in goal"] == pytest.approx(own / (own + unknown))
    assert found["typed, not in goal"] == 1 and found["typed numbers, not in goal"] == 0
    assert found["answered"] is True and found["answer in goal"] == 0.0 and found["question"] is False
    assert math.isnan(found["answer's numbers seen"]) and math.isnan(found["quoted in done"])


def test_an_answer_is_looked_for_on_the_pages() -> None:
    total = page("[1] text 'Total 42.00'")
    on_page, made_up = (evidence(ending("What is the total?", "tea", said, total), RARITY) for said in ("42.00", "41.00"))
    assert on_page["answer on page"] == on_page["answer fresh"] == 1.0 and made_up["answer seen"] == 0.0
    assert on_page["question"] is True


@given(st.text(max_size=80), st.text(max_size=40), st.none() | st.text(max_size=40))
def test_any_text_gives_the_same_names_and_numbers_or_nan(goal: str, typed: str, answer: str | None) -> None:
    found = evidence(ending(goal, typed, answer), RARITY)
    assert list(found) == list(evidence(ending("a", "b", "c"), RARITY))
    assert all(math.isnan(value) or math.isfinite(value) for value in map(float, found.values()))
    again = evidence(ending(goal, typed, answer, said=True), RARITY)
    assert repr(again) == repr(found), "whether the history holds the last word does not matter"


def outcomes(kinds: range, *, stride: int = 37) -> list[OutcomeExample]:
    """Templates of their own names and numbers; half of the episodes type the goal's number, half the number after it."""
    now = shop()
    return [
        OutcomeExample(
            goal=f"{kind} numbers: set kind{kind} to {number}",
            site="shop",
            history=(PastStep(observation=now, action=on(now, f"fill('1', '{number if won else number + 1}')")),),
            observation=now,
            answer="Done.",
            success=won,
            provenance={"template": f"kind{kind}"},
        )
        for kind in kinds
        for number in (1000 + kind * stride + turn for turn in range(4))
        for won in (True, False)
    ]  # fmt: skip


def test_it_learns_to_compare_values_and_not_to_believe_the_last_word() -> None:
    judge, unseen = OutcomesWorldModel(outcomes(range(30))), outcomes(range(30, 50))
    said = judge.assess([outcome_query(o.goal, o.history, o.observation, o.answer, o.site) for o in unseen])
    assert roc_auc_score([o.success for o in unseen], said) > 0.99, "templates, names and numbers that it never saw"
    again = OutcomesWorldModel(outcomes(range(30)))
    assert again.version == judge.version and again.assess([]) == []


def test_its_version_does_not_depend_on_the_order_of_sets() -> None:
    """Sums over sets differ in the last bit from process to process; a judge of another version is refused by `audit judge`."""
    code = "from tests.training.baselines.test_outcomes import *; print(OutcomesWorldModel(outcomes(range(12))).version)"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_by_name_as_a_world_model_and_as_a_judge(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    stored = [episode(f"e{n}", f"t{n}", f"tea {n}", success=n % 2 == 0) for n in range(40)]
    write_lines(data / "train.jsonl.gz", stored)
    model = load(f"outcomes:{data}")
    [[at_end]], [[on_the_way]] = (
        model.predict([WorldModelQuery(goal="Find tea", observation=shop(), action=on(shop(), action), site="shop")])
        for action in ("send_msg_to_user('3')", "click('2')")
    )
    assert 0 <= (at_end.self_assessed_reward or -1) <= 1 and on_the_way.self_assessed_reward is None
    assert on_the_way.next_observation == shop()
    assert "outcomes" in load_judge(f"outcomes:{data}").version


def test_one_sided_outcomes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="of 3 recorded endings 3 are successes"):
        load(f"outcomes:{write_dataset(tmp_path / 'data')}")
    with pytest.raises(UsageError, match="0 recorded endings"):
        OutcomesWorldModel([])
