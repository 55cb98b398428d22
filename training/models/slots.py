"""The key/value cache of batched generation: one slot per row, prompts padded on the right.

    row 0   p p p p p p p p g g · ·        p: prompt     g: generated     ·: free
    row 1   p p p p p g g · · · · ·        the next token of a row goes to its own column: no left padding, no holes

Padding on the right needs no mask while prompts are read (a causal model never looks there), and the columns are overwritten by
what is generated; one mask of (rows, 1, 1, columns) per step hides what a row has not written. Compared with the stock caches
of transformers: nothing is copied per step (DynamicCache concatenates), nothing beyond the longest row is read (StaticCache
reads its whole capacity), and key/value heads that several query heads share are not repeated.

Shapes: R rows, H query heads, K key/value heads, L tokens, C columns (capacity), W columns in use, D head size.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from transformers import AttentionInterface, Cache
from transformers.cache_utils import CacheLayerMixin

from harness.errors import UsageError
from training.models.attention import causal_attention, own_attention_fits

ATTENTION = "dynaweb_slots"


class SlotLayer(CacheLayerMixin):
    """Keys and values of one layer: two tensors (R, K, C, D)."""

    is_sliding = False
    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, owner: SlotCache) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._owner = owner

    def lazy_initialization(self, key_states: torch.Tensor) -> None:
        _, heads, _, size = key_states.shape
        shape = (self._owner.rows, heads, self._owner.capacity, size)
        kind = key_states.device.type
        # under autocast attention runs in bfloat16: a float32 cache would be converted whole at every step
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else key_states.dtype
        self.keys, self.values = (key_states.new_zeros(shape, dtype=dtype) for _ in range(2))
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, cache_kwargs: dict[str, Any] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store new keys and values; return what the new tokens attend to."""
        if not self.is_initialized:
            self.lazy_initialization(key_states)
        owner = self._owner
        if owner.reading is not None:
            length = key_states.shape[2]
            self.keys[owner.reading, :, :length] = key_states
            self.values[owner.reading, :, :length] = value_states
            return key_states, value_states
        self.keys[owner.all_rows, :, owner.positions] = key_states[:, :, 0].to(self.keys.dtype)
        self.values[owner.all_rows, :, owner.positions] = value_states[:, :, 0].to(self.values.dtype)
        return self.keys[:, :, : owner.width], self.values[:, :, : owner.width]

    def select(self, rows: torch.Tensor) -> None:
        if self.is_initialized:
            self.keys, self.values = self.keys.index_select(0, rows), self.values.index_select(0, rows)

    def get_mask_sizes(self, cache_position: torch.Tensor) -> tuple[int, int]:
        return int(cache_position.shape[0]), 0

    def get_seq_length(self) -> int:
        return 0

    def get_max_cache_shape(self) -> int:
        return self._owner.capacity


class SlotCache(Cache):
    """All layers' slots. `reading` names the rows whose prompts are being read; None while generating."""

    def __init__(self, layers: int, rows: int, capacity: int, device: torch.device) -> None:
        self.rows, self.capacity = rows, capacity
        self.reading: slice | None = None
        self.positions = torch.zeros(rows, dtype=torch.long, device=device)
        """(R,) column that each row's next token goes to."""
        self.width = 0
        self.all_rows = torch.arange(rows, device=device)
        self._slots = [SlotLayer(self) for _ in range(layers)]
        super().__init__(layers=[*self._slots])

    def advance(self, positions: torch.Tensor) -> torch.Tensor:
        """The next tokens go to `positions` (R,). Returns the additive mask (R, 1, 1, W) of what each row sees."""
        self.reading, self.positions = None, positions
        self.width = int(positions.max()) + 1
        hidden = torch.arange(self.width, device=positions.device)[None] > positions[:, None]
        return torch.zeros(hidden.shape, device=positions.device).masked_fill_(hidden, float("-inf"))[:, None, None]

    def select(self, rows: torch.Tensor) -> None:
        """Keep, repeat or reorder rows: row i becomes what row `rows[i]` was."""
        for layer in self._slots:
            layer.select(rows)
        self.rows = int(rows.shape[0])
        self.all_rows = torch.arange(self.rows, device=rows.device)


def slot_attention(
    _module: Any,
    query_RHLD: torch.Tensor,
    key_RKWD: torch.Tensor,
    value_RKWD: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention for `SlotCache`, registered with transformers: causal over prompts, grouped over slots."""
    rows, heads, length, size = query_RHLD.shape
    shared = heads // key_RKWD.shape[1]
    if attention_mask is None:
        return causal_attention(query_RHLD, key_RKWD, value_RKWD, scaling), None
    # one new token per row: the query heads of a group stand where query positions would, so nothing is repeated
    grouped = query_RHLD.reshape(rows, heads // shared, shared, size).to(key_RKWD.dtype)
    mask = attention_mask.to(grouped.dtype)
    out = F.scaled_dot_product_attention(grouped, key_RKWD, value_RKWD, attn_mask=mask, scale=scaling)
    return out.reshape(rows, heads, length, size).transpose(1, 2).contiguous(), None


AttentionInterface.register(ATTENTION, slot_attention)


@contextmanager
def slot_attention_in(model: Any) -> Iterator[None]:
    """The model attends through slots inside the block. Raises UsageError for an architecture that this would falsify."""
    config = model.config
    if not own_attention_fits(model):
        raise UsageError(
            f"{config.model_type} cannot generate in this process: its layers attend in their own way",
            fix="serve it with vLLM and give http:FILE.toml",
        )
    before, training = config._attn_implementation, model.training
    config._attn_implementation = ATTENTION
    model.eval()
    try:
        yield
    finally:
        config._attn_implementation = before
        model.train(training)
