"""Shapes of the paper's models, to be checked without their weights: DynaWeb §4.1 trains a world model on gpt-oss-120b and an
agent on Llama-3.1-8B (from NNetNav's SFT).

A configuration's mistakes (a LoRA target that no layer has, a context that is too short, a memory that does not suffice) show
when the shape is built on PyTorch's `meta` device, which holds no numbers. Counts are checked against the model cards:
116.83 billion parameters (gpt-oss model card, table 1) and 8.03 billion (Llama 3.1 model card).
"""

from __future__ import annotations

from typing import Any

import torch
from accelerate import init_empty_weights
from transformers import AutoModelForCausalLM, GptOssConfig, LlamaConfig

from harness.types import Record
from training.models.presets import LoraConfig, with_lora

ADAM_BYTES = 16
"""Per trained parameter in mixed precision: float32 weight, gradient and two moments."""
FROZEN_BYTES = 2

PAPER_MODELS: dict[str, Any] = {
    # the defaults of GptOssConfig are gpt-oss-120b: 36 layers, 128 experts
    "gpt-oss-120b": GptOssConfig,
    "Llama-3.1-8B": lambda: LlamaConfig(
        vocab_size=128256,
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=131072,
        rms_norm_eps=1e-5,
        rope_theta=500000.0,
        rope_scaling={
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
        tie_word_embeddings=False,
    ),
}
"""Name as on the model card → its configuration."""


class Shape(Record):
    """What a model of this shape needs."""

    parameters: int
    trainable: int
    context: int
    gib: float
    """Weights, gradients and optimizer state over all devices, without activations. GiB."""


def shape_of(name: str, lora: LoraConfig | None) -> Shape:
    """Build the model without numbers and count. Raises KeyError for an unknown name, UsageError for LoRA targets it lacks."""
    config = PAPER_MODELS[name]()
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    parameters = sum(p.numel() for p in model.parameters())
    trainable = parameters
    if lora is not None:
        adapted = with_lora(model, lora)
        trainable = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
        frozen = parameters
    else:
        frozen = 0
    gib = (trainable * ADAM_BYTES + frozen * FROZEN_BYTES) / 2**30
    return Shape(parameters=parameters, trainable=trainable, context=config.max_position_embeddings, gib=round(gib, 1))
