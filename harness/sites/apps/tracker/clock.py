"""The clock of the tracker's process stands at one moment.

It still moves by a microsecond whenever somebody looks: Trac tells two changes of a ticket apart by their times. Pages show
seconds, so what they say stays the same.
"""

from __future__ import annotations

import itertools
import os
from datetime import datetime, timedelta, tzinfo

from trac.util import datefmt

_DEFAULT = "2026-03-02T10:00:00+00:00"
MOMENT = datetime.fromisoformat(os.environ.get("HARNESS_SITES_NOW", _DEFAULT))
_SECOND = 1_000_000

_looks = itertools.count()


def now(tz: tzinfo | None = None) -> datetime:
    """Trac's `datetime_now`. After a million looks it begins again: a later one in the same second is all that Trac needs."""
    moment = MOMENT + timedelta(microseconds=next(_looks) % _SECOND)
    return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)


def freeze() -> None:
    """Must run before other modules of Trac are imported: they take the function by name."""
    datefmt.datetime_now = now
