"""Task records: counts, needs, the dependency graph, errata; listed without importing anything of upstream."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.webarena.errata import all_errata, apply_fixes, errata_for
from harness.benchmarks.webarena.tasks import definitions, dependencies, load_tasks, longest_chain
from harness.errors import UsageError
from harness.types import JsonDict

pytestmark = pytest.mark.webarena


@pytest.mark.parametrize(
    ("benchmark", "subset", "count", "unachievable", "chain"),
    [
        ("webarena", "all", 812, 36, 246),
        ("webarena-lite", "all", 165, 10, 53),
        ("webarena-verified", "all", 812, 40, 246),
        ("webarena-verified", "hard", 258, 10, 100),
    ],
)
def test_counts(benchmark: str, subset: str, count: int, unachievable: int, chain: int) -> None:
    tasks = load_tasks(benchmark, subset)
    assert len({task.task_id for task in tasks}) == len(tasks) == count
    assert sum(task.unachievable for task in tasks) == unachievable
    assert longest_chain(tasks) == chain


def test_needs_of_the_official_tasks() -> None:
    tasks = load_tasks("webarena")
    assert sum("live_page" in task.evaluator.needs for task in tasks) == 411
    judged = [task for task in tasks if "judge" in task.evaluator.needs]
    assert len(judged) == 118 and sum(not task.unachievable for task in judged) == 82
    assert sum(not task.evaluator.needs for task in tasks) == 283


def test_five_chains_one_per_site_that_can_change() -> None:
    roots = [task.task_id for task in load_tasks("webarena") if not task.depends_on]
    assert roots == ["0", "7", "21", "27", "44"]


def test_a_subset_depends_only_on_itself() -> None:
    for benchmark, subset in (("webarena-lite", "all"), ("webarena-verified", "hard")):
        tasks = load_tasks(benchmark, subset)
        ids = {task.task_id for task in tasks}
        assert all(set(task.depends_on) <= ids for task in tasks)


SITE_SETS = st.lists(st.sets(st.sampled_from(["gitlab", "map", "reddit", "wikipedia"]), min_size=1), max_size=30)


@given(SITE_SETS)
def test_tasks_of_one_site_are_totally_ordered(site_sets: list[set[str]]) -> None:
    parents = dependencies((str(i), sites) for i, sites in enumerate(site_sets))
    ancestors: dict[str, set[str]] = {}
    for task_id, direct in parents.items():
        ancestors[task_id] = set(direct).union(*(ancestors[parent] for parent in direct))
    for later, sites in enumerate(site_sets):
        earlier = {str(i) for i in range(later) if (sites & site_sets[i]) - {"wikipedia"}}
        assert earlier <= ancestors[str(later)]


def test_only_webarena_verified_has_a_hard_subset() -> None:
    with pytest.raises(UsageError):
        load_tasks("webarena", "hard")


def test_lite_differs_from_webarena_in_46_definitions() -> None:
    lite, full = definitions("webarena-lite"), definitions("webarena")
    keys = ("intent", "eval", "start_url")
    assert sum(any(d[k] != full[i][k] for k in keys) for i, d in lite.items()) == 46


def test_placeholders_stay_in_tasks() -> None:
    task = next(task for task in load_tasks("webarena") if task.task_id == "44")
    assert task.start_url == "__GITLAB__" and task.evaluator.spec["reference_url"] == "__GITLAB__/dashboard/todos"


def test_every_erratum_names_tasks_that_exist_and_every_fix_changes_its_task() -> None:
    for erratum in all_errata():
        assert erratum.reason and erratum.source
        for benchmark in erratum.benchmarks:
            for task_id in erratum.task_ids:
                definition: JsonDict = definitions(benchmark)[str(task_id)]
                fixed = apply_fixes(definition, (erratum,))
                assert (fixed != definition) == (erratum.effect == "fix")
    assert {e.effect for e in errata_for("webarena", "408")} == {"exclude"}


def test_known_problems_are_listed_with_the_task() -> None:
    listed = {task.task_id for task in load_tasks("webarena-verified") if task.known_problems}
    assert {"319", "429"} <= listed


def test_listing_imports_nothing_of_upstream() -> None:
    code = (
        "import sys; from harness.benchmarks.webarena import WebArenaBenchmark, WebArenaConfig\n"
        "assert len(WebArenaBenchmark(WebArenaConfig()).tasks()) == 812\n"
        "bad = [m for m in ('nltk', 'playwright', 'browsergym.webarena', 'webarena.evaluation_harness') if m in sys.modules]\n"
        "assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
