"""What happens beside the steps: the log, the time budget, marks on complete checkpoints, the progress display.

train_log.jsonl, one JSON object a line, for dashboards and for comparing runs:
    {"step", "loss", "tokens", "seconds", "lr", "grad_norm", "accuracy"}             every `log_every` steps
    {"step", "tokens", "seconds", "dev": {"loss", "delta_f1", …}}                    at each look at the dev split
`tokens` are those trained on so far, prompts included and padding not; `seconds` are those of all sittings of the training.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

COMPLETE = "complete"
"""Empty file in a checkpoint directory that was written to its end: a kill in mid-writing leaves one without it."""
LOG = "train_log.jsonl"
Report = Callable[[dict[str, Any], int], None]
"""(a line of the log, all steps)."""


class TrainLog(TrainerCallback):
    """Writes train_log.jsonl; on a resume what came after the checkpoint is cut off first."""

    def __init__(self, path: Path, tokens_at: NDArray[Any], report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._tokens_at, self._report, self._clock = path, tokens_at, report, clock
        self._before = 0.0
        self._began = clock()

    @property
    def seconds(self) -> float:
        return self._before + self._clock() - self._began

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        kept = [line for line in read_log(self._path) if line["step"] <= state.global_step]
        if state.is_world_process_zero:
            self._path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        self._before = max((float(line["seconds"]) for line in kept), default=0.0)
        self._began = self._clock()

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **_: Any,
    ) -> None:
        if not state.is_world_process_zero or not logs:
            return
        line: dict[str, Any] = {
            "step": state.global_step,
            "tokens": int(self._tokens_at[state.global_step]),
            "seconds": round(self.seconds, 3),
        }
        if "loss" in logs:
            line |= {"loss": logs["loss"], "lr": logs.get("learning_rate"), "grad_norm": logs.get("grad_norm")}
            line["accuracy"] = logs.get("mean_token_accuracy")
        elif any(name.startswith("eval_") for name in logs):
            line["dev"] = {name.removeprefix("eval_"): value for name, value in logs.items() if name.startswith("eval_")}
        else:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._report(line, state.max_steps)


class TimeBudget(TrainerCallback):
    """Ends the training at `max_minutes`, all sittings together, with a last look and a checkpoint."""

    def __init__(self, log: TrainLog, max_minutes: float | None) -> None:
        self._log, self._most = log, max_minutes
        self.spent = False

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self._most is not None and self._log.seconds >= 60.0 * self._most:
            self.spent = True
            control.should_training_stop = True
        if control.should_training_stop or state.global_step >= state.max_steps:
            control.should_evaluate = control.should_save = True


class MarkComplete(TrainerCallback):
    """Puts `complete` into each checkpoint once everything of it is written."""

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        if state.is_world_process_zero and folder.is_dir():
            (folder / COMPLETE).touch()


def latest_complete(folder: Path) -> Path | None:
    """The newest checkpoint of a training that can be resumed from; None if there is none."""
    found = [path.parent for path in folder.glob(f"checkpoint-*/{COMPLETE}")]
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def read_log(path: Path) -> list[dict[str, Any]]:
    """Lines of train_log.jsonl; a last line that was cut off by a kill is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    found = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int) and "seconds" in row:
            found.append(row)
    return found
