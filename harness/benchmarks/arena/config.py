"""`[arena]` of run.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from harness.sites.layout import DEFAULT_STATE
from harness.types import Record

Split = Literal["all", "train", "dev", "test", "held_out_site", "other_sites"]


class ArenaConfig(Record):
    """`[arena]` of run.toml."""

    split: Split = "all"
    """Only tasks of this split: `train`, `dev` or `test` (by template), `held_out_site`, or `other_sites` (all but those)."""
    state_dir: Path = DEFAULT_STATE
    """Where `harness sites up` put the running sites; every instance set that is up there is used, one worker each."""
