"""`harness audit judge`: what the dreams' own judge says of the real pages, so that blame can be split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def judge(
    replays: Annotated[Path, typer.Argument(help="A run directory of replays.")],
    model: Annotated[str, typer.Option("--judge", help="The world model that judged the dreams: a checkpoint, or http:TOML.")],
) -> None:
    """Show the dreams' judge the real pages: was a false success the pages' fault or the judge's? No browser.

    Writes judged.jsonl beside the replays, which harness audit report reads.

    Example: harness audit judge runs/dreams-replay-stop --judge checkpoints/nano
    """
    from audits.report.judging import judged
    from audits.report.rows import JUDGED
    from results.files import replace_file
    from results.reader import RunReader
    from training.world_model.model import load_judge

    reader = RunReader.open(replays)
    words = [word for _, word in judged(reader, load_judge(model))]
    given = [word for word in words if word is not None]
    replace_file(reader.directory / JUDGED, "".join(f"{word.model_dump_json()}\n" for word in given).encode())
    typer.echo(
        f"{len(words)} replays shown to the judge: {sum(word.success for word in given)} called a success, "
        f"{len(words) - len(given)} without a verdict"
    )
    typer.echo(f"next: harness audit report {replays}")
