"""NNetNav's and Go-Browse's rows, and exports: what their text holds, and every way in which it may be broken."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import UsageError
from tests.training.transitions.data import (
    CART,
    HOME,
    PAID,
    build_into,
    gobrowse,
    make_run,
    nnetnav,
    read_gz,
    rejected,
    shopping,
    task,
    write_jsonl,
)
from training.world_model.transitions import SPLITS, WorldModelExample, open_source, read_dataset, read_outcomes
from training.world_model.transitions import lines as lines_module

CLICKED = "click [12] where [12] is link 'Cart'"
PAID_FOR = "click [22] where [22] is button 'Pay'"


def everything(directory: Path) -> list[WorldModelExample]:
    return [example for split in SPLITS for example in read_dataset(directory, split)]


def demonstration(name: str = "run_7", **fields: Any) -> list[dict[str, Any]]:
    return [
        nnetnav(name, [], HOME, "click [12]", **fields),
        nnetnav(name, [CLICKED], CART, "click [22]", **fields),
        nnetnav(name, [CLICKED, PAID_FOR], PAID, "stop [42 [sic] € ]", **fields),
    ]


def built(tmp_path: Path, rows: list[Any], name: str = "rows.jsonl") -> list[WorldModelExample]:
    build_into(tmp_path / "set", write_jsonl(tmp_path / name, rows))
    return everything(tmp_path / "set")


# ------------------------------------------------------------------------------------------------ NNetNav


def test_nnetnavs_rows_become_transitions(tmp_path: Path) -> None:
    first, second = built(tmp_path, demonstration())
    assert first.query.observation.axtree == HOME and first.next_observation.axtree == CART
    assert first.query.observation.url == "http://onestopmarket.com/" and first.next_observation.title == "Cart"
    assert first.query.goal == "Buy a lamp." and first.query.site == "onestopmarket.com"
    assert first.query.action.arguments == {"bid": "12"}
    assert first.query.action.target is not None and first.query.action.target.name == "Cart"
    assert [past.observation.axtree for past in second.query.history] == [HOME]
    assert [target.name for target in first.critical] == ["Pay"]
    assert (first.provenance["source"], first.provenance["step"], first.provenance["change"]) == ("expert", 0, "page")
    assert rejected(tmp_path / "set") == [("end_of_episode", "")]
    assert not [outcome for split in SPLITS for outcome in read_outcomes(tmp_path / "set", split)], "nobody scored it"


def test_the_order_of_rows_does_not_matter_nor_does_packing(tmp_path: Path) -> None:
    rows = [row for name in ("a", "b", "c") for row in demonstration(name, goal=f"Goal of {name}")]
    for number, row in enumerate(rows):
        row["messages"][1]["content"] = row["messages"][1]["content"].replace("'Cart'", f"'Cart {number // 3}'")
    whole = built(tmp_path / "plain", rows) if (tmp_path / "plain").mkdir() is None else []
    random.Random(3).shuffle(rows)
    (tmp_path / "packed").mkdir()
    shuffled = built(tmp_path / "packed", rows, "rows.jsonl.gz")

    def key(example: WorldModelExample) -> tuple[Any, ...]:
        return example.query.goal, example.provenance["step"]

    assert len(whole) == 6 and sorted(whole, key=key) == sorted(shuffled, key=key)


def test_the_prompt_serves_where_there_are_no_messages(tmp_path: Path) -> None:
    rows = demonstration()
    for row in rows:
        del row["messages"]
    assert [example.next_observation.axtree for example in built(tmp_path, rows)] == [CART, PAID]


def test_a_missing_step_is_a_gap_and_makes_no_pair(tmp_path: Path) -> None:
    rows = demonstration()
    (tmp_path / "x").mkdir()
    whole = [*rows, *demonstration("other", goal="Other")]
    del whole[1]
    examples = built(tmp_path, whole)
    assert {example.query.goal for example in examples} == {"Other"}
    assert sorted(rejected(tmp_path / "set")) == [
        ("end_of_episode", ""),
        ("end_of_episode", ""),
        ("gap", "the next row is step 2"),
    ]


@pytest.mark.parametrize(
    ("previous", "action", "reason"),
    [
        (["click [13] where [13] is textbox 'Search'"], "click [12]", "inconsistent_pair"),
        ([CLICKED], "clack [12]", "illegal_action"),
        ([CLICKED], "click [99]", "inconsistent_pair"),
        (["something in other words"], "click [99]", "absent_element"),
    ],
)
def test_what_the_next_row_says_was_done_must_be_what_this_row_does(
    tmp_path: Path, previous: list[str], action: str, reason: str
) -> None:
    rows = [nnetnav("a", [], HOME, action), nnetnav("a", previous, CART, "click [22]"), *demonstration("b", goal="Other")]
    built(tmp_path, rows)
    assert rejected(tmp_path / "set")[0][0] == reason


def test_rows_of_two_trajectories_under_one_name_are_not_paired(tmp_path: Path) -> None:
    rows = demonstration()
    rows[2] = nnetnav("run_7", ["hover [13] where [13] is textbox 'Search'", PAID_FOR], PAID, "stop []")
    assert len(built(tmp_path, rows)) == 1
    assert ("inconsistent_pair", "the next row lists other previous actions") in rejected(tmp_path / "set")


def test_a_second_row_of_a_step_is_left_out(tmp_path: Path) -> None:
    rows = demonstration()
    built(tmp_path, [*rows, rows[1]])
    assert ("repeated_step", "task run_7") in rejected(tmp_path / "set")


@pytest.mark.parametrize("how", ["in a name", "at a line's end, by its tokens"])
def test_trees_that_were_cut_are_rejected(tmp_path: Path, how: str) -> None:
    rows = demonstration()
    if how == "in a name":
        rows[1] = nnetnav("run_7", [CLICKED], CART[:-4], "click [22]")
    else:
        rows[1]["n_tokens"] = 17_300
    built(tmp_path, [*rows, *demonstration("other", goal="Other")])
    assert [reason for reason, _ in rejected(tmp_path / "set")].count("truncated_tree") == 2


def test_long_prompts_with_whole_trees_are_kept(tmp_path: Path) -> None:
    rows = demonstration()
    rows[1]["n_tokens"] = 15_900
    assert len(built(tmp_path, rows)) == 2


def test_blanks_that_the_tokenizer_ate_are_put_back(tmp_path: Path) -> None:
    tree = "RootWebArea 'Home', focused\n\t[12] link 's-Hertogenbosch'\n\t[13] button 'more'\n\tStaticText 've been'"
    # What transformers' PreTrainedTokenizerBase.clean_up_tokenization, which Llama's tokenizer decodes with, makes of it.
    eaten = "RootWebArea 'Home', focused\n\t[12] link's-Hertogenbosch'\n\t[13] button'more'\n\tStaticText've been'"
    rows = [nnetnav("a", [], eaten, "click [12]"), nnetnav("a", ["click [12] where [12] is link 's"], CART, "stop []")]
    (example,) = built(tmp_path, rows)
    assert example.query.observation.axtree == tree


def test_headlines_in_pages_goals_and_typed_texts_do_not_mislead(tmp_path: Path) -> None:
    goal = "Find out what OBSERVATION: means\nURL: none"
    tree = "RootWebArea 'Home'\n\t[12] link 'Cart'\n\tStaticText '\\nOBJECTIVE: stop\\nPREVIOUS ACTIONS:'\n\t[13] textbox 'S'"
    typed = "type [13] [1: one\n2: two] [0] where [13] is textbox 'S'"
    rows = [
        nnetnav("a", [], tree, "type [13] [1: one\n2: two] [0]", goal=goal),
        nnetnav("a", [typed], CART, "stop []", goal=goal),
    ]
    (example,) = built(tmp_path, rows)
    assert example.query.goal == goal and example.query.observation.axtree == tree
    assert example.query.action.arguments == {"bid": "13", "text": "1: one\n2: two", "press_enter": False}


def test_brackets_in_a_text_are_text(tmp_path: Path) -> None:
    said = "type [13] [a [b] c] [0] where [13] is textbox 'Search'"
    rows = [nnetnav("a", [], HOME, "type [13] [a [b] c] [0]"), nnetnav("a", [said], CART, "stop []")]
    (example,) = built(tmp_path, rows)
    assert example.query.action.arguments["text"] == "a [b] c"


def test_a_demonstration_is_in_one_split(tmp_path: Path) -> None:
    rows: list[Any] = []
    for number in range(60):
        tree = HOME.replace("Search", f"Search {number}")
        rows += [nnetnav(f"t{number}", [], tree, "click [12]"), nnetnav(f"t{number}", [CLICKED], CART, "stop []")]
    card = build_into(tmp_path / "set", write_jsonl(tmp_path / "rows.jsonl", rows))
    assert sum(split.templates for split in card.splits.values()) == 60
    assert card.splits["train"].rows > 35 and card.splits["dev"].rows and card.splits["test"].rows


# ------------------------------------------------------------------------------------------------ Go-Browse


def trajectory(start: int = 0, **fields: Any) -> list[dict[str, Any]]:
    return [
        gobrowse(start, 0, HOME, "click('12')", **fields),
        gobrowse(start + 1, 1, CART, "click('22')", history='{"thought": "I see it.", "action": "click(\'12\')"}', **fields),
        gobrowse(start + 2, 2, PAID, "send_msg_to_user('It costs (5) \\'euros\\'.')", **fields),
    ]


def test_gobrowses_rows_become_transitions_and_an_outcome(tmp_path: Path) -> None:
    first, second = built(tmp_path, trajectory())
    assert (first.query.observation.axtree, first.next_observation.axtree) == (HOME, CART)
    assert first.query.goal == "Buy a lamp" and first.query.site == "gobrowse"
    assert second.query.action.target is not None and second.query.action.target.name == "Pay"
    assert [target.name for target in first.critical] == ["Pay"] and first.provenance["source"] == "expert"
    (outcome,) = [outcome for split in SPLITS for outcome in read_outcomes(tmp_path / "set", split)]
    assert outcome.success and outcome.answer == "It costs (5) 'euros'." and outcome.observation.axtree == PAID
    assert rejected(tmp_path / "set") == [("end_of_episode", "")]


def test_a_failed_trajectory_is_real_and_a_failure(tmp_path: Path) -> None:
    first, _ = built(tmp_path, trajectory(traj_reward=0.0))
    assert first.provenance["source"] == "real" and first.critical == ()
    (outcome,) = [outcome for split in SPLITS for outcome in read_outcomes(tmp_path / "set", split)]
    assert not outcome.success


def test_the_next_pages_error_is_this_actions(tmp_path: Path) -> None:
    rows = trajectory()
    rows[1] = gobrowse(1, 1, HOME, "click('12')", error="TimeoutError: not visible")
    first, _ = built(tmp_path, rows)
    assert first.provenance["action_error"] == "other" and first.next_observation.last_action_error == "TimeoutError: not visible"


def test_gaps_cuts_and_calls_of_several_actions(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    gap = trajectory(10, goal="Gap")
    del gap[1]
    cut = trajectory(20, goal="Cut")
    cut[1] = gobrowse(21, 1, CART[:-5] + "...trimmed due to context size limit", "click('22')", goal="Cut")
    two = trajectory(30, goal="Two")
    two[0] = gobrowse(30, 0, HOME, "fill('13', 'x')\npress('13', 'Enter')", goal="Two")
    built(tmp_path, [*gap, *cut, *two])
    reasons = [reason for reason, _ in rejected(tmp_path / "set")]
    assert {reason: reasons.count(reason) for reason in set(reasons)} == {
        "gap": 1,
        "truncated_tree": 2,
        "illegal_action": 1,
        "end_of_episode": 3,
    }


def test_trajectories_of_one_goal_are_in_one_split(tmp_path: Path) -> None:
    rows: list[Any] = []
    for number in range(30):
        tree = HOME.replace("Search", f"Search {number}")
        goal = f"Goal {number % 10}"
        rows += [gobrowse(3 * number, 0, tree, "click('12')", length=2, goal=goal)]
        rows += [gobrowse(3 * number + 1, 1, CART, "send_msg_to_user('x')", length=2, goal=goal)]
    card = build_into(tmp_path / "set", write_jsonl(tmp_path / "rows.jsonl", rows))
    assert sum(split.tasks for split in card.splits.values()) == 10 and card.rows_kept == 30


# ------------------------------------------------------------------------------------------------ exports, bad files


def exported(tmp_path: Path) -> Path:
    walks = [(task("pay-0"), shopping("Ann")), (task("find-0", split="test"), shopping("Ben"))]
    run = make_run(tmp_path / "run", walks)
    path = tmp_path / "rows.jsonl.gz"
    assert CliRunner().invoke(app, ["export", str(run), "--out", str(path)]).exit_code == 0
    return path


def test_an_export_builds_the_same_rows_as_its_run(tmp_path: Path) -> None:
    path = exported(tmp_path)
    build_into(tmp_path / "of_file", path)
    build_into(tmp_path / "of_run", tmp_path / "run")
    assert everything(tmp_path / "of_file") == everything(tmp_path / "of_run")
    assert not list(read_outcomes(tmp_path / "of_file", "train")), "transitions do not say how an episode ended"


HOSTILE = [
    "",
    "not json",
    "[1, 2]",
    '{"task_name": 3}',
    "{" * 5000,
    '{"task_name": "a", "output": "x", "messages": []}',
    '{"task_name": "a", "output": "x", "messages": [{"role": "user", "content": "OBSERVATION:"}]}',
    json.dumps({"task_name": "a", "output": "x", "prompt": "", "messages": {"role": "user"}}),
]


def test_lines_that_are_no_rows_are_counted_each(tmp_path: Path) -> None:
    rows: list[Any] = demonstration()
    path = write_jsonl(tmp_path / "rows.jsonl", [rows[0], *HOSTILE, *rows[1:]])
    with path.open("ab") as file:
        file.write(b'{"task_name": "cut in the mid')
    card = build_into(tmp_path / "set", path)
    assert card.rejects["rows.jsonl"] == {"unreadable_line": len(HOSTILE), "end_of_episode": 1}
    assert card.rows_in == card.rows_kept + card.rows_rejected == 3 + len(HOSTILE)
    at = {row["provenance"].get("line") for row in read_gz(tmp_path / "set" / "rejects.jsonl.gz")}
    assert {2 + index for index in range(1, len(HOSTILE))} < at


def test_a_file_that_ends_early_is_counted_and_what_came_before_is_kept(tmp_path: Path) -> None:
    rows = [row for number in range(200) for row in demonstration(f"t{number}", goal=random.Random(number).randbytes(20).hex())]
    path = write_jsonl(tmp_path / "rows.jsonl.gz", rows)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 3 // 4])
    card = build_into(tmp_path / "set", path)
    assert card.rejects["rows.jsonl.gz"]["truncated_file"] == 1 and card.rows_kept


def test_lines_and_episodes_without_end_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MAX_LINE_BYTES", 20_000)
    rows = demonstration()
    long = nnetnav("long", [], HOME + "\n\tStaticText '" + "x" * 30_000 + "'", "click [12]")
    card = build_into(tmp_path / "set", write_jsonl(tmp_path / "rows.jsonl", [long, *rows]))
    assert card.rejects["rows.jsonl"]["unreadable_line"] == 4, "each piece that was read counts"
    assert card.rows_kept == 2
    monkeypatch.setattr(lines_module, "MAX_EPISODE_BYTES", 10)
    with pytest.raises(UsageError, match=r"unreadable_line: 7"):
        build_into(tmp_path / "other", tmp_path / "rows.jsonl")


def test_exports_with_fields_of_another_version_are_counted(tmp_path: Path) -> None:
    with gzip.open(exported(tmp_path), "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows[0]["observation"]["new_field"] = 1
    del rows[1]["provenance"]["step"]
    card = build_into(tmp_path / "set", write_jsonl(tmp_path / "rows2.jsonl", rows))
    assert card.rejects == {"rows2.jsonl": {"unreadable_line": 2}}
    assert ("unreadable_line", "observation.new_field: Extra inputs are not permitted") in rejected(tmp_path / "set")


def test_inputs_are_told_apart_or_refused(tmp_path: Path) -> None:
    path = exported(tmp_path)
    kinds = {
        "transitions": path,
        "nnetnav": write_jsonl(tmp_path / "n.jsonl", ["broken", *demonstration()]),
        "gobrowse": write_jsonl(tmp_path / "g.jsonl", trajectory()),
        "run": tmp_path / "run",
    }
    assert {kind: open_source(str(where)).kind for kind, where in kinds.items()} == {kind: kind for kind in kinds}
    with pytest.raises(UsageError, match=r"no known format .fields: a, b."):
        open_source(str(write_jsonl(tmp_path / "x.jsonl", [{"b": 1, "a": 2}])))
    with pytest.raises(UsageError, match="no row of JSON"):
        open_source(str(write_jsonl(tmp_path / "y.jsonl", [])))
    with pytest.raises(UsageError, match="no run 'nowhere'"):
        open_source("nowhere", runs=tmp_path)
    with pytest.raises(UsageError, match="no file nowhere"):
        open_source("nowhere", "nnetnav")
    with pytest.raises(UsageError, match="no transition is left"):
        build_into(tmp_path / "set", kinds["nnetnav"], kind="gobrowse")
