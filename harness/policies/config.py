"""Which policy, with which options: plain data, so that a spawned worker rebuilds the policy from JSON.

name = "llm"                 heuristic | random | noop | explore | replay | llm | checkpoint:DIR | module:Class
[llm]                        the section of the named policy, if it has options
[options]                    for checkpoint:DIR and module:Class: keyword arguments of what makes the policy
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.completions import EndpointConfig
from harness.errors import UsageError
from harness.settings import validated
from harness.types import JsonDict

BUILT_IN = ("heuristic", "random", "noop", "explore", "replay", "llm")
ELSEWHERE = {
    "oracle": "harness.benchmarks.arena.oracle:OraclePolicy",
    "nearly": "harness.benchmarks.arena.oracle:NearlyPolicy",
}
"""Short names of policies that belong to a benchmark: module:Class, imported when they are asked for."""


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ExploreConfig(_Config):
    """How to walk through a site without a task."""

    mode: Literal["random", "goal"] = "goal"
    """`random`: any legal action. `goal`: one intention at a time, such as completing a form or opening what is new."""
    back: float = Field(default=0.06, ge=0, le=1)
    """Chance per step to go back a page."""
    fail: float = Field(default=0.08, ge=0, le=1)
    """Chance per step to do something that must fail: a world model has to know what does not work."""


class ReplayConfig(_Config):
    """Act as a stored episode did. Exactly one of `episode` and `actions`."""

    episode: str = ""
    """Path of an `episode.json.gz` (gzip JSON of `harness.types.Episode`)."""
    actions: tuple[str, ...] = ()
    """Actions in BrowserGym's syntax, instead of a stored episode."""
    at_end: Literal["noop", "stop"] = "stop"
    """After the last action: wait until the episode ends, or send an empty answer."""

    @model_validator(mode="after")
    def _one_source(self) -> ReplayConfig:
        if bool(self.episode) == bool(self.actions):
            raise ValueError("give either `episode` (a path) or `actions` (a list)")
        return self


class LlmConfig(_Config):
    """An agent made of a language model behind an OpenAI-compatible endpoint."""

    endpoint: EndpointConfig
    """The model's server."""
    prompt: Literal["dynaweb", "browsergym"] = "dynaweb"
    """`dynaweb`: click, type, scroll, go_back, stop in WebArena's syntax. `browsergym`: BrowserGym's own calls."""
    system_prompt_file: str = ""
    """A text file that replaces the packaged system prompt; the syntax stays that of `prompt`."""
    actions: tuple[str, ...] = ()
    """Names of allowed actions; empty means all of the prompt. Others are counted as invalid."""
    observation: Literal["axtree", "screenshot", "both"] = "axtree"
    """What the model sees of a page."""
    max_tree_tokens: int = Field(default=12_000, ge=64)
    """Budget for the tree, estimated at three bytes a token (no tokenizer is loaded); what does not fit is dropped and
    counted in `PolicyOutput.dropped_lines`."""
    history: Literal["none", "actions", "last_k"] = "actions"
    """What the model sees of earlier steps: nothing, its actions and their errors, or also the last `history_k` pages."""
    history_k: int = Field(default=2, ge=1)
    """Pages shown with history `last_k`, the newest excepted."""
    send_seed: bool = True
    """Send a seed made from episode seed and step; a few servers refuse the field."""
    keep_prompts: bool = False
    """Store every prompt in the result (large). Images are left out."""


class PolicyConfig(_Config):
    """`[policy]` of a run's configuration, or a file of configs/policies/."""

    name: str = "heuristic"
    """A built-in policy (heuristic, random, noop, explore, replay, llm), the arena's own (oracle, nearly), a trained agent as
    checkpoint:DIR, or a class of yours as module:Class."""
    llm: LlmConfig | None = None
    """Only with name `llm`, and needed there."""
    replay: ReplayConfig | None = None
    """Only with name `replay`, and needed there."""
    explore: ExploreConfig | None = None
    """Only with name `explore`; left out, its defaults hold."""
    options: JsonDict = Field(default_factory=dict)
    """Keyword arguments: of a user's own class (`module:Class`), or `temperature`, `device`, `threads` of `checkpoint:DIR`."""

    @model_validator(mode="after")
    def _sections_fit_the_name(self) -> PolicyConfig:
        if ":" not in self.name and self.name not in (*BUILT_IN, *ELSEWHERE):
            raise ValueError(f"no policy {self.name!r}: use one of {', '.join((*BUILT_IN, *ELSEWHERE))}, or module:Class")
        for section in ("llm", "replay"):
            if (getattr(self, section) is not None) != (self.name == section):
                needed = self.name == section
                raise ValueError(f"policy {self.name!r} {'needs' if needed else 'has no'} [{section}] options")
        if self.explore is not None and self.name != "explore":
            raise ValueError(f"policy {self.name!r} has no [explore] options")
        if self.options and ":" not in self.name:
            raise ValueError("[options] are for a class of your own (module:Class)")
        return self


def load_policy_config(text: str) -> PolicyConfig:
    """What `--policy` may be: a built-in name, `module:Class`, or the path of a TOML file. Raises `UsageError`."""
    if not text.endswith(".toml"):
        return _validated({"name": text}, f"--policy {text}")
    path = Path(text)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {text}: {error.strerror}", fix="check the path given to --policy") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{text} is not TOML: {error}", fix="see configs/policies/ for examples") from None
    return _validated(data, text)


def _validated(data: JsonDict, source: str) -> PolicyConfig:
    return validated(PolicyConfig, data, source=source, fix="see configs/policies/ for examples")
