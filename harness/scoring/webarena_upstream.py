"""WebArena's own task and evaluator code, loaded without a network, with four of its seams in our hands.

    load(environment, flavour)
      1. WA_* variables set (upstream asserts all seven at import, and reads them once: one process per site set)
      2. nltk's `punkt_tab` check satisfied by an empty folder for the moment of the import (it would download)
      3. browsergym.webarena | browsergym.webarenalite, libwebarena's evaluators
      4. in the evaluator module: word_tokenize      → same words, no data files (31 one-character references need it)
                                  llm_fuzzy_match    → the active `Hooks` (upstream: gpt-4-1106-preview, substring parse)
                                  llm_ua_match       → the active `Hooks`
                                  time.sleep         → at most `Hooks.settle_seconds` (upstream: 3 s per page check)

Nothing else of upstream is changed: `GenericWebArenaTask.validate` and the evaluators run as they are installed.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, Protocol

from harness.errors import EvaluatorError, NotReadyError, UsageError

Flavour = Literal["webarena", "webarena-lite"]

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map")
VARIABLES = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE")
TOKENIZER = "nltk word tokenizer after untrained Punkt"
"""Stored as evidence: with the trained Punkt model a sentence may end elsewhere, a word hardly ever."""

FIX = 'install the extra: pip install "dynaweb-harness[webarena]"'

_MODULES: dict[Flavour, tuple[str, str, str]] = {
    "webarena": ("browsergym.webarena.task", "GenericWebArenaTask", "webarena.evaluation_harness.evaluators"),
    "webarena-lite": ("browsergym.webarenalite.task", "WebArenaLiteTask", "browsergym.webarenalite.evaluators"),
}
_DISTRIBUTIONS: dict[Flavour, str] = {"webarena": "libwebarena", "webarena-lite": "browsergym-webarenalite"}


class Hooks(Protocol):
    """What an evaluation may ask of us. Signatures are upstream's; a score is 0.0 or 1.0."""

    settle_seconds: float

    def fuzzy_match(self, pred: str, reference: str, question: str) -> float: ...

    def ua_match(self, pred: str, reference: str, question: str) -> float: ...


_hooks: ContextVar[Hooks | None] = ContextVar("webarena_hooks", default=None)


@contextmanager
def hooked(hooks: Hooks) -> Iterator[None]:
    """Within the block, upstream's evaluators use `hooks`."""
    token = _hooks.set(hooks)
    try:
        yield
    finally:
        _hooks.reset(token)


@dataclass(frozen=True)
class Upstream:
    """Upstream's code, ready to use in this process."""

    flavour: Flavour
    task_class: Any
    """`GenericWebArenaTask` or `WebArenaLiteTask`; its `__init__` builds a `WebArenaInstance` from the environment."""
    evaluators: Any
    """The evaluator module: `evaluator_router`, `StringEvaluator` …"""
    pseudo_page: Any
    """`PseudoPage(page, url)`: a page that reports another URL."""
    version: str

    @property
    def profile(self) -> str:
        return f"{self.flavour}-official"


def installed_version(flavour: Flavour) -> str:
    """Version of the package whose evaluators decide. Raises `NotReadyError` if it is not installed."""
    distribution = _DISTRIBUTIONS[flavour]
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        raise NotReadyError(f"{flavour} needs the package {distribution}", fix=FIX) from None


def load(environment: Mapping[str, str], flavour: Flavour = "webarena") -> Upstream:
    """Import upstream for the site set in `environment` (`WA_SHOPPING` …). Idempotent for the same set.

    Raises `UsageError` if this process already uses another site set, `NotReadyError` without the package.
    """
    release = installed_version(flavour)
    _use_sites(environment)
    task_module, class_name, evaluator_module = _MODULES[flavour]
    with _without_download(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # beartype about gymnasium about typing: nothing a user could act on
        task_class = getattr(importlib.import_module(task_module), class_name)
        evaluators = importlib.import_module(evaluator_module)
    _take_over(evaluators)
    return Upstream(flavour, task_class, evaluators, evaluators.PseudoPage, release)


def _use_sites(environment: Mapping[str, str]) -> None:
    wanted = {name: environment.get(f"WA_{name}", "") for name in VARIABLES}
    if missing := [f"WA_{name}" for name, url in wanted.items() if not url]:
        raise NotReadyError(f"no URL for {', '.join(missing)}", fix="use WebArenaBenchmark.worker_environment")
    loaded = sys.modules.get("webarena.browser_env.env_config")
    if loaded is not None and any(getattr(loaded, name) != url for name, url in wanted.items()):
        raise UsageError(
            "this process already uses another set of WebArena sites (upstream reads their URLs once, at import)",
            fix="use one process per site set, as `harness run` does",
        )
    for name, url in wanted.items():
        os.environ[f"WA_{name}"] = os.environ[name] = url


@contextmanager
def _without_download() -> Iterator[None]:
    """`import browsergym.webarena` asks nltk whether `punkt_tab` exists, else downloads it: let the answer be yes."""
    if "browsergym.webarena" in sys.modules and "browsergym.webarenalite" in sys.modules:
        yield
        return
    nltk_data = importlib.import_module("nltk").data
    with tempfile.TemporaryDirectory(prefix="harness-nltk-") as folder:
        (Path(folder) / "tokenizers" / "punkt_tab").mkdir(parents=True)
        nltk_data.path.insert(0, folder)
        try:
            yield
        finally:
            nltk_data.path.remove(folder)


def _take_over(evaluators: Any) -> None:
    evaluators.word_tokenize = word_tokenize
    evaluators.llm_fuzzy_match = _fuzzy_match
    evaluators.llm_ua_match = _ua_match
    evaluators.time = SimpleNamespace(sleep=_sleep)


def word_tokenize(text: str) -> list[str]:
    """nltk's `word_tokenize`, sentences split by Punkt without a trained model: no data files, no network."""
    sentences, words = _tokenizers()
    return [word for sentence in sentences.tokenize(text) for word in words.tokenize(sentence)]


@lru_cache(maxsize=1)
def _tokenizers() -> tuple[Any, Any]:
    punkt = importlib.import_module("nltk.tokenize.punkt")
    return punkt.PunktSentenceTokenizer(), importlib.import_module("nltk.tokenize").NLTKWordTokenizer()


def _active() -> Hooks:
    hooks = _hooks.get()
    if hooks is None:
        raise EvaluatorError("an evaluator ran outside an evaluation", kind="no_hooks")
    return hooks


def _fuzzy_match(pred: str, reference: str, question: str) -> float:
    return _active().fuzzy_match(pred, reference, question)


def _ua_match(pred: str, reference: str, question: str) -> float:
    return _active().ua_match(pred, reference, question)


def _sleep(seconds: float) -> None:
    time.sleep(min(seconds, _active().settle_seconds))
