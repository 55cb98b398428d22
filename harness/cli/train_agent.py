"""`harness train agent`: GSPO on dreams mixed with real experts, chosen on dev and reported on test in real browsers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.cli.real_runs import RealRuns
    from harness.cli.train_agent_screen import Screen
    from harness.types import JsonDict
    from training.agent.config import AgentConfig
    from training.agent.policy import CheckpointActor
    from training.agent.rows import Sample
    from training.agent.trainer import AgentTrainer, Rollout


def agent(
    config: Annotated[Path, typer.Option("--config", "-c", help="A TOML file, such as configs/agent/nano.toml.")],
    policy: Annotated[str, typer.Option("--policy", help="The checkpoint to begin with: what harness train agent-sft wrote.")],
    experts: Annotated[
        list[str], typer.Option("--experts", help="A run whose successes dreams begin in and mix with; may be repeated.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where checkpoints, log, dreams and evaluations lie.")],
    world_model: Annotated[
        str, typer.Option("--world-model", help="A checkpoint, or copy, retrieval:DATA, frozen:MODEL, http:TOML.")
    ] = "",
    judge: Annotated[
        str, typer.Option("--judge", help="Who assesses: outcomes:DATA, … Default: the file's, or the world model.")
    ] = "",
    online: Annotated[bool, typer.Option("--online", help="Baseline: roll out in real browsers, not in dreams.")] = False,
    run_config: Annotated[
        Path | None, typer.Option("--run-config", help="A run.toml for real browsers: [arena], [browser], [limits].")
    ] = None,
    updates: Annotated[int | None, typer.Option("--updates", min=1, help="Another number of updates than the file's.")] = None,
    real_ratio: Annotated[
        float | None, typer.Option("--real-ratio", min=0, max=1, help="Another share of experts than the file's.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Another seed than the file's.")] = None,
) -> None:
    """Train an agent in dreams. The same command again goes on where it stopped.

    Every update's dreams are a run below OUT/dreams, for harness show and harness audit replay.

    Example: harness train agent -c configs/agent/nano.toml --policy models/sft --world-model models/wm --experts runs/expert -o a

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 130 interrupted.
    """
    from harness.cli.real_runs import RealRuns
    from harness.cli.train_agent_screen import Screen
    from results.files import held
    from results.reader import find_run
    from training.agent.config import load_agent_config
    from training.agent.experts import expert_samples
    from training.agent.policy import load_actor
    from training.agent.retelling import retold

    if online == bool(world_model):
        raise UsageError("rollouts need a world model or real browsers", fix="give either --world-model or --online")
    changes: dict[str, dict[str, Any]] = {
        "trainer": {"updates": updates, "seed": seed},
        "mixture": {"real_ratio": real_ratio},
        "dream": {"judge": judge or None},
    }
    settings = load_agent_config(config, changes)
    if online and settings.dream.retold:
        raise UsageError("no browser has the pages of an expert that was told again", fix="set dream.retold to 0 for --online")
    console = Console()
    pool, counts = expert_samples([find_run(name) for name in experts])
    if not pool:
        raise UsageError(f"{', '.join(experts)} holds no success of the train split", fix="give runs of the oracle")
    told = ", ".join(f"{count} {split}" for split, count in counts.items())
    played, pool = pool, {**pool, **retold(pool, settings.dream.retold, settings.trainer.seed)}
    console.print(f"experts: {told}; {len(pool)} goals to train on", markup=False, highlight=False)
    with held(out), Screen(console) as screen:
        real = RealRuns(settings.evaluation, run_config, console, screen.aside) if settings.evaluation.benchmark else None
        if real:
            real.check(played)
        elif online:
            raise UsageError("--online needs [evaluation] with a benchmark, to know where to play", fix="add it to the file")
        start = Path(policy.removeprefix("checkpoint:"))
        actor = load_actor(start, temperature=settings.trainer.temperature, precision=settings.trainer.rollout_precision)
        if settings.trainer.lora:
            actor.adapt(settings.trainer.lora, settings.trainer.seed)
        about: JsonDict = {"world_model": world_model, "experts": list(experts), "online": online, **actor.identity()}
        rollout, parameters = _rollout(actor, settings, pool, out, about, real if online else None, screen)
        training = _trainer(actor, settings, pool, out, about, rollout, parameters, real, screen)
        progress = training.train()
        lines = _finish(training.best_checkpoint(progress), start, out, real, progress.update)
    for line in (*lines, f"checkpoint: {out}", f"next: harness run --policy checkpoint:{out}"):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _rollout(
    actor: CheckpointActor,
    settings: AgentConfig,
    pool: Mapping[str, Sequence[Sample]],
    out: Path,
    about: JsonDict,
    real: RealRuns | None,
    screen: Screen,
) -> tuple[Rollout, int | None]:
    """What plays groups, and how many parameters its world model has (None: unknown). Says in `about` which versions it took."""
    from training.agent.browsing import BrowserRollout
    from training.agent.dreaming import DreamRollout
    from training.agent.served import ServedActor
    from training.world_model.model import load, load_judge
    from training.world_model.model.loading import judge_of

    if real:
        if settings.rollouts.server:
            raise UsageError("[rollouts] serves dreams; --online plays the checkpoint in its own workers", fix="leave out one")
        return BrowserRollout(actor, actor.write, real.rollouts(settings.trainer.temperature), pool, out / "rollouts"), 0
    model, rules = load(str(about["world_model"])), settings.dream
    judge = load_judge(rules.judge, rules.threshold) if rules.judge else judge_of(model, rules.threshold)
    about |= {"world_model_version": model.version, "judge_version": judge.version}
    kept = out / "dreams" if rules.keep else None
    if settings.rollouts.server:
        actor = ServedActor(actor, settings.rollouts, out / "rollouts")
    parameters: int | None = getattr(model, "parameters", None)
    return DreamRollout(
        actor, model, judge, rules, pool, directory=kept, about=about, batch=rules.batch, on_done=screen.dreamt
    ), parameters


def _trainer(
    actor: CheckpointActor,
    settings: AgentConfig,
    pool: Mapping[str, Sequence[Sample]],
    out: Path,
    about: JsonDict,
    rollout: Rollout,
    parameters: int | None,
    real: RealRuns | None,
    screen: Screen,
) -> AgentTrainer:
    from training.agent.experts import training_tasks
    from training.agent.trainer import AgentTrainer

    def save(model: Any, directory: Path) -> None:
        actor.write(directory, model, config=settings.model_dump(mode="json"), about=about)

    def evaluate(checkpoint: Path, update: int) -> dict[str, float]:
        assert real is not None
        return real.evaluate(checkpoint, "dev", out / "evaluations" / f"dev-{update:06d}")

    tasks = training_tasks(pool)
    per_update = settings.trainer.groups_per_update
    planned = -(-settings.trainer.epochs * len(tasks) // per_update)
    screen.total(min(planned, settings.trainer.updates or planned))
    return AgentTrainer(
        actor.trained,
        settings,
        out,
        tasks=tasks,
        rollout=rollout,
        save=save,
        experts=pool,
        encode=actor.encode,
        evaluate=evaluate if real else None,
        world_model_parameters=parameters,
        about=about,
        report=screen.report,
    )


def _finish(best: Path, start: Path, out: Path, real: RealRuns | None, update: int) -> list[str]:
    """The chosen checkpoint becomes OUT's own; where tasks are evaluated it is compared on test with the one begun with."""
    import json

    from harness.cli.real_runs import compared
    from results.files import replace_file
    from training.models.checkpoint import copy_checkpoint

    copy_checkpoint(best, out)
    if real is None:
        return [f"the policy after update {update}"]
    before, after = out / "evaluations" / "test-begin", out / "evaluations" / "test-end"
    numbers = {"begin": real.evaluate(start, "test", before), "end": real.evaluate(out, "test", after)}
    found: dict[str, Any] = {"step": update, "chosen": best.name, "test": {**numbers, "paired": compared(before, after)}}
    replace_file(out / "test.json", (json.dumps(found, indent=2) + "\n").encode())
    lines = [f"chosen on dev: {best.name}"]
    for name, one in numbers.items():
        if "success" in one:
            lines.append(
                f"test, {name}: {one['success']:.1%} [{one['low']:.1%}, {one['high']:.1%}] of {one['n']:.0f} scored, "
                f"{one['planned']:.0f} planned"
            )
    paired = found["test"]["paired"]
    if "difference" in paired:  # without an interval where no pair differs
        low, high = (paired.get(f"difference_{end}") for end in ("low", "high"))
        interval = "" if low is None or high is None else f" [{low:+.1%}, {high:+.1%}]"
        lines.append(
            f"difference: {paired['difference']:+.1%}{interval}, {paired['pairs']:.0f} pairs, McNemar p = {paired['p']:.2g}"
        )
    return [*lines, f"more: harness report {before} {after}"]
