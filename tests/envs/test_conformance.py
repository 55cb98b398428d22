"""Same task, same seed, same actions: our environment and stock BrowserGym must show the same trees and pay the same rewards."""

from __future__ import annotations

import re

import pytest

from harness.actions import parse_action
from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.types import EpisodeSpec
from tests.support.stock import stock_axtree, stock_miniwob

pytestmark = pytest.mark.browser

TASKS = {task.task_id: task for task in MiniwobBenchmark().tasks()}

# (task, seed) → actions; the last one ends the task, rightly or wrongly. {name} is the bid of the node whose line matches.
SCRIPTS: dict[tuple[str, int], list[str]] = {
    ("click-test", 1): ["click('{button}')"],
    ("click-test-2", 3): ["click('{button .TWO.}')"],
    ("enter-text", 5): ["fill('{textbox}', 'wrong')", "click('{button}')"],
    ("login-user", 4): ["fill('{textbox}', 'ann')", "press('{textbox}', 'Tab')", "click('{button}')"],
    ("click-checkboxes", 7): ["click('{checkbox}')", "click('{button}')"],
    ("choose-list", 1): ["select_option('{combobox}', '{option text}')", "click('{button}')"],
    ("click-tab-2", 6): ["click('{tab}')"],
    ("focus-text", 2): ["focus('{textbox}')"],
    ("click-dialog", 9): ["click('{button .Close.}')"],
    ("click-collapsible", 3): ["click('{tab}')", "noop(300)"],
    ("find-greatest", 5): ["click('{button}')"],
    ("tic-tac-toe", 1): ["noop(100)"],
    ("email-inbox", 1): ["noop(100)"],
    ("social-media", 8): ["noop(100)"],
}


@pytest.mark.parametrize(("name", "seed"), SCRIPTS, ids=[f"{name}-{seed}" for name, seed in SCRIPTS])
def test_same_trees_and_rewards_as_browsergym(
    browser_session: BrowserSession, miniwob_env: BrowserEnv, name: str, seed: int
) -> None:
    with stock_miniwob(browser_session, name, slow_mo=0, pre_observation_delay=0.1) as stock:
        expected, info = stock.reset(seed=seed)
        goal, observation = miniwob_env.reset(EpisodeSpec(task=TASKS[name], seed=seed, order_index=0))
        assert goal == expected["goal"]
        assert observation.axtree == stock_axtree(expected)
        assert observation.focused_bid == expected["focused_element_bid"]
        for template in SCRIPTS[name, seed]:
            text = fill_in(template, observation.axtree)
            expected, reward, terminated, _, info = stock.step(text)
            result = miniwob_env.step(parse_action(text))
            assert bool(result.action_error) == bool(expected["last_action_error"]), text
            assert (result.reward, result.terminated) == (reward, terminated), text
            if not terminated:  # a finished MiniWoB++ page is being torn down while it is read
                assert result.observation.axtree == stock_axtree(expected), text
            observation = result.observation
        assert result.metadata["RAW_REWARD_GLOBAL"] == pytest.approx(info["task_info"]["RAW_REWARD_GLOBAL"])


def fill_in(template: str, axtree: str) -> str:
    """Replace {pattern} by the bid of the first line whose role and name match it, {option text} by an option's name."""

    def bid(match: re.Match[str]) -> str:
        if match.group(1) == "option text":
            found = re.search(r"option '([^']+)'", axtree)
        else:
            found = re.search(rf"\[(\w+)\] {match.group(1)}", axtree)
        assert found, f"no node for {match.group(0)} in\n{axtree}"
        return found.group(1)

    return re.sub(r"\{([^}]+)\}", bid, template)
