"""Dreams by the one rollout loop: what ends them, what they keep, what breaks them, and that they are the same again."""

from __future__ import annotations

import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.axtree import parse
from harness.errors import NotReadyError, UsageError
from harness.predictions import WorldModelQuery
from harness.testing import ScriptedWorldModel
from harness.types import Observation
from tests.training.dream.support import PAGES, Acts, Judges, expert
from training.agent.ledger import world_model_usage
from training.dream import Dream, DreamConfig, DreamStart, dream, plan_dreams, sample_starts
from training.dream.env import with_bids
from training.dream.meeting import Meeting
from training.dream.starts import start_at
from training.dream.truncation import disagreement

EXPERT = expert()
FIRST = start_at("e", EXPERT, 0)
CONFIG = DreamConfig(group_size=2)


def dreamt(
    *actions: str | Exception,
    model: ScriptedWorldModel | None = None,
    judge: Judges | None = None,
    config: DreamConfig = CONFIG,
) -> list[Dream]:
    return dreams_from([FIRST], Acts(*actions), model or ScriptedWorldModel(PAGES[1:]), judge or Judges("Page 5"), config)


def dreams_from(
    starts: list[DreamStart], actor: Acts, model: ScriptedWorldModel, judge: Judges, config: DreamConfig
) -> list[Dream]:
    return dream(plan_dreams(starts, config), actor, model, judge, config)


def test_a_dream_ends_at_a_terminal_state_and_is_judged() -> None:
    (first, second) = dreamt("click('7')", "click('8')", "click('9')", "click('10')", "click('11')")
    assert [step.observation.title for step in first.trajectory.steps] == [""] * 5
    assert first.trajectory.stop_reason == "terminated"
    assert first.verdict.status == "success"
    assert first.trajectory.source == "dream"
    assert [step.output.action for step in first.trajectory.steps] == [step.output.action for step in second.trajectory.steps]
    assert (first.verdict.evidence["dream"], second.verdict.evidence["dream"]) == tuple(
        {"group": 0, "member": member, "expert": "e", "start_step": 0} for member in (0, 1)
    )


def test_the_judge_sees_what_was_done_before_the_start_and_the_dream_does_not_keep_it() -> None:
    judge = Judges("Page 5")
    start = start_at("e", expert(), 2)
    config = DreamConfig(group_size=1, dream_length=2)
    (found,) = dreams_from([start], Acts("click('9')", "click('10')", prefix=2), ScriptedWorldModel(PAGES[1:]), judge, config)
    (told,) = judge.seen
    assert [step.output.action.arguments["bid"] for step in told.steps] == ["7", "8", "9", "10"]
    assert [step.index for step in told.steps] == [0, 1, 2, 3]
    assert [step.output.action.arguments["bid"] for step in found.trajectory.steps] == ["9", "10"]


def test_a_dream_ends_at_its_length() -> None:
    (first, _) = dreamt("click('7')", "click('8')", config=DreamConfig(group_size=2, dream_length=2))
    assert (first.trajectory.stop_reason, len(first.trajectory.steps)) == ("max_steps", 2)
    assert first.verdict.status == "failure"


@pytest.mark.parametrize(
    ("action", "reason"), [("send_msg_to_user('42')", "stop"), ("report_infeasible('no such thing')", "infeasible")]
)
def test_an_answer_ends_it_without_asking_the_world_model(action: str, reason: str) -> None:
    model = ScriptedWorldModel(PAGES[1:])
    (first, _) = dreamt(action, model=model)
    assert (first.trajectory.stop_reason, model.batches) == (reason, [])
    assert first.trajectory.answer in ("42", "no such thing")


def test_where_messages_are_chat_they_end_nothing() -> None:
    start = start_at("e", expert(kind="raw_reward"), 0)
    model = ScriptedWorldModel(PAGES[1:])
    (found,) = dreams_from([start], Acts("send_msg_to_user('hm')"), model, Judges(), DreamConfig(group_size=1, dream_length=3))
    assert (found.trajectory.stop_reason, sum(model.batches)) == ("max_steps", 3)


@pytest.mark.parametrize("action", ["click('99')", "no action at all", "dance()"])
def test_what_a_browser_would_refuse_is_refused_and_no_model_is_asked(action: str) -> None:
    model = ScriptedWorldModel(PAGES[1:])
    (first, _) = dreamt(action, model=model, config=DreamConfig(group_size=2, dream_length=1))
    (step,) = first.trajectory.steps
    assert step.action_error is not None
    assert step.action_error.kind in ("stale", "parse")
    assert first.trajectory.final_observation is not None
    assert first.trajectory.final_observation.last_action_error == step.action_error.message
    assert first.trajectory.final_observation.axtree == PAGES[0]
    assert model.batches == []
    assert first.verdict.status == "failure", "a bad action is the policy's own failure"


def test_a_disabled_element_is_refused() -> None:
    page = "RootWebArea 'P'\n\t[7] button 'Go', disabled=True"
    start = FIRST.model_copy(update={"observation": Observation(url="u", axtree=page)})
    (found,) = dreams_from(
        [start], Acts("click('7')"), ScriptedWorldModel(PAGES), Judges(), DreamConfig(group_size=1, dream_length=1)
    )
    assert found.trajectory.steps[0].action_error is not None
    assert found.trajectory.steps[0].action_error.kind == "disabled"


@pytest.mark.parametrize(
    ("model", "judge", "boundary", "kind"),
    [
        (ScriptedWorldModel([None]), Judges(), "env", "malformed_prediction"),
        (ScriptedWorldModel([NotReadyError("the server is down")]), Judges(), "harness", "NotReadyError"),
        (ScriptedWorldModel([ValueError("no")]), Judges(), None, None),
        (ScriptedWorldModel(PAGES[5:]), Judges(status="inconclusive"), "judge", "no_verdict"),
    ],
)
def test_what_breaks_is_an_error_and_never_a_reward(
    model: ScriptedWorldModel, judge: Judges, boundary: str | None, kind: str | None
) -> None:
    if boundary is None:
        with pytest.raises(ValueError, match="no"):
            dreamt("click('7')", model=model, judge=judge)
        return
    for found in dreamt("click('7')", model=model, judge=judge):
        assert (found.verdict.status, found.verdict.reward) == ("error", None)
        assert found.verdict.error is not None
        assert (found.verdict.error.boundary, found.verdict.error.kind) == (boundary, kind)


def test_a_policy_that_breaks_is_an_error_of_the_policy() -> None:
    (first, _) = dreamt(RuntimeError("no memory"))
    assert first.verdict.error is not None
    assert first.verdict.error.boundary == "policy"


def test_disagreement_cuts_a_dream_short() -> None:
    agreed, apart = PAGES[1:], ["RootWebArea 'Elsewhere'", *PAGES[2:]]
    config = DreamConfig(group_size=1, truncation="disagreement", samples=2, max_disagreement=0.4)
    one = config.model_copy(update={"dream_length": 1})
    (calm,) = dreamt("click('7')", model=ScriptedWorldModel(agreed, others=[agreed]), config=one)
    (unsure,) = dreamt("click('7')", model=ScriptedWorldModel(agreed, others=[apart]), config=config)
    assert calm.trajectory.stop_reason == "max_steps"
    assert (unsure.trajectory.stop_reason, len(unsure.trajectory.steps)) == ("truncated", 1)
    assert unsure.trajectory.steps[0].metadata["disagreement"] == pytest.approx(1 - 4 / 7)  # type: ignore[operator]
    assert unsure.verdict.status == "failure", "it is still judged where it stopped"
    assert [world_model_usage(one.trajectory).requests for one in (calm, unsure)] == [2, 2], "each sample was paid for"


def test_confidence_needs_probabilities() -> None:
    (first, _) = dreamt("click('7')", config=DreamConfig(group_size=2, truncation="confidence"))
    assert first.verdict.error is not None
    assert first.verdict.error.kind == "no_logprobs"


def test_disagreement_is_none_among_equals_and_whole_among_strangers() -> None:
    def answers(*pages: str | None) -> float:
        model = ScriptedWorldModel([pages[0]], others=[[page] for page in pages[1:]])
        query = WorldModelQuery(observation=FIRST.observation, action=EXPERT.steps[0].output.action)
        return disagreement(FIRST.observation, model.predict([query], len(pages))[0])

    assert answers(PAGES[1], PAGES[1], PAGES[1]) == 0
    assert answers(PAGES[0], PAGES[0]) == pytest.approx(0), "two that foresee no change agree"
    assert answers(PAGES[1], None) == 1
    assert 0 < answers(PAGES[1], PAGES[2]) < 1, "both see the old page go"
    with pytest.raises(ValueError, match="two"):
        answers(PAGES[1])


def test_all_live_dreams_share_one_batch() -> None:
    starts = [start_at("a", EXPERT, 0), start_at("b", EXPERT, 2)]
    actor, model, judge = Acts("click('7')"), ScriptedWorldModel(PAGES[1:]), Judges("Page")
    found = dreams_from(starts, actor, model, judge, DreamConfig(group_size=3, dream_length=3))
    assert [len(batch) for batch in actor.batches] == [6, 6, 6]
    assert judge.batches == [6]
    assert [(d.planned.group, d.planned.spec.repeat) for d in found] == [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]
    assert found[3].trajectory.start.prefix_actions == tuple(step.output.action for step in EXPERT.steps[:2])
    assert found[3].trajectory.producers == {
        "policy": "acts 1", "world_model": "scripted 1", "judge": "judges 1", "expert": "b",
    }  # fmt: skip
    assert len({d.planned.spec.episode_id for d in found}) == len({d.planned.spec.seed for d in found}) == 6


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_the_same_seed_dreams_the_same(groups: int, size: int, seed: int) -> None:
    config = DreamConfig(group_size=size, seed=seed)
    starts = sample_starts([("e", EXPERT)], groups, middle_share=0.5, rng=random.Random(seed))

    def once() -> list[dict[str, object]]:
        found = dreams_from(starts, Acts("click('7')", "click('8')"), ScriptedWorldModel(PAGES[1:]), Judges("Page 2"), config)
        return [_timeless(d) for d in found]

    assert once() == once()


def _timeless(found: Dream) -> dict[str, object]:
    trajectory = found.trajectory.model_dump(exclude={"steps": {"__all__": {"timing"}}})
    return {"trajectory": trajectory, "verdict": found.verdict, "planned": found.planned}


def test_starts_are_first_or_middle_states_and_name_their_way() -> None:
    starts = sample_starts([("e", EXPERT), ("f", expert("u", 2))], 400, middle_share=0.5, rng=random.Random(1))
    lengths = [len(start.history) for start in starts]
    assert 140 < lengths.count(0) < 260
    assert set(lengths) == {0, 1, 2, 3}
    assert sum(start.expert == "e" for start in starts) == 200, "each expert as often"
    for start in starts[:50]:
        steps = (EXPERT if start.expert == "e" else expert("u", 2)).steps
        assert start.observation == steps[len(start.history)].observation
    assert {len(s.history) for s in sample_starts([("e", EXPERT)], 20, middle_share=0.0, rng=random.Random(1))} == {0}
    with pytest.raises(UsageError, match="no expert trajectory"):
        sample_starts([("e", EXPERT.model_copy(update={"steps": ()}))], 1, middle_share=0.5, rng=random.Random(1))


def test_new_elements_get_bids_of_their_own() -> None:
    page = "RootWebArea 'P'\n\t[1] button 'Old'\n\tlink 'New'\n\t\tStaticText 'New'\n\t[b3] link 'Odd'\n\tlink 'New too'"
    tree = parse(with_bids(Observation(url="u", axtree=page)).axtree)
    bids = [node.bid for node in tree.nodes if node.role in ("button", "link")]
    assert bids[0] == "1" and bids[2] == "b3"
    assert len(set(bids)) == 4 and None not in bids
    whole = Observation(url="u", axtree=PAGES[0])
    assert with_bids(whole) is whole


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.sampled_from(["a", "b"]), max_size=5), min_size=1, max_size=6))
def test_a_meeting_serves_everyone_in_order_and_in_the_largest_batches(questions: list[list[str]]) -> None:
    batches: list[tuple[str, list[int]]] = []

    def serving(kind: str):  # type: ignore[no-untyped-def]
        def serve(requests: list[tuple[int, int]]) -> list[str]:
            batches.append((kind, [member for member, _ in requests]))
            return [f"{kind}{member}{turn}" for member, turn in requests]

        return serve

    meeting = Meeting(len(questions), {"a": serving("a"), "b": serving("b")})
    answers: list[list[str]] = [[] for _ in questions]

    def attend(member: int) -> None:
        for turn, kind in enumerate(questions[member]):
            answers[member].append(meeting.ask(member, kind, (member, turn)))
        meeting.leave()

    threads = [threading.Thread(target=attend, args=(member,)) for member in range(len(questions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[f"{kind}{member}{turn}" for turn, kind in enumerate(asked)] for member, asked in enumerate(questions)]
    left = [list(asked) for asked in questions]
    expected = []
    while any(left):
        kind = "a" if any(asked[:1] == ["a"] for asked in left) else "b"
        members = [member for member, asked in enumerate(left) if asked[:1] == [kind]]
        expected.append((kind, members))
        for member in members:
            left[member].pop(0)
    assert batches == expected, "only what nobody can add to is served, the first kind first"


def test_a_meeting_passes_errors_to_those_who_asked() -> None:
    meeting = Meeting(1, {"x": lambda _: [], "y": lambda _: 1 / 0})  # type: ignore[dict-item,list-item,return-value]
    with pytest.raises(RuntimeError, match="1 questions to the x got 0 answers"):
        meeting.ask(0, "x", None)
    with pytest.raises(ZeroDivisionError):
        meeting.ask(0, "y", None)
