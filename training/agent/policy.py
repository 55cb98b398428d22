"""A checkpoint as an agent: `CheckpointActor` answers batches of pages (dreams), `CheckpointPolicy` one page after the other.

    harness run --policy checkpoint:DIR      found by the entry point `checkpoint` of the group dynaweb_harness.policies

Both keep the sampler's token ids and log-probabilities. The policy remembers its own episode; the actor is told.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from pydantic import JsonValue

from harness.errors import UsageError
from harness.predictions import PastStep
from harness.types import JsonDict, Observation, PolicyOutput, Task, Trajectory, Usage
from training.agent.prompting import AgentPrompt, encode_expert, get_codec
from training.models.checkpoint import CheckpointCard, inference_copy, load_checkpoint, save_checkpoint
from training.models.generate import Generated, GenerationConfig, generate
from training.models.presets import LoraConfig, with_lora
from training.models.presets import precision as is_bf16
from training.models.prompting import PromptEncoder

DRAW = "draw"
"""Key of `Task.metadata`: what a policy samples from where several rollouts share the environment's seed."""


class ActRequest(Protocol):
    """What is read of `training.dream.generate.ActRequest`."""

    @property
    def goal(self) -> str: ...
    @property
    def observation(self) -> Observation: ...
    @property
    def history(self) -> tuple[PastStep, ...]: ...
    @property
    def seed(self) -> int: ...


class CheckpointActor:
    """A model that answers pages. `version` names the weights in each output; a trainer counts it up with its updates."""

    def __init__(self, model: Any, tokenizer: Any, card: CheckpointCard, *, temperature: float = 1.0, version: str = "0") -> None:
        """Raises UsageError for the checkpoint of a world model, or an unknown action syntax."""
        if card.kind != "agent":
            raise UsageError(
                f"{card.preset} is a checkpoint of a world model, not of an agent", fix="train one: harness train agent-sft"
            )
        self._codec, self.card = get_codec(card.format), card
        self.prompt = AgentPrompt.model_validate({"syntax": card.format, "max_prompt_tokens": card.max_prompt_tokens})
        self.encoder = PromptEncoder(tokenizer)
        self.model, self.tokenizer = model, tokenizer
        self.trained = model
        """What a trainer trains: the model, or what `adapt` put around it."""
        self.name, self.version = f"checkpoint:{card.preset}", version
        self.generation = GenerationConfig(max_new_tokens=card.max_new_tokens, temperature=temperature)

    def identity(self) -> JsonDict:
        """What makes this policy the one it is, beside its name: a training that goes on must begin with the same."""
        card = self.card
        return {
            "policy": card.weights_sha256,
            "syntax": card.format,
            "max_prompt_tokens": card.max_prompt_tokens,
            "max_new_tokens": card.max_new_tokens,
        }

    def adapt(self, lora: LoraConfig, seed: int) -> None:
        """Freeze the weights and add low-rank ones: answers are given with them from now on. Raises UsageError as `with_lora`.

        `seed`: of the additions' random half.
        """
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.trained = with_lora(self.model, lora)

    def at(self, version: str) -> None:
        """From now on answers are of the weights called `version`: in this process the model's present ones."""
        self.version = version

    def act_all(self, requests: Sequence[ActRequest]) -> list[PolicyOutput]:
        """One output each, in order. The same request gives the same answer, whatever it is batched with."""
        started = time.perf_counter()
        shown = [self.prompt.text(self.encoder, r.goal, r.observation, r.history) for r in requests]
        prompts = [self.encoder.prompt(text.text) for text in shown]
        answers = self.sample(prompts, [request.seed for request in requests])
        seconds = (time.perf_counter() - started) / max(len(requests), 1)
        return [
            self._output(request, ids, text.dropped_lines, answer, seconds)
            for request, ids, text, answer in zip(requests, prompts, shown, answers, strict=True)
        ]

    def sample(self, prompts: Sequence[Sequence[int]], seeds: Sequence[int]) -> list[Generated]:
        """One answer to each prompt of token ids, in order."""
        self.model.eval()
        return [answer for (answer,) in generate(self.model, self.tokenizer, prompts, self.generation, seeds=seeds)]

    def encode(self, trajectory: Trajectory) -> list[tuple[list[int], list[int]]]:
        """`training.agent.rows.Encode`: an expert's steps as this policy would have seen and written them."""
        return encode_expert(self.prompt, self.encoder, trajectory)

    def write(self, directory: Path, model: Any = None, **training: JsonValue) -> None:
        """A checkpoint of `model` (default: the actor's own) as this policy, LoRA merged: every server loads it.

        `training`: what its card says of the training.
        """
        card = self.card.model_copy(update={"training": {"began_as": self.card.weights_sha256, **training}})
        chosen = self.trained if model is None else model
        save_checkpoint(directory, inference_copy(chosen) if hasattr(chosen, "peft_config") else chosen, self.tokenizer, card)

    def _output(
        self, request: ActRequest, prompt_ids: Sequence[int], dropped: int, answer: Generated, seconds: float
    ) -> PolicyOutput:
        usage = Usage(requests=1, prompt_tokens=len(prompt_ids), completion_tokens=len(answer.token_ids), seconds=seconds)
        return PolicyOutput(
            action=self._codec.read(answer.text, request.observation),
            text=answer.text,
            prompt_token_ids=tuple(prompt_ids),
            token_ids=answer.token_ids,
            logprobs=answer.logprobs,
            finish_reason=answer.finish_reason,
            policy_version=self.version,
            usage=usage,
            dropped_lines=dropped,
        )


class PageRequest:
    """One page of an episode: an `ActRequest`."""

    def __init__(self, goal: str, observation: Observation, history: tuple[PastStep, ...], seed: int) -> None:
        self.goal, self.observation, self.history, self.seed = goal, observation, history, seed


class CheckpointPolicy:
    """`harness.protocols.Policy` over an actor."""

    def __init__(self, actor: CheckpointActor) -> None:
        self.name = actor.name
        self.actor = actor
        self._goal, self._seed, self._past = "", 0, tuple[PastStep, ...]()

    def reset(self, goal: str, task: Task, seed: int) -> None:
        draw = task.metadata.get(DRAW)
        self._goal, self._seed, self._past = goal, draw if isinstance(draw, int) else seed, ()

    def act(self, observation: Observation) -> PolicyOutput:
        seed = (self._seed + len(self._past)) % 2**31
        output = self.actor.act_all([PageRequest(self._goal, observation, self._past, seed)])[0]
        self._past = (*self._past, PastStep(observation=observation, action=output.action))
        return output

    def close(self) -> None: ...


def load_actor(
    directory: str | Path, *, temperature: float = 1.0, device: str = "auto", precision: str = "fp32"
) -> CheckpointActor:
    """The agent of a checkpoint directory, for batches. `precision` of its answers: fp32, bf16, or auto as in training.

    Raises UsageError for a directory that is no agent's checkpoint.
    """
    checkpoint = load_checkpoint(directory, device=device)
    actor = CheckpointActor(
        checkpoint.model, checkpoint.tokenizer, checkpoint.card, temperature=temperature, version=checkpoint.name
    )
    if is_bf16(precision):
        actor.generation = actor.generation.model_copy(update={"precision": "bf16"})
    return actor


def load_policy(directory: str, *, temperature: float = 0.0, device: str = "auto", threads: int = 1) -> CheckpointPolicy:
    """The policy of `--policy checkpoint:DIR`. Greedy unless a temperature is given; `threads` of each worker process.

    Raises UsageError for a directory that is no agent's checkpoint.
    """
    torch.set_num_threads(threads)
    return CheckpointPolicy(load_actor(directory, temperature=temperature, device=device))
