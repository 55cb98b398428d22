"""The tracker's world: large enough, consistent, and the same every time."""

from __future__ import annotations

import dataclasses
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sites.worlds.tracker import MEMBER, build
from harness.sites.worlds.tracker_tickets import PRIORITIES, RESOLUTIONS, TYPES

WORLD = build()
TIME = re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d")
NOW = "2026-03-02 10:00:00"
LINK = re.compile(r"\[wiki:(\S+?)[ \]]")


def test_it_is_large_enough_to_need_search_and_paging() -> None:
    assert len(WORLD.tickets) >= 150
    assert len(WORLD.pages) >= 80
    assert len(WORLD.milestones) >= 8
    assert len(WORLD.components) >= 10
    assert sum(len(page.versions) for page in WORLD.pages) > 2 * len(WORLD.pages)
    assert min(t.created for t in WORLD.tickets) < "2024-04" < "2026-01" < max(t.created for t in WORLD.tickets)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32))
def test_a_seed_determines_it(seed: int) -> None:
    assert build.__wrapped__(seed) == build.__wrapped__(seed)


def test_another_seed_is_another_world() -> None:
    assert build.__wrapped__(1).tickets != WORLD.tickets


def test_nothing_happens_after_the_pinned_now() -> None:
    times = [change.time for ticket in WORLD.tickets for change in ticket.changes]
    times += [version.time for page in WORLD.pages for version in page.versions]
    assert all(TIME.fullmatch(time) for time in times)
    assert max(times) < NOW


def test_each_ticket_is_what_its_history_led_to() -> None:
    for ticket in WORLD.tickets:
        values = {"status": "new", "resolution": "", "milestone": ""}
        for change in ticket.changes:
            for name, old, new in change.fields:
                assert values.get(name, old) == old, f"#{ticket.id} {name}"
                values[name] = new
        assert all(getattr(ticket, name) == value for name, value in values.items()), f"#{ticket.id}"
        assert [change.number for change in ticket.changes] == list(range(1, len(ticket.changes) + 1))
        times = [ticket.created, *(change.time for change in ticket.changes)]
        assert times == sorted(set(times)) and ticket.changed == times[-1]


def test_tickets_refer_to_what_exists() -> None:
    users = {account.username for account in WORLD.accounts}
    owners = {account.username for account in WORLD.accounts if account.group != MEMBER}
    milestones = {milestone.name: milestone for milestone in WORLD.milestones}
    for ticket in WORLD.tickets:
        assert ticket.owner in owners and ticket.reporter in users
        assert set(ticket.cc.split(", ") if ticket.cc else ()) <= users
        assert ticket.component in {component.name for component in WORLD.components}
        assert ticket.type in TYPES and ticket.priority in PRIORITIES
        assert ticket.version in {"", *(version.name for version in WORLD.versions)}
        assert (ticket.resolution in RESOLUTIONS) == (ticket.status == "closed")
        assert not (ticket.is_open and milestones[ticket.milestone].completed), "open tickets were moved on"


def test_names_that_tasks_use_mean_one_thing() -> None:
    for values in (
        [ticket.summary for ticket in WORLD.tickets],
        [page.name for page in WORLD.pages],
        [account.name for account in WORLD.accounts],
        [account.username for account in WORLD.accounts],
        [deployment.server for deployment in WORLD.facts.deployments],
        [setting for _, setting, _, _ in WORLD.facts.settings],
    ):
        assert len(values) == len(set(values))


def test_wiki_links_lead_somewhere() -> None:
    names = {page.name for page in WORLD.pages}
    for page in WORLD.pages:
        for target in LINK.findall(page.text.replace("`[wiki:", "`[")):
            assert target in names, f"{page.name} links to {target}"


def test_facts_stand_on_their_pages() -> None:
    facts = WORLD.facts
    for town in facts.deployments:
        text = WORLD.page(town.page).text
        assert f"|| server || {town.server} ||" in text and WORLD.full_name(town.contact) in text
    for release in facts.releases:
        assert f"|| release manager || {WORLD.full_name(release.manager)} ||" in WORLD.page(release.page).text
    for component, setting, default, _ in facts.settings:
        assert f"|| {setting} || {default} ||" in WORLD.page(f"Components/{component.capitalize()}").text


def test_only_example_addresses_and_no_password_for_the_others() -> None:
    assert all(account.email.endswith("@example.com") for account in WORLD.accounts)
    assert [account.username for account in WORLD.accounts if account.password] == ["mhale", "ifenwick"]
    assert "@" not in re.sub(r"\w+@example\.com", "", repr(dataclasses.asdict(WORLD)["pages"]))
