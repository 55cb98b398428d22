"""What lies in a directory of controls, and what it was made with.

DIR/controls.json      ControlsFile: rows of all controls, settings; what a report reads
    calibration.json   mask, volatile places, threshold: what `harness audit replay --calibration` reads
    negative/          run of replays of recorded successes
    planted/           run of planted dreams
    positive/          run of their replays
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from audits.controls.calibrate import calibrate, determinism_row, in_half_a
from audits.controls.grounding import GroundingQuality, grounding_quality
from audits.controls.planting import planted_row
from audits.grounding import GroundingConfig
from audits.records import AuditRow, DeterminismRow, PlantedFault
from audits.replay.calibration import Calibration
from audits.replay.config import REPLAY_VERSION
from audits.replay.evidence import judge, read_replays, settings_of
from audits.report.rows import row_of
from harness.errors import UsageError
from harness.types import Record
from results import files
from results.reader import RunReader

CONTROLS, CALIBRATION, NEGATIVE, PLANTED, POSITIVE = "controls.json", "calibration.json", "negative", "planted", "positive"
CONTROLS_VERSION = 1


class ControlsFile(Record):
    """All that controls of one environment say."""

    schema_version: int = CONTROLS_VERSION
    benchmark: str
    version: int = REPLAY_VERSION
    grounding: GroundingConfig
    calibration: str
    """Digest."""
    masked: int
    """Kinds of nodes in the mask."""
    negative: tuple[AuditRow, ...] = ()
    start_parity: tuple[int, int] = (0, 0)
    """On the half of the templates that taught no mask: replays whose start page was unequal, and all."""
    planted: tuple[PlantedFault, ...] = ()
    determinism: tuple[DeterminismRow, ...] = ()
    resolver: GroundingQuality | None = None


def learn_calibration(directory: Path) -> Calibration:
    """From DIR/negative; written to DIR/calibration.json."""
    reader = RunReader.open(directory / NEGATIVE)
    found = calibrate(list(read_replays(reader)), source=reader.manifest.run_id)
    _write(directory / CALIBRATION, found)
    return found


def collect(directory: Path, calibration: Calibration) -> ControlsFile:
    """The controls file of DIR/negative and DIR/positive; written to DIR/controls.json."""
    reader = RunReader.open(directory / NEGATIVE)
    settings = settings_of(reader).model_copy(update={"calibration": calibration})
    # Judged anew: when they were played the calibration was not known yet.
    negative = [judge(r.episode, settings) if r.dream is not None else r for r in read_replays(reader)]
    rows = tuple(row_of(r, "recorded", {}, f"{NEGATIVE}/episodes/{r.episode.spec.episode_id}") for r in negative)
    unseen = [r for r in negative if not in_half_a(r.episode.spec.task.cluster)]
    planted: tuple[PlantedFault, ...] = ()
    if (directory / POSITIVE / "manifest.json").exists():
        replays = read_replays(RunReader.open(directory / POSITIVE))
        planted = tuple(row for replay in replays if (row := planted_row(replay)) is not None)
    found = ControlsFile(
        benchmark=reader.manifest.benchmark,
        grounding=settings.grounding,
        calibration=calibration.digest,
        masked=len(calibration.mask),
        negative=rows,
        start_parity=(sum(r.assessment.cause == "start_parity" for r in unseen), len(unseen)),
        planted=planted,
        determinism=tuple(determinism_row(r, calibration) for r in unseen),
        resolver=grounding_quality(negative),
    )
    _write(directory / CONTROLS, found)
    return found


def load_controls(path: Path) -> ControlsFile:
    """Raises UsageError if there are none."""
    file = path / CONTROLS if path.is_dir() else path
    fix = "harness audit controls RUN --env … makes them"
    try:
        return ControlsFile.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read the controls {file}: {error.strerror or error}", fix=fix) from None
    except ValidationError:
        raise UsageError(f"{file} is no file of controls of this version", fix=fix) from None


def _write(path: Path, record: Record) -> None:
    with files.disk_errors(str(path)):
        files.replace_file(path, (record.model_dump_json(indent=1) + "\n").encode())
