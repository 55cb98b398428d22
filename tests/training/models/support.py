"""A model of a few thousand weights and its tokenizer, made in a fraction of a second; real ones, only small."""

from __future__ import annotations

from typing import Any

from training.models import ModelConfig, build_model

TINY = ModelConfig(vocab_size=400, hidden_size=32, layers=2, heads=4, kv_heads=2, intermediate_size=64, context=512)
TEXTS = (
    "button 'Add to basket' link 'Sign in' heading 'Blue mug' textbox 'Search' success failure " * 4,
    "click button 'Sign in' opens 'Log in | Shop' set 'Search' value 'mug' add StaticText 'Added to basket' " * 4,
)


def tiny(seed: int = 0, **changes: Any) -> tuple[Any, Any]:
    """(model, tokenizer)."""
    return build_model(TINY.model_copy(update=changes), TEXTS, seed=seed)
