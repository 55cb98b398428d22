"""Settings of a model judge. All of them, and the prompt hash, decide a verdict: they are stored with it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.completions import EndpointConfig

Protocol = Literal["webvoyager", "webjudge"]
Modality = Literal["screenshots", "axtree"]


class JudgeConfig(BaseModel):
    """Which procedure, on which model, shown what."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    protocol: Protocol = "webvoyager"
    """`webvoyager`: task, answer, last pages → verdict. `webjudge`: key points → relevant pages → verdict."""
    endpoint: EndpointConfig
    states: int = Field(default=15, ge=1, le=100)
    """How many pages the verdict is made from: the last ones (`webvoyager`), or the most relevant ones (`webjudge`)."""
    modality: Modality = "screenshots"
    """What is shown of a page: its screenshot, or its accessibility tree (for text-only models)."""
    votes: int = Field(default=1, ge=1, le=15)
    """Independent verdicts; more than half of all must agree. Odd, so that two labels cannot tie."""
    max_scored: int = Field(default=50, ge=1, le=500)
    """`webjudge` rates the relevance of at most this many pages, the last ones: one model call each."""
    relevance_threshold: int = Field(default=3, ge=1, le=5)
    """`webjudge` shows pages rated at least this, of 5."""
    max_tree_chars: int = Field(default=12_000, ge=200)
    """A longer tree is cut at a line, and the judge is told how many lines were left out."""
    structured_output: bool = True
    """Ask the server to enforce the JSON schema of the reply. Off for servers that refuse `response_format`."""

    @model_validator(mode="after")
    def _votes_can_decide(self) -> JudgeConfig:
        if self.votes % 2 == 0:
            raise ValueError("votes must be odd: an even number can tie")
        if self.votes > 1 and self.endpoint.temperature == 0:
            raise ValueError("several votes at temperature 0 are one vote: set the judge's temperature above 0")
        return self
