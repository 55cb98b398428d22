"""`webjudge`: key points of the task → relevance of each page → verdict on the relevant ones.

    task ─→ key points ─→ each page rated 1 to 5 ─→ pages rated ≥ threshold, at most `states`, in order ─→ verdict
                                                     + all actions, + the answer

One call for the key points, one per page, one per vote. Deviations from Online-Mind2Web's WebJudge: pages that look like the
one before them are rated once; a rating that cannot be read counts as relevant, because losing evidence is worse than showing
too much; the final answer is shown where there is one; text judges get accessibility trees for screenshots.
"""

from __future__ import annotations

from typing import NamedTuple

from pydantic import JsonValue

from harness.errors import JudgeError
from harness.scoring.judges.base import Conversation, ModelJudge
from harness.scoring.judges.prompts import (
    KEY_POINTS_FORMAT,
    KEY_POINTS_SYSTEM,
    RELEVANCE_FORMAT,
    RELEVANCE_SYSTEM,
    VERDICT_FORMAT,
    WEBJUDGE_SYSTEM,
    hash_prompts,
)
from harness.scoring.judges.states import MAX_ANSWER_CHARS, State, describe_action, fence, pages, parts, text_part
from harness.scoring.structured import read_object
from harness.types import JsonDict, Trajectory

MAX_KEY_POINTS = 20
MAX_NOTE_CHARS = 500


class Rating(NamedTuple):
    state: State
    score: int | None
    """1 to 5; None if the model's rating could not be read."""
    note: str


class WebJudge(ModelJudge):
    """Agreement with people in the literature: 83.6 to 87.0 %."""

    name = "webjudge"
    version = "1"
    prompt_hash = hash_prompts(
        KEY_POINTS_SYSTEM, KEY_POINTS_FORMAT, RELEVANCE_SYSTEM, RELEVANCE_FORMAT, WEBJUDGE_SYSTEM, VERDICT_FORMAT
    )

    def evidence(self, trajectory: Trajectory, conversation: Conversation) -> list[JsonDict]:
        shown = pages(trajectory, self.config.modality)[-self.config.max_scored :]
        task = fence("TASK", trajectory.goal)
        points = "\n".join(f"{i}. {point}" for i, point in enumerate(self._key_points(task, conversation), start=1))
        brief = [text_part(task), text_part(f"Key points:\n{fence('KEY_POINTS', points)}")]
        ratings = [self._rate(state, brief, conversation) for state in shown]
        relevant = self._relevant(ratings)
        actions = "\n".join(f"{step.index + 1}. {describe_action(step)}" for step in trajectory.steps)
        answer = (trajectory.answer or "")[:MAX_ANSWER_CHARS]
        content: list[JsonValue] = [
            *brief,
            text_part(f"Actions:\n{fence('ACTIONS', actions)}"),
            text_part(fence("ANSWER", answer) if answer else "The agent gave no answer."),
            text_part(
                f"{len(relevant)} of {len(shown)} pages were found relevant:" if relevant else "No page was found relevant."
            ),
        ]
        for rating in relevant:
            content += parts(rating.state, self.config.modality, self.config.max_tree_chars)
            content.append(text_part(f"Noted about page {rating.state.number}:\n{fence('NOTE', rating.note)}"))
        return [{"role": "system", "content": WEBJUDGE_SYSTEM}, {"role": "user", "content": content}]

    def _key_points(self, task: str, conversation: Conversation) -> list[str]:
        messages: list[JsonDict] = [{"role": "system", "content": KEY_POINTS_SYSTEM}, {"role": "user", "content": task}]
        reply = conversation.ask("key_points", messages, KEY_POINTS_FORMAT)
        points = read_object(reply, ["key_points"])["key_points"]
        if not isinstance(points, list) or not points or not all(isinstance(point, str) for point in points):
            raise JudgeError("the judge's model listed no key points", kind="bad_reply")
        return points[:MAX_KEY_POINTS]

    def _rate(self, state: State, brief: list[JsonDict], conversation: Conversation) -> Rating:
        content: list[JsonValue] = [*brief, *parts(state, self.config.modality, self.config.max_tree_chars)]
        messages: list[JsonDict] = [{"role": "system", "content": RELEVANCE_SYSTEM}, {"role": "user", "content": content}]
        reply = conversation.ask(f"relevance of page {state.number}", messages, RELEVANCE_FORMAT)
        try:
            rating = read_object(reply, ["score"])
        except JudgeError:
            return Rating(state, None, "")
        score = rating["score"]
        readable = isinstance(score, int) and not isinstance(score, bool) and 1 <= score <= 5
        return Rating(state, score if readable else None, str(rating.get("reason", ""))[:MAX_NOTE_CHARS])

    def _relevant(self, ratings: list[Rating]) -> list[Rating]:
        """The best rated pages, later ones first where rated alike, at most `states`; in the order of the episode."""
        threshold = self.config.relevance_threshold
        chosen = [rating for rating in ratings if rating.score is None or rating.score >= threshold]
        best = sorted(chosen, key=lambda r: (-(r.score or threshold), -r.state.number))[: self.config.states]
        return sorted(best, key=lambda r: r.state.number)
