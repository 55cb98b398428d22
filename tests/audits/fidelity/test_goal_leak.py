"""The goal-leak test against models that leak, that do not, and that are merely unsteady."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from audits.fidelity import Answers
from audits.fidelity.goal_leak import LeakScore, figures, other_goals, questions, run_leak_test
from harness.predictions import Prediction, WorldModelQuery
from harness.types import Observation
from tests.audits.fidelity.factory import Row, foreseen, page, row

NOW, THEN = page("[1] button 'Search'"), page("[1] button 'Search'", "StaticText 'no results'")
GOALS = ("Find the price of the Ploverstone lamp", "Delete the ticket about Gannet", "Close the tracker")


class Model:
    """Answers with a page made from the goal."""

    name, version = "made", "1"

    def __init__(self, make: Callable[[str], Observation | None]) -> None:
        self._make = make

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        return [[foreseen(self._make(query.goal))] for query in queries]

    def close(self) -> None: ...


def rows() -> list[Row]:
    return [row(NOW, "click('1')", THEN, step=n, episode=f"e{n}", template=f"t{n}", goal=goal) for n, goal in enumerate(GOALS)]


def leaks(tmp_path: Path, make: Callable[[str], Observation | None]) -> tuple[list[LeakScore], int]:
    return run_leak_test(rows(), Answers(tmp_path, Model(make)))


def test_a_model_that_writes_the_goal_onto_the_page_is_caught_with_evidence(tmp_path: Path) -> None:
    def make(goal: str) -> Observation:
        return page("[1] button 'Search'", "StaticText 'no results'", *([f"StaticText '{goal}: done'"] if goal else []))

    scores, unreadable = leaks(tmp_path, make)
    found = figures(scores)
    assert (len(scores), unreadable) == (3, 0)
    assert [found[name].value for name in ("goal.leak", "goal.evidence", "goal.depends", "goal.leaked_nodes")] == [1, 1, 1, 1]


def test_a_model_that_ignores_the_goal_leaks_nothing(tmp_path: Path) -> None:
    wrong = page("[1] button 'Search'", "StaticText 'Ploverstone lamp: 12 pounds'")
    found = figures(leaks(tmp_path, lambda _: wrong)[0])
    assert [found[name].value for name in ("goal.leak", "goal.leak_control", "goal.evidence", "goal.depends")] == [0, 0, 0, 0]
    assert found["goal.evidence_of_leaked"].value is None


def test_what_really_comes_is_no_leak(tmp_path: Path) -> None:
    found = figures(leaks(tmp_path, lambda goal: THEN if goal else NOW)[0])
    assert (found["goal.leak"].value, found["goal.depends"].value) == (0, 1)


def test_an_unsteady_model_leaks_as_much_in_the_control(tmp_path: Path) -> None:
    count = iter(range(100))
    found = figures(leaks(tmp_path, lambda _: page("[1] button 'Search'", f"StaticText 'noise {next(count)}'"))[0])
    assert found["goal.leak"].value == found["goal.leak_control"].value == 1
    assert found["goal.evidence"].value == 0


def test_unreadable_answers_are_counted_apart(tmp_path: Path) -> None:
    assert leaks(tmp_path, lambda goal: NOW if goal else None) == ([], 3)


def test_other_goals_come_from_other_templates_and_only_exist_where_there_are_some() -> None:
    found = other_goals(rows())
    assert len(found) == 3
    for each in rows():
        assert found[f"r/{each.provenance['episode']}/{each.provenance['step']}"] in set(GOALS) - {each.query.goal}
    alone = [row(NOW, "click('1')", THEN, goal="same"), row(NOW, "click('1')", THEN, step=1, goal="also")]
    assert other_goals(alone) == {}, "one template"
    assert questions(alone, {}) == []
    asked = dict(questions(rows()[:1], found))
    assert [query.goal for query in asked.values()] == [GOALS[0], "", found["r/e0/0"]]
