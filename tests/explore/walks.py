"""Walks written by hand: pages as text, actions as text, through the real parser, and descriptors from the real trees."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.actions import parse_action
from harness.rollout import with_target
from harness.types import INVALID_ACTION, ActionError, Episode, EpisodeSpec, Observation, OpenPage, PolicyOutput, Step
from results.store import RunStore
from tests.results.factory import episode, manifest, plan, task


class Seen(NamedTuple):
    url: str
    title: str
    lines: tuple[str, ...]


def seen(url: str, title: str, *lines: str) -> Seen:
    return Seen(f"http://site.test{url}", title, lines)


def observation(page: Seen) -> Observation:
    tree = "\n".join([f"RootWebArea '{page.title}', focused", *(f"\t{line}" for line in page.lines)])
    return Observation(url=page.url, title=page.title, axtree=tree, open_pages=(OpenPage(url=page.url, title=page.title),))


def walk(*script: Seen | str, spec: EpisodeSpec | None = None, run_id: str = "run-1") -> Episode:
    """`page, "action", page, "action", …, page`; an action that begins with `!` failed."""
    pages = [observation(item) for item in script if isinstance(item, Seen)]
    actions = [item for item in script if isinstance(item, str)]
    assert len(pages) == len(actions) + 1
    steps = []
    for index, text in enumerate(actions):
        action = with_target(parse_action(text.removeprefix("!")), pages[index])
        assert action.name != INVALID_ACTION, text
        error = ActionError(kind="stale", message="gone") if text.startswith("!") else None
        output = PolicyOutput(action=action, text=f"why {index}", policy_version="explore-1 goal")
        steps.append(Step(index=index, observation=pages[index], output=output, action_error=error))
    chosen = spec or plan([task("t1", site="shop")])[0]
    return episode(
        chosen, "failure", steps=steps, run_id=run_id, stop_reason="max_steps",
        trajectory={"final_observation": pages[-1], "answer": None},
    )  # fmt: skip


def stored(directory: Path, episodes: list[Episode], **fields: object) -> RunStore:
    """A closed run of these episodes."""
    specs = [found.spec for found in episodes]
    with RunStore.create(directory, manifest(specs, **{"policy": "explore", **fields}), specs) as store:
        for found in episodes:
            store.record(found, {})
    return store
