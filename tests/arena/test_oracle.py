"""The policies `oracle` and `nearly` without a site: found by name, told the right values, refused elsewhere."""

from __future__ import annotations

from random import Random

import pytest

from harness.benchmarks.arena.collection import group_of, templates_of
from harness.benchmarks.arena.data import definitions, load_tasks
from harness.benchmarks.arena.hands import Hands
from harness.benchmarks.arena.oracle import NearlyPolicy, OraclePolicy, homes
from harness.errors import UsageError
from harness.policies import load_policy_config, make_policy
from harness.types import EvaluatorSpec, Observation, OpenPage, Task


def test_they_are_policies_by_their_names() -> None:
    assert isinstance(make_policy(load_policy_config("oracle")), OraclePolicy)
    assert isinstance(make_policy(load_policy_config("nearly")), NearlyPolicy)


def test_they_play_the_arena_only() -> None:
    other = Task(benchmark="miniwob", task_id="click-test", evaluator=EvaluatorSpec(kind="raw_reward"))
    with pytest.raises(UsageError, match="the oracle policy knows the tasks of the arena only, not miniwob"):
        OraclePolicy().reset("", other, 0)


def test_nearly_knows_the_same_with_something_wrong() -> None:
    right, wrong = OraclePolicy(), NearlyPolicy()
    for task_id in definitions():
        assert right.values(task_id).keys() == wrong.values(task_id).keys()
        assert right.values(task_id) != wrong.values(task_id), task_id


def test_every_task_has_a_script_that_begins() -> None:
    """On a blank page a script may wait, look for something, or answer at once; it may not need the world or break."""
    blank = Observation(url="http://shop.localhost:1/", axtree="RootWebArea ''")
    addresses = dict.fromkeys(("shop", "shop_admin", "forum", "tracker", "wiki"), "http://shop.localhost:1/")
    for task in load_tasks():
        template = templates_of(group_of(task.sites))[task.intent_template_id]
        hands = Hands(Random(0), blank.url, addresses)
        hands.see(blank)
        assert next(template.oracle(hands, OraclePolicy().values(task.task_id))).name != "invalid"


def test_the_sites_are_found_in_the_tabs() -> None:
    tabs = ("http://forum.localhost:8101/", "http://shop.localhost:8100/dashboard/")
    seen = Observation(url=tabs[1], axtree="", open_pages=tuple(OpenPage(url=url, title="") for url in tabs))
    assert homes(seen, ("shop_admin", "shop", "forum", "wiki")) == {
        "shop_admin": "http://shop.localhost:8100/dashboard/",
        "shop": "http://shop.localhost:8100/",
        "forum": "http://forum.localhost:8101/",
    }


def test_a_page_that_still_loads_is_waited_for_with_patience() -> None:
    """On a busy machine a page may be cut off before it has come: acting on it would break the script."""
    page = "RootWebArea 'Lantern & Loom', busy=1\n\t[7] textbox 'Search'\n\t[8] button 'Search'"
    loading = Observation(url="http://shop.localhost:1/", axtree=page, slow=True)

    def first_actions(observation: Observation, count: int) -> list[str]:
        policy = OraclePolicy()
        policy.reset("", task, 0)
        return [policy.act(observation).action.name for _ in range(count)]

    quiet = loading.model_copy(update={"slow": False})  # it says that it is busy, and does nothing any more
    task = next(task for task in load_tasks() if task.sites == ("shop",) and "search" in task.task_id)
    assert first_actions(quiet, 1) != ["noop"]
    assert first_actions(loading, 4) == ["noop"] * 3 + first_actions(quiet, 1), "patience has an end"
