"""What an explorer writes into a field: a value that fits the field's label, made of words that stand on the page.

    value_for(page, field, rng)   "email" → words@example.com   a number field → a number   a search → a phrase of the page

No site and no task is known here: labels are read as any person reads them, and addresses are of the reserved example.com.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

from harness.policies.page import Element, Page

MAX_PHRASE_WORDS: Final = 4
MAX_PHRASES: Final = 400
"""Texts of a page that are looked at: a hostile page has millions."""
FALLBACK: Final = "something new"

_WORD = re.compile(r"[^\W_][\w'’-]*")
_NAMED_ROLES: Final = frozenset({"link", "heading", "cell", "listitem", "StaticText", "button"})
_PASSWORD: Final = "Open-Sesame-26"


def phrases(page: Page) -> list[str]:
    """Short texts of the page, one to four words each, in document order, each once."""
    found: dict[str, None] = {}
    for element in page.elements:
        if element.role in _NAMED_ROLES and element.name:
            words = _WORD.findall(element.name[:200])
            if 1 <= len(words) <= MAX_PHRASE_WORDS and any(len(word) > 2 for word in words):
                found.setdefault(" ".join(words))
                if len(found) >= MAX_PHRASES:
                    break
    return list(found)


def value_for(page: Page, field: Element, rng: Random) -> str:
    """A plausible value for `field`; the same page, field and state of `rng` give the same value."""
    label = page.label(field).casefold()
    if field.role == "spinbutton":
        return _number(field, rng)
    for pattern, make in _BY_LABEL:
        if re.search(pattern, label):
            return make(page, rng)
    if field.role == "searchbox" or "search" in label or "find" in label:
        return _search(page, rng)
    return phrase(page, rng)


def phrase(page: Page, rng: Random) -> str:
    return rng.choice(phrases(page) or [FALLBACK])


def _search(page: Page, rng: Random) -> str:
    """Often one word of a phrase: searches for whole names find one thing, searches for words find several."""
    found = phrase(page, rng)
    return rng.choice([found, rng.choice(found.split())])


def _sentence(page: Page, rng: Random) -> str:
    first, second = phrase(page, rng), phrase(page, rng)
    return f"A note on {first}: see also {second}."


def _person(page: Page, rng: Random) -> str:
    return " ".join(word.capitalize() for word in phrase(page, rng).split()[:2])


def _email(page: Page, rng: Random) -> str:
    letters = re.sub(r"[^a-z]+", ".", phrase(page, rng).casefold()).strip(".")
    return f"{letters or 'reader'}@example.com"


def _amount(_: Page, rng: Random) -> str:
    return f"{rng.randint(1, 60)}.{rng.choice(('00', '50', '99'))}"


def _number(field: Element, rng: Random) -> str:
    """Near what is there, where a number is there."""
    now = field.value.strip()
    if re.fullmatch(r"\d{1,6}", now):
        return str(max(0, int(now) + rng.choice((1, 2, 3, -1))))
    return str(rng.randint(1, 9))


_BY_LABEL: Final[tuple[tuple[str, Callable[[Page, Random], str]], ...]] = (
    (r"e-?mail", _email),
    (r"password|passphrase", lambda _page, _rng: _PASSWORD),
    (r"phone|mobile|telephone", lambda _page, rng: f"0161 496 {rng.randint(0, 999):04d}"),
    (r"post ?code|zip", lambda _page, rng: f"ZZ{rng.randint(1, 99)} {rng.randint(1, 9)}AB"),
    (r"\bdate\b|birthday|\bdue\b|milestone date", lambda _page, rng: f"2026-03-{rng.randint(1, 28):02d}"),
    (r"\btime\b", lambda _page, rng: f"{rng.randint(8, 18):02d}:{rng.choice((0, 15, 30, 45)):02d}"),
    (r"price|amount|cost", _amount),
    (r"quantity|number of|how many|\bqty\b|\bage\b", lambda _page, rng: str(rng.randint(1, 5))),
    (r"\burl\b|website|homepage", lambda _page, _rng: "http://www.example.com/"),
    (r"first name|last name|surname|full name|your name|user ?name", _person),
    (r"comment|message|body|description|review|reply|note|text|content", _sentence),
)
