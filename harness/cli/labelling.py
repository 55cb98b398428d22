"""`--labeler`: which labeler, from what the user typed, and its labels written beside the run."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from harness.completions import Completions, EndpointConfig
from harness.errors import UsageError
from results.hindsight import RULES, label_walk
from results.labels import HindsightLabel, write_labels
from results.model_labels import ModelLabeler
from results.reader import RunReader
from results.transitions import played

NONE, BY_RULES = "none", "rules"


def labeler_config(text: str) -> EndpointConfig | None:
    """What `--labeler` names: None for `none` and `rules`, else the model server of a TOML file. Raises UsageError."""
    if text in (NONE, BY_RULES):
        return None
    path = Path(text)
    fix = "give rules, none, or a TOML file with base_url and model"
    try:
        return EndpointConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"--labeler {text}: cannot read the file: {error.strerror}", fix=fix) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"--labeler {text} is not TOML: {error}", fix=fix) from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"--labeler {text}: {where}: {first['msg']}", fix=fix) from None


def label_run(reader: RunReader, text: str, endpoint: EndpointConfig | None) -> str:
    """Label every walk of a run and write the labels; returns a line about it, empty for `none`."""
    if text == NONE:
        return ""
    found: list[HindsightLabel] = []
    if endpoint is None:
        name, note = RULES, ""
        for episode in played(reader):
            found.extend(label_walk(episode))
    else:
        with Completions(endpoint) as completions:
            labeler = ModelLabeler(completions, endpoint.model)
            name = labeler.name
            for episode in played(reader):
                found.extend(labeler.label(episode))
        note = f"; {labeler.asked} walks asked about, refused: {dict(labeler.refused) or 'none'}"
    path = write_labels(reader.directory, name, found)
    sure = sum(label.confidence >= 0.8 for label in found)
    walks = len({label.episode_id for label in found})
    return f"labels: {len(found)} goals in {walks} walks, {sure} of them sure (0.8 and more): {path}{note}"
