"""Which model to train: small ones made here, or any causal model in a Hugging Face directory.

    base = "nano"        a Llama of about 4M parameters with random weights and its own tokenizer; minutes on two cores
    base = "smollm2"     SmolLM2-135M-Instruct (`micro`); an hour or two
    base = DIRECTORY     weights that you have: the `paper` presets name gpt-oss-120b and Llama-3.1-8B

nano's shape (256 wide, 4 layers, 4 heads of 64): two query heads share one key/value head, because on a CPU sampling reads the
cache at every step, and that makes it half; heads of 64 train a fifth faster than heads of 32.
Input and output embeddings are one matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from pydantic import Field, model_validator
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, set_seed

from harness.errors import UsageError
from harness.types import Record
from training.models.smollm2 import load_smollm2
from training.models.tokenizer import train_tokenizer

NANO, SMOLLM2 = "nano", "smollm2"


class LoraConfig(Record):
    """`[model.lora]`: train low-rank additions instead of all weights (Hu et al. 2021; PEFT)."""

    rank: int = Field(default=16, ge=1)
    """Width of the additions."""
    alpha: int = Field(default=32, ge=1)
    """Their scale is alpha / rank."""
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Share of their inputs that is dropped in training."""
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    """Names of the layers that get one; never the output layer."""
    merge: bool = True
    """Save the sum of weights and additions, which every server loads; false saves the additions alone."""

    @model_validator(mode="after")
    def _no_head(self) -> LoraConfig:
        if "lm_head" in self.targets:
            raise ValueError("lora.targets must not name lm_head: the loss reads its weight, so an addition would not be trained")
        return self


class ModelConfig(Record):
    """`[model]` of a training configuration."""

    base: str = NANO
    """`nano`, `smollm2`, or a directory with a causal model and its tokenizer."""
    vocab_size: int = Field(default=4096, ge=259, le=65536)
    """nano: tokens of its tokenizer at most."""
    hidden_size: int = Field(default=256, ge=16)
    """nano: width."""
    layers: int = Field(default=4, ge=1)
    """nano: depth."""
    heads: int = Field(default=4, ge=1)
    """nano: query heads of a layer."""
    kv_heads: int = Field(default=2, ge=1)
    """nano: key/value heads of a layer; must divide `heads`."""
    intermediate_size: int = Field(default=768, ge=16)
    """nano: width inside a feed-forward block."""
    context: int = Field(default=4096, ge=64)
    """nano: longest sequence in tokens."""
    lora: LoraConfig | None = None
    """Left out: all weights are trained."""

    @model_validator(mode="after")
    def _heads_fit(self) -> ModelConfig:
        if self.hidden_size % (2 * self.heads) or self.heads % self.kv_heads:
            raise ValueError("heads must divide hidden_size into even parts, and kv_heads must divide heads")
        return self


def build_model(config: ModelConfig, texts: Iterable[str], *, seed: int = 0) -> tuple[Any, Any]:
    """(model in float32, tokenizer) before training. `texts` teach nano's tokenizer; the others bring their own.

    Equal config, texts and seed give equal weights. Raises UsageError for a directory that holds no model.
    """
    if config.base == NANO:
        tokenizer = train_tokenizer(texts, config.vocab_size, config.context)
        return nano(config, tokenizer, seed=seed), tokenizer
    if config.base == SMOLLM2:
        return load_smollm2()
    return load_base(Path(config.base))


def nano(config: ModelConfig, tokenizer: Any, *, seed: int = 0) -> Any:
    """A Llama with random weights, drawn from `seed`, that fits the tokenizer."""
    state = torch.random.get_rng_state()
    set_seed(seed)
    try:
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=config.hidden_size,
                intermediate_size=config.intermediate_size,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.kv_heads,
                max_position_embeddings=config.context,
                tie_word_embeddings=True,
                pad_token_id=tokenizer.pad_token_id,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
            )
        )
    finally:
        torch.random.set_rng_state(state)
    return model.eval()


def load_base(directory: Path, dtype: torch.dtype = torch.float32) -> tuple[Any, Any]:
    """(model, tokenizer) of a local Hugging Face directory; nothing is downloaded. Raises UsageError."""
    if not (directory / "config.json").is_file():
        raise UsageError(
            f"model.base: {directory} is neither nano, nor smollm2, nor a directory with a config.json",
            fix="download the model to a directory first, and name that",
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(directory, local_files_only=True, dtype=dtype)
    except (OSError, ValueError, KeyError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise UsageError(f"{directory} holds no model that transformers can load: {first}", fix="download it again") from None
    return model.eval(), tokenizer


def with_lora(model: Any, config: LoraConfig) -> Any:
    """The model with trainable additions, all else frozen. Raises UsageError if no layer has a target's name."""
    from peft import LoraConfig as PeftLora
    from peft import get_peft_model

    settings = PeftLora(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=list(config.targets),
    )
    try:
        return get_peft_model(model, settings)
    except ValueError as error:
        raise UsageError(f"model.lora.targets: {error}", fix="name layers of this model") from None


def precision(wanted: str = "auto") -> bool:
    """Should matrix products run in bfloat16? `auto`: yes where the processor multiplies it in hardware.

    Weights stay float32 either way: pure bfloat16 AdamW loses small updates.
    """
    if wanted != "auto":
        return wanted == "bf16"
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    able = torch.cpu.get_capabilities()
    return bool(able.get("amx_bf16") or able.get("avx512_bf16"))
