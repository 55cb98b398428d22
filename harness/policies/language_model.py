"""`LanguageModelPolicy`: a language model behind an OpenAI-compatible endpoint, prompted with the page.

    observation → prompting.build_prompt → Completions → extract_action → PolicyOutput

A reply without a readable action, or with one that the prompt did not offer, becomes an `invalid` Action: it is
counted, shown to the model as an error, and never executed. Only the endpoint's own failures raise
(`CompletionError`, boundary `policy`).
"""

from __future__ import annotations

import hashlib

from harness.actions import extract_action, invalid, print_action, print_webarena_action
from harness.completions import Completions
from harness.errors import UsageError
from harness.policies.config import LlmConfig
from harness.policies.prompting import SYNTAX, Turn, allowed_actions, build_prompt, system_prompt, without_images
from harness.types import INVALID_ACTION, Action, Observation, PolicyOutput, Task

_MAX_SEED = 2**31
"""Servers read seeds as 32-bit integers."""


class LanguageModelPolicy:
    """Raises `NotReadyError` if the key's variable is not set, `UsageError` for a prompt that cannot be built."""

    name = "llm"

    def __init__(self, config: LlmConfig) -> None:
        self._config = config
        self._syntax = SYNTAX[config.prompt]
        self._allowed = frozenset(allowed_actions(config))
        self._system = system_prompt(config)
        self.version = policy_version(config, self._system)
        self._completions = Completions(config.endpoint)
        self._goal, self._seed = "", 0
        self._turns: list[Turn] = []
        self._pending: Turn | None = None

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._goal, self._seed = goal, seed
        self._turns, self._pending = [], None

    def act(self, observation: Observation) -> PolicyOutput:
        self._note_outcome(observation)
        prompt = build_prompt(self._config, self._system, self._goal, self._turns, observation)
        reply = self._completions.complete(prompt.messages, seed=self._step_seed())
        action = self._read(reply.text)
        self._pending = Turn(observation, reply.text, self._written(action), "")
        return PolicyOutput(
            action=action,
            text=reply.text,
            prompt=without_images(prompt.messages) if self._config.keep_prompts else (),
            prompt_token_ids=reply.prompt_token_ids,
            token_ids=reply.token_ids,
            logprobs=reply.logprobs,
            finish_reason=reply.finish_reason,
            policy_version=self.version,
            usage=reply.usage,
            dropped_lines=prompt.dropped_lines,
        )

    def close(self) -> None:
        self._completions.close()

    # ------------------------------------------------------------------ inside

    def _note_outcome(self, observation: Observation) -> None:
        """The last action becomes history once it is known how it ended."""
        if self._pending is not None:
            self._turns.append(self._pending._replace(error=observation.last_action_error))
            self._pending = None

    def _step_seed(self) -> int | None:
        """Another seed for each step, the same in each run: one seed for all would make a stuck agent repeat itself."""
        if not self._config.send_seed:
            return None
        digest = hashlib.sha256(f"{self._seed}/{len(self._turns)}".encode()).digest()
        return int.from_bytes(digest[:4], "big") % _MAX_SEED

    def _read(self, text: str) -> Action:
        action = extract_action(text, self._syntax)
        if action.name == INVALID_ACTION or action.name in self._allowed:
            return action
        return invalid("unknown_action", f"{action.name} is not one of the offered actions", action.raw)

    def _written(self, action: Action) -> str:
        if action.name == INVALID_ACTION:
            return "(no readable action)"
        try:
            return print_webarena_action(action) if self._syntax == "webarena" else print_action(action)
        except UsageError:
            return action.raw


def policy_version(config: LlmConfig, system: str) -> str:
    """Model and prompt: `name prompt@1a2b3c4d`. Two results with the same version asked the same model the same way."""
    asked = config.model_dump_json(exclude={"endpoint": {"base_url", "api_key_env"}, "keep_prompts": True})
    digest = hashlib.sha256(f"{asked}\n{system}".encode()).hexdigest()
    return f"{config.endpoint.model} {config.prompt}@{digest[:8]}"
