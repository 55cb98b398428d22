"""Dates in task texts: templates resolved at run start, dates found in prose, past dates moved into the future.

    resolve("… on {{today+7d:%B %-d, %Y}}", run_date)      our re-dated task files
    find_dates("Jan 1 to Jan 4, 2024")                     → two DateMention, the first with an inherited year
    redate("March 3-5, 2024", run_date)                    → "March 3-5, 2027": opt-in, keeps spans of days

`redate` moves the earliest date of a text by whole years to the first time that lies after the run date, and keeps the
distance in days of every other date to it: "a three-night stay from February 28 to March 2, 2024" (a leap year) becomes
"February 28 to March 3", not two nights. A text that says "today" next to a date is moved to the run date itself.
Bare years, months without a day and seasons ("2023-24") are found (`find_years`) but never moved: whether they must lie
in the future cannot be read from them. Day and month order of `03/04/2024` is ambiguous: not read at all.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import Literal, NamedTuple

from harness.errors import UsageError

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember|t)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)(?P<dot>\.?)"
)
_DAY = r"(?P<day>\d{1,2})(?P<suffix>st|nd|rd|th)?"
_LAST = r"(?:(?P<dash>\s?[-–]\s?)(?P<last>\d{1,2})(?P<last_suffix>st|nd|rd|th)?(?!\d))?"
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_DATES = (
    re.compile(rf"\b{_MONTH} ?{_DAY}{_LAST}(?!\d)(?:(?P<comma>,? ){_YEAR}\b)?"),
    re.compile(rf"\b{_DAY} {_MONTH}(?:(?P<comma>,? ){_YEAR}\b)?(?!\w)"),
    re.compile(r"\b(?P<year>(?:19|20)\d{2})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(r"\b(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>(?:19|20)\d{2})\b"),
)
_BETWEEN = re.compile(r"^\s*(?:to|and|until|through|till|-|–)\s*$")
_YEARS = re.compile(r"(?<![\w.,$€£])(?:19|20)\d{2}(?!\w|[.,]\d)")
_TODAY = re.compile(r"\btoday\W{0,3}$", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{\s*today(?:\s*(?P<sign>[+-])\s*(?P<count>\d{1,4})\s*(?P<unit>[dwmy]))?\s*(?::(?P<form>[^{}]*))?\}\}")
_ANY_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
_DIRECTIVE = re.compile(r"%(-?[A-Za-z%])")
DEFAULT_FORM = "%B %-d, %Y"

Style = Literal["month_first", "day_first", "iso", "slash"]
_STYLES: tuple[Style, ...] = ("month_first", "day_first", "iso", "slash")


class DateMention(NamedTuple):
    """A calendar day, or a range of days within one month, found in a text."""

    start: int
    end: int
    """Character offsets of the mention in the text."""
    first: date
    last: date
    """Equal to `first` unless the mention is a range such as "February 14-21, 2024"."""
    style: Style
    match: re.Match[str]


def resolve(text: str, run_date: date) -> str:
    """`text` with every `{{today±N[dwmy]:format}}` replaced. Any other `{{…}}` is a UsageError."""

    def value(match: re.Match[str]) -> str:
        count = int(match["count"] or 0) * (-1 if match["sign"] == "-" else 1)
        return format_date(_shift(run_date, count, match["unit"] or "d"), (match["form"] or "").strip() or DEFAULT_FORM)

    resolved = _TEMPLATE.sub(value, text)
    if left := _ANY_TEMPLATE.search(resolved):
        raise UsageError(
            f"unknown date template {left.group(0)[:60]!r}",
            fix="write {{today}}, {{today+7d}} or {{today+7d:%B %-d, %Y}} (units d, w, m, y)",
        )
    return resolved


def has_template(text: str) -> bool:
    return bool(_ANY_TEMPLATE.search(text))


def format_date(day: date, form: str) -> str:
    """strftime's %Y %y %m %d %B %b %A %a (and %-m, %-d, %%) in English, whatever the process's locale."""
    values = {
        "Y": f"{day.year:04d}", "y": f"{day.year % 100:02d}", "m": f"{day.month:02d}", "-m": str(day.month),
        "d": f"{day.day:02d}", "-d": str(day.day), "B": MONTHS[day.month - 1], "b": MONTHS[day.month - 1][:3],
        "A": DAYS[day.weekday()], "a": DAYS[day.weekday()][:3], "%": "%",
    }  # fmt: skip

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UsageError(f"unknown %{match[1]} in date format {form!r}", fix="use %Y %m %d %-d %B %b %A %a")
        return values[match[1]]

    return _DIRECTIVE.sub(value, form)


def find_dates(text: str) -> list[DateMention]:
    """Days named in `text` whose year is written or inherited, in order. Impossible dates are left out."""
    raw: list[tuple[re.Match[str], Style]] = []
    for pattern, style in zip(_DATES, _STYLES, strict=True):
        for match in pattern.finditer(text):
            if all(match.end() <= other.start() or match.start() >= other.end() for other, _ in raw):
                raw.append((match, style))
    raw.sort(key=lambda item: item[0].start())

    found: list[DateMention] = []
    following: DateMention | None = None
    for match, style in reversed(raw):
        year = match["year"]
        mention = None
        if year:
            mention = _mention(match, style, int(year))
        elif following is not None and _BETWEEN.match(text[match.end() : following.start]):
            mention = _mention(match, style, following.first.year)
            if mention is not None and mention.first > following.first:
                mention = _mention(match, style, following.first.year - 1)
        if mention is not None:
            found.append(mention)
        following = mention
    return found[::-1]


def find_years(text: str) -> list[int]:
    """Years (1900 to 2099) written in `text`, in order: of dates, of seasons ("2023-24" gives 2023), and bare ones."""
    return [int(match.group(0)) for match in _YEARS.finditer(text)]


def redate(text: str, run_date: date) -> str:
    """`text` with its dates moved after `run_date`, spans of days kept; unchanged if none lies before it."""
    mentions = find_dates(text)
    if not mentions or min(m.first for m in mentions) >= run_date:
        return text
    anchor = min(m.first for m in mentions)
    says_today = any(_TODAY.search(text[: m.start]) for m in mentions)
    target = run_date if says_today else _next_anniversary(anchor, run_date)
    shift = target - anchor
    for mention in reversed(mentions):
        text = text[: mention.start] + _render(mention, shift) + text[mention.end :]
    return text


def _mention(match: re.Match[str], style: Style, year: int) -> DateMention | None:
    month, day = match["month"], int(match["day"])
    if style == "slash":
        first_number, second_number = int(match["day"]), int(match["month"])
        if (first_number <= 12) == (second_number <= 12) and first_number != second_number:
            return None
        day, number = (first_number, second_number) if first_number > 12 else (second_number, first_number)
    else:
        number = int(month) if style == "iso" else _month_number(month)
    last = int(match["last"]) if style == "month_first" and match["last"] else day
    try:
        first, final = date(year, number, day), date(year, number, last)
    except ValueError:
        return None
    return DateMention(match.start(), match.end(), first, final, style, match)


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, start=1) if month[:3] == name[:3])


def _next_anniversary(day: date, run_date: date) -> date:
    """The first later year's same day after `run_date`; 29 February becomes 28 February where the year has none."""
    return next(d for years in range(1, 300) if (d := _shift(day, years, "y")) > run_date)


def _shift(day: date, count: int, unit: str) -> date:
    try:
        if unit in "dw":
            return day + timedelta(days=count * (7 if unit == "w" else 1))
        months = day.year * 12 + day.month - 1 + count * (12 if unit == "y" else 1)
        year, month = divmod(months, 12)
        return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"date template leaves the calendar: {count}{unit} from {day}") from error


def _render(mention: DateMention, shift: timedelta) -> str:
    """The moved mention in the style of the original: month abbreviated, ordinals, separators as they were."""
    match, first, last = mention.match, mention.first + shift, mention.last + shift
    if mention.style == "iso":
        return first.isoformat()
    if mention.style == "slash":
        numbers = (first.day, first.month) if int(match["day"]) > 12 else (first.month, first.day)
        return "{:02d}/{:02d}/".format(*numbers) + str(first.year)
    year = f"{match['comma']}{last.year}" if match["year"] else ""
    if mention.style == "day_first":
        return f"{_day(first, match['suffix'])} {_month(first, match)}{year}"
    text = f"{_month(first, match)} {_day(first, match['suffix'])}"
    if match["last"]:
        same_month = first.month == last.month
        text += match["dash"] + ("" if same_month else _month(last, match) + " ") + _day(last, match["last_suffix"])
    return text + year


def _month(day: date, match: re.Match[str]) -> str:
    name = MONTHS[day.month - 1]
    abbreviated = match["month"] not in MONTHS
    return (name[:3] if abbreviated else name) + match["dot"]


def _day(day: date, suffix: str | None) -> str:
    if not suffix:
        return str(day.day)
    ordinal = "th" if 10 <= day.day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{day.day}{ordinal}"
