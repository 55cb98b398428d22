"""Read the text form of an accessibility tree, BrowserGym's or WebArena's. Never fails, loses nothing.

    line   indent  [bid]  role  'name'  rest
    rest   browsergym:  value=5, focused, checked='false'      webarena:  focused: True url: http://…

A line that cannot be read is kept and counted (`Tree.malformed_lines`). A line that can be read but that we would
print differently is kept beside its node (`Tree.verbatim`). So printing gives back any text, and a text that
BrowserGym or WebArena produced needs neither.

Lines end at "\\n" only: both writers escape every other line break, and a page's title may hold one unescaped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from harness.axtree.tree import (
    Node,
    Properties,
    PropertyValue,
    RawLiteral,
    Style,
    Tree,
    print_label,
)

_STRING = r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\""""
_LINE = re.compile(
    rf"(?P<indent>[\t ]*)(?:\[(?P<bid>[A-Za-z0-9]+)\] )?(?P<role>[A-Za-z][\w-]*)(?: (?P<name>{_STRING}))?(?P<rest>[ ,].*)?",
    re.DOTALL,
)
# A bare word may not begin like a list: else an unclosed bracket is searched for again after every comma.
_LITERAL = rf"""{_STRING}|\[[^\]]*\]|\{{[^}}]*\}}|[^\s,'"\[{{][^\s,'"]*"""
_VALUE = re.compile(rf" value=({_LITERAL})")
_PROPERTY = re.compile(rf", ([A-Za-z][\w-]*)(?:=({_LITERAL}))?")
_WEBARENA_PROPERTY = re.compile(r" ([A-Za-z][\w-]*): (.*?)(?= [A-Za-z][\w-]*: |\Z)", re.DOTALL)
_TABS = re.compile(r"Tab \d+(?: \(current\))?: [^\n]*\n\n|Tab {idx}[^\n]*\n\n")
_ESCAPE = re.compile(r"""\\(?:([\\'"nrt])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}))""")
_NAMED_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?")

_CACHED_RESTS: Final = 4096


def parse(text: str) -> Tree:
    """The tree that `text` shows. Any text is accepted; see `Tree.malformed_lines` for how much was not understood."""
    if not text:
        return Tree()
    tabs = _TABS.match(text)
    header = tabs[0] if tabs else ""
    lines = text[len(header) :].split("\n")
    try:
        return _parse(lines, "webarena" if tabs else "browsergym", header)
    except _WebArenaForm:
        return _parse(lines, "webarena", header)


class _WebArenaForm(Exception):
    """A text read as BrowserGym's shows states in WebArena's form."""


def _parse(lines: list[str], style: Style, header: str) -> Tree:
    nodes: list[Node] = []
    parents: list[int] = []
    labels: list[str] = []
    verbatim: dict[int, str] = {}
    malformed: list[tuple[int, str]] = []
    widths: list[int] = []
    open_nodes: list[int] = []
    for line in lines:
        match = _LINE.fullmatch(line)
        node = _node(match, style) if match else None
        if match is None or node is None:
            if match is not None and style == "browsergym" and _is_webarena(match):
                raise _WebArenaForm
            malformed.append((len(nodes) + len(malformed), line))
            continue
        width = len(match["indent"])
        while widths and widths[-1] >= width:
            widths.pop()
            open_nodes.pop()
        label = print_label(node, style)
        bid = f"[{node.bid}] " if node.bid is not None else ""
        if line != "\t" * len(widths) + bid + label:
            verbatim[len(nodes)] = line
        parents.append(open_nodes[-1] if open_nodes else -1)
        widths.append(width)
        open_nodes.append(len(nodes))
        nodes.append(node)
        labels.append(label)
    tree = Tree(tuple(nodes), tuple(parents), style, header, MappingProxyType(verbatim), tuple(malformed))
    # Printed above anyway: spares the tree its own pass.
    tree.__dict__["labels"] = tuple(labels)
    return tree


def _node(match: re.Match[str], style: Style) -> Node | None:
    _, bid, role, quoted, rest = match.groups()
    if quoted is None:
        # Only `generic` may be printed without a name; any other word alone is prose.
        if role != "generic":
            return None
        name = ""
    else:
        name = _unquote(quoted)
    if not rest:
        return Node(role, name, bid)
    parsed = _parse_rest(rest, style)
    return None if parsed is None else Node(role, name, bid, *parsed)


def _is_webarena(match: re.Match[str]) -> bool:
    return None not in (match["bid"], match["name"], match["rest"]) and _parse_webarena(match["rest"]) is not None


@lru_cache(maxsize=_CACHED_RESTS)
def _parse_rest(rest: str, style: Style) -> tuple[PropertyValue | None, Properties] | None:
    """Value and properties; None if any of it cannot be read. Cached, since pages repeat few combinations of states."""
    if style == "webarena" and not rest.startswith((",", " value=")):
        return _parse_webarena(rest)
    value: PropertyValue | None = None
    position = 0
    if found := _VALUE.match(rest):
        value, position = _value_of(found[1]), found.end()
    properties: list[tuple[str, PropertyValue]] = []
    while position < len(rest):
        found = _PROPERTY.match(rest, position)
        if found is None:
            return None
        key, literal = found.groups()
        properties.append((key, True if literal is None else _value_of(literal)))
        position = found.end()
    return value, tuple(properties)


def _parse_webarena(rest: str) -> tuple[None, Properties] | None:
    """Values have no quotes here: each runs to the next ` key: `."""
    properties: list[tuple[str, PropertyValue]] = []
    position = 0
    while position < len(rest):
        found = _WEBARENA_PROPERTY.match(rest, position)
        if found is None:
            return None
        properties.append((found[1], _bare_value(found[2])))
        position = found.end()
    return None, tuple(properties)


def _value_of(literal: str) -> PropertyValue:
    """A Python literal as BrowserGym's `repr` writes it; what is none of the simple kinds stays as written."""
    if literal[0] in "'\"":
        return _unquote(literal)
    value = _bare_value(literal)
    if isinstance(value, str):
        return _float(literal) if _FLOAT.fullmatch(literal) else RawLiteral(literal)
    return value


def _bare_value(text: str) -> PropertyValue:
    if text in ("True", "False"):
        return text == "True"
    return int(text) if _INTEGER.fullmatch(text) else text


def _float(literal: str) -> PropertyValue:
    value = float(literal)
    return value if repr(value) == literal else RawLiteral(literal)


def _unquote(quoted: str) -> str:
    body = quoted[1:-1]
    return _ESCAPE.sub(_unescape, body) if "\\" in body else body


def _unescape(match: re.Match[str]) -> str:
    named = match[1]
    if named is not None:
        return _NAMED_ESCAPES.get(named, named)
    return chr(int(match[2] or match[3] or match[4], 16))
