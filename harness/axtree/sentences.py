"""A diff in plain English, one short sentence per visible change: what a world model is taught to foresee.

    The checkbox "I agree" is now checked.
    The text "2 items" became "3 items".
    A dialog "Delete?" appeared in main, with button "Yes" and button "No".

A subtree that came, went or moved as a whole is one sentence about its top node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from harness.axtree.edits import Added, Changed, Diff, Moved, NodeRef, Removed
from harness.axtree.identity import DECORATIVE_ROLES
from harness.axtree.tree import PropertyValue

MAX_NAME_CHARS: Final = 80
MAX_PARTS_NAMED: Final = 4
"""Parts of a subtree that are named; the rest is counted."""

_CLAUSES: Final[dict[str, tuple[str, str]]] = {
    "focused": ("has the focus", "no longer has the focus"),
    "checked": ("is now checked", "is no longer checked"),
    "expanded": ("is now expanded", "is now collapsed"),
    "selected": ("is now selected", "is no longer selected"),
    "pressed": ("is now pressed", "is no longer pressed"),
    "disabled": ("is now disabled", "is now enabled"),
    "visible": ("is now visible", "is no longer visible"),
    "required": ("is now required", "is no longer required"),
}

_Subtree = TypeVar("_Subtree", Added, Removed)


def summary(changes: Diff) -> list[str]:
    """Sentences about `changes`: what went, what changed, what moved, what came. Empty if nothing changed."""
    removed, added, moved = changes.of(Removed), changes.of(Added), changes.of(Moved)
    return [
        *_subtrees(removed, "disappeared from", {edit.ref.at: edit for edit in removed}),
        *(sentence for edit in changes.of(Changed) for sentence in _changed(edit)),
        *_moves(moved, {edit.ref.at for edit in added}),
        *_subtrees(added, "appeared in", {edit.ref.at: edit for edit in added}),
    ]


def _changed(edit: Changed) -> list[str]:
    what = _the(edit.ref)
    sentences: list[str] = []
    for field, before, after in edit.fields:
        if field == "name":
            sentences.append(_renamed(edit, str(before), str(after)))
        elif field == "value":
            now = f"now contains {_quoted(str(after))}" if after not in (None, "") else "is now empty"
            sentences.append(f"{what} {now}.")
        else:
            sentences.append(f"{what} {_state(field, before, after)}.")
    # Two trees may differ in the order of a node's states only; that is a change to apply but nothing to tell.
    return sentences


def _renamed(edit: Changed, before: str, after: str) -> str:
    if edit.ref.role == "RootWebArea":
        return f"The page's title became {_quoted(after)}."
    if edit.ref.role == "StaticText":
        return f"The text {_quoted(before)} became {_quoted(after)}."
    return f"The {_role(edit.ref.role)} {_quoted(before)} is now named {_quoted(after)}."


def _state(field: str, before: PropertyValue | None, after: PropertyValue | None) -> str:
    if field in _CLAUSES and (truth := _truth(after)) is not None and truth != _truth(before):
        return _CLAUSES[field][0 if truth else 1]
    if after is None:
        return f"no longer has {field} {_shown(before)}"
    return f"now has {field} {_shown(after)}"


def _truth(value: PropertyValue | None) -> bool | None:
    """`checked` is the text 'true' where `expanded` is True; an absent flag is false; 'mixed' is neither."""
    if value is None:
        return False
    return {"true": True, "false": False}.get(str(value).lower())


def _moves(moved: Sequence[Moved], added: set[int]) -> list[str]:
    carried = {edit.target.at for edit in moved}
    return [
        f"{_the(edit.ref)} moved{_inside(edit.target, ' into')}."
        for edit in moved
        # Under a moved parent it came along; under an added one the sentence on that one says enough.
        if edit.parent not in carried and edit.parent not in added
    ]


def _subtrees(edits: Sequence[_Subtree], verb: str, by_index: dict[int, _Subtree]) -> list[str]:
    parts: dict[int, list[_Subtree]] = {}
    top_of: dict[int, int] = {}
    for edit in edits:
        top = top_of.get(edit.parent, edit.ref.at) if edit.parent in by_index else edit.ref.at
        top_of[edit.ref.at] = top
        parts.setdefault(top, []).append(edit)
    place, alone = verb.split(" ")[1], verb.split(" ")[0]
    sentences: list[str] = []
    for group in parts.values():
        first, rest = group[0], [edit for edit in group[1:] if edit.node.role not in DECORATIVE_ROLES]
        where = _inside(first.ref, f" {place}")
        sentences.append(f"{_a(first.ref)} {alone}{where}{_with([_named(edit.ref) for edit in rest])}.")
    return sentences


def _with(names: list[str]) -> str:
    if not names:
        return ""
    shown = names[:MAX_PARTS_NAMED]
    hidden = len(names) - len(shown)
    if hidden:
        return f", with {', '.join(shown)} and {hidden} more"
    return f", with {' and '.join([', '.join(shown[:-1]), shown[-1]] if shown[1:] else shown)}"


def _inside(ref: NodeRef, preposition: str) -> str:
    """The nearest ancestor that is not the page itself."""
    return f"{preposition} {_cut(ref.path[-1])}" if len(ref.path) > 1 else ""


def _the(ref: NodeRef) -> str:
    which = f" ({ref.k + 1} of {ref.n})" if ref.n > 1 else ""
    return f"The {_named(ref)}{which}"


def _a(ref: NodeRef) -> str:
    named = _named(ref)
    return f"An {named}" if named[0] in "aeiou" else f"A {named}"


def _named(ref: NodeRef) -> str:
    return f"{_role(ref.role)} {_quoted(ref.name)}" if ref.name else _role(ref.role)


def _role(role: str) -> str:
    return {"StaticText": "text", "RootWebArea": "page", "generic": "element", "img": "image"}.get(role, role)


def _shown(value: PropertyValue | None) -> str:
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return f'"{_cut(" ".join(text.split()))}"'


def _cut(text: str) -> str:
    return text if len(text) <= MAX_NAME_CHARS else text[: MAX_NAME_CHARS - 1] + "…"
