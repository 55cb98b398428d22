"""The policy's rollouts on a server: vLLM answers, and is given the trainer's weights before each update's rollouts.

    trainer ── weights of version v ──▶ DIR/policy ── POST /collective_rpc reload_weights, /reset_prefix_cache ──▶ vLLM
       ▲                                                                                                            │
       └──── token ids and log-probabilities of the sampler, policy_version v ◀── POST /v1/completions (token ids) ─┘

[rollouts] of configs/agent/*.toml; vLLM must run with VLLM_SERVER_DEV_MODE=1 and read DIR (the same disk). Prompts go as the
token ids that the trainer will train on, and the sampler's ids come back: nothing is tokenised twice. Stale weights, another
temperature or a server that rounds otherwise are caught by `trainer.on_policy_tolerance`. vLLM reports log-probabilities before
the temperature unless it is started with `--logprobs-mode processed_logprobs`: needed where trainer.temperature is not 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness.completions import Completion, CompletionError, Completions
from harness.errors import NotReadyError
from harness.types import JsonDict
from training.agent.config import RolloutSection
from training.agent.policy import CheckpointActor
from training.models.generate import Generated, GenerationConfig

RELOAD_SECONDS = 600.0
"""A large model takes minutes to be read from disk."""


class ServedActor(CheckpointActor):
    """`CheckpointActor` whose answers come from a server. `directory`: where weights are written for it to read."""

    def __init__(self, actor: CheckpointActor, section: RolloutSection, directory: Path) -> None:
        """`actor`: the policy in this process, which is trained; its temperature is the sampler's."""
        assert section.server is not None
        super().__init__(actor.model, actor.tokenizer, actor.card, temperature=actor.generation.temperature)
        self.trained = actor.trained
        # What an update needs of an answer, whatever the file says.
        asked = section.server.model_copy(update={"logprobs": True, "token_ids": True})
        self._client = Completions(asked)
        self._loader = Completions(asked.model_copy(update={"timeout_seconds": RELOAD_SECONDS}))
        self._concurrency, self._weights = section.concurrency, directory / "policy"
        self._served = ""

    def at(self, version: str) -> None:
        """Give the server this version's weights. Raises NotReadyError where it does not take them."""
        super().at(version)
        if version == self._served:
            return
        self.write(self._weights)
        reload: JsonDict = {"method": "reload_weights", "kwargs": {"weights_path": str(self._weights.resolve())}}
        try:
            self._loader.control("/collective_rpc", reload)
            self._loader.control("/reset_prefix_cache", {})
        except CompletionError as error:
            raise NotReadyError(
                f"the rollouts' server does not take new weights: {error}",
                fix="vLLM with VLLM_SERVER_DEV_MODE=1, on a machine that reads this disk; then the same command goes on",
            ) from error
        self._served = version

    def sample(self, prompts: Sequence[Sequence[int]], seeds: Sequence[int]) -> list[Generated]:
        """See `CheckpointActor.sample`. Raises NotReadyError where the server is down, refuses, or leaves out ids or numbers."""
        with ThreadPoolExecutor(self._concurrency) as pool:
            return list(pool.map(lambda one: self._one(*one), zip(prompts, seeds, strict=True)))

    def _one(self, prompt: Sequence[int], seed: int) -> Generated:
        config: GenerationConfig = self.generation
        try:
            said = self._client.continue_ids(
                prompt, max_tokens=config.max_new_tokens, temperature=config.temperature, seed=seed % 2**31
            )
        except CompletionError as error:
            raise NotReadyError(f"the rollouts' server gives no answers: {error}", fix=error.fix) from error
        return _read(said, self.tokenizer, len(prompt))


def _read(said: Completion, tokenizer: Any, prompt_tokens: int) -> Generated:
    """The text is made from the ids here, as in this process. The end token is one of the ids."""
    ids, numbers = said.token_ids, said.logprobs
    if not ids or numbers is None or len(numbers) != len(ids):
        raise NotReadyError(
            "the rollouts' server does not say which tokens it drew and with what log-probabilities",
            fix="vLLM 0.10.2 or later: it answers return_token_ids and logprobs",
        )
    stopped = ids[-1] == int(tokenizer.eos_token_id)
    return Generated(
        text=tokenizer.decode(ids[:-1] if stopped else ids, skip_special_tokens=True),
        token_ids=ids,
        logprobs=numbers,
        finish_reason="stop" if stopped else "length",
        prompt_tokens=prompt_tokens,
    )
