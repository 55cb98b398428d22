"""What a user may get wrong: one line that names it, one that says what to do, an exit code of its own, never a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.cli.main import main
from results import files
from tests.faults.command import TASKS

GYM = ("--bench", "gym:row.*", "--config", "run.toml", "--run-dir", "made")
GOOD = '[gym]\npackages = ["tests.support.fault_tasks"]\n'
FAULTY = f"{GOOD}[policy]\nname = '{TASKS}:FaultyPolicy'\n".encode()


def harness(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """(exit code, stderr) of the command in this process; an exception that is no exit fails the test."""
    monkeypatch.setattr(sys, "argv", ["harness", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return (code if isinstance(code, int) else 0 if code is None else 1), capsys.readouterr().err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(GOOD)
    return tmp_path


CASES = {
    "a benchmark that does not exist": (("--bench", "webareno"), "there is no benchmark 'webareno'", "miniwob"),
    "a task that does not exist": (("--bench", "miniwob", "--tasks", "click-tst"), "no task matches 'click-tst'", "click-test"),
    "a site that does not exist": ((*GYM, "--site", "shop"), "no task runs on site 'shop'", "sites: row"),
    "no registered task": (("--bench", "gym:nothing.*"), "no registered BrowserGym task matches 'nothing.*'", "installed: "),
    "a policy that does not exist": ((*GYM, "--policy", "heuristik"), "no policy 'heuristik'", "configs/policies"),
    "a module that does not exist": ((*GYM, "--policy", "my_agent:Agent"), "cannot import 'my_agent'", "module:Class"),
    "a class that does not exist": ((*GYM, "--policy", f"{TASKS}:Nobody"), "has no class 'Nobody'", "module:Class"),
    "a class that is no policy": ((*GYM, "--policy", f"{TASKS}:Agentless"), "is not a policy: it lacks reset, act", "implement"),
    "a policy file that does not exist": ((*GYM, "--policy", "mine.toml"), "cannot read mine.toml", "check the path"),
    "no number of workers": ((*GYM, "--workers", "many"), "--workers takes a number of at least 1", ""),
    "zero workers": ((*GYM, "--workers", "0"), "--workers takes a number of at least 1", ""),
    "a window with a slash": ((*GYM, "--window", "../A"), "run.window", "see "),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_on_the_command_line(
    case: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, complaint, fix = CASES[case]
    code, err = harness(monkeypatch, capsys, "run", *arguments)
    assert code == 2
    lines = err.strip().splitlines()
    assert lines[0].startswith("harness: ")
    assert complaint in lines[0]
    assert len(lines) == 2 and lines[1].startswith("   fix: ") and fix in lines[1], err
    assert not (here / "made").exists(), "nothing is made for a run that cannot start"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"[run\n", "the config file run.toml is not TOML"),
        (b"\xff\xfe", "the config file run.toml is not TOML"),
        (b"[limits]\nstep_second = 3\n", "limits.step_second: Extra inputs are not permitted"),
        (b"[limits]\nstep_seconds = -1\n", "limits.step_seconds: Input should be greater than 0"),
        (b"[gym]\npackages = ['not.there']\n", "cannot import 'not.there'"),
        (b"[gym]\ntask_kwargs = 3\n", "gym.task_kwargs"),
        (FAULTY + b"options = {refuse = 'no licence'}\n", "cannot be made: RuntimeError: no licence"),
        (FAULTY + b"options = {speed = 3}\n", "does not take these options"),
        (b"[policy]\nname = 'llm'\n", "needs [llm] options"),
    ],
)
def test_a_mistake_in_the_config(
    text: bytes, complaint: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "run.toml").write_bytes(text)
    code, err = harness(monkeypatch, capsys, "run", *GYM)
    assert code == 2, err
    lines = err.strip().splitlines()
    assert complaint in lines[0]
    assert len(lines) == 2 and lines[1].startswith("   fix: "), err


def test_a_config_that_is_not_there(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("missing.toml", "."):
        code, err = harness(monkeypatch, capsys, "run", "--bench", "miniwob", "--config", path)
        assert code == 2
        assert len(err.strip().splitlines()) == 2, err


def test_no_browser_is_not_ready(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "run.toml").write_text(GOOD + "[browser]\nexecutable_path = '/nowhere/chromium'\n")
    code, err = harness(monkeypatch, capsys, "run", *GYM)
    assert code == 3
    assert "no executable browser at '/nowhere/chromium'" in err
    assert len(err.strip().splitlines()) == 2


@pytest.mark.browser
def test_a_directory_with_another_run_and_one_in_use(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (
        "run",
        "--bench",
        "miniwob",
        "--tasks",
        "click-test",
        "--policy",
        "noop",
        "--max-steps",
        "1",
        "--run-dir",
        "made",
    )
    code, err = harness(monkeypatch, capsys, *arguments)
    assert (code, err) == (0, "")
    stored = {path: path.read_bytes() for path in (here / "made").rglob("*") if path.is_file()}

    for other in (("--tasks", "click-test-2"), ("--policy", "random"), ("--seeds", "2"), ("--max-steps", "3")):
        code, err = harness(monkeypatch, capsys, *arguments, *other)
        assert code == 2, other
        lines = err.strip().splitlines()
        assert "made holds a run with other settings: " in lines[0]
        assert len(lines) == 2 and "choose another --run-dir" in lines[1]
    assert {path: path.read_bytes() for path in (here / "made").rglob("*") if path.is_file()} == stored

    lock = files.lock_file(here / "made" / "lock")
    try:
        code, err = harness(monkeypatch, capsys, *arguments)
    finally:
        os.close(lock)
    assert code == 3
    assert "is writing to made" in err
    assert len(err.strip().splitlines()) == 2

    (here / "made" / "manifest.json").write_text("{")
    code, err = harness(monkeypatch, capsys, *arguments)
    assert code == 2
    assert len(err.strip().splitlines()) == 2
    assert "manifest.json is damaged" in err


def test_a_run_directory_that_is_a_file(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "made").write_text("mine")
    code, err = harness(monkeypatch, capsys, "run", *GYM)
    assert code in (2, 3)
    assert len(err.strip().splitlines()) == 2, err
    assert (here / "made").read_text() == "mine"
