"""A checkpoint as a policy: loaded by name, the same prompts in training and in use, invalid actions and no exceptions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.policies import PolicyConfig, make_policy
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Observation
from tests.training.agent.toy import CARD, ButtonsEnv, clicking, page, save, tasks, taught_actor
from training.agent.policy import CheckpointActor, CheckpointPolicy, load_actor
from training.agent.prompting import encode_expert, get_codec
from training.models import save_checkpoint


@pytest.fixture(scope="module")
def actor() -> CheckpointActor:
    return taught_actor(0, 30)


@pytest.fixture(scope="module")
def directory(actor: CheckpointActor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint")
    save(actor)(actor.model, path)
    return path


def test_the_command_line_finds_it(directory: Path) -> None:
    """`--policy checkpoint:DIR`, through the entry point, played by the one rollout loop."""
    policy = make_policy(PolicyConfig(name=f"checkpoint:{directory}", options={"device": "cpu"}))
    assert policy.name == "checkpoint:toy"
    trajectory, verdict = run_episode(policy, ButtonsEnv(), EpisodeSpec(task=tasks()[0], seed=3, order_index=0), max_steps=2)
    assert verdict.status in ("success", "failure")
    output = trajectory.steps[0].output
    assert output.token_ids is not None
    assert output.logprobs is not None
    assert len(output.token_ids) == len(output.logprobs) > 0
    assert output.prompt_token_ids
    assert directory.name in output.policy_version


def test_a_wrong_directory_or_option_is_one_line(directory: Path, actor: CheckpointActor, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a checkpoint"):
        make_policy(PolicyConfig(name=f"checkpoint:{tmp_path}"))
    with pytest.raises(UsageError, match="does not take these options"):
        make_policy(PolicyConfig(name=f"checkpoint:{directory}", options={"heat": 1}))
    save_checkpoint(tmp_path, actor.model, actor.tokenizer, CARD.model_copy(update={"kind": "world_model"}))
    with pytest.raises(UsageError, match="world model"):
        make_policy(PolicyConfig(name=f"checkpoint:{tmp_path}", options={"device": "cpu"}))
    with pytest.raises(UsageError, match="action syntax"):
        get_codec("braille")


def test_a_users_own_module_still_works() -> None:
    with pytest.raises(UsageError, match="cannot import 'no_such_module'"):
        make_policy(PolicyConfig(name="no_such_module:Agent"))


def test_an_expert_is_encoded_as_the_policy_would_have_been_asked(actor: CheckpointActor) -> None:
    """The same prompt ids, turn by turn: what the policy is trained on is what it will see."""
    trajectory = clicking(("Save", "Yes"), random.Random(1))
    policy = CheckpointPolicy(actor)
    policy.reset(trajectory.goal, trajectory.task, 0)
    for step, (prompt, reply) in zip(trajectory.steps, encode_expert(actor.prompt, actor.encoder, trajectory), strict=True):
        asked = policy.act(step.observation)
        assert asked.prompt_token_ids == tuple(prompt)
        assert actor.tokenizer.decode(reply, skip_special_tokens=True).startswith("click button")
        assert reply[-1] == actor.tokenizer.eos_token_id
        # as if the policy had clicked what the expert clicked
        policy._past = (*policy._past[:-1], policy._past[-1].model_copy(update={"action": step.output.action}))


def test_answers_do_not_depend_on_the_batch(actor: CheckpointActor) -> None:
    policy = CheckpointPolicy(actor)
    alone = []
    for seed in range(4):
        policy.reset("Keep it", tasks()[0], seed)
        alone.append(policy.act(page(("Save", "Help", "Cancel"))))

    class Request:
        def __init__(self, seed: int) -> None:
            self.goal, self.observation, self.history, self.seed = "Keep it", page(("Save", "Help", "Cancel")), (), seed

    together = actor.act_all([Request(seed) for seed in range(4)])
    assert [output.token_ids for output in together] == [output.token_ids for output in alone]


def test_answers_in_bfloat16_are_nearly_those_in_float32(directory: Path) -> None:
    def ask(precision: str) -> tuple[float, ...]:
        actor = load_actor(directory, temperature=0.0, device="cpu", precision=precision)
        assert actor.generation.precision == precision
        policy = CheckpointPolicy(actor)
        policy.reset("Keep it", tasks()[0], 0)
        return policy.act(page(("Save", "Help", "Cancel"))).logprobs or ()

    exact, rounded = ask("fp32"), ask("bf16")
    assert exact != rounded, "it was not rounded"
    assert rounded == pytest.approx(exact, abs=0.05)


def test_a_page_that_is_too_long_is_cut_and_counted(actor: CheckpointActor) -> None:
    policy = CheckpointPolicy(actor)
    policy.reset("Keep it", tasks()[0], 0)
    output = policy.act(page([f"Button number {k}" for k in range(60)]))
    assert output.dropped_lines > 40
    assert output.prompt_token_ids is not None
    assert len(output.prompt_token_ids) <= CARD.max_prompt_tokens


@pytest.mark.parametrize("syntax", ["descriptor", "bid"])
@pytest.mark.parametrize("reply", ["", "garbage", "click", 'click button "Nope"', "<|end|>", "\x00\ud800", "click('1'" * 50])
def test_garbage_is_an_invalid_action(syntax: str, reply: str) -> None:
    action = get_codec(syntax).read(reply, page(("Save", "Help", "Cancel")))
    assert action.name == "invalid"
    assert action.error


def test_reasoning_may_stand_above_the_action() -> None:
    action = get_codec("descriptor").read('It says Save.\nSo I click it.\n\nclick button "Save"\n', page(("Help", "Save", "No")))
    assert (action.name, action.arguments) == ("click", {"bid": "2"})


def test_large_models_act_by_bid() -> None:
    codec, here = get_codec("bid"), page(("Save", "Help"))
    shown = codec.show("Keep it", here, (), len, 400)
    assert "[1] button 'Save'" in shown.text
    action = codec.read('I will save.\n```click("1")```', here)
    assert codec.write(action, here) == 'click("1")'
    cut = codec.show("Keep it", Observation(url="x", axtree=here.axtree + "\n\t[9] link 'x'" * 200), (), len, 400)
    assert cut.dropped_lines > 100
