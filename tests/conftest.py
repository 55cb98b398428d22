"""Fixtures shared by all tests: one real browser per test session, fresh contexts, and episode specs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import Chromium, find_chromium
from harness.envs.config import BrowserConfig
from harness.envs.session import BrowserSession
from harness.sites.environment import Environment


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests on real sites need an environment that takes a minute to install; `make test` does and insists on it."""
    if item.get_closest_marker("sites") and (problem := Environment().problem()):
        if os.environ.get("HARNESS_REQUIRE_SITES"):
            pytest.fail(problem)
        pytest.skip(f"{problem}; `make test` installs it, or: harness sites install")


@pytest.fixture(scope="session")
def chromium() -> Chromium:
    return find_chromium()


@pytest.fixture(scope="session")
def browser_session(chromium: Chromium) -> Iterator[BrowserSession]:
    """One driver per process: Playwright's sync API cannot be started twice in a thread."""
    session = BrowserSession(BrowserConfig(recycle_every=10_000), chromium)
    yield session
    session.close()


@pytest.fixture
def page(browser_session: BrowserSession) -> Iterator[Any]:
    """A blank Playwright page in a fresh context."""
    context = browser_session.context({})
    yield context.new_page()
    context.close()


@pytest.fixture
def miniwob_env(browser_session: BrowserSession) -> Iterator[BrowserEnv]:
    env = BrowserEnv(browser_session, MiniwobBenchmark().open)
    yield env
    env.end_episode()
