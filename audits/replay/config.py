"""What a replay may be told. Stored in the replay run's manifest: an audit is frozen before its first browser starts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from audits.grounding import GroundingConfig
from audits.replay.calibration import Calibration
from harness.types import Record

REPLAY_VERSION = 1
"""Version of the evidence and of the rules that turn it into an outcome."""

ACTION_SECONDS = 5.0
"""How long an element may take to become actionable. BrowserGym's 0.5 s makes false alarms."""

Mode = Literal["local", "live"]


class SafetyConfig(Record):
    """What a replay must never do. `live` is for sites that are not ours."""

    mode: Mode = "local"
    """local: sites of this machine, where writing is allowed and payments are fakes; live: read only, with a block list."""
    origins: tuple[str, ...] = ()
    """Origins that may be visited beside those of the start pages."""
    search_paths: tuple[str, ...] = ()
    """Live: URL prefixes that may be asked with other methods than GET and HEAD (searches)."""


class ReplaySettings(Record):
    """How stored dreams are executed in a real browser."""

    dreams: str
    """The run directory that holds them."""
    arm: Literal["stop", "skip", "handover"] = "stop"
    """At an action that cannot be executed: stop (primary), leave it out, or let the policy go on from the first divergence."""
    grounding: GroundingConfig = GroundingConfig()
    safety: SafetyConfig = SafetyConfig()
    calibration: Calibration = Calibration()
    """From the controls: which nodes are volatile, and what counts as divergence of a whole page."""
    max_handover_steps: int = Field(default=25, ge=1)
    """Policy outputs after a hand-over."""
