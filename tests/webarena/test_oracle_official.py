"""Oracle dry run: over all task definitions, an answer made from the reference is right and junk is wrong.

No browser: upstream's real evaluators read the answer only. What cannot be satisfied here cannot be satisfied by any agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.webarena.errata import apply_fixes, errata_for
from harness.benchmarks.webarena.tasks import definitions
from harness.errors import EvaluatorError
from harness.scoring.webarena_judge import Matcher
from harness.scoring.webarena_upstream import Flavour, Upstream, hooked, load, word_tokenize
from tests.webarena.sites import SiteSet

pytestmark = pytest.mark.webarena

JUNK = "§ nothing of the kind §"
Scorer = Callable[[Any, str], tuple[float, Matcher]]


def load_for(sites: SiteSet, flavour: Flavour) -> Upstream:
    return load(sites.instance.environment(), flavour)


@pytest.fixture
def score(running_sites: SiteSet, tmp_path: Path) -> Callable[[Flavour], Scorer]:
    """flavour → (definition, answer) → upstream's string score, and the matcher that stood in for the judge."""

    def for_flavour(flavour: Flavour) -> Scorer:
        evaluator = load_for(running_sites, flavour).evaluators.StringEvaluator()

        def evaluate(definition: Any, answer: str) -> tuple[float, Matcher]:
            path = tmp_path / "task.json"
            path.write_text(json.dumps(definition))
            matcher = Matcher(None, answered=True, settle_seconds=0)
            with hooked(matcher):
                return evaluator([{}, {"answer": answer}], str(path)), matcher

        return evaluate

    return for_flavour


def right_answer(definition: Any) -> str:
    """All references of a definition in one answer, as an agent would write them."""
    references = definition["eval"]["reference_answers"]
    parts: list[str] = []
    for value in references.values():
        parts.extend(value if isinstance(value, list) else [value])
    return " ; ".join(dict.fromkeys(parts)) if len(parts) > 1 else parts[0]


def answer_tasks(flavour: Flavour) -> dict[str, Any]:
    return {i: d for i, d in definitions(flavour).items() if "string_match" in d["eval"]["eval_types"]}


def test_webarena_right_answers_pass_and_junk_fails(score: Callable[[Flavour], Scorer]) -> None:
    evaluate = score("webarena")
    tasks = answer_tasks("webarena")
    assert len(tasks) == 335
    right = {i: evaluate(d, right_answer(d)) for i, d in tasks.items()}
    junk = {i: evaluate(d, JUNK) for i, d in tasks.items()}
    assert [i for i, (value, _) in right.items() if value != 1.0] == []
    # junk passes nowhere for certain: what is 1.0 here only waits for a judge
    assert [i for i, (value, matcher) in junk.items() if value > 0 and not matcher.unscored] == []
    assert sum(matcher.unscored for _, matcher in right.values()) == 82
    assert sum(not matcher.unscored for _, matcher in junk.values()) == 335 - 118


def test_always_na_floor(score: Callable[[Flavour], Scorer]) -> None:
    """What an agent scores that answers N/A to everything, without a judge: 36 of 812."""
    evaluate = score("webarena")
    scored = {i: evaluate(d, "N/A") for i, d in answer_tasks("webarena").items()}
    certain = {i for i, (value, matcher) in scored.items() if value == 1.0 and not matcher.unscored}
    assert len(certain) == 36
    assert all(definitions("webarena")[i]["eval"]["reference_answers"] == {"fuzzy_match": "N/A"} for i in certain)


def test_lite_is_satisfiable_but_for_one_task_which_the_errata_fix(score: Callable[[Flavour], Scorer]) -> None:
    evaluate = score("webarena-lite")
    tasks = answer_tasks("webarena-lite")
    assert len(tasks) == 80
    broken = []
    for task_id, definition in tasks.items():
        try:
            assert evaluate(definition, right_answer(definition))[0] == 1.0, task_id
        except AssertionError as error:
            assert "isinstance" in str(error) or not str(error), error
            broken.append(task_id)
    assert broken == ["349"]
    fixes = tuple(e for e in errata_for("webarena-lite", "349") if e.effect == "fix")
    fixed = apply_fixes(tasks["349"], fixes)
    assert evaluate(fixed, "The user is yjlou")[0] == 1.0
    assert evaluate(fixed, JUNK)[0] == 0.0


def one_character_tasks() -> list[tuple[str, str]]:
    found = []
    for task_id, definition in definitions("webarena").items():
        include = (definition["eval"].get("reference_answers") or {}).get("must_include")
        if include and len(include) == 1 and len(include[0]) == 1:
            found.append((task_id, include[0]))
    return found


def test_one_character_references_need_a_word_of_their_own_without_any_nltk_data(
    score: Callable[[Flavour], Scorer],
) -> None:
    import nltk

    with pytest.raises(LookupError):
        nltk.data.find("tokenizers/punkt_tab/english")
    evaluate, tasks = score("webarena"), one_character_tasks()
    assert len(tasks) == 31
    for task_id, reference in tasks:
        definition = definitions("webarena")[task_id]
        other = "3" if reference != "3" else "4"
        for right in (reference, f"The answer is {reference}.", f"({reference}) in all", f"{reference}, I think"):
            assert evaluate(definition, right)[0] == 1.0, (task_id, right)
        for wrong in (other, f"1{reference}", f"{reference}0 of them", "none", ""):
            assert evaluate(definition, wrong)[0] == 0.0, (task_id, wrong)


def test_tokenizer_splits_like_nltk_with_its_trained_model() -> None:
    """Expected words are those of nltk with punkt_tab; a lower-case word after "6." hides the 6, there as here."""
    assert word_tokenize("it is 6. i counted") == ["it", "is", "6.", "i", "counted"]
    assert word_tokenize("It is 2. Then, $0.00!") == ["It", "is", "2", ".", "Then", ",", "$", "0.00", "!"]


def test_an_evaluator_outside_an_evaluation_is_refused(running_sites: SiteSet) -> None:
    evaluators = load_for(running_sites, "webarena").evaluators
    with pytest.raises(EvaluatorError):
        evaluators.StringEvaluator.fuzzy_match("a", "b", "c")
