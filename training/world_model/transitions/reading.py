"""Read a data set that `harness data build` made: streamed, one episode in memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from harness.errors import UsageError
from training.world_model.transitions.records import SPLITS, OutcomeExample, StoredEpisode, WorldModelExample

_REBUILD = "build it again: harness data build"


def read_dataset(directory: str | Path, split: str) -> Iterator[WorldModelExample]:
    """The examples of `train`, `dev`, `test` or `held_out_site`, episode by episode, steps in order.

    Raises UsageError where the split does not exist or its file is damaged; an empty split gives nothing.
    """
    for episode in read_episodes(directory, split):
        yield from episode.examples()


def read_outcomes(directory: str | Path, split: str) -> Iterator[OutcomeExample]:
    """How the episodes of a split ended, those without a success or failure left out. Raises as `read_dataset`."""
    for episode in read_episodes(directory, split):
        if (outcome := episode.outcome_example()) is not None:
            yield outcome


def read_episodes(directory: str | Path, split: str) -> Iterator[StoredEpisode]:
    """The stored lines of a split. Raises as `read_dataset`."""
    path = split_path(directory, split)
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):  # noqa: B007  (the error names it)
                yield StoredEpisode.model_validate_json(line)
    except FileNotFoundError:
        raise UsageError(f"no {path.name} in {directory}", fix="name a directory that harness data build made") from None
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is damaged after line {number}: {error}", fix=_REBUILD) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise UsageError(f"{path} line {number} is not an episode: {first['msg']}", fix=_REBUILD) from None


def split_path(directory: str | Path, split: str) -> Path:
    """Where a split lies. Raises UsageError for a split that data sets do not have."""
    if split not in SPLITS:
        raise UsageError(f"no split {split!r}", fix=f"one of {', '.join(SPLITS)}")
    return Path(directory) / f"{split}.jsonl.gz"
