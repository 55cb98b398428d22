"""The loss: by hand, as the seeds work it out, and against TRL's own on the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st
from trl.trainer.sft_config import SFTConfig as TrlConfig
from trl.trainer.sft_trainer import SFTTrainer

from tests.training.models.support import tiny
from training.models import PromptEncoder
from training.models.checkpoint import inference_copy
from training.models.choice import choice_probabilities
from training.models.heads import add_target_head
from training.world_model.sft.batches import plan
from training.world_model.sft.judging import Verdicts
from training.world_model.sft.loss import ROUNDED_TO, target_loss, target_positions
from training.world_model.sft.tokens import IGNORED, TokenTable, _table
from training.world_model.sft.trainer import TargetTrainer

ROWS = (
    ("button 'Add to basket' link 'Sign in'", "click button 'Sign in'"),
    ("heading 'Blue mug' textbox 'Search'", "set 'Search' value 'mug'"),
    ("link 'Sign in'", "add StaticText 'Added to basket' failure success"),
)


def test_the_seeds_example_worked_by_hand() -> None:
    """Two target positions with p = 0.8 and 0.5 (dynaweb-walkthrough §3.3): L = 0.4581, gradients −0.1 and −0.25; p → 0.50625."""
    z = torch.tensor([math.log(0.8 / 0.2), 0.0], requires_grad=True)
    logits = torch.stack([z, torch.zeros(2)], dim=-1)  # p(label 0) = sigmoid(z)
    loss = target_loss(logits, torch.tensor([0, 0]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(loss.detach()) == pytest.approx(0.4581, abs=5e-5)
    assert z.grad is not None
    assert z.grad.tolist() == pytest.approx([-0.1, -0.25])
    after = z.detach() - 0.1 * z.grad
    assert float(after[1]) == pytest.approx(0.025)
    assert float(torch.sigmoid(after[1])) == pytest.approx(0.50625, abs=1e-5)


def test_positions_without_label_change_nothing() -> None:
    logits, labels = torch.randn(4, 7), torch.tensor([1, 2, IGNORED, IGNORED])
    other = logits.clone()
    other[2:] = 1e6
    assert torch.equal(target_loss(logits, labels), target_loss(other, labels))
    assert float(target_loss(logits, torch.full((4,), IGNORED))) == 0.0


def test_weights_scale_a_positions_gradient_and_leave_the_others() -> None:
    """The seeds' two positions; the second counts three times: 0.5 · (0.2231 + 3 · 0.6931), gradients −0.1 and −0.75."""
    z = torch.tensor([math.log(0.8 / 0.2), 0.0], requires_grad=True)
    logits = torch.stack([z, torch.zeros(2)], dim=-1)
    loss = target_loss(logits, torch.tensor([0, 0]), weights_N=torch.tensor([1.0, 3.0]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(loss.detach()) == pytest.approx(0.5 * (-math.log(0.8) - 3 * math.log(0.5)))
    assert z.grad is not None
    assert z.grad.tolist() == pytest.approx([-0.1, -0.75])
    labels, ones, logits = torch.tensor([0, IGNORED]), torch.ones(2), logits.detach()
    assert float(target_loss(logits, labels, weights_N=ones)) == pytest.approx(float(target_loss(logits, labels)))


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=4))
def test_a_target_is_predicted_from_the_position_before_it(targets: list[list[bool]]) -> None:
    """Row by row: label t is predicted at t − 1; a label at position 0 has nothing before it."""
    labels = torch.tensor([[10 * r + c if on else IGNORED for c, on in enumerate(row)] for r, row in enumerate(targets)])
    positions, found = target_positions(labels)
    assert len(positions) % ROUNDED_TO == 0
    real = found != IGNORED
    pairs = set(zip(positions[real].tolist(), found[real].tolist(), strict=True))
    expected = {(5 * r + c - 1, 10 * r + c) for r, row in enumerate(targets) for c, on in enumerate(row) if on and c}
    assert pairs == expected


def test_logits_at_targets_are_those_of_the_whole_forward_and_of_the_copy() -> None:
    model, _ = tiny()
    ids = torch.randint(3, 200, (2, 9))
    with torch.no_grad():
        whole = model(ids).logits.reshape(18, -1)
        add_target_head(model)
        some = model(input_ids=ids, use_cache=False, target_positions=torch.tensor([3, 17]))
        torch.testing.assert_close(some, whole[[3, 17]])
        torch.testing.assert_close(model(ids).logits.reshape(18, -1), whole)
        torch.testing.assert_close(inference_copy(model)(ids).logits.reshape(18, -1), whole)


def table(tokenizer: Any, rows: Sequence[tuple[str, str]] = ROWS, kinds: Sequence[int] = (0, 0, 0)) -> TokenTable:
    encoder = PromptEncoder(tokenizer)
    encoded = [(encoder.prompt(prompt), encoder.completion(answer)) for prompt, answer in rows]
    parts = [torch.tensor([*p, *c]).numpy().astype("int32") for p, c in encoded]
    return _table(parts, [len(p) for p, _ in encoded], list(kinds))


def arguments(folder: Path, **more: Any) -> TrlConfig:
    return TrlConfig(
        output_dir=str(folder), bf16=False, use_cpu=True, report_to=[], max_steps=1, disable_tqdm=True, save_strategy="no",
        per_device_train_batch_size=3, max_length=None, dataloader_pin_memory=False, **more,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_loss_and_gradients_equal_trls_completion_only_loss(tmp_path: Path) -> None:
    """TRL tokenises prompt and completion itself; ours come from PromptEncoder. Same weights, same three rows, one batch."""
    ours, tokenizer = tiny()
    theirs, _ = tiny()
    rows = [{"prompt": f"<|start|>{prompt}", "completion": answer} for prompt, answer in ROWS]
    peer = SFTTrainer(
        model=theirs, args=arguments(tmp_path / "a"), train_dataset=Dataset.from_list(rows), processing_class=tokenizer
    )
    tokens = table(tokenizer)
    planned = plan(tokens, (64, 128), tokens_per_batch=1024, per_step=1, epochs=1, seed=0)
    settings = arguments(tmp_path / "b", remove_unused_columns=False, dataset_kwargs={"skip_prepare_dataset": True})
    trainer = TargetTrainer(ours, tokenizer, settings, tokens, tokens, planned, (64, 128), 1024)
    losses = []
    for model, one in ((theirs, peer), (ours, trainer)):
        batch = next(iter(one.get_train_dataloader()))
        count = (batch["labels"] != IGNORED).sum()
        loss = one.compute_loss(model.train(), dict(batch), num_items_in_batch=count)
        loss.backward()
        losses.append(float(loss.detach()))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    for (name, a), (_, b) in zip(theirs.named_parameters(), ours.named_parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-7, msg=name)


JUDGED = (
    ("assess\nlink 'Sign in'", "success"),
    ("assess\nbutton 'Add to basket'", "failure"),
    ("assess\nheading 'Blue mug'", "failure"),
    ("link 'Sign in'", "add StaticText 'Added to basket' failure success"),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("weight", "whole"), [(1.0, 0.0), (20.0, 0.0), (20.0, 1.0)])
def test_verdicts_weigh_more_once_prompts_do_not_count(tmp_path: Path, weight: float, whole: float) -> None:
    """Against the sum over rows by hand; the dev metrics against the probabilities that the judge will ask for."""
    model, tokenizer = tiny()
    tokens = table(tokenizer, JUDGED, (1, 1, 1, 0))
    planned = plan(tokens, (64, 128), tokens_per_batch=1024, per_step=1, epochs=1, seed=0)
    settings = arguments(tmp_path, remove_unused_columns=False, dataset_kwargs={"skip_prepare_dataset": True})
    trainer = TargetTrainer(
        model, tokenizer, settings, tokens, tokens, planned, (64, 128), 1024, whole_rows=whole, assess_weight=weight
    )
    batch = next(iter(trainer.get_train_dataloader()))
    count = (batch["labels"] != IGNORED).sum()
    loss = float(trainer.compute_loss(model.train(), dict(batch), num_items_in_batch=count).detach())
    logits = inference_copy(model)(batch["input_ids"]).logits
    each = torch.nn.functional.cross_entropy(
        logits[:, :-1].transpose(1, 2), batch["labels"][:, 1:], ignore_index=IGNORED, reduction="none"
    ).sum(dim=1)
    order = planned.batches[0]
    factors = torch.tensor([weight if tokens.kinds[row] == 1 and not whole else 1.0 for row in order])
    assert loss == pytest.approx(float((factors * each).sum() / count), rel=1e-4)

    found = trainer.evaluate()
    asked = [
        row[0]
        for row in choice_probabilities(inference_copy(model), tokenizer, [p for p, _ in JUDGED[:3]], ("success", "failure"))
    ]
    ranks = [(asked[0] > other) + 0.5 * (asked[0] == other) for other in asked[1:]]
    assert found["eval_assessment_auroc"] == pytest.approx(sum(ranks) / 2)
    assert found["eval_assessment_brier"] == pytest.approx(((1 - asked[0]) ** 2 + asked[1] ** 2 + asked[2] ** 2) / 3, rel=1e-3)


def test_a_verdict_of_one_kind_alone_ranks_nothing() -> None:
    _, tokenizer = tiny()
    verdicts = Verdicts(tokenizer)
    first = PromptEncoder(tokenizer).text("success")[0]
    verdicts.add(torch.zeros(2, len(tokenizer)), torch.tensor([first, first]))
    assert verdicts.metrics() == {}
