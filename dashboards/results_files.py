"""The result files beside runs: found by `results.discovery`, read by their owners, cached by what is on disk."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import streamlit as st
from pydantic import BaseModel, ValidationError

from audits.fidelity import Answers, FidelityReport, PageScore, delta_f1
from audits.metrics.summary import AuditSummary
from audits.records import AuditRow
from dashboards.cache import Latest
from dashboards.loading import Problem
from harness.errors import HarnessError
from harness.predictions import Prediction
from results.ablations import ABLATION, Ablation, read_ablation
from results.discovery import Discovery, Found, Kind
from results.files import Unreadable, read_gzipped
from results.reader import EPISODES
from results.training_log import TRAIN_LOG, TrainingLog, read_training_log

FIDELITY, SCORES = "fidelity.json", "scores.jsonl.gz"
AUDIT, AUDIT_ROWS = "audit.json", "rows.jsonl.gz"
MAX_JSON_BYTES = 128 * 2**20
WORST = 200

Model = TypeVar("Model", bound=BaseModel)
Value = TypeVar("Value")

_kept: Latest[object] = Latest(12)
_answers: Latest[Answers | Problem] = Latest(1)


def pick(discovery: Discovery, kind: Kind, label: str, *, key: str) -> Found | None:
    """The chosen result of one kind, newest first; its name is in the URL under `key`. None where there is none."""
    found = {item.name: item for item in discovery.of(kind)}
    if not found:
        return None
    if key not in st.query_params:
        # As in context: a link must not lead to another file tomorrow.
        if key not in st.session_state:
            st.query_params[key] = st.session_state[key] = next(iter(found))
        elif st.session_state[key] is None:  # the back button, to before the line above
            st.session_state[key] = next(iter(found))
    name = st.selectbox(label, list(found), index=None, key=key, bind="query-params")
    return found[name if name in found else next(iter(found))]


def fidelity(found: Found) -> FidelityReport | Problem:
    """fidelity.json of `harness fidelity`."""
    return _read(found.directory / FIDELITY, lambda path: record(path, FidelityReport, "harness fidelity writes it again"))


def ablation(found: Found) -> Ablation | Problem:
    """ablation.json of `harness ablate`."""
    return _read(found.directory / ABLATION, read_ablation)


def training_log(found: Found) -> TrainingLog | Problem:
    """train_log.jsonl of a training."""
    return _read(found.directory / TRAIN_LOG, read_training_log)


def audit(found: Found) -> AuditSummary | Problem:
    """audit.json of `harness audit report`."""
    fix = "harness audit report writes it again"
    return _read(found.directory / AUDIT, lambda path: record(path, AuditSummary, fix))


def audit_rows(found: Found) -> list[AuditRow] | Problem:
    """The rows behind an audit; lines that cannot be read are left out."""
    return _read(found.directory / AUDIT_ROWS, _rows)


def replay_of(discovery: Discovery, found: Found, row: AuditRow) -> tuple[str, str] | Problem:
    """(run's name, episode's id) of the replay behind a row: its evidence is an episode of a run of replays."""
    place = (found.directory / row.evidence).resolve()
    for item in discovery.of("run"):
        if row.evidence and place.parent == (item.directory / EPISODES).resolve():
            return item.name, place.name
    return Problem(f"no run below this directory holds {row.evidence or 'its evidence'}", "open the dashboard further up")


def worst_pages(folder: Path) -> list[PageScore] | Problem:
    """The pages that a world model foresaw worst: by delta F1, then by how much really changed; at most `WORST`."""
    return _read(folder / SCORES, _worst)


def prediction(folder: Path, example: str) -> Prediction | Problem | None:
    """The first stored answer about one example; None if it is not there."""
    path = folder / "predictions.jsonl.gz"
    answers = _answers.get(folder, stamp(path), lambda: _open(folder))
    if isinstance(answers, Problem):
        return answers
    row = answers.get(f"teacher {example}")
    return row.predictions[0] if row and row.predictions else None


def record(path: Path, model: type[Model], fix: str) -> Model | Problem:
    """A record from a JSON file of bounded size; what is wrong with it as a problem."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            return Problem(f"{path} has more than {MAX_JSON_BYTES // 2**20} MiB", fix)
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        return Problem(f"cannot read {path}: {error.strerror or error}", fix)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the whole"
        return Problem(f"{path} is damaged, or of another version: {where}: {problem['msg']}", fix)


def stamp(path: Path) -> tuple[int, int]:
    """Changes when the file does."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _read(path: Path, read: Callable[[Path], Value | Problem]) -> Value | Problem:
    def make() -> Value | Problem:
        try:
            return read(path)
        except HarnessError as error:
            return Problem.of(error)

    return _kept.get(path, stamp(path), make)  # type: ignore[return-value]  # a path always holds one kind


def _open(folder: Path) -> Answers | Problem:
    try:
        return Answers(folder, None)
    except HarnessError as error:
        return Problem.of(error)
    except (OSError, EOFError, zlib.error) as error:
        return Problem(f"cannot read the predictions in {folder}: {error}")


def _worst(path: Path) -> list[PageScore] | Problem:
    try:
        scores = list(_scores(read_gzipped(path)))
    except Unreadable as error:
        return Problem(f"cannot read {path}: {error}", "harness fidelity --rescore writes it again")
    rated = [(value, -score.edits.real, score.example, score) for score in scores if (value := delta_f1(score)) is not None]
    return [score for *_, score in sorted(rated, key=lambda item: item[:3])[:WORST]]


def _rows(path: Path) -> list[AuditRow] | Problem:
    try:
        text = read_gzipped(path)
    except Unreadable as error:
        return Problem(f"cannot read {path}: {error}", "harness audit report writes it again")
    found: list[AuditRow] = []
    for line in text.splitlines():
        with suppress(ValidationError):
            found.append(AuditRow.model_validate_json(line))
    return found


def _scores(text: str) -> Iterator[PageScore]:
    for line in text.splitlines():
        with suppress(ValidationError):
            yield PageScore.model_validate_json(line)
