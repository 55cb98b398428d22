"""What a goal's text says, without understanding it: quoted strings, ordinals, lists, names after verbs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_QUOTES = re.compile(r"[\"“]([^\"“”]*)[\"”]|(?<!\w)'([^']+)'(?!\w)")
_ORDINAL = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b", re.IGNORECASE)
_ORDINAL_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_LIST_END = r"(?:,? and (?:then )?(?:click|press|hit|submit)\b|,? then\b|,? from the\b|\.\s*$|$)"
_LIST = re.compile(rf"\b(?:select|choose|check|pick)\s+(.+?){_LIST_END}", re.IGNORECASE)
_PRESSED = re.compile(r"(?:press|click|hit|button|labeled|tap)\s+(?:on\s+)?(?:the\s+)?$", re.IGNORECASE)
_PART = re.compile(r"(?:starts|begins|ends|ending|starting) with $", re.IGNORECASE)
_ENTERED = re.compile(r"\b(?:enter|type|write|input|fill|paste)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Quote:
    """A quoted string and the text just before and after it."""

    text: str
    before: str
    after: str

    @property
    def is_pressed(self) -> bool:
        """Names something to press (`press "Search"`), rather than something to write."""
        return _PRESSED.search(self.before) is not None or bool(re.match(r"\W*button\b", self.after, re.IGNORECASE))


@dataclass(frozen=True)
class Goal:
    text: str

    def says(self, *words: str) -> bool:
        """Any of these words or phrases, in any case, as whole words."""
        return any(re.search(rf"\b{re.escape(word)}\b", self.text, re.IGNORECASE) for word in words)

    @cached_property
    def quotes(self) -> tuple[Quote, ...]:
        return tuple(
            Quote(match[1] if match[1] is not None else match[2], self.text[: match.start()], self.text[match.end() :])
            for match in _QUOTES.finditer(self.text)
        )

    @cached_property
    def written(self) -> tuple[Quote, ...]:
        """Quoted strings to be written into fields."""
        if not _ENTERED.search(self.text):
            return ()
        return tuple(quote for quote in self.quotes if not quote.is_pressed and not _PART.search(quote.before))

    @cached_property
    def pressed(self) -> tuple[str, ...]:
        """Quoted names of things to press."""
        return tuple(quote.text for quote in self.quotes if quote.is_pressed)

    @cached_property
    def ordinal(self) -> int | None:
        """The first ordinal number, counted from 1; -1 for "last"."""
        if match := _ORDINAL.search(self.text):
            return int(match[1])
        for number, word in enumerate(_ORDINAL_WORDS, start=1):
            if self.says(word):
                return number
        return -1 if self.says("last") else None

    def ordinal_of(self, *nouns: str) -> int | None:
        """The ordinal right before one of these nouns (`the 3rd checkbox` → 3)."""
        match = re.search(rf"\b(\d{{1,3}})(?:st|nd|rd|th)\s+(?:\w+\s+)?(?:{'|'.join(nouns)})\b", self.text, re.IGNORECASE)
        return int(match[1]) if match else None

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Items of `Select a, b and c and click Submit`; empty if the goal lists nothing."""
        match = _LIST.search(self.text)
        if match is None:
            return ()
        return tuple(item for item in (part.strip(' "') for part in re.split(r",\s*|\s+and\s+", match[1])) if item)

    def mentions(self, name: str) -> int | None:
        """Where `name` stands in the text as a whole word; None if it does not."""
        if not name.strip():
            return None
        match = re.search(rf"(?<!\w){re.escape(name.strip())}(?!\w)", self.text)
        return match.start() if match else None
