"""A training from data set to checkpoint, in one call; the same call with `resume` goes on where a killed one stopped.

    OUT/prepared/      tokenizer, page memory, token arrays
    OUT/checkpoints/   states to resume from, with optimizer and random states
    OUT/tensorboard/   the curves
    OUT/train_log.jsonl
    OUT/…              the finished checkpoint: weights (best dev value), tokenizer, memory.jsonl.gz, preset.json

Deviations from the paper: nano and micro are small and may take more than its one epoch; labels are computed, not written by an
LLM (training.world_model.labels); the best checkpoint by dev value is kept, the paper does not say which one it keeps.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from accelerate import PartialState
from transformers import EarlyStoppingCallback, set_seed
from trl.trainer.sft_config import SFTConfig as TrlConfig

from harness.errors import UsageError
from harness.protocols import WorldModel
from harness.types import JsonDict
from training.models import CheckpointCard, GenerationConfig, save_checkpoint
from training.models.attention import use_stock_attention
from training.models.checkpoint import CARD
from training.models.presets import precision, with_lora
from training.world_model.model.learned import LearnedWorldModel
from training.world_model.sft.batches import Plan, plan
from training.world_model.sft.callbacks import LOG, MarkComplete, Report, TimeBudget, TrainLog, latest_complete, read_log
from training.world_model.sft.config import ChecksSection, SftConfig, TrainSection
from training.world_model.sft.prepare import Prepared, Progress, prepare
from training.world_model.sft.trainer import TargetTrainer, finished
from training.world_model.transitions import WorldModelExample

MEMORY = "memory.jsonl.gz"
SETTINGS = "settings.json"
"""What a training was begun with; `config.json` is the model's own, written at the end."""
Evaluate = Callable[[WorldModel, tuple[WorldModelExample, ...]], Mapping[str, float]]
"""(the model so far, dev transitions) → metrics; `delta_f1` among them decides which checkpoint is best and when to stop early.
Handed in by the command, because the metrics live in audits/, which training does not import."""


@dataclass(frozen=True)
class Trained:
    """How a training ended."""

    directory: Path
    steps: int
    tokens: int
    seconds: float
    ended: str
    """`steps`, `time budget` or `early stop`."""
    best: float | None
    """Best dev value: delta F1, or the loss where no evaluation was given."""
    counts: JsonDict


def train(
    config: SftConfig,
    data: Path,
    out: Path,
    *,
    evaluate: Evaluate | None = None,
    resume: bool = False,
    progress: Progress = lambda *_: None,
    report: Report = lambda *_: None,
) -> Trained:
    """Train and save. Raises UsageError where `out` holds a training that the call would overwrite or cannot go on with."""
    states = out / "checkpoints"
    machine = PartialState(cpu=not torch.cuda.is_available())
    processes = machine.num_processes
    with machine.main_process_first():  # one makes what is prepared, the others read it
        if machine.is_main_process:
            _check_target(config, out, states, resume)
        set_seed(config.seed)
        prepared = prepare(config, data, out, progress)
        if machine.is_main_process:
            (out / SETTINGS).write_text(config.model_dump_json(indent=2), encoding="utf-8")
    planned = plan(
        prepared.train,
        config.rows.lengths,
        tokens_per_batch=config.train.tokens_per_batch,
        per_step=config.train.batches_per_step * processes,
        epochs=config.train.epochs,
        seed=config.seed,
        max_steps=config.train.max_steps,
        max_tokens=config.train.max_tokens,
    )
    log = TrainLog(out / LOG, planned.tokens_at, report)
    budget = TimeBudget(log, config.train.max_minutes)
    callbacks: list[Any] = [log, budget, MarkComplete()]
    if config.checks.patience:
        callbacks.append(EarlyStoppingCallback(early_stopping_patience=config.checks.patience))
    model = prepared.model if config.model.lora is None else with_lora(prepared.model, config.model.lora)
    trainer = TargetTrainer(
        model,
        prepared.tokenizer,
        trl_arguments(config, out, planned, best="delta_f1" if evaluate is not None and processes == 1 else "loss"),
        prepared.train,
        prepared.dev,
        planned,
        config.rows.lengths,
        config.train.tokens_per_batch,
        measure=_measure(config, prepared, evaluate),
        whole_rows=config.train.whole_rows,
        assess_weight=config.rows.assess_weight,
        callbacks=callbacks,
    )
    start = latest_complete(states) if resume else None
    with warnings.catch_warnings():
        # accelerate and torch warn about their own calls of each other; nothing here is ours to change
        warnings.simplefilter("ignore")
        trainer.train(resume_from_checkpoint=str(start) if start else None)
    state = trainer.state
    ended = "time budget" if budget.spent else "steps" if state.global_step >= planned.steps else "early stop"
    trained = Trained(
        directory=out,
        steps=state.global_step,
        tokens=int(planned.tokens_at[state.global_step]),
        seconds=round(log.seconds, 1),
        ended=ended,
        best=state.best_metric,
        counts=prepared.counts,
    )
    _save(config, prepared, trainer, trained, planned)
    return trained


def _check_target(config: SftConfig, out: Path, states: Path, resume: bool) -> None:
    before = out / SETTINGS
    if not resume:
        if (out / CARD).exists() or latest_complete(states):
            raise UsageError(f"{out} holds a training already", fix="give --resume to go on with it, or another --out")
        if states.is_dir():
            shutil.rmtree(states)  # half-written states of a training that was killed before its first checkpoint
        return
    if before.is_file():
        try:
            same = SftConfig.model_validate_json(before.read_bytes()).digest == config.digest
        except ValueError:
            same = False
        if not same:
            raise UsageError(f"{out} was begun with another configuration", fix="give the same one, or another --out")


class Settings(Protocol):
    """What `trl_arguments` reads: the world model's configuration, and the agent's (training.agent.sft)."""

    @property
    def seed(self) -> int: ...
    @property
    def train(self) -> TrainSection: ...
    @property
    def checks(self) -> ChecksSection: ...


def trl_arguments(config: Settings, out: Path, planned: Plan, *, best: str) -> TrlConfig:
    """TRL's arguments for a planned training. `best`: the dev metric by which a checkpoint is the best; `loss` is to be small."""
    settings, checks = config.train, config.checks
    use_cpu = not torch.cuda.is_available()
    return TrlConfig(
        output_dir=str(out / "checkpoints"),
        logging_dir=str(out / "tensorboard"),
        max_steps=planned.steps,
        per_device_train_batch_size=1,
        gradient_accumulation_steps=settings.batches_per_step,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr_rate": settings.final_rate},
        warmup_steps=round(settings.warmup * planned.steps),
        weight_decay=settings.weight_decay,
        adam_beta2=settings.beta2,
        max_grad_norm=settings.clip,
        optim="adamw_torch_fused",
        bf16=precision(settings.precision),
        use_cpu=use_cpu,
        gradient_checkpointing=settings.gradient_checkpointing,
        seed=config.seed,
        data_seed=config.seed,
        logging_steps=checks.log_every,
        logging_nan_inf_filter=False,
        eval_strategy="steps",
        eval_steps=checks.every,
        save_strategy="steps",
        save_steps=checks.every,
        save_total_limit=checks.keep,
        load_best_model_at_end=True,
        metric_for_best_model=f"eval_{best}",
        greater_is_better=best != "loss",
        report_to=["tensorboard"],
        disable_tqdm=True,
        log_level="error",
        dataloader_pin_memory=not use_cpu,
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
        completion_only_loss=False,
        accelerator_config={"even_batches": False, "split_batches": False, "dispatch_batches": False},
    )


def _measure(config: SftConfig, prepared: Prepared, evaluate: Evaluate | None) -> Callable[[Any], Mapping[str, float]] | None:
    if evaluate is None:
        return None

    def measure(model: Any) -> Mapping[str, float]:
        world_model = LearnedWorldModel(
            model,
            prepared.tokenizer,
            prepared.form,
            name=config.preset,
            version="in training",
            generation=GenerationConfig(
                max_new_tokens=config.format.max_new_tokens,
                precision="bf16" if precision(config.train.precision) else "fp32",
            ),
            assesses=False,
        )
        return evaluate(world_model, prepared.dev_examples)

    return measure


def _save(config: SftConfig, prepared: Prepared, trainer: TargetTrainer, trained: Trained, planned: Plan) -> None:
    """The finished checkpoint; on several processes their parts of the weights are gathered first."""
    out = trained.directory
    accelerator = trainer.accelerator
    state = accelerator.get_state_dict(trainer.model_wrapped) if accelerator.num_processes > 1 else None
    if not trainer.is_world_process_zero():
        return
    if state is not None:
        model = prepared.model
        model.__dict__.pop("forward", None)
        use_stock_attention(model)
        model = type(model)(model.config)
        model.load_state_dict(state)
    else:
        model = finished(trainer, config.model.lora)
    card = CheckpointCard(
        kind="world_model",
        preset=config.preset,
        format=config.format.name,
        format_options=config.format.options,
        max_prompt_tokens=config.format.max_prompt_tokens,
        max_new_tokens=config.format.max_new_tokens,
        assesses=config.rows.assess and bool((prepared.train.kinds == 1).any()),
        data_sha256=prepared.data_sha256,
        training={
            "config": config.model_dump(mode="json"),
            "steps": trained.steps,
            "planned_steps": planned.steps,
            "tokens": trained.tokens,
            "seconds": trained.seconds,
            "ended": trained.ended,
            "best": trained.best,
            "padding": round(planned.padding, 4),
            "processes": accelerator.num_processes,
            "counts": trained.counts,
            "log_lines": len(read_log(out / LOG)),
        },
    )
    shutil.copy2(out / "prepared" / MEMORY, out / MEMORY)
    save_checkpoint(out, model, prepared.tokenizer, card)
