"""Keeps the server small on Linux: glibc gives every thread an arena of its own, Streamlit draws every page in a new thread,
and what such an arena has freed it keeps. Elsewhere these functions do nothing.
"""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8  # malloc.h


def one_arena() -> None:
    """All threads share one heap from now on; call it before threads start."""
    if libc := _libc():
        libc.mallopt(_M_ARENA_MAX, 1)


def trim() -> None:
    """Return what is free to the system: after a large run was read or drawn, a fifth of the process and more."""
    if libc := _libc():
        libc.malloc_trim(0)


def _libc() -> ctypes.CDLL | None:
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
