"""webarena-verified: the library decides from the agent's JSON answer and the network trace. No model, no page, no substring.

    VerifiedScorer(urls).score(task_id, answer, entries) → Verdict
      urls     site → base URL of the running site set: requests are compared with the task's placeholders
      answer   what the agent told the user, as written
      entries  HAR entries ({"request": …, "response": …}) in the order of their start

The library is called directly: its BrowserGym wrapper needs Python 3.12 and averages evaluators.
An answer that does not follow the response format is the agent's failure, also where the library raises on it; any
other library error is an `EvaluatorError`.
"""

from __future__ import annotations

import importlib
import json
import logging
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.errors import EvaluatorError, NotReadyError, error_info, first_line
from harness.scoring.webarena_upstream import FIX
from harness.types import JsonDict, Score, Status, Verdict, json_value

PROFILE = "webarena-verified"
MAX_MESSAGE_CHARS = 500

RESPONSE_FORMAT = """\

When you are done, send your final response to the user. It must be one JSON object with these keys:
- "task_type": "RETRIEVE" if the goal was to find information, "MUTATE" if it was to create, change or delete something, \
"NAVIGATE" if it was to show a page.
- "status": "SUCCESS", or, if it cannot be done, "NOT_FOUND_ERROR" (what was asked for does not exist), \
"ACTION_NOT_ALLOWED_ERROR" (the site does not support it), "PERMISSION_DENIED_ERROR" (this user may not), \
"DATA_VALIDATION_ERROR" (the given data is missing or invalid) or "UNKNOWN_ERROR".
- "retrieved_data": for "RETRIEVE" the list of all results (one value too is a list; numbers and booleans unquoted), \
else null.
- "error_details": null on "SUCCESS", else one sentence.
"""
"""Our words for the library's `FinalAgentResponse`, added to the goal: the library ships no agent prompt."""

_CODE_BLOCK = re.compile(r"```(?:json)?\s*\n?(.*?)\n?```", re.DOTALL)


def installed_version() -> str:
    """Raises `NotReadyError` if the library is not installed."""
    try:
        return version("webarena-verified")
    except PackageNotFoundError:
        raise NotReadyError("webarena-verified needs the package of that name", fix=FIX) from None


@lru_cache(maxsize=1)
def _library() -> tuple[Any, Any, Any, Any]:
    installed_version()
    logging.getLogger("WebArena-Verified").setLevel(logging.CRITICAL)  # it logs every wrong answer as an error
    api = importlib.import_module("webarena_verified.api")
    config = importlib.import_module("webarena_verified.types.config")
    tracing = importlib.import_module("webarena_verified.types.tracing")
    response = importlib.import_module("webarena_verified.types.agent_response")
    return api.WebArenaVerified, config, tracing.NetworkTrace, response.FinalAgentResponse


class VerifiedScorer:
    """The library with one site set's URLs. Loading takes about a second (812 tasks are validated): build it once."""

    def __init__(self, urls: dict[str, str]) -> None:
        facade, config, self._trace_class, self._response_class = _library()
        environments = {f"__{site.upper()}__": config.EnvironmentConfig(urls=[url]) for site, url in urls.items()}
        self._library = facade(config=config.WebArenaVerifiedConfig(environments=environments))
        self.version = installed_version()

    def score(self, task_id: int, answer: str | None, entries: Sequence[JsonDict]) -> Verdict:
        """Never raises: a library error is an `error` verdict with boundary `evaluator`."""
        malformed = self.malformed(answer)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # where warnings are errors, the library would turn them into scores
                trace = self._trace(entries)
                result = self._library.evaluate_task(task_id=task_id, agent_response=answer, network_trace=trace)
        except Exception as error:  # noqa: BLE001  any library failure is data
            return self._broken(EvaluatorError(f"{type(error).__name__}: {first_line(error)}"))
        status = str(result.status)
        if status == "error" and not malformed:
            messages = [result.error_msg, *(part.error_msg for part in result.evaluators_results)]
            return self._broken(EvaluatorError(next((first_line(Exception(m)) for m in messages if m), "no message")))
        success = status == "success"
        reason = "all checks passed" if success else (malformed or "; ".join(_failures(result)) or "a check failed")
        return Verdict(
            status="success" if success else "failure",
            reward=float(success),
            raw_reward=float(result.score),
            threshold=1.0,
            scorer=PROFILE,
            scorer_version=self.version,
            reason=reason[:MAX_MESSAGE_CHARS],
            evidence={
                "answer": answer,
                "malformed": malformed,
                "network_entries": len(entries),
                "data_checksum": result.webarena_verified_data_checksum,
                "evaluator_checksum": result.webarena_verified_evaluator_checksum,
                "checks": json_value([_check(part) for part in result.evaluators_results]),
            },
            other_scores=(self._own_score("success" if success else "failure", float(success), reason),),
        )

    def malformed(self, answer: str | None) -> str:
        """Why `answer` is not a response in the library's format; empty if it is."""
        if answer is None:
            return "no answer was given"
        block = _CODE_BLOCK.search(answer)
        try:
            value = json.loads(block.group(1) if block else answer)
        except (ValueError, RecursionError):
            return "malformed answer: not JSON (the goal asks for an object with task_type, status, retrieved_data)"
        if not isinstance(value, dict):
            return f"malformed answer: a JSON {type(value).__name__}, not an object"
        try:
            self._response_class.model_validate(dict(value))
        except ValidationError as error:
            first = error.errors()[0]
            return f"malformed answer: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
        return ""

    def _trace(self, entries: Sequence[JsonDict]) -> Any:
        if entries:
            return self._trace_class.from_content(list(entries))
        # from_content refuses an empty list; an agent that answers from its first page has one
        return self._trace_class.model_construct(is_playwright=False, src_file=Path("empty"), events=())

    def _own_score(self, status: Status, reward: float | None, reason: str) -> Score:
        return Score(profile=PROFILE, version=self.version, status=status, reward=reward, reason=reason[:MAX_MESSAGE_CHARS])

    def _broken(self, error: EvaluatorError) -> Verdict:
        info = error_info(error)
        return Verdict(
            status="error",
            scorer=PROFILE,
            scorer_version=self.version,
            reason=info.message,
            error=info,
            other_scores=(self._own_score("error", None, info.message),),
        )


def _failures(result: Any) -> list[str]:
    return [
        f"{part.evaluator_name}: {assertion.assertion_name}"
        + (f" ({assertion.assertion_msgs[0]})" if assertion.assertion_msgs else "")
        for part in result.evaluators_results
        for assertion in part.assertions or ()
        if str(assertion.status) != "success"
    ]


def _check(part: Any) -> dict[str, Any]:
    """One evaluator's outcome without the request it looked at: headers hold cookies, and results hold no secrets."""
    return {
        "evaluator": part.evaluator_name,
        "status": str(part.status),
        "failed": [a.assertion_name for a in part.assertions or () if str(a.status) != "success"],
    }
