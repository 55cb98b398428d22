"""Does a model's Δ tell what happened? Checked against both pages, so that no invented change is ever taught.

    "Nothing changes."                              contradicts every change of page, address or title
    … "X" … disappears, is removed, is closed       a node that shows X must be gone, or show it in another way
    … "X" … appears, is added, is displayed         a node that shows X must be new, or show it in another way
    … "X" … becomes "Y", is now …, shows, opens     either
    … "X" … moved                                   is not checked

Of several texts in quotes one must fit. Sentences without any are too vague to check; one must have some, unless all that
changed is nameless. What a model leaves out is no contradiction: a summary may be shorter than the diff.
"""

from __future__ import annotations

import re
from typing import Final

from harness.axtree import Added, Changed, Diff, Node, Removed
from harness.types import Observation

NOTHING: Final = re.compile(r"\s*(?:nothing (?:visible )?changes|no (?:visible )?change|nothing)\b", re.IGNORECASE)
_GONE: Final = re.compile(r"\b(?:disappear\w*|removed|vanish\w*|gone|deleted|hidden|closed|closes)\b", re.IGNORECASE)
_NEW: Final = re.compile(r"\b(?:appear\w*|added|displayed|displays)\b", re.IGNORECASE)
_MOVED: Final = re.compile(r"\b(?:moved?|moves)\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\"([^\"\n]{0,300})\"|“([^”\n]{0,300})”")


class Truth:
    """What really went and came: nodes as `role name value states`, and the page's address and title."""

    def __init__(self, edits: Diff, now: Observation, then: Observation) -> None:
        changed = edits.of(Changed)
        gone = [edit.node for edit in edits.of(Removed)] + [edit.before for edit in changed]
        new = [edit.node for edit in edits.of(Added)] + [edit.after for edit in changed]
        self.named = any(node.name for node in (*gone, *new))
        self.gone, self.new = [_shown(node) for node in gone], [_shown(node) for node in new]
        if (now.url, now.title) != (then.url, then.title):
            self.named = True
            self.gone.append(_plain(f"page {now.url} {now.title}"))
            self.new.append(_plain(f"page {then.url} {then.title}"))
        self.changed = bool(edits.edits or self.new)

    def is_new(self, text: str) -> bool:
        return _holds(self.new, text)

    def is_gone(self, text: str) -> bool:
        return _holds(self.gone, text)


def contradiction(sentences: list[str], truth: Truth) -> str:
    """What is not true of `sentences`, in a few words; empty if nothing is known to be false."""
    if not sentences:
        return "says nothing"
    if NOTHING.match(sentences[0]):
        return "says that nothing changes" if truth.changed else ""
    if not truth.changed:
        return "tells of a change, and nothing changed"
    checked = 0
    for sentence in sentences:
        quoted = [text for found in _QUOTED.findall(sentence) if (text := "".join(found).strip())]
        if not quoted:
            continue
        words = _QUOTED.sub("", sentence)
        checked += 1
        if _MOVED.search(words):
            continue
        if _GONE.search(words):
            if not any(map(truth.is_gone, quoted)):
                return f"{quoted[0][:60]!r} did not disappear"
        elif _NEW.search(words):
            if not any(map(truth.is_new, quoted)):
                return f"{quoted[-1][:60]!r} did not appear"
        elif not any(truth.is_new(text) or truth.is_gone(text) for text in quoted):
            return f"{quoted[-1][:60]!r} did not change"
    return "" if checked or not truth.named else "no sentence names in quotes what changed"


def _shown(node: Node) -> str:
    return _plain(f"{node.role} {node.name} {'' if node.value is None else node.value} {dict(node.properties)}")


def _holds(texts: list[str], text: str) -> bool:
    # A text that a labeler cut ends in an ellipsis.
    wanted = _plain(text).removesuffix("…")
    return any(wanted in other for other in texts)


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()
