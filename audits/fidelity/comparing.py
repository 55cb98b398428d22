"""Several models on the same questions: fidelity.json, its tables, and the folder of each model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from audits.fidelity.answers import ASKED
from audits.fidelity.records import FidelityReport, ModelFidelity, PageScore
from audits.fidelity.scoring import Example
from audits.fidelity.summary import differences
from audits.fidelity.tables import report
from harness.errors import UsageError
from results.files import disk_errors, replace_file
from results.render import Format, render

REPORT, TABLES = "fidelity.json", "fidelity.md"


def folder_of(out: Path, spec: str) -> Path:
    """Where a model's answers lie: its specification made safe for a file name, and unique."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", spec).strip("-")[-40:].strip("-")
    return out / f"{words or 'model'}-{blake2b(spec.encode(), digest_size=3).hexdigest()}"


def folders_in(out: Path) -> list[Path]:
    """Folders of the models that were asked before, by name."""
    return sorted(path.parent for path in out.glob(f"*/{ASKED}"))


def compare_models(
    measured: Sequence[tuple[ModelFidelity, Sequence[PageScore]]],
    *,
    data: str,
    split: str,
    examples: Sequence[Example],
    available: int,
) -> FidelityReport:
    """The report of all models, the first one compared with each other one. Raises UsageError without a model."""
    if not measured:
        raise UsageError("no model to report on", fix="name a model, such as copy")
    return FidelityReport(
        data=data,
        split=split,
        examples=len(examples),
        available=available,
        templates=len({str(example.provenance.get("template", "")) for example in examples}),
        models=tuple(model for model, _ in measured),
        differences=differences([(model.spec, scores) for model, scores in measured]),
    )


def write_report(out: Path, found: FidelityReport) -> None:
    """OUT/fidelity.json and OUT/fidelity.md, each replaced at once."""
    with disk_errors(str(out)):
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / REPORT, found.model_dump_json(indent=1).encode())
        replace_file(out / TABLES, render(report(found), Format.MD).encode())


def read_report(path: Path) -> FidelityReport:
    """A fidelity.json, or the one in a directory. Raises UsageError where there is none that this version can read."""
    file = path / REPORT if path.is_dir() else path
    try:
        return FidelityReport.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"no {REPORT} in {path}", fix="harness fidelity makes one") from None
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise UsageError(f"cannot read {file}: {why}", fix="make it again: harness fidelity --rescore") from None
