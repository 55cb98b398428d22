"""From goal, past and page to chat messages. Ordered for prompt caches: what never changes first, the page last.

    system     the packaged prompt or the user's file; the same for all tasks
    user       goal, then (history = actions) the actions so far, which only grow, then the page
    …          history = last_k: pages of the last k steps as user messages, each with the model's reply after it

Everything that a web site wrote stands between <page> and </page>; the tags cannot be forged, since they are broken
wherever page text contains them.
"""

from __future__ import annotations

import base64
import importlib.resources
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from harness.actions import BROWSERGYM, DYNAWEB, Syntax, describe_action_space
from harness.axtree import fit
from harness.errors import UsageError
from harness.policies.config import LlmConfig
from harness.types import JsonDict, Observation

SYNTAX: dict[str, Syntax] = {"dynaweb": "webarena", "browsergym": "browsergym"}
SPACES: dict[str, tuple[str, ...]] = {"dynaweb": DYNAWEB, "browsergym": BROWSERGYM}
MAX_PROMPT_FILE_BYTES = 1024 * 1024
MAX_ERROR_CHARS = 500

_TAG = re.compile(r"<(?=\s*/?\s*page\b)", re.IGNORECASE)


class Turn(NamedTuple):
    """One past step: what was seen, what the model answered, the action as text, and why it failed (empty if not)."""

    observation: Observation
    reply: str
    action: str
    error: str


class Prompt(NamedTuple):
    messages: tuple[JsonDict, ...]
    dropped_lines: int
    """Lines of the newest tree that did not fit the budget."""


def allowed_actions(config: LlmConfig) -> tuple[str, ...]:
    """Names of the actions that the prompt offers. Raises UsageError for one that its syntax cannot express."""
    names = config.actions or SPACES[config.prompt]
    describe_action_space(names, SYNTAX[config.prompt])
    return names


def system_prompt(config: LlmConfig) -> str:
    """The system message. Raises UsageError if the user's file cannot be read."""
    if config.system_prompt_file:
        template = _user_file(config.system_prompt_file)
    else:
        packaged = importlib.resources.files("harness.policies.prompts") / f"{config.prompt}.md"
        template = packaged.read_text(encoding="utf-8")
    # Not str.format: a user's text may hold braces.
    return template.replace("{actions}", describe_action_space(allowed_actions(config), SYNTAX[config.prompt]))


def build_prompt(config: LlmConfig, system: str, goal: str, turns: Sequence[Turn], observation: Observation) -> Prompt:
    """The messages of one call; `turns` are all past steps, oldest first."""
    messages: list[JsonDict] = [{"role": "system", "content": system}]
    opening = f"# Goal\n{goal}\n\n"
    shown = list(turns[-config.history_k :]) if config.history == "last_k" else []
    if config.history != "none":
        opening += _actions_so_far(turns[: len(turns) - len(shown)])
    for turn in shown:
        page, _ = page_text(config, turn.observation)
        messages.append({"role": "user", "content": opening + page})
        messages.append({"role": "assistant", "content": turn.reply})
        opening = ""
    opening += _user_messages(observation)
    page, dropped = page_text(config, observation)
    messages.append({"role": "user", "content": _with_screenshot(config, opening + page, observation)})
    return Prompt(tuple(messages), dropped)


def page_text(config: LlmConfig, observation: Observation) -> tuple[str, int]:
    """The page as text between its tags, and how many lines of the tree were dropped."""
    lines = [f"Address: {observation.url}", f"Title: {observation.title}"]
    if len(observation.open_pages) > 1:
        for index, page in enumerate(observation.open_pages):
            mark = " (current)" if index == observation.active_page_index else ""
            lines.append(f"Tab {index}{mark}: {page.title}")
    if observation.last_action_error:
        lines.append(f"Your last action failed: {observation.last_action_error[:MAX_ERROR_CHARS]}")
    dropped = 0
    if config.observation != "screenshot":
        fitted = fit(observation.axtree, config.max_tree_tokens)
        dropped = fitted.dropped_lines
        lines += ["", fitted.text]
    body = _TAG.sub("‹", "\n".join(lines))
    return f"# Current page\n<page>\n{body}\n</page>\n\nWhich action comes next?", dropped


def without_images(messages: Sequence[JsonDict]) -> tuple[JsonDict, ...]:
    """The messages as they are kept in results: screenshots lie beside the episode anyway."""
    kept = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
            content = [*parts, {"type": "text", "text": "(screenshot)"}]
        kept.append({**message, "content": content})
    return tuple(kept)


def _actions_so_far(turns: Sequence[Turn]) -> str:
    lines = [
        # Only that it failed: why is shown once, below, among what the page says (an error may quote the page).
        f"{number}. {turn.action}" + ("  (failed)" if turn.error else "")
        for number, turn in enumerate(turns, start=1)
    ]
    body = _TAG.sub("‹", "\n".join(lines)) if lines else "none"
    return f"# Your actions so far\n{body}\n\n"


def _user_messages(observation: Observation) -> str:
    """What the task told the agent after the goal (BrowserGym's chat)."""
    said = [message.message for message in observation.chat_messages if message.role == "user"]
    return "# The user adds\n" + "\n".join(said) + "\n\n" if said else ""


def _with_screenshot(config: LlmConfig, text: str, observation: Observation) -> JsonValue:
    if config.observation == "axtree":
        return text
    if observation.screenshot is None:
        raise UsageError(
            "the policy wants screenshots, the environment takes none",
            fix='set [browser] screenshots = "all", or [llm] observation = "axtree"',
        )
    url = "data:image/png;base64," + base64.b64encode(observation.screenshot).decode("ascii")
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]


def _user_file(name: str) -> str:
    path = Path(name)
    try:
        if path.stat().st_size > MAX_PROMPT_FILE_BYTES:
            raise UsageError(f"{name} is too large for a system prompt", fix="check system_prompt_file")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}", fix="check system_prompt_file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text", fix="check system_prompt_file") from None
