"""The real applications, one instance set per test session, in a state directory of its own."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from harness.benchmarks.arena import ArenaBenchmark, ArenaConfig
from harness.sites.catalog import APPS
from harness.sites.environment import Environment
from harness.sites.instances import Sites
from harness.sites.records import InstanceSet


@pytest.fixture(scope="session")
def instance_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstanceSet]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    sites = Sites(tmp_path_factory.mktemp("sites"), Environment(), first_port=min(port, 60_000))
    apps = tuple(APPS.values())
    try:
        (found,) = sites.up(apps)
        yield found
    finally:
        sites.down(apps)


@pytest.fixture
def arena(instance_set: InstanceSet) -> ArenaBenchmark:
    return ArenaBenchmark(ArenaConfig(state_dir=instance_set.state_dir))
