from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.training.models.support import tiny
from training.models.attention import NAME, SHORT, short_attention, use_short_attention, use_stock_attention


@pytest.mark.parametrize("length", [7, 64])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.bfloat16, 2e-2)])
def test_it_is_causal_attention_forwards_and_backwards(length: int, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, heads, length, 16, dtype=dtype, requires_grad=True) for heads in (4, 2, 2))
    ours, _ = short_attention(None, query, key, value, None, scaling=0.3)
    whole = [x.float().repeat_interleave(2, dim=1) for x in (key, value)]
    scores = query.float() @ whole[0].transpose(2, 3) * 0.3
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    expected = (torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ whole[1]).transpose(1, 2)
    torch.testing.assert_close(ours.float(), expected, atol=tolerance, rtol=tolerance)
    weights = torch.randn_like(expected)
    found = torch.autograd.grad((ours.float() * weights).sum(), (query, key, value), retain_graph=True)
    wanted = torch.autograd.grad((expected * weights).sum(), (query, key, value))
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a.float(), b.float(), atol=4 * tolerance, rtol=4 * tolerance)


def test_short_rows_under_autocast_are_plain_products_and_long_ones_are_not() -> None:
    """The shortcut is what makes training fast; that it is taken shows in the graph, not in the numbers."""
    for length, shortcut in ((64, True), (SHORT + 1, False)):
        query, key, value = (torch.randn(1, 2, length, 16, requires_grad=True) for _ in range(3))
        with torch.autocast("cpu", torch.bfloat16):
            out, _ = short_attention(None, query, key, value, None)
        assert ("Flash" not in _graph(out.grad_fn)) == shortcut


def _graph(node: Any) -> str:
    seen, names, stack = set(), [], [node]
    while stack:
        if (current := stack.pop()) is not None and current not in seen:
            seen.add(current)
            names.append(current.name())
            stack.extend(parent for parent, _ in current.next_functions)
    return " ".join(names)


def test_a_model_keeps_its_outputs_and_gets_its_own_attention_back() -> None:
    model, _ = tiny()
    ids = torch.randint(3, 200, (2, 20))
    assert ids.shape[1] < SHORT
    with torch.no_grad():
        before = model(ids).logits
        use_short_attention(model)
        assert model.config._attn_implementation == NAME
        torch.testing.assert_close(model(ids).logits, before)
        with torch.autocast("cpu", torch.bfloat16):
            torch.testing.assert_close(model(ids).logits.float(), before, atol=0.1, rtol=0.1)
    use_stock_attention(model)
    assert model.config._attn_implementation == "sdpa"


def test_a_mask_is_refused_and_not_forgotten() -> None:
    x = torch.randn(1, 2, 4, 8)
    with pytest.raises(ValueError, match="give no attention mask"):
        short_attention(None, x, x, x, torch.zeros(1, 1, 4, 4))
