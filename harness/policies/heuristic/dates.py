"""Rules for dates and times: native inputs and calendars that are drawn by the page."""

from __future__ import annotations

import re
from datetime import date

from harness.policies.heuristic.situation import Situation, click, fill
from harness.types import Action

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


def goal_date(text: str) -> date | None:
    """The first `MM/DD/YYYY` of a text; None if there is none or it is no date."""
    match = re.search(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b", text)
    if match is None:
        return None
    month, day, year = (int(part) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def native_input(s: Situation) -> Action | None:
    """`<input type=date>` and `<input type=time>` take ISO text."""
    wanted = goal_date(s.goal.text)
    for element in s.page.role("Date", "InputTime"):
        if s.times("fill", element):
            continue
        if element.role == "Date" and wanted:
            return fill(element, wanted.isoformat())
        if element.role == "InputTime" and (clock := _goal_time(s.goal.text)):
            return fill(element, clock)
    return None


def calendar(s: Situation) -> Action | None:
    """Open the calendar, turn to the month, click the day. Works on jQuery UI's date picker and its like."""
    wanted = goal_date(s.goal.text)
    if wanted is None:
        return None
    shown = _shown_month(s)
    if shown is None:
        target = next((f for f in s.page.fields() if "date" in s.page.label(f).lower() and not f.value), None)
        return click(target) if target else None
    if shown != (wanted.year, wanted.month):
        back = shown > (wanted.year, wanted.month)
        words = ("prev", "previous", "‹", "<") if back else ("next", "›", ">")
        return next((click(e) for e in s.page.clickable() if e.name.strip().lower() in words), None)
    return next((click(e) for e in s.page.role("link", "button", "gridcell") if e.name == str(wanted.day)), None)


def _shown_month(s: Situation) -> tuple[int, int] | None:
    """(year, month) of an open calendar, from its title's texts."""
    for month, year in zip(s.page.texts(), s.page.texts()[1:], strict=False):
        if month.name.lower() in _MONTHS and re.fullmatch(r"\d{4}", year.name):
            return int(year.name), _MONTHS.index(month.name.lower()) + 1
    for text in s.page.texts():
        match = re.fullmatch(r"([A-Za-z]+)\s+(\d{4})", text.name)
        if match and match[1].lower() in _MONTHS:
            return int(match[2]), _MONTHS.index(match[1].lower()) + 1
    return None


def _goal_time(text: str) -> str | None:
    match = re.search(r"\b(\d{1,2}):(\d{2})\s*([AP]M)?", text, re.IGNORECASE)
    if match is None:
        return None
    hour = int(match[1])
    if match[3]:
        hour = hour % 12 + (12 if match[3].upper() == "PM" else 0)
    return f"{hour:02d}:{match[2]}"
