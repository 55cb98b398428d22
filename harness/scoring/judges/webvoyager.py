"""`webvoyager`: task, answer, last k pages → one verdict."""

from __future__ import annotations

from pydantic import JsonValue

from harness.scoring.judges.base import Conversation, ModelJudge
from harness.scoring.judges.prompts import VERDICT_FORMAT, WEBVOYAGER_SYSTEM, hash_prompts
from harness.scoring.judges.states import MAX_ANSWER_CHARS, fence, pages, parts, text_part
from harness.types import JsonDict, Trajectory


class WebVoyagerJudge(ModelJudge):
    """One call per vote. Agreement with people in the literature: 73.9 to 78.7 %."""

    name = "webvoyager"
    version = "1"
    prompt_hash = hash_prompts(WEBVOYAGER_SYSTEM, VERDICT_FORMAT)

    def evidence(self, trajectory: Trajectory, conversation: Conversation) -> list[JsonDict]:
        shown = pages(trajectory, self.config.modality)[-self.config.states :]
        answer = (trajectory.answer or "")[:MAX_ANSWER_CHARS]
        content: list[JsonValue] = [
            text_part(fence("TASK", trajectory.goal)),
            text_part(fence("ANSWER", answer) if answer else "The agent gave no answer."),
            text_part(f"The last {len(shown)} pages, oldest first:"),
        ]
        for state in shown:
            content += parts(state, self.config.modality, self.config.max_tree_chars)
        return [{"role": "system", "content": WEBVOYAGER_SYSTEM}, {"role": "user", "content": content}]
