"""A model's raw answer → Prediction: the same reading for a model in this process and for one behind a server."""

from __future__ import annotations

from harness.predictions import Prediction, WorldModelQuery
from harness.types import Usage
from training.world_model.formats import Format

CUT_OFF = "length"


def prediction(
    form: Format,
    query: WorldModelQuery,
    text: str,
    *,
    world_model: str,
    finish_reason: str,
    usage: Usage,
    token_ids: tuple[int, ...] | None = None,
    token_logprobs: tuple[float, ...] | None = None,
    repaired: bool = False,
) -> Prediction:
    """Read `text` as `form` has it. An answer that was cut off is malformed, whatever could be read of it."""
    reading = form.read(query, text)
    problems = [reading.malformed] if reading.malformed else []
    if finish_reason == CUT_OFF:
        problems.insert(0, "the answer was cut off")
    return Prediction(
        world_model=world_model,
        next_observation=reading.next_observation,
        rationale=reading.rationale,
        delta=reading.delta,
        terminal=reading.terminal,
        malformed="; ".join(problems),
        repaired=repaired,
        retrieved=reading.retrieved,
        text=text,
        token_ids=token_ids,
        token_logprobs=token_logprobs,
        finish_reason=finish_reason,
        usage=usage,
    )
