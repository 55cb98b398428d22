"""Name → policy. Called in the worker process, from a config that came there as JSON."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from harness.errors import HarnessError, UsageError, first_line
from harness.policies.config import ELSEWHERE, PolicyConfig
from harness.policies.explore import ExplorePolicy
from harness.policies.heuristic import HeuristicPolicy
from harness.policies.language_model import LanguageModelPolicy
from harness.policies.noop import NoopPolicy
from harness.policies.random import RandomPolicy
from harness.policies.replay import ReplayPolicy
from harness.protocols import Policy

_METHODS = ("reset", "act", "close")


def make_policy(config: PolicyConfig) -> Policy:
    """Build the policy. Raises `UsageError` for a class that cannot be used, `NotReadyError` for a missing key."""
    if ":" in config.name:
        return _users_own(config)
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
    try:
        policy = factory(**config.options)
    except TypeError as error:
        raise UsageError(
            f"{config.name} does not take these options: {first_line(error)}",
            fix="[options] are the keyword arguments of the class",
        ) from error
    except HarnessError:
        raise
    except Exception as error:
        raise UsageError(
            f"{config.name} cannot be made: {type(error).__name__}: {first_line(error)}",
            fix="correct the class or its [options]",
        ) from error
    missing = [name for name in _METHODS if not callable(getattr(policy, name, None))]
    if not isinstance(getattr(policy, "name", None), str):
        missing.append("name (a string)")
    if missing:
        raise UsageError(
            f"{config.name} is not a policy: it lacks {', '.join(missing)}",
            fix="implement harness.protocols.Policy: name, reset(goal, task, seed), act(observation), close()",
        )
    checked: Policy = policy
    return checked


def _make_current_directory_importable() -> None:
    """A console script does not have it on the path, `python -m` does; last, so that nothing is shadowed."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
