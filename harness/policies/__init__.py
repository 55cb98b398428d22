"""Policies: who acts. Each implements `harness.protocols.Policy` and is built from a `PolicyConfig` in the worker.

config          PolicyConfig, LlmConfig, ReplayConfig, ExploreConfig; load_policy_config reads --policy
registry        make_policy: name or module:Class → policy
heuristic/      no model: rules over goal text and tree; the default of `make run`
random, noop    floors
explore         walks without a task; explore_moves: what can be tried on a page, explore_values: what to write
replay          the actions of a stored episode
language_model  an OpenAI-compatible endpoint; prompting builds its messages, prompts/ holds its system prompts
page            what rules see of a page
"""

from harness.policies.config import ExploreConfig, LlmConfig, PolicyConfig, ReplayConfig, load_policy_config
from harness.policies.explore import ExplorePolicy
from harness.policies.heuristic import HeuristicPolicy
from harness.policies.language_model import LanguageModelPolicy
from harness.policies.noop import NoopPolicy
from harness.policies.random import RandomPolicy
from harness.policies.registry import make_policy
from harness.policies.replay import ReplayPolicy

__all__ = [
    "ExploreConfig",
    "ExplorePolicy",
    "HeuristicPolicy",
    "LanguageModelPolicy",
    "LlmConfig",
    "NoopPolicy",
    "PolicyConfig",
    "RandomPolicy",
    "ReplayConfig",
    "ReplayPolicy",
    "load_policy_config",
    "make_policy",
]
