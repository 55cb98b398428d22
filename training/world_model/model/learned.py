"""A language model in this process as a world model: all queries in one batch, n samples, every fault surfaced.

    predict   prompt → generate → format.read → Prediction;   malformed → decoded once more, under the format's grammar
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
from training.models.generate import Generated
from training.world_model.formats import Format
from training.world_model.model.answers import prediction
from training.world_model.model.assessment import CHOICES, WAITING, assessment_prompt, ends

DRAWN_TEMPERATURE = 1.0
REPAIR_SEED = 1_000_003
"""Between the random streams of a first answer and of its repair."""


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
        seeds = [query.seed for query in queries]
        answers = generate(self._model, self._tokenizer, prompts, config, samples=samples, seeds=seeds)
        seconds = (time.perf_counter() - began) / (len(queries) * samples)
        found = [[self._read(query, answer, seconds) for answer in row] for query, row in zip(queries, answers, strict=True)]
        return self._with_assessments(queries, self._repaired(queries, prompts, found, config))

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

    def _repaired(
        self, queries: Sequence[WorldModelQuery], prompts: list[str], found: list[list[Prediction]], config: GenerationConfig
    ) -> list[list[Prediction]]:
        """`found`, where what is malformed was decoded again under the format's grammar. What that does not help stays."""
        places = [(n, k) for n, row in enumerate(found) for k, said in enumerate(row) if said.malformed]
        grammars = [self.format.grammar(queries[n]) for n, _ in places]
        if not places or any(grammar is None for grammar in grammars):
            return found
        began = time.perf_counter()
        decode = self._tokenizer.decode

        def accept(request: int, so_far: Sequence[int], token: int) -> bool:
            grammar = grammars[request]
            if grammar is None:
                return True
            if token == self._tokenizer.eos_token_id:
                return grammar.ends(decode(so_far, skip_special_tokens=True))
            # a character may be cut: its other bytes are the next token's
            return grammar.allows(decode([*so_far, token], skip_special_tokens=False).rstrip("\ufffd"))

        seeds = [queries[n].seed + REPAIR_SEED * (k + 1) for n, k in places]
        answers = generate(self._model, self._tokenizer, [prompts[n] for n, _ in places], config, seeds=seeds, accept=accept)
        seconds = (time.perf_counter() - began) / len(places)
        for (n, k), [answer] in zip(places, answers, strict=True):
            first, again = found[n][k], self._read(queries[n], answer, seconds, repaired=True)
            if again.malformed and (again.next_observation is None or first.next_observation is not None):
                again = first
            found[n][k] = again.model_copy(update={"usage": first.usage + self._usage(answer, seconds)})
        return found

    @staticmethod
    def _usage(answer: Generated, seconds: float) -> Usage:
        return Usage(requests=1, prompt_tokens=answer.prompt_tokens, completion_tokens=len(answer.token_ids), seconds=seconds)

    def _read(self, query: WorldModelQuery, answer: Generated, seconds: float, *, repaired: bool = False) -> Prediction:
        return prediction(
            self.format,
            query,
            answer.text,
            world_model=f"{self.name} {self.version}",
            finish_reason=answer.finish_reason,
            usage=self._usage(answer, seconds),
            repaired=repaired,
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
