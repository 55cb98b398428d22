"""Numbers that papers report (see README.md here): quoted with their source, for comparison only."""

from __future__ import annotations

from pathlib import Path

from harness.types import Record


class PublishedNumber(Record):
    """One number of a paper, in percent."""

    benchmark: str
    agent: str
    what: str
    value: float
    source: str
    """Table or section of the paper."""
    factor: str = ""
    """The ablated factor (`results.ablations`), empty for a main result."""
    level: str = ""


class PublishedFinding(Record):
    """What a paper says without a number that is public."""

    factor: str
    level: str
    says: str
    source: str
    benchmark: str = ""


class PublishedPaper(Record):
    paper: str
    quoted_from: str
    unit: str
    caveats: tuple[str, ...] = ()
    numbers: tuple[PublishedNumber, ...]
    findings: tuple[PublishedFinding, ...] = ()


def load_published() -> list[PublishedPaper]:
    """All papers carried with the package, by file name."""
    files = sorted(Path(__file__).parent.glob("*.json"))
    return [PublishedPaper.model_validate_json(file.read_text(encoding="utf-8")) for file in files]
