"""A small real problem: two pages of three buttons each, of which one leads on; chance is one in nine.

The policy is a tiny Llama behind `CheckpointActor`: real prompts, real sampling, real parsing, the one rollout loop. First it is
taught to click any button of the page, so its success is that of chance; what it gains after that comes from rewards alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from harness.actions import bids_of, make_action
from harness.protocols import StepResult
from harness.rollout import run_episode, with_target
from harness.types import (
    Action,
    EpisodeSpec,
    EvaluatorSpec,
    Observation,
    PolicyOutput,
    Source,
    Start,
    Step,
    Task,
    Timing,
    Trajectory,
    Verdict,
)  # fmt: skip
from training.agent.mixture import GroupRequest
from training.agent.policy import CheckpointActor, CheckpointPolicy
from training.agent.prompting import encode_expert
from training.agent.rows import Encode, Sample
from training.dream.meeting import Meeting
from training.models import CheckpointCard, ModelConfig, build_model, save_checkpoint

PAGES = (("Save", "Cancel", "Help"), ("Yes", "No", "Later"))
"""The first of each leads on."""
CHANCE = 1 / 9
CARD = CheckpointCard(kind="agent", preset="toy", format="descriptor", max_prompt_tokens=96, max_new_tokens=8)
MODEL = ModelConfig(vocab_size=330, hidden_size=48, layers=2, heads=4, kv_heads=2, intermediate_size=96, context=160)
GOOD = Verdict(status="success", reward=1.0, scorer="toy", scorer_version="1")


def tasks() -> list[Task]:
    return [Task(benchmark="toy", task_id=f"t{k}", goal="Keep it", evaluator=EvaluatorSpec(kind="state")) for k in range(2)]


class ButtonsEnv:
    """Buttons in an order drawn from the seed. A wrong click ends it; two right ones are a success."""

    def reset(self, spec: EpisodeSpec) -> tuple[str, Observation]:
        self._order = random.Random(spec.seed)
        self._at = 0
        self._show()
        return spec.task.goal, page(self._names)

    def step(self, action: Action) -> StepResult:
        bids = bids_of(action)
        right = bool(bids) and self._names[int(bids[0]) - 1] == PAGES[self._at][0]
        self._at += right
        over = bool(bids) and (not right or self._at == len(PAGES))
        if right and not over:
            self._show()
        return StepResult(page(self._names), None, 0.0, over, False, Timing())

    def score(self, trajectory: Trajectory) -> Verdict:
        return GOOD if self._at == len(PAGES) else GOOD.model_copy(update={"status": "failure", "reward": 0.0})

    def close(self) -> None: ...

    def _show(self) -> None:
        self._names = self._order.sample(PAGES[self._at], 3)


def page(names: Sequence[str]) -> Observation:
    lines = [f"\t[{bid}] button {name!r}" for bid, name in enumerate(names, 1)]
    return Observation(url="toy:/", axtree="\n".join(["RootWebArea ''", *lines]))


class _Asked:
    """Each rollout in a thread of its own, the model asked for all of them at once."""

    def __init__(self, meeting: Meeting, member: int) -> None:
        self.name, self._meeting, self._member = "toy", meeting, member
        self.prompt = None

    def act_all(self, requests: Sequence[Any]) -> list[PolicyOutput]:
        return [self._meeting.ask(self._member, "policy", request) for request in requests]


def rollout(actor: CheckpointActor) -> Any:
    """The trainer's callable."""

    def play_all(requests: Sequence[GroupRequest], version: int) -> list[Sample]:
        actor.version = str(version)
        seats = [(request, member) for request in requests for member in range(request.size)]
        meeting = Meeting(len(seats), {"policy": actor.act_all})

        def play(number: int) -> Sample:
            request, member = seats[number]
            seed = (request.seed + member) % 2**31
            try:
                policy = CheckpointPolicy(_Asked(meeting, number))  # type: ignore[arg-type]
                spec = EpisodeSpec(task=request.task, seed=seed, order_index=number)
                trajectory, verdict = run_episode(policy, ButtonsEnv(), spec, max_steps=2, source="dream")
            finally:
                meeting.leave()
            return Sample(request.key, str(member), trajectory, verdict)

        with ThreadPoolExecutor(max(len(seats), 1)) as pool:
            return list(pool.map(play, range(len(seats))))

    return play_all


def taught_actor(seed: int = 0, steps: int = 60) -> CheckpointActor:
    """A policy that clicks some button of the page, whatever the goal is."""
    model, tokenizer = build_model(MODEL, list(_texts()), seed=seed)
    actor = CheckpointActor(model, tokenizer, CARD)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    rng = random.Random(seed)
    for _ in range(steps):
        rows = [_lesson(actor, rng) for _ in range(16)]
        longest = max(len(prompt) + len(reply) for prompt, reply in rows)
        ids = torch.zeros(16, longest, dtype=torch.long)
        labels = torch.full((16, longest), -100)
        for r, (prompt, reply) in enumerate(rows):
            end = len(prompt) + len(reply)
            ids[r, :end] = torch.tensor([*prompt, *reply])
            labels[r, len(prompt) : end] = torch.tensor(reply)
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return actor


def _lesson(actor: CheckpointActor, rng: random.Random) -> tuple[list[int], list[int]]:
    clicks = rng.choice(PAGES[0]), rng.choice(PAGES[1])
    return rng.choice(encode_expert(actor.prompt, actor.encoder, clicking(clicks, rng)))


def clicking(clicks: Sequence[str], rng: random.Random, source: Source = "expert") -> Trajectory:
    """A trajectory of one click per page."""
    steps = []
    for index, clicked in enumerate(clicks):
        names = rng.sample(PAGES[index], 3)
        action = make_action("click", {"bid": str(names.index(clicked) + 1)})
        action = with_target(action, page(names))
        steps.append(Step(index=index, observation=page(names), output=PolicyOutput(action=action)))
    return Trajectory(
        task=tasks()[0],
        source=source,
        start=Start(task_id="t0"),
        goal="Keep it",
        seed=0,
        steps=tuple(steps),
        stop_reason="terminated",
    )


def experts() -> dict[str, list[Sample]]:
    """One real success per task."""
    return {t.task_id: [Sample("", "expert", clicking(("Save", "Yes"), random.Random(5)), GOOD)] for t in tasks()}


def _texts() -> Iterator[str]:
    for name in (name for names in PAGES for name in names):
        yield f'goal "Keep it"\nat / ""\npast click button "{name}"\nbutton "{name}"\n' * 4


def encoder_of(actor: CheckpointActor) -> Encode:
    return lambda trajectory: encode_expert(actor.prompt, actor.encoder, trajectory)


def save(actor: CheckpointActor) -> Any:
    def write(model: Any, directory: Path) -> None:
        save_checkpoint(directory, model, actor.tokenizer, CARD)

    return write
