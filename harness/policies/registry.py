"""Name → policy. Called in the worker process, from a config that came there as JSON.

A name with a colon is `PLUGIN:ARGUMENT` where an installed package registers PLUGIN as an entry point (this one's own:
`checkpoint:DIR`, which needs the extra [train]); else it is a user's `module:Class`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import cast

from harness.errors import HarnessError, NotReadyError, UsageError, first_line
from harness.policies.config import ELSEWHERE, PolicyConfig
from harness.policies.explore import ExplorePolicy
from harness.policies.heuristic import HeuristicPolicy
from harness.policies.language_model import LanguageModelPolicy
from harness.policies.noop import NoopPolicy
from harness.policies.random import RandomPolicy
from harness.policies.replay import ReplayPolicy
from harness.protocols import Policy

PLUGINS = "dynaweb_harness.policies"
"""Entry points: name → function (argument, **options) → Policy."""

_METHODS = ("reset", "act", "close")


def make_policy(config: PolicyConfig) -> Policy:
    """Build the policy. Raises `UsageError` for a class that cannot be used, `NotReadyError` for a missing key."""
    if ":" in config.name:
        prefix, _, argument = config.name.partition(":")
        plugin = next(iter(entry_points(group=PLUGINS, name=prefix)), None)
        return _users_own(config) if plugin is None else _from_plugin(plugin, argument, config)
    if config.name in ELSEWHERE:
        return _users_own(config.model_copy(update={"name": ELSEWHERE[config.name]}))
    if config.llm is not None:
        return LanguageModelPolicy(config.llm)
    if config.replay is not None:
        return ReplayPolicy(config.replay)
    simple: dict[str, Callable[[], Policy]] = {
        "heuristic": HeuristicPolicy,
        "random": RandomPolicy,
        "noop": NoopPolicy,
        "explore": lambda: ExplorePolicy(config.explore),
    }
    return simple[config.name]()


def _from_plugin(plugin: EntryPoint, argument: str, config: PolicyConfig) -> Policy:
    try:
        factory = plugin.load()
    except ImportError as error:
        raise NotReadyError(
            f"--policy {plugin.name}: needs a package that is not installed: {first_line(error)}",
            fix="install the extra it belongs to, e.g. dynaweb-harness[train]",
        ) from error
    return _made(config.name, lambda: factory(argument, **config.options), fix="see the documentation of its [options]")


def _users_own(config: PolicyConfig) -> Policy:
    module_name, _, class_name = config.name.partition(":")
    fix = "give --policy module:Class of an importable module, e.g. my_agent:Agent"
    _make_current_directory_importable()
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise UsageError(f"cannot import {module_name!r}: {type(error).__name__}: {first_line(error)}", fix=fix) from error
    factory = getattr(module, class_name, None)
    if not callable(factory):
        raise UsageError(f"module {module_name!r} has no class {class_name!r}", fix=fix)
    return _made(config.name, lambda: factory(**config.options), fix="[options] are the keyword arguments of the class")


def _made(name: str, make: Callable[[], object], fix: str) -> Policy:
    """What `make` returns, checked: it is anyone's code."""
    try:
        policy = make()
    except TypeError as error:
        raise UsageError(f"{name} does not take these options: {first_line(error)}", fix=fix) from error
    except HarnessError:
        raise
    except Exception as error:
        raise UsageError(
            f"{name} cannot be made: {type(error).__name__}: {first_line(error)}", fix="correct the class or its [options]"
        ) from error
    missing = [method for method in _METHODS if not callable(getattr(policy, method, None))]
    if not isinstance(getattr(policy, "name", None), str):
        missing.append("name (a string)")
    if missing:
        raise UsageError(
            f"{name} is not a policy: it lacks {', '.join(missing)}",
            fix="implement harness.protocols.Policy: name, reset(goal, task, seed), act(observation), close()",
        )
    return cast(Policy, policy)


def _make_current_directory_importable() -> None:
    """A console script does not have it on the path, `python -m` does; last, so that nothing is shadowed."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
