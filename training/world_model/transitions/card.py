"""The data card: what is in a data set, counted, and how it was made. card.json for programs, card.md for people."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from pydantic import Field, ValidationError

import harness
from harness.errors import UsageError
from harness.types import JsonDict, Record
from training.world_model.transitions.pages import size_of
from training.world_model.transitions.raw import REASONS
from training.world_model.transitions.records import DATASET_SCHEMA_VERSION, SPLITS, StoredEpisode, StoredStep

CARD_JSON, CARD_MD = "card.json", "card.md"
_VERSIONED = ("pydantic", "pydantic-core")


class SplitCard(Record):
    """Counts of one split. Each table of rows adds up to `rows`, `outcomes` to the scored episodes."""

    rows: int
    """Kept transitions."""
    episodes: int
    """Lines of the split's file; some have an outcome and no kept row."""
    tasks: int
    templates: int
    characters: int
    """Of the split's file, unpacked."""
    sites: dict[str, int] = Field(default_factory=dict)
    actions: dict[str, int] = Field(default_factory=dict)
    changes: dict[str, int] = Field(default_factory=dict)
    """What became of the page: see `results.transitions.Change`."""
    sizes: dict[str, int] = Field(default_factory=dict)
    """Nodes that are on one of the two pages only."""
    sources: dict[str, int] = Field(default_factory=dict)
    action_errors: dict[str, int] = Field(default_factory=dict)
    critical: int
    """Rows that know what an expert acts on later."""
    outcomes: dict[str, int] = Field(default_factory=dict)


class Card(Record):
    schema_version: int = DATASET_SCHEMA_VERSION
    hash: str
    """SHA-256 over the unpacked lines of all splits, in order: equal for equal data sets."""
    command: str
    versions: dict[str, str]
    options: JsonDict
    inputs: tuple[JsonDict, ...]
    rows_in: int
    rows_kept: int
    rows_rejected: int
    rejects: dict[str, dict[str, int]]
    """Input → reason → rows."""
    splits: dict[str, SplitCard]
    pairs: int
    """Different pairs of page and action among the rows that were clean."""
    pairs_with_several_outcomes: int
    """Pairs that led to different pages: no world model can foresee which."""
    shared_pages: dict[str, dict[str, int]]
    """Per split other than train: pages acted on, and how many of them in train too."""


@dataclass(slots=True)
class _Counts:
    rows: int = 0
    episodes: int = 0
    characters: int = 0
    critical: int = 0
    tasks: set[str] = field(default_factory=set)
    templates: set[str] = field(default_factory=set)
    tables: dict[str, Counter[str]] = field(default_factory=dict)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def count(self, table: str, value: object) -> None:
        self.tables.setdefault(table, Counter())[str(value or "none")] += 1


class Tally:
    """Counts what is written, as it is written."""

    def __init__(self) -> None:
        self._splits = {split: _Counts() for split in SPLITS}

    @property
    def rows(self) -> int:
        return sum(counts.rows for counts in self._splits.values())

    def add(self, split: str, episode: StoredEpisode, line: str) -> None:
        counts, shared = self._splits[split], episode.provenance
        counts.episodes += 1
        counts.characters += len(line) + 1
        counts.digest.update(line.encode("utf-8") + b"\n")
        counts.tasks.add(f"{shared.get('benchmark')}/{shared.get('task_id')}")
        counts.templates.add(f"{shared.get('benchmark')}/{shared.get('template')}")
        if episode.outcome is not None:
            counts.count("outcomes", "success" if episode.outcome.success else "failure")
        later_targets = False
        for step in reversed(episode.steps):
            if step.kept:
                self._count(counts, episode, step)
                counts.critical += shared.get("source") == "expert" and later_targets
            later_targets = later_targets or step.action.target is not None

    def card(
        self,
        *,
        command: str,
        inputs: tuple[JsonDict, ...],
        options: JsonDict,
        rows_in: int,
        rejects: Mapping[tuple[str, str], int],
        outcomes: Mapping[str, Sized],
        shared_pages: dict[str, dict[str, int]],
    ) -> Card:
        """Raises RuntimeError if a row vanished: kept and rejected rows must add up to those that came in."""
        rejected = sum(rejects.values())
        if self.rows + rejected != rows_in:
            raise RuntimeError(f"{rows_in} rows came in, {self.rows} were kept and {rejected} rejected")
        whole = hashlib.sha256()
        for split in SPLITS:
            whole.update(self._splits[split].digest.digest())
        by_input: dict[str, dict[str, int]] = {}
        for (name, reason), count in sorted(rejects.items()):
            by_input.setdefault(name, {})[reason] = count
        return Card(
            hash=whole.hexdigest(),
            command=command,
            versions=_versions(),
            options=options,
            inputs=inputs,
            rows_in=rows_in,
            rows_kept=self.rows,
            rows_rejected=rejected,
            rejects=by_input,
            splits={split: _split_card(counts) for split, counts in self._splits.items()},
            pairs=len(outcomes),
            pairs_with_several_outcomes=sum(len(pages) > 1 for pages in outcomes.values()),
            shared_pages=shared_pages,
        )

    def _count(self, counts: _Counts, episode: StoredEpisode, step: StoredStep) -> None:
        own = step.provenance
        lines = own.get("changed_lines")
        counts.rows += 1
        counts.count("sites", episode.site)
        counts.count("actions", step.action.name)
        counts.count("changes", own.get("change"))
        counts.count("sizes", size_of(lines if isinstance(lines, int) else 0))
        counts.count("sources", episode.provenance.get("source"))
        counts.count("action_errors", own.get("action_error"))


def read_card(directory: Path) -> Card:
    """Raises UsageError where no data set lies in `directory`."""
    path = directory / CARD_JSON
    try:
        return Card.model_validate_json(path.read_bytes())
    except OSError:
        raise UsageError(f"no data set in {directory}", fix="name a directory that harness data build made") from None
    except ValidationError as error:
        raise UsageError(f"{path} is damaged: {error.error_count()} fields", fix="build it again: harness data build") from None


def write_card(directory: Path, card: Card) -> None:
    (directory / CARD_JSON).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (directory / CARD_MD).write_text(markdown(card), encoding="utf-8")


def markdown(card: Card) -> str:
    """The card in Markdown. Names from the data stand in code spans: they are anybody's text."""
    lines = [
        "# Data card",
        "",
        f"{card.rows_in} rows came in, {card.rows_kept} were kept, {card.rows_rejected} rejected. Hash `{card.hash}`.",
        "",
        f"Made by {_code(card.command)}, with " + ", ".join(f"{k} {v}" for k, v in card.versions.items()) + ".",
        "",
        f"{card.pairs} different pairs of page and action, {card.pairs_with_several_outcomes} of which led to different pages.",
        "",
        "## Inputs",
        "",
        *_table(("input", "kind", "rows", "rejected"), [_input_row(card, facts) for facts in card.inputs]),
        "",
        "## Splits",
        "",
        *_table(
            ("split", "rows", "episodes", "tasks", "templates", "success", "failure", "pages acted on, also in train"),
            [_split_row(card, name, split) for name, split in card.splits.items()],
        ),
        "",
        "Outcomes are of episodes that were scored; they include episodes without a kept row.",
    ]
    for title in ("sites", "actions", "changes", "sizes", "sources", "action_errors"):
        tables = {name: getattr(split, title) for name, split in card.splits.items()}
        lines += ["", f"## Rows by {title.replace('_', ' ')}", "", *_cross(tables)]
    lines += ["", "## Rejected", "", *_table(("input", "reason", "rows", "meaning"), _reject_rows(card))]
    return "\n".join(lines) + "\n"


def _versions() -> dict[str, str]:
    versions = {"dynaweb-harness": harness.__version__, "python": platform.python_version()}
    return versions | {name: metadata.version(name) for name in _VERSIONED}


def _split_card(counts: _Counts) -> SplitCard:
    tables = {name: dict(table.most_common()) for name, table in counts.tables.items()}
    return SplitCard(
        rows=counts.rows,
        episodes=counts.episodes,
        tasks=len(counts.tasks),
        templates=len(counts.templates),
        characters=counts.characters,
        critical=counts.critical,
        **tables,
    )


def _input_row(card: Card, facts: JsonDict) -> tuple[object, ...]:
    name = str(facts.get("name"))
    return _code(name), facts.get("kind"), facts.get("rows"), sum(card.rejects.get(name, {}).values())


def _split_row(card: Card, name: str, split: SplitCard) -> tuple[object, ...]:
    shared = card.shared_pages.get(name)
    pages = f"{shared['also_in_train']} of {shared['pages']}" if shared else ""
    won, lost = split.outcomes.get("success", 0), split.outcomes.get("failure", 0)
    return name, split.rows, split.episodes, split.tasks, split.templates, won, lost, pages


def _reject_rows(card: Card) -> list[tuple[object, ...]]:
    return [
        (_code(name), reason, count, REASONS.get(reason, ""))
        for name, reasons in card.rejects.items()
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1])
    ]


def _cross(tables: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Values down, splits across."""
    total: Counter[str] = Counter()
    for table in tables.values():
        total.update(table)
    rows = [(_code(value), *(table.get(value, 0) for table in tables.values())) for value, _ in total.most_common()]
    return _table(("", *tables), rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    head = list(head)
    return [_line(head), _line("---" for _ in head), *(_line(row) for row in rows)]


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', chr(39)).replace('|', '/').split())}`"
