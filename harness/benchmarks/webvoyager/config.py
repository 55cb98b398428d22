"""`[webvoyager]` of run.toml: which tasks, as of which day, filtered by what, judged how."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.scoring.judges import Modality, Protocol


def _today() -> date:
    return datetime.now(UTC).date()


class WebVoyagerConfig(BaseModel):
    """Everything that decides the task set and the scorer. Stored with the run: `run_date` is fixed when it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: Path | None = None
    """A directory with the published files, or one task file of their schema. Default: $HARNESS_WEBVOYAGER_DATA, else
    ./data/webvoyager, where `harness fetch webvoyager` puts them."""
    redated: Path | None = None
    """A task file whose texts replace those of the same id (a published re-dated file, or ours with templates)."""
    rules: tuple[str, ...] = ()
    """Shipped rules to exclude by: `past-dates`, `past-years`, `time-dependent`. None: the full set."""
    filters: tuple[Path, ...] = ()
    """Filter manifests (of `probe`) and published lists to exclude by."""
    dates: Literal["as_written", "redate"] = "as_written"
    """`redate` moves past dates of stays and flights after `run_date`, before the rules are applied."""
    run_date: date = Field(default_factory=_today)
    """The day that templates, re-dating and `past-*` rules are relative to. A resumed run must keep its own."""
    judge_protocol: Protocol = "webvoyager"
    """`webvoyager`: task, answer, last pages → verdict. `webjudge`: key points → relevant pages → verdict."""
    judge_modality: Modality = "screenshots"
    """What the judge is shown of the pages: screenshots, or their accessibility trees (for text-only models)."""
    judge_states: int = Field(default=15, ge=1, le=100)
    """How many of the last pages (`webvoyager`), or most relevant pages (`webjudge`), the judge is shown."""
    judge_votes: int = Field(default=1, ge=1, le=15)
    """Independent verdicts per episode, odd; the majority counts."""
    start_timeout_seconds: float = Field(default=30.0, gt=0)
    """How long a start page may take to load before it is a site error."""
    challenge_grace_seconds: float = Field(default=8.0, ge=0)
    """How long an interstitial that may pass by itself (Cloudflare's) is waited for before it counts as a block."""
