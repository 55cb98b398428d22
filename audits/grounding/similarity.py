"""How alike two descriptors are, in [0, 1]: a weighted mean over what is known of an element (Similo)."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache

from audits.grounding.config import Weights
from harness.axtree import INTERACTIVE_ROLES
from harness.types import TargetDescriptor

RELATED_ROLES = 0.5
"""Likeness of two different roles that a person acts on: a link may become a button, a heading may not."""
MAX_TEXT = 200
"""Characters compared of a text: pages are hostile, and comparing is quadratic."""


def similarity(wanted: TargetDescriptor, found: TargetDescriptor, weights: Weights) -> float:
    """The weighted mean of the parts that at least one of the two has."""
    parts = [
        (weights.role, _role(wanted.role, found.role)),
        (weights.name, text_likeness(wanted.name, found.name)),
        (weights.neighbours, _neighbours(wanted.neighbours, found.neighbours)),
        (weights.path, _path(wanted.path, found.path)),
        (weights.landmark, text_likeness(wanted.landmark, found.landmark)),
        (weights.position, _position(wanted, found)),
    ]
    if wanted.value or found.value:
        parts.append((weights.value, text_likeness(wanted.value, found.value)))
    total = sum(weight for weight, _ in parts)
    return sum(weight * part for weight, part in parts) / total if total else 0.0


@lru_cache(maxsize=50_000)
def text_likeness(a: str, b: str) -> float:
    """1 for equal texts, else the share of characters in common blocks, case aside."""
    if a == b:
        return 1.0
    if not a or not b:
        return 0.0
    return SequenceMatcher(None, a[:MAX_TEXT].casefold(), b[:MAX_TEXT].casefold(), autojunk=False).ratio()


def _role(a: str, b: str) -> float:
    if a == b:
        return 1.0
    return RELATED_ROLES if a in INTERACTIVE_ROLES and b in INTERACTIVE_ROLES else 0.0


def _neighbours(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    pairs = list(zip(a, b, strict=False))
    return sum(text_likeness(x, y) for x, y in pairs) / len(pairs) if pairs else 1.0


def _path(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """The share of ancestors in common, in order."""
    if a == b:
        return 1.0
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _position(a: TargetDescriptor, b: TargetDescriptor) -> float:
    """Nearness of k/N and k'/N' among namesakes."""
    return 1.0 - abs(_share(a) - _share(b))


def _share(target: TargetDescriptor) -> float:
    return target.index / (target.count - 1) if target.count > 1 else 0.0
