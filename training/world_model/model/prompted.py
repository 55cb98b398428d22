"""Retrieval into a prompt (R-WoM): a model that was never trained on our pages is shown the transitions most like the question.

    instruction, three examples (the most alike last, next to the question), the question  →  edits, read as any model's

`retrieval:DATA+FILE.toml`: FILE names an OpenAI-compatible server, as a labeler's does (base_url, model …).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness.completions import Completion, CompletionError, Completions, EndpointConfig
from harness.errors import NotReadyError, UsageError
from harness.predictions import Prediction, WorldModelQuery
from training.world_model.model.answers import prediction
from training.world_model.model.retrieval import RetrievalWorldModel

SHOWN: Final = 3
"""Transitions shown."""

INSTRUCTION: Final = (
    "You foresee what a web page does after an action. Each question shows a page and an action; each answer lists the edits "
    "to the page, one a line, in the same spelling as the examples. Answer the last question with edits only."
)
ASKED: Final = "### Question"
ANSWERED: Final = "### Answer"

Complete = Callable[[str, int], Completion]
"""(prompt, seed) → one reply."""


class PromptedRetrieval:
    """A language model that is shown the nearest transitions. `complete` asks it; `who` names it for the record."""

    name = "retrieval+llm"

    def __init__(self, retrieval: RetrievalWorldModel, complete: Complete, who: str, parameters: int | None = None) -> None:
        self._retrieval = retrieval
        self._complete = complete
        self.parameters = parameters
        self.version = f"1 {who}, {SHOWN} of {retrieval.version}"

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        """Raises NotReadyError where the model's server does not answer."""
        return [[self._answer(query, query.seed + sample) for sample in range(samples)] for query in queries]

    def close(self) -> None: ...

    def prompt(self, query: WorldModelQuery) -> str:
        """Examples with the most alike last, next to the question, then the question itself."""
        shown = reversed(self._retrieval.examples(query, SHOWN))
        parts = [f"{ASKED}\n{asked}\n{ANSWERED}\n{answered}" for asked, answered in shown]
        return "\n\n".join([INSTRUCTION, *parts, f"{ASKED}\n{self._retrieval.format.prompt(query)}\n{ANSWERED}"])

    def _answer(self, query: WorldModelQuery, seed: int) -> Prediction:
        reply = self._complete(self.prompt(query), seed)
        return prediction(
            self._retrieval.format,
            query,
            reply.text.strip(),
            world_model=f"{self.name} {self.version}",
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            token_ids=reply.token_ids,
            token_logprobs=reply.logprobs,
        )


def prompted(retrieval: RetrievalWorldModel, file: Path) -> PromptedRetrieval:
    """With the server that a TOML file names. Raises UsageError, one line per mistake."""
    fix = "give a TOML file with base_url and model"
    try:
        config = EndpointConfig.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", fix=fix) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not TOML: {error}", fix=fix) from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UsageError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}", fix=fix) from None
    return PromptedRetrieval(retrieval, through(Completions(config)), config.model)


def through(client: Completions) -> Complete:
    """Ask an OpenAI-compatible server. Its failures become NotReadyError: a server that is away is no malformed answer."""

    def complete(prompt: str, seed: int) -> Completion:
        try:
            return client.complete([{"role": "user", "content": prompt}], seed=seed)
        except CompletionError as error:
            raise NotReadyError(f"the model at {client.config.base_url} does not answer: {error}", fix=error.fix) from error

    return complete
