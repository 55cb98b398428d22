"""`harness sites …` as it is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.cli.main import app
from harness.errors import HarnessError
from tests.sites.conftest import SHOP, ToySites, get


def harness(*words: str) -> Result:
    return CliRunner().invoke(app, ["sites", *words])


def test_status_reset_logs_and_down_of_running_sites(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    state = ("--state", str(toy.layout.root))
    done = harness("status", *state)
    assert done.exit_code == 0
    assert re.search(rf"0 +shop +up +{found.url('shop')} +\d+ +\d+ MB +1", done.output)
    get(found, "/add/four")
    done = harness("reset", "shop_admin", *state)
    assert re.fullmatch(r"shop of set 0: reset epoch 2\n\d+ ms each\n", done.output)
    assert harness("logs", "shop", *state).output.splitlines()[:2] == ["── shop of set 0", "serving"]
    assert json.loads(harness("status", "--format", "json", *state).output)[0]["reset_epoch"] == 2
    assert harness("down", "forum", *state).output == "nothing was up\n"
    assert harness("down", "--instance", "0", *state).output == "shop of set 0: stopped\n"
    assert " down " in harness("status", *state).output


def test_a_dead_server_is_told_with_an_exit_code(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    state = ("--state", str(toy.layout.root))
    with pytest.raises(Exception, match="disconnected"):
        get(found, "/die")
    done = harness("status", *state)
    assert done.exit_code == 3
    assert "shop of set 0: the server has ended: see `harness sites logs`" in done.output


def test_nothing_is_up_yet(tmp_path: Path) -> None:
    state = ("--state", str(tmp_path))
    assert harness("status", *state).output == "no site has been brought up: harness sites up\n"
    assert harness("down", *state).output == "nothing was up\n"
    done = harness("reset", *state)
    assert isinstance(done.exception, HarnessError) and done.exception.fix == "harness sites up"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["up", "gitlab"], "there is no site 'gitlab'"),
        (["reset", "--instance", "7"], "no instance set 7"),
    ],
)
def test_what_does_not_exist_is_named(tmp_path: Path, words: list[str], why: str) -> None:
    done = harness(*words, "--state", str(tmp_path))
    assert isinstance(done.exception, HarnessError)
    assert why in str(done.exception) and "\n" not in str(done.exception)
    assert done.exception.fix


REFUSED = ("up --instances 0", "up --instances 33", "up --port 80", "status --format xml", "logs --lines 0", "down --instance -1")


@pytest.mark.parametrize("line", REFUSED)
def test_numbers_out_of_range_are_refused_by_the_parser(line: str) -> None:
    assert harness(*line.split()).exit_code == 2


def test_a_state_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = harness("down", "--state", str(tmp_path / "file" / "sites"))
    assert isinstance(done.exception, HarnessError)
    assert "cannot use" in str(done.exception)
