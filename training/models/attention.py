"""Causal attention over whole rows, on a CPU: for short ones in bfloat16 two plain matrix products beat the flash kernel.

Measured on an AMD EPYC with avx512_bf16 (nano, rows of 424 tokens, one thread, whole steps, tokens per second of processor time):
flash 6,200, products 9,800. From about 700 tokens on the scores, which grow with the square of the length, cost more than they
save, and in float32 they never pay: there it is PyTorch's own attention.

Shapes: B rows, H query heads, K key/value heads, L tokens, D head size.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from transformers import AttentionInterface

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
    if attention_mask is not None:
        raise ValueError("this attention is causal only: give no attention mask")
    return causal_attention(query_BHLD, key_BKLD, value_BKLD, scaling), None


def causal_attention(
    query_BHLD: torch.Tensor, key_BKLD: torch.Tensor, value_BKLD: torch.Tensor, scaling: float | None = None
) -> torch.Tensor:
    """(B, L, H, D): each position attends to itself and to those before it."""
    length, size = query_BHLD.shape[2:]
    shared = query_BHLD.shape[1] // key_BKLD.shape[1]
    key_BHLD, value_BHLD = (x.repeat_interleave(shared, dim=1) if shared > 1 else x for x in (key_BKLD, value_BKLD))
    kind = query_BHLD.device.type
    # under autocast queries and keys come out of the rotary embedding in float32 all the same
    half = query_BHLD.dtype == torch.bfloat16 or torch.is_autocast_enabled(kind)
    if kind != "cpu" or not half or length > SHORT:
        out = F.scaled_dot_product_attention(query_BHLD, key_BHLD, value_BHLD, is_causal=length > 1, scale=scaling)
    else:
        with torch.autocast(kind, enabled=False):  # it would widen the softmax, and copy the scores for that
            q, k, v = (x.to(torch.bfloat16).flatten(0, 1) for x in (query_BHLD, key_BHLD, value_BHLD))
            later_LL = torch.full((length, length), float("-inf"), dtype=q.dtype, device=q.device).triu(1)
            scores = torch.baddbmm(later_LL, q, k.transpose(1, 2), alpha=size**-0.5 if scaling is None else scaling)
            out = torch.bmm(torch.softmax(scores, dim=-1), v).unflatten(0, query_BHLD.shape[:2])
    return out.transpose(1, 2).contiguous()


def own_attention_fits(model: Any) -> bool:
    """May our attention stand in for the model's own: plain causal layers, reached through transformers' interface?"""
    sliding = "sliding_attention" in (getattr(model.config, "layer_types", None) or ())
    return bool(model._supports_attention_backend) and not sliding


AttentionInterface.register(NAME, short_attention)


def use_short_attention(model: Any) -> None:
    """Train this model with it, where it is on a CPU and its layers attend causally over everything."""
    if model.device.type == "cpu" and own_attention_fits(model):
        model.config._attn_implementation = NAME


def use_stock_attention(model: Any) -> None:
    """Undo `use_short_attention`, before a model is saved or used."""
    if model.config._attn_implementation == NAME:
        model.config._attn_implementation = "sdpa"
