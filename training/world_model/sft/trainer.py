"""TRL's SFTTrainer over token arrays: batches from a plan, logits at targets only, dev metrics that the caller hands in.

What is TRL's and transformers': steps, accumulation, mixed precision, FSDP through accelerate, LoRA, checkpoints with optimizer
and random states, best model, early stopping, TensorBoard. What is ours: `get_train_dataloader` (the plan), `compute_loss` (the
same number as TRL's, computed at target positions) and `evaluate` (dev loss, then answers in full).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import PrinterCallback
from trl.trainer.sft_config import SFTConfig as TrlConfig
from trl.trainer.sft_trainer import SFTTrainer

from training.models.attention import use_short_attention
from training.models.checkpoint import inference_copy
from training.models.heads import add_target_head, network_of
from training.models.presets import LoraConfig
from training.world_model.sft.batches import Plan, in_order, padded
from training.world_model.sft.judging import Verdicts
from training.world_model.sft.loss import target_loss, target_positions
from training.world_model.sft.tokens import IGNORED, TokenTable

Measure = Callable[[Any], Mapping[str, float]]
"""(a copy of the model for inference) → dev metrics."""


class Batches:
    """A batch sampler that plays a plan. Also what accelerate splits over processes: batch by batch, round robin."""

    drop_last = False

    def __init__(self, batches: list[list[int]]) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._batches)


class TargetTrainer(SFTTrainer):
    """See the module. `measure` gets a copy of the model at each look; None: dev loss alone."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        args: TrlConfig,
        train: TokenTable,
        dev: TokenTable,
        planned: Plan,
        lengths: tuple[int, ...],
        tokens_per_batch: int,
        measure: Measure | None = None,
        whole_rows: float = 0.0,
        assess_weight: float = 1.0,
        callbacks: list[Any] | None = None,
    ) -> None:
        self._tables = (train, dev)
        self._plan, self._lengths, self._tokens_per_batch, self._measure = planned, lengths, tokens_per_batch, measure
        self._whole_rows = whole_rows
        self._weights = None if assess_weight == 1.0 else torch.tensor([1.0, assess_weight])
        self._tokenizer = tokenizer
        self._pad = int(tokenizer.pad_token_id or 0)
        self.model: Any
        network = network_of(model)
        add_target_head(network)
        use_short_attention(network)
        super().__init__(
            model=model,
            args=args,
            # The rows themselves are in the tables; the data sets only say how many there are.
            train_dataset=Dataset.from_dict({"row": list(range(len(train)))}),
            eval_dataset=Dataset.from_dict({"row": list(range(len(dev)))}),
            data_collator=self._collate,
            processing_class=tokenizer,
            callbacks=callbacks,
        )
        # the log and the command's progress say it better
        self.remove_callback(PrinterCallback)  # type: ignore[no-untyped-call]

    def get_train_dataloader(self) -> Any:
        whole, count = round(self._whole_rows * self._plan.steps) * self._plan.per_step, len(self._tables[0])
        batches = [[row + count for row in batch] if n < whole else batch for n, batch in enumerate(self._plan.batches)]
        return self._loader(0, batches)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        positions, labels = target_positions(inputs["labels"])
        # Padding stands on the right of a causal model: no attention mask is needed, and without one attention is faster.
        logits = model(input_ids=inputs["input_ids"], use_cache=False, target_positions=positions)
        weights = None
        if self._weights is not None and "kinds" in inputs:
            weights = self._weights.to(labels.device)[inputs["kinds"]][positions // inputs["labels"].shape[1]]
        loss = target_loss(logits, labels, num_items_in_batch, weights)
        if self.model.training:
            right = (logits.argmax(dim=-1) == labels).sum() / (labels != IGNORED).sum().clamp(min=1)
            self._metrics["train"]["mean_token_accuracy"].append(float(right))
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            loss = loss * self.accelerator.num_processes
        return (loss, logits) if return_outputs else loss

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: list[str] | None = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """Dev loss per token and per kind of row, how well verdicts are told apart, then what `measure` says.

        As transformers wants it for the best model.
        """
        began = time.monotonic()
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in self._dev_losses().items()}
        if self._measure is not None and self.accelerator.num_processes == 1:
            for name, value in self._measure(inference_copy(self.accelerator.unwrap_model(self.model))).items():
                metrics[f"{metric_key_prefix}_{name}"] = float(value)
        metrics[f"{metric_key_prefix}_seconds"] = round(time.monotonic() - began, 3)
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None: preset.json says what a checkpoint is."""

    def _dev_losses(self) -> dict[str, float]:
        dev = self._tables[1]
        model, training = self.model_wrapped, self.model.training
        self.model.eval()
        sums = torch.zeros((2, 2), dtype=torch.float64, device=self.args.device)
        verdicts = Verdicts(self._tokenizer)
        batches = in_order(dev, self._lengths, self._tokens_per_batch)
        for batch in self._loader(1, batches[: len(batches) // self.accelerator.num_processes * self.accelerator.num_processes]):
            positions, labels = target_positions(batch["labels"])
            with torch.no_grad(), self.compute_loss_context_manager():  # type: ignore[no-untyped-call]
                logits = model(input_ids=batch["input_ids"], use_cache=False, target_positions=positions)
            losses = torch.nn.functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED, reduction="none").double()
            kinds = batch["kinds"][positions // batch["labels"].shape[1]]
            real = labels != IGNORED
            verdicts.add(logits[real & (kinds == 1)], labels[real & (kinds == 1)])
            for kind in (0, 1):
                sums[kind, 0] += losses[real & (kinds == kind)].sum()
                sums[kind, 1] += (real & (kinds == kind)).sum()
        sums = self.accelerator.reduce(sums, reduction="sum")
        self.model.train(training)
        found = {"loss": float(sums[:, 0].sum() / sums[:, 1].sum().clamp(min=1))}
        if sums[1, 1] > 0:
            found["assessment_loss"] = float(sums[1, 0] / sums[1, 1])
        if self.accelerator.num_processes == 1:
            found |= verdicts.metrics()
        return found

    def _loader(self, which: int, batches: list[list[int]]) -> Any:
        loader: Any = DataLoader(
            _Numbers(which),  # type: ignore[arg-type]
            batch_sampler=Batches(batches),
            collate_fn=self._collate,
            num_workers=0,
        )
        return self.accelerator.prepare_data_loader(loader, device_placement=True) if which else self.accelerator.prepare(loader)

    def _collate(self, rows: list[tuple[int, int]]) -> dict[str, torch.Tensor]:
        table = self._tables[rows[0][0]]
        # a number beyond the table's rows is a row whose prompt counts in the loss
        whole, numbers = rows[0][1] >= len(table), [number % len(table) for _, number in rows]
        ids, labels = table.batch(numbers, padded(table, numbers, self._lengths), self._pad, whole=whole)
        found = {"input_ids": torch.from_numpy(ids), "labels": torch.from_numpy(labels)}
        if rows[0][0] or (self._weights is not None and not whole):  # prompts are learned with equal weights
            found["kinds"] = torch.from_numpy(table.kinds[numbers].astype("int64"))
        return found


class _Numbers:
    """The rows of one table by number: (which table, number)."""

    def __init__(self, which: int) -> None:
        self._which = which

    def __getitem__(self, number: int) -> tuple[int, int]:
        return self._which, number

    def __len__(self) -> int:
        return 1 << 30


def finished(trainer: TargetTrainer, lora: LoraConfig | None) -> Any:
    """What a checkpoint of the training holds: the weights, or LoRA's additions alone where they are not to be merged."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    return model if lora is not None and not lora.merge else inference_copy(model)
