"""NNetNav's rows (Apache-2.0; `NNetNav-6k`, `nnetnav-wa`, `nnetnav-live` as JSONL) as raw episodes.

    row            {"dataset", "id", "task_name", "messages": [system, user, assistant], "prompt", "output", "n_tokens"}
    user text      OBSERVATION:\\n<tree>\\nURL: <url>\\nOBJECTIVE: <goal>\\nPREVIOUS ACTIONS:\\n1: None\\n2: <first action> …
    output         "… In summary, the next action I will perform is ```click [938]```"       WebArena's syntax

A row is one step, without a number: the count of previous actions is it. Rows over 100,000 tokens were left out by the
makers, so a transition needs the row of the next step, whose list of actions must go on from this one's.

The trees are BrowserGym's, encoded and decoded by Llama's tokenizer, cut at 16,000 tokens. What that leaves behind is
undone or noticed here: the token `<|begin_of_text|>` before the tree; blanks that the decoder takes away before `'s`,
`'m`, `'re`, `'ve` and that parted role and name; a cut tree, told by its last line or by `n_tokens`.

Hindsight labels made these trajectories demonstrations of their goals, so they count as expert data. Nobody scored them:
they have no outcome. The site is the host of the first page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.actions import bids_of, extract_action, parse_webarena_action
from harness.axtree import parse
from harness.types import INVALID_ACTION, Action, JsonDict, Observation
from training.world_model.transitions.lines import BadRow, Group, Row, file_facts, groups, text_of
from training.world_model.transitions.raw import Advance, RawEpisode, RawStep, Unreadable
from training.world_model.transitions.splitting import host_of

TREE_TOKENS: Final = 16_000
"""Where the makers cut trees."""

CHARS_PER_TOKEN: Final = 6
"""More than English prompts have: what is not tree is never taken for more tokens than it is."""

_SPECIAL = re.compile(r"<\|(?:begin_of_text|eot_id|start_header_id|end_header_id)\|>")
_USER = re.compile(r"<\|start_header_id\|>user<\|end_header_id\|>\n(.*)\n?<\|eot_id\|>", re.DOTALL)
_HEADER = re.compile(r"\A\s*<\|start_header_id\|>assistant<\|end_header_id\|>|<\|eot_id\|>\s*\Z")
_EATEN_BLANK = re.compile(r"(?m)^(\t*(?:\[\w+\] )?[A-Za-z][\w-]*)('(?:s|m|re|ve))")
_NUMBERED = re.compile(r"(\d+): (.*)")


@dataclass(frozen=True, slots=True)
class _Prompt:
    tree: str
    url: str
    goal: str
    previous: tuple[str, ...]
    """What was done before, in the makers' words; the first is "None"."""
    chars: int
    """Of the whole user text."""


class NNetNavSource:
    """A .jsonl or .jsonl.gz file of NNetNav's rows."""

    kind = "nnetnav"

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
                yield Unreadable("repeated_step", f"task {group.episode}", {"file": self.name, "line": number})
            yield self._episode(group)

    def _episode(self, group: Group) -> RawEpisode:
        prompts = [_prompt(row) for row in group.rows]
        first = prompts[0]
        site = host_of(first.url)
        shared: JsonDict = {
            "run": str(group.rows[0].get("dataset", self.kind)),
            "episode": group.episode,
            "benchmark": self.kind,
            "task_id": group.episode,
            "template": group.episode,
            "split": "",
            "held_out_site": False,
            "site": site,
            "source": "expert",
            "policy": "nnetnav",
            "status": "inconclusive",
        }
        seen = [_observation(row, prompt) for row, prompt in zip(group.rows, prompts, strict=True)]
        steps = []
        for number, row in enumerate(group.rows):
            after = (prompts[number + 1], seen[number + 1]) if number + 1 < len(prompts) else None
            steps.append(_step(row, prompts[number], seen[number], after))
        return RawEpisode(site, (site,), first.goal, shared, tuple(steps))


def is_nnetnav(row: Row) -> bool:
    """Is this a row of NNetNav's data?"""
    return {"task_name", "output"} <= row.keys() and ("messages" in row or "prompt" in row)


def _locate(row: Row) -> tuple[str, int]:
    text_of(row, "output")
    return text_of(row, "task_name"), len(_prompt(row).previous) - 1


def _prompt(row: Row) -> _Prompt:
    """The parts of the user text. Raises BadRow. Looked for from the end: the tree and the goal are anybody's text."""
    text = _user_text(row)
    actions = text.rfind("\nPREVIOUS ACTIONS:")
    goal = text.rfind("\nOBJECTIVE:", 0, max(actions, 0))
    url = text.rfind("\nURL:", 0, max(goal, 0))
    start = text.find("OBSERVATION:")
    if not 0 <= start < url < goal < actions:
        raise BadRow("the prompt does not consist of OBSERVATION, URL, OBJECTIVE and PREVIOUS ACTIONS")
    previous = _previous(text[actions:].split("\n")[2:])
    if not previous:
        raise BadRow("no numbered line follows PREVIOUS ACTIONS")
    tree = _SPECIAL.sub("", text[start + len("OBSERVATION:") : url]).strip("\n")
    return _Prompt(
        _EATEN_BLANK.sub(r"\1 \2", tree),
        text[url + len("\nURL:") : goal].strip(),
        text[goal + len("\nOBJECTIVE:") : actions].strip(),
        previous,
        len(text),
    )


def _user_text(row: Row) -> str:
    messages = row.get("messages")
    if isinstance(messages, list):
        for message in messages:
            if isinstance(message, dict) and message.get("role") == "user" and isinstance(message.get("content"), str):
                return str(message["content"])
    match = _USER.search(text_of(row, "prompt"))
    if match is None:
        raise BadRow("neither messages nor prompt holds a user text")
    return match[1]


def _previous(lines: list[str]) -> tuple[str, ...]:
    """The lines that are numbered on from 1; a text typed may itself begin with a number, out of turn."""
    found: list[str] = []
    for line in lines:
        match = _NUMBERED.fullmatch(line)
        if match and int(match[1]) == len(found) + 1:
            found.append(match[2].strip())
        elif found and line.strip() and not _SPECIAL.search(line):
            found[-1] += f"\n{line}"
    return tuple(found)


def _step(row: Row, prompt: _Prompt, before: Observation, after: tuple[_Prompt, Observation] | None) -> RawStep:
    index = len(prompt.previous) - 1
    action = extract_action(_HEADER.sub("", text_of(row, "output")).strip(), "webarena")
    provenance: JsonDict = {"step": index, "action": action.name, "action_error": "", "left_the_sites": False}
    provenance["terminated"] = False
    problem, detail = _problem(prompt, action, after[0] if after else None)
    return RawStep(index, before, action, after[1] if after else None, prompt.goal, problem, detail, provenance)


def _problem(prompt: _Prompt, action: Action, after: _Prompt | None) -> tuple[str, str]:
    if after is None:
        return "end_of_episode", ""
    if len(after.previous) != len(prompt.previous) + 1:
        return "gap", f"the next row is step {len(after.previous) - 1}"
    if after.previous[:-1] != prompt.previous:
        return "inconsistent_pair", "the next row lists other previous actions"
    # "click [938] where [938] is link 'Paris'"
    said = parse_webarena_action(after.previous[-1].partition(" where ")[0])
    if INVALID_ACTION not in (said.name, action.name) and (said.name, bids_of(said)) != (action.name, bids_of(action)):
        return "inconsistent_pair", f"the next row says {after.previous[-1][:80]!r}"
    return "", ""


def _observation(row: Row, prompt: _Prompt) -> Observation:
    root = next(iter(parse(prompt.tree.partition("\n")[0]).nodes), None)
    title = root.name if root else ""
    return Observation(url=prompt.url, title=title, axtree=prompt.tree, truncated=_is_cut(row, prompt))


def _is_cut(row: Row, prompt: _Prompt) -> bool:
    """Was the tree cut? Its last line is broken, or the prompt is so long that 16,000 tokens of it may be tree."""
    if parse(prompt.tree.rpartition("\n")[2]).malformed_lines:
        return True
    total = row.get("n_tokens")
    if not isinstance(total, int):
        return False
    system = len(str(row.get("prompt", ""))) - prompt.chars
    others = (max(system, 0) + prompt.chars - len(prompt.tree)) // CHARS_PER_TOKEN
    return total - others >= TREE_TOKENS
