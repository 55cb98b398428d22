"""Trajectories for judge tests: three pages, trees and tiny real PNG files."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from harness.types import (
    Action,
    EvaluatorSpec,
    Observation,
    PolicyOutput,
    Start,
    Step,
    TargetDescriptor,
    Task,
    Trajectory,
)

TASK = Task(
    benchmark="webvoyager",
    task_id="Shop--0",
    goal="What does the blue kettle cost?",
    start_url="https://shop.example/",
    evaluator=EvaluatorSpec(kind="judge"),
)
TREES = (
    'RootWebArea "Kettle shop"\n\t[4] link "Blue kettle"',
    'RootWebArea "Blue kettle"\n\t[6] StaticText "Price: 42 euros"',
    'RootWebArea "Basket"\n\t[7] StaticText "empty"',
)


def png(grey: int) -> bytes:
    """A valid 1×1 PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes([0, grey]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def episode(
    answer: str | None = "42 euros", trees: tuple[str, ...] = TREES, goal: str = TASK.goal, screenshots: bool = True
) -> Trajectory:
    """One page per tree; each action but the last leads to the next page."""
    observations = [
        Observation(
            url=f"https://shop.example/{i}",
            title=f"Title {i}",
            axtree=tree,
            screenshot=png(i % 256) if screenshots else None,
            screenshot_ref=f"step-{i:03d}.png" if screenshots else "",
        )
        for i, tree in enumerate(trees)
    ]
    target = TargetDescriptor(role="link", name="Blue kettle")
    steps = tuple(
        Step(
            index=i,
            observation=observation,
            output=PolicyOutput(action=Action(name="click", arguments={"bid": "4"}, raw='click("4")', target=target)),
        )
        for i, observation in enumerate(observations[:-1])
    )
    return Trajectory(
        task=TASK,
        source="real",
        start=Start(task_id=TASK.task_id),
        goal=goal,
        seed=7,
        steps=steps,
        final_observation=observations[-1],
        stop_reason="stop",
        answer=answer,
    )


def text_of(message: dict[str, Any]) -> str:
    """All text of a chat message that was sent."""
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def images_of(message: dict[str, Any]) -> list[str]:
    return [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]
