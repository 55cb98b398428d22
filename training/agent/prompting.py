"""How a policy is shown a page and how it answers: one strategy per action syntax, the same for acting and for training.

    descriptor   the pruned view, `click button "Save"`                  small models
    bid          BrowserGym's tree cut to the budget, `click("12")`      large ones

Encoding an expert's step gives the ids that the policy would have been shown, and those that it should have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from harness.actions import extract_action, print_action
from harness.axtree import CountTokens, fit, parse
from harness.errors import UsageError
from harness.predictions import PastStep
from harness.types import Action, JsonDict, Observation, Record, Trajectory
from training.agent.spelling import read, spell
from training.agent.view import View, past_line, view
from training.models.prompting import PromptEncoder

Syntax = Literal["descriptor", "descriptor-nearest", "bid"]


class Codec(Protocol):
    """What is shown and how it is answered. Pure functions."""

    def show(self, goal: str, observation: Observation, history: Sequence[PastStep], count: CountTokens, budget: int) -> View: ...

    def write(self, action: Action, observation: Observation) -> str:
        """Raises UsageError for an action that the page does not allow to be written."""

    def read(self, reply: str, observation: Observation) -> Action:
        """An `invalid` Action where nothing can be read. Never raises."""


class DescriptorCodec:
    """The action is the last line of the reply that is not empty; what stands above it is the policy's own reasoning."""

    def __init__(self, *, nearest: bool = False) -> None:
        self._nearest = nearest

    def show(self, goal: str, observation: Observation, history: Sequence[PastStep], count: CountTokens, budget: int) -> View:
        return view(goal, observation, history, count_tokens=count, max_tokens=budget)

    def write(self, action: Action, observation: Observation) -> str:
        return spell(action, parse(observation.axtree))

    def read(self, reply: str, observation: Observation) -> Action:
        lines = [line for line in reply.splitlines() if line.strip()]
        action = read(lines[-1] if lines else "", parse(observation.axtree), nearest=self._nearest)
        return action.model_copy(update={"raw": reply[-2000:]}) if len(lines) > 1 and action.error else action


class BidCodec:
    """BrowserGym's calls over its tree."""

    def show(self, goal: str, observation: Observation, history: Sequence[PastStep], count: CountTokens, budget: int) -> View:
        past = "\n".join(f"- {past_line(step.action)}" for step in history[-10:]) or "none"
        error = f"LAST ACTION'S ERROR: {observation.last_action_error}\n" if observation.last_action_error else ""
        head = f"OBJECTIVE: {goal}\nURL: {observation.url}\nPREVIOUS ACTIONS:\n{past}\n{error}OBSERVATION:\n"
        fitted = fit(observation.axtree, max(budget - count(head), 1), count)
        return View(head + fitted.text, fitted.dropped_lines)

    def write(self, action: Action, observation: Observation) -> str:
        return print_action(action)

    def read(self, reply: str, observation: Observation) -> Action:
        return extract_action(reply, "browsergym")


CODECS: Final[dict[Syntax, Codec]] = {
    "descriptor": DescriptorCodec(),
    "descriptor-nearest": DescriptorCodec(nearest=True),
    "bid": BidCodec(),
}


def get_codec(name: str) -> Codec:
    """Raises UsageError for an unknown syntax."""
    for known, codec in CODECS.items():
        if known == name:
            return codec
    raise UsageError(f"there is no action syntax {name!r}", fix=f"one of {', '.join(CODECS)}")


class TokenCounter(Protocol):
    """The part of a `PromptEncoder` that decides what of a page is shown."""

    @property
    def overhead(self) -> int: ...

    def count(self, text: str) -> int: ...


class Plain:
    """A counter where there is no tokenizer yet."""

    overhead = 0

    def __init__(self, count: CountTokens) -> None:
        self.count = count


class AgentPrompt(Record):
    """What a policy is shown, within its budget. Stateless."""

    syntax: Syntax
    max_prompt_tokens: int

    def text(self, encoder: TokenCounter, goal: str, observation: Observation, history: Sequence[PastStep]) -> View:
        """What the policy is shown, without the chat template."""
        budget = self.max_prompt_tokens - encoder.overhead
        shown = CODECS[self.syntax].show(goal, observation, history, encoder.count, budget)
        # Lines are counted one by one; joined, a tokenizer may need a few more tokens.
        return shown if encoder.count(shown.text) <= budget else self._shortened(encoder, shown, budget)

    @staticmethod
    def _shortened(encoder: TokenCounter, shown: View, budget: int) -> View:
        lines, dropped = shown.text.split("\n"), shown.dropped_lines
        while len(lines) > 1 and encoder.count("\n".join(lines)) > budget:
            lines.pop()
            dropped += 1
        return View("\n".join(lines), dropped)


class TaughtStep(Record):
    """One step of an expert as prompt and reply."""

    prompt: str
    reply: str
    provenance: JsonDict


def taught_steps(prompt: AgentPrompt, encoder: TokenCounter, trajectory: Trajectory) -> list[TaughtStep]:
    """The expert's steps as the policy would see and write them. Raises UsageError where an action cannot be written."""
    codec, found, history = CODECS[prompt.syntax], [], tuple[PastStep, ...]()
    for step in trajectory.steps:
        shown = prompt.text(encoder, trajectory.goal, step.observation, history)
        reply = codec.write(step.output.action, step.observation)
        provenance: JsonDict = {"task": trajectory.task.task_id, "site": trajectory.task.site, "step": step.index}
        found.append(TaughtStep(prompt=shown.text, reply=reply, provenance=provenance))
        history = (*history, PastStep(observation=step.observation, action=step.output.action))
    return found


def encode_expert(prompt: AgentPrompt, encoder: PromptEncoder, trajectory: Trajectory) -> list[tuple[list[int], list[int]]]:
    """(prompt ids, reply ids) per step, for `training.agent.rows.Encode`; empty where a step cannot be written."""
    try:
        steps = taught_steps(prompt, encoder, trajectory)
    except UsageError:
        return []
    return [(encoder.prompt(step.prompt), encoder.completion(step.reply)) for step in steps]
