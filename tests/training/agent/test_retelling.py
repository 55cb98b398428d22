"""Experts told again: the same task under other names, everywhere or nowhere."""

from __future__ import annotations

from harness.actions import make_action
from harness.axtree import parse
from harness.predictions import RETOLD
from harness.types import Verdict
from tests.training.dream.support import expert
from training.agent.retelling import retold
from training.agent.rows import Sample
from training.agent.spelling import spell

PEOPLE = ("Imogen", "Felix", "Ramona", "Casper", "Ursula", "Silas", "Otto", "Juno")


def choosing(number: int) -> Sample:
    """Two steps: the page names two people, the goal one of them; bid 12 is a number that stands elsewhere as well."""
    person, other = f"{PEOPLE[number % 8]}{'a' * (number // 8)}", f"x{number}Q"
    options = f"\t\t[13] option '{person}'\n\t\t[a{number}Q] option '{other}'"
    page = f"RootWebArea 'Choose 12'\n\t[12] listbox 'Who'\n{options}\n\t[15] button 'Submit'"
    like = expert("choose", 2)
    chosen = make_action("select_option", {"bid": "12", "options": person}, f'select listbox "Who" "{person}"')
    acts = (chosen, make_action("click", {"bid": "15"}, 'click button "Submit"'))
    steps = tuple(
        step.model_copy(
            update={
                "observation": step.observation.model_copy(update={"axtree": page}),
                "output": step.output.model_copy(update={"action": action, "text": action.raw}),
            }
        )
        for step, action in zip(like.steps, acts, strict=True)
    )
    trajectory = like.model_copy(
        update={"goal": f"Select {person} from the list and click Submit.", "steps": steps, "seed": number}
    )
    return Sample(
        "", f"expert/{number}", trajectory, Verdict(status="success", reward=1.0, scorer="s", scorer_version="1"), expert=True
    )


POOL = {f"choose#{number}": [choosing(number)] for number in range(60)}


def test_a_name_changes_in_goal_pages_and_actions_and_nothing_else_does() -> None:
    found = retold(POOL, 3, seed=0)
    assert 120 < len(found) <= 180, "four names in five change; what keeps all of its names is not told again"
    changed = 0
    for name, (sample,) in found.items():
        before = POOL[name.partition("~")[0]][0].trajectory
        told = sample.trajectory
        person = told.goal.removeprefix("Select ").removesuffix(" from the list and click Submit.")
        for step, old in zip(told.steps, before.steps, strict=True):
            tree = parse(step.observation.axtree)
            assert [node.name for node in tree.nodes][:2] == ["Choose 12", "Who"] and tree.nodes[2].name == person
            assert [node.bid for node in tree.nodes] == [node.bid for node in parse(old.observation.axtree).nodes]
            assert spell(step.output.action, tree) == step.output.text
        assert told.steps[0].output.action.arguments == {"bid": "12", "options": person}
        assert told.task.metadata[RETOLD] == int(name.partition("~")[2])
        assert (told.seed, told.task.task_id) == (before.seed, before.task.task_id)
        changed += told.goal != before.goal
    assert changed > 100
    assert len({sample.trajectory.goal for (sample,) in found.values()}) > 100


def test_it_is_a_function_of_its_arguments() -> None:
    once, again = retold(POOL, 2, seed=0), retold(dict(reversed(POOL.items())), 2, seed=0)
    assert once == again
    more = retold(POOL, 3, seed=0)
    assert {name: more[name] for name in once} == once, "a later turn changes nothing of an earlier one"
    assert retold(POOL, 2, seed=1) != once


def test_what_has_no_names_is_not_told_again() -> None:
    same = Sample(
        "", "expert", expert("press", 2), Verdict(status="success", reward=1.0, scorer="s", scorer_version="1"), expert=True
    )
    assert retold({f"press#{n}": [same] for n in range(60)}, 2, seed=0) == {}
    assert retold(POOL, 0, seed=0) == {}
