"""`harness audit grounding`: how often the resolver chooses a wrong element, on recorded pages changed in known ways."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def grounding(
    recorded: Annotated[Path, typer.Argument(help="A run of recorded episodes, of any policy.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="Episodes used, drawn at random.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draw and of the changes.")] = 0,
    threshold: Annotated[
        float | None, typer.Option("--threshold", min=0, max=1, help="θ of the similarity rung. Default: the audit's.")
    ] = None,
    half: Annotated[str, typer.Option("--half", help="A: templates that θ was chosen on; B: the others; all.")] = "B",
) -> None:
    """Measure the resolver where the right element is known. No browser.

    Example: harness audit grounding runs/oracle --limit 100
    """
    from hashlib import sha256

    from audits.controls.calibrate import in_half_a
    from audits.grounding import GroundingConfig
    from audits.grounding.measure import cases, measure
    from audits.metrics.numbers import Estimate
    from harness.errors import UsageError
    from results.reader import RunReader

    if half not in ("A", "B", "all"):
        raise UsageError(f"--half takes A, B or all, not {half!r}", fix="--half B")
    reader = RunReader.open(recorded)
    rows = [row for row in reader.latest().values() if half == "all" or in_half_a(row.cluster) == (half == "A")]
    drawn = sorted(rows, key=lambda row: sha256(f"{seed}/{row.key}".encode()).digest())[:limit]
    config = GroundingConfig() if threshold is None else GroundingConfig(threshold=threshold)
    scores = measure(cases((reader.episode(row.episode_id) for row in drawn), seed), config)

    def shown(e: Estimate) -> str:
        if e.value is None:
            return "-"
        interval = f" [{e.interval.low:.3f}, {e.interval.high:.3f}]" if e.interval else ""
        return f"{e.value:.3f}{interval} n={e.n}"

    table = Table("change", "cases", "precision", "recall", "refused", title=f"{len(drawn)} episodes, θ={config.threshold:g}")
    for score in scores:
        table.add_row(score.change, str(score.cases), shown(score.precision), shown(score.recall), shown(score.refused))
    Console().print(table)
