from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import NotReadyError, UsageError
from harness.types import EvaluatorSpec, PolicyOutput, Start, Step, Task, Trajectory
from tests.training.model.support import SHOP, checkpoint, query, stop
from tests.training.models.support import tiny
from training.models import CheckpointCard, GenerationConfig, PromptEncoder, choice_probabilities, save_checkpoint
from training.world_model.formats import get_format
from training.world_model.model import load, load_judge
from training.world_model.model.assessment import CHOICES, assessment_prompt, outcome_query
from training.world_model.model.judge import SelfJudge
from training.world_model.model.learned import LearnedWorldModel
from training.world_model.model.loading import judge_of


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.fixture(scope="module")
def model(directory: Path) -> LearnedWorldModel:
    found = load(directory)
    assert isinstance(found, LearnedWorldModel)
    return found


def told(model: LearnedWorldModel, *queries: object, samples: int = 1) -> list[list[str]]:
    return [[said.text for said in row] for row in model.predict(queries, samples)]  # type: ignore[arg-type]


def test_equal_queries_get_equal_answers_and_seeds_make_samples_differ(model: LearnedWorldModel) -> None:
    first = told(model, query(seed=1), query(seed=2), query(seed=1), samples=3)
    assert first[0] == first[2]
    assert len(set(first[0])) > 1
    assert first[0] != first[1]
    assert told(model, query(seed=1), samples=3)[0] == first[0]
    assert told(model, query(seed=1)) == told(model, query(seed=2)), "greedy: the seed decides nothing"


def test_malformed_and_cut_off_answers_are_surfaced_and_never_a_copy(model: LearnedWorldModel) -> None:
    for said in model.predict([query(seed=seed) for seed in range(4)], samples=2)[0]:
        if said.finish_reason == "length":
            assert said.malformed.startswith("the answer was cut off")
        if said.next_observation is None:
            assert said.malformed
        assert said.world_model.startswith("tiny edits ")
        assert said.usage.prompt_tokens > 0


def test_malformed_answers_are_decoded_again_under_the_grammar(model: LearnedWorldModel) -> None:
    """Random weights write nonsense; bound to the grammar they can only be cut off, or readable and called repaired."""
    said = [row[0] for row in model.predict([query(seed=seed) for seed in range(3)])]
    for one in said:
        assert one.repaired or one.malformed
        if one.repaired:
            assert one.next_observation is not None
            assert not one.malformed or one.finish_reason == "length"
        assert one.usage.requests == 2, "both answers are paid for"


def test_success_is_assessed_where_an_episode_ends_and_nowhere_else(model: LearnedWorldModel, directory: Path) -> None:
    going, ending, aimless = (row[0] for row in model.predict([query(), stop(), stop(goal="")]))
    if not going.terminal:
        assert going.self_assessed_reward is None
    assert ending.self_assessed_reward == model.assess([stop()])[0]
    assert aimless.self_assessed_reward is None
    silent = load(checkpoint(directory.parent / "silent", assesses=False))
    assert silent.predict([stop()])[0][0].self_assessed_reward is None


def test_the_assessment_is_the_first_tokens_probability_after_the_same_words_everywhere(model: LearnedWorldModel) -> None:
    network, tokenizer = tiny()
    prompt = assessment_prompt(model.format, stop())
    assert prompt.startswith("assess\n")
    assert "Buy a mug" in prompt
    expected = choice_probabilities(network, tokenizer, [prompt], CHOICES)[0][0]
    assert model.assess([stop()])[0] == pytest.approx(expected, abs=1e-6)
    answered = stop().action
    with_answer = outcome_query("Buy a mug", [_past(answered)], SHOP, "Done.", "shop")
    assert assessment_prompt(model.format, with_answer) == prompt, "whether or not the history holds the answer already"


def test_the_judge_grades_a_trajectory_by_the_models_own_probability(model: LearnedWorldModel, directory: Path) -> None:
    p = model.assess([stop()])[0]
    assert p is not None
    verdict = SelfJudge(model, threshold=p).judge(trajectory())
    assert (verdict.status, verdict.reward, verdict.raw_reward, verdict.threshold) == ("success", 1.0, p, p)
    assert SelfJudge(model, threshold=min(1.0, p + 1e-6)).judge(trajectory()).status == "failure"
    assert verdict.evidence["prompt"] == model.assessment_text(stop())
    assert verdict.scorer == "self-assessment"
    assert "tiny" in verdict.scorer_version
    empty = trajectory().model_copy(update={"steps": (), "final_observation": None})
    unseen = SelfJudge(model).judge(empty)
    assert (unseen.status, unseen.error.boundary if unseen.error else "") == ("error", "judge")
    assert load_judge(directory).judge(trajectory()).raw_reward == p
    many = SelfJudge(model).judge_all([empty, trajectory(), empty, trajectory()])
    assert [verdict.raw_reward for verdict in many] == [None, pytest.approx(p), None, pytest.approx(p)]


@pytest.mark.parametrize(
    ("spec", "said"),
    [("nonsense", "no world model 'nonsense'"), ("frozen:", "names nothing"), ("frozen:no/such/dir", "is neither nano")],
)
def test_a_spec_that_names_nothing_is_refused(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load(spec)


def test_specs_are_found_by_kind(directory: Path, tmp_path: Path) -> None:
    assert load("copy").name == "copy"
    with pytest.raises(UsageError, match="is not a checkpoint"):
        load(tmp_path)
    network, tokenizer = tiny()
    network.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    frozen = load(f"frozen:{tmp_path / 'base'}", generation=GenerationConfig(max_rows=2))
    assert frozen.name == "frozen base"
    save_checkpoint(
        tmp_path / "agent", network, tokenizer, CheckpointCard(kind="agent", preset="a", max_prompt_tokens=9, max_new_tokens=9)
    )
    with pytest.raises(UsageError, match="of a policy"):
        load(tmp_path / "agent")
    with pytest.raises(UsageError, match="does not say whether goals are reached"):
        judge_of(load("copy"))


def test_a_model_that_cannot_be_asked_is_an_error_of_the_judge_and_not_a_failure() -> None:
    class Down:
        name, version = "down", "1"

        def assess(self, queries: object) -> list[float | None]:
            raise NotReadyError("no server", fix="start it")

        def assessment_text(self, query: object) -> str:
            return ""

    verdict = SelfJudge(Down()).judge(trajectory())
    assert verdict.status == "error"
    assert verdict.reward is None


def test_prompts_keep_to_their_budget(model: LearnedWorldModel) -> None:
    _, tokenizer = tiny()
    encoder = PromptEncoder(tokenizer)
    form = get_format("edits", count_tokens=encoder.count, max_prompt_tokens=120)
    assert form.prompt(query()) == model.format.prompt(query())


def _past(action: object) -> object:
    from harness.predictions import PastStep

    return PastStep(observation=SHOP, action=action)


def trajectory() -> Trajectory:
    task = Task(benchmark="arena", task_id="buy-1", sites=("shop",), evaluator=EvaluatorSpec(kind="state"))
    step = Step(index=0, observation=SHOP, output=PolicyOutput(action=stop().action))
    return Trajectory(
        task=task,
        source="dream",
        start=Start(task_id="buy-1"),
        goal="Buy a mug",
        seed=0,
        steps=(step,),
        final_observation=SHOP,
        stop_reason="stop",
        answer="Done.",
    )
