"""`harness show`: one episode, step by step. Page text and model replies are hostile: printed literally, never as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from harness.errors import UsageError
from harness.types import Episode, Step
from results.text import one_line, printable

TREE_LINES = 12


def show(
    run: Annotated[str, typer.Argument(help="A run directory, or the id of a run under --runs (or its beginning).")],
    episode: Annotated[
        str, typer.Argument(help="An episode's id or key, the beginning of one, or a task id (its last attempt).")
    ],
    steps: Annotated[str, typer.Option("--steps", "-s", help="Only these steps, counted from 0: 3, 2-5, -1.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Whole trees and replies instead of excerpts.")] = False,
    runs: Annotated[Path, typer.Option("--runs", help="The directory that holds runs.")] = Path("runs"),
) -> None:
    """Print one episode: goal, then per step url, action, error and what changed on the page, then the verdict.

    \b
    Examples:
      harness show runs/miniwob-heuristic click-test
      harness show miniwob-heuristic click-test__A__r0__a0 --steps 0-2 --full
    """
    from results.lookup import find_episode
    from results.reader import RunReader, find_run

    reader = RunReader.open(find_run(run, runs))
    found = reader.episode(find_episode(reader, episode))
    chosen = select_steps(len(found.trajectory.steps), steps)
    print_episode(found, chosen, Console(), full=full)


def select_steps(count: int, choice: str) -> range:
    """The positions named by `3`, `2-5` or `-1` (the last); all for "". Raises `UsageError` for anything else."""
    match = re.fullmatch(r"(-?\d+)(?:-(\d+))?", choice)
    if not choice:
        return range(count)
    if match:
        first = int(match[1]) + (count if match[1].startswith("-") else 0)
        last = int(match[2]) if match[2] else first
        if 0 <= first <= last < count:
            return range(first, last + 1)
    raise UsageError(f"no steps {choice!r}", fix=f"the episode has {count} steps, counted from 0: 3, 2-5, -1")


def print_episode(episode: Episode, steps: range, console: Console, *, full: bool = False) -> None:
    """Print the steps at these positions, between the episode's header and its verdict."""
    spec, trajectory = episode.spec, episode.trajectory
    _line(console, f"{spec.episode_id}   {spec.key}", "bold")
    _fact(console, "goal", trajectory.goal)
    _fact(console, "ran", f"{episode.started_at}, {episode.wall_seconds:.1f} s, seed {spec.seed}, attempt {spec.attempt}")
    before = ""
    for position, step in enumerate(trajectory.steps):
        if position in steps:
            _print_step(step, before, console, full)
        before = step.observation.axtree
    console.print()
    _fact(console, "stopped", trajectory.stop_reason)
    if trajectory.answer is not None:
        _fact(console, "answer", trajectory.answer)
    _print_verdict(episode, console, full)


def _print_step(step: Step, before: str, console: Console, full: bool) -> None:
    observation, output = step.observation, step.output
    console.print()
    _line(console, f"step {step.index}   {one_line(observation.url)}   {one_line(observation.title)}", "bold cyan")
    flags = [
        *(["page still busy"] if observation.slow else []),
        *([f"page cut: {observation.dropped_nodes} nodes dropped"] if observation.truncated else []),
        *([f"tree cut for the policy: {output.dropped_lines} lines dropped"] if output.dropped_lines else []),
    ]
    for flag in flags:
        _line(console, f"  ! {flag}", "yellow")
    for line in _tree(before, observation.axtree, full):
        _line(console, f"  {line}", {"+": "green", "-": "red"}.get(line[:1], "dim"))
    if output.text and output.text.strip() != output.action.raw.strip():
        _block(console, "reply", output.text, full)
    action = output.action
    _fact(console, "action", action.raw or f"{action.name} {json.dumps(action.arguments, ensure_ascii=False)}", indent=2)
    if action.error:
        _fact(console, "no action", action.error, indent=2, style="red")
    if step.action_error:
        _fact(console, f"error ({step.action_error.kind})", step.action_error.message, indent=2, style="red")
    if step.reward or step.terminated:
        ended = ", ended by the page" if step.terminated else ""
        _fact(console, "reward", f"{step.reward:g}{ended}", indent=2)


def _print_verdict(episode: Episode, console: Console, full: bool) -> None:
    verdict = episode.verdict
    style = {"success": "bold green", "failure": "bold dark_orange"}.get(verdict.status, "bold")
    numbers = [
        f"{name} {value:g}"
        for name, value in (
            ("reward", verdict.reward),
            ("raw reward", verdict.raw_reward),
            ("threshold", verdict.threshold),
        )
        if value is not None
    ]
    _line(console, "   ".join([verdict.status, *numbers, f"by {verdict.scorer} {verdict.scorer_version}"]), style)
    if verdict.reason:
        _fact(console, "reason", verdict.reason, indent=2)
    for score in verdict.other_scores:
        _fact(console, f"{score.profile} {score.version}", f"{score.status}: {score.reason or '–'}", indent=2)
    if verdict.error:
        where = f"error at {verdict.error.boundary} ({verdict.error.kind})"
        _fact(console, where, verdict.error.message, indent=2, style="red")
    for name, value in verdict.evidence.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        if "\n" in text:
            _block(console, name, text, full)
        else:
            _fact(console, name, text, indent=2)
    for note in episode.notes:
        _fact(console, "note", note, indent=2)


def _tree(before: str, now: str, full: bool) -> Iterator[str]:
    """The tree, or the lines that differ from the step before; an excerpt unless `full`."""
    new = printable(now).expandtabs(2).splitlines()
    old = printable(before).expandtabs(2).splitlines()
    lines = [f"  {line}" for line in new] if full or not old else list(_changed(old, new))
    if not lines:
        yield "  (page unchanged)"
    shown = lines if full else lines[:TREE_LINES]
    yield from shown
    if len(shown) < len(lines):
        what = "lines" if full or not old else "changed lines"
        yield f"  … {len(lines) - len(shown)} more {what}: --full"


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterable[str]:
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (f"- {line}" for line in old[i:j])
            yield from (f"+ {line}" for line in new[k:m])


def _block(console: Console, name: str, text: str, full: bool) -> None:
    lines = printable(text).splitlines()
    shown = lines if full else lines[:TREE_LINES]
    _line(console, f"  {one_line(name)}:", "bold")
    for line in shown:
        _line(console, f"    {line}")
    if len(shown) < len(lines):
        _line(console, f"    … {len(lines) - len(shown)} more lines: --full", "dim")


def _fact(console: Console, name: str, value: str, *, indent: int = 0, style: str = "") -> None:
    text = printable(value).replace("\n", "\n" + " " * (indent + 2))
    console.print(Text(" " * indent + f"{one_line(name)}: ", style="bold") + Text(text, style=style))


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(printable(text), style=style))
