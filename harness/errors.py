"""What can go wrong, and at which border.

    HarnessError
    ├── UsageError            the user asked for something that does not exist or cannot be  → exit 2
    ├── NotReadyError         the machine lacks a browser, data, a site, a key               → exit 3
    └── RolloutError          an episode broke; becomes data (an `error` verdict), never a lost run
        ├── PolicyError       the policy or its model server
        ├── EnvError          the browser, a frame, a page
        ├── SiteError         a web site: unhealthy, not logged in, answering 5xx
        ├── EvaluatorError    a benchmark's scorer raised
        ├── JudgeError        a model judge gave no readable verdict
        └── EpisodeTimeout    a wall clock ran out

A failed rollout becomes data in one place (`harness.rollout`, and `harness.runner` for a killed worker); everywhere
else exceptions propagate. `boundary("env")` names the border that an unexpected exception crossed.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from harness.types import Boundary, ErrorInfo

EXIT_OK, EXIT_USAGE, EXIT_NOT_READY, EXIT_INFRA_ERRORS, EXIT_INTERRUPTED = 0, 2, 3, 4, 130

MAX_TRACEBACK_CHARS = 4000


class HarnessError(Exception):
    """Base of all expected errors. `str(error)` is one line for a person; `fix` says what to do."""

    exit_code = 1

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class UsageError(HarnessError):
    exit_code = EXIT_USAGE


class NotReadyError(HarnessError):
    exit_code = EXIT_NOT_READY


class RolloutError(HarnessError):
    """An episode broke at `boundary`. `kind` is a short word for counting."""

    exit_code = EXIT_INFRA_ERRORS
    boundary: Boundary = "harness"
    default_kind = "harness_error"

    def __init__(self, message: str, *, kind: str = "", fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.kind = kind or self.default_kind


class PolicyError(RolloutError):
    boundary, default_kind = "policy", "policy_error"


class EnvError(RolloutError):
    boundary, default_kind = "env", "env_error"


class SiteError(RolloutError):
    boundary, default_kind = "site", "infra_error"


class EvaluatorError(RolloutError):
    boundary, default_kind = "evaluator", "evaluator_error"


class JudgeError(RolloutError):
    boundary, default_kind = "judge", "judge_error"


class EpisodeTimeout(RolloutError):
    boundary, default_kind = "timeout", "timeout"


_BY_BOUNDARY: dict[Boundary, type[RolloutError]] = {
    "policy": PolicyError,
    "env": EnvError,
    "site": SiteError,
    "evaluator": EvaluatorError,
    "judge": JudgeError,
    "harness": RolloutError,
    "timeout": EpisodeTimeout,
}


@contextmanager
def boundary(name: Boundary) -> Iterator[None]:
    """Turn an unexpected exception into the `RolloutError` of this border; let our own errors pass as they are.

    SystemExit counts: a user's policy or a benchmark's scorer that calls `sys.exit` ends its episode, not the worker.
    """
    try:
        yield
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        raise _BY_BOUNDARY[name](f"{type(error).__name__}: {first_line(error)}") from error


def first_line(error: BaseException, limit: int = 300) -> str:
    """The first non-empty line of an exception's message, cut at `limit` characters."""
    lines = [line.strip() for line in storable(str(error)).splitlines() if line.strip()]
    return (lines[0] if lines else "")[:limit]


def storable(text: str) -> str:
    """`text` with lone surrogates escaped: they exist in Python and cannot be written as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def error_info(error: BaseException) -> ErrorInfo:
    """The storable form of an exception. Tracebacks are cut from the front: the end names the culprit."""
    where: Boundary = error.boundary if isinstance(error, RolloutError) else "harness"
    kind = error.kind if isinstance(error, RolloutError) else type(error).__name__
    trace = storable("".join(traceback.format_exception(error)))[-MAX_TRACEBACK_CHARS:]
    return ErrorInfo(boundary=where, kind=kind, message=first_line(error), traceback=trace)
