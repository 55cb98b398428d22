"""Words and quoted texts of the `edits` spelling, and slots: short names for texts that the prompt already shows.

    set it "{typed}"            {typed} is what the action types, {it} the acted element's name, {f1} … field values
    open /search/?q={f1}        in addresses a slot's text is percent-encoded

A small model learns to point long before it learns to copy; a large one reads slots as what they are. A brace that is
no slot is written twice. Quoted texts are JSON strings, so that any text survives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import quote_plus

from harness.actions.build import well_formed

MIN_SLOT_CHARS: Final = 4
"""A shorter text is replaced only where it is the whole string: `1` stands everywhere."""

_SLOT = re.compile(r"\{\{|\{([a-z]+[0-9]*)\}")
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^\s"]+)')


class Token(NamedTuple):
    """A word, or a quoted text with its quotes taken off."""

    text: str
    quoted: bool = False


class Unreadable(ValueError):
    """A line that is not of the spelling; `str()` says why, in a few words."""


def tokens_of(line: str) -> list[Token]:
    """Words and quoted texts of a line; `key="v w"` gives the word `key=` and the text. Raises Unreadable."""
    found: list[Token] = []
    position, end = 0, len(line.rstrip())
    while position < end:
        match = _TOKEN.match(line, position)
        if match is None:
            raise Unreadable("a quote is not closed")
        position = match.end()
        text = match[1]
        found.append(Token(unquote(text), True) if text[0] == '"' else Token(text))
    return found


def quote(text: str) -> str:
    """`text` as a JSON string on one line, letters beyond ASCII as they are."""
    return json.dumps(well_formed(text), ensure_ascii=False)


def unquote(literal: str) -> str:
    """The text of a JSON string. Raises Unreadable."""
    try:
        text = json.loads(literal)
    except ValueError:
        raise Unreadable("a quoted text cannot be read") from None
    if not isinstance(text, str):
        raise Unreadable("a quoted text cannot be read")
    return well_formed(text)


class Slots:
    """The slots of one query: name → text. `put` writes texts with slots, `fill` reads them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = {name: text for name, text in texts.items() if text}
        self._name_of: dict[str, str] = {}
        for name, text in self.texts.items():
            self._name_of.setdefault(text, name)
        long = sorted((text for text in self._name_of if len(text) >= MIN_SLOT_CHARS), key=len, reverse=True)
        words = [rf"(?<!\w){re.escape(text)}(?!\w)" for text in long]
        self._pattern = re.compile("|".join([*words, r"\{"]))

    def put(self, text: str) -> str:
        """`text` with slots for what they hold; `fill(put(text)) == text`."""
        if text in self._name_of:
            return f"{{{self._name_of[text]}}}"
        return self._pattern.sub(lambda match: "{{" if match[0] == "{" else f"{{{self._name_of[match[0]]}}}", text)

    def fill(self, text: str) -> str:
        """Slots replaced by their texts; a slot that this query does not have stays as it is written."""
        return _SLOT.sub(lambda match: "{" if match[0] == "{{" else self.texts.get(match[1], match[0]), text)

    def put_address(self, address: str) -> str:
        """`address` with a slot for every whole path part or parameter value that one holds."""
        encoded = {quote_plus(text): name for text, name in self._name_of.items()}
        parts = re.split(r"([/?&=#])", address)
        return "".join(f"{{{encoded[part]}}}" if part in encoded else part for part in parts)

    def fill_address(self, address: str) -> str:
        """The inverse of `put_address`."""
        return _SLOT.sub(lambda match: quote_plus(self.texts[match[1]]) if match[1] in self.texts else match[0], address)
