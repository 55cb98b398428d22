"""Stock BrowserGym beside our environment, in one process: the peer of conformance tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import browsergym.core
import gymnasium
from browsergym.core.env import BrowserEnv as StockEnv
from browsergym.utils.obs import IGNORED_AXTREE_PROPERTIES, flatten_axtree_to_str
from playwright.sync_api import BrowserType

from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.session import BrowserSession


@contextmanager
def stock_env(session: BrowserSession, gym_id: str, **options: Any) -> Iterator[StockEnv]:
    """`browsergym/<gym_id>` on the same driver and the same Chromium binary as `session`.

    The binary has to be forced in from outside: BrowserGym launches a second browser, for its chat, without any options.
    """
    launch = BrowserType.launch

    def with_binary(self: BrowserType, **kwargs: Any) -> Any:
        return launch(self, **{"executable_path": session.chromium.path, **kwargs})

    session.context({}).close()  # starts the driver
    browsergym.core._set_global_playwright(session._driver)
    BrowserType.launch = with_binary  # type: ignore[method-assign]
    env = gymnasium.make(f"browsergym/{gym_id}", disable_env_checker=True, **options)
    try:
        yield env  # type: ignore[misc]
    finally:
        env.close()
        BrowserType.launch = launch  # type: ignore[method-assign]


@contextmanager
def stock_miniwob(session: BrowserSession, name: str, **options: Any) -> Iterator[StockEnv]:
    import browsergym.miniwob  # noqa: F401  registers the ids; MINIWOB_URL is set by MiniwobBenchmark.tasks()

    with stock_env(session, f"miniwob.{name}", task_kwargs={"base_url": MiniwobBenchmark().base_url()}, **options) as env:
        yield env


def stock_axtree(observation: dict[str, Any]) -> str:
    """The tree as BrowserGym prints it, less what newer Chromium adds to it (see harness.envs.axtext)."""
    return flatten_axtree_to_str(
        observation["axtree_object"],
        ignored_roles=["LineBreak", "InlineTextBox"],
        ignored_properties=(*IGNORED_AXTREE_PROPERTIES, "url"),
    )
