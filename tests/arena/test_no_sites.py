"""Without running sites: tasks can be listed, and everything else says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.benchmarks.arena import ArenaBenchmark, ArenaConfig
from harness.cli.prepare import Request, prepare
from harness.errors import NotReadyError
from harness.types import EpisodeSpec


def test_doctor_names_every_site_and_the_fix(tmp_path: Path) -> None:
    checks = ArenaBenchmark(ArenaConfig(state_dir=tmp_path)).checks()
    down = {check.site: check for check in checks if check.status == "missing"}
    assert down.keys() == {"shop", "shop_admin", "forum", "tracker", "wiki"}
    assert (down["wiki"].detail, down["wiki"].fix) == ("not up", "harness sites up wiki")


def test_a_run_is_refused_with_one_line(tmp_path: Path) -> None:
    options = {"run": {"benchmark": "arena"}, "arena": {"state_dir": str(tmp_path)}}
    with pytest.raises(NotReadyError, match=r"none of the .* tasks can run: needs sites, and none is up"):
        prepare(Request(config_file=None, options=options, policy="noop", workers="1", run_dir=tmp_path / "run"))


def test_an_episode_is_refused(tmp_path: Path) -> None:
    arena = ArenaBenchmark(ArenaConfig(state_dir=tmp_path))
    with pytest.raises(NotReadyError, match="none is up") as caught:
        arena.open(EpisodeSpec(task=arena.tasks()[0], seed=0, order_index=0))
    assert caught.value.fix == "harness sites up"
    assert not arena.can_reset(0)
    assert arena.instances() == 1
