"""Dates in task texts: what is found, what templates resolve to, and that moving dates keeps the spans between them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.webvoyager.dates import find_dates, find_years, format_date, redate, resolve
from harness.errors import UsageError

RUN = date(2026, 11, 29)
DAYS = st.dates(date(1990, 1, 1), date(2090, 12, 31))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on January 5th, 2024.", ["2024-01-05"]),
        ("for Dec. 30, 2023", ["2023-12-30"]),
        ("February 14-21, 2024", ["2024-02-14/2024-02-21"]),
        ("from Jan 1 to Jan 4, 2024", ["2024-01-01", "2024-01-04"]),
        ("from Dec 30 to Jan 3, 2024", ["2023-12-30", "2024-01-03"]),
        ("(6 March to 8 March 2024)", ["2024-03-06", "2024-03-08"]),
        ("20/12/2023 - 21/12/2023", ["2023-12-20", "2023-12-21"]),
        ("created after 2023-12-29.", ["2023-12-29"]),
        ("Dec 25th - Dec 26th", []),  # no year: the site decides, nothing is hard-coded
        ("03/04/2024", []),  # 3 April or March 4
        ("04/04/2024", ["2024-04-04"]),
        ("February 31, 2024", []),
        ("in March 2023 and in 2022", []),
        ("season 2023-24", []),
        ("Mayor 12, 2024", []),
        ("March 15 for 2 people; also in 2024", []),
    ],
)
def test_dates_found(text: str, days: list[str]) -> None:
    found = [f"{m.first}/{m.last}" if m.first != m.last else str(m.first) for m in find_dates(text)]
    assert found == days


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("Roster 2023-24", [2023]),
        ("from 2020–2021", [2020, 2021]),
        ("January 10, 2024, to January 20, 2024", [2024, 2024]),
        ("under $2000 or 2000.50", []),
        ("version 1.2019 of x2024", []),
        ("20/12/2023 or 2023-12-29", [2023, 2023]),
    ],
)
def test_years_found(text: str, years: list[int]) -> None:
    assert find_years(text) == years


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("weekend of March 3-5, 2024.", "weekend of March 3-5, 2027."),
        ("on December 25, 2023, back January 5, 2024,", "on December 25, 2026, back January 5, 2027,"),
        ("three nights, February 28 to March 2, 2024", "three nights, February 28 to March 3, 2027"),
        ("February 27-29, 2024", "February 27-March 1, 2027"),
        ("on Feb. 29th, 2024", "on Feb. 28th, 2027"),
        ("on January 21st, 2024 and 22nd", "on January 21st, 2027 and 22nd"),
        ("20/12/2023 - 21/12/2023", "20/12/2026 - 21/12/2026"),
        ("after 2023-12-29", "after 2026-12-29"),
        ("8 March 2024, one stop", "8 March 2027, one stop"),
        ("flights today (February 17, 2024) to Paris", "flights today (November 29, 2026) to Paris"),
        ("on November 29, 2025", "on November 29, 2027"),  # the run's own day is too late to book
        ("on November 30, 2026", "on November 30, 2026"),
        ("no date, in 2023", "no date, in 2023"),
    ],
)
def test_past_dates_move_behind_the_run_date(before: str, after: str) -> None:
    assert redate(before, RUN) == after


@given(first=DAYS, nights=st.integers(0, 60), run=DAYS)
def test_moving_dates_keeps_the_span_and_is_idempotent(first: date, nights: int, run: date) -> None:
    last = first + timedelta(days=nights)
    text = f"a stay from {format_date(first, '%B %-d, %Y')}, to {format_date(last, '%B %-d, %Y')}."
    moved = redate(text, run)
    found = find_dates(moved)
    assert len(found) == 2
    assert found[1].first - found[0].first == timedelta(days=nights)
    assert found[0].first >= min(first, run)
    if first < run:
        assert run < found[0].first <= run + timedelta(days=366)
        assert redate(moved, run) == moved
    else:
        assert moved == text


@given(day=DAYS, form=st.sampled_from(["%B %-d, %Y", "%b %-d, %Y", "%-d %B %Y", "%Y-%m-%d"]))
def test_written_dates_are_found_again(day: date, form: str) -> None:
    assert [m.first for m in find_dates(f"on {format_date(day, form)}, please")] == [day]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{today}}", "November 29, 2026"),
        ("{{today+7d}}", "December 6, 2026"),
        ("{{ today - 2w : %Y-%m-%d }}", "2026-11-15"),
        ("{{today+3m:%b %d}}", "Feb 28"),
        ("{{today+1y:%A, %-d %B %Y}}", "Monday, 29 November 2027"),
        ("no template {today} 100%", "no template {today} 100%"),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert resolve(template, RUN) == text


@pytest.mark.timeout(60)
def test_blanks_without_an_end_are_no_template() -> None:
    """And are read once, not once from each blank to each other."""
    text = "{{today:" + " " * 20_000
    assert resolve(text, RUN) == text


@pytest.mark.parametrize("bad", ["{{tomorrow}}", "{{today+7}}", "{{today:%s}}", "{{today+9999y}}", "{{}}"])
def test_a_template_that_cannot_be_resolved_stops_the_run(bad: str) -> None:
    with pytest.raises(UsageError):
        resolve(f"book for {bad}", RUN)


@given(st.text(max_size=300))
def test_any_text_can_be_searched(text: str) -> None:
    find_years(text)
    assert all(0 <= m.start < m.end <= len(text) for m in find_dates(text))
    redate(text, RUN)
