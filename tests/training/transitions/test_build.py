"""A data set from runs: what goes in comes out or is rejected with a reason; nothing leaks, nothing vanishes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.errors import NotReadyError, UsageError
from harness.types import INVALID_ACTION, Action, ActionError, Step
from results.files import gzipped, replace_file
from results.reader import RunReader
from tests.training.transitions.data import (
    CART,
    DONE,
    HOME,
    PAID,
    PAY,
    TO_CART,
    acted,
    bids,
    build_into,
    make_run,
    page,
    read_gz,
    rejected,
    shopping,
    task,
)
from training.world_model.transitions import (
    HISTORY_PAGES,
    SPLITS,
    WorldModelExample,
    check_dataset,
    read_card,
    read_dataset,
    read_episodes,
    read_outcomes,
)
from training.world_model.transitions.raw import REASONS


def examples(directory: Path) -> dict[str, list[WorldModelExample]]:
    return {split: list(read_dataset(directory, split)) for split in SPLITS}


def test_an_experts_rollout_comes_back_whole(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))])
    build_into(tmp_path / "set", run)
    found = examples(tmp_path / "set")
    assert [len(found[split]) for split in SPLITS] == [3, 0, 0, 0]
    first, second, last = found["train"]
    walk = shopping("Ann")
    assert (first.query.observation, first.next_observation) == (walk[0][0], walk[1][0])
    assert first.query.goal == "Pay" and first.query.site == "shop"
    assert first.query.action.target is not None and first.query.action.target.name == "Cart of Ann"
    assert [past.action.name for past in last.query.history] == ["click", "click"]
    assert [past.observation for past in last.query.history] == [walk[0][0], walk[1][0]]
    assert [target.name for target in first.critical] == ["Pay"] and second.critical == ()
    assert last.provenance["change"] == "none" and first.provenance["change"] == "page"
    assert (last.provenance["source"], last.provenance["split"], last.provenance["step"]) == ("expert", "train", 2)


def test_only_an_expert_tells_what_is_critical(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))], policy="random")
    build_into(tmp_path / "set", run)
    assert {example.critical for example in examples(tmp_path / "set")["train"]} == {()}


def test_outcomes_are_of_scored_episodes_only(tmp_path: Path) -> None:
    won = make_run(tmp_path / "won", [(task("pay-0"), shopping("Ann"))])
    lost = make_run(tmp_path / "lost", [(task("pay-1"), shopping("Ben"))], policy="random", status="failure")
    broken = make_run(tmp_path / "broken", [(task("pay-2"), shopping("Cy"))], policy="random", status="error")
    card = build_into(tmp_path / "set", won, lost, broken)
    outcomes = list(read_outcomes(tmp_path / "set", "train"))
    assert [outcome.success for outcome in outcomes] == [True, False]
    assert outcomes[0].observation == shopping("Ann")[-1][0] and outcomes[0].answer == "Done."
    assert [past.action.name for past in outcomes[0].history] == ["click", "click", "send_msg_to_user"]
    assert card.splits["train"].rows == 9, "transitions of a broken episode are real"


def test_long_histories_keep_pages_only_where_they_are_near(tmp_path: Path) -> None:
    count = HISTORY_PAGES + 5
    walk = [(page(HOME.replace("Search", f"Search {n}"), f"http://shop.test/{n}"), TO_CART) for n in range(count + 1)]
    build_into(tmp_path / "set", make_run(tmp_path / "run", [(task("pay-0"), walk)]))
    last = examples(tmp_path / "set")["train"][-1]
    trees = [bool(past.observation.axtree) for past in last.query.history]
    assert trees == [False] * (count - 1 - HISTORY_PAGES) + [True] * HISTORY_PAGES
    assert last.query.history[0].observation.url == "http://shop.test/0" and last.query.history[0].action.name == "click"


def stained(kind: str) -> Step:
    """A first step of a kind that must be rejected, or kept for its error."""
    home, foreign = page(HOME), page("- link 'Cart'\n- button 'Pay'")
    unreadable = Action(name=INVALID_ACTION, raw="klick", error="unknown_action: klick")
    return {
        "illegal_action": acted(0, home, unreadable),
        "unknown_action": acted(0, home, Action(name="klick", arguments={"bid": "12"})),
        "truncated_tree": acted(0, page(HOME, truncated=True, dropped_nodes=3), TO_CART),
        "foreign_tree": acted(0, foreign, DONE),
        "absent_element": acted(0, home, Action(name="click", arguments={"bid": "99"})),
        "left_the_sites": acted(0, home, TO_CART, metadata={"left_the_sites": True}),
        "slow_page": acted(0, page(HOME, slow=True), TO_CART),
        "missing_observation": acted(0, page(HOME).model_copy(update={"axtree": " "}), DONE),
        "failed": acted(0, home, TO_CART, ActionError(kind="covered", message="something covers it")),
        "failed_on_nothing": acted(
            0, home, Action(name="click", arguments={"bid": "99"}), ActionError(kind="stale", message="no element 99")
        ),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("illegal_action", "illegal_action"),
        ("unknown_action", "illegal_action"),
        ("truncated_tree", "truncated_tree"),
        ("foreign_tree", "foreign_tree"),
        ("absent_element", "absent_element"),
        ("left_the_sites", "left_the_sites"),
        ("slow_page", "slow_page"),
        ("missing_observation", "missing_observation"),
        ("failed", ""),
        ("failed_on_nothing", ""),
    ],
)
def test_every_stain_has_its_reason_and_failed_actions_stay(tmp_path: Path, kind: str, reason: str) -> None:
    run = make_run(
        tmp_path / "run",
        [(task("pay-0"), shopping("Ann"))],
        alter=lambda step: stained(kind) if step.index == 0 else step,
    )
    card = build_into(tmp_path / "set", run)
    assert [found for found, _ in rejected(tmp_path / "set")] == ([reason] if reason else [])
    assert (card.rows_in, card.rows_kept) == (3, 2 if reason else 3)
    if not reason:
        assert examples(tmp_path / "set")["train"][0].provenance["action_error"] in ("covered", "stale")


def test_what_could_not_be_read_is_no_history(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "run",
        [(task("pay-0"), shopping("Ann"))],
        alter=lambda step: stained("illegal_action") if step.index == 0 else step,
    )
    build_into(tmp_path / "set", run)
    assert [len(example.query.history) for example in examples(tmp_path / "set")["train"]] == [0, 1]


def test_a_step_after_which_nothing_was_seen_is_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))])
    reader = RunReader.open(run)
    (row,) = reader.latest().values()
    whole = reader.episode(row.episode_id)
    cut = whole.model_copy(update={"trajectory": whole.trajectory.model_copy(update={"final_observation": None})})
    replace_file(run / "episodes" / row.episode_id / "episode.json.gz", gzipped(cut.model_dump_json()))
    card = build_into(tmp_path / "set", run)
    assert (card.rows_in, card.rows_kept) == (3, 2)
    assert rejected(tmp_path / "set") == [("missing_observation", "nothing was seen after the action")]


def test_an_unreadable_episode_is_named(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann")), (task("pay-1"), shopping("Ben"))])
    damaged = run / "episodes" / "pay-1__A__r0__a0" / "episode.json.gz"
    damaged.write_bytes(damaged.read_bytes()[:100])
    card = build_into(tmp_path / "set", run)
    assert rejected(tmp_path / "set") == [("unreadable_episode", "truncated")]
    assert (card.rows_in, card.rows_kept, card.rows_rejected) == (4, 3, 1)


def test_of_equal_rows_one_stays_and_it_is_the_experts(tmp_path: Path) -> None:
    walk = shopping("Ann")
    again = [(seen.model_copy(update={"axtree": bids(seen.axtree, 100)}), action) for seen, action in walk]
    moved = {"12": "112", "22": "122"}
    again = [
        (
            seen,
            action.model_copy(update={"arguments": {"bid": moved[str(action.arguments["bid"])]}})
            if "bid" in action.arguments
            else action,
        )
        for seen, action in again
    ]
    explored = make_run(tmp_path / "explored", [(task("pay-0"), again)], policy="random", status="failure")
    expert = make_run(tmp_path / "expert", [(task("pay-1"), walk)])
    card = build_into(tmp_path / "set", explored, expert)
    train = examples(tmp_path / "set")["train"]
    assert {example.provenance["source"] for example in train} == {"expert"} and len(train) == 3
    assert card.rejects == {"explored": {"duplicate": 3}}
    assert len(list(read_outcomes(tmp_path / "set", "train"))) == 2, "the episode without a row still has its outcome"


def test_another_outcome_of_the_same_action_is_no_duplicate(tmp_path: Path) -> None:
    other = [*shopping("Ann")[:2], (page(PAID.replace("Paid", "Refused")), DONE), (page(PAID), DONE)]
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann")), (task("pay-1"), other)])
    card = build_into(tmp_path / "set", run)
    assert card.pairs_with_several_outcomes == 1


def test_splits_follow_the_benchmark_and_held_out_sites(tmp_path: Path) -> None:
    forum = [(seen.model_copy(update={"url": "http://forum.test/"}), action) for seen, action in shopping("Fay")]
    walks = [
        (task("pay-0"), shopping("Ann")),
        (task("send-0", split="dev"), shopping("Ben")),
        (task("find-0", split="test"), shopping("Cy")),
        (task("post-0", split="test", site="forum", held_out=True), forum),
    ]
    build_into(tmp_path / "set", make_run(tmp_path / "run", walks))
    assert [len(rows) for rows in examples(tmp_path / "set").values()] == [3, 3, 3, 3]
    build_into(tmp_path / "other", tmp_path / "run", held_out_sites=("shop",))
    assert [len(rows) for rows in examples(tmp_path / "other").values()] == [0, 0, 0, 12]


def test_templates_without_a_split_stay_together_and_are_spread(tmp_path: Path) -> None:
    walks = [(task(f"t{n}-{k}", split=""), shopping(f"{n}/{k}")) for n in range(25) for k in range(2)]
    build_into(tmp_path / "set", make_run(tmp_path / "run", walks))
    of_template: dict[object, set[str]] = {}
    for split, rows in examples(tmp_path / "set").items():
        for example in rows:
            of_template.setdefault(example.provenance["template"], set()).add(split)
    assert all(len(splits) == 1 for splits in of_template.values())
    counts = Counter(split for (split,) in of_template.values())
    assert counts["train"] > counts["dev"] + counts["test"] > 0 and counts["held_out_site"] == 0


def test_a_walk_that_meets_a_held_out_site_ends_there(tmp_path: Path) -> None:
    forum = [(seen.model_copy(update={"url": "http://forum.test/"}), action) for seen, action in shopping("Fay")]
    strayed = [*shopping("Ann")[:2], (forum[2][0], DONE), *shopping("Ann")[2:]]
    walks = [(task("pay-0"), strayed), (task("post-0", site="forum", held_out=True), forum)]
    card = build_into(tmp_path / "set", make_run(tmp_path / "run", walks))
    (kept,) = examples(tmp_path / "set")["train"]
    assert kept.next_observation.url == "http://shop.test/"
    assert card.rejects["run"] == {"held_out_page": 3}
    assert not list(read_outcomes(tmp_path / "set", "train")), "its history would show the held-out page"
    assert all("forum" not in seen.url for line in read_episodes(tmp_path / "set", "train") for seen in line.pages)


def test_a_pair_of_two_splits_stays_in_train(tmp_path: Path) -> None:
    walks = [(task("find-0", split="test"), [*shopping("Ann")[:2], *shopping("Ben")[2:]]), (task("pay-0"), shopping("Ann"))]
    card = build_into(tmp_path / "set", make_run(tmp_path / "run", walks))
    found = examples(tmp_path / "set")
    assert len(found["train"]) == 3
    assert [example.provenance["step"] for example in found["test"]] == [2]
    assert card.rejects["run"] == {"seen_in_other_split": 2}
    assert card.shared_pages["test"] == {"pages": 1, "also_in_train": 0}


def test_a_planted_leak_fails_the_build(tmp_path: Path) -> None:
    walks = [(task("pay-0"), shopping("Ann")), (task("pay-1", split="test"), shopping("Ben"))]
    run = make_run(tmp_path / "run", walks)
    with pytest.raises(UsageError, match=r"the splits leak: template arena/pay is in (train|test) and"):
        build_into(tmp_path / "set", run)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("what", ["page and action", "template", "held-out site"])
def test_a_finished_data_set_is_checked_from_its_content(tmp_path: Path, what: str) -> None:
    walks = [(task("pay-0"), shopping("Ann")), (task("find-0", split="test"), shopping("Ben"))]
    build_into(tmp_path / "set", make_run(tmp_path / "run", walks))
    check_dataset(tmp_path / "set", set())
    if what == "held-out site":
        with pytest.raises(UsageError, match="held-out site"):
            check_dataset(tmp_path / "set", {"shop"})
        return
    (line,) = read_episodes(tmp_path / "set", "train")
    planted = line.model_copy(update={"provenance": {**line.provenance, "template": "else", "task_id": "else-0"}})
    chosen = planted if what == "page and action" else line
    (tmp_path / "set" / "dev.jsonl.gz").write_bytes(gzipped(chosen.model_dump_json() + "\n"))
    with pytest.raises(UsageError, match=f"the splits leak: .*{what}"):
        check_dataset(tmp_path / "set", set())


def test_no_more_noops_than_asked_for(tmp_path: Path) -> None:
    idle = [
        (task(f"pay-{n}"), [(page(CART.replace("cart", f"cart {n}")), PAY), (page(CART.replace("cart", f"cart {n}")), PAY)])
        for n in range(20)
    ]
    busy = [(task(f"buy-{n}"), shopping(str(n))) for n in range(10)]
    run = make_run(tmp_path / "run", [*idle, *busy])
    whole = build_into(tmp_path / "whole", run)
    assert whole.splits["train"].changes == {"none": 30, "page": 20}
    capped = build_into(tmp_path / "capped", run, noop_share=0.2)
    kept = capped.splits["train"].changes
    assert kept["page"] == 20 and 1 <= kept["none"] <= 12
    assert capped.rejects["run"] == {"noop_over_cap": 30 - kept["none"]}


def test_equal_inputs_give_equal_bytes_and_another_order_the_same_rows(tmp_path: Path) -> None:
    a = make_run(tmp_path / "a", [(task("pay-0"), shopping("Ann"))])
    b = make_run(tmp_path / "b", [(task("pay-1"), shopping("Ben"))], policy="random")
    one, two, turned = (build_into(tmp_path / name, *runs) for name, runs in {"x": (a, b), "y": (a, b), "z": (b, a)}.items())
    assert one.hash == two.hash != turned.hash and one.splits == turned.splits
    for split in SPLITS:
        name = f"{split}.jsonl.gz"
        assert (tmp_path / "x" / name).read_bytes() == (tmp_path / "y" / name).read_bytes()


def test_rows_in_are_rows_kept_and_rows_rejected(tmp_path: Path) -> None:
    kinds = ["illegal_action", "foreign_tree", "slow_page", "failed"]
    walks = [(task(f"pay-{n}"), shopping(f"{n % 2}")) for n in range(len(kinds))]
    run = make_run(tmp_path / "run", walks)
    dirty = make_run(tmp_path / "dirty", walks, alter=lambda step: stained(kinds[0]) if step.index == 1 else step)
    card = build_into(tmp_path / "set", run, dirty)
    lines = read_gz(tmp_path / "set" / "rejects.jsonl.gz")
    kept = sum(len(rows) for rows in examples(tmp_path / "set").values())
    assert card.rows_in == 24 == kept + len(lines) == card.rows_kept + card.rows_rejected
    assert all(line["reason"] in REASONS and line["provenance"]["episode"] and line["input"] for line in lines)
    assert read_card(tmp_path / "set") == card


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann")[:2])], alter=lambda _: stained("foreign_tree"))
    with pytest.raises(UsageError, match=r"no transition is left .foreign_tree: 1."):
        build_into(tmp_path / "set", run)
    assert not (tmp_path / "set").exists()


def test_an_existing_directory_is_not_touched(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))])
    (tmp_path / "set").mkdir()
    with pytest.raises(UsageError, match="exists"):
        build_into(tmp_path / "set", run)


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))])
    (tmp_path / "file").write_text("")
    with pytest.raises(NotReadyError, match="cannot write"):
        build_into(tmp_path / "file" / "set", run)


def test_empty_and_unknown_splits(tmp_path: Path) -> None:
    build_into(tmp_path / "set", make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))]))
    assert list(read_dataset(tmp_path / "set", "dev")) == []
    with pytest.raises(UsageError, match="no split 'val'"):
        list(read_dataset(tmp_path / "set", "val"))
    with pytest.raises(UsageError, match=r"no train\.jsonl\.gz"):
        list(read_dataset(tmp_path, "train"))
    with pytest.raises(UsageError, match="no data set"):
        read_card(tmp_path)


def test_a_damaged_split_is_named(tmp_path: Path) -> None:
    build_into(tmp_path / "set", make_run(tmp_path / "run", [(task("pay-0"), shopping("Ann"))]))
    path = tmp_path / "set" / "train.jsonl.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    with pytest.raises(UsageError, match=r"train.jsonl.gz is damaged"):
        list(read_dataset(tmp_path / "set", "train"))
    path.write_bytes(gzipped('{"site": "shop"}\n'))
    with pytest.raises(UsageError, match="line 1 is not an episode"):
        list(read_dataset(tmp_path / "set", "train"))
