"""From templates to data: rules that a template must keep, splits that never move, and data files that are what they say."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.arena import ArenaBenchmark, ArenaConfig, collection
from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, changes, exact_answer, expect, impossible, rows
from harness.benchmarks.arena.collection import GROUPS, BadTemplate, assign_splits, group_of_module, task_rows
from harness.benchmarks.arena.data import MANIFEST, SPLITS, definitions, load_tasks, read
from harness.benchmarks.tasksets import task_set_hash
from harness.sites.catalog import SITES
from harness.types import JsonDict

ROOT = Path(__file__).parents[2]
PHRASINGS = ("What does {item} cost?", "How much is {item}?", "Price of {item}, please", "Find the price of {item}")


class Price(Template):
    id = "shop-test-price"
    sites = ("shop",)
    kind = "information"
    phrasings = PHRASINGS
    count = 5

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for number in rng.sample(range(100), 6):
            yield {"item": f"lamp {number}", "price": f"{number}.50"}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["price"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "price": "0.00"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.stop(v["price"])


def made(**changed: Any) -> list[JsonDict]:
    return task_rows(type("Changed", (Price,), changed)(), "train")


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_arena", ROOT / "scripts" / "build_arena.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ------------------------------------------------------------------------------------------ one template


def test_a_template_becomes_webarena_tasks() -> None:
    tasks = made()
    assert [task["task_id"] for task in tasks] == [f"shop-test-price-{number}" for number in range(5)]
    first = tasks[0]
    values = first["instantiation_dict"]
    assert isinstance(values, dict)
    assert first["intent"] == f"What does {values['item']} cost?"
    assert first["intent_template"] == "What does {{item}} cost?"
    assert first["start_url"] == "__SHOP__"
    assert (first["require_login"], first["login"]) == (True, ["shop"])
    assert first["eval"] == {
        "eval_types": ["string_match"],
        "reference_answers": {"must_include": [values["price"]]},
        "reference_url": "",
        "program_html": [],
    }
    assert first["nearly"] == {"price": "0.00"}
    assert tasks[4]["intent_template"] == first["intent_template"], "phrasings come round"
    assert made() == tasks, "the same template gives the same tasks"


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"id": "Shop Price"}, "is not an id"),
        ({"sites": ("mall",)}, "no site mall"),
        ({"phrasings": PHRASINGS[:3]}, "4 different phrasings"),
        ({"phrasings": (*PHRASINGS, PHRASINGS[0])}, "4 different phrasings"),
        ({"phrasings": (*PHRASINGS[:3], "Price of {thing}?")}, "cannot be filled in"),
        ({"count": 7}, "6 instances, not 7"),
        ({"instances": lambda *_: iter([{"item": "x", "price": "1"}] * 5)}, "same values"),
        ({"nearly": lambda _, v: dict(v)}, "must change values"),
        ({"nearly": lambda _, v: {**v, "more": 1}}, "must change values"),
        ({"expected": lambda *_: expect()}, "nothing is expected"),
        ({"expected": lambda *_: expect(impossible())}, "unachievable templates expect"),
        ({"unachievable": True}, "unachievable templates expect"),
        ({"expected": lambda *_: expect(rows("shop", "DELETE FROM x", [], []))}, "not a SELECT"),
        ({"expected": lambda *_: expect(rows("forum", "SELECT 1", [], [[1]]))}, "not one of its sites"),
        ({"expected": lambda *_: expect(changes("forum", "t"))}, "not one of its sites"),
        ({"expected": lambda *_: expect(answer("__MALL__/x"))}, "unknown placeholders __MALL__"),
        ({"instances": lambda *_: iter({"item": f"x{n}", "price": (n,)} for n in range(5))}, "must be JSON"),
    ],
)
def test_a_template_that_breaks_a_rule_is_named(changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadTemplate, match=complaint):
        made(**changed)


def test_expectations_are_merged() -> None:
    both = expect(rows("shop", "SELECT 1", [], [[1]]), rows("shop", "SELECT\n  2", [], [[2]]), changes("shop", "a +1"))
    assert both["eval_types"] == ["state"]
    assert both["state"] == {
        "checks": [
            {"site": "shop", "sql": "SELECT 1", "parameters": [], "rows": [[1]]},
            {"site": "shop", "sql": "SELECT 2", "parameters": [], "rows": [[2]]},
        ],
        "changes": {"shop": ["a +1"]},
    }
    with pytest.raises(ValueError, match="two parts say reference_answers"):
        expect(answer("1"), exact_answer("2"))


def test_modules_belong_to_the_site_they_are_named_after() -> None:
    names = ("shop", "shop_buying", "shop_admin", "shop_admin_orders", "multi_shop", "words", "shopping")
    assert [group_of_module(name) for name in names] == ["shop", "shop", "shop_admin", "shop_admin", "multi", "", ""]


Ids = st.sets(st.from_regex(r"shop-[a-z]{1,6}", fullmatch=True), max_size=30)


@given(old=Ids, new=Ids)
def test_a_new_template_never_moves_an_old_one(old: set[str], new: set[str]) -> None:
    before = assign_splits(sorted(old), {})
    after = assign_splits(sorted(old | new), before)
    assert before.items() <= after.items()
    assert after == assign_splits(sorted(old | new, reverse=True), before), "the order of the templates does not matter"


@given(ids=Ids)
def test_splits_have_their_shares(ids: set[str]) -> None:
    counts = Counter(assign_splits(sorted(ids), {}).values())
    for split, share in collection.SHARES.items():
        assert abs(counts[split] - share * len(ids)) <= 1.5


# ------------------------------------------------------------------------------------------ the committed data


def test_the_data_files_are_what_the_templates_say() -> None:
    script = ROOT / "scripts" / "build_arena.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_site_is_refused() -> None:
    script = ROOT / "scripts" / "build_arena.py"
    done = subprocess.run([sys.executable, str(script), "mall"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stdout.startswith("error: no site mall; there are shop, ")


def test_the_manifest_names_the_task_set() -> None:
    manifest = read(MANIFEST)
    assert manifest["tasks"] == len(definitions()) == len(load_tasks())
    assert manifest["task_set_hash"] == task_set_hash(load_tasks())
    assert manifest["templates"] == len(read(SPLITS)) == len({task.intent_template_id for task in load_tasks()})


def test_a_template_is_in_one_split_and_no_split_sees_the_wording_of_another() -> None:
    by_split: dict[str, set[str]] = {}
    for row in definitions().values():
        assert read(SPLITS)[row["intent_template_id"]] == row["split"]
        by_split.setdefault(str(row["split"]), set()).add(re.sub(r"\{\{\w+}}", "…", str(row["intent_template"])))
    assert by_split.keys() == {"train", "dev", "test"}
    assert not by_split["test"] & (by_split["train"] | by_split["dev"])


@pytest.mark.parametrize("split", ["train", "dev", "test", "held_out_site", "other_sites"])
def test_the_benchmark_lists_a_split(split: Any) -> None:
    tasks = ArenaBenchmark(ArenaConfig(split=split)).tasks()
    assert 0 < len(tasks) < len(load_tasks())
    if split == "held_out_site":
        assert all(collection.HELD_OUT_SITE in task.sites for task in tasks)
    elif split == "other_sites":
        assert not any(collection.HELD_OUT_SITE in task.sites for task in tasks)
    else:
        assert {task.metadata["split"] for task in tasks} == {split}


def test_every_task_is_complete() -> None:
    webarena = {
        "sites", "task_id", "require_login", "storage_state", "start_url", "geolocation", "intent_template",
        "instantiation_dict", "intent", "require_reset", "eval", "intent_template_id",
    }  # fmt: skip
    for task_id, row in definitions().items():
        assert webarena <= row.keys(), task_id
        assert not re.search(r"[{}]", str(row["intent"])), task_id
        text = json.dumps(row)
        assert not re.search(r"localhost|127\.0\.0\.1|/tmp/|/work", text), task_id


def test_the_arena_is_as_large_as_it_says() -> None:
    tasks = load_tasks()
    templates = {task.intent_template_id: task for task in tasks}
    assert len(templates) >= 60
    assert len(tasks) >= 400
    assert sum(task.unachievable for task in tasks) >= 0.05 * len(tasks)
    assert {site for task in tasks for site in task.sites} == set(SITES)
    assert {task.metadata["kind"] for task in tasks} == {"information", "navigation", "content", "configuration"}
    assert min(Counter(task.intent_template_id for task in tasks).values()) >= 2, "a cluster is more than a task"


EVALUATORS_OF_EVERY_TASK = """
import json, sys
from harness.benchmarks.arena.data import definitions
from harness.benchmarks.arena.scoring import load_upstream, official_types

router, path, count = load_upstream().evaluators.evaluator_router, sys.argv[1], 0
for row in definitions().values():
    types = official_types(row)
    with open(path, "w") as file:
        json.dump({**row, "eval": {**row["eval"], "eval_types": types}}, file)
    assert len(router(path).evaluators) == len(types), row["task_id"]
    count += 1
print(count)
"""


@pytest.mark.webarena
def test_webarenas_own_evaluators_take_every_task(tmp_path: Path) -> None:
    """In a process of its own: upstream serves one set of sites per process, and tests/webarena needs another."""
    command = [sys.executable, "-c", EVALUATORS_OF_EVERY_TASK, str(tmp_path / "task.json")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(load_tasks())


def test_the_counts_of_the_card_are_computed() -> None:
    module = builder()
    files = {f"{group}.json": (module.DATA / f"{group}.json").read_text() for group in GROUPS if module.stored_rows(group)}
    table = module.counts({**files, MANIFEST: (module.DATA / MANIFEST).read_text()})
    assert f"| **all** | {read(MANIFEST)['templates']} | {len(load_tasks())} |" in table
