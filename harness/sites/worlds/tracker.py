"""The tracker's and the wiki's world: who works on Stackwren, what is wrong with it, and what they wrote down.

    build() → TrackerWorld
        people, accounts, components, milestones, versions, reports
        tickets    two years of them, each with its history           worlds/tracker_tickets.py
        pages      a wiki with versions, made from facts that stay     worlds/tracker_wiki.py
                   readable here: deployments, releases, meetings …

Times are UTC, written `2025-03-11 09:30:00`, so that sorting texts sorts times. Everything follows from one seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from harness.sites.worlds.names import Person, people
from harness.sites.worlds.tracker_tickets import Ticket, make_tickets
from harness.sites.worlds.tracker_wiki import Deployment, Meeting, Page, Release, Runbook, WikiFacts, make_wiki
from harness.sites.worlds.tracker_words import COMPONENTS, MILESTONES, PROJECT, TAGLINE, VERSIONS

__all__ = [
    "Account",
    "Component",
    "Deployment",
    "Meeting",
    "Milestone",
    "Page",
    "Release",
    "Report",
    "Runbook",
    "Ticket",
    "TrackerWorld",
    "Version",
    "build",
]

SEED = 20260302
TEAM = 14
REPORTERS = 22

MEMBER = "members"
DEVELOPER = "developers"
MANAGER = "managers"
"""Trac's permission groups: what each may do is in apps/tracker/build.py."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who can sign in. The password protects nothing; people without one cannot sign in."""

    username: str
    name: str
    email: str
    group: str
    password: str = ""


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    owner: str
    description: str


@dataclass(frozen=True, slots=True)
class Milestone:
    """`due` is a day, empty for none; `completed` is a time, empty for an open milestone."""

    name: str
    due: str
    completed: str
    description: str


@dataclass(frozen=True, slots=True)
class Version:
    name: str
    released: str
    description: str


@dataclass(frozen=True, slots=True)
class Report:
    id: int
    title: str
    description: str
    query: str
    """A Trac query string or SQL."""


@dataclass(frozen=True, slots=True)
class TrackerWorld:
    """All that the tracker's database is filled with."""

    project: str
    tagline: str
    accounts: tuple[Account, ...]
    components: tuple[Component, ...]
    milestones: tuple[Milestone, ...]
    versions: tuple[Version, ...]
    reports: tuple[Report, ...]
    tickets: tuple[Ticket, ...]
    pages: tuple[Page, ...]
    facts: WikiFacts

    def ticket(self, number: int) -> Ticket:
        return self.tickets[number - 1]

    def page(self, name: str) -> Page:
        """Raises KeyError."""
        for page in self.pages:
            if page.name == name:
                return page
        raise KeyError(name)

    def full_name(self, username: str) -> str:
        """Raises KeyError."""
        for account in self.accounts:
            if account.username == username:
                return account.name
        raise KeyError(username)


@cache
def build(seed: int = SEED) -> TrackerWorld:
    """The same seed gives the same world, down to the character."""
    rng = random.Random(seed)
    crowd = people(rng, TEAM + REPORTERS)
    accounts = (
        Account("mhale", "Morgan Hale", "morgan.hale@example.com", MANAGER, "anchor-56"),
        Account("ifenwick", "Iris Fenwick", "iris.fenwick@example.com", "TRAC_ADMIN", "harbor-71"),
        *(_account(person, DEVELOPER) for person in crowd[:TEAM]),
        *(_account(person, MEMBER) for person in crowd[TEAM:]),
    )
    team = [account.username for account in accounts[: TEAM + 2]]
    reporters = [account.username for account in accounts[TEAM + 2 :]]
    owners = rng.sample(team[2:], len(COMPONENTS))
    components = tuple(
        Component(name, owner, part.purpose) for owner, (name, part) in zip(owners, COMPONENTS.items(), strict=True)
    )
    tickets = make_tickets(rng, {c.name: c.owner for c in components}, team, reporters)
    names = {account.username: account.name for account in accounts}
    pages, facts = make_wiki(rng, {c.name: c.owner for c in components}, team, names, tickets)
    return TrackerWorld(
        project=PROJECT,
        tagline=TAGLINE,
        accounts=accounts,
        components=components,
        milestones=tuple(
            Milestone(plan.name, plan.due, f"{plan.due} 15:00:00" if plan.completed else "", plan.description)
            for plan in MILESTONES
        ),
        versions=tuple(Version(name, f"{day} 12:00:00", f"Stackwren {name}") for name, day in VERSIONS),
        reports=_reports(),
        tickets=tickets,
        pages=pages,
        facts=facts,
    )


def _account(person: Person, group: str) -> Account:
    return Account((person.first[0] + person.last).lower(), person.full, person.email, group)


def _reports() -> tuple[Report, ...]:
    columns = "id|summary|component|milestone|type|priority|owner"
    listed = (
        ("Open tickets", "All tickets that are not closed, by priority.", f"query:?status=!closed&col={columns}&order=priority"),
        ("My tickets", "Open tickets of whoever looks at this report.", f"query:?status=!closed&owner=$USER&col={columns}"),
        (
            "Open tickets by component",
            "Grouped by component, so that owners see theirs.",
            f"query:?status=!closed&col={columns}&group=component&order=priority",
        ),
        (
            "Open tickets by milestone",
            "What is still to do before each release.",
            f"query:?status=!closed&col={columns}&group=milestone&order=priority",
        ),
        ("Unassigned blockers", "Blockers that are still new.", f"query:?status=new&priority=blocker&col={columns}"),
        ("Good first tickets", "Open tickets for beginners.", f"query:?status=!closed&keywords=~beginner&col={columns}"),
        ("Closed without a change", "Tickets that were closed as wontfix.", f"query:?resolution=wontfix&col={columns}"),
    )
    queries = [Report(k, title, text, query.replace("|", "&col=")) for k, (title, text, query) in enumerate(listed, 1)]
    return (
        *queries,
        Report(
            len(queries) + 1,
            "Open tickets per owner",
            "How many tickets everybody has, most first.",
            "SELECT owner, COUNT(*) AS tickets FROM ticket WHERE status <> 'closed' GROUP BY owner ORDER BY tickets DESC, owner",
        ),
    )
