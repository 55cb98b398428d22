"""`manifest.json`: what was run, with what, and everything that a second person needs to run it again.

    RunManifest
    ├── identity      benchmark, options, config, task-set hash, windows, repeats, seeds, policy, judge
    │                 a resume must agree with all of it (`differences`)
    ├── execution     what may change on a resume: workers, retries
    └── environments  machine, versions, commit: one per session that differed from the last; the first made the run

Tasks that were left out are listed with the rule that left them out: they are in no denominator, and never silent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, JsonValue

from harness.types import Exclusion, JsonDict, Record

MANIFEST_SCHEMA_VERSION = 1


class Environment(Record):
    """Where a session ran. `commit` and `dirty` are of the harness's own source; None = not a git checkout."""

    python: str
    packages: dict[str, str] = Field(default_factory=dict)
    browser: str = ""
    browser_version: str = ""
    commit: str | None = None
    dirty: bool | None = None
    system: str = ""
    cpu: str = ""
    cores: int = 0
    ram_gib: float = 0.0


class RunManifest(Record):
    """The header of a run. Strings here are redacted before they are written (`results.redact`)."""

    schema_version: int = MANIFEST_SCHEMA_VERSION
    run_id: str
    created_at: str
    """ISO 8601, UTC."""
    benchmark: str
    benchmark_options: JsonDict = Field(default_factory=dict)
    config: JsonDict = Field(default_factory=dict)
    """Everything else that shapes the numbers: limits, policy and judge settings …"""
    execution: JsonDict = Field(default_factory=dict)
    """What shapes only how fast it goes: workers, retries, output."""
    task_set_hash: str
    tasks: int
    """Tasks planned; episodes planned = tasks x windows x repeats."""
    planned: int
    """Episodes planned: the denominator."""
    excluded: tuple[Exclusion, ...] = ()
    windows: tuple[str, ...] = ("A",)
    repeats: int = 1
    base_seed: int = 0
    policy: str
    policy_version: str = ""
    judge: str = ""
    """Name and model of the judge; empty = none."""
    judge_prompt_hash: str = ""
    viewport: tuple[int, int] | None = None
    device_scale_factor: float = 1.0
    locale: str = ""
    timezone: str = ""
    instances: int = 0
    """Site instance sets used; 0 = the benchmark has no state that episodes share."""
    parallel_on_one_instance: bool = False
    """Episodes may have run side by side on one site: their states may have mixed."""
    environments: tuple[Environment, ...] = ()

    def differences(self, other: RunManifest) -> list[str]:
        """Names and both values of what must agree for `other` to resume this run, sorted; empty if it may."""
        mine, theirs = dict(flat(self._identity())), dict(flat(other._identity()))
        return [
            f"{key}: {_short(mine.get(key))} in the run, {_short(theirs.get(key))} asked"
            for key in sorted(mine.keys() | theirs.keys())
            if mine.get(key) != theirs.get(key)
        ]

    def with_environment(self, environment: Environment) -> RunManifest:
        """This manifest after one more session: unchanged if its environment is that of the last session."""
        if self.environments and self.environments[-1] == environment:
            return self
        return self.model_copy(update={"environments": (*self.environments, environment)})

    def _identity(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude=_NOT_IDENTITY)


_NOT_IDENTITY = {"run_id", "created_at", "execution", "environments", "parallel_on_one_instance", "instances"}


def flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Nested JSON data as (dotted key, value) pairs."""
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and item:
            yield from flat(item, f"{name}.")
        else:
            yield name, item


def _short(value: JsonValue, limit: int = 60) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
