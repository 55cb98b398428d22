"""`harness fidelity`: how well world models foresee real pages. Answers are kept; figures can be made again without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from audits.fidelity import Asked, ModelFidelity, PageScore, Plan
    from audits.fidelity.measuring import Stages
    from harness.protocols import WorldModel
    from training.world_model.transitions import WorldModelExample


class Split(StrEnum):
    test = "test"
    held_out_site = "held_out_site"
    dev = "dev"
    train = "train"


def fidelity(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Checkpoints, or copy, retrieval:DATA, outcomes:DATA, oracle:RUN, program:RUN, frozen:MODEL, http:TOML."
        ),
    ] = None,
    data: Annotated[Path, typer.Option("--data", help="A data set made by harness data build.")] = Path("data"),
    split: Annotated[
        Split, typer.Option("--split", help="Which part of it; train only to see how much was learnt by heart.")
    ] = Split.test,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Ask about so many transitions, evenly drawn.")] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=1, max=64, help="Answers per question; from 2 on also self-noise.")
    ] = 1,
    free_running: Annotated[bool, typer.Option("--free-running", help="Also let models go on from their own pages.")] = False,
    goal_leak: Annotated[bool, typer.Option("--goal-leak", help="Also ask without the goal, and with another task's.")] = False,
    self_assessment: Annotated[
        bool, typer.Option("--self-assessment", help="Also compare rewards that models give themselves with recorded outcomes.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Where answers and figures lie. Default: in the data set.")] = None,
    rescore: Annotated[bool, typer.Option("--rescore", help="Ask nothing: figures from the answers that are stored.")] = False,
) -> None:
    """Ask world models what real actions lead to, and compare with what happened: changes first, the copy baseline beside.

    The same command again asks only what is not answered yet. Several models are compared page by page, the first one with
    each other. Writes fidelity.json (all figures), fidelity.md, and each model's answers and scores.

    Example: harness fidelity checkpoints/nano copy --data data/arena --limit 500

    Exit codes: 0 done, 2 bad usage, 3 not ready (a model's server or browser), 130 interrupted.
    """
    from audits.fidelity.comparing import REPORT, compare_models, folder_of, folders_in, write_report
    from audits.fidelity.tables import report
    from results.terminal import print_report

    folder = out or data / f"fidelity-{split.value}"
    console = Console()
    plan, available = _plan(data, split.value, limit, free_running, goal_leak, self_assessment)
    measured: list[tuple[ModelFidelity, list[PageScore]]] = []
    if rescore:
        for place in [folder_of(folder, spec) for spec in models] if models else folders_in(folder):
            measured.append(_rescored(place, plan, console))
    else:
        for spec in models or []:
            measured.append(_asked(spec, folder_of(folder, spec), plan, data, split.value, samples, console))
    found = compare_models(measured, data=data.name, split=split.value, examples=plan.examples, available=available)
    write_report(folder, found)
    print_report(report(found), console)
    console.print(f"figures: {folder / REPORT}", markup=False, highlight=False, soft_wrap=True)


def _plan(
    data: Path, split: str, limit: int | None, free_running: bool, goal_leak: bool, self_assessment: bool
) -> tuple[Plan, int]:
    """What to ask, and how many transitions the split has."""
    from audits.fidelity import Plan, chains, example_id, spread
    from harness.errors import UsageError
    from training.world_model.transitions import read_dataset, read_outcomes

    count = 0

    def counted() -> Iterator[WorldModelExample]:
        nonlocal count
        for example in read_dataset(data, split):
            count += 1
            yield example

    examples = spread(counted(), limit, key=example_id)
    if not examples:
        raise UsageError(f"the split {split} of {data} is empty", fix="choose another --split, or build a larger data set")
    ended = spread(read_outcomes(data, split), limit, key=lambda o: str(o.provenance.get("episode"))) if self_assessment else []
    return Plan(
        examples=examples,
        chains=chains(read_dataset(data, split), limit) if free_running else (),
        leaks=examples if goal_leak else (),
        outcomes=ended,
        seen_sites=_trained_sites(data),
        seen_templates={str(example.provenance.get("template")) for example in examples} if split == "train" else (),
    ), count


def _trained_sites(data: Path) -> set[str]:
    """Sites of the train split, by the data set's card. Templates need no card: no split has one of another's."""
    from training.world_model.transitions.card import CARD_JSON, read_card

    if not (data / CARD_JSON).is_file():
        return set()
    train = read_card(data).splits.get("train")
    return set(train.sites) if train else set()


def _asked(
    spec: str, place: Path, plan: Plan, data: Path, split: str, samples: int, console: Console
) -> tuple[ModelFidelity, list[PageScore]]:
    from audits.fidelity import Answers, Asked, claim, measure
    from training.world_model.model import load
    from training.world_model.transitions.reading import split_path

    model: WorldModel = load(spec)
    try:
        asked = Asked(
            spec=spec,
            name=model.name,
            version=model.version,
            data=_sha256(split_path(data, split)),
            split=split,
            samples=samples,
            parameters=getattr(model, "parameters", None),
        )
        with claim(place, asked), _stages(console, spec) as stages:
            return measure(Answers(place, model, samples), asked, plan, stages)
    finally:
        model.close()


def _rescored(place: Path, plan: Plan, console: Console) -> tuple[ModelFidelity, list[PageScore]]:
    from audits.fidelity import Answers, measure, read_asked
    from harness.errors import UsageError

    asked: Asked | None = read_asked(place)
    if asked is None:
        raise UsageError(f"no stored answers in {place}", fix="leave --rescore out")
    with _stages(console, asked.spec) as stages:
        return measure(Answers(place, None), asked, plan, stages)


@contextmanager
def _stages(console: Console, spec: str) -> Iterator[Stages]:
    """A bar with the time left for each stage of one model."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:

        def stage(name: str) -> Callable[[int, int], None]:
            task = bars.add_task(f"{spec}: {name}", total=None)
            return lambda answered, asked: bars.update(task, completed=answered, total=asked)

        yield stage


def _sha256(path: Path) -> str:
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
