"""What the tracker's world is written with: components, things that break, how they break, remarks, articles.

The texts are in tracker_words.toml; this is their shape. Nothing here depends on a seed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Subject(NamedTuple):
    """What a ticket may be about; `{thing}` and `{Thing}` stand for a part of a component."""

    type: str
    summary: str
    text: str


class Plan(NamedTuple):
    """A milestone; `due` is a day, empty for none."""

    name: str
    due: str
    completed: bool
    description: str


class Setting(NamedTuple):
    name: str
    default: str
    meaning: str


class Part(NamedTuple):
    """A component of the program."""

    purpose: str
    parts: tuple[str, ...]
    settings: tuple[Setting, ...]


class Guide(NamedTuple):
    """A runbook."""

    title: str
    minutes: int
    steps: tuple[str, ...]


PROJECT: str = _WORDS["project"]
TAGLINE: str = _WORDS["tagline"]
KEYWORDS: tuple[str, ...] = tuple(_WORDS["keywords"])
REMARKS: tuple[str, ...] = tuple(_WORDS["remarks"])
DECISIONS: tuple[str, ...] = tuple(_WORDS["decisions"])
CLOSING: dict[str, tuple[str, ...]] = {resolution: tuple(texts) for resolution, texts in _WORDS["closing"].items()}
SUBJECTS = tuple(Subject(**entry) for entry in _WORDS["subjects"])
MILESTONES = tuple(Plan(**entry) for entry in _WORDS["milestones"])
VERSIONS: tuple[tuple[str, str], ...] = tuple((entry["name"], entry["day"]) for entry in _WORDS["versions"])
"""(name, day), oldest first."""
COMPONENTS = {
    name: Part(entry["purpose"], tuple(entry["parts"]), tuple(Setting(**setting) for setting in entry["settings"]))
    for name, entry in _WORDS["components"].items()
}
RUNBOOKS = {name: Guide(entry["title"], entry["minutes"], tuple(entry["steps"])) for name, entry in _WORDS["runbooks"].items()}
ARTICLES: dict[str, tuple[str, str]] = {
    name: (entry["title"], entry["text"].strip("\n")) for name, entry in _WORDS["articles"].items()
}
"""page → (title, text after the title)."""
