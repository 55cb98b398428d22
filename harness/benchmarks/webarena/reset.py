"""Setting a site set back to its first state, and counting it: state that tasks leave behind is part of a result.

full_reset(set, config)   GET <full_reset>/reset, then /status until "Ready for duty!"      (200–500 s on the images)
"""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx

from harness.benchmarks.webarena.config import RESET_VARIABLE, InstanceSet, WebArenaConfig
from harness.errors import NotReadyError, SiteError, first_line
from harness.types import Record

READY = "Ready for duty!"
STARTED, ALREADY_RUNNING = 200, 418


class ResetReport(Record):
    seconds: float
    polls: int
    already_running: bool


def full_reset(
    instance: InstanceSet,
    config: WebArenaConfig,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> ResetReport:
    """Reset the whole set and wait. Raises `NotReadyError` without a reset URL, `SiteError` if it fails or takes too long."""
    base = instance.full_reset
    if not base:
        raise NotReadyError(
            "this site set has no reset server", fix=f"set full_reset in [[webarena.instances]] or {RESET_VARIABLE}"
        )
    started, polls = clock(), 0
    with httpx.Client(timeout=config.probe_timeout_seconds, trust_env=False) as client:
        first = _get(client, f"{base}/reset")
        if first.status_code not in (STARTED, ALREADY_RUNNING):
            raise SiteError(f"{base}/reset answers {first.status_code}", kind="reset_failed")
        while True:
            polls += 1
            status = _get(client, f"{base}/status")
            if status.status_code != STARTED:
                raise SiteError(f"{base}/status answers {status.status_code}", kind="reset_failed")
            if status.text.strip() == READY:
                return ResetReport(seconds=clock() - started, polls=polls, already_running=first.status_code == ALREADY_RUNNING)
            if clock() - started > config.reset_timeout_seconds:
                raise SiteError(
                    f"not ready {config.reset_timeout_seconds:g} s after the reset (last status: {status.text[:80]!r})",
                    kind="reset_timeout",
                    fix="raise reset_timeout_seconds, or look at the reset server's log",
                )
            sleep(config.reset_poll_seconds)


def _get(client: httpx.Client, url: str) -> httpx.Response:
    try:
        return client.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SiteError(f"{url}: {type(error).__name__}: {first_line(error)}", kind="reset_failed") from None
