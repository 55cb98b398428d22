"""Which reader an input needs: told by the user, or by what lies there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from harness.errors import UsageError
from results.reader import find_run
from training.world_model.transitions.gobrowse import GoBrowseSource, is_gobrowse
from training.world_model.transitions.lines import peek
from training.world_model.transitions.nnetnav import NNetNavSource, is_nnetnav
from training.world_model.transitions.raw import Source
from training.world_model.transitions.runs import RunSource, TransitionsSource, is_transition

Kind = Literal["auto", "run", "transitions", "nnetnav", "gobrowse"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def open_source(name: str, kind: Kind = "auto", runs: Path = Path("runs")) -> Source:
    """The input called `name`: a file, a run directory, or the id of a run under `runs`. Raises UsageError."""
    path = Path(name)
    if kind == "run" or (kind == "auto" and not path.is_file()):
        return RunSource(find_run(name, runs))
    if not path.is_file():
        raise UsageError(f"no file {name}", fix="give a .jsonl or .jsonl.gz file")
    if kind == "auto":
        kind = _kind_of(path)
    if kind == "nnetnav":
        return NNetNavSource(path)
    return GoBrowseSource(path) if kind == "gobrowse" else TransitionsSource(path)


def _kind_of(path: Path) -> Kind:
    row = peek(path)
    if is_transition(row):
        return "transitions"
    if is_nnetnav(row):
        return "nnetnav"
    if is_gobrowse(row):
        return "gobrowse"
    raise UsageError(
        f"{path} holds rows of no known format (fields: {', '.join(sorted(row)[:8])})",
        fix="an export of transitions, NNetNav's or Go-Browse's rows; --format names one",
    )
