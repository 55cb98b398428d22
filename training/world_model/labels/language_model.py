"""r and Δ written by a model that reads both pages, as in DynaWeb §3.1; any OpenAI-compatible server.

    llm         r and Δ are the model's; Δ is checked (`validating`) and refused where it contradicts the true diff
    diff+llm    Δ is computed, only r is the model's; where the model gives none, r is the rule's, and that is counted

The edits of every label are computed: what a program applies is never taken from a model's prose.

Deviations from the paper: its labeler's prompt is not published, ours is below; the check is ours.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from harness.actions import print_action
from harness.axtree import CountTokens, approximate_tokens, diff, fit, summary
from harness.completions import Completion, CompletionError, Completions
from harness.errors import NotReadyError
from harness.predictions import WorldModelQuery
from harness.types import Observation
from training.world_model.labels.diffing import opened, trees, why
from training.world_model.labels.records import Label, Rejected, RejectReason
from training.world_model.labels.validating import NOTHING, Truth, contradiction

RATIONALE, CHANGES = "Rationale:", "Changes:"
MAX_SENTENCES: Final = 40
MAX_RATIONALE_CHARS: Final = 600

_UNUSABLE: Final = ("unreachable", "unauthorized", "model_not_found", "http_3xx")

_INSTRUCTION: Final = f"""You see a web page as an accessibility tree, an action that an agent took on it, and the page \
that really followed. Explain why the action had this effect, then list what changed.
Answer in exactly this form:
{RATIONALE} one or two sentences on why the page changes so.
{CHANGES}
- one short sentence per change; put names and texts of elements in double quotes; say what appeared, disappeared or became what.
If nothing changed, write "- Nothing changes." Tell only what the two pages show. Do not mention numbers in brackets."""

_RATIONALE_ONLY: Final = f"""You see a web page as an accessibility tree, an action that an agent took on it, and the list \
of what it changed. Explain in one or two sentences why the action had this effect.
Answer in exactly this form:
{RATIONALE} …"""


class LanguageModelLabeler:
    """`llm` where `computed_delta` is False, `diff+llm` where it is True. `rejects` counts refusals by reason.

    A server that cannot be used at all (unreachable, no key, unknown model) raises NotReadyError: no row is to blame.
    """

    def __init__(
        self,
        completions: Completions,
        *,
        computed_delta: bool = False,
        max_page_tokens: int = 6_000,
        count_tokens: CountTokens = approximate_tokens,
    ) -> None:
        self.name = f"{'diff+llm' if computed_delta else 'llm'} {completions.config.model}"
        self.rejects: Counter[str] = Counter()
        self._completions = completions
        self._computed = computed_delta
        self._max_page_tokens = max_page_tokens
        self._count_tokens = count_tokens

    def label(self, query: WorldModelQuery, next_observation: Observation, *, terminal: bool = False) -> Label:
        before, after = trees(query, next_observation)
        edits = diff(before, after)
        true = tuple(opened(query.observation, next_observation) + summary(edits))
        asked = self._ask(query, next_observation, true)
        try:
            reply = self._complete(asked)
            rationale, sentences = self._read(reply)
            if not self._computed:
                false = contradiction(sentences, Truth(edits, query.observation, next_observation))
                if false:
                    raise Rejected("contradicts", false)
        except Rejected as rejected:
            self.rejects[rejected.reason] += 1
            if not self._computed:
                raise
            rule = why(query, next_observation, edits)
            return Label(rationale=rule, edits=edits, sentences=true, terminal=terminal, labeler="diff")
        said = true if self._computed else tuple(sentence for sentence in sentences if not NOTHING.match(sentence))
        return Label(rationale, edits, said, terminal, self.name, reply.usage)

    def _ask(self, query: WorldModelQuery, after: Observation, true: tuple[str, ...]) -> str:
        parts = [_RATIONALE_ONLY if self._computed else _INSTRUCTION]
        if query.goal:
            parts.append(f"# The agent's task\n{query.goal}")
        parts.append(self._page("# The page before", query.observation))
        parts.append(f"# The action\n{print_action(query.action)}")
        if self._computed:
            parts.append("# What it changed\n" + "\n".join(f"- {sentence}" for sentence in (true or ("Nothing changes.",))))
        else:
            parts.append(self._page("# The page after", after))
        return "\n\n".join(parts)

    def _page(self, heading: str, observation: Observation) -> str:
        tree = fit(observation.axtree, self._max_page_tokens, self._count_tokens).text
        return f"{heading}\nURL: {observation.url}\nTitle: {observation.title}\n{tree}"

    def _complete(self, prompt: str) -> Completion:
        try:
            reply = self._completions.complete([{"role": "user", "content": prompt}])
        except CompletionError as error:
            if error.kind in _UNUSABLE:
                raise NotReadyError(f"the labeler's model does not answer: {error}", fix=error.fix) from error
            raise Rejected("server", str(error)) from error
        if reply.finish_reason == "length":
            raise Rejected("truncated", "the reply was cut at max_tokens")
        return reply

    def _read(self, reply: Completion) -> tuple[str, list[str]]:
        text = (reply.text or "").strip()
        if not text:
            raise Rejected("empty", "the reply is empty")
        _, found, rest = text.partition(RATIONALE)
        rationale, also, changes = rest.partition(CHANGES)
        rationale = " ".join(rationale.split())[:MAX_RATIONALE_CHARS]
        if not found or not rationale or not (also or self._computed):
            reason: RejectReason = "unreadable"
            raise Rejected(reason, f"no `{RATIONALE}` and `{CHANGES}` in the reply")
        sentences = [sentence for line in changes.splitlines() if (sentence := line.strip().lstrip("-*• ").strip())]
        return rationale, sentences[:MAX_SENTENCES]
