"""From nothing to an agent that was trained in dreams, and what a real browser says of it: the whole chain by `harness` commands.

    python scripts/dream_demo.py --out runs/dream-demo          make dream-demo: one seed, 24 MiniWoB++ tasks

    taught     the heuristic plays the tasks          ─┐
    experts    the same on other seeds                 │ real browser
    chance     random actions, most of them failures   │
    sft        warm start from the successes of taught │
    sampled    the warm policy plays, temperature 1   ─┘ real browser: what it gets wrong is what a judge must know
    data, wm   transitions and outcomes → a world model
    dynaweb    harness train agent: dreams, dev and test in a real browser, paired with the warm policy
    audit      what becomes of the last dreams in a real browser

Several seeds and the baselines are grids: configs/ablations/methods.toml and its neighbours begin where this ends.

Dreams are judged by `outcomes:DATA`, learned from how the episodes of taught, experts, chance and sampled ended.

Dreams begin on pages of `experts`, whose goals the warm policy was not taught: on those that it knows by heart all dreams of a
group end alike, and an advantage of zero teaches nothing.

Every stage goes on where it stopped, and is skipped when done: the same command resumes. Training and evaluation play other seeds
of the same tasks: what is measured is whether an agent solves new instances, not new kinds of tasks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = ROOT / "configs"
SFT, WORLD_MODEL, AGENT = (
    CONFIGS / "agent" / "sft-demo.toml",
    CONFIGS / "world_model" / "demo.toml",
    CONFIGS / "agent" / "demo.toml",
)
SEEDS = {"taught": 6, "experts": 16, "chance": 6, "sampled": 8, "dev-experts": 4, "dev-chance": 4}
"""Episodes per task."""
DEV_TASKS = ("click-checkboxes-transfer", "click-dialog", "click-menu", "login-user")
"""Of the dev split of `harness data`: they choose the world model's checkpoint, and no agent sees them."""
TRAIN_SEED, TAUGHT_SEED = 1000, 5000
"""First seeds of what is trained on, and of what the warm start is taught; configs/agent/demo.toml has those of dev and test."""


class Demo:
    """One directory, and what lies in it."""

    def __init__(self, out: Path, configs: tuple[Path, Path, Path], workers: str, quick: bool) -> None:
        """`configs`: of the warm start, the world model and the training in dreams."""
        self.out, self.workers = out, workers
        self.sft, self.world_model, self.agent = configs
        self.seeds = {name: 1 if quick else count for name, count in SEEDS.items()}
        self.quick = quick
        self.tasks: list[str] = tomllib.loads(self.agent.read_text())["evaluation"]["tasks"]
        out.mkdir(parents=True, exist_ok=True)
        for name, seed in (("train", TRAIN_SEED), ("taught", TAUGHT_SEED)):
            (out / f"{name}.toml").write_text(f'[run]\nbase_seed = {seed}\n[browser]\nscreenshots = "none"\n')

    def run(self) -> None:
        out = self.out
        limits = ["--max-steps", "20"] if self.quick else []
        self.play("taught", "heuristic", config="taught")
        self.play("experts", "heuristic")
        self.play("chance", "random", "--max-steps", "4")
        self.play("dev-experts", "heuristic", tasks=DEV_TASKS)
        self.play("dev-chance", "random", "--max-steps", "4", tasks=DEV_TASKS)
        self.train("sft", "agent-sft", "--config", self.sft, "--experts", out / "taught", *limits)
        (out / "sampled.toml").write_text(f'name = "checkpoint:{out / "sft"}"\n[options]\ntemperature = 1.0\n')
        self.play("sampled", str(out / "sampled.toml"))
        runs = [out / name for name in ("taught", "experts", "chance", "dev-experts", "dev-chance", "sampled")]
        self.stage("data", ["data", "build", *runs, "--out", out / "data"])
        self.train("wm", "world-model", "--config", self.world_model, "--data", out / "data", *limits)
        dreams = ["train", "agent", "--config", self.agent, "--policy", out / "sft", "--experts", out / "experts", "--seed", "0"]
        dreams += ["--world-model", out / "wm", "--judge", f"outcomes:{out / 'data'}"]
        dreams += ["--updates", "2"] if self.quick else []
        self.stage("dynaweb", [*dreams, "--out", out / "dynaweb"])
        last = max((out / "dynaweb" / "dreams").iterdir())
        self.stage("audit", ["audit", "replay", last, "--env", "miniwob", "--run-dir", out / "audit", "--workers", self.workers])

    def play(self, name: str, policy: str, *more: str, tasks: Sequence[str] = (), config: str = "train") -> None:
        chosen = [part for task in tasks or self.tasks for part in ("--tasks", task)]
        command = ["run", "--bench", "miniwob", *chosen, "--policy", policy, "--seeds", str(self.seeds[name]), *more]
        settings = ["--config", self.out / f"{config}.toml", "--workers", self.workers, "--run-dir", self.out / name]
        self.stage(name, [*command, *settings])

    def train(self, name: str, kind: str, *more: Any) -> None:
        resume = ["--resume"] if (self.out / name / "checkpoints").exists() else []
        self.stage(name, ["train", kind, *more, "--out", self.out / name, "--seed", "0", *resume])

    def stage(self, name: str, command: Sequence[Any]) -> None:
        """Run one command to its end, unless it was, and note its wall time. Broken episodes (exit 4) do not end the chain."""
        done = self.done()
        if name in done and (self.out / name).exists():
            return
        words = [str(part) for part in command]
        print(f"\n=== {name}: harness {' '.join(words[:3])} …", flush=True)
        began = time.monotonic()
        code = subprocess.run([sys.executable, "-P", "-m", "harness.cli.main", *words], cwd=ROOT, check=False).returncode
        if code not in (0, 4):
            sys.exit(f"stopped in {name}; the same command goes on")
        done[name] = round(time.monotonic() - began, 1)
        (self.out / "stages.json").write_text(json.dumps(done, indent=2) + "\n")

    def done(self) -> dict[str, float]:
        path = self.out / "stages.json"
        return json.loads(path.read_text()) if path.exists() else {}


def report(out: Path) -> str:
    """A table from the stored test results: n, 95 % interval, and the difference to the warm policy on the same episodes."""
    from results.environment import git_state

    commit, dirty = git_state(ROOT)
    found = json.loads((out / "dynaweb" / "test.json").read_text())
    stages = json.loads((out / "stages.json").read_text())
    lines = [
        f"commit {commit}{' (changed)' if dirty else ''}",
        "",
        "| warm policy | after training | chosen | difference [95 %] | pairs | p |",
        "| --- | --- | --- | --- | --- | --- |",
        _row(found),
        "",
        f"wall time: {sum(stages.values()) / 60:.1f} minutes",
        "",
        "| stage | seconds |",
        "| --- | --- |",
        *(f"| {name} | {seconds} |" for name, seconds in stages.items()),
    ]
    return "\n".join(lines) + "\n"


def _row(found: dict[str, Any]) -> str:
    test, paired = found["test"], found["test"]["paired"]

    def rate(one: dict[str, float]) -> str:
        if "success" not in one:
            return f"– of {one['planned']:.0f}"
        return f"{one['success']:.1%} [{one['low']:.1%}, {one['high']:.1%}] of {one['n']:.0f}"

    difference = f"{paired['difference']:+.1%}" if "difference" in paired else "–"
    if "difference_low" in paired:
        difference += f" [{paired['difference_low']:+.1%}, {paired['difference_high']:+.1%}]"
    cells = [rate(test["begin"]), rate(test["end"]), found["chosen"], difference]
    return f"| {' | '.join(map(str, cells))} | {paired['pairs']:.0f} | {paired.get('p', float('nan')):.2g} |"


def main(say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/dream-demo"))
    parser.add_argument("--sft", type=Path, default=SFT, help="configuration of the warm start")
    parser.add_argument("--world-model", type=Path, default=WORLD_MODEL, help="configuration of the world model")
    parser.add_argument("--agent", type=Path, default=AGENT, help="configuration of the training in dreams")
    parser.add_argument("--workers", default="auto")
    parser.add_argument(
        "--quick", action="store_true", help="one episode per task and two updates: does the chain hold together?"
    )
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    configs = (arguments.sft.resolve(), arguments.world_model.resolve(), arguments.agent.resolve())
    Demo(out, configs, arguments.workers, arguments.quick).run()
    text = report(out)
    (out / "report.md").write_text(text)
    say(text)


if __name__ == "__main__":
    main()
