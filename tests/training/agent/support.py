"""A tiny real Llama, rows for it, samples and tasks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from harness.types import (
    Action,
    EvaluatorSpec,
    Observation,
    PolicyOutput,
    Source,
    Start,
    Status,
    Step,
    Task,
    Trajectory,
    Verdict,
)
from training.agent.grouping import Batch
from training.agent.rows import Row, Sample

VOCABULARY = 29


def tiny_llama(seed: int = 0, dtype: torch.dtype = torch.float64) -> Any:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, initializer_range=0.3, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return LlamaForCausalLM(config).to(dtype)


def rows(seed: int, turns: Sequence[int], experts: Sequence[int] = ()) -> tuple[list[Row], list[int]]:
    """Random rows of len(turns) trajectories, and the trajectory of each; one response has a token that is not the policy's."""
    rng = random.Random(seed)
    found, trajectory = [], []
    for index, count in enumerate(turns):
        for turn in range(count):
            prompt = tuple(rng.randrange(VOCABULARY) for _ in range(rng.randint(3, 20)))
            response = tuple(rng.randrange(VOCABULARY) for _ in range(rng.randint(1, 7)))
            mask = tuple(k != 1 for k in range(len(response)))
            expert = index in experts
            log_probs = None if expert else tuple(-3 * rng.random() for _ in response)
            found.append(Row("g", f"t{index}", turn, prompt, response, mask, log_probs, expert))
            trajectory.append(index)
    return found, trajectory


def batch(seed: int, turns: Sequence[int], experts: Sequence[int] = ()) -> Batch:
    found, trajectory = rows(seed, turns, experts)
    rng = random.Random(seed + 1)
    advantages = tuple(rng.choice([1.0, -1.0]) * rng.uniform(0.2, 2) for _ in turns)
    return Batch(tuple(found), tuple(trajectory), advantages, 1)


def task(name: str = "t", **more: Any) -> Task:
    return Task(benchmark="toy", task_id=name, evaluator=EvaluatorSpec(kind="state"), **more)


def sample(
    group: str,
    name: str,
    reward: float | None = 1.0,
    *,
    source: Source = "dream",
    status: Status | None = None,
    turns: int = 2,
    of: str = "t",
    tokens: tuple[int, ...] | None = (5, 6, 2),
    logprobs: tuple[float, ...] | None = (-1.0, -2.0, -0.5),
    prompt: tuple[int, ...] | None = (1, 3, 4),
    expert: bool = False,
    poisoned: bool | None = None,
) -> Sample:
    """A sample as a rollout gives it."""
    output = PolicyOutput(
        action=Action(name="click", arguments={"bid": "1"}), prompt_token_ids=prompt, token_ids=tokens, logprobs=logprobs
    )
    steps = tuple(
        Step(index=k, observation=Observation(url="toy:", axtree="RootWebArea 'x'"), output=output) for k in range(turns)
    )
    status = status or ("success" if reward else "failure")
    trajectory = Trajectory(
        task=task(of), source=source, start=Start(task_id=of), goal="do it", seed=0, steps=steps, stop_reason="stop"
    )
    verdict = Verdict(
        status=status, reward=reward if status in ("success", "failure") else None, scorer="toy", scorer_version="1"
    )
    return Sample(group, name, trajectory, verdict, expert=expert, poisoned=poisoned)
