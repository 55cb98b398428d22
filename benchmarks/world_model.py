"""How fast a world model foresees pages, beside a real browser on the same transitions, in one run on one machine.

    python benchmarks/world_model.py MODEL --data DATA --runs RUN [RUN …] [--limit 200] [--split test] [--batch 64]

    predictions/s   MODEL.predict on the transitions, in batches, after one batch to warm up
    steps/s         a real browser playing the same transitions: episodes in order, kept alive between steps; the seconds of the
                    steps alone, and with the resets and prefixes that getting there takes
    ratio           predictions/s over steps/s (the goal is 5 at `nano`)
    projection      seconds per prediction on a GPU behind vLLM, by the formula of audits/fidelity/cost.py

RUNS hold the episodes that the transitions come from (MiniWoB++; the arena, with its sites up). Transitions that the browser
cannot reach again are left out on both sides and counted. Both sides use one process; CPU threads as torch chooses.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from audits.fidelity import example_id, spread
from audits.fidelity.cost import H100, H200, projected_seconds
from harness.predictions import Prediction
from training.world_model.model import load
from training.world_model.model.program import ProgramWorldModel
from training.world_model.transitions import WorldModelExample, read_dataset


def chosen(data: Path, split: str, limit: int) -> list[WorldModelExample]:
    """Whole episodes, so that the browser goes on where it stands: as many as give about `limit` transitions."""
    examples = list(read_dataset(data, split))
    episodes = sorted({_episode(example) for example in examples})
    each = max(1, len(examples) // max(1, len(episodes)))
    kept = set(spread(episodes, max(1, limit // each), key=str))
    return [example for example in examples if _episode(example) in kept]


def browser_steps(examples: list[WorldModelExample], runs: list[Path]) -> tuple[list[WorldModelExample], float, float, int]:
    """(transitions that were reached, seconds of their steps, seconds in all, resets)."""
    model = ProgramWorldModel(runs)
    try:
        model.predict([examples[0].query])  # starts the browser
        began, reached, stepping = time.perf_counter(), [], 0.0
        resets = model.replayer.resets
        for example in examples:
            answer = model.predict([example.query])[0][0]
            if answer.next_observation is not None:
                reached.append(example)
                stepping += model.replayer.step_seconds[-1]
        return reached, stepping, time.perf_counter() - began, model.replayer.resets - resets
    finally:
        model.close()


def predictions(spec: str, examples: list[WorldModelExample], batch: int) -> tuple[list[Prediction], float, int | None]:
    """(answers, seconds, parameters)."""
    model = load(spec)
    try:
        queries = [example.query for example in examples]
        model.predict(queries[:batch])  # compiles kernels, fills caches
        began, found = time.perf_counter(), []
        for start in range(0, len(queries), batch):
            found += [answers[0] for answers in model.predict(queries[start : start + batch])]
        return found, time.perf_counter() - began, getattr(model, "parameters", None)
    finally:
        model.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--runs", type=Path, nargs="+", required=True)
    options.add_argument("--split", default="test")
    options.add_argument("--limit", type=int, default=200)
    options.add_argument("--batch", type=int, default=64)
    asked = options.parse_args()

    examples = chosen(asked.data, asked.split, asked.limit)
    reached, stepping, whole, resets = browser_steps(examples, asked.runs)
    if not reached:
        raise SystemExit("the browser reached none of the transitions: give the runs that the data set was built from")
    answers, seconds, parameters = predictions(asked.model, reached, asked.batch)

    speed, steps = len(reached) / seconds, len(reached) / stepping
    print(f"{len(reached)} transitions ({len(examples) - len(reached)} not reached), load average {os.getloadavg()[0]:.1f}")
    print(f"{asked.model:<28} {speed:8.2f} predictions/s   batch {asked.batch}, {seconds:.1f} s")
    print(f"{'browser, steps alone':<28} {steps:8.2f} steps/s         {stepping:.1f} s")
    print(f"{'browser, with resets':<28} {len(reached) / whole:8.2f} steps/s         {whole:.1f} s, {resets} resets")
    print(f"{'ratio to steps alone':<28} {speed / steps:8.2f} ×")
    print(f"{'ratio with resets':<28} {speed * whole / len(reached):8.2f} ×")
    unreadable = sum(answer.next_observation is None for answer in answers)
    prompt = statistics.fmean(answer.usage.prompt_tokens for answer in answers)
    written = statistics.fmean(answer.usage.completion_tokens for answer in answers)
    print(f"{'tokens per prediction':<28} {prompt:8.1f} in, {written:.1f} out; {unreadable} unreadable")
    if parameters and written:
        print(f"{'tokens written per second':<28} {written * speed:8.0f}         {parameters:,} parameters")
        for device in (H100, H200):
            for batch in (1, 64, 512):
                each = projected_seconds(device, parameters, prompt, written, batch)
                print(f"projected, {device.name}, batch {batch:<4} {1 / each:10.0f} predictions/s at most")


def _episode(example: WorldModelExample) -> str:
    return example_id(example).rpartition("/")[0]


if __name__ == "__main__":
    main()
