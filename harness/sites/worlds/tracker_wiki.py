"""The wiki of the tracker's world: pages with versions, and the facts that they were written from.

    make_wiki(rng, …) → pages, facts
        WikiStart ─┬─ ComponentOverview ── Components/Search …      settings, maintainer, related tickets
                   ├─ DeploymentList ───── Deployments/Mosswick …   server, release, contact, copies
                   ├─ ReleaseList ──────── Releases/2.4 …           date, manager, checksum
                   ├─ MeetingList ──────── Meetings/2025-03-04 …    who, decisions, actions
                   ├─ RunbookList ──────── Runbooks/RestoreBackup … owner, minutes, steps
                   └─ articles             CodingStyle, Glossary …

The facts are records, so that a task can ask for one and know the answer without reading wiki text.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from harness.sites.worlds.names import TOWNS
from harness.sites.worlds.tracker_tickets import Ticket
from harness.sites.worlds.tracker_words import ARTICLES, COMPONENTS, DECISIONS, MILESTONES, PROJECT, RUNBOOKS, VERSIONS

DEPLOYMENTS = 24
MEETINGS = 22
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_ACTIONS = (
    "write to the branches", "update the manual", "measure again with the large data set", "ask for a second quote",
    "prepare the training day", "close the old tickets", "draft the release notes", "order spare scanners",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageVersion:
    number: int
    time: str
    author: str
    text: str
    comment: str


@dataclass(frozen=True, slots=True)
class Page:
    """A wiki page; `versions` oldest first, so the last is what is shown."""

    name: str
    versions: tuple[PageVersion, ...]

    @property
    def text(self) -> str:
        return self.versions[-1].text


@dataclass(frozen=True, slots=True)
class Deployment:
    """One town's installation. `contact` is a user name, `page` the wiki page."""

    page: str
    town: str
    server: str
    release: str
    contact: str
    copies: int
    members: int
    closed_on: str
    ring: int


@dataclass(frozen=True, slots=True)
class Release:
    page: str
    version: str
    day: str
    manager: str
    checksum: str
    codename: str
    size_mb: int


@dataclass(frozen=True, slots=True)
class Meeting:
    """`actions` are (what, user name, day due)."""

    page: str
    day: str
    chair: str
    present: tuple[str, ...]
    decisions: tuple[str, ...]
    actions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Runbook:
    page: str
    title: str
    owner: str
    minutes: int
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WikiFacts:
    deployments: tuple[Deployment, ...]
    releases: tuple[Release, ...]
    meetings: tuple[Meeting, ...]
    runbooks: tuple[Runbook, ...]
    settings: tuple[tuple[str, str, str, str], ...]
    """(component, setting, default, meaning)."""


def make_wiki(
    rng: random.Random,
    owners: Mapping[str, str],
    team: Sequence[str],
    names: Mapping[str, str],
    tickets: Sequence[Ticket],
) -> tuple[tuple[Page, ...], WikiFacts]:
    """`owners`: component → user name; `names`: user name → full name."""
    facts = WikiFacts(
        deployments=tuple(_deployments(rng, team)),
        releases=tuple(_releases(rng, team)),
        meetings=tuple(_meetings(rng, team)),
        runbooks=tuple(
            Runbook(f"Runbooks/{name}", title, rng.choice(team), minutes, steps)
            for name, (title, minutes, steps) in RUNBOOKS.items()
        ),
        settings=tuple((name, *setting) for name, part in COMPONENTS.items() for setting in part.settings),
    )
    texts = {
        "WikiStart": _start(),
        **_lists(facts, owners, names),
        **{f"Components/{name.capitalize()}": _component(rng, name, owners[name], names, tickets) for name in COMPONENTS},
        **{d.page: _deployment(d, names) for d in facts.deployments},
        **{r.page: _release(r, names, tickets) for r in facts.releases},
        **{m.page: _meeting(m, names) for m in facts.meetings},
        **{r.page: _runbook(r, names) for r in facts.runbooks},
        **{name: f"= {title} =\n\n{text}\n" for name, (title, text) in ARTICLES.items()},
    }
    rota = "\n".join(f"|| {day} || {names[who]} ||" for day, who in zip(_WEEKDAYS, rng.sample(list(team), 5), strict=True))
    texts["SupportRota"] = texts["SupportRota"].replace("{ROTA}", rota)
    return tuple(Page(name, _versions(rng, text, team)) for name, text in sorted(texts.items())), facts


def _versions(rng: random.Random, text: str, team: Sequence[str]) -> tuple[PageVersion, ...]:
    """One to five versions that grow to `text`: a page is begun short and gets its last sections later."""
    blocks = text.rstrip("\n").split("\n\n")
    count = min(len(blocks), rng.randint(1, 5))
    ends = sorted(rng.sample(range(1, len(blocks)), count - 1)) if count > 1 else []
    days = sorted(rng.sample(range(740), count))
    comments = ("first version", "more detail", "table added", "wording", "brought up to date", "after the meeting")
    versions = []
    for number, (end, day) in enumerate(zip([*ends, len(blocks)], days, strict=True), 1):
        when = date(2024, 2, 5) + timedelta(days=day)
        time = f"{when} {rng.randint(8, 17):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
        comment = comments[0] if number == 1 else rng.choice(comments[1:])
        versions.append(PageVersion(number, time, rng.choice(team), "\n\n".join(blocks[:end]) + "\n", comment))
    return tuple(versions)


# ------------------------------------------------------------------------------------------------ facts


def _deployments(rng: random.Random, team: Sequence[str]) -> list[Deployment]:
    towns = sorted(rng.sample(TOWNS, DEPLOYMENTS))
    servers = rng.sample(range(10, 99), DEPLOYMENTS)
    copies = rng.sample(range(4_000, 96_000), DEPLOYMENTS)
    return [
        Deployment(
            page=f"Deployments/{town.replace(' ', '')}",
            town=town,
            server=f"shelf-{server}",
            release=rng.choices([name for name, _ in VERSIONS[2:]], (1, 1, 2, 4, 8))[0],
            contact=rng.choice(team),
            copies=count,
            members=count // rng.randint(4, 11) + rng.randint(1, 9),
            closed_on=rng.choice(_WEEKDAYS),
            ring=rng.choice((1, 2, 2, 3, 3)),
        )
        for town, server, count in zip(towns, servers, copies, strict=True)
    ]


def _releases(rng: random.Random, team: Sequence[str]) -> list[Release]:
    codenames = {name.split()[0]: name.split()[1] for name in (plan.name for plan in MILESTONES) if " " in name}
    return [
        Release(
            page=f"Releases/{version}",
            version=version,
            day=day,
            manager=rng.choice(team),
            checksum=f"{rng.getrandbits(64):016x}",
            codename=codenames.get(version, "Snipe"),
            size_mb=rng.randint(31, 58),
        )
        for version, day in VERSIONS
    ]


def _meetings(rng: random.Random, team: Sequence[str]) -> list[Meeting]:
    first = date(2024, 3, 5)
    found = []
    for k in range(MEETINGS):
        day = first + timedelta(days=33 * k - (33 * k) % 7)
        present = tuple(rng.sample(list(team), rng.randint(4, 8)))
        actions = tuple(
            (what, rng.choice(present), str(day + timedelta(days=rng.randint(7, 40))))
            for what in rng.sample(_ACTIONS, rng.randint(2, 4))
        )
        found.append(Meeting(f"Meetings/{day}", str(day), present[0], present, tuple(rng.sample(DECISIONS, 3)), actions))
    return found


# ------------------------------------------------------------------------------------------------ pages


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["||= " + " =||= ".join(head) + " =||", *("|| " + " || ".join(str(c) for c in row) + " ||" for row in rows)]
    return "\n".join(lines)


def _start() -> str:
    return (
        f"= {PROJECT} =\n\n"
        f"{PROJECT} is the catalogue and lending program of {DEPLOYMENTS} town libraries. "
        "This wiki belongs to everybody who works on it.\n\n"
        "== Find your way ==\n"
        " * ComponentOverview: what the program is made of, and who looks after each part\n"
        " * DeploymentList: every town, its server and its contact\n"
        " * ReleaseList: what was released when\n"
        " * MeetingList: minutes of the monthly meeting\n"
        " * RunbookList: what to do when something is wrong\n\n"
        "== New here? ==\n"
        "Begin with GettingStarted and InstallationGuide. Answers to many questions are in FrequentQuestions.\n\n"
        "== How we work ==\n"
        "CodingStyle, CodeReview, TicketTriage, ReleaseProcess, SecurityPolicy, BackupPolicy, SupportRota\n\n"
        "== Reference ==\n"
        "[wiki:Glossary], DataModel, PrivacyNotes, HardwareList, KeyboardShortcuts, TranslationGuide, TrainingDays, "
        "UpgradeGuide\n"
    )


def _lists(facts: WikiFacts, owners: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    def link(page: str) -> str:
        return f"[wiki:{page} {page.partition('/')[2]}]"

    return {
        "ComponentOverview": "= Components =\n\nEach component has one maintainer, who also owns its new tickets.\n\n"
        + _table(
            ("component", "purpose", "maintainer"),
            [(f"[wiki:Components/{c.capitalize()} {c}]", COMPONENTS[c].purpose, names[who]) for c, who in owners.items()],
        ),
        "DeploymentList": "= Deployments =\n\nEvery town has a server of its own. Details are on the page of the town.\n\n"
        + _table(("town", "server", "release"), [(f"[wiki:{d.page} {d.town}]", d.server, d.release) for d in facts.deployments]),
        "ReleaseList": "= Releases =\n\nNewest last. How a release is made: ReleaseProcess.\n\n"
        + _table(("release", "code name", "day"), [(link(r.page), r.codename, r.day) for r in facts.releases]),
        "MeetingList": "= Meetings =\n\nMinutes of the monthly meeting.\n\n"
        + "\n".join(f" * {link(m.page)}" for m in facts.meetings),
        "RunbookList": "= Runbooks =\n\nKeep calm and read on.\n\n"
        + _table(("runbook", "what it does", "minutes"), [(link(r.page), r.title, r.minutes) for r in facts.runbooks]),
    }


def _component(rng: random.Random, name: str, owner: str, names: Mapping[str, str], tickets: Sequence[Ticket]) -> str:
    part = COMPONENTS[name]
    related = [t for t in tickets if t.component == name and t.is_open][-4:]
    see = rng.sample(sorted(ARTICLES), 2)
    return (
        f"= {name.capitalize()} =\n\n{part.purpose}.\n\n"
        f"== Maintainer ==\n{names[owner]} (`{owner}`) looks after this component and owns its new tickets.\n\n"
        "== Parts ==\n" + "\n".join(f" * {thing}" for thing in part.parts) + "\n\n"
        "== Settings ==\n" + _table(("setting", "default", "meaning"), part.settings) + "\n\n"
        "== Open tickets worth knowing ==\n" + "\n".join(f" * #{t.id} {t.summary}" for t in related) + "\n\n"
        f"== See also ==\n[wiki:ComponentOverview], [wiki:{see[0]}], [wiki:{see[1]}]\n"
    )


def _deployment(d: Deployment, names: Mapping[str, str]) -> str:
    return (
        f"= {d.town} =\n\nThe library of {d.town} runs {PROJECT} on a server of its own.\n\n"
        "== Facts ==\n"
        + _table(
            ("what", "value"),
            [
                ("server", d.server), ("release", f"[wiki:Releases/{d.release} {d.release}]"), ("copies", d.copies),
                ("members", d.members), ("closed on", d.closed_on), ("upgrade ring", d.ring),
            ],
        )
        + f"\n\n== Contact ==\n{names[d.contact]} (`{d.contact}`) speaks for this branch.\n\n"
        "== When something is wrong ==\nSee RunbookList; after a move also [wiki:Runbooks/MoveBranch].\n"
    )  # fmt: skip


def _release(r: Release, names: Mapping[str, str], tickets: Sequence[Ticket]) -> str:
    milestone = f"{r.version} {r.codename}"
    fixed = [t for t in tickets if t.milestone == milestone and t.resolution == "fixed"][:6]
    changes = "\n".join(f" * #{t.id} {t.summary}" for t in fixed) or " * Notes of this release were lost with the old server."
    return (
        f'= Release {r.version} "{r.codename}" =\n\n'
        + _table(
            ("what", "value"),
            [("day", r.day), ("release manager", names[r.manager]), ("checksum", f"`{r.checksum}`"), ("size", f"{r.size_mb} MB")],
        )
        + f"\n\n== Changes ==\n{changes}\n\n== Upgrading ==\nFollow UpgradeGuide and [wiki:Runbooks/UpgradeBranch].\n"
    )


def _meeting(m: Meeting, names: Mapping[str, str]) -> str:
    return (
        f"= Meeting of {m.day} =\n\n"
        f"'''Chair:''' {names[m.chair]}\n\n"
        f"'''Present:''' {', '.join(names[who] for who in m.present)}\n\n"
        "== Decisions ==\n" + "\n".join(f" 1. We agreed that {text}." for text in m.decisions) + "\n\n"
        "== Actions ==\n" + _table(("what", "who", "until"), [(what, names[who], until) for what, who, until in m.actions]) + "\n"
    )


def _runbook(r: Runbook, names: Mapping[str, str]) -> str:
    return (
        f"= {r.title} =\n\n'''Owner:''' {names[r.owner]}. '''Time needed:''' {r.minutes} minutes.\n\n"
        "== Steps ==\n" + "\n".join(f" {k}. {step}." for k, step in enumerate(r.steps, 1)) + "\n\n"
        "== Afterwards ==\nWrite down what was different this time, and tell SupportRota.\n"
    )
