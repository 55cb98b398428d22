"""The learned world model behind an OpenAI-compatible server (vLLM, `transformers serve`): same prompts, same readings.

    [server]                      harness.completions.EndpointConfig: base_url, model, logprobs = true …
    checkpoint = "DIR"            the served directory: its format, budgets, page memory and tokenizer

Greedy decoding of the same weights gives the same predictions as in process (tests/training/model/test_served.py), except for
pages that hold a special token's text: a chat server reads those as tokens (training.models.prompting).
P(success) is exp(logprob) of the first token, or one minus that where the answer is `failure`; in process the two are weighed
against each other alone, which differs by what the model gives to other words.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from pydantic import Field, ValidationError

from harness.completions import Completion, CompletionError, Completions, EndpointConfig
from harness.errors import NotReadyError, UsageError
from harness.predictions import Prediction, WorldModelQuery
from harness.types import Record
from training.world_model.formats import Format
from training.world_model.model.answers import prediction
from training.world_model.model.assessment import CHOICES, FAILURE, SUCCESS, assessment_prompt, ends
from training.world_model.model.learned import DRAWN_TEMPERATURE, last_moment

DOWN = frozenset({"unreachable", "timeout", "unauthorized", "model_not_found", "rate_limited", "http_3xx", "http_5xx"})
"""Kinds of failure that concern the server, not the question."""


class ServedConfig(Record):
    """A `http:FILE.toml`."""

    server: EndpointConfig
    """Where the model is served, and what is asked of the server."""
    checkpoint: Path
    """The checkpoint that is served; relative to the file."""
    concurrency: int = Field(default=16, ge=1, le=1024)
    """Questions under way at once."""


def read_served(path: Path) -> ServedConfig:
    """Raises UsageError, one line per mistake."""
    fix = "it has checkpoint = DIR and a section [server] with base_url and model"
    try:
        found = ServedConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", fix=fix) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}", fix=fix) from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UsageError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}", fix=fix) from None
    return found.model_copy(update={"checkpoint": path.parent / found.checkpoint})


class ServedWorldModel:
    """A `WorldModel` whose language model is somewhere else."""

    parameters: int | None = None

    def __init__(
        self, config: ServedConfig, form: Format, *, name: str, version: str, max_new_tokens: int, assesses: bool
    ) -> None:
        self.name, self.version, self.format, self.assesses = name, version, form, assesses
        self._config, self._max_new_tokens = config, max_new_tokens
        self._client = Completions(config.server)

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        """See `harness.protocols.WorldModel`. Raises NotReadyError where the server is down or refuses us."""
        temperature = self._config.server.temperature or 0.0
        drawn = DRAWN_TEMPERATURE if samples > 1 and temperature == 0.0 else temperature
        asked = [(query, sample) for query in queries for sample in range(samples)]
        with ThreadPoolExecutor(self._config.concurrency) as pool:
            answers = list(pool.map(lambda one: self._answer(one[0], one[1], drawn), asked))
        found = [answers[i * samples : (i + 1) * samples] for i in range(len(queries))]
        if not self.assesses:
            return found
        moments = [
            (number, sample, last_moment(query, said))
            for number, (query, row) in enumerate(zip(queries, found, strict=True))
            for sample, said in enumerate(row)
            if query.goal and (ends(query.action) or said.terminal)
        ]
        for (number, sample, _), p in zip(moments, self.assess([query for _, _, query in moments]), strict=True):
            found[number][sample] = found[number][sample].model_copy(update={"self_assessed_reward": p})
        return found

    def assess(self, queries: Sequence[WorldModelQuery]) -> list[float | None]:
        """P(the goal is reached); None where the model said something else. Raises NotReadyError without log-probabilities."""
        with ThreadPoolExecutor(self._config.concurrency) as pool:
            return list(pool.map(self._assess, queries))

    def assessment_text(self, query: WorldModelQuery) -> str:
        return assessment_prompt(self.format, query)

    def close(self) -> None:
        self._client.close()

    def _answer(self, query: WorldModelQuery, sample: int, temperature: float) -> Prediction:
        try:
            said = self._ask(self.format.prompt(query), self._max_new_tokens, temperature, _seed(query.seed, sample))
        except CompletionError as error:
            if error.kind in DOWN:
                raise NotReadyError(f"the world model's server gives no answers: {error}", fix=error.fix) from error
            return Prediction(
                world_model=f"{self.name} {self.version}", next_observation=None, malformed=f"{error.kind}: {error}"
            )
        return prediction(
            self.format,
            query,
            said.text,
            world_model=f"{self.name} {self.version}",
            finish_reason=said.finish_reason,
            usage=said.usage,
            token_ids=said.token_ids,
            token_logprobs=said.logprobs,
        )

    def _assess(self, query: WorldModelQuery) -> float | None:
        try:
            said = self._ask(assessment_prompt(self.format, query), 8, 0.0, 0)
        except CompletionError as error:
            raise NotReadyError(f"the world model's server gives no assessment: {error}", fix=error.fix) from error
        if not said.logprobs:
            raise NotReadyError(
                "the world model's server returns no log-probabilities: P(success) is unknown",
                fix="set logprobs = true under [server], and serve with vLLM or another server that returns them",
            )
        chosen = next((choice for choice in CHOICES if said.text.strip().startswith(choice)), None)
        p = min(1.0, math.exp(said.logprobs[0]))
        return {SUCCESS: p, FAILURE: 1.0 - p}.get(chosen or "")

    def _ask(self, prompt: str, max_tokens: int, temperature: float, seed: int) -> Completion:
        messages = [{"role": "user", "content": prompt}]
        return self._client.complete(messages, max_tokens=max_tokens, temperature=temperature, seed=seed)


def _seed(seed: int, sample: int) -> int:
    """A seed of 31 bits for one sample of a query."""
    return int(np.random.SeedSequence((seed, sample)).generate_state(1)[0] >> 1)
