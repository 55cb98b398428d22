"""Markdown as the tests of the documents read it: headings, links, code."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"^ *```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^ *```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^()\s]+)\)")
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


class Block(NamedTuple):
    language: str
    body: str


def blocks(text: str) -> list[Block]:
    """Fenced code, in order."""
    return [Block(match["language"], match["body"]) for match in _FENCE.finditer(text)]


def links(text: str) -> list[str]:
    """Targets of links and pictures, outside code."""
    return [match["target"] for match in _LINK.finditer(_FENCE.sub("", text))]


def inline_code(text: str) -> list[str]:
    return _INLINE.findall(_FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """What `#…` may point at: GitHub's slug of every heading."""
    headings = re.findall(r"^#+ +(.+?) *$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
