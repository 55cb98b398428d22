"""Rows of a data set for a person: goal, action, address, and what changed, in sentences. Plain text, one line each."""

from __future__ import annotations

from collections.abc import Iterator

from harness.actions import print_action
from harness.axtree import diff, normalise, parse, summary
from harness.errors import UsageError
from harness.types import Action, TargetDescriptor
from training.world_model.transitions.records import WorldModelExample

MAX_SENTENCES = 8
MAX_CHARS = 200


def describe_example(example: WorldModelExample) -> list[str]:
    """The example in lines. What pages and models wrote is cut, and stripped of control characters."""
    query, after, origin = example.query, example.next_observation, example.provenance
    before = query.observation
    sentences = summary(diff(normalise(parse(before.axtree)), normalise(parse(after.axtree))))
    lines = [
        f"{origin.get('run')}/{origin.get('episode')} step {origin.get('step')}   "
        f"{query.site}, {origin.get('source')}, {origin.get('status')}, {len(query.history)} steps before",
        f"goal     {query.goal or '(none)'}",
        f"page     {before.title}   {before.url}   {before.axtree.count(chr(10)) + 1} lines",
        f"action   {_action(query.action)}",
        f"error    {after.last_action_error or origin.get('action_error')}",
        f"then     {after.title}   {after.url}   {after.axtree.count(chr(10)) + 1} lines",
        f"change   {origin.get('change')}, {origin.get('changed_lines')} nodes on one page only",
        *(f"         {sentence}" for sentence in sentences[:MAX_SENTENCES]),
        f"         and {len(sentences) - MAX_SENTENCES} more" if len(sentences) > MAX_SENTENCES else "",
        "later    " + ", ".join(map(_target, example.critical[:4])) if example.critical else "",
    ]
    return [printable(line) for line in lines if line.strip() and line.rstrip() != "error"]


def matching(examples: Iterator[WorldModelExample], episode: str) -> Iterator[WorldModelExample]:
    """Those whose episode's name begins with `episode`; all if it is empty."""
    return (example for example in examples if str(example.provenance.get("episode", "")).startswith(episode))


def printable(text: str) -> str:
    """`text` in one line, without what could steer a terminal."""
    flat = "".join(character if character.isprintable() else " " for character in text)
    return flat if len(flat) <= MAX_CHARS else flat[: MAX_CHARS - 1] + "…"


def _action(action: Action) -> str:
    try:
        text = print_action(action)
    except UsageError:
        text = action.raw
    return f"{text}   {_target(action.target)}" if action.target else text


def _target(target: TargetDescriptor) -> str:
    which = f" ({target.index + 1} of {target.count})" if target.count > 1 else ""
    return f"{target.role} {target.name!r}{which}"
