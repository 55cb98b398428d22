"""`harness data`: what a person types, and what they read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import UsageError
from tests.training.transitions.data import DONE, HOME, PAY, make_run, page, read_gz, shopping, task
from training.world_model.transitions import read_card


def data(*words: object) -> Result:
    return CliRunner().invoke(app, ["data", *map(str, words)])


@pytest.fixture
def built(tmp_path: Path) -> Path:
    walks = [(task("pay-0"), shopping("Ann")), (task("find-0", split="test", goal="Find it"), shopping("Ben"))]
    run = make_run(tmp_path / "run", walks)
    result = data("build", run, "--out", tmp_path / "set")
    assert result.exit_code == 0, result.output
    assert "6 of 6 rows kept, 0 rejected" in result.output and "dev is empty" in result.output
    return tmp_path / "set"


def test_build_names_its_command_on_the_card(built: Path) -> None:
    card = read_card(built)
    assert card.command.startswith("harness ") and card.versions["dynaweb-harness"]
    (facts,) = card.inputs
    assert (facts["kind"], facts["rows"], facts["policy"]) == ("run", 6, "oracle 1")
    assert sorted(path.name for path in built.iterdir()) == [
        "card.json", "card.md", "dev.jsonl.gz", "held_out_site.jsonl.gz", "rejects.jsonl.gz", "test.jsonl.gz", "train.jsonl.gz",
    ]  # fmt: skip
    assert read_gz(built / "dev.jsonl.gz") == []


def test_stats_prints_the_card_and_checks(built: Path) -> None:
    plain = data("stats", built)
    assert plain.exit_code == 0 and "| train | 3 | 1 | 1 | 1 | 1 | 0 |  |" in plain.output
    assert plain.output.strip() == (built / "card.md").read_text().strip()
    assert "No leaks" in data("stats", built, "--check").output


def test_show_says_what_happened_in_words(built: Path) -> None:
    shown = data("show", built, "--split", "test", "--n", 1).output
    assert "Find it" in shown and "click(\"12\")   link 'Cart of Ben'" in shown
    assert 'A heading "Your cart" appeared.' in shown and "later    button 'Pay'" in shown
    assert data("show", built, "--skip", 2).output.count("goal") == 1
    assert "no such row in train" in data("show", built, "--episode", "nobody").output
    assert data("show", built, "--episode", "pay-0").output.count("goal") == 3


def test_show_strips_what_could_steer_a_terminal(tmp_path: Path) -> None:
    hostile = page(HOME.replace("Home", "\x1b]0;owned\x07"), "http://x.test/\x1b[2J")
    walk = [(hostile, DONE), (hostile, DONE)]
    run = make_run(tmp_path / "run", [(task("pay-0", goal="\x1b[31mred [/bold] [link]"), walk)])
    data("build", run, "--out", tmp_path / "set")
    shown = data("show", tmp_path / "set").output
    assert "\x1b" not in shown and "[31mred [/bold] [link]" in shown


def test_names_from_data_cannot_break_the_card(tmp_path: Path) -> None:
    walks = [(task("pay-0", site="a`|\n# b"), shopping("Ann"))]
    data("build", make_run(tmp_path / "run", walks), "--out", tmp_path / "set")
    assert "| `a'/ # b` | 3 |" in (tmp_path / "set" / "card.md").read_text()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("build", "nowhere", "--out", "x"), "no run 'nowhere'"),
        (("stats", "nowhere"), "no data set in nowhere"),
        (("show", "nowhere"), "no data set in nowhere"),
    ],
)
def test_what_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = data(*words)
    assert isinstance(result.exception, UsageError) and why in str(result.exception)


def test_no_share_of_noops_beyond_all(tmp_path: Path) -> None:
    assert data("build", tmp_path, "--out", "x", "--noop-share", 1.5).exit_code == 2


def test_a_damaged_card_is_named(built: Path) -> None:
    (built / "card.json").write_text("{}")
    with pytest.raises(UsageError, match=r"card\.json is damaged"):
        read_card(built)


def test_a_site_can_be_held_out(tmp_path: Path) -> None:
    strayed = [(seen.model_copy(update={"url": "http://wiki.localhost:81/"}), PAY) for seen, _ in shopping("Ann")[1:3]]
    walks = [(task("pay-0"), [*shopping("Ann")[:1], *strayed]), (task("read-0", site="wiki"), shopping("Ben"))]
    result = data("build", make_run(tmp_path / "run", walks), "--held-out-site", "wiki", "--out", tmp_path / "set")
    card = read_card(tmp_path / "set") if (tmp_path / "set").exists() else None
    assert card is not None, result.output
    assert (card.splits["train"].rows, card.splits["held_out_site"].rows) == (0, 3)
    assert card.rejects == {"run": {"held_out_page": 2}}
