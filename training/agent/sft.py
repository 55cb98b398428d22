"""Warm start: supervised fine-tuning of the agent on expert steps, on the reply's tokens alone.

    run directories ─ experts ─▶ (goal, page, past) → reply ─▶ token arrays ─▶ training.world_model.sft (plan, TRL trainer)
    OUT/checkpoints/ states to resume from    OUT/train_log.jsonl    OUT/… the checkpoint, kind `agent`

The trainer is the world model's: the same losses at target positions, the same plan of batches, the same resuming. What is the
agent's own: prompts as it will see them when it acts, and a dev metric, the share of steps answered exactly as the expert did.
DynaWeb's agent begins as NNetNav's SFT checkpoint; here the same step is made from this project's own expert runs.
"""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import EarlyStoppingCallback, set_seed

from harness.axtree import approximate_tokens
from harness.errors import UsageError
from harness.types import JsonDict, Trajectory
from training.agent.copying import told_again
from training.agent.experts import read_experts, split_of
from training.agent.prompting import AgentPrompt, Plain, TaughtStep, taught_steps
from training.agent.sft_config import AgentSftConfig
from training.models import CheckpointCard, GenerationConfig, PromptEncoder, build_model, generate, save_checkpoint
from training.models.checkpoint import CARD
from training.models.presets import with_lora
from training.world_model.sft.batches import plan
from training.world_model.sft.callbacks import LOG, MarkComplete, Report, TimeBudget, TrainLog, latest_complete
from training.world_model.sft.rows import Row
from training.world_model.sft.tokens import LengthPolicy, TokenTable, tokenise
from training.world_model.sft.train import trl_arguments
from training.world_model.sft.trainer import TargetTrainer, finished


@dataclass(frozen=True)
class TrainedAgent:
    """How a warm start ended."""

    directory: Path
    steps: int
    tokens: int
    seconds: float
    ended: str
    exact: float | None
    """Best share of dev steps answered exactly as the expert did."""
    counts: JsonDict
    """Trajectories and steps per split, and what was refused and why."""


@dataclass(frozen=True)
class _Lessons:
    train: list[TaughtStep]
    dev: list[TaughtStep]
    counts: dict[str, Any]


def train_agent(
    config: AgentSftConfig,
    runs: Sequence[Path],
    out: Path,
    *,
    resume: bool = False,
    report: Report = lambda *_: None,
    trajectories: Callable[[], Iterator[tuple[str, Trajectory]]] | None = None,
) -> TrainedAgent:
    """Train and save. `trajectories` gives (split, trajectory) in place of `runs`; it is read twice.

    Raises UsageError where there is nothing to learn from, or where `out` holds a training that would be overwritten.
    """
    states = out / "checkpoints"
    _check_target(config, out, states, resume)
    set_seed(config.seed)
    source = trajectories or (lambda: ((split_of(row), row.trajectory) for row in read_experts(runs)))
    model, tokenizer = _model(config, source)
    encoder = PromptEncoder(tokenizer)
    lessons = _lessons(config, source, encoder)
    (out / "training.json").write_text(config.model_dump_json(indent=2), encoding="utf-8")
    refused: Counter[str] = Counter()
    taught = _rows(lessons.train)
    table = _table(config, [*taught, *told_again(taught, config.rows.variants, config.seed)], encoder, refused)
    dev = _table(config, _rows(lessons.dev), encoder, refused)
    lessons.counts["refused"] = dict(sorted(refused.items()))
    planned = plan(
        table,
        config.rows.lengths,
        tokens_per_batch=config.train.tokens_per_batch,
        per_step=config.train.batches_per_step,
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
    trainer = TargetTrainer(
        model if config.model.lora is None else with_lora(model, config.model.lora),
        tokenizer,
        trl_arguments(config, out, planned, best="exact"),
        table,
        dev,
        planned,
        config.rows.lengths,
        config.train.tokens_per_batch,
        measure=lambda copied: {"exact": exact(copied, tokenizer, lessons.dev, config)},
        whole_rows=config.train.whole_rows,
        callbacks=callbacks,
    )
    start = latest_complete(states) if resume else None
    with warnings.catch_warnings():
        # accelerate and torch warn about their own calls of each other; nothing here is ours to change
        warnings.simplefilter("ignore")
        trainer.train(resume_from_checkpoint=str(start) if start else None)
    state = trainer.state
    ended = "time budget" if budget.spent else "steps" if state.global_step >= planned.steps else "early stop"
    tokens = int(planned.tokens_at[state.global_step])
    trained = TrainedAgent(out, state.global_step, tokens, round(log.seconds, 1), ended, state.best_metric, lessons.counts)
    card = CheckpointCard(
        kind="agent",
        preset=config.preset,
        format=config.prompt.syntax,
        max_prompt_tokens=config.prompt.max_prompt_tokens,
        max_new_tokens=config.prompt.max_new_tokens,
        training={
            "config": config.model_dump(mode="json"),
            "steps": trained.steps,
            "tokens": tokens,
            "seconds": trained.seconds,
            "ended": ended,
            "exact": trained.exact,
            "counts": lessons.counts,
        },
    )
    save_checkpoint(out, finished(trainer, config.model.lora), tokenizer, card)
    return trained


def exact(model: Any, tokenizer: Any, steps: Sequence[TaughtStep], config: AgentSftConfig) -> float:
    """Share of steps to which the greedy reply is the expert's, letter by letter."""
    generation = GenerationConfig(max_new_tokens=config.prompt.max_new_tokens)
    answers = generate(model, tokenizer, [step.prompt for step in steps], generation)
    return sum(answer[0].text == step.reply for answer, step in zip(answers, steps, strict=True)) / max(len(steps), 1)


def _lessons(config: AgentSftConfig, source: Callable[[], Iterator[tuple[str, Trajectory]]], encoder: PromptEncoder) -> _Lessons:
    prompt = AgentPrompt(syntax=config.prompt.syntax, max_prompt_tokens=config.prompt.max_prompt_tokens)
    found: dict[str, list[TaughtStep]] = {"train": [], "dev": []}
    counts: Counter[str] = Counter()
    for split, trajectory in source():
        if split not in found:
            counts["left out: test or held-out site"] += 1
            continue
        try:
            steps = taught_steps(prompt, encoder, trajectory)
        except UsageError:
            counts["left out: an action that cannot be written"] += 1
            continue
        counts[f"{split} trajectories"] += 1
        counts[f"{split} steps"] += len(steps)
        found[split] += steps
    for split, steps in found.items():
        if not steps:
            raise UsageError(f"no expert trajectory for the {split} split", fix="give more runs of the oracle")
    stride = max(1, len(found["dev"]) // config.checks.dev_rows)
    return _Lessons(found["train"][: config.rows.limit], found["dev"][::stride][: config.checks.dev_rows], dict(counts))


def _rows(steps: Sequence[TaughtStep]) -> list[Row]:
    return [Row("transition", step.prompt, step.reply) for step in steps]


def _table(config: AgentSftConfig, rows: Sequence[Row], encoder: PromptEncoder, refused: Counter[str]) -> TokenTable:
    return tokenise(rows, encoder, LengthPolicy(config.rows.lengths[-1], config.prompt.max_new_tokens), refused)


def _model(config: AgentSftConfig, source: Callable[[], Iterator[tuple[str, Trajectory]]]) -> tuple[Any, Any]:
    """nano learns its tokenizer from prompts as they will be, cut by an estimate of their tokens."""
    prompt = AgentPrompt(syntax=config.prompt.syntax, max_prompt_tokens=config.prompt.max_prompt_tokens)

    def texts() -> Iterator[str]:
        taken = 0
        for split, trajectory in source():
            if split != "train" or taken >= config.rows.tokenizer_rows:
                continue
            try:
                steps = taught_steps(prompt, Plain(approximate_tokens), trajectory)
            except UsageError:
                continue
            taken += len(steps)
            yield from (text for step in steps for text in (step.prompt, step.reply))

    return build_model(config.model, texts(), seed=config.seed)


def _check_target(config: AgentSftConfig, out: Path, states: Path, resume: bool) -> None:
    before = out / "training.json"
    if not resume:
        if (out / CARD).exists() or latest_complete(states):
            raise UsageError(f"{out} holds a training already", fix="give --resume to go on with it, or another --out")
        shutil.rmtree(states, ignore_errors=True)
    elif before.is_file() and not config.resumes(before.read_text(encoding="utf-8")):
        raise UsageError(f"{out} was begun with another configuration", fix="give the same one, or another --out")
    out.mkdir(parents=True, exist_ok=True)
