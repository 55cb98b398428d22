"""Rows as token arrays: what the training reads, without a tokenizer in the loop.

    ids       (T,)  all rows one after another        row i = ids[starts[i] : starts[i + 1]]
    starts    (N + 1,)
    prompts   (N,)  tokens of each row's prompt: the loss begins behind them
    kinds     (N,)  0 transition, 1 assessment

A row longer than the longest padded length, or a target longer than its budget, is refused and counted: cutting it would train
on an answer that never ends, or on nothing (TRL's default keeps the beginning and cuts the target).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageError
from training.models import PromptEncoder
from training.world_model.sft.rows import Row

KINDS = ("transition", "assessment")
IGNORED = -100
"""Label of a position without loss, as torch's cross entropy has it."""


@dataclass(frozen=True)
class LengthPolicy:
    """Longest padded row and longest target, in tokens."""

    max_tokens: int
    max_target: int

    def problem(self, prompt: int, target: int) -> str:
        """Why a row is refused; empty if it is kept."""
        if target > self.max_target:
            return "target too long"
        return "prompt leaves no room for the target" if prompt + target > self.max_tokens else ""


@dataclass(frozen=True)
class TokenTable:
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    prompts: NDArray[np.int32]
    kinds: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) tokens of each row."""
        return np.diff(self.starts)

    @property
    def target_tokens(self) -> int:
        return int(self.lengths.sum() - self.prompts.sum())

    def select(self, rows: NDArray[np.int64]) -> TokenTable:
        """The table with these rows, in this order."""
        parts = [self.ids[self.starts[i] : self.starts[i + 1]] for i in rows]
        return _table(parts, self.prompts[rows].tolist(), self.kinds[rows].tolist())

    def batch(
        self, rows: list[int], length: int, pad: int, *, whole: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(input ids, labels), both (len(rows), length): padded on the right, labels on targets; `whole`: on prompts, too."""
        ids = np.full((len(rows), length), pad, dtype=np.int64)
        labels = np.full((len(rows), length), IGNORED, dtype=np.int64)
        for number, row in enumerate(rows):
            tokens = self.ids[self.starts[row] : self.starts[row + 1]]
            ids[number, : len(tokens)] = tokens
            first = 0 if whole else self.prompts[row]
            labels[number, first : len(tokens)] = tokens[first:]
        return ids, labels

    def save(self, path: Path) -> None:
        partial = path.with_name(f".{path.name}.partial.npz")
        np.savez(partial, ids=self.ids, starts=self.starts, prompts=self.prompts, kinds=self.kinds)
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> TokenTable:
        """Raises UsageError for a file that is not such a table."""
        try:
            # numpy leaves a file that it opened itself open where it cannot read it
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as stored:
                table = cls(stored["ids"], stored["starts"], stored["prompts"], stored["kinds"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise UsageError(
                f"{path} is not a table of tokens: {type(error).__name__}", fix="delete it; it is made again"
            ) from None
        return table


def tokenise(rows: Iterable[Row], encoder: PromptEncoder, policy: LengthPolicy, refused: Counter[str]) -> TokenTable:
    """Encode rows; those that the policy refuses are counted in `refused` as `<kind>: <reason>`."""
    parts: list[NDArray[np.int32]] = []
    prompts: list[int] = []
    kinds: list[int] = []
    for row in rows:
        prompt, target = encoder.prompt(row.prompt), encoder.completion(row.completion)
        if problem := policy.problem(len(prompt), len(target)):
            refused[f"{row.kind}: {problem}"] += 1
            continue
        parts.append(np.array([*prompt, *target], dtype=np.int32))
        prompts.append(len(prompt))
        kinds.append(KINDS.index(row.kind))
    return _table(parts, prompts, kinds)


def _table(parts: list[NDArray[np.int32]], prompts: list[int], kinds: list[int]) -> TokenTable:
    lengths = [len(part) for part in parts]
    return TokenTable(
        ids=np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, dtype=np.int32),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        prompts=np.array(prompts, dtype=np.int32),
        kinds=np.array(kinds, dtype=np.int8),
    )
