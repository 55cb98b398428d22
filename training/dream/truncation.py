"""How sure a world model is of one step, from what it answered: pure functions of predictions.

    disagreement(o, [p_1 … p_k])   1 − mean pairwise F1 of the changes that the k answers foresee; 0 = all alike
    confidence(p)                  exp(mean token logprob)

DynaWeb cuts dreams at a fixed length; ending them where the model disagrees with itself is ours (docs/paper-map.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from harness.axtree import normalise, parse
from harness.predictions import Prediction
from harness.types import Observation

Change = Counter[tuple[str, str]]
"""("+" or "-", a node's line) → how often."""


def disagreement(before: Observation, predictions: Sequence[Prediction]) -> float:
    """In [0, 1]. An unreadable answer agrees with nothing. Needs at least two predictions (ValueError)."""
    if len(predictions) < 2:
        raise ValueError("disagreement needs at least two predictions")
    changes = [None if p.next_observation is None else _change(before, p.next_observation) for p in predictions]
    pairs = list(combinations(changes, 2))
    return 1.0 - sum(0.0 if a is None or b is None else _f1(a, b) for a, b in pairs) / len(pairs)


def confidence(prediction: Prediction) -> float | None:
    """Geometric mean of the token probabilities of the answer; None where the backend gave none."""
    logprobs = prediction.token_logprobs
    if not logprobs:
        return None
    return math.exp(sum(logprobs) / len(logprobs))


def _change(before: Observation, after: Observation) -> Change:
    old, new = _lines(before), _lines(after)
    found: Change = Counter({("+", line): count for line, count in (new - old).items()})
    found.update({("-", line): count for line, count in (old - new).items()})
    if before.url != after.url:
        found[("+", f"url {after.url}")] += 1
    return found


def _lines(observation: Observation) -> Counter[str]:
    return Counter(line.strip() for line in normalise(parse(observation.axtree)).to_text().splitlines())


def _f1(a: Change, b: Change) -> float:
    """Of two multisets; two empty ones agree."""
    if not a and not b:
        return 1.0
    return 2 * (a & b).total() / (a.total() + b.total())
