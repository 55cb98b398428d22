"""Causal attention for training on a CPU: for short rows in bfloat16 two plain matrix products beat the flash kernel.

Measured on a 2-core AMD EPYC with avx512_bf16 (nano, rows of 416 tokens, one thread, tokens per processor second, whole steps):
8 heads of 32: flash 4,300, products 7,200; 4 heads of 64: flash 6,000, products 8,700. From about 700 tokens on the scores, which
grow with the square of the length, cost more than they save, and in float32 they never pay: there it is PyTorch's own attention.

Shapes: B rows, H query heads, K key/value heads, L tokens, D head size.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from transformers import AttentionInterface

from training.models.slots import own_attention_fits

NAME = "dynaweb_short"
SHORT = 640
"""Rows of at most so many tokens are attended to with plain products."""


def short_attention(
    _module: Any,
    query_BHLD: torch.Tensor,
    key_BKLD: torch.Tensor,
    value_BKLD: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Registered with transformers as `dynaweb_short`. Rows are padded on the right: causality is all the mask there is."""
    length, size = query_BHLD.shape[2:]
    shared = query_BHLD.shape[1] // key_BKLD.shape[1]
    if shared > 1:
        key_BKLD, value_BKLD = (x.repeat_interleave(shared, dim=1) for x in (key_BKLD, value_BKLD))
    if attention_mask is not None:
        raise ValueError("this attention is causal only: give no attention mask")
    if query_BHLD.dtype != torch.bfloat16 or length > SHORT:
        out = F.scaled_dot_product_attention(query_BHLD, key_BKLD, value_BKLD, is_causal=True, scale=scaling)
    else:
        scores_BHLL = torch.matmul(query_BHLD, key_BKLD.transpose(2, 3)) * (size**-0.5 if scaling is None else scaling)
        later_LL = torch.full((length, length), float("-inf"), dtype=scores_BHLL.dtype, device=scores_BHLL.device).triu(1)
        weights_BHLL = torch.softmax(scores_BHLL + later_LL, dim=-1, dtype=torch.float32)
        out = torch.matmul(weights_BHLL.to(value_BKLD.dtype), value_BKLD)
    return out.transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, short_attention)


def use_short_attention(model: Any) -> None:
    """Train this model with it, where it is on a CPU and its layers attend causally over everything."""
    if model.device.type == "cpu" and own_attention_fits(model):
        model.config._attn_implementation = NAME


def use_stock_attention(model: Any) -> None:
    """Undo `use_short_attention`, before a model is saved or used."""
    if model.config._attn_implementation == NAME:
        model.config._attn_implementation = "sdpa"
