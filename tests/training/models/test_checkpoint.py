from __future__ import annotations

from pathlib import Path

import pytest
import torch

from harness.errors import UsageError
from tests.training.models.support import TEXTS, tiny
from training.models import CheckpointCard, LoraConfig, load_checkpoint, save_checkpoint, train_tokenizer
from training.models.checkpoint import copy_checkpoint
from training.models.paper import PAPER_MODELS, shape_of
from training.models.presets import ModelConfig, with_lora

CARD = CheckpointCard(kind="world_model", preset="nano", format="edits", max_prompt_tokens=300, max_new_tokens=64)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model, tokenizer = tiny()
    save_checkpoint(tmp_path / "made", model, tokenizer, CARD)
    return tmp_path / "made"


def test_a_checkpoint_comes_back_as_it_was(saved: Path, tmp_path: Path) -> None:
    copy_checkpoint(saved, tmp_path / "copy")
    model, tokenizer = tiny()
    for directory in (saved, tmp_path / "copy"):
        found = load_checkpoint(directory)
        for (name, a), (_, b) in zip(model.state_dict().items(), found.model.state_dict().items(), strict=True):
            assert torch.equal(a, b), name
        assert found.tokenizer("Blue mug").input_ids == tokenizer("Blue mug").input_ids
        assert found.tokenizer.chat_template == tokenizer.chat_template
        assert found.card.model_dump() == CARD.model_dump() | {
            "tokenizer_sha256": found.card.tokenizer_sha256,
            "weights_sha256": found.card.weights_sha256,
            "versions": found.card.versions,
            "commit": found.card.commit,
        }
        assert found.card.versions["torch"]


def test_weights_are_a_function_of_the_seed_and_the_caller_keeps_its_own_stream() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    first, again, other = (tiny(seed)[0].lm_head.weight for seed in (0, 0, 1))
    assert torch.rand(1) == expected
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_another_tokenizer_is_refused(saved: Path) -> None:
    train_tokenizer([*TEXTS, "other words altogether, enough of them " * 5], 400).save_pretrained(saved)
    with pytest.raises(UsageError, match=r"the tokenizer (is not the one of this training|has \d+ tokens, the model only)"):
        load_checkpoint(saved)


@pytest.mark.parametrize("broken", ["preset.json", "model.safetensors", "tokenizer.json", "config.json"])
def test_a_missing_or_garbled_file_is_one_line_with_a_fix(saved: Path, broken: str) -> None:
    for spoil in (lambda path: path.write_bytes(b"\0garbage{"), lambda path: path.unlink()):
        spoil(saved / broken)
        with pytest.raises(UsageError) as caught:
            load_checkpoint(saved)
        assert caught.value.fix
        assert "\n" not in str(caught.value)


def test_lora_is_saved_merged_and_trains_only_its_additions(tmp_path: Path) -> None:
    model, tokenizer = tiny()
    adapted = with_lora(model, LoraConfig(rank=2, alpha=4, targets=("q_proj", "v_proj")))
    trainable = [name for name, p in adapted.named_parameters() if p.requires_grad]
    assert trainable
    assert all("lora_" in name for name in trainable)
    save_checkpoint(tmp_path, adapted.merge_and_unload(), tokenizer, CARD)
    assert load_checkpoint(tmp_path).model.config.model_type == "llama"
    with pytest.raises(UsageError, match=r"model\.lora\.targets"):
        with_lora(tiny()[0], LoraConfig(targets=("no_such_layer",)))
    with pytest.raises(ValueError, match="must not name lm_head"):
        LoraConfig(targets=("lm_head",))


def test_impossible_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="heads must divide"):
        ModelConfig(hidden_size=100, heads=8)


@pytest.mark.parametrize(("name", "billions"), [("gpt-oss-120b", 116.83), ("Llama-3.1-8B", 8.03)])
def test_the_paper_models_have_the_parameters_of_their_cards(name: str, billions: float) -> None:
    shape = shape_of(name, None)
    assert shape.parameters / 1e9 == pytest.approx(billions, abs=0.005)
    assert set(PAPER_MODELS) == {"gpt-oss-120b", "Llama-3.1-8B"}


def test_lora_on_the_paper_models_finds_its_layers() -> None:
    shape = shape_of("gpt-oss-120b", LoraConfig(rank=16, targets=("q_proj", "k_proj", "v_proj", "o_proj")))
    assert 0 < shape.trainable < shape.parameters / 1000
    assert shape.gib == pytest.approx(shape.parameters * 2 / 2**30, rel=0.02)
