"""Go-Browse's processed rows (as its `process_dataset.py` writes them, JSONL) as raw episodes.

    row         {"step_idx", "step_number", "next_step_idx" (-1 at the end), "traj_length", "traj_reward", "step_data"}
    step_data   {"prompt": [system, user], "completion": [assistant]}
    user text   # Goal … # Current page Accessibility Tree … # Action Space … # History of past actions …
                [# Error message from last action …] # Next action …
    completion  {"thought": …, "action": "click('12')"}         BrowserGym's syntax

`step_idx` counts over the whole file, so `step_idx - step_number` names the trajectory. Trees that did not fit 80,000
characters end in a mark of the makers' and count as cut. There is no URL but what the tree's root may say; the site is
that URL's host, else `gobrowse`. Trajectories of one goal stand or fall together: the goal is the task.

`traj_reward` is a model judge's: at 1 the rollout counts as expert data and as a success, else as real and a failure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.actions import invalid, parse_action, said_of
from harness.axtree import parse
from harness.types import Action, JsonDict, Observation
from training.world_model.transitions.lines import BadRow, Group, Row, file_facts, groups, number_of
from training.world_model.transitions.pages import digest
from training.world_model.transitions.raw import Advance, RawEpisode, RawOutcome, RawStep, Unreadable
from training.world_model.transitions.splitting import host_of

CUT_MARK: Final = "...trimmed due to context size limit"

_GOAL, _TREE, _SPACE = "# Goal\n", "\n\n# Current page Accessibility Tree\n", "\n\n# Action Space"
_ERROR = re.compile(r"\n\n# Error message from last action\n(.*)\n\n# Next action\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Prompt:
    goal: str
    tree: str
    error: str


class GoBrowseSource:
    """A .jsonl or .jsonl.gz file of Go-Browse's processed rows."""

    kind = "gobrowse"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.total = path.stat().st_size
        self._path = path

    def facts(self) -> JsonDict:
        return file_facts(self._path)

    def episodes(self, scratch: Path, advance: Advance) -> Iterator[RawEpisode | Unreadable]:
        for group in groups(self._path, scratch, _locate, advance):
            if isinstance(group, Unreadable):
                yield group
                continue
            for number in group.repeated:
                yield Unreadable("repeated_step", f"trajectory {group.episode}", {"file": self.name, "line": number})
            yield self._episode(group)

    def _episode(self, group: Group) -> RawEpisode:
        prompts = [_prompt(row) for row in group.rows]
        observations = [_observation(prompt) for prompt in prompts]
        success = group.rows[0]["traj_reward"] >= 1
        goal, site = prompts[0].goal, host_of(observations[0].url) or self.kind
        shared: JsonDict = {
            "run": self.name,
            "episode": group.episode,
            "benchmark": self.kind,
            "task_id": digest(goal),
            "template": digest(goal),
            "split": "",
            "held_out_site": False,
            "site": site,
            "source": "expert" if success else "real",
            "policy": "go-browse",
            "status": "success" if success else "failure",
        }
        steps = []
        for number, row in enumerate(group.rows):
            last = number + 1 == len(group.rows)
            steps.append(
                _step(
                    row,
                    prompts[number],
                    observations[number],
                    None if last else (group.rows[number + 1], prompts[number + 1], observations[number + 1]),
                )
            )
        complete = group.rows[-1]["next_step_idx"] == -1
        answer = said_of(steps[-1].action)
        outcome = RawOutcome(observations[-1], answer, success) if complete else None
        return RawEpisode(site, (site,), goal, shared, tuple(steps), outcome)


def is_gobrowse(row: Row) -> bool:
    """Is this a processed row of Go-Browse?"""
    return {"step_idx", "step_data", "next_step_idx", "step_number"} <= row.keys()


def _locate(row: Row) -> tuple[str, int]:
    number, index = number_of(row, "step_number"), number_of(row, "step_idx")
    number_of(row, "next_step_idx")
    reward = row.get("traj_reward")
    if not isinstance(reward, int | float):
        raise BadRow("traj_reward is not a number")
    _prompt(row)
    _message(row, "completion", "assistant")
    return str(index - number), number


def _message(row: Row, part: str, role: str) -> str:
    data = row.get("step_data")
    messages: Any = data.get(part) if isinstance(data, dict) else None
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == role and isinstance(message.get("content"), str):
            return str(message["content"])
    raise BadRow(f"step_data.{part} holds no message of the {role}")


def _prompt(row: Row) -> _Prompt:
    """Raises BadRow. The tree begins at its first headline and ends at the last of the next: pages may quote both."""
    text = _message(row, "prompt", "user")
    start, end = text.find(_TREE), text.rfind(_SPACE)
    if not text.startswith(_GOAL) or not 0 <= start < end:
        raise BadRow("the prompt does not consist of a goal, a page and an action space")
    error = _ERROR.search(text, end)
    tree = text[start + len(_TREE) : end]
    return _Prompt(text[len(_GOAL) : start].strip(), tree.strip("\n"), error[1].strip() if error else "")


def _observation(prompt: _Prompt) -> Observation:
    root = next(iter(parse(prompt.tree.partition("\n")[0]).nodes), None)
    url = root.get("url") if root else None
    return Observation(
        url=str(url or ""),
        title=root.name if root else "",
        axtree=prompt.tree,
        last_action_error=prompt.error,
        truncated=prompt.tree.endswith(CUT_MARK),
    )


def _step(row: Row, prompt: _Prompt, before: Observation, after: tuple[Row, _Prompt, Observation] | None) -> RawStep:
    action = _action(_message(row, "completion", "assistant"))
    index = row["step_number"]
    error = "other" if after and after[1].error else ""
    provenance: JsonDict = {"step": index, "action": action.name, "action_error": error, "left_the_sites": False}
    provenance["terminated"] = row["next_step_idx"] == -1
    if after is None:
        problem = "end_of_episode" if row["next_step_idx"] == -1 else "gap"
        return RawStep(index, before, action, None, prompt.goal, problem, provenance=provenance)
    problem = "" if after[0]["step_idx"] == row["next_step_idx"] else "gap"
    return RawStep(index, before, action, after[2], prompt.goal, problem, provenance=provenance)


def _action(completion: str) -> Action:
    try:
        data = json.loads(completion)
    except (ValueError, RecursionError):
        data = None
    action = data.get("action") if isinstance(data, dict) else None
    if not isinstance(action, str):
        return invalid("parse", "the completion is not JSON with an action", completion[:1000])
    return parse_action(action)
