"""Output formats of a world model: what it reads, what it is taught to write, what its text foretells.

protocol    Format, Reading: one strategy per format
edits       EditsFormat      a pruned view → r, Δ as edits that we apply, remembered pages opened by name
  asking      the page before, the acted element, slots (quoting): found once per query
  view        the prompt, to a token budget
  writing     a diff → lines          applying    lines → a page (working: the tree being edited)
  opening     navigation: the remembered page, adapted         exceptions   which edits of it are worth teaching
paper       PaperFormat      the whole page → r, Δ in English, the whole next page
observed    a foretold tree → Observation
rows        rows to train on; labels see the memory as it will be at prediction time
"""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError
from training.world_model.formats.edits import EditsFormat
from training.world_model.formats.paper import PaperFormat
from training.world_model.formats.protocol import Format, Reading
from training.world_model.memory import PageMemory

__all__ = ["EditsFormat", "Format", "PaperFormat", "Reading", "get_format"]


def get_format(name: str, *, memory: PageMemory | None = None, **options: Any) -> Format:
    """A format by name. `options` are its fields (`count_tokens`, `max_prompt_tokens`, `goal` …). Raises UsageError."""
    known: dict[str, type[EditsFormat] | type[PaperFormat]] = {"edits": EditsFormat, "paper": PaperFormat}
    if name not in known:
        raise UsageError(f"no format {name!r}", fix=f"one of {', '.join(known)}")
    try:
        return known[name](memory=PageMemory() if memory is None else memory, **options)
    except TypeError as error:
        raise UsageError(f"format {name}: {error}", fix="see its fields in training/world_model/formats") from error
