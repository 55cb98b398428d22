"""What a judge is shown of an episode: its pages in order, as message parts, page content fenced off as data.

    trajectory → pages() → [State(index, url, title, tree, png, action)] → parts(state) → text part (+ image part)
    fence("PAGE", text) → <<<PAGE 3f…  text  PAGE 3f…>>>

The mark of a fence is a digest of what it holds: no page can write the line that closes its own fence.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from harness.errors import JudgeError
from harness.scoring.judges.config import Modality
from harness.types import INVALID_ACTION, JsonDict, Observation, Step, Trajectory

MAX_ANSWER_CHARS = 8_000
MAX_ACTION_CHARS = 400
MAX_URL_CHARS = 300


class State(NamedTuple):
    """One page as the agent saw it, and the action that led to it (empty for the start page)."""

    number: int
    """From 1, in the order of the episode."""
    observation: Observation
    action: str


def pages(trajectory: Trajectory, modality: Modality) -> list[State]:
    """The pages of an episode; one that looks the same as the page before it is left out, its action kept."""
    observations = [step.observation for step in trajectory.steps]
    if trajectory.final_observation is not None:
        observations.append(trajectory.final_observation)
    actions = ["", *(describe_action(step) for step in trajectory.steps)]
    states: list[State] = []
    for observation, action in zip(observations, actions, strict=False):
        if modality == "screenshots" and observation.screenshot is None:
            continue
        if states and _look(states[-1].observation, modality) == _look(observation, modality):
            continue
        states.append(State(len(states) + 1, observation, action))
    if not states:
        raise JudgeError(
            "the episode holds no screenshot for the judge" if modality == "screenshots" else "the episode holds no page",
            kind="no_evidence",
            fix='set [browser] screenshots = "all", or judge_modality = "axtree"',
        )
    return states


def describe_action(step: Step) -> str:
    """An action in one line, with the name of what it pointed at: a judge knows no bids."""
    action = step.output.action
    if action.name == INVALID_ACTION:
        return "no readable action"
    text = " ".join(action.raw.split()) or action.name
    if action.target is not None:
        text += f" on {action.target.role} {action.target.name!r}"
    if step.action_error is not None:
        text += f" (had no effect: {step.action_error.kind})"
    return text[:MAX_ACTION_CHARS]


def parts(state: State, modality: Modality, max_tree_chars: int) -> list[JsonValue]:
    """Message parts for one page: where it is, then its screenshot or its tree."""
    observation = state.observation
    where = f"Page {state.number}: {observation.url[:MAX_URL_CHARS]}\n{observation.title[:MAX_URL_CHARS]}"
    if modality == "screenshots":
        png = base64.b64encode(observation.screenshot or b"").decode("ascii")
        image: JsonDict = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
        return [text_part(fence("PAGE", where)), image]
    tree, dropped = clip_lines(observation.axtree, max_tree_chars)
    left_out = f"\n({dropped} more lines left out)" if dropped else ""
    return [text_part(fence("PAGE", f"{where}\n{tree}") + left_out)]


def text_part(text: str) -> JsonDict:
    return {"type": "text", "text": text}


def fence(name: str, text: str) -> str:
    """Mark text of unknown origin as data. `<<<` and `>>>` inside it are replaced: only fences have them."""
    clean = text.replace("<<<", "‹‹‹").replace(">>>", "›››")
    mark = hashlib.sha256(f"{name}\n{clean}".encode(errors="replace")).hexdigest()[:12]
    return f"<<<{name} {mark}\n{clean}\n{name} {mark}>>>"


def clip_lines(text: str, max_chars: int) -> tuple[str, int]:
    """`text` cut at a line to at most `max_chars`, and how many lines are missing. A first line is cut inside."""
    if len(text) <= max_chars:
        return text, 0
    lines = text.split("\n")
    kept: list[str] = []
    room = max_chars
    for line in lines:
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    if not kept:
        return text[:max_chars], len(lines) - 1
    return "\n".join(kept), len(lines) - len(kept)


def without_images(messages: Sequence[JsonDict]) -> list[JsonValue]:
    """Messages as they are stored: an image is replaced by its digest, the store has the file."""
    return [{**message, "content": _content(message.get("content"))} for message in messages]


def _content(content: JsonValue) -> JsonValue:
    if not isinstance(content, list):
        return content
    stored: list[JsonValue] = []
    for part in content:
        image = part.get("image_url") if isinstance(part, dict) else None
        if isinstance(image, dict):
            digest = hashlib.sha256(str(image.get("url")).encode()).hexdigest()
            stored.append({"type": "image", "sha256_of_data_url": digest})
        else:
            stored.append(part)
    return stored


def _look(observation: Observation, modality: Modality) -> tuple[str, bytes | str | None]:
    return observation.url, observation.screenshot if modality == "screenshots" else observation.axtree
