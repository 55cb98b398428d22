"""Small inputs of every format, written by hand: runs of scripted walks, rows in NNetNav's and Go-Browse's schemas."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.types import Action, ActionError, EpisodeSpec, EvaluatorSpec, Observation, Status, Step, Task
from results.store import RunStore
from tests.results.factory import episode, manifest, step
from training.world_model.transitions import BuildOptions, Card, build, open_source

HOME = "RootWebArea 'Home', focused\n\t[12] link 'Cart'\n\t[13] textbox 'Search'\n\t[14] button 'Go'"
CART = "RootWebArea 'Cart', focused\n\t[21] heading 'Your cart'\n\t[22] button 'Pay'"
PAID = "RootWebArea 'Cart', focused\n\t[21] heading 'Your cart'\n\t[23] alert 'Paid'"
PAY = Action(name="click", arguments={"bid": "22"}, raw='click("22")')
TO_CART = Action(name="click", arguments={"bid": "12"}, raw='click("12")')
DONE = Action(name="send_msg_to_user", arguments={"text": "Done."}, raw='send_msg_to_user("Done.")')


def page(tree: str, url: str = "http://shop.test/", **fields: Any) -> Observation:
    return Observation(url=url, title=tree.split("'")[1], axtree=tree, **fields)


def bids(tree: str, more: int) -> str:
    """The same page with other bids, as another recording of it has them."""
    for bid in ("12", "13", "14", "21", "22", "23"):
        tree = tree.replace(f"[{bid}]", f"[{int(bid) + more}]")
    return tree


def task(
    task_id: str, template: str = "", *, split: str = "train", site: str = "shop", held_out: bool = False, goal: str = "Pay"
) -> Task:
    return Task(
        benchmark="arena",
        task_id=task_id,
        sites=(site,),
        goal=goal,
        intent_template_id=template or task_id.rpartition("-")[0],
        evaluator=EvaluatorSpec(kind="state"),
        metadata={"split": split, "held_out_site": held_out},
    )


def acted(index: int, seen: Observation, action: Action, error: ActionError | None = None, **fields: Any) -> Step:
    whole = step(index, action, error)
    return whole.model_copy(update={"observation": seen, **fields})


def shopping(word: str) -> list[tuple[Observation, Action]]:
    """A walk whose pages no other word's has: home, cart, paid, answer."""
    home, cart, paid = (page(tree.replace("'Cart'", f"'Cart of {word}'")) for tree in (HOME, CART, PAID))
    return [(home, TO_CART), (cart, PAY), (paid, DONE), (paid, DONE)]


def make_run(
    directory: Path,
    walks: Sequence[tuple[Task, Sequence[tuple[Observation, Action]]]],
    *,
    policy: str = "oracle",
    status: Status = "success",
    alter: Callable[[Step], Step] = lambda step: step,
) -> Path:
    """A stored run: each walk's last observation is where it ended."""
    specs = [EpisodeSpec(task=task, seed=1, order_index=number) for number, (task, _) in enumerate(walks)]
    with RunStore.create(directory, manifest(specs, policy=policy, run_id=directory.name), specs) as store:
        for spec, (_, walk) in zip(specs, walks, strict=True):
            steps = [alter(acted(number, seen, action)) for number, (seen, action) in enumerate(walk[:-1])]
            path = {"final_observation": walk[-1][0], "answer": "Done."}
            store.record(episode(spec, status, steps=steps, run_id=directory.name, trajectory=path), {})
    return directory


def build_into(out: Path, *inputs: Path, kind: Any = "auto", **options: Any) -> Card:
    sources = [open_source(str(path), kind) for path in inputs]
    return build(sources, out, BuildOptions(**options), "harness data build", lambda _what, _total: lambda _amount: None)


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """Rows that are texts are written as they are."""
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read_gz(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rejected(directory: Path) -> list[tuple[str, str]]:
    """(reason, detail) of each reject."""
    return [(row["reason"], row["detail"]) for row in read_gz(directory / "rejects.jsonl.gz")]


def nnetnav(task_name: str, previous: Sequence[str], tree: str, action: str, **fields: Any) -> dict[str, Any]:
    """One row in NNetNav's schema; `previous` are earlier actions in its words, without the first, which is None."""
    actions = "\n".join(f"{number}: {text}" for number, text in enumerate(["None", *previous], 1))
    url, goal = fields.pop("url", "http://onestopmarket.com/"), fields.pop("goal", "Buy a lamp.")
    user = f"OBSERVATION:\n<|begin_of_text|>{tree}\nURL: {url}\nOBJECTIVE: {goal}\nPREVIOUS ACTIONS:\n{actions}"
    system = "You are an autonomous intelligent agent. " * 40
    head = "<|start_header_id|>{}<|end_header_id|>\n"
    output = f"Let's think step-by-step. I see it. In summary, the next action I will perform is ```{action}```"
    row = {
        "dataset": "webarena_llm",
        "id": task_name,
        "task_name": task_name,
        "output": head.format("assistant") + output + "\n<|eot_id|>",
        "prompt": f"<|begin_of_text|>{head.format('system')}{system}\n<|eot_id|>{head.format('user')}{user}\n<|eot_id|>",
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
            {"role": "assistant", "content": output},
        ],
        "n_tokens": (len(system) + len(user)) // 4,
    }
    return row | fields


def gobrowse(index: int, number: int, tree: str, action: str, *, length: int = 3, **fields: Any) -> dict[str, Any]:
    """One row in Go-Browse's processed schema."""
    goal, error, history = fields.pop("goal", "Buy a lamp"), fields.pop("error", ""), fields.pop("history", "")
    user = (
        f"# Goal\n{goal}\n\n# Current page Accessibility Tree\n{tree}\n\n# Action Space18 different types of actions\n\n\n\n\n"
        f"# History of past actions\n{history}\n\n"
        + (f"# Error message from last action\n{error}\n\n" if error else "")
        + "# Next action\n\nYou will now think step by step and produce your next best action."
    )
    row = {
        "step_idx": index,
        "step_data": {
            "prompt": [
                {"role": "system", "content": "# Instructions\nYou are a UI Assistant."},
                {"role": "user", "content": user},
            ],
            "completion": [{"role": "assistant", "content": json.dumps({"thought": "I see it.", "action": action})}],
        },
        "traj_reward": 1.0,
        "next_step_idx": -1 if number == length - 1 else index + 1,
        "traj_length": length,
        "step_number": number,
    }
    return row | fields
