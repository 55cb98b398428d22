"""A language model in this process as a world model: all queries in one batch, n samples, every fault surfaced.

    predict   prompt → generate → format.read → Prediction;   malformed → decoded once more, if asked for (`repair`)
    assess    P(success) from the first token after the assessment prompt
At an episode's end (the agent's answer, waiting, a page foretold to be the last) a prediction also says `self_assessed_reward`.

Greedy where one sample is asked for and the temperature is 0; further samples are drawn at `sample_temperature`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from harness.actions import make_action
from harness.predictions import PastStep, Prediction, WorldModelQuery
from harness.types import Usage
from training.models import Checkpoint, GenerationConfig, choice_probabilities, generate
from training.models.generate import Allowed, Generated
from training.world_model.formats import Format
from training.world_model.model.answers import prediction
from training.world_model.model.assessment import CHOICES, WAITING, assessment_prompt, ends

DRAWN_TEMPERATURE = 1.0


class LearnedWorldModel:
    """A `WorldModel`. Not thread-safe: one call at a time."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        form: Format,
        *,
        name: str,
        version: str,
        generation: GenerationConfig,
        assesses: bool,
        sample_temperature: float = DRAWN_TEMPERATURE,
    ) -> None:
        self.name, self.version, self.format, self.assesses = name, version, form, assesses
        self._model, self._tokenizer, self._generation = model, tokenizer, generation
        self._sample_temperature = sample_temperature
        self.parameters = sum(p.numel() for p in model.parameters())

    @classmethod
    def of_checkpoint(cls, checkpoint: Checkpoint, form: Format, generation: GenerationConfig) -> LearnedWorldModel:
        card = checkpoint.card
        return cls(
            checkpoint.model,
            checkpoint.tokenizer,
            form,
            name=card.preset,
            version=f"{card.format} {card.weights_sha256[:12]}",
            generation=generation,
            assesses=card.assesses,
        )

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        """See `harness.protocols.WorldModel`."""
        if not queries:
            return []
        began = time.perf_counter()
        config = self._generation
        if samples > 1 and config.temperature == 0.0:
            config = config.model_copy(update={"temperature": self._sample_temperature})
        prompts = [self.format.prompt(query) for query in queries]
        answers = self._generate(prompts, config, samples, [query.seed for query in queries])
        seconds = (time.perf_counter() - began) / (len(queries) * samples)
        found = [[self._read(query, answer, seconds) for answer in row] for query, row in zip(queries, answers, strict=True)]
        return self._with_assessments(queries, found)

    def assess(self, queries: Sequence[WorldModelQuery]) -> list[float | None]:
        """P(the goal is reached) at the page of each query, where its action is the agent's last word or a wait.

        A model that was not taught to assess is asked all the same: the paper's frozen model judges by instruction.
        """
        prompts = [assessment_prompt(self.format, query) for query in queries]
        found = choice_probabilities(self._model, self._tokenizer, prompts, CHOICES, self._generation)
        return [row[0] for row in found]

    def assessment_text(self, query: WorldModelQuery) -> str:
        """What `assess` reads, as evidence."""
        return assessment_prompt(self.format, query)

    def close(self) -> None: ...

    def _generate(
        self, prompts: list[str], config: GenerationConfig, samples: int, seeds: list[int], allowed: Allowed | None = None
    ) -> list[list[Generated]]:
        return generate(self._model, self._tokenizer, prompts, config, samples=samples, seeds=seeds, allowed=allowed)

    def _read(self, query: WorldModelQuery, answer: Generated, seconds: float) -> Prediction:
        return prediction(
            self.format,
            query,
            answer.text,
            world_model=f"{self.name} {self.version}",
            finish_reason=answer.finish_reason,
            usage=Usage(requests=1, prompt_tokens=answer.prompt_tokens, completion_tokens=len(answer.token_ids), seconds=seconds),
            token_ids=answer.token_ids,
            token_logprobs=answer.logprobs,
        )

    def _with_assessments(self, queries: Sequence[WorldModelQuery], found: list[list[Prediction]]) -> list[list[Prediction]]:
        if not self.assesses:
            return found
        asked: list[tuple[int, int, WorldModelQuery]] = []
        for number, (query, row) in enumerate(zip(queries, found, strict=True)):
            for sample, said in enumerate(row):
                if query.goal and (ends(query.action) or said.terminal):
                    asked.append((number, sample, last_moment(query, said)))
        if asked:
            for (number, sample, _), p in zip(asked, self.assess([query for _, _, query in asked]), strict=True):
                found[number][sample] = found[number][sample].model_copy(update={"self_assessed_reward": p})
        return found


def last_moment(query: WorldModelQuery, said: Prediction) -> WorldModelQuery:
    """The query to assess: at an answer the page that it was given on; after a last action the page that it leads to."""
    if ends(query.action) or said.next_observation is None:
        return query
    past = PastStep(observation=query.observation, action=query.action)
    return query.model_copy(
        update={
            "observation": said.next_observation,
            "action": make_action(WAITING, {}),
            "history": (*query.history, past),
        }
    )
