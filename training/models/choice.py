"""P(choice) from the first token of each choice: a yes/no question to a language model, without generating.

    P(success) = p(first token of "success") / Σ over choices of p(their first tokens)

The prompts are read once, all choices share that; a choice's further tokens follow from its first where those differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from harness.errors import UsageError
from training.models.generate import GenerationConfig, batches, inference, prefill, tokenise
from training.models.prompting import PromptEncoder


def choice_probabilities(
    model: Any, tokenizer: Any, prompts: Sequence[str], choices: Sequence[str], config: GenerationConfig | None = None
) -> list[tuple[float, ...]]:
    """For each prompt the probability of each choice; they sum to 1. Raises UsageError where two choices begin alike."""
    encoder = PromptEncoder(tokenizer)
    firsts = [encoder.text(choice)[0] for choice in choices]
    if len(set(firsts)) < len(firsts):
        raise UsageError(
            f"{' and '.join(map(repr, choices))} begin with the same token: their probabilities cannot be told apart",
            fix="use a model whose tokenizer tells them apart",
        )
    config = (config or GenerationConfig()).model_copy(update={"max_new_tokens": 1})
    ids = tokenise(model, tokenizer, prompts, 1)
    found: list[tuple[float, ...]] = [()] * len(ids)
    with inference(model, config):
        for batch in batches(ids, 1, config):
            logits_RV, _ = prefill(model, [ids[i] for i in batch], config)
            probabilities = torch.softmax(logits_RV[:, firsts].float(), dim=-1)
            for index, row in zip(batch, probabilities.tolist(), strict=True):
                found[index] = tuple(row)
    return found
