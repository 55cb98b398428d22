"""Give the system back what tensors of many sizes leave behind.

glibc keeps freed blocks for later and cuts them up; where every batch has another shape, the next one often fits none of them. An
agent's training on a CPU grew to 7 GB in 100 updates that way, of which it used less than one.
"""

from __future__ import annotations

import ctypes
import platform


def release_memory() -> None:
    """Return free pages to the system. Does nothing where the C library is not glibc."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
