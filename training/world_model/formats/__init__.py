"""Output formats of a world model: what it reads, what it is taught to write, what its text foretells.

protocol   Format, Reading
edits      EditsFormat     a pruned view → r, Δ as edits that we apply, remembered pages opened by name
"""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError
from training.world_model.formats.edits import EditsFormat
from training.world_model.formats.protocol import Format, Reading
from training.world_model.memory import PageMemory

__all__ = ["EditsFormat", "Format", "Reading", "get_format"]


def get_format(name: str, *, memory: PageMemory | None = None, **options: Any) -> Format:
    """A format by name. `options` are its fields (`count_tokens`, `max_prompt_tokens`, `goal` …). Raises UsageError."""
    known = {"edits": EditsFormat}
    if name not in known:
        raise UsageError(f"no format {name!r}", fix=f"one of {', '.join(known)}")
    try:
        return known[name](memory=PageMemory() if memory is None else memory, **options)
    except TypeError as error:
        raise UsageError(f"format {name}: {error}", fix="see its fields in training/world_model/formats") from error
