"""A whole training in seconds: what it writes, how it ends, what it refuses. Resuming: test_resume."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.protocols import WorldModel
from tests.training.sft.support import config, make_data
from training.models import load_checkpoint
from training.world_model.model import load
from training.world_model.model.learned import LearnedWorldModel
from training.world_model.sft import SftConfig, Trained, read_config, train
from training.world_model.sft.callbacks import read_log
from training.world_model.transitions import WorldModelExample, read_dataset

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("walks"))


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    settings = config(train={"max_steps": 120, "epochs": 60}, checks={"log_every": 5, "every": 60})
    return train(settings, data, tmp_path_factory.mktemp("out") / "tiny")


def test_it_learns_and_its_checkpoint_foresees_pages(trained: Trained, data: Path) -> None:
    losses = [line["loss"] for line in read_log(trained.directory / "train_log.jsonl") if "loss" in line]
    assert losses[0] == pytest.approx(math.log(400), rel=0.15), "random weights know nothing"
    assert losses[-1] < 0.6 * losses[0]
    model = load(trained.directory)
    assert isinstance(model, LearnedWorldModel)
    examples = list(read_dataset(data, "train"))[:4]
    answers = model.predict([example.query for example in examples], samples=2)
    assert [len(row) for row in answers] == [2, 2, 2, 2]
    for row in answers:
        for said in row:
            assert said.token_ids
            assert said.token_logprobs is not None
            assert len(said.token_ids) == len(said.token_logprobs)
            assert (said.next_observation is None) <= bool(said.malformed)
            assert said.usage.completion_tokens >= len(said.token_ids), "a repaired answer has paid for its first try as well"
    again = model.predict([examples[0].query])[0][0]
    assert again.text == model.predict([example.query for example in examples])[0][0].text


def test_the_log_counts_tokens_and_steps(trained: Trained) -> None:
    lines = read_log(trained.directory / "train_log.jsonl")
    steps = [line for line in lines if "loss" in line]
    assert [line["step"] for line in steps] == list(range(5, 121, 5))
    assert all(set(line) == {"step", "tokens", "seconds", "loss", "lr", "grad_norm", "accuracy"} for line in steps)
    tokens = [line["tokens"] for line in steps]
    assert tokens == sorted(set(tokens))
    assert tokens[-1] == trained.tokens
    dev = [line for line in lines if "dev" in line]
    assert [line["step"] for line in dev] == [60, 120]
    assert set(dev[0]["dev"]) == {"loss", "assessment_loss", "seconds"}, "no AUROC: dev holds successes alone"
    card = load_checkpoint(trained.directory).card
    assert (card.format, card.assesses, card.preset) == ("edits", True, "tiny")
    assert card.training["ended"] == "steps"
    assert (trained.directory / "tensorboard").is_dir()


def test_prompts_count_in_the_loss_for_the_first_steps_only(data: Path, tmp_path: Path) -> None:
    """Nearly all tokens of a row are prompt: the loss drops to that of targets alone when they stop counting."""
    prepared = {}
    for share in (0.0, 0.5):
        train(config(train={"whole_rows": share}), data, tmp_path / str(share))
        lines = [line for line in read_log(tmp_path / str(share) / "train_log.jsonl") if "loss" in line]
        prepared[share] = [line["loss"] for line in lines]
    assert prepared[0.0][0] != prepared[0.5][0]
    assert prepared[0.0][1:] != prepared[0.5][1:]
    assert prepared[0.5][6] < prepared[0.5][5], "from the seventh of twelve steps on only targets count"


def test_equal_configurations_give_equal_losses_and_another_seed_does_not(data: Path, tmp_path: Path) -> None:
    curves = []
    for name, settings in (("a", config()), ("b", config()), ("c", config().model_copy(update={"seed": 1}))):
        train(settings, data, tmp_path / name)
        curves.append([line["loss"] for line in read_log(tmp_path / name / "train_log.jsonl") if "loss" in line])
    assert curves[0] == curves[1]
    assert curves[0] != curves[2]


def test_dev_metrics_choose_the_best_weights_and_stop_early(data: Path, tmp_path: Path) -> None:
    """The evaluation is the caller's; here it says that the first look was the best one."""
    seen: list[int] = []

    def evaluate(model: WorldModel, examples: tuple[WorldModelExample, ...]) -> Mapping[str, float]:
        assert isinstance(model, LearnedWorldModel)
        assert model.predict([example.query for example in examples[:1]])[0][0].world_model
        seen.append(len(examples))
        return {"delta_f1": 1.0 / len(seen)}

    found = train(config(train={"max_steps": 40}, checks={"patience": 2}), data, tmp_path / "out", evaluate=evaluate)
    assert found.ended == "early stop"
    assert (found.steps, found.best) == (12, 1.0)
    assert seen == [4, 4, 4]
    best = load_checkpoint(tmp_path / "out").model.state_dict()
    first = tmp_path / "out" / "checkpoints" / "checkpoint-4" / "model.safetensors"
    from safetensors.torch import load_file

    assert all(best[name].equal(value) for name, value in load_file(first).items())


def test_a_time_budget_ends_with_a_checkpoint_that_says_so(data: Path, tmp_path: Path) -> None:
    found = train(config(train={"max_steps": 5000, "epochs": 5000, "max_minutes": 1e-6}), data, tmp_path / "out")
    assert (found.ended, found.steps) == ("time budget", 1)
    assert load_checkpoint(tmp_path / "out").card.training["ended"] == "time budget"


def test_lora_trains_and_is_saved_merged(data: Path, tmp_path: Path) -> None:
    settings = config(model={"lora": {"rank": 2, "alpha": 4}}, train={"precision": "bf16"})
    found = train(settings, data, tmp_path / "out")
    checkpoint = load_checkpoint(found.directory)
    assert not (found.directory / "adapter_config.json").exists()
    assert sum(p.numel() for p in checkpoint.model.parameters()) < 100_000


def test_a_finished_or_foreign_training_is_not_overwritten(trained: Trained, data: Path) -> None:
    with pytest.raises(UsageError, match="holds a training already") as caught:
        train(config(), data, trained.directory)
    assert "--resume" in caught.value.fix
    with pytest.raises(UsageError, match="begun with another configuration"):
        train(config(train={"learning_rate": 1e-4}), data, trained.directory, resume=True)


@pytest.mark.parametrize("name", ["nano", "micro", "paper"])
def test_every_preset_is_readable_and_named_after_its_file(name: str) -> None:
    found = read_config(ROOT / "configs" / "world_model" / f"{name}.toml", {"train": {"max_steps": 3, "max_minutes": None}})
    assert found.preset == name
    assert found.train.max_steps == 3
    longest = found.format.max_prompt_tokens + found.format.max_new_tokens
    assert found.rows.lengths[-1] >= longest


def test_every_field_of_a_configuration_is_explained() -> None:
    import ast
    import inspect

    from training.models import presets
    from training.world_model.sft import config as module

    for source in (inspect.getsource(module), inspect.getsource(presets)):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Section", "Config")) and node.name != "SftConfig":
                for field, after in zip(node.body, node.body[1:], strict=False):
                    if isinstance(field, ast.AnnAssign):
                        assert isinstance(after, ast.Expr), f"{node.name}.{ast.unparse(field.target)}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[train]\nepochs = 0", "train.epochs"),
        ("[train]\nsteps = 3", "train.steps"),
        ("[rows]\nlengths = [64, 32]", "rows.lengths must ascend"),
        ("[checks]\nevery = 15", "multiple of checks.log_every"),
        ("[model\n", "is not TOML"),
    ],
)
def test_a_wrong_configuration_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_config(tmp_path / "x.toml")
    with pytest.raises(UsageError, match="cannot read"):
        read_config(tmp_path / "none.toml")


def test_the_digest_forgets_only_the_time_budget() -> None:
    plain = config()
    assert plain.digest == config(train={"max_minutes": 3}).digest
    assert plain.digest != config(train={"beta2": 0.9}).digest
    assert SftConfig.model_validate_json(json.dumps(plain.model_dump(mode="json"))).digest == plain.digest
