"""What is trained on: length policy, batches, tables, and labels that have not seen their own episode."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from tests.training.models.support import tiny
from tests.training.sft.support import config, make_data
from training.models import PromptEncoder
from training.world_model.sft.batches import in_order, padded, plan
from training.world_model.sft.prepare import evenly, prepare
from training.world_model.sft.rows import Row
from training.world_model.sft.tokens import IGNORED, LengthPolicy, TokenTable, _table, tokenise

LENGTHS = (16, 32, 64)


def table_of(sizes: list[int]) -> TokenTable:
    parts = [np.arange(size, dtype=np.int32) + 3 for size in sizes]
    return _table(parts, [max(1, size // 2) for size in sizes], [0] * len(sizes))


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(2, 64), min_size=1, max_size=60),
    per_step=st.integers(1, 3),
    epochs=st.sampled_from([1.0, 2.0, 0.5]),
    seed=st.integers(0, 99),
)
def test_a_plan_uses_every_row_equally_often_and_is_a_function_of_its_seed(
    sizes: list[int], per_step: int, epochs: float, seed: int
) -> None:
    table = table_of(sizes)
    try:
        made = plan(table, LENGTHS, tokens_per_batch=128, per_step=per_step, epochs=epochs, seed=seed)
    except UsageError:
        return  # fewer batches than one step takes
    assert len(made.batches) == made.steps * per_step
    used = Counter(row for batch in made.batches for row in batch)
    assert max(used.values()) <= max(1, round(epochs))
    if epochs != 0.5 and per_step == 1:
        assert set(used) == set(range(len(sizes)))
        assert set(used.values()) == {int(epochs)}
    for batch in made.batches:
        length = padded(table, batch, LENGTHS)
        assert all(sizes[row] <= length for row in batch)
        assert len(batch) * length <= max(128, length)
    assert made.tokens_at[-1] == sum(sizes[row] * n for row, n in used.items())
    again = plan(table, LENGTHS, tokens_per_batch=128, per_step=per_step, epochs=epochs, seed=seed)
    assert again.batches == made.batches


def test_budgets_of_steps_and_tokens_end_a_plan_early() -> None:
    table = table_of([10] * 40)
    whole = plan(table, LENGTHS, tokens_per_batch=64, per_step=1, epochs=1, seed=0)
    assert (whole.steps, int(whole.tokens_at[-1])) == (10, 400)
    assert plan(table, LENGTHS, tokens_per_batch=64, per_step=1, epochs=1, seed=0, max_steps=3).batches == whole.batches[:3]
    assert plan(table, LENGTHS, tokens_per_batch=64, per_step=1, epochs=1, seed=0, max_tokens=130).batches == whole.batches[:3]
    with pytest.raises(UsageError, match="not one step"):
        plan(table, LENGTHS, tokens_per_batch=64, per_step=1, epochs=1, seed=0, max_tokens=5)
    assert sorted(row for batch in in_order(table, LENGTHS, 64) for row in batch) == list(range(40))
    assert whole.padding == pytest.approx(1 - 10 / 16)


def test_rows_that_would_lose_target_tokens_are_refused_and_counted() -> None:
    _, tokenizer = tiny()
    encoder = PromptEncoder(tokenizer)
    short, long = "button 'Sign in'", "zq" * 40
    rows = [Row("transition", short, short), Row("transition", long, short), Row("assessment", short, long)]
    refused: Counter[str] = Counter()
    table = tokenise(rows, encoder, LengthPolicy(max_tokens=60, max_target=30), refused)
    assert len(table) == 1
    assert refused == {"transition: prompt leaves no room for the target": 1, "assessment: target too long": 1}
    ids, labels = table.batch([0], 64, 0)
    size, prompt = int(table.lengths[0]), int(table.prompts[0])
    assert ids[0, :size].tolist() == [*encoder.prompt(short), *encoder.completion(short)]
    assert labels[0, prompt:size].tolist() == encoder.completion(short)
    assert set(labels[0, :prompt]) | set(labels[0, size:]) == {IGNORED}


def test_a_table_survives_its_file_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    table = table_of([5, 9, 30])
    table.save(tmp_path / "t.npz")
    again = TokenTable.load(tmp_path / "t.npz")
    assert all(np.array_equal(getattr(table, name), getattr(again, name)) for name in ("ids", "starts", "prompts", "kinds"))
    (tmp_path / "t.npz").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(UsageError, match="is not a table of tokens"):
        TokenTable.load(tmp_path / "t.npz")


@given(st.integers(1, 50), st.integers(1, 60))
def test_even_choices_are_exactly_as_many_as_wanted(total: int, count: int) -> None:
    chosen = list(evenly(range(total), total, count))
    assert len(chosen) == min(total, count)
    assert chosen == sorted(set(chosen))


def test_preparing_counts_rows_and_is_done_once(tmp_path: Path) -> None:
    data = make_data(tmp_path)
    told: list[str] = []
    first = prepare(config(), data, tmp_path / "out", lambda what, *_: told.append(what))
    assert {"train: pages", "train: tokenizer, rows", "train: labels", "train: rows", "dev: rows"} <= set(told)
    counts = first.counts["train"]
    assert isinstance(counts, dict)
    assert counts["refused"] == {}
    assert len(first.train) == sum(counts["rows"].values())
    assert int((first.train.kinds == 1).sum()) > 0
    told.clear()
    second = prepare(config(), data, tmp_path / "out", lambda what, *_: told.append(what))
    assert told == []
    assert np.array_equal(first.train.ids, second.train.ids)
    assert second.counts == first.counts
    assert len(second.memory) == len(first.memory) > 0
    changed = config(rows={"limit": 10})
    third = prepare(changed, data, tmp_path / "out", lambda what, *_: told.append(what))
    assert told
    assert third.counts != first.counts
    with pytest.raises(UsageError, match=r"no row of the train split can be trained on: .*target too long"):
        prepare(config(format={"max_new_tokens": 2}), data, tmp_path / "out")


def test_an_empty_split_is_refused(tmp_path: Path) -> None:
    from tests.training.transitions.data import build_into, make_run, shopping, task

    run = make_run(tmp_path / "run", [(task("buy-mug-1"), shopping("mug"))])
    build_into(tmp_path / "data", run)
    with pytest.raises(UsageError, match="the dev split of"):
        prepare(config(), tmp_path / "data", tmp_path / "out")
    with pytest.raises(UsageError):
        prepare(config(), tmp_path / "nowhere", tmp_path / "out")


def test_labels_stand_on_targets_and_on_prompts_where_whole_rows_count() -> None:
    table = _table([np.arange(3, 9, dtype=np.int32), np.arange(20, 23, dtype=np.int32)], [4, 1], [0, 0])
    ids, labels = table.batch([1, 0], 8, pad=0)
    assert ids.tolist() == [[20, 21, 22, 0, 0, 0, 0, 0], [3, 4, 5, 6, 7, 8, 0, 0]]
    x = IGNORED
    assert labels.tolist() == [[x, 21, 22, x, x, x, x, x], [x, x, x, x, 7, 8, x, x]]
    again, whole = table.batch([1, 0], 8, pad=0, whole=True)
    assert again.tolist() == ids.tolist()
    assert whole.tolist() == [[20, 21, 22, x, x, x, x, x], [3, 4, 5, 6, 7, 8, x, x]]
