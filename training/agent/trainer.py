"""Train the agent: roll out groups, mix in experts, update, log, checkpoint, until the tasks have been through.

    TaskStream ─▶ GroupRequests ─ mixture.plan ─▶ rollout(requests, version) ─▶ Grouping ─▶ Updater ─▶ log, checkpoint
                       ▲                                                          │ groups without signal (filter `resample`)
                       └──────────────────────────────────────────────────────────┘

`rollout` is anything that plays tasks with the current policy: dreams, a real browser, a toy. The weights are in place when it is
called; a server is told the version to play with. What breaks in it is a verdict `error`, never an exception.

Everything random is drawn from (seed, update), so a training that was killed and resumed equals one that was not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list

from harness.errors import UsageError
from harness.types import JsonDict, Task
from training.agent.checkpoints import Progress, TrainingDirectory
from training.agent.config import AgentConfig
from training.agent.grouping import Batch, Grouping
from training.agent.ledger import Ledger, rollout_cost
from training.agent.mixture import Experts, GroupPlan, GroupRequest, MixtureLog, check_experts, plan
from training.agent.replay import ReplayBuffer
from training.agent.report import update_line
from training.agent.rows import Encode, RowLimits, Sample
from training.agent.update import Updater, UpdateSettings, fitting_cells, self_ratio_noise
from training.models.memory import release_memory

Save = Callable[[Any, Path], None]
"""(unwrapped model, directory): write a checkpoint of the policy."""
Evaluate = Callable[[Path, int], Mapping[str, float]]
"""(checkpoint directory, update) → numbers of the dev tasks; `success` decides which checkpoint is best."""


class Rollout(Protocol):
    """Plays groups. One sample per trajectory, `request.size` for each request, `group` being the request's key."""

    def __call__(self, requests: Sequence[GroupRequest], version: int) -> Sequence[Sample]: ...


@dataclass(frozen=True, slots=True)
class TaskStream:
    """All tasks once per epoch, in an order drawn from the seed."""

    tasks: Sequence[Task]
    seed: int

    def at(self, position: int) -> Task:
        epoch, place = divmod(position, len(self.tasks))
        order = list(range(len(self.tasks)))
        random.Random(f"{self.seed}/{epoch}").shuffle(order)
        return self.tasks[order[place]]


@dataclass(slots=True)
class _Gathered:
    """What an update is made of."""

    grouping: Grouping
    samples: list[Sample] = field(default_factory=list)
    mixture: MixtureLog = field(default_factory=MixtureLog)
    cursor: int = 0
    seconds: float = 0.0


class AgentTrainer:
    """One training in one directory. `train()` starts it or goes on with it."""

    def __init__(
        self,
        model: Any,
        config: AgentConfig,
        directory: Path,
        *,
        tasks: Sequence[Task],
        rollout: Rollout,
        save: Save,
        experts: Experts | None = None,
        encode: Encode | None = None,
        reference: Any = None,
        evaluate: Evaluate | None = None,
        world_model_parameters: int | None = None,
        about: JsonDict | None = None,
        report: Callable[[JsonDict], None] = lambda _: None,
        accelerator: Accelerator | None = None,
    ) -> None:
        """`model` is trained in place. Raises UsageError for what cannot be trained.

        `about`: what else a resume must agree with (the policy begun with, the world model, the experts). `report` is told every
        line of the log.
        """
        self.objective = config.method()
        self.config, self.settings = config, config.trainer
        self._experts = experts or {}
        check_experts(self._experts, config.mixture)
        if not tasks:
            raise UsageError("there is no task to train on", fix="select tasks that the benchmark has")
        if self.objective.kl.kind != "none" and reference is None:
            raise UsageError("the objective has a KL penalty but there is no reference policy", fix="give one, or kl.kind = none")
        without_dropout(model)
        self.accelerator = accelerator or make_accelerator(self.settings.precision)
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(
            trained, lr=self.settings.learning_rate, betas=self.settings.betas, weight_decay=self.settings.weight_decay
        )
        warmup = self.settings.warmup_updates
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / (warmup + 1)))
        self.model, optimizer, scheduler = self.accelerator.prepare(model, optimizer, scheduler)
        # accelerate wraps the forward in autocast; rollouts sample from the same model, in the precision that they choose.
        self.accelerator.unwrap_model(self.model, keep_fp32_wrapper=False)
        self._updater = Updater(
            self.model,
            optimizer,
            self.accelerator,
            self.objective,
            UpdateSettings(
                temperature=self.settings.temperature,
                micro_batch_cells=self.settings.micro_batch_cells or fitting_cells(model),
                inner_epochs=self.settings.inner_epochs,
                minibatches=self.settings.minibatches,
                max_grad_norm=self.settings.max_grad_norm,
            ),
            reference,
            scheduler,
        )
        self._limits = RowLimits(
            max_row_tokens=self.settings.max_row_tokens,
            vocabulary=int(model.get_input_embeddings().weight.shape[0]),
            recorded_experts=self.objective.expert.policy == "recorded",
            encode=encode,
        )
        asked = {**config.model_dump(mode="json", exclude={"rollouts"}), **({"about": about} if about else {})}
        self._files = TrainingDirectory(directory, asked, self.accelerator)
        self._stream = TaskStream(tasks, self.settings.seed)
        self._rollout, self._save, self._evaluate = rollout, save, evaluate
        self._parameters = sum(parameter.numel() for parameter in model.parameters())
        self._world_model_parameters = world_model_parameters
        self._replay = ReplayBuffer()
        self._report = report

    def train(self) -> Progress:
        """Run to the end. Returns where it ended; the policy's last (or best) checkpoint is `best_checkpoint(progress)`."""
        progress = self._resume()
        while not self._finished(progress):
            progress = self._update(progress)
        return progress

    def best_checkpoint(self, progress: Progress) -> Path:
        """Best on the dev tasks, or the last one where none are evaluated."""
        return self._files.checkpoint(progress.update if progress.best_update is None else progress.best_update)

    def _resume(self) -> Progress:
        latest = self._files.latest()
        progress = Progress() if latest is None else latest[1]
        self._files.cut_log(progress)
        if latest is None:
            return self._begun(progress)
        self._files.load_state(latest[0])
        self._replay.load(latest[0])
        return self._evaluated(progress)

    def _begun(self, progress: Progress) -> Progress:
        """The policy that training begins with is evaluated like every later one: it may stay the best."""
        if self._evaluate is None:
            return progress
        self._files.save(progress, self._write, self.settings.keep_checkpoints)
        return self._evaluated(progress)

    def _finished(self, progress: Progress) -> bool:
        limit, paid = self.settings.updates, self.settings.world_model_tokens
        done = progress.cursor >= self.settings.epochs * len(self._stream.tasks)
        return done or (limit is not None and progress.update >= limit) or (0 < paid <= progress.ledger.foreseen)

    def _update(self, progress: Progress) -> Progress:
        number = progress.update + 1
        gathered = self._gather(number, progress.cursor)
        batch = gathered.grouping.batch()
        noise = self._noise(number, batch)
        started = time.perf_counter()
        statistics = self._updater.run(batch)
        release_memory()
        self._check_on_policy(statistics.sampler_gap)
        valid = gathered.grouping.log.valid - gathered.grouping.log.valid_experts
        ledger = rollout_cost(gathered.samples, valid, gathered.seconds) + Ledger(
            trained_cells=statistics.cells, computed_cells=statistics.computed, update_seconds=time.perf_counter() - started
        )
        progress = progress.model_copy(update={"update": number, "cursor": gathered.cursor, "ledger": progress.ledger + ledger})
        line = update_line(
            number,
            gathered.samples,
            gathered.grouping,
            gathered.mixture,
            batch,
            statistics,
            noise,
            progress.ledger.summary(self._parameters, self._world_model_parameters),
            learning_rate=float(self._updater.optimizer.param_groups[0]["lr"]),
            epoch=gathered.cursor / len(self._stream.tasks),
        )
        return self._record(progress, line)

    def _record(self, progress: Progress, line: JsonDict) -> Progress:
        """Log and, when it is time, checkpoint. The log comes first: lines beyond the last checkpoint are cut off on resume."""
        self._log(line)
        if progress.update % self.settings.checkpoint_every and not self._finished(progress):
            return progress
        self._files.save(progress, self._write, self.settings.keep_checkpoints)
        return self._evaluated(progress)

    def _write(self, directory: Path) -> None:
        self._save(self.accelerator.unwrap_model(self.model), directory)
        self._replay.save(directory)

    def _log(self, line: JsonDict) -> None:
        self._files.append(line)
        self._report(line)

    def _evaluated(self, progress: Progress) -> Progress:
        """Evaluate the checkpoint of this update on the dev tasks, unless that was done."""
        if self._evaluate is None or progress.evaluated == progress.update:
            return progress
        found = dict(self._evaluate(self._files.checkpoint(progress.update), progress.update))
        self._log({"step": progress.update, "dev": dict(found)})
        progress = _with_best(progress.model_copy(update={"evaluated": progress.update}), found.get("success"))
        self._files.write_progress(progress)
        return progress

    def _gather(self, number: int, cursor: int) -> _Gathered:
        rng = random.Random(f"{self.settings.seed}/update/{number}")
        grouping = Grouping(self.objective, self._limits, self._replay, rng)
        gathered = _Gathered(grouping, cursor=cursor)
        wanted, rounds = self.settings.groups_per_update, 0
        while wanted and rounds <= self.settings.max_resamples:
            requests = [self._request(number, gathered.cursor + place) for place in range(wanted)]
            gathered.cursor += wanted
            plans, mixture = plan(requests, self._experts, self.config.mixture, rng)
            gathered.mixture = gathered.mixture + mixture
            wanted = sum(not grouping.add(samples) for samples in self._play(plans, number, gathered))
            rounds += 1
        return gathered

    def _request(self, number: int, position: int) -> GroupRequest:
        task = self._stream.at(position)
        seed = random.Random(f"{self.settings.seed}/{number}/{position}").randrange(2**31 - 1)
        return GroupRequest(f"{number}.{position}", task, self.settings.group_size, seed)

    def _play(self, plans: Sequence[GroupPlan], number: int, gathered: _Gathered) -> Iterator[list[Sample]]:
        """The samples of each group, experts last."""
        started = time.perf_counter()
        played = self._rolled_out([one.request for one in plans if one.request.size], number - 1)
        gathered.seconds += time.perf_counter() - started
        gathered.samples.extend(played)
        for one in plans:
            mine = [sample for sample in played if sample.group == one.request.key]
            if len(mine) != one.request.size:
                raise UsageError(
                    f"the rollout gave {len(mine)} samples for a group of {one.request.size}",
                    fix="give one per trajectory, failed ones with an error verdict",
                )
            yield [*mine, *one.experts]

    def _rolled_out(self, requests: Sequence[GroupRequest], version: int) -> Sequence[Sample]:
        """By the main process alone, which tells the others: all must train on the same samples."""
        if self.accelerator.num_processes == 1:
            return self._rollout(requests, version)
        shared = [list(self._rollout(requests, version)) if self.accelerator.is_main_process else []]
        found: Sequence[Sample] = broadcast_object_list(shared)[0]
        return found

    def _noise(self, number: int, batch: Batch) -> float | None:
        every = self.settings.noise_every
        return self_ratio_noise(self._updater, batch) if every and number % every == 1 % every and batch.rows else None

    def _check_on_policy(self, gap: float | None) -> None:
        tolerance = self.settings.on_policy_tolerance
        if gap is not None and tolerance is not None and gap > tolerance:
            raise UsageError(
                f"sampler and trainer differ by {gap:.3g} nats per token before anything was trained",
                fix="same weights, temperature and tokenizer in both; top_p = 1; or raise trainer.on_policy_tolerance",
            )


def _with_best(progress: Progress, score: float | None) -> Progress:
    if score is None or (progress.best_score is not None and score <= progress.best_score):
        return progress
    return progress.model_copy(update={"best_update": progress.update, "best_score": score})


def make_accelerator(precision: str) -> Accelerator:
    """bf16 runs matrix products in bfloat16 under autocast; weights stay float32."""
    from training.models.presets import precision as is_bf16

    return Accelerator(mixed_precision="bf16" if is_bf16(precision) else "no")


def without_dropout(model: Any) -> None:
    """Switch dropout off, in place: with it, the probability of a token would not be a function of the weights."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0
