"""A world model with random weights, saved as a checkpoint: real in every part but what it has learnt."""

from __future__ import annotations

from pathlib import Path

from harness.actions import make_action
from harness.predictions import WorldModelQuery
from harness.types import Observation
from tests.training.models.support import tiny
from training.models import CheckpointCard, save_checkpoint
from training.world_model.memory import PageMemory

SHOP = Observation(
    url="http://shop.test/",
    title="Shop",
    axtree="RootWebArea 'Shop', focused\n\t[12] link 'Cart'\n\t[13] textbox 'Search'\n\t[14] button 'Go'",
)


def query(seed: int = 0, goal: str = "Buy a mug", **fields: object) -> WorldModelQuery:
    action = make_action("click", {"bid": "12"})
    return WorldModelQuery(goal=goal, observation=SHOP, action=action, site="shop", seed=seed).model_copy(update=fields)


def stop(text: str = "Done.", **fields: object) -> WorldModelQuery:
    return query(**{"action": make_action("send_msg_to_user", {"text": text}), **fields})  # type: ignore[arg-type]


def checkpoint(directory: Path, *, assesses: bool = True, seed: int = 0) -> Path:
    model, tokenizer = tiny(seed)
    card = CheckpointCard(
        kind="world_model", preset="tiny", format="edits", max_prompt_tokens=120, max_new_tokens=24, assesses=assesses
    )
    save_checkpoint(directory, model, tokenizer, card)
    memory = PageMemory()
    memory.add(SHOP, "shop", "run/episode")
    memory.save(directory / "memory.jsonl.gz")
    return directory
