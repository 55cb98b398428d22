"""RunConfig: everything that `harness run` can be told, each section owned by the part that obeys it.

    [run]         what to run: benchmark, tasks, windows, seeds          here
    [browser]     harness.envs.config        [limits]      harness.limits
    [policy]      harness.policies           [judge]       harness.completions (a model server)
    [miniwob] [webarena] [webvoyager] [arena] [gym]  the benchmarks' own
A TOML file (`--config run.toml`) and command-line options fill the same fields; options win.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from harness.benchmarks.arena import ArenaConfig
from harness.benchmarks.gym import GymConfig
from harness.benchmarks.miniwob import MiniwobConfig
from harness.benchmarks.webarena import WebArenaConfig
from harness.benchmarks.webvoyager import WebVoyagerConfig
from harness.completions import EndpointConfig
from harness.envs.config import BrowserConfig
from harness.errors import UsageError
from harness.limits import Limits
from harness.policies import PolicyConfig
from harness.types import JsonDict, Record


class RunSection(Record):
    """`[run]` of run.toml."""

    benchmark: str = "miniwob"
    """miniwob, arena, webarena, webarena-lite, webarena-verified, webvoyager, or gym:GLOB."""
    tasks: tuple[str, ...] = ()
    """Globs over task ids (`click-*`, `27?`); empty: all tasks."""
    sites: tuple[str, ...] = ()
    """Only tasks on these sites; empty: all."""
    window: str = Field(default="A", pattern=r"^[A-Za-z0-9]{1,16}$")
    """Name of the time window. Two windows of one task set are two runs, compared by `harness report A B`."""
    repeats: int = Field(default=1, ge=1, le=10_000)
    """Episodes per task, with seeds base_seed, base_seed + 1, …"""
    base_seed: int = Field(default=0, ge=0, le=2**31 - 20_000)
    """Seed of the first episode of each task."""
    shuffle: int | None = Field(default=None, ge=0)
    """Play the tasks in the random order of this seed; left out: in the benchmark's own order. Dependencies hold either way."""


class RunConfig(Record):
    """A whole run. What the user left out has its default; `explicit()` tells the two apart."""

    run: RunSection = RunSection()
    browser: BrowserConfig = BrowserConfig()
    limits: Limits = Limits()
    policy: PolicyConfig = PolicyConfig()
    judge: EndpointConfig | None = None
    miniwob: MiniwobConfig = MiniwobConfig()
    webarena: WebArenaConfig = WebArenaConfig()
    webvoyager: WebVoyagerConfig = WebVoyagerConfig()
    arena: ArenaConfig = ArenaConfig()
    gym: GymConfig = GymConfig()

    def explicit(self) -> JsonDict:
        """What was asked for, without defaults: decides whether two commands mean the same run."""
        return self.model_dump(mode="json", exclude_unset=True)


def read_config(path: Path | None, options: dict[str, dict[str, Any]]) -> RunConfig:
    """The file's sections with `options` (section → field → value) on top. Raises UsageError with one line per mistake."""
    below = _read_toml(path) if path else {}
    if "policy" in options:
        below.pop("policy", None)  # taken whole: the fields of one policy mean nothing to another
    return build_config(merge(below, options), source=str(path) if path else "the options")


def build_config(data: dict[str, Any], *, source: str) -> RunConfig:
    try:
        return RunConfig.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{source}: {_explain(error)}", fix="see `harness run --help` and docs/configuration.md") from None


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """`above` over `below`, section by section; lists and scalars are replaced, not joined."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no config file {path}", fix="check the path given to --config") from None
    except OSError as error:
        raise UsageError(
            f"cannot read the config file {path}: {error.strerror}", fix="check the path given to --config"
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"the config file {path} is not TOML: {error}", fix="see docs/configuration.md for examples") from None


def _explain(error: ValidationError) -> str:
    """Field and complaint, never the value: it may be a secret in the wrong place."""
    found = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors(include_input=False)]
    return "; ".join(found[:5]) + (f"; and {len(found) - 5} more" if len(found) > 5 else "")
