"""Every batch of a training, decided before it begins: which rows, in which order, how often.

Rows of one padded length stand together, so that little is padding; within a length the order is random, and so is the order of
batches. A pass uses every row once, or a share of them where `epochs` is no whole number. Known in advance are therefore the
number of steps (for the learning rate), the tokens up to each step (for the log) and what a resumed training has to do next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageError
from training.world_model.sft.tokens import TokenTable


@dataclass(frozen=True)
class Plan:
    """`batches[i]` is a list of row numbers. One step takes `per_step` batches, over all devices."""

    batches: list[list[int]]
    per_step: int
    tokens_at: NDArray[np.int64]
    """(steps + 1,) tokens, without padding, up to the end of each step; the first is 0."""
    padding: float
    """Share of positions that are padding."""

    @property
    def steps(self) -> int:
        return len(self.batches) // self.per_step


def plan(
    table: TokenTable,
    lengths: tuple[int, ...],
    *,
    tokens_per_batch: int,
    per_step: int,
    epochs: float,
    seed: int,
    max_steps: int | None = None,
    max_tokens: int | None = None,
) -> Plan:
    """Raises UsageError where the rows do not fill one step."""
    random = np.random.default_rng(np.random.SeedSequence((seed, 0xBA7C)))
    bucket = np.searchsorted(np.asarray(lengths), table.lengths)
    batches: list[list[int]] = []
    sizes = table.lengths
    left, told = epochs, 0
    while left > 0 and (max_tokens is None or told < max_tokens) and (max_steps is None or len(batches) < max_steps * per_step):
        chosen = random.permutation(len(table))[: max(1, round(min(1.0, left) * len(table)))] if len(table) else np.zeros(0, int)
        batches.extend(_one_pass(chosen, bucket, lengths, tokens_per_batch, random))
        left -= 1.0
        told += int(sizes[chosen].sum())
    steps = min(len(batches) // per_step, max_steps or len(batches))
    tokens = np.array([sizes[batch].sum() for batch in batches[: steps * per_step]], dtype=np.int64)
    tokens_at = np.concatenate([[0], np.cumsum(tokens.reshape(steps, per_step).sum(axis=1))]).astype(np.int64)
    if max_tokens is not None:
        steps = min(steps, int(np.searchsorted(tokens_at, max_tokens, side="right")) - 1)
    if steps < 1:
        raise UsageError(
            f"{len(table)} rows make {len(batches)} batches: not one step of {per_step}",
            fix="use more data, smaller tokens_per_batch, or a larger max_tokens",
        )
    batches, tokens_at = batches[: steps * per_step], tokens_at[: steps + 1]
    positions = sum(len(batch) * padded(table, batch, lengths) for batch in batches)
    return Plan(batches, per_step, tokens_at, 1.0 - float(tokens_at[-1]) / positions)


def padded(table: TokenTable, batch: list[int], lengths: tuple[int, ...]) -> int:
    """The length that a batch is padded to."""
    longest = max(int(table.starts[row + 1] - table.starts[row]) for row in batch)
    return lengths[int(np.searchsorted(np.asarray(lengths), longest))]


def in_order(table: TokenTable, lengths: tuple[int, ...], tokens_per_batch: int) -> list[list[int]]:
    """All rows once, for measuring."""
    bucket = np.searchsorted(np.asarray(lengths), table.lengths)
    return [
        batch for index, length in enumerate(lengths) for batch in _cut(np.flatnonzero(bucket == index), length, tokens_per_batch)
    ]


def _one_pass(
    rows: NDArray[np.int64],
    bucket: NDArray[np.int64],
    lengths: tuple[int, ...],
    tokens_per_batch: int,
    random: np.random.Generator,
) -> list[list[int]]:
    found = [
        batch
        for index, length in enumerate(lengths)
        for batch in _cut(random.permutation(rows[bucket[rows] == index]), length, tokens_per_batch)
    ]
    return [found[i] for i in random.permutation(len(found))]


def _cut(rows: NDArray[np.int64], length: int, tokens_per_batch: int) -> list[list[int]]:
    size = max(1, tokens_per_batch // length)
    return [rows[i : i + size].tolist() for i in range(0, len(rows), size)]
