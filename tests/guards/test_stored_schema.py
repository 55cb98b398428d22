"""What is stored may not change silently: a changed field needs a new SCHEMA_VERSION, and old runs must stay readable.

`stored_schema_v<N>.json` is the JSON schema of what version N writes, without its prose. When this test fails because you
meant to change it: raise SCHEMA_VERSION in harness/types.py (MANIFEST_SCHEMA_VERSION in results/manifest.py), add the new
file beside the old one, keep reading the old form, and say so in docs/results-format.md and CHANGELOG.md.
`run_v1/` is a run as version 1 wrote it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.types import SCHEMA_VERSION, Episode, EpisodeSpec
from results.aggregate import count, rate_of_planned
from results.manifest import MANIFEST_SCHEMA_VERSION, RunManifest
from results.outcomes import outcomes_of
from results.reader import INDEX, RunReader

HERE = Path(__file__).parent
GOLDEN = HERE / f"stored_schema_v{SCHEMA_VERSION}.json"


def without_prose(value: Any, *, names: bool = False) -> Any:
    """A JSON schema without titles and descriptions; `names`: the keys of this object are field names, not keywords."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if names or k not in ("title", "description")}
        return {k: without_prose(v, names=k in ("properties", "$defs") and not names) for k, v in kept.items()}
    return [without_prose(item) for item in value] if isinstance(value, list) else value


def stored_schema() -> dict[str, Any]:
    return {
        "episode.json.gz": without_prose(Episode.model_json_schema(mode="serialization")),
        "plan.jsonl.gz": without_prose(EpisodeSpec.model_json_schema(mode="serialization")),
        "manifest.json": without_prose(RunManifest.model_json_schema(mode="serialization")),
    }


def test_the_stored_form_is_that_of_its_version() -> None:
    assert GOLDEN.is_file(), f"SCHEMA_VERSION is {SCHEMA_VERSION}: add {GOLDEN.name} (see this file's docstring)"
    assert stored_schema() == json.loads(GOLDEN.read_text(encoding="utf-8")), "see this file's docstring"


def test_the_manifest_has_a_version_of_its_own() -> None:
    assert MANIFEST_SCHEMA_VERSION == 1


def test_prose_is_no_part_of_the_form_but_a_field_called_title_is() -> None:
    schema = {"title": "X", "properties": {"title": {"title": "Title", "type": "string"}}}
    assert without_prose(schema) == {"properties": {"title": {"type": "string"}}}


@pytest.mark.parametrize("index", ["kept", "lost"])
def test_a_run_of_version_1_is_still_readable(tmp_path: Path, index: str) -> None:
    shutil.copytree(HERE / "run_v1", tmp_path / "run")
    if index == "lost":
        (tmp_path / "run" / INDEX).unlink()
    run = RunReader.open(tmp_path / "run")
    assert run.unreadable() == {}
    assert len(list(run.episodes())) == 3
    outcomes = outcomes_of(run)
    assert count(outcomes).by_state == {"success": 1, "failure": 1, "error": 1, "blocked": 0, "inconclusive": 0, "missing": 1}
    assert rate_of_planned(outcomes).value == 0.25
    (first, *_) = run.rows()
    assert first.action_errors == {"stale": 1}
    assert run.episode(first.episode_id).trajectory.steps[0].output.action.target is not None
