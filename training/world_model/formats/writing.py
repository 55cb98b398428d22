"""Write a diff as lines of the `edits` spelling (grammar: `applying`), in the fewest words that give the page back.

    changes   focus, set, check, expand, name, state     whole-page renames first: one text often stands in many places
    adds      one block per run of new neighbours, beside the neighbour that is easiest to name
    drops     the top of each removed subtree

Nodes go by role and name, never by number in the page, since a small model cannot learn to point by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.axtree import Added, Changed, Diff, Moved, Node, PropertyValue, RawLiteral, Removed, Tree, diff
from training.world_model.formats.applying import Applier, field_value
from training.world_model.formats.exceptions import Edit
from training.world_model.formats.quoting import Slots, quote
from training.world_model.formats.working import IT, PAGE, WorkingTree, short

_VERB: Final = {
    ("checked", "true"): "check",
    ("checked", "false"): "uncheck",
    ("expanded", True): "expand",
    ("expanded", False): "collapse",
}


class Writer:
    """Lines for one page `tree`; `it` is the index of its acted element."""

    def __init__(self, tree: Tree, it: int | None, slots: Slots) -> None:
        self._tree = tree
        self._it = it
        self._slots = slots
        self._page = WorkingTree(tree, it)
        self._original: list[int | None] = list(range(len(tree)))
        """Index in the tree that `_rest` describes → index in `tree`; None for what a macro added."""

    def edits(self, after: Tree) -> list[Edit]:
        """Edits that turn the page into `after`. Short ones first where they say it all, else the plain spelling."""
        plain = diff(self._tree, after)
        macros = self._macros(plain)
        if macros:
            applier = Applier(self._tree, self._it, self._slots)
            middle = applier.apply([line for macro in macros for line in macro.lines])
            self._original = applier.page.original_indices()
            try:
                short_ones = [*macros, *self._rest(after, diff(middle, after), middle)]
            except _Unnamed:
                short_ones = []
            self._original = list(range(len(self._tree)))
            if short_ones and not applier.skipped:
                return short_ones
        return list(self._rest(after, plain, self._tree))

    def reference(self, index: int) -> str:
        """REF of the grammar for the node at `index`."""
        original = self._named(index)
        if original == self._it:
            return IT
        return PAGE if original == 0 else self._numbered(index)

    def _numbered(self, index: int) -> str:
        """The same by role, name and number, for the acted element too."""
        original = self._named(index)
        node = self._tree.nodes[original]
        k = self._page.same_as(original).index(original) + 1
        name = f" {self._quote(short(node.name))}" if node.name else ""
        return f"{node.role}{name}" + (f" #{k}" if k > 1 or not name else "")

    def _named(self, index: int) -> int:
        original = self._original[index]
        if original is None:
            raise _Unnamed
        return original

    # ------------------------------------------------------------------------------------------ macros

    def _macros(self, changes: Diff) -> list[Edit]:
        """Lines that say several changes at once."""
        changed = changes.of(Changed)
        found = [
            self._edit(f"set {self.reference(edit.ref.at)} {self._quote(text)}", 2)
            for edit in changed
            if edit.before.value != edit.after.value
            and field_value(edit.after.role, text := _typed(edit.after)) == edit.after.value
        ]
        renamed: dict[str, list[str]] = {}
        for edit in changed:
            if edit.before.name != edit.after.name and edit.before.name:
                renamed.setdefault(edit.before.name, []).append(edit.after.name)
        for old, new in renamed.items():
            if len(new) > 1 and len(set(new)) == 1 and len(new) == len(self._page.named(old)):
                found.append(self._edit(f"name {self._quote(old)} to {self._quote(new[0])}", len(new)))
        return found

    # ------------------------------------------------------------------------------------------ changed nodes

    def _rest(self, after: Tree, changes: Diff, before: Tree) -> Iterator[Edit]:
        fields = {edit.ref.at: {name: value for name, _, value in edit.fields} for edit in changes.of(Changed)}
        yield from self._focus(fields, before)
        for index, changed in fields.items():
            yield from self._fields(index, changed)
        yield from self._adds(before, after, changes)
        yield from self._drops(before, changes)

    def _focus(self, fields: dict[int, dict[str, PropertyValue | None]], before: Tree) -> Iterator[Edit]:
        """At most one line; takes the changes that it says out of `fields`. Pages with two focused elements get none."""
        touched = {index for index, changed in fields.items() if index and "focused" in changed}
        held = {index for index, node in enumerate(before.nodes) if index and "focused" in dict(node.properties)}
        gained = [index for index in touched if fields[index]["focused"] is True]
        lost = {index for index in touched if fields[index]["focused"] is None}
        if not touched or len(gained) > 1 or held - lost - set(gained) or touched - lost - set(gained):
            return
        for index in touched:
            del fields[index]["focused"]
        yield self._edit(f"focus {self.reference(gained[0])}", 2) if gained else self._edit("blur", 1)

    def _fields(self, index: int, changed: dict[str, PropertyValue | None]) -> Iterator[Edit]:
        states: list[str] = []
        for key, value in changed.items():
            if key == "name":
                yield self._edit(f"name {self.reference(index)} {self._quote(str(value))}", 1)
            elif (verb := _VERB.get((key, value))) and type(value) is not int:
                yield self._edit(f"{verb} {self.reference(index)}", 1)
            elif value is None:
                states.append("=none" if key == "value" else f"-{key}")
            else:
                states.append(self._state("" if key == "value" else key, value))
        if states:
            yield self._edit(f"state {self.reference(index)} {' '.join(states)}", 1)

    @staticmethod
    def _edit(line: str, weight: int) -> Edit:
        return Edit((line,), weight)

    # ------------------------------------------------------------------------------------------ new, moved, removed

    def _adds(self, before: Tree, after: Tree, changes: Diff) -> Iterator[Edit]:
        placed: dict[int, int | None] = {edit.ref.at: None for edit in changes.of(Added)}
        placed.update({edit.target.at: edit.ref.at for edit in changes.of(Moved)})
        if not placed:
            return
        old_of = _survivors(before, after, changes, placed)
        kept = [index for index in range(len(after)) if index not in placed or placed[index] is not None]
        for siblings in (after.children[-1], *(after.children[index] for index in kept)):
            for run in _runs(siblings, placed):
                parent = after.parents[run[0]]
                anchor = self._anchor(siblings, run, -1 if parent < 0 else old_of[parent], old_of, placed)
                lines = [line for top in run for line in self._block(after, top, placed, " ")]
                new = [node for top in run for node in range(top, after.ends[top]) if placed.get(node, 0) is None]
                yield Edit((f"add {anchor}", *lines), max(len(new), 1))

    def _anchor(
        self, siblings: tuple[int, ...], run: list[int], parent: int, old_of: dict[int, int], placed: dict[int, int | None]
    ) -> str:
        """The place of a run of new siblings, named by the neighbour that is easiest to name."""
        first, last = siblings.index(run[0]), siblings.index(run[-1])
        choices: list[tuple[int, str, int]] = []
        if first > 0:
            choices.append((0, "after", old_of[siblings[first - 1]]))
        if parent >= 0 and last == len(siblings) - 1:
            choices.append((1, "in", parent))
        if parent >= 0 and first == 0:
            choices.append((2, "first", parent))
        if last < len(siblings) - 1 and siblings[last + 1] not in placed:
            choices.append((3, "before", old_of[siblings[last + 1]]))
        if not choices:
            return "top"
        _, where, index = min(choices, key=lambda choice: (self._effort(choice[2]), choice[0]))
        return f"{where} {self.reference(index)}"

    def _effort(self, index: int) -> int:
        original = self._original[index]
        if original is None:
            return 4
        if original in (self._it, 0):
            return 0
        n = len(self._page.same_as(original))
        if not self._tree.nodes[original].name:
            return 3
        return 1 if n == 1 else 2

    def _block(self, after: Tree, index: int, placed: dict[int, int | None], indent: str) -> Iterator[str]:
        """Lines of a new subtree; old nodes in it stand as `@ REF`, and what is new below those has blocks of its own."""
        todo = [(index, indent)]
        while todo:
            index, indent = todo.pop()
            old = placed.get(index)
            if old is not None:
                yield f"{indent}@ {self.reference(old)}"
                continue
            text = self._node(after.nodes[index])
            children = after.children[index]
            while len(children) == 1 and placed.get(children[0], 0) is None:
                text += f" > {self._node(after.nodes[children[0]])}"
                children = after.children[children[0]]
            yield indent + text
            todo.extend((child, indent + " ") for child in reversed(children))

    def _drops(self, before: Tree, changes: Diff) -> Iterator[Edit]:
        """The top of each removed subtree; namesakes in a row as one line."""
        removed = {edit.ref.at for edit in changes.of(Removed)}
        tops = [edit.ref.at for edit in changes.of(Removed) if edit.parent not in removed]
        position = 0
        while position < len(tops):
            first = last = tops[position]
            weight = before.ends[first] - first
            namesakes = self._page.same_as(self._original[first])
            gone = {self._original[index] for index in removed}
            position += 1
            while position < len(tops) and self._follows(tops[position], last, namesakes, gone):
                last = tops[position]
                weight += before.ends[last] - last
                position += 1
            line = f"drop {self.reference(first)}"
            if last != first:
                line = f"drop {self._numbered(first)} to #{namesakes.index(self._named(last)) + 1}"
            yield self._edit(line, weight)

    def _follows(self, index: int, last: int, namesakes: Sequence[int], gone: set[int | None]) -> bool:
        """Is the node the next removed one that reads like `last`, with no namesake between them that stays?"""
        one, other = self._original[last], self._original[index]
        if one is None or other is None or other not in namesakes:
            return False
        return all(between in gone for between in namesakes[namesakes.index(one) : namesakes.index(other)])

    # ------------------------------------------------------------------------------------------ words

    def _node(self, node: Node) -> str:
        parts = [node.role]
        if node.name:
            parts.append(self._quote(node.name))
        if node.value is not None:
            parts.append(self._state("", node.value))
        parts.extend(self._state(key, value) for key, value in node.properties)
        return " ".join(parts)

    def _state(self, key: str, value: PropertyValue) -> str:
        if value is True and key:
            return key
        if isinstance(value, bool):
            return f"{key}={'true' if value else 'false'}"
        if isinstance(value, RawLiteral):
            return f"{key}=raw {self._quote(str(value))}"
        if isinstance(value, str):
            return f"{key}={self._quote(value)}"
        return f"{key}={value!r}"

    def _quote(self, text: str) -> str:
        return quote(self._slots.put(text))


class _Unnamed(Exception):
    """A reference to a node that a macro added: the macros do not say it all."""


def _typed(node: Node) -> str:
    """What was typed into a field to give it this value."""
    return "" if node.value is None else str(node.value)


def _survivors(before: Tree, after: Tree, changes: Diff, placed: Mapping[int, int | None]) -> dict[int, int]:
    """Index in `after` → index in `before` for every old node: named by a move, or left over in order."""
    moved = {edit.ref.at for edit in changes.of(Moved)}
    gone = moved | {edit.ref.at for edit in changes.of(Removed)}
    stayed = (index for index in range(len(before)) if index not in gone)
    found: dict[int, int] = {}
    for index in range(len(after)):
        if index in placed:
            if (old := placed[index]) is not None:
                found[index] = old
        else:
            found[index] = next(stayed)
    return found


def _runs(siblings: Sequence[int], placed: Mapping[int, int | None]) -> Iterator[list[int]]:
    """Neighbouring siblings that are new or moved."""
    run: list[int] = []
    for index in siblings:
        if index in placed:
            run.append(index)
        elif run:
            yield run
            run = []
    if run:
        yield run
