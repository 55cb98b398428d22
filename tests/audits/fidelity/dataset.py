"""A data set of a few synthetic episodes, stored as `harness data build` stores them."""

from __future__ import annotations

from pathlib import Path

from harness.types import Observation
from results.transitions import write_lines
from tests.audits.fidelity.factory import on, page
from training.world_model.transitions.records import StoredEpisode, StoredOutcome, StoredStep

HOME = "http://shop.localhost/"


def shop(query: str = "", *, opened: bool = False, agreed: bool = False) -> Observation:
    """The shop's page: a search field, a box to tick, and a list that opens."""
    value = f" value={query!r}" if query else ""
    return page(
        f"[1] textbox 'Search'{value}",
        f"[2] checkbox 'In stock', checked='{str(agreed).lower()}'",
        f"[3] button 'More', expanded={opened}",
        *(["[4] link 'Lamps'", "[5] link 'Chairs'"] if opened else []),
        url=HOME,
        title="Shop",
    )


def lamps() -> Observation:
    return page("[1] heading 'Lamps'", "[2] link 'Shop'", url=f"{HOME}lamps/", title="Lamps")


def episode(name: str, template: str, query: str, *, success: bool = True) -> StoredEpisode:
    """Type, tick, open, follow a link, answer."""
    pages = (
        shop(), shop(query), shop(query, agreed=True), shop(query, agreed=True, opened=True), lamps(),
    )  # fmt: skip
    actions = (f"fill('1', '{query}')", "click('2')", "click('3')", "click('4')", "send_msg_to_user('3')")
    steps = tuple(
        StoredStep(
            page=number,
            action=on(pages[number], action),
            next_page=min(number + 1, 4),
            goal=f"Find {query}",
            provenance={"step": number, "action": on(pages[number], action).name, "change": "page" if number < 4 else "none"},
        )
        for number, action in enumerate(actions)
    )
    return StoredEpisode(
        site="shop",
        goal=f"Find {query}",
        provenance={"run": "r", "episode": name, "site": "shop", "template": template, "source": "expert", "benchmark": "test"},
        pages=pages,
        steps=steps,
        outcome=StoredOutcome(page=4, answer="3", success=success),
    )


def write_dataset(folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_lines(folder / "train.jsonl.gz", [episode(f"train{n}", f"t{n}", f"tea {n}") for n in range(3)])
    write_lines(folder / "test.jsonl.gz", [episode(f"test{n}", f"u{n}", f"rug {n}", success=n > 0) for n in range(3)])
    write_lines(folder / "dev.jsonl.gz", [])
    return folder
