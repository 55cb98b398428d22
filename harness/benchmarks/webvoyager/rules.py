"""Shipped filter rules, our own: each reads a task's text and says in words why the task cannot be taken as written.

    past-dates       the text asks for something still to come (a stay, a flight, a pickup) on a day that is past
    past-years       the text names any year before the run's year, for whatever purpose
    time-dependent   the right answer changes with time ("latest", "today", a price, a count of reviews)

They are read from the text alone, by words: a rule can be wrong about a task, so each exclusion carries its reason, and
a change of a rule changes its version. `past-dates` is meant for excluding (or for `dates = "redate"`); the other two are
broad and meant for reading a result ("how many of the 643 can drift?"). The probe's rule `reachable` is in probe.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

from harness.benchmarks.webvoyager.dates import find_dates, find_years, format_date
from harness.errors import UsageError
from harness.types import Exclusion

_STILL_TO_COME = re.compile(
    r"\b(?:book(?:ing)?|reserv\w+|hotels?|resorts?|rooms?|flights?|stay|check-?in|depart\w*|return(?:ing)?|leaving|pick-?up"
    r"|appointment|tickets?|one[- ]way|round[- ]trip|available for)\b",
    re.IGNORECASE,
)
_LOOKS_BACK = re.compile(r"\b(?:released|published|created|submitted|announced|played)\b", re.IGNORECASE)
_DRIFTS = re.compile(
    r"\b(?:latest|newest|current(?:ly)?|recent(?:ly)?|today(?:'s)?|tomorrow|yesterday|tonight|now|upcoming|trending"
    r"|(?:this|next|last|past) (?:\w+ )?(?:day|days|week|weeks|weekend|month|months|year|years|season)"
    r"|prices?|cost|costs|cheapest|lowest[- ]priced|how much|schedule|standings?|scores?|rankings?|leaderboard"
    r"|forecast|temperature|headlines?|top stor(?:y|ies)|real[- ]time"
    r"|most (?:starred|downloaded|popular|liked|viewed)|highest[- ]rated)\b",
    re.IGNORECASE,
)


class Rule(NamedTuple):
    """`find(goal, run_date)` gives the reason to exclude the task, or an empty string."""

    id: str
    version: str
    description: str
    find: Callable[[str, date], str]


def _past_dates(goal: str, run_date: date) -> str:
    past = [mention for mention in find_dates(goal) if mention.last < run_date]
    wanted = _STILL_TO_COME.search(goal)
    if not past or not wanted or _LOOKS_BACK.search(goal):
        return ""
    day = format_date(past[0].last, "%-d %B %Y")
    return f"asks for {wanted.group(0).lower()!r} on {day}, which is past on {run_date}"


def _past_years(goal: str, run_date: date) -> str:
    past = sorted({year for year in find_years(goal) if year < run_date.year})
    return f"names {', '.join(map(str, past))}, before the run's year {run_date.year}" if past else ""


def _time_dependent(goal: str, _run_date: date) -> str:
    found = _DRIFTS.search(goal)
    return f"the answer changes with time: {found.group(0).lower()!r}" if found else ""


RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        Rule("past-dates", "1", "asks for something still to come on a day that is past", _past_dates),
        Rule("past-years", "1", "names a year before the run's year", _past_years),
        Rule("time-dependent", "1", "the right answer changes with time", _time_dependent),
    )
}


def find_rule(rule_id: str) -> Rule:
    if rule_id not in RULES:
        raise UsageError(f"unknown filter rule {rule_id!r}", fix=f"known rules: {', '.join(RULES)}")
    return RULES[rule_id]


def apply_rules(rule_ids: Iterable[str], goals: Iterable[tuple[str, str]], run_date: date) -> list[Exclusion]:
    """One Exclusion per task and rule that hits; `goals` are (task_id, goal) as the agent would read it."""
    rules = [find_rule(rule_id) for rule_id in rule_ids]
    return [
        Exclusion(task_id=task_id, rule=rule.id, rule_version=rule.version, reason=reason)
        for task_id, goal in goals
        for rule in rules
        if (reason := rule.find(goal, run_date))
    ]
