"""What a query is about, found once for prompt, target and reading: the page before, the acted element, the slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.actions import bids_of
from harness.axtree import Tree, find
from harness.predictions import WorldModelQuery
from harness.types import Action, TargetDescriptor
from training.world_model.formats.quoting import Slots
from training.world_model.memory.trees import page_tree

FIELD_ROLES: Final = ("textbox", "searchbox", "spinbutton", "combobox")
MAX_FIELDS: Final = 8
"""Fields that get a slot: those with a value, in document order."""
MAX_SLOT_CHARS: Final = 120
MAX_TYPED_CHARS: Final = 8_000
"""What is typed has a slot although it is long: a small model would have to write all of it out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything here is made of the query alone."""

    tree: Tree
    """o_t, normalised, with bids."""
    it: int | None
    """Index of the acted element; None where the action points at none, or at one that the page does not have."""
    target: TargetDescriptor | None
    typed: str
    """What the action types or chooses."""
    fields: tuple[tuple[int, str], ...]
    """(index, value) of form fields with a value, those with a slot."""
    slots: Slots


def ask(query: WorldModelQuery) -> Asked:
    tree = page_tree(query.observation.axtree)
    it = _acted(tree, query.action)
    typed = typed_of(query.action)
    fields = tuple(
        (i, str(node.value)) for i, node in enumerate(tree.nodes) if node.role in FIELD_ROLES and node.value not in (None, "")
    )
    fields = fields[:MAX_FIELDS]
    name = tree.nodes[it].name if it is not None else query.action.target.name if query.action.target else ""
    texts = {"it": plain(name), "typed": typed, **{f"f{k}": value for k, (_, value) in enumerate(fields, 1)}}
    limits = {"typed": MAX_TYPED_CHARS}
    slots = Slots({key: text for key, text in texts.items() if len(text) <= limits.get(key, MAX_SLOT_CHARS)})
    return Asked(tree, it, query.action.target, typed, fields, slots)


def typed_of(action: Action) -> str:
    """The text an action types, fills in or chooses; empty for others."""
    for key in ("text", "value", "options"):
        if key in action.arguments:
            given = action.arguments[key]
            return " ".join(str(item) for item in given) if isinstance(given, list) else str(given)
    return ""


def plain(name: str) -> str:
    """A name without icon glyphs (private use area) and outer blanks."""
    return " ".join("".join(c for c in name if not "\ue000" <= c <= "\uf8ff").split())


def _acted(tree: Tree, action: Action) -> int | None:
    for bid in bids_of(action):
        if bid in tree.by_bid:
            return tree.by_bid[bid]
    if action.target is not None:
        found = find(tree, action.target)
        return tree.by_bid[found[0]] if found else None
    return None
