"""Read the lines of the `edits` spelling and apply them to a page. The grammar, one line an edit:

focus REF | blur                       the focus moves (and leaves what had it) | nothing has it
set REF "text"                         the value of a field becomes this, with what shows it: its text, `valuetext`,
                                       the chosen option of a combobox
check REF | uncheck REF | expand REF | collapse REF
state REF key=value key -key …         any states, `=value` the value alone; `-key` takes a state away
name REF "new"                         another name for one node
name "old" to "new"                    … for every node that is called exactly so
drop REF                               the node goes, and all below it that was not moved away
drop REF to #m                         … and its namesakes up to the m-th
add in|first|after|before REF          then one line per new node, a blank deeper than what it stands in:
 role "name" =value key=value flag      `in`: as last child, `first`: as first child; `after`, `before`: beside it;
                                           `add top`, without REF: before the page's first node
  role > role "name"                    a chain: each node the only child of the one before
  @ REF                                 an old node, moved here with what is below it

REF    it | page | role "name" #k      k of the nodes that read so on the page before; `#1` is left out after a name
value  "text" | 12 | 1.5 | true | false | raw "literal"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from harness.axtree import PropertyValue, RawLiteral, Tree
from training.world_model.formats.quoting import Slots, Token, Unreadable, tokens_of
from training.world_model.formats.working import IT, PAGE, WorkingNode, WorkingTree

MAX_DEPTH: Final = 200
MAX_RANGE: Final = 1000
"""Nodes that one `drop … to` may take."""
UNNUMBERED_ROLES: Final = frozenset({"StaticText", "ListMarker", "MenuListPopup", "InlineTextBox", "LineBreak"})
"""Roles to which BrowserGym gives no bid."""

CHECKED: Final = {"check": "true", "uncheck": "false"}
EXPANDED: Final = {"expand": True, "collapse": False}


class Applier:
    """Applies lines to one page. `skipped` holds what could not be applied, as `line: reason`; `applied` counts the rest."""

    def __init__(self, tree: Tree, it: int | None, slots: Slots) -> None:
        self.page = WorkingTree(tree, it)
        self.skipped: list[str] = []
        self.applied = 0
        self._slots = slots
        self._verbs: dict[str, Callable[[_Line], None]] = {
            "focus": lambda line: self.page.focus(self._node(line)),
            "blur": lambda _: self.page.focus(None),
            "set": lambda line: set_value(self._node(line), line.text()),
            "check": self._flip, "uncheck": self._flip, "expand": self._flip, "collapse": self._flip,
            "state": self._state,
            "name": self._name,
            "drop": self._drop,
        }  # fmt: skip

    def apply(self, lines: Sequence[str]) -> Tree:
        """The page after `lines`. A line that cannot be applied is left out and named in `skipped`."""
        position = 0
        while position < len(lines):
            block = position + 1
            while block < len(lines) and lines[block].startswith(" "):
                block += 1
            try:
                self._apply(lines[position], lines[position + 1 : block])
                self.applied += 1
            except Unreadable as error:
                self.skipped.append(f"{lines[position][:60]}: {error}")
            position = block
        return self.page.to_tree()

    def _apply(self, text: str, block: Sequence[str]) -> None:
        line = _Line(text, self._slots)
        verb = line.word()
        if verb == "add":
            self._add(line, block)
            return
        if verb not in self._verbs:
            raise Unreadable("no such edit")
        if block:
            raise Unreadable("only `add` has lines below it")
        line.verb = verb
        self._verbs[verb](line)
        line.end()

    def _node(self, line: _Line) -> WorkingNode:
        word = line.word()
        if word == IT:
            node = self.page.it
        elif word == PAGE:
            node = self.page.page
        else:
            name = line.text() if line.next_is_quoted() else ""
            node = self.page.find(word, name, line.number() or 1)
        if node is None:
            raise Unreadable("no such node on the page before")
        return node

    @staticmethod
    def _shown(line: _Line) -> tuple[str, str, int]:
        return line.word(), line.text() if line.next_is_quoted() else "", line.number() or 1

    def _flip(self, line: _Line) -> None:
        node = self._node(line)
        if line.verb in CHECKED:
            node.set_state("checked", CHECKED[line.verb])
        else:
            node.set_state("expanded", EXPANDED[line.verb])

    def _state(self, line: _Line) -> None:
        node = self._node(line)
        if not line.more():
            raise Unreadable("no state is named")
        while line.more():
            word = line.word()
            if word == "=none":
                node.value = None
            elif word.startswith("="):
                node.value = line.value(word[1:])
            elif word.startswith("-"):
                node.states.pop(word[1:], None)
            else:
                key, _, rest = word.partition("=")
                node.set_state(key, line.value(rest) if "=" in word else True)

    def _name(self, line: _Line) -> None:
        if not line.next_is_quoted():
            node = self._node(line)
            node.name = line.text()
            return
        old = line.text()
        if line.word() != "to":
            raise Unreadable("`to` is missing")
        new, same = line.text(), self.page.named(old)
        if not same:
            raise Unreadable("nothing is called so")
        for node in same:
            node.name = new

    def _drop(self, line: _Line) -> None:
        if line.more_after("to"):
            role, name, first = self._shown(line)
            line.word()
            last = line.number()
            nodes = [self.page.find(role, name, k) for k in range(first, min(last or 0, first + MAX_RANGE) + 1)]
            if not nodes or None in nodes:
                raise Unreadable("no such nodes on the page before")
        else:
            nodes = [self._node(line)]
        for node in nodes:
            if node is not None:
                node.dropped = True

    def _add(self, line: _Line, block: Sequence[str]) -> None:
        where = line.word()
        anchor = self.page.top if where == "top" else self._node(line)
        line.end()
        if not block:
            raise Unreadable("nothing is added")
        parent = anchor if where in ("in", "first", "top") else anchor.parent
        if parent is None or where not in ("in", "first", "top", "after", "before"):
            raise Unreadable("added where?")
        new = self._build(block, parent)
        # Only now: old nodes that the block took in may have stood before the anchor.
        index = len(parent.children) if where == "in" else 0
        if where in ("after", "before"):
            if anchor.parent is not parent:
                raise Unreadable("the anchor itself was moved away")
            index = parent.children.index(anchor) + (where == "after")
        for node in new:
            index = parent.insert(index, node) + 1

    def _build(self, block: Sequence[str], parent: WorkingNode) -> list[WorkingNode]:
        tops: list[WorkingNode] = []
        path: list[WorkingNode] = []
        for text in block:
            depth = len(text) - len(text.lstrip(" ")) - 1
            if depth > min(len(path), MAX_DEPTH):
                raise Unreadable("an added line is indented too deep")
            del path[depth:]
            first, last = self._chain(text, parent)
            if path:
                path[-1].insert(len(path[-1].children), first)
            else:
                tops.append(first)
            path.append(last)
        return tops

    def _chain(self, text: str, parent: WorkingNode) -> tuple[WorkingNode, WorkingNode]:
        line = _Line(text, self._slots)
        if line.peek() == Token("@"):
            line.word()
            node = self._node(line)
            line.end()
            if node.is_above(parent):
                raise Unreadable("a node cannot move into itself")
            return node, node
        first = last = self._new(line)
        while line.more():
            if line.word() != ">":
                raise Unreadable("`>` is missing")
            node = self._new(line)
            last.insert(0, node)
            last = node
        return first, last

    def _new(self, line: _Line) -> WorkingNode:
        role = line.word()
        if not role[:1].isalpha():
            raise Unreadable("a new node has no role")
        node = WorkingNode(role, line.text() if line.next_is_quoted() else "", None if role in UNNUMBERED_ROLES else "")
        while line.more() and line.peek() != Token(">"):
            word = line.word()
            if word.startswith("="):
                node.value = line.value(word[1:])
            else:
                key, _, rest = word.partition("=")
                value = line.value(rest) if "=" in word else True
                node.states[key] = value
        return node


def set_value(node: WorkingNode, text: str) -> None:
    """Give a field a value, and to what shows it the same: see `set` in the module's docstring."""
    before = "" if node.value is None else str(node.value)
    node.value = field_value(node.role, text)
    if "valuetext" in node.states:
        node.states["valuetext"] = text
    if node.role in ("textbox", "searchbox", "spinbutton"):
        _mirror_text(node, _lines(before), _lines(text))
    elif node.role in ("combobox", "listbox"):
        for option in options_of(node):
            option.set_state("selected", option.name == text)


def field_value(role: str, text: str) -> PropertyValue | None:
    """What a field of this role holds after `text` was typed: numbers in spin buttons, nothing for an empty text."""
    if not text:
        return None
    if role == "spinbutton":
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if number.is_integer() and abs(number) < 1e15 else number if abs(number) < 1e15 else text
    return text


def options_of(node: WorkingNode) -> list[WorkingNode]:
    """The options of a native select: children, or grandchildren in its popup."""
    below = [child for child in node.children if child.role == "MenuListPopup"]
    return [option for holder in [node, *below] for option in holder.children if option.role == "option"]


def _mirror_text(node: WorkingNode, before: list[str], lines: list[str]) -> None:
    """The texts below a field are the lines of its value; a field with anything else below it is left alone."""
    below = [child for child in node.children if child.role == "StaticText"]
    if len(below) < len(node.children) or (len(below) > 1 and [child.name for child in below] != before):
        return
    for child, line in zip(below, lines, strict=False):
        child.name, child.dropped = line, False
    for child in below[len(lines) :]:
        child.dropped = True
    for line in lines[len(below) :]:
        node.insert(len(node.children), WorkingNode("StaticText", line))


def _lines(text: str) -> list[str]:
    """A field's text as a page shows it: lines that are not empty, without outer and double blanks."""
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


class _Line:
    """A line's tokens, read from the left."""

    def __init__(self, text: str, slots: Slots) -> None:
        self.verb = ""
        self._tokens = tokens_of(text)
        self._at = 0
        self._slots = slots

    def more(self) -> bool:
        return self._at < len(self._tokens)

    def more_after(self, word: str) -> bool:
        """Does `word` stand further on?"""
        return Token(word) in self._tokens[self._at :]

    def peek(self) -> Token | None:
        return self._tokens[self._at] if self.more() else None

    def next_is_quoted(self) -> bool:
        token = self.peek()
        return token is not None and token.quoted

    def word(self) -> str:
        token = self.peek()
        if token is None or token.quoted:
            raise Unreadable("a word is missing")
        self._at += 1
        return token.text

    def text(self) -> str:
        token = self.peek()
        if token is None or not token.quoted:
            raise Unreadable("a quoted text is missing")
        self._at += 1
        return self._slots.fill(token.text)

    def number(self) -> int | None:
        token = self.peek()
        if token is None or token.quoted or not token.text.startswith("#"):
            return None
        self._at += 1
        digits = token.text[1:]
        if not (digits.isascii() and digits.isdigit() and len(digits) < 7):
            raise Unreadable("`#` wants a number")
        return int(digits)

    def value(self, rest: str) -> PropertyValue:
        """What follows `key=`: `rest` of the same word, or the next token where that is empty."""
        if rest == "raw":
            return RawLiteral(self.text())
        if rest == "":
            return self.text()
        if rest in ("true", "false"):
            return rest == "true"
        try:
            if rest.lstrip("-").isdigit() and len(rest) < 19:
                return int(rest)
            return float(rest)
        except ValueError:
            raise Unreadable("a value cannot be read") from None

    def end(self) -> None:
        if self.more():
            raise Unreadable("the line says more than it should")
