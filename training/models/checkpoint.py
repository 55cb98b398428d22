"""A checkpoint directory: what Hugging Face writes, and one file of ours that says what it is.

    config.json, model.safetensors, generation_config.json     save_pretrained (or adapter_*: LoRA additions alone)
    tokenizer.json, tokenizer_config.json, …                   the tokenizer and its chat template
    preset.json                                                CheckpointCard: format, budgets, versions, data, commit

Any server that loads a Hugging Face directory serves it. Loading checks that the parts belong together.
"""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, ValidationError
from transformers import AutoModelForCausalLM, AutoTokenizer

from harness.errors import NotReadyError, UsageError
from harness.types import JsonDict, Record
from results.environment import git_state, package_versions
from training.models.attention import use_stock_attention
from training.models.tokenizer import fingerprint

CARD, ADAPTER = "preset.json", "adapter_config.json"
CHECKPOINT_SCHEMA_VERSION = 1
BEGAN_AT = git_state(Path(__file__).resolve().parent)
"""(commit, dirty) as this process was loaded: a checkout that moves on while a model is trained did not train it."""
LIBRARIES = ("dynaweb-harness", "torch", "transformers", "tokenizers", "trl", "peft", "accelerate")


class CheckpointCard(Record):
    """preset.json."""

    schema_version: int = CHECKPOINT_SCHEMA_VERSION
    kind: Literal["world_model", "agent"]
    preset: str
    """Name of the configuration, as `nano`."""
    format: str = ""
    """World model: name of its output format. Agent: its action syntax."""
    format_options: JsonDict = Field(default_factory=dict)
    """What the format was made with: prompts must be written the same way in use as in training."""
    max_prompt_tokens: int
    max_new_tokens: int
    assesses: bool = False
    """Was it taught to say whether a goal is reached?"""
    tokenizer_sha256: str = ""
    """Filled in by `save_checkpoint`, as the next three."""
    weights_sha256: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    commit: str | None = None
    """This project's, with `-dirty` where files differed."""
    data_sha256: str = ""
    training: JsonDict = Field(default_factory=dict)
    """The configuration it was trained with, steps, tokens, seconds, why it ended."""


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint, ready for inference."""

    directory: Path
    model: Any
    tokenizer: Any
    card: CheckpointCard

    @property
    def name(self) -> str:
        return f"{self.card.preset}:{self.card.tokenizer_sha256[:8]}:{self.directory.name}"


def save_checkpoint(directory: Path, model: Any, tokenizer: Any, card: CheckpointCard) -> CheckpointCard:
    """Write all parts; preset.json last, so that a directory with it is complete. Returns the card as written."""
    commit, dirty = BEGAN_AT
    directory.mkdir(parents=True, exist_ok=True)
    (directory / CARD).unlink(missing_ok=True)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    card = card.model_copy(
        update={
            "tokenizer_sha256": fingerprint(tokenizer),
            "weights_sha256": weights_hash(directory),
            "versions": package_versions(LIBRARIES),
            "commit": f"{commit}-dirty" if commit and dirty else commit,
        }
    )
    partial = directory / f".{CARD}.{os.getpid()}"
    partial.write_text(card.model_dump_json(indent=2), encoding="utf-8")
    partial.replace(directory / CARD)
    return card


def weights_hash(directory: Path) -> str:
    """SHA-256 over the weight files in order of their names."""
    digest = hashlib.sha256()
    for path in sorted(directory.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def read_card(directory: Path) -> CheckpointCard:
    """Raises UsageError if `directory` holds no complete checkpoint of ours."""
    path = directory / CARD
    if not path.is_file():
        raise UsageError(
            f"{directory} is not a checkpoint: it has no {CARD}",
            fix="give the directory that `harness train` wrote; a training that has not ended has none yet",
        )
    try:
        return CheckpointCard.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise UsageError(f"{path} cannot be read: {first}", fix="train again, or restore the file") from None


def load_checkpoint(directory: Path | str, *, dtype: torch.dtype = torch.float32, device: str = "auto") -> Checkpoint:
    """Load and check a checkpoint. `device`: auto (a GPU where there is one), cpu, cuda:0 …

    Raises UsageError where parts are missing, unreadable or do not belong together (a tokenizer of another training).
    """
    directory = Path(directory)
    card = read_card(directory)
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
        model = _weights(directory, dtype)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001  (transformers, safetensors and tokenizers each raise their own)
        first = (str(error).splitlines() or [""])[0]
        raise UsageError(f"{directory} cannot be loaded: {first}", fix="copy the whole directory again, or train again") from None
    check_fit(model, tokenizer, card, directory)
    return Checkpoint(directory, model.to(best_device() if device == "auto" else device).eval(), tokenizer, card)


def check_fit(model: Any, tokenizer: Any, card: CheckpointCard, directory: Path) -> None:
    """Raises UsageError unless this tokenizer is the one that the weights were trained with."""
    fix = "restore the tokenizer's files from the same training, or train again"
    rows = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > rows:
        raise UsageError(f"{directory}: the tokenizer has {len(tokenizer)} tokens, the model only {rows}", fix=fix)
    if card.tokenizer_sha256 and fingerprint(tokenizer) != card.tokenizer_sha256:
        raise UsageError(f"{directory}: the tokenizer is not the one of this training (another fingerprint)", fix=fix)
    if tokenizer.eos_token_id is None:
        raise UsageError(f"{directory}: the tokenizer has no end token, so no text would ever end", fix=fix)


def inference_copy(model: Any) -> Any:
    """A copy in float32 without what training put around the forward, LoRA merged: what a saved checkpoint would be."""
    copied = copy.deepcopy(model)
    for module in copied.modules():
        module.__dict__.pop("forward", None)
        module.__dict__.pop("_original_forward", None)
    if hasattr(copied, "peft_config"):
        copied = copied.merge_and_unload()
    use_stock_attention(copied)
    return copied.float().eval()


def copy_checkpoint(source: Path, target: Path) -> None:
    """Copy a checkpoint's own files, not what lies beside them (logs, states for resuming)."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name != CARD:
            shutil.copy2(path, target / path.name)
    shutil.copy2(source / CARD, target / CARD)


def best_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _weights(directory: Path, dtype: torch.dtype) -> Any:
    if not (directory / ADAPTER).is_file():
        return AutoModelForCausalLM.from_pretrained(directory, local_files_only=True, dtype=dtype)
    from peft import PeftConfig, PeftModel

    base = str(PeftConfig.from_pretrained(str(directory)).base_model_name_or_path or "")
    if not (Path(base) / "config.json").is_file():
        raise NotReadyError(f"{directory} holds LoRA additions to {base!r}, which is not there", fix="put the base model there")
    model = AutoModelForCausalLM.from_pretrained(base, local_files_only=True, dtype=dtype)
    return PeftModel.from_pretrained(model, str(directory)).merge_and_unload()
