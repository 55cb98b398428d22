"""Rows as pandas data frames, for notebooks and dashboards. One line per episode, one column per number.

Mappings become columns: `action_error_<kind>` (0 where there was none), `seconds_<phase>`, `score_<profile>`.
A missing value is NA, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from results.index import EpisodeRow
from results.outcomes import Outcome

_MAPPINGS = frozenset({"action_errors", "timing", "other_scores", "notes"})
_PLAIN = [name for name in EpisodeRow.model_fields if name not in _MAPPINGS]
_OUTCOME = ["key", "task_id", "site", "cluster", "window", "repeat", "order_index", "evaluator", "unachievable", "state"]


def rows_frame(rows: Iterable[EpisodeRow]) -> pd.DataFrame:
    """All stored attempts. Columns exist even without rows."""
    return _frame([_flat(row) for row in rows], _PLAIN)


def outcomes_frame(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """The planned episodes: `state` is never NA; the columns of a missing episode's row are."""
    lines = []
    for outcome in outcomes:
        line = _flat(outcome.row) if outcome.row else {}
        lines.append({**line, **{name: getattr(outcome, name) for name in _OUTCOME}})
    return _frame(lines, [*_OUTCOME, *(name for name in _PLAIN if name not in _OUTCOME)])


def _flat(row: EpisodeRow) -> dict[str, Any]:
    line = {name: getattr(row, name) for name in _PLAIN}
    line |= {f"action_error_{kind}": n for kind, n in row.action_errors.items()}
    line |= {f"seconds_{phase}": seconds for phase, seconds in row.timing.items()}
    line |= {f"score_{profile}": score.status for profile, score in row.other_scores.items()}
    return line


def _frame(lines: list[dict[str, Any]], first: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame(lines)
    rest = sorted(name for name in frame.columns if name not in first)
    frame = frame.reindex(columns=[*first, *rest])
    errors = [name for name in rest if name.startswith("action_error_")]
    stored = frame["episode_id"].notna()
    for name in errors:
        frame.loc[stored, name] = frame.loc[stored, name].fillna(0)
    return frame.convert_dtypes()
