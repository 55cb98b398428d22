"""The clock of the shop's process stands still at the moment that the data directory names.

`freeze` comes before `django.setup()`: models take `timezone.now` as a default when they are imported.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from django.utils import timezone

FILE = "clock.txt"


def freeze(data: Path) -> datetime:
    """Django's `now` is what DATA/clock.txt says (ISO 8601)."""
    moment = datetime.fromisoformat((data / FILE).read_text(encoding="utf-8").strip())
    timezone.now = lambda: moment
    return moment
