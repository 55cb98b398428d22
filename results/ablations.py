"""`ablation.json`: a grid of cells (level of one factor × seed), each trained, dreamed, evaluated for real and audited.

    Ablation ── factor, levels, seeds, config
    └── Cell ── level, seed, state
        ├── dreamed   Trial: what the dream's own judge said        dreamed success
        ├── real      Trial: the same policy in a real browser      REAL success
        ├── replayed  Trial: dreams judged successful, replayed     SSRF = failures / scored
        └── cost      seconds, tokens, real episodes

The file is replaced as a whole after each cell; a cell that is not in it was not run, and is a dash, never a zero.
Intervals: `results.intervals.rate` over all seeds' trials, clustered by template (a template's trials over seeds are one
cluster, so seeds narrow an interval only as far as they differ by tasks).

Published points stand in a table of their own with their source; they are never mixed with ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, ValidationError

from harness.errors import UsageError
from harness.types import JsonDict, Record
from results.compare import Pair, paired_difference
from results.files import replace_file
from results.intervals import Rate, rate
from results.published import PublishedPaper
from results.tables import Cell as TableCell
from results.tables import Report, Table, columns, written

ABLATION = "ablation.json"
ABLATION_SCHEMA_VERSION = 1
PARTS = "parts"
"""Of a merged grid's `config`: what its parts do not share (`results.ablation_parts`)."""

CellState = Literal["planned", "running", "done", "failed"]


class Trial(Record):
    """One episode of a cell. `success` None = no score (error, blocked, inconclusive): in n, and no success."""

    task_id: str
    cluster: str
    success: bool | None
    key: str = ""
    """`EpisodeSpec.key`: the same episode at another level has the same. Empty in files of before; such trials are in no pair."""


class Cost(Record):
    """What a cell spent by itself; stages that cells share are charged to the grid (`Ablation.shared_cost`)."""

    seconds: float = 0.0
    train_tokens: int = 0
    world_model_tokens: int = 0
    policy_tokens: int = 0
    real_episodes: int = 0
    cost_usd: float | None = None

    def __add__(self, other: Cost) -> Cost:
        usd = self.cost_usd + other.cost_usd if self.cost_usd is not None and other.cost_usd is not None else None
        return Cost(
            seconds=self.seconds + other.seconds,
            train_tokens=self.train_tokens + other.train_tokens,
            world_model_tokens=self.world_model_tokens + other.world_model_tokens,
            policy_tokens=self.policy_tokens + other.policy_tokens,
            real_episodes=self.real_episodes + other.real_episodes,
            cost_usd=usd,
        )


class Cell(Record):
    """One level with one seed."""

    level: str
    seed: int
    state: CellState
    problem: str = ""
    """Why it failed, or of a cell that is done what it lacks; one line."""
    dreamed: tuple[Trial, ...] = ()
    real: tuple[Trial, ...] = ()
    replayed: tuple[Trial, ...] = ()
    """Dreams that their judge called successful, executed in a real browser. None = unreplayable or inconclusive."""
    controls_passed: bool | None = None
    """The audit's controls; None = not audited. Where False the cell's SSRF is not shown."""
    cost: Cost = Cost()
    runs: dict[str, str] = Field(default_factory=dict)
    """Stage → its directory, relative to the ablation's."""


class Ablation(Record):
    """One grid."""

    schema_version: int = ABLATION_SCHEMA_VERSION
    name: str = Field(pattern=r"^[\w-]{1,64}$")
    """Of the grid, and of its directory."""
    title: str = ""
    factor: str
    """`dream_length`, `real_ratio`, `world_model`, `truncation` …"""
    levels: tuple[str, ...]
    """In the order of the table."""
    seeds: tuple[int, ...]
    reference: str = ""
    """The level that the others are compared with, episode by episode; empty: none."""
    config: JsonDict = Field(default_factory=dict)
    """What all cells share."""
    cells: tuple[Cell, ...] = ()
    shared_cost: Cost = Cost()
    created_at: str = ""
    """ISO 8601, UTC."""

    def at(self, level: str) -> list[Cell]:
        """The cells of one level that are done, by seed."""
        return sorted((c for c in self.cells if c.level == level and c.state == "done"), key=lambda c: c.seed)


def read_ablation(path: Path) -> Ablation:
    """Read a grid. Raises `UsageError` naming what is wrong with the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    try:
        found = Ablation.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the whole"
        raise UsageError(f"{path} is no ablation: {where}: {problem['msg']}", fix="run the ablation again: it resumes") from None
    if found.schema_version > ABLATION_SCHEMA_VERSION:
        raise UsageError(f"{path} has the newer schema {found.schema_version}", fix="update the harness")
    return found


def write_ablation(path: Path, ablation: Ablation) -> None:
    """Replace the file atomically: a reader sees the grid before or after a cell."""
    replace_file(path, (ablation.model_dump_json() + "\n").encode())


def scored(trials: Iterable[Trial]) -> bool:
    """Whether any has a score."""
    return any(trial.success is not None for trial in trials)


def success(trials: Iterable[Trial]) -> Rate:
    """Successes over all trials; one without a score is no success."""
    listed = list(trials)
    return rate([trial.success is True for trial in listed], [trial.cluster for trial in listed])


def ssrf(trials: Iterable[Trial]) -> Rate:
    """P(real failure | dreamed success): failures over the replays that have a score."""
    scored = [trial for trial in trials if trial.success is not None]
    return rate([not trial.success for trial in scored], [trial.cluster for trial in scored])


def ablation_table(ablation: Ablation) -> Table:
    """One line per level, in the grid's order: dreamed success, REAL success, SSRF, cost; dashes where nothing was run."""
    cols = columns(
        ablation.factor,
        "seeds",
        ("dreamed success", "percent"),
        ("dreamed 95%", "interval"),
        ("n dreams", "int"),
        ("REAL success", "percent"),
        ("REAL 95%", "interval"),
        ("n real", "int"),
        ("SSRF", "percent"),
        ("SSRF 95%", "interval"),
        ("n replayed", "int"),
        ("no verdict", "int"),
        "controls",
        ("unscored", "int"),
        ("seconds", "seconds"),
        ("trained tokens", "int"),
        ("world model tokens", "int"),
        ("real episodes", "int"),
    )
    notes = (
        "Rates over the trials of all finished seeds; unscored: dreams and episodes without a verdict, in n and no success.",
        "SSRF: real failures / replayed dreams with a verdict, shown only where the audit's controls passed.",
        "95% intervals: over templates (see the documentation of results). Cost: of the level's cells, without what cells share.",
    )
    return Table("ablation", _title(ablation), cols, tuple(_row(ablation, level) for level in ablation.levels), notes)


def difference_table(ablation: Ablation) -> list[Table]:
    """REAL success of each level less the reference's, on the same episodes with the same training seed; nothing without one."""
    if ablation.reference not in ablation.levels:
        return []
    cols = columns(
        ablation.factor,
        ("REAL success", "percent"),
        ("reference", "percent"),
        ("difference, points", "points"),
        ("difference 95%", "points interval"),
        ("McNemar p", "p"),
        ("pairs", "int"),
        ("templates", "int"),
        "by seed",
    )
    notes = (
        f"Pairs: the same episode, the same training seed, scored at both levels; {ablation.reference} is the reference.",
        "Interval: bootstrap over templates; below 30 of them Student's t over them. That another training may end elsewhere "
        "is not in it: see the last column.",
        "McNemar's exact test takes pairs as independent: where templates hold several, trust the interval.",
    )
    others = [level for level in ablation.levels if level != ablation.reference]
    rows = tuple(_difference(ablation, level) for level in others)
    return [Table("differences", f"REAL success against {ablation.reference}, pair by pair", cols, rows, notes)]


def published_table(factor: str, papers: Sequence[PublishedPaper]) -> list[Table]:
    """What papers report on this factor, each with its source; nothing where none does."""
    rows: list[tuple[TableCell, ...]] = []
    for paper in papers:
        for number in paper.numbers:
            if number.factor == factor:
                rows.append((number.level, number.what, number.benchmark, number.value / 100, paper.paper, number.source))
        for said in paper.findings:
            if said.factor == factor:
                rows.append((said.level, said.says, said.benchmark or None, None, paper.paper, said.source))
    if not rows:
        return []
    cols = columns("level", "what", "benchmark", ("value", "percent"), "paper", "source")
    notes = ("Quoted, not reproduced: other models, tasks, judges and budgets than ours. Never average them with ours.",)
    return [Table("published", "What the paper reports", cols, tuple(rows), notes)]


def ablation_report(ablation: Ablation, papers: Sequence[PublishedPaper] = ()) -> Report:
    """The grid for `results.render`: Markdown, CSV, JSON, LaTeX."""
    planned = len(ablation.levels) * len(ablation.seeds)
    done = sum(len(ablation.at(level)) for level in ablation.levels)
    failed = [cell for cell in ablation.cells if cell.state == "failed"]
    warnings = [f"Not finished: {done} of {planned} cells."] if done < planned else []
    if (sets := _sets_of_inputs(ablation)) > 1:
        warnings.append(f"Its parts were made from {sets} different sets of inputs: seeds differ by more than their training.")
    warnings += [f"{cell.level}, seed {cell.seed} failed: {cell.problem or 'no reason given'}" for cell in failed]
    lacking = [cell for cell in ablation.cells if cell.state == "done" and cell.problem]
    warnings += [f"{cell.level}, seed {cell.seed}: {cell.problem}" for cell in lacking]
    return Report(
        title=_title(ablation),
        summary=f"{done} of {planned} cells done ({len(ablation.levels)} levels × {len(ablation.seeds)} seeds)"
        f"{f', {len(failed)} failed' if failed else ''}.",
        warnings=tuple(warnings),
        tables=(ablation_table(ablation), *difference_table(ablation), *published_table(ablation.factor, papers)),
    )


def _sets_of_inputs(ablation: Ablation) -> int:
    """Of a merged grid; 1 for one that was run in one place."""
    parts = cast("dict[str, dict[str, Any]]", ablation.config.get(PARTS, {}))
    hashes = [{name: about["sha256"] for name, about in (part.get("inputs") or {}).items()} for part in parts.values()]
    return max(1, len({tuple(sorted(one.items())) for one in hashes}))


def _title(ablation: Ablation) -> str:
    return ablation.title or f"Ablation: {ablation.factor}"


def _row(ablation: Ablation, level: str) -> tuple[TableCell, ...]:
    cells = ablation.at(level)
    seeds = f"{len(cells)} of {len(ablation.seeds)}"
    if not cells:
        return (level, seeds, *(None,) * 16)
    dreams = [trial for cell in cells for trial in cell.dreamed]
    dreamed = success(dreams)
    judged = scored(dreams)
    real = success(trial for cell in cells for trial in cell.real)
    valid = [cell for cell in cells if cell.controls_passed]
    replayed = [trial for cell in valid for trial in cell.replayed]
    failures = ssrf(replayed)
    cost = Cost(cost_usd=0.0)
    for cell in cells:
        cost = cost + cell.cost
    return (
        level,
        seeds,
        dreamed.value if judged else None,
        dreamed.interval if judged else None,
        dreamed.n,
        real.value,
        real.interval,
        real.n,
        failures.value,
        failures.interval,
        failures.n,
        sum(trial.success is None for trial in replayed),
        _controls(cells),
        sum(trial.success is None for cell in cells for trial in (*cell.dreamed, *cell.real)),
        cost.seconds,
        cost.train_tokens,
        cost.world_model_tokens,
        cost.real_episodes,
    )


def _difference(ablation: Ablation, level: str) -> tuple[TableCell, ...]:
    begin = {cell.seed: cell for cell in ablation.at(ablation.reference)}
    by_seed = {cell.seed: _pairs(begin[cell.seed], cell) for cell in ablation.at(level) if cell.seed in begin}
    found = paired_difference([pair for pairs in by_seed.values() for pair in pairs])
    seeds = [written(paired_difference(pairs).value, "points") for pairs in by_seed.values()]
    return (
        level,
        found.second,
        found.first,
        found.value,
        found.interval,
        found.p_value,
        found.pairs or None,
        found.clusters or None,
        ", ".join(seeds) or None,
    )


def _pairs(first: Cell, second: Cell) -> list[Pair]:
    known = {trial.key: trial for trial in first.real if trial.key}
    both = [(known[trial.key], trial) for trial in second.real if trial.key in known]
    return [Pair(a.success, b.success, a.cluster) for a, b in both if a.success is not None and b.success is not None]


def _controls(cells: Sequence[Cell]) -> str | None:
    audited = [cell for cell in cells if cell.controls_passed is not None]
    return f"passed {sum(cell.controls_passed is True for cell in audited)} of {len(audited)}" if audited else None
