"""One verdict from two evaluators: WebArena's own on answer, URL and page; ours on the database.

eval_types   string_match url_match program_html   libwebarena's evaluators, as installed        webarena-official
             state                                 rows and changes of the database (`state`)    arena-state
success = all of them; the task has failed if either says so; an evaluator that broke is an error, never a failure.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.benchmarks.arena.data import NAME, SCHEMA_VERSION, data_hash, render
from harness.benchmarks.arena.state import StateResult
from harness.scoring import webarena_upstream
from harness.scoring.webarena import Answer, Evaluation, evaluate
from harness.scoring.webarena_judge import Matcher
from harness.scoring.webarena_upstream import VARIABLES, Upstream
from harness.types import JsonDict, Score, Verdict

STATE = "state"
STATE_PROFILE = "arena-state"
_ENV_CONFIG = "webarena.browser_env.env_config"


def official_types(row: Mapping[str, Any]) -> list[str]:
    """The eval types of a task that WebArena's evaluators decide."""
    return [kind for kind in row["eval"]["eval_types"] if kind != STATE]


def load_upstream() -> Upstream:
    """WebArena's code. It wants addresses of its own sites at import; none of the arena's evaluators ever uses one."""
    loaded = sys.modules.get(_ENV_CONFIG)
    return webarena_upstream.load({f"WA_{name}": getattr(loaded, name, "http://localhost") for name in VARIABLES})


def evaluate_official(row: Mapping[str, Any], page: Any, answer: Answer, urls: Mapping[str, str]) -> Evaluation:
    """WebArena's `validate` on the rendered task. `urls`: placeholder → address, of all sites that may be open."""
    upstream = load_upstream()
    definition = render({**row, "eval": {**row["eval"], "eval_types": official_types(row)}}, urls)
    # No model judges: none of our references is fuzzy. Our pages are complete when they are loaded.
    matcher = Matcher(None, answered=answer.text is not None or answer.infeasible, settle_seconds=0.0, structured_output=False)
    with _upstream_task(upstream, definition, urls) as task:
        return evaluate(upstream, task, page, answer, matcher)


@contextmanager
def _upstream_task(upstream: Upstream, definition: JsonDict, urls: Mapping[str, str]) -> Iterator[Any]:
    """Upstream's task object for a task that is not in its file: what its `__init__` and `setup` would have set."""
    with tempfile.TemporaryDirectory(prefix="harness-arena-") as folder:
        path = Path(folder) / "task.json"
        path.write_text(json.dumps(definition), encoding="utf-8")
        task = upstream.task_class.__new__(upstream.task_class)
        task.webarena_instance = SimpleNamespace(urls=dict(urls), home_url=next(iter(urls.values())))
        task.config, task.config_file = definition, str(path)
        task.evaluator = upstream.evaluators.evaluator_router(str(path))
        yield task


def verdict(
    row: Mapping[str, Any], official: Evaluation | None, state: StateResult, *, escapes: list[str], evidence: JsonDict
) -> Verdict:
    """`official` is None where the task has no such eval type. `escapes`: addresses outside that the agent tried to open."""
    judged = STATE in row["eval"]["eval_types"]
    reasons = [f"left the sites for {escapes[0]}"] if escapes else []
    scores = []
    if official is not None:
        release = webarena_upstream.installed_version("webarena")
        scores.append(
            Score(
                profile="webarena-official",
                version=release,
                status=official.status,
                reward=official.reward,
                reason=official.reason,
            )
        )
        if official.status != "success":
            reasons.append(official.reason)
    if judged:
        wrong = [*state.missed, *(f"unintended change: {line}" for line in state.unintended)]
        scores.append(
            Score(
                profile=STATE_PROFILE,
                version=str(SCHEMA_VERSION),
                status="failure" if wrong else "success",
                reward=float(not wrong),
                reason="; ".join(wrong[:3]) or "the database is as it should be",
            )
        )
        reasons += wrong[:3]
    error = official.error if official is not None else None
    success = not reasons
    return Verdict(
        status="error" if error else "success" if success else "failure",
        reward=None if error else float(success),
        raw_reward=None if error else float(success),
        threshold=1.0,
        scorer=NAME,
        scorer_version=f"{SCHEMA_VERSION}+{data_hash()[:12]}",
        reason="; ".join(reasons) or "all evaluators agree",
        evidence={**evidence, "state": state.evidence},
        error=error,
        other_scores=tuple(scores),
    )
