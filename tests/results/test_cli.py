"""`harness report` and `harness show` as a user meets them: output, files, errors of one line, hostile pages."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from harness.cli.report import print_results, report
from harness.cli.show import select_steps, show
from harness.errors import UsageError
from harness.types import Action, ActionError, Observation, Score
from results.lookup import find_episode
from results.reader import EPISODE, EPISODES, RunReader
from results.store import RunStore
from results.text import one_line, printable
from tests.results.factory import episode, make_run, manifest, plan, step, task

HOSTILE = (
    "[bold red]owned[/] [link=http://evil]x[/link] \x1b[2J\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://evil\x1b\\link "
    "\x9b5A \u202egnp.exe\u202c \x00\x08\x7f a\rb"
)

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(report)
app.command()(show)


def call(*arguments: object, width: int = 200) -> str:
    """Output of a command that must succeed. An expected error is raised as it is: `harness.cli.main` prints it."""
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(app, [str(a) for a in arguments])
    if result.exception is not None:
        raise result.exception
    return str(result.stdout)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    root = tmp_path / "runs"
    specs = plan([task(f"t{i}") for i in range(4)])
    make_run(root / "one", specs, ["success", "failure", "error", None], run_id="one")
    make_run(root / "two", specs, ["success", "success", "success", "success"], run_id="two")
    return root


def test_report_of_one_run(runs: Path) -> None:
    text = call("report", "one", "--runs", runs)
    assert "Success 25.0% of 4 planned episodes" in text
    assert "! The run is not finished: 3 of 4 planned episodes." in text
    assert "because" not in text, "a summary, not a log"


def test_report_of_two_runs(runs: Path) -> None:
    assert "Paired comparison" in call("report", runs / "one", "two", "--runs", runs)


@pytest.mark.parametrize("form", ["md", "csv", "json", "latex"])
def test_formats_go_to_stdout_or_a_file(runs: Path, tmp_path: Path, form: str) -> None:
    text = call("report", "one", "--runs", runs, "--format", form)
    assert call("report", "one", "--runs", runs, "-f", form, "-o", tmp_path / "out") == ""
    assert (tmp_path / "out").read_text() == text
    if form == "json":
        assert json.loads(text)["title"] == "webarena: run one"


def test_report_twice_is_the_same(runs: Path) -> None:
    assert call("report", "two", "--runs", runs, "-f", "md") == call("report", "two", "--runs", runs, "-f", "md")


def test_expected_errors_are_one_line(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run 'nope'"):
        call("report", "nope", "--runs", runs)
    (runs / "one" / "plan.jsonl.gz").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"plan.jsonl.gz: damaged"):
        call("report", "one", "--runs", runs)


def test_print_results_is_short(runs: Path) -> None:
    out = io.StringIO()
    print_results(Console(file=out, width=120), runs / "one")
    assert "Results by site" in out.getvalue()
    assert "Settings" not in out.getvalue()
    assert "Model use" not in out.getvalue()


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """A run of one episode of three steps with everything that `show` can print."""
    specs = plan([task("51", template="9")])
    trees = ["RootWebArea 'A'\n\t[1] link 'Home'\n\t[2] button 'Go'", "RootWebArea 'A'\n\t[1] link 'Home'\n\t[3] alert 'Saved'"]
    first, second = (
        step(i).model_copy(update={"observation": Observation(url=f"http://shop.test/{i}", title=f"Page {i}", axtree=tree)})
        for i, tree in enumerate(trees)
    )
    third = step(2, action=Action(name="invalid", error="two calls in one block")).model_copy(
        update={"observation": Observation(url="u", axtree=trees[1], slow=True, truncated=True, dropped_nodes=7)}
    )
    verdict = {
        "evidence": {"judge reply": "line 1\nline 2", "pages": ["a", 1]},
        "other_scores": (Score(profile="errata", version="2", status="success", reason="task 51 is wrong"),),
    }
    with RunStore.create(tmp_path / "runs" / "r", manifest(specs), specs) as store:
        error = ActionError(kind="stale", message="bid 2 is gone")
        steps = [first.model_copy(update={"action_error": error}), second, third]
        store.record(episode(specs[0], "failure", steps=steps, verdict=verdict), {})
    return tmp_path / "runs"


def test_show_tells_the_whole_story(shown: Path) -> None:
    text = call("show", "r", "51", "--runs", shown)
    for part in (
        "goal: goal of 51",
        "step 0   http://shop.test/0   Page 0",
        "[2] button 'Go'",
        "I will click.",
        'action: click("12")',
        "error (stale): bid 2 is gone",
        "-   [2] button 'Go'",
        "+   [3] alert 'Saved'",
        "(page unchanged)",
        "! page still busy",
        "! page cut: 7 nodes dropped",
        "no action: two calls in one block",
        "answer: 42",
        "failure   reward 0   by webarena 0.14.3",
        "errata 2: success: task 51 is wrong",
        "line 2",
    ):
        assert part in text, part


def test_show_some_steps(shown: Path) -> None:
    text = call("show", "r", "51", "--runs", shown, "--steps", "1")
    assert "step 1 " in text
    assert "step 0 " not in text and "step 2 " not in text
    assert "+   [3] alert 'Saved'" in text, "what changed since the step before, though that is not shown"


@pytest.mark.parametrize(
    ("choice", "positions"), [("", [0, 1, 2, 3]), ("2", [2]), ("1-2", [1, 2]), ("-1", [3]), ("0-3", [0, 1, 2, 3])]
)
def test_step_choices(choice: str, positions: list[int]) -> None:
    assert list(select_steps(4, choice)) == positions


@pytest.mark.parametrize("choice", ["4", "-5", "2-1", "x", "1-9", "1,2", "--"])
def test_step_choices_that_do_not_exist(choice: str) -> None:
    with pytest.raises(UsageError, match="no steps"):
        select_steps(4, choice)


def test_hostile_pages_and_replies_are_printed_literally(tmp_path: Path) -> None:
    specs = plan([task("1", goal=HOSTILE)])
    page = Observation(url=HOSTILE, title=HOSTILE, axtree=HOSTILE)
    evil = step(
        0, action=Action(name="click", raw=HOSTILE), text=HOSTILE + "\n```", error=ActionError(kind="other", message=HOSTILE)
    ).model_copy(update={"observation": page})
    verdict = {"reason": HOSTILE, "evidence": {HOSTILE: HOSTILE, "nested": {"a": [HOSTILE]}}}
    with RunStore.create(tmp_path / "r", manifest(specs), specs) as store:
        store.record(episode(specs[0], "failure", steps=[evil], verdict=verdict, trajectory={"answer": HOSTILE}), {})
    text = call("show", tmp_path / "r", "1", "--full", width=2000)
    assert text.count("[bold red]owned[/] [link=http://evil]x[/link]") >= 8, "markup is text"
    assert not set(text) & set("\x1b\x9b\x00\x08\x7f\r\u202e\u202c\x07")
    assert "0;title" not in text.replace(r"\u001b]0;title\u0007", ""), "except spelled out in the JSON of nested evidence"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("tab\tnl\n", "tab\tnl\n"),
        ("\x1b", ""),
        ("unfinished \x1b]0;never ends", "unfinished "),
        ("中文 🦉 é", "中文 🦉 é"),
        ("\ud800x", "x"),
    ],
)
def test_printable(text: str, safe: str) -> None:
    assert printable(text) == safe


def test_one_line_is_cut() -> None:
    assert one_line("a\n b", 10) == "a b"
    assert one_line("x" * 20, 10) == "x" * 9 + "…"


def test_episodes_are_found_by_what_one_remembers(tmp_path: Path) -> None:
    specs = plan([task("click-test"), task("click-test-2"), task("drag")], repeats=2)
    make_run(tmp_path / "r", specs, ["success"] * 6)
    with RunStore.resume(tmp_path / "r", manifest(specs)) as store:
        store.record(episode(store.next_attempt(specs[2])), {})
    run = RunReader.open(tmp_path / "r")
    assert find_episode(run, "drag__A__r0__a0") == "drag__A__r0__a0"
    assert find_episode(run, "webarena/drag/A/0") == "drag__A__r0__a1", "a key means its last attempt"
    assert find_episode(run, "drag__A__r1") == "drag__A__r1__a0"
    with pytest.raises(UsageError, match="2 episodes match 'drag'"):
        find_episode(run, "drag")
    with pytest.raises(UsageError, match="2 episodes match 'click-test'"):
        find_episode(run, "click-test")
    with pytest.raises(UsageError, match="no episode 'clik-test'") as missing:
        find_episode(run, "clik-test")
    assert "click-test" in missing.value.fix


def test_a_broken_episode_is_named(shown: Path) -> None:
    (shown / "r" / EPISODES / "51__A__r0__a0" / EPISODE).write_bytes(b"x")
    with pytest.raises(UsageError, match="cannot read episode 51__A__r0__a0: damaged"):
        call("show", "r", "51__A__r0__a0", "--runs", shown)


@pytest.mark.parametrize("command", ["report", "show"])
def test_help_has_examples(command: str) -> None:
    text = call(command, "--help", width=120)
    assert f"harness {command} runs/miniwob-heuristic" in text
