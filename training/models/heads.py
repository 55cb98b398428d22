"""Logits at chosen positions only: on a CPU the output layer over a whole page costs more than the rest of a small model.

Rows are padded on the right and attended to causally, so that training needs no attention mask (training.models.attention).

Shapes: B rows, L tokens, N chosen positions, H width, V vocabulary.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import torch


def network_of(model: Any) -> Any:
    """The transformers model inside what accelerate and PEFT put around it."""
    inner = getattr(model, "module", model)
    return inner.get_base_model() if hasattr(inner, "peft_config") else inner


def add_target_head(model: Any) -> None:
    """`model(…, target_positions=(N,))` returns logits (N, V) at these positions of the flattened (B·L) hidden states.

    Without them the forward is as before. Inside the model's own forward, because FSDP gathers weights and PEFT adds to them
    there and nowhere else. A second call changes nothing.
    """
    if getattr(model.forward, "has_target_head", False):
        return
    original = model.forward

    @functools.wraps(type(model).forward)
    def forward(self: Any, *args: Any, target_positions: torch.Tensor | None = None, **kwargs: Any) -> Any:
        if target_positions is None:
            return original(*args, **kwargs)
        kwargs.pop("labels", None)
        kwargs.pop("num_items_in_batch", None)
        hidden_BLH = self.base_model(*args, **kwargs).last_hidden_state
        return self.get_output_embeddings()(hidden_BLH.reshape(-1, hidden_BLH.shape[-1])[target_positions])

    forward.has_target_head = True  # type: ignore[attr-defined]
    model.forward = types.MethodType(forward, model)
