"""Playwright 1.44 spends most of an episode's Python time on call stacks that nobody reads; without this, so would we.

It calls `inspect.stack()` for every API call, which looks up module and source lines of each frame: about a millisecond, more the
more modules are loaded (docs/performance.md). Only file, line and function names are used, for traces. Later releases of
Playwright ask for just those (`inspect.stack(0)`); BrowserGym's pin keeps us on 1.44.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any


class _Inspect(ModuleType):
    """`inspect`, but stacks come without source lines."""

    def __getattr__(self, name: str) -> Any:
        return getattr(inspect, name)

    def stack(self, _context: int = 0) -> list[inspect.FrameInfo]:
        found, frame = [], inspect.currentframe()
        while frame := frame.f_back if frame else None:
            code = frame.f_code
            found.append(inspect.FrameInfo(frame, code.co_filename, frame.f_lineno, code.co_name, None, None))
        return found


def make_call_stacks_cheap() -> None:
    """For this process; harmless where Playwright has no such call."""
    from playwright._impl import _connection, _sync_base

    for module in (_connection, _sync_base):
        if getattr(module, "inspect", None) is inspect:
            module.inspect = _Inspect("inspect")  # type: ignore[attr-defined]
