"""The clock of the forum's process stands still, and its pages say dates instead of "3 hours ago".

`freeze` comes before `django.setup()`: models take `timezone.now` as a default when they are imported.
`say_dates` comes after it: it replaces the two places where Spirit asks the real clock.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

from django.utils import timezone

FILE = "clock.txt"
FORMAT = "j M Y, H:i"


def freeze(data: Path) -> datetime:
    """Django's `now` is what DATA/clock.txt says (ISO 8601)."""
    moment = datetime.fromisoformat((data / FILE).read_text(encoding="utf-8").strip())
    timezone.now = lambda: moment
    return moment


def say_dates() -> None:
    """Lists of topics and comments, and "tobias_wren closed this topic …", show a date and a time of day."""
    import spirit.comment.tags
    import spirit.core.templatetags.spirit_tags
    from django.template.defaultfilters import date
    from spirit.core.tags.registry import register

    def shortnaturaltime(value: datetime) -> str:
        return date(value, FORMAT)

    register.filter("shortnaturaltime", shortnaturaltime, expects_localtime=True)
    spirit.comment.tags.humanize = SimpleNamespace(naturaltime=lambda value: "on " + date(timezone.localtime(value), FORMAT))
