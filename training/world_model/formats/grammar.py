"""Which texts can still become a readable answer in the `edits` spelling: what a constrained decode asks at each token.

    allows(text)    may an answer begin so?          lines before the last: read as any answer is, none may be left out
                                                     the last line: verb, then names of nodes that the page has, then the rest
    ends(text)      is it whole?

Names are those of the page that the first lines lead to, spelt as `writing` spells them. Texts in quotes, addresses and the
reason are free. A line that was written already cannot come again, nor a few letters twelve times in a row: a small model that
has lost its way goes in circles.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final

from harness.axtree import Tree
from training.world_model.formats.quoting import Slots, quote
from training.world_model.formats.working import IT, PAGE, short

BECAUSE, SAME, END = "because", "same", "end"
HEADS: Final = ("open", "keep", "back", "tab")
ON_A_NODE: Final = ("focus", "set", "check", "uncheck", "expand", "collapse", "state", "name", "drop")
PLACES: Final = ("in", "first", "after", "before")

_TEXT = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_CUT = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*(?:\\(?:u[0-9a-fA-F]{0,3})?)?'
"""A quoted text of which the end is missing."""
_WORD = r"[^\s\"]+"
_HEAD = re.compile(rf"(?:open|keep) (?:{_WORD}(?: (?:{_CUT}|{_TEXT}(?: (?:~[1-9]?)?)?)?)?)?")
_TAB = re.compile(r"tab (?:n(?:ew?)?|[0-9]{1,2}|c(?:l(?:o(?:s(?:e(?: [0-9]{0,2})?)?)?)?)?)?")
_STATE = rf"(?:{_WORD}|(?:{_WORD})?=(?:raw )?{_TEXT})"
"""Read in one way only: where a text has two readings, n of them have 2 to the n, and a search for the right one never ends."""
_STATES = re.compile(rf"(?:{_STATE} )*(?:{_STATE}|(?:{_WORD})?=(?:raw )?{_CUT}|(?:{_WORD})?=raw )?")
_NODE = rf"[A-Za-z][^\s\"]*(?: {_TEXT})?(?: (?!>){_STATE})*"
_NEW = re.compile(rf"(?:{_NODE} > )*(?:{_NODE}(?: (?:>|{_CUT}|(?:{_WORD})?=(?:raw )?{_CUT}|(?:{_WORD})?=raw )?)?)?")
_NUMBER = re.compile(r"(?:t(?:o(?: (?:#[0-9]{0,4})?)?)?)?")
_QUOTED = re.compile(rf"(?:{_CUT}|{_TEXT})?")
_RENAMED = re.compile(rf"{_CUT}|{_TEXT}(?: (?:t(?:o(?: (?:{_CUT}|{_TEXT})?)?)?)?)?")
_CIRCLE = re.compile(r"(?=\.*[0-9A-Za-z])([0-9A-Za-z.]{1,4})\1{11}$")
"""A text that says the same twelve times over: a lost model, not a page."""
_AFTER: Final = {"set": _QUOTED, "name": _QUOTED, "state": _STATES, "drop": _NUMBER}

Read = Callable[[str], str]
"""What is wrong with a text, empty if nothing is."""
Start = Callable[[list[str]], "Tree | None"]
"""The page that first lines lead to; None where they lead nowhere."""


class Grammar:
    """The answers to one query. `rationale`: they begin with a reason."""

    def __init__(self, read: Read, start: Start, slots: Slots, *, rationale: bool) -> None:
        self._read, self._start, self._slots, self._rationale = read, start, slots, rationale
        self._held: dict[tuple[str, ...], bool] = {(): True}
        self._names: dict[tuple[str, ...], list[str]] = {}

    def allows(self, text: str) -> bool:
        *lines, last = text.split("\n")
        return not self.goes_in_circles(last) and self._hold(tuple(lines)) and self._may_begin(lines, last)

    @staticmethod
    def goes_in_circles(text: str) -> bool:
        return _CIRCLE.search(text[-60:]) is not None

    def ends(self, text: str) -> bool:
        lines = tuple(text.split("\n"))
        return self._hold(lines) and not lines[-1].startswith("add ") and not self._read(text)

    def _hold(self, lines: tuple[str, ...]) -> bool:
        """Can these whole lines begin an answer? Asked once for each."""
        if lines not in self._held:
            self._held[lines] = self._hold(lines[:-1]) and self._holds(list(lines[:-1]), lines[-1])
        return self._held[lines]

    def _holds(self, before: list[str], line: str) -> bool:
        if self._is_reason(before, line):
            return True
        if not line.strip() or not self._may_begin(before, line) or (not line.startswith((" ", "add ")) and line in before):
            return False
        return line.startswith("add ") or not self._read("\n".join([*before, line]))

    def _is_reason(self, before: list[str], line: str) -> bool:
        return self._rationale and not before and line.startswith(f"{BECAUSE} ") and len(line) > len(BECAUSE) + 1

    def _may_begin(self, before: list[str], line: str) -> bool:
        if self._rationale and not before:
            return f"{BECAUSE} ".startswith(line) or line.startswith(f"{BECAUSE} ")
        said = before[1:] if before and self._is_reason([], before[0]) else before
        if SAME in said or END in said:
            return SAME in said and END not in said and END.startswith(line)
        head = [text for text in said if text.split(" ")[0] in HEADS]
        if line.startswith(" "):
            return bool(said) and (said[-1].startswith(("add ", " "))) and self._block(said, head, line)
        if said and said[-1].startswith("add "):
            return not line
        verb, space, rest = line.partition(" ")
        if not space:
            return any(word.startswith(verb) for word in self._verbs(said, head))
        if verb not in self._verbs(said, head):
            return False
        if verb in ("open", "keep"):
            return _HEAD.fullmatch(line) is not None
        if verb == "tab":
            return _TAB.fullmatch(line) is not None
        return self._edit(head, verb, rest)

    def _verbs(self, said: Sequence[str], head: Sequence[str]) -> tuple[str, ...]:
        """Words that a line may begin with here."""
        always = (*ON_A_NODE, "add", "blur", END) if said else (*ON_A_NODE, "add", "blur", SAME, *HEADS)
        return (*always, "open", "keep", "back") if len(said) == len(head) == 1 and head[0].startswith("tab ") else always

    def _edit(self, head: list[str], verb: str, rest: str) -> bool:
        if verb == "add":
            where, space, rest = rest.partition(" ")
            if not space:
                return any(place.startswith(where) for place in (*PLACES, "top"))
            return where in PLACES and self._named(head, rest, None)
        if verb == "name" and (rest.startswith('"') or not rest):
            return _RENAMED.fullmatch(rest or '"') is not None
        return verb in ON_A_NODE and self._named(head, rest, _AFTER.get(verb))

    def _block(self, said: Sequence[str], head: list[str], line: str) -> bool:
        depth = len(line) - len(line.lstrip(" "))
        deepest = len(said[-1]) - len(said[-1].lstrip(" ")) + 1 if said[-1].startswith(" ") else 1
        rest = line[depth:]
        if depth > deepest:
            return False
        return self._named(head, rest[2:], None) if rest.startswith("@ ") else rest == "@" or _NEW.fullmatch(rest) is not None

    def _named(self, head: list[str], rest: str, after: re.Pattern[str] | None) -> bool:
        """Is `rest` the beginning of a node's name, or one with what may follow it?"""
        names = self._references(head)
        place = bisect_left(names, rest)
        if place < len(names) and names[place].startswith(rest):
            return True
        if after is None:
            return False
        for at in (match.start() for match in re.finditer(" ", rest)):
            place = bisect_left(names, rest[:at])
            if place < len(names) and names[place] == rest[:at] and after.fullmatch(rest[at + 1 :]):
                return True
        return False

    def _references(self, head: list[str]) -> list[str]:
        """What the nodes of the page are called, sorted: `role "name" #k`."""
        key = tuple(head)
        if key not in self._names:
            tree = self._start(head)
            found = {IT, PAGE}
            counts: dict[str, int] = {}
            for node in tree.nodes if tree else ():
                name = f"{node.role} {quote(self._slots.put(short(node.name)))}" if node.name else node.role
                counts[name] = number = counts.get(name, 0) + 1
                found.add(f"{name} #{number}" if number > 1 or not node.name else name)
            self._names[key] = sorted(found)
        return self._names[key]
