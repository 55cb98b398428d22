"""Wall clocks. The parent enforces them from outside, because nothing inside a hung process can."""

from __future__ import annotations

from pydantic import Field

from harness.types import Phase, Record


class Limits(Record):
    """`[limits]` of run.toml. Seconds; each clock kills the worker it runs out on, and only that one."""

    max_steps: int = Field(default=0, ge=0)
    """Policy outputs per episode; 0: the benchmark's own default."""
    startup_seconds: float = Field(default=60, gt=0)
    """Until a new worker is ready."""
    reset_seconds: float = Field(default=90, gt=0)
    """Opening a task: context, login, start page, first observation."""
    policy_seconds: float = Field(default=180, gt=0)
    """One answer of the policy."""
    step_seconds: float = Field(default=45, gt=0)
    """One action with its waiting and the next observation."""
    score_seconds: float = Field(default=180, gt=0)
    """Scoring at the end, a model judge included."""
    episode_seconds: float = Field(default=900, gt=0)
    """All of an episode."""
    auto_retries: int = Field(default=1, ge=0)
    """Further attempts at once for an episode that a browser, a site or a dying worker spoiled. Every attempt is kept."""
    site_failures: int = Field(default=3, ge=1)
    """Site errors in a row after which a site counts as down: its remaining tasks stay planned, and are run by a resume."""

    def of(self, phase: Phase) -> float:
        return {
            "reset": self.reset_seconds,
            "policy": self.policy_seconds,
            "step": self.step_seconds,
            "score": self.score_seconds,
        }[phase]
