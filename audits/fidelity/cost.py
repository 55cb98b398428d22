"""What a prediction costs: tokens, seconds, an estimate of floating-point operations, and a projection to a GPU.

    FLOPs ≈ 2 · N · (prompt tokens + answer tokens)         N parameters; attention's own products left out
                                                            (Kaplan et al. 2020, arXiv:2001.08361, §2.1)

    projected seconds per prediction at batch B, on a device of F FLOP/s and W bytes/s:
        prefill  = 2·N·prompt / (F · efficiency)                        bound by arithmetic
        decode   = answer · max(bytes·N / W, 2·N·B / (F · efficiency)) / B      bound by reading the weights, shared by the batch

The projection leaves out the KV cache's traffic, scheduling and sampling: a lower bound on time, to be checked on a device.
"""

from __future__ import annotations

from collections.abc import Sequence

from audits.fidelity.figures import mean
from audits.fidelity.records import Figures, PageScore
from harness.types import Record

BYTES_PER_WEIGHT = 2
"""bf16."""


class Device(Record):
    """A processor as the projection sees it. `flops` are dense bf16 operations per second, `bandwidth` bytes per second."""

    name: str
    flops: float
    bandwidth: float
    efficiency: float = 0.4
    """Share of `flops` that large matrix products reach in serving; measure it, or quote the projection as a bound."""


H100 = Device(name="H100 SXM", flops=989e12, bandwidth=3.35e12)
H200 = Device(name="H200 SXM", flops=989e12, bandwidth=4.8e12)
"""Vendor's data sheets: dense bf16, without sparsity."""


def flops(parameters: int, prompt_tokens: float, completion_tokens: float) -> float:
    """Floating-point operations of one prediction."""
    return 2.0 * parameters * (prompt_tokens + completion_tokens)


def projected_seconds(device: Device, parameters: int, prompt_tokens: float, completion_tokens: float, batch: int) -> float:
    """Seconds per prediction with `batch` sequences at once, by the formula above."""
    speed = device.flops * device.efficiency
    prefill = 2.0 * parameters * prompt_tokens / speed
    per_token = max(BYTES_PER_WEIGHT * parameters / device.bandwidth, 2.0 * parameters * batch / speed)
    return prefill + completion_tokens * per_token / batch


def cost_figures(scores: Sequence[PageScore], parameters: int | None) -> Figures:
    """cost.flops; nothing where the number of parameters is unknown."""
    if parameters is None:
        return {}
    each = [flops(parameters, s.prompt_tokens, s.completion_tokens) for s in scores]
    return {"cost.flops": mean(list(each), [s.template for s in scores])}
