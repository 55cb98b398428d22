"""Matrix products of inference through oneDNN: the same float32 numbers, up to rounding, twice as fast on AMD processors.

PyTorch hands float32 products on a CPU to MKL, which does not use an AMD processor's AVX-512. oneDNN does: on one thread of an
EPYC (8192, 256) × (256, 768) runs at 191 instead of 85 GFLOP/s. The operator is torch.compile's own for frozen weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def fast_linears(model: Any) -> Iterator[None]:
    """Inside the block the model's plain linear layers compute through oneDNN, where that is there and helps."""
    operator = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    changed: list[nn.Linear] = []
    if operator is not None and torch.backends.mkldnn.is_available() and model.device.type == "cpu":
        for module in model.modules():
            if type(module) is nn.Linear and module.weight.dtype == torch.float32 and "forward" not in module.__dict__:
                module.forward = _through_onednn(operator, module)  # type: ignore[method-assign]
                changed.append(module)
    try:
        yield
    finally:
        for module in changed:
            del module.__dict__["forward"]


def _through_onednn(operator: Any, module: nn.Linear) -> Any:
    def forward(x: torch.Tensor) -> torch.Tensor:
        if torch.is_autocast_enabled("cpu"):
            return nn.functional.linear(x, module.weight, module.bias)
        return operator(x.contiguous(), module.weight, module.bias, "none", [], "")  # type: ignore[no-any-return]

    return forward
