"""One token per row from the logits, reproducibly: every request has a random stream of its own.

Stream: numbers in [0, 1) from Philox, keyed by (seed, sample). The t-th token of a request uses the t-th number, whatever it is
batched with, so results do not depend on the batch (beyond the rounding of the logits themselves).
Token: the inverse of the cumulative distribution at that number.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray


def stream(seed: int, sample: int, count: int) -> NDArray[np.float64]:
    """(count,) numbers in [0, 1). A longer stream begins with the shorter one."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, sample)))).random(count)


def distribution(logits_RV: torch.Tensor, temperature: float, top_p: float) -> torch.Tensor:
    """(R, V) log-probabilities, float32, of what is sampled from: tempered, cut to the nucleus, and normalised again.

    Temperature 0 means greedy: then it is the model's own distribution, and the most probable token is taken.
    Nucleus (Holtzman et al. 2020): the smallest set of most probable tokens whose probability reaches `top_p`.
    """
    logits_RV = logits_RV.float()
    if temperature == 0.0:
        return torch.log_softmax(logits_RV, dim=-1)
    logprobs_RV = torch.log_softmax(logits_RV / temperature, dim=-1)
    if top_p >= 1.0:
        return logprobs_RV
    sorted_RV, order_RV = logprobs_RV.sort(dim=-1, descending=True, stable=True)
    before_RV = sorted_RV.exp().cumsum(dim=-1) - sorted_RV.exp()
    outside_RV = torch.zeros_like(before_RV, dtype=torch.bool).scatter(-1, order_RV, before_RV >= top_p)
    return torch.log_softmax(logprobs_RV.masked_fill(outside_RV, float("-inf")), dim=-1)


def pick(
    logits_RV: torch.Tensor, uniforms_R: torch.Tensor, temperature: float, top_p: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """(tokens (R,), their log-probabilities (R,)) under `distribution`."""
    logprobs_RV = distribution(logits_RV, temperature, top_p)
    if temperature == 0.0:
        chosen_R = logprobs_RV.argmax(dim=-1)
    else:
        cumulative_RV = logprobs_RV.double().exp().cumsum(dim=-1)
        at_R1 = (uniforms_R.double() * cumulative_RV[:, -1])[:, None]
        chosen_R = torch.searchsorted(cumulative_RV, at_R1, right=True)[:, 0]
        # rounding may put the number at the very end, behind tokens of probability 0
        last_R = (cumulative_RV < cumulative_RV[:, -1:]).sum(dim=-1)
        chosen_R = torch.minimum(chosen_R, last_R)
    return chosen_R, logprobs_RV.gather(-1, chosen_R[:, None])[:, 0]
