"""Rows and controls → the audit's summary, written as audit.json with rows.jsonl.gz beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audits.metrics.summarise import summarise
from audits.metrics.summary import AuditSummary
from audits.records import AuditRow
from audits.replay.config import REPLAY_VERSION
from audits.replay.evidence import settings_of
from audits.report.controls import ControlsFile
from audits.report.rows import rows_of, sampling_of
from results import files
from results.reader import RunReader
from results.transitions import write_lines

AUDIT, ROWS = "audit.json", "rows.jsonl.gz"


def build(runs: Sequence[RunReader], controls: ControlsFile | None, directory: Path) -> tuple[AuditSummary, list[AuditRow]]:
    """Summarise runs of replays (arms, anchors) that lie anywhere; writes audit.json and rows.jsonl.gz into `directory`."""
    rows = [row for reader in runs for row in rows_of(reader, directory)]
    found = summarise(
        rows,
        negative=controls.negative if controls else (),
        planted=controls.planted if controls else (),
        determinism=controls.determinism if controls else (),
        plan=sampling_of(runs[0]) if len(runs) == 1 else None,
    )
    if controls is not None and (reasons := [reason for reader in runs for reason in mismatch(reader, controls)]):
        found = invalid(found, tuple(dict.fromkeys(reasons)))
    write_lines(directory / ROWS, rows)
    with files.disk_errors(str(directory)):  # the marker of an audit comes last
        files.replace_file(directory / AUDIT, (found.model_dump_json(indent=1) + "\n").encode())
    return found, rows


def mismatch(reader: RunReader, controls: ControlsFile) -> list[str]:
    """Why these controls say nothing about this run: they went another way."""
    settings = settings_of(reader)
    reasons = []
    if reader.manifest.benchmark != controls.benchmark:
        reasons.append(f"the controls are of {controls.benchmark}, the replays of {reader.manifest.benchmark}")
    if settings.grounding != controls.grounding:
        reasons.append("the controls were made with another resolver")
    if settings.calibration.digest != controls.calibration:
        reasons.append("the replays were not made with the calibration of these controls (--calibration)")
    if controls.version != REPLAY_VERSION:
        reasons.append(f"the controls are of replay version {controls.version}, not {REPLAY_VERSION}")
    return reasons


def invalid(found: AuditSummary, reasons: tuple[str, ...]) -> AuditSummary:
    return found.model_copy(
        update={
            "status": "INVALID",
            "reasons": (*found.reasons, *reasons),
            "headline": None,
            "headline_withheld": (*found.headline_withheld, *reasons),
        }
    )
