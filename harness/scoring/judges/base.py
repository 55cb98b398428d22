"""What judges share: asking a model, keeping what was said, counting votes, and turning trouble into an `error` verdict.

    judge(trajectory) → evidence(trajectory, ask) → messages ─→ votes x (ask → parse_verdict) → majority → Verdict
                              a protocol's own part              any JudgeError ───────────────→ Verdict(status="error")

Prompt, raw reply and usage of every call are in `Verdict.evidence["judge"]`, also where the judge failed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter

from pydantic import JsonValue

from harness.completions import CompletionError, Completions
from harness.errors import JudgeError, error_info
from harness.scoring.judges.config import JudgeConfig
from harness.scoring.judges.prompts import LABELS, SUCCESS, VERDICT_FORMAT
from harness.scoring.judges.states import without_images
from harness.scoring.structured import find_objects, parse_verdict
from harness.types import JsonDict, Trajectory, Usage, Verdict


class Conversation:
    """The calls of one judgement: asks, remembers, adds up."""

    def __init__(self, client: Completions, *, structured_output: bool) -> None:
        self._client = client
        self._structured = structured_output
        self.exchanges: list[JsonValue] = []
        self.usage = Usage()

    def ask(self, purpose: str, messages: list[JsonDict], response_format: JsonDict, seed: int | None = None) -> str:
        """One reply. Raises `JudgeError` if the server gives none, or one that was cut off."""
        exchange: JsonDict = {"purpose": purpose, "messages": without_images(messages)}
        if self.exchanges and isinstance(last := self.exchanges[-1], dict) and last.get("messages") == exchange["messages"]:
            exchange["messages"] = "as before"
        self.exchanges.append(exchange)
        try:
            completion = self._client.complete(messages, response_format=response_format if self._structured else None, seed=seed)
        except CompletionError as error:
            exchange["error"] = f"{error.kind}: {error}"
            raise JudgeError(f"the judge's model gave no reply: {error}", kind=error.kind, fix=error.fix) from error
        self.usage = self.usage + completion.usage
        exchange.update(
            reply=completion.text,
            finish_reason=completion.finish_reason,
            model=completion.model,
            usage=completion.usage.model_dump(mode="json"),
        )
        if completion.finish_reason == "length":
            raise JudgeError("the judge's reply was cut off", kind="cut_off", fix="raise the judge's max_tokens")
        return completion.text


class ModelJudge(ABC):
    """A judge of one protocol. `name`, `version` and `prompt_hash` identify it in every verdict."""

    name: str
    version: str
    prompt_hash: str

    def __init__(self, config: JudgeConfig) -> None:
        """Raises `NotReadyError` if the key's variable is not set: before an episode is played, not after it."""
        config.endpoint.api_key()
        self.config = config

    def judge(self, trajectory: Trajectory) -> Verdict:
        """`success` or `failure` by majority of votes; `error` (boundary `judge`) if there is no clear verdict."""
        with Completions(self.config.endpoint) as client:
            return self._judge(trajectory, Conversation(client, structured_output=self.config.structured_output))

    def _judge(self, trajectory: Trajectory, conversation: Conversation) -> Verdict:
        labels: list[str] = []
        replies: list[str] = []
        error: JudgeError | None = None
        try:
            messages = self.evidence(trajectory, conversation)
            for vote in range(self.config.votes):
                seed = trajectory.seed + vote if self.config.votes > 1 else None
                replies.append(conversation.ask("verdict", messages, VERDICT_FORMAT, seed))
                labels.append(parse_verdict(replies[-1], LABELS))
        except JudgeError as raised:
            error = raised
        evidence: JsonDict = {"judge": self._description(labels, conversation)}
        if error is not None:
            return Verdict(
                status="error",
                scorer=f"judge:{self.name}",
                scorer_version=self.full_version,
                reason=str(error),
                evidence=evidence,
                error=error_info(error),
                usage=conversation.usage,
            )
        label = majority(labels)
        success = label == SUCCESS
        return Verdict(
            status="success" if success else "failure",
            reward=float(success),
            scorer=f"judge:{self.name}",
            scorer_version=self.full_version,
            reason=_reason(replies[labels.index(label)]),
            evidence=evidence,
            usage=conversation.usage,
        )

    @property
    def full_version(self) -> str:
        """Version and prompts: two verdicts with the same one were asked for in the same words."""
        return f"{self.version}+{self.prompt_hash[:12]}"

    @abstractmethod
    def evidence(self, trajectory: Trajectory, conversation: Conversation) -> list[JsonDict]:
        """The messages that ask for the verdict. May ask the model first. Raises `JudgeError`."""

    def _description(self, labels: list[str], conversation: Conversation) -> JsonDict:
        votes: list[JsonValue] = [*labels]
        return {
            "protocol": self.name,
            "version": self.version,
            "prompt_hash": self.prompt_hash,
            "model": self.config.endpoint.model,
            "modality": self.config.modality,
            "states": self.config.states,
            "votes_asked": self.config.votes,
            "votes": votes,
            "exchanges": conversation.exchanges,
        }


def majority(labels: list[str]) -> str:
    """The label of more than half of the votes; with two labels and an odd number there always is one."""
    label, count = Counter(labels).most_common(1)[0]
    if count * 2 <= len(labels):
        raise JudgeError(f"no majority in votes {labels}", kind="tie")
    return label


def _reason(reply: str, limit: int = 500) -> str:
    """The judge's own reason, if the reply has one; for people, not for counting."""
    reasons = [str(value["reason"]) for value, _, _ in find_objects(reply) if "reason" in value]
    return " ".join((reasons[0] if reasons else reply).split())[:limit]
