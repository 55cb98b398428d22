"""Untrusted text on its way to a browser.

Page text, replies, goals, error messages, task ids, run ids, paths and names of settings can hold anything. They are shown

    literally   st.text, st.code(language=None or "diff"), cells of st.dataframe, options of st.selectbox and st.multiselect
    in Plotly   through `label`: Plotly reads a little HTML, and TeX between dollar signs
    never       in st.markdown, st.write, st.html, headings, captions, alerts, metrics, labels of buttons, tabs, links, pills

because all of the last kind are Markdown, which loads remote images, links, icons, TeX. `tests/dashboards/test_safety.py`
holds this: those functions get constants, or what the functions of this module marked as safe return.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.types import Action
from results.tables import DASH
from results.text import one_line, printable

MAX_LINE = 300
MAX_BLOCK_LINES = 600
MAX_BLOCK_CHARACTERS = 60_000

_PLOTLY = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})


def line(text: object, limit: int = MAX_LINE) -> str:
    """One printable line: no control characters, no direction overrides, at most `limit` characters."""
    return one_line(str(text), limit)


def block(text: str, lines: int = MAX_BLOCK_LINES, characters: int = MAX_BLOCK_CHARACTERS) -> str:
    """Printable text of bounded size; says what it leaves out."""
    shown = printable(text[: 4 * characters]).expandtabs(2)
    every = shown.split("\n")
    kept = "\n".join(every[:lines])
    cut = len(kept) > characters or len(text) > 4 * characters
    kept = kept[:characters]
    left = len(every) - lines
    notes = [f"… {left:,} more lines"] if left > 0 else []
    notes += [f"… cut: {len(text):,} characters in all"] if cut else []
    return "\n".join([kept, *notes])


def action(made: Action) -> str:
    """An action as its policy wrote it; where it wrote none, the name and what it points at."""
    target = f" {made.target.role} {made.target.name!r}" if made.target else ""
    return made.raw or f"{made.name}{target}"


def label(text: object, limit: int = 60) -> str:
    """One line for Plotly: no tag, no entity, no TeX."""
    return line(text, limit).translate(_PLOTLY)


def labels(names: Sequence[str], limit: int = 80) -> dict[str, int]:
    """What stands for these names in a picker and in the URL: one printable line each, no two alike → position."""
    found: dict[str, int] = {}
    for position, name in enumerate(names):
        wanted = line(name, limit) or DASH
        label, count = wanted, 2
        while label in found:
            label, count = f"{wanted} ({count})", count + 1
        found[label] = position
    return found


def slug(*parts: object) -> str:
    """Letters, digits, `.`, `_` and `-` only: for names of files and of elements."""
    name = "-".join("".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in str(part)) for part in parts)
    return name.strip(".-")[:100] or "export"


def file_name(*parts: object, ending: str) -> str:
    """A name for a download."""
    return f"{slug(*parts)}.{ending}"
