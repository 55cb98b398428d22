"""A picture of a training's loss and dev delta F1 over tokens, from the train_log.jsonl of its checkpoint.

    python benchmarks/training_curve.py checkpoints/nano docs/img/world-model/nano.svg

Losses are means over the ten steps between two lines of the log; nothing is smoothed. matplotlib comes with lifelines.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.world_model.sft.callbacks import LOG, read_log


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkpoint", type=Path)
    options.add_argument("picture", type=Path)
    asked = options.parse_args()
    lines = read_log(asked.checkpoint / LOG)
    if not lines:
        raise SystemExit(f"no {LOG} in {asked.checkpoint}")
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "curve", "font.size": 9, "axes.spines.top": False})
    from matplotlib import pyplot

    steps, looks = [line for line in lines if "loss" in line], [line for line in lines if "dev" in line]
    figure, losses = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    losses.plot(_millions(steps), [line["loss"] for line in steps], color="#8aa4c8", linewidth=0.8, label="train loss")
    losses.plot(_millions(looks), [line["dev"]["loss"] for line in looks], color="#1f4e8c", marker=".", label="dev loss")
    losses.set(xlabel="million tokens (prompts included)", ylabel="cross entropy per target token", yscale="log")
    scores = losses.twinx()
    values = [line["dev"].get("delta_f1", float("nan")) for line in looks]
    scores.plot(_millions(looks), values, color="#c2571a", marker=".", label="dev delta F1")
    scores.set(ylabel="dev delta F1", ylim=(0, 1))
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    asked.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(asked.picture, metadata={"Date": None})


def _millions(lines: list[dict[str, float]]) -> list[float]:
    return [line["tokens"] / 1e6 for line in lines]


if __name__ == "__main__":
    main()
