"""What is known of stages on disk: beside each stage's directory a record, a log and the config that it was given.

    ROOT/lock                      held by the one process that runs a grid here
    ROOT/stages/dream-1a2b3c/      what the command wrote
    ROOT/stages/dream-1a2b3c.json  StageRecord: replaced as a whole; `done` only when the command has ended well
    ROOT/stages/dream-1a2b3c.log   its output, all attempts
    ROOT/stages/dream-1a2b3c.toml  its config

All grids below one ROOT share its stages: a world model is trained once for the four of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from audits.ablation.plan import PlannedStage
from harness.types import Record
from results.files import disk_errors, held, replace_file
from results.manifest import Environment

STAGES = "stages"
StageState = Literal["running", "done", "failed", "stopped"]


class Attempt(Record):
    """One process. What it wrote before a kill stays, and the next attempt goes on from there."""

    started_at: str
    """ISO 8601, UTC."""
    began: float
    """The same, in seconds since the epoch."""
    pid: int
    born: float
    """When the process was created, as the system says it: with `pid` it names one process for ever."""
    seconds: float | None = None
    """None while it runs, or if whoever watched it was killed."""
    exit_code: int | None = None


class StageRecord(Record):
    """`running` with a dead process means: killed, to be gone on with."""

    schema_version: int = 1
    id: str
    stage: str
    key: str
    command: tuple[str, ...]
    needs: tuple[str, ...]
    inputs: dict[str, str]
    """Input → hash of its content."""
    state: StageState
    attempts: tuple[Attempt, ...]
    problem: str = ""
    """Why it failed, one line; of a stage that is done: what is missing from it."""
    environment: Environment
    """Of the first attempt."""

    @property
    def seconds(self) -> float:
        """Wall time of all attempts; a lost one counts until its log was last written to (`Stages.closed`)."""
        return sum(attempt.seconds or 0.0 for attempt in self.attempts)


class Stages:
    """The stages below one ROOT."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root / STAGES

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Raises `NotReadyError` where another process runs a grid below this ROOT."""
        with held(self.root):
            with disk_errors(str(self.root)):
                self.directory.mkdir(exist_ok=True)
            yield

    def out(self, stage_id: str) -> Path:
        """Where a stage's command writes."""
        return self.directory / stage_id

    def log(self, stage_id: str) -> Path:
        return self.directory / f"{stage_id}.log"

    def config(self, stage_id: str) -> Path:
        return self.directory / f"{stage_id}.toml"

    def record(self, stage_id: str) -> StageRecord | None:
        """None where there is none that can be read: such a stage is begun again, in its directory."""
        try:
            return StageRecord.model_validate_json((self.directory / f"{stage_id}.json").read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, record: StageRecord) -> None:
        with disk_errors(str(self.directory)):
            replace_file(self.directory / f"{record.id}.json", (record.model_dump_json(indent=1) + "\n").encode())

    def done(self, stage: PlannedStage) -> bool:
        """It has ended well, and what it wrote is still there."""
        record = self.record(stage.id)
        return record is not None and record.state == "done" and record.key == stage.key and not self.missing(stage)

    def missing(self, stage: PlannedStage) -> list[str]:
        """What it should have written and has not."""
        out = self.out(stage.id)
        wanted = [out, *(out / name for name in stage.stage.writes)]
        return [str(path.relative_to(self.directory)) for path in wanted if not path.exists()]

    def closed(self, record: StageRecord) -> StageRecord:
        """A record whose last attempt was lost (kill -9, power): its time is what its log shows, at least."""
        *before, last = record.attempts
        if last.seconds is not None:
            return record
        try:
            seconds = max(0.0, self.log(record.id).stat().st_mtime - last.began)
        except OSError:
            seconds = 0.0
        return record.model_copy(update={"attempts": (*before, last.model_copy(update={"seconds": seconds}))})

    def seconds_by_name(self) -> dict[str, list[float]]:
        """Stage's name → wall times of those that are done here: what the next one may take."""
        found: dict[str, list[float]] = {}
        for path in sorted(self.directory.glob("*.json")):
            record = self.record(path.stem)
            if record is not None and record.state == "done":
                found.setdefault(record.stage, []).append(record.seconds)
        return found
