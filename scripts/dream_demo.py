"""From nothing to an agent that was trained in dreams, and what a real browser says of it: the whole chain by `harness` commands.

    python scripts/dream_demo.py --out runs/dream-demo                      make dream-demo: one seed, some MiniWoB++ tasks
    python scripts/dream_demo.py --out runs/dream-proof --seeds 0 1 2 \\
        --variants dynaweb real-0 copied online sft-all                     make dream-proof: several seeds, baselines

    taught     the heuristic plays the tasks          ─┐
    experts    the same on other seeds                 │ real browser
    chance     random actions, most of them failures   │
    sft        warm start from the successes of taught │
    sampled    the warm policy plays, temperature 1   ─┘ real browser: what it gets wrong is what a judge must know
    data, wm   transitions and outcomes → a world model
    VARIANT    harness train agent: dreams, dev and test in a real browser, paired with the warm policy
    audit      what becomes of the last dreams in a real browser

    variant    rollouts in            experts mixed in
    dynaweb    the world model        as configured
    real-0     the world model        none
    frozen     SmolLM2, untrained     as configured; hours
    copied     "nothing changes"      as configured: no dynamics
    online     a real browser         as configured; as many episodes as chance and sampled took: equal real interaction
    sft-all    none: supervised training alone, on all that the experts ever did; what the other variants should be measured by

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
SEEDS = {"taught": 6, "experts": 16, "chance": 6, "sampled": 8, "dev-experts": 4, "dev-chance": 4, "test": 10}
"""Episodes per task; test as in `[evaluation]` of configs/agent/demo.toml."""
DEV_TASKS = ("click-checkboxes-transfer", "click-dialog", "click-menu", "login-user")
"""Of the dev split of `harness data`: they choose the world model's checkpoint, and no agent sees them."""
VARIANTS = ("dynaweb", "real-0", "frozen", "copied", "online", "sft-all")
TRAIN_SEED, TAUGHT_SEED, TEST_SEED = 1000, 5000, 200_000
"""First seeds of what is trained on, of what the warm start is taught, and of test (`[evaluation]`)."""


class Demo:
    """One directory: shared data, and below `seed-N` everything that a training seed decides."""

    def __init__(self, out: Path, configs: tuple[Path, Path, Path], workers: str, quick: bool) -> None:
        """`configs`: of the warm start, the world model and the training in dreams."""
        self.out, self.workers = out, workers
        self.sft, self.world_model, self.agent = configs
        self.seeds = {name: 1 if quick else count for name, count in SEEDS.items()}
        self.quick = quick
        self.tasks: list[str] = tomllib.loads(self.agent.read_text())["evaluation"]["tasks"]
        out.mkdir(parents=True, exist_ok=True)
        for name, seed in (("train", TRAIN_SEED), ("taught", TAUGHT_SEED), ("test", TEST_SEED)):
            (out / f"{name}.toml").write_text(f'[run]\nbase_seed = {seed}\n[browser]\nscreenshots = "none"\n')

    def shared(self) -> None:
        self.play("taught", "heuristic", config="taught")
        self.play("experts", "heuristic")
        self.play("chance", "random", "--max-steps", "4")
        self.play("dev-experts", "heuristic", tasks=DEV_TASKS)
        self.play("dev-chance", "random", "--max-steps", "4", tasks=DEV_TASKS)

    def one_seed(self, seed: int, variants: Sequence[str]) -> None:
        place = self.out / f"seed-{seed}"
        place.mkdir(exist_ok=True)
        limits = ["--max-steps", "20"] if self.quick else []
        self.train(place / "sft", ["agent-sft", "--config", self.sft, "--experts", self.out / "taught", *limits], seed)
        policy = place / "sampled.toml"
        policy.write_text(f'name = "checkpoint:{place / "sft"}"\n[options]\ntemperature = 1.0\n')
        self.play("sampled", str(policy), below=place)
        runs = [*(self.out / name for name in ("taught", "experts", "chance", "dev-experts", "dev-chance")), place / "sampled"]
        if not (place / "data" / "card.json").exists():
            self.stage(place / "data", ["data", "build", *runs, "--out", place / "data"])
        self.train(place / "wm", ["world-model", "--config", self.world_model, "--data", place / "data", *limits], seed)
        for variant in variants:
            self.variant(place, variant, seed)

    def variant(self, place: Path, variant: str, seed: int) -> None:
        """`harness train agent` with what makes the variant."""
        out = place / variant
        if (out / "test.json").exists():
            return
        if variant == "sft-all":
            self.supervised(place, out, seed)
            return
        command: list[Any] = ["train", "agent", "--config", self.agent, "--policy", place / "sft", "--out", out]
        command += ["--experts", self.out / "experts", "--seed", str(seed)]
        if variant == "online":
            command += ["--online", "--updates", str(self.online_updates(place))]
        elif variant == "frozen":
            command += ["--world-model", "frozen:smollm2"]
        elif variant == "copied":
            command += ["--world-model", "copy"]
        else:
            command += ["--world-model", place / "wm"]
        if variant != "online":
            command += ["--judge", f"outcomes:{place / 'data'}"]
        if variant == "real-0":
            command += ["--real-ratio", "0"]
        if self.quick and variant != "online":
            command += ["--updates", "2"]
        self.stage(out, command)
        if variant == "dynaweb":
            last = max((out / "dreams").iterdir())
            self.stage(
                place / "audit",
                ["audit", "replay", last, "--env", "miniwob", "--run-dir", place / "audit", "--workers", self.workers],
            )

    def supervised(self, place: Path, out: Path, seed: int) -> None:
        """The same warm start with the experts of the dreams' starts as well, played on test beside `dynaweb`'s warm policy."""
        from harness.cli.real_runs import compared, measured

        experts = [part for name in ("taught", "experts") for part in ("--experts", self.out / name)]
        limits = ["--max-steps", "20"] if self.quick else []
        self.train(out, ["agent-sft", "--config", self.sft, *experts, *limits], seed)
        self.play("test", f"checkpoint:{out}", below=out, config="test")
        before = place / "dynaweb" / "evaluations" / "test-begin"
        if before.exists():
            found = {"begin": measured(before), "end": measured(out / "test"), "paired": compared(before, out / "test")}
            (out / "test.json").write_text(json.dumps({"chosen": "the end", "test": found}, indent=2) + "\n")

    def online_updates(self, place: Path) -> int:
        """So many that the online baseline plays about as many real episodes as the world model was made from."""
        trainer: dict[str, int] = tomllib.loads(self.agent.read_text())["trainer"]
        episodes = sum(len(list((run / "episodes").iterdir())) for run in (self.out / "chance", place / "sampled"))
        return max(1, round(episodes / (trainer["groups_per_update"] * trainer["group_size"])))

    def play(
        self, name: str, policy: str, *more: str, below: Path | None = None, tasks: Sequence[str] = (), config: str = "train"
    ) -> None:
        directory = (below or self.out) / name
        chosen = [part for task in tasks or self.tasks for part in ("--tasks", task)]
        command = ["run", "--bench", "miniwob", *chosen, "--policy", policy, "--seeds", str(self.seeds[name]), *more]
        self.stage(
            directory, [*command, "--config", self.out / f"{config}.toml", "--workers", self.workers, "--run-dir", directory]
        )

    def train(self, directory: Path, command: list[Any], seed: int) -> None:
        if not (directory / "preset.json").exists():
            resume = ["--resume"] if (directory / "checkpoints").exists() else []
            self.stage(directory, ["train", *command, "--out", directory, "--seed", str(seed), *resume])

    def stage(self, directory: Path, command: Sequence[Any]) -> None:
        """Run one command to its end, unless it was, and note its wall time. Broken episodes (exit 4) do not end the chain."""
        done = self.done()
        key = str(directory.relative_to(self.out))
        if key in done and directory.exists():
            return
        words = [str(part) for part in command]
        print(f"\n=== {key}: harness {' '.join(words[:3])} …", flush=True)
        began = time.monotonic()
        code = subprocess.run([sys.executable, "-P", "-m", "harness.cli.main", *words], cwd=ROOT, check=False).returncode
        if code not in (0, 4):
            sys.exit(f"stopped in {key}; the same command goes on")
        done[key] = round(time.monotonic() - began, 1)
        (self.out / "stages.json").write_text(json.dumps(done, indent=2) + "\n")

    def done(self) -> dict[str, float]:
        path = self.out / "stages.json"
        return json.loads(path.read_text()) if path.exists() else {}


def report(out: Path, seeds: Sequence[int], variants: Sequence[str]) -> str:
    """A table from the stored test results: n, 95 % interval, and the difference to the warm policy on the same episodes."""
    from results.environment import git_state

    commit, dirty = git_state(ROOT)
    lines = [f"commit {commit}{' (changed)' if dirty else ''}", ""]
    lines += [
        "| variant | seed | warm policy | after training | chosen | difference [95 %] | pairs | p | real episodes to learn from |"
    ]
    lines += ["| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for variant in variants:
        for seed in seeds:
            path = out / f"seed-{seed}" / variant / "test.json"
            if path.exists():
                lines.append(_row(variant, seed, json.loads(path.read_text()), _real_episodes(out, seed, variant)))
    stages = json.loads((out / "stages.json").read_text())
    lines += ["", f"wall time: {sum(stages.values()) / 60:.1f} minutes", "", "| stage | seconds |", "| --- | --- |"]
    lines += [f"| {name} | {seconds} |" for name, seconds in stages.items()]
    return "\n".join(lines) + "\n"


def _row(variant: str, seed: int, found: dict[str, Any], episodes: int) -> str:
    test, paired = found["test"], found["test"]["paired"]

    def rate(one: dict[str, float]) -> str:
        if "success" not in one:
            return f"– of {one['planned']:.0f}"
        return f"{one['success']:.1%} [{one['low']:.1%}, {one['high']:.1%}] of {one['n']:.0f}"

    difference = "–"
    if "difference_low" in paired:
        difference = f"{paired['difference']:+.1%} [{paired['difference_low']:+.1%}, {paired['difference_high']:+.1%}]"
    cells = [variant, seed, rate(test["begin"]), rate(test["end"]), found["chosen"], difference]
    return f"| {' | '.join(map(str, cells))} | {paired['pairs']:.0f} | {paired.get('p', float('nan')):.2g} | {episodes} |"


def _real_episodes(out: Path, seed: int, variant: str) -> int:
    """Beyond the experts, which all variants share."""

    def count(pattern: str) -> int:
        return sum(1 for _ in out.glob(pattern))

    if variant == "sft-all":
        return 0
    if variant == "online":
        return count(f"seed-{seed}/online/rollouts/update-*/episodes/*")
    return count("chance/episodes/*") + count(f"seed-{seed}/sampled/episodes/*")


def main(say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/dream-demo"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=["dynaweb"])
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
    demo = Demo(out, configs, arguments.workers, arguments.quick)
    demo.shared()
    for seed in arguments.seeds:
        demo.one_seed(seed, arguments.variants)
    text = report(out, arguments.seeds, arguments.variants)
    (out / "report.md").write_text(text)
    say(text)


if __name__ == "__main__":
    main()
