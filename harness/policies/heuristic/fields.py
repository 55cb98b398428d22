"""Rules for text fields: what to write where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from harness.policies.heuristic.situation import Situation, fill
from harness.policies.page import Element, normal
from harness.types import Action

T = TypeVar("T")
_MAX_FILLS = 2
"""A page may empty a field once (a popup, a reset); one that never shows what is written is left alone."""
_STEM_CHARS = 6
"""`direct` is common to director and directed."""


def fill_quoted(s: Situation) -> Action | None:
    """`Enter the username "ann" and the password "x1"`: quoted strings into the fields that the words before them name."""
    fields = s.page.fields()
    if not s.goal.written or not fields:
        return None
    values = [(quote.text, quote.before.split('"')[-1]) for quote in s.goal.written]
    if s.goal.says("both", "all fields", "each field"):
        wanted = [(field, values[0][0]) for field in fields]
    elif len(values) == 1:
        wanted = [(_the_field(s, fields, values[0][1]), values[0][0])]
    else:
        wanted = [
            (_labelled(s, fields, before) or fields[min(i, len(fields) - 1)], text) for i, (text, before) in enumerate(values)
        ]
    return first_unwritten(s, [(field, _cased(s, text)) for field, text in wanted])


def copy_text(s: Situation) -> Action | None:
    """`Copy the text from the 3rd text area`, `the last word in the text area`, `the 4th word in the paragraph`."""
    if not s.goal.says("copy", "word", "text below"):
        return None
    sources = [e for e in s.page.role("textbox") if e.value.strip()]
    written = {str(a.arguments.get("bid")) for a in s.done if a.name == "fill"}
    targets = [e for e in s.page.fields() if not e.value.strip() or e.bid in written]
    sources = [e for e in sources if e.bid not in written]
    if not targets:
        return None
    ordinal = s.goal.ordinal or 1
    if s.goal.says("word"):
        text = sources[0].value if sources else _paragraph(s)
        words = [word.strip(".,;:!?\"'") for word in text.split()]
        value = _nth(words, ordinal)
    elif sources:
        chosen = _nth(sources, ordinal)
        value = chosen.value if chosen else None
    else:
        value = "".join(e.name for e in s.page.texts() if len(e.name) == 1)
    return first_unwritten(s, [(targets[-1], value)]) if value else None


def fill_from_table(s: Situation) -> Action | None:
    """`Enter the value of Gender`, `the value that corresponds with each label`: read a two-column table."""
    if not s.goal.says("value"):
        return None
    table = {
        normal(cells[0]): cells[1]
        for row in s.page.role("row")
        if len(cells := [s.page.text(e) for e in s.page.below(row) if e.role in ("cell", "rowheader", "gridcell")]) == 2
    }
    fields = s.page.fields()
    if s.goal.says("each label", "each"):
        wanted = [(field, table[label]) for field in fields if (label := normal(s.page.label(field))) in table]
    else:
        key = max((key for key in table if s.goal.says(key)), key=len, default=None)
        wanted = [(fields[0], table[key])] if key and fields else []
    return first_unwritten(s, wanted)


def fill_described(s: Situation) -> Action | None:
    """`Search for urban movies directed by Bennett from year 2002`: a field's label, as a word or its stem, and a value."""
    if not s.goal.says("search for"):
        return None
    wanted = []
    for field in s.page.fields():
        label = (normal(s.page.label(field)).split() or [""])[0]
        stem = re.escape(label[:_STEM_CHARS])
        match = re.search(rf"\b{stem}\w*(?: by| of| is|:)? (\w+)", s.goal.text, re.IGNORECASE) if stem else None
        match = match or re.search(r"\bsearch for (\w+) \w+", s.goal.text, re.IGNORECASE)
        if match:
            wanted.append((field, match[1]))
    return first_unwritten(s, wanted)


def first_unwritten(s: Situation, wanted: list[tuple[Element, str]]) -> Action | None:
    """The first assignment that the page does not show yet."""
    for field, value in wanted:
        if field.value != value and s.times("fill", field) < _MAX_FILLS:
            return fill(field, value)
    return None


def _the_field(s: Situation, fields: list[Element], before: str) -> Element:
    ordinal = s.goal.ordinal_of("textbox", "text field", "input", "field", "text", "box")
    if ordinal and ordinal <= len(fields):
        return fields[ordinal - 1]
    return _labelled(s, fields, before) or next((f for f in fields if not f.value), fields[0])


def _labelled(s: Situation, fields: list[Element], before: str) -> Element | None:
    """The field whose label shares its last word with the end of `before`."""
    words = [word.casefold() for word in re.findall(r"\w+", before)][-3:]
    for word in reversed(words):
        for field in fields:
            if len(word) > 2 and word in normal(s.page.label(field)).split():
                return field
    return None


def _cased(s: Situation, text: str) -> str:
    if s.goal.says("upper case", "uppercase", "capital letters"):
        return text.upper()
    if s.goal.says("lower case", "lowercase"):
        return text.lower()
    return text


def _paragraph(s: Situation) -> str:
    return max((e.name for e in s.page.texts()), key=len, default="")


def _nth(items: Sequence[T], ordinal: int) -> T | None:
    index = ordinal - 1 if ordinal > 0 else ordinal
    return items[index] if -len(items) <= index < len(items) else None
