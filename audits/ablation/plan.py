"""Grid → cells and the distinct stages behind them.

A stage's key is the hash of what it is told: its command and config with every word filled in, where an earlier stage stands as
that stage's key and an input as the hash of its content; and the harness's version. So two cells whose stages are told the same
share one stage, a key is known before anything has run, and it does not depend on where things lie.

Not in a key is the commit: a change of a comment must not train everything again. It is in the stage's record.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import harness
from audits.ablation.grid import PLACE, Gives, Grid, Stage, Word

KEY_SCHEME = 1
SHOWN_KEY = 12


@dataclass(frozen=True)
class PlannedStage:
    """One stage that is to be run once, for every cell that needs it."""

    id: str
    """Name and beginning of the key: its directory's name."""
    name: str
    key: str
    command: tuple[str, ...]
    config: str
    needs: tuple[str, ...]
    """Ids of the stages whose directories it reads, in order."""
    inputs: tuple[str, ...]
    """Names of the grid's inputs that it reads."""
    stage: Stage


@dataclass(frozen=True)
class PlannedCell:
    """One level with one seed: the stages that it needs, earlier ones first, and which of them give its numbers."""

    level: str
    seed: int
    stages: tuple[str, ...]
    gives: Mapping[Gives, str]


@dataclass(frozen=True)
class Plan:
    """`stages` by id, in the order in which cells ask for them."""

    grid: Grid
    fingerprints: Mapping[str, str]
    stages: Mapping[str, PlannedStage]
    cells: tuple[PlannedCell, ...]

    def users(self) -> Counter[str]:
        """Stage → cells that need it."""
        return Counter(stage for cell in self.cells for stage in cell.stages)


def make_plan(grid: Grid, fingerprints: Mapping[str, str], directory: Path) -> Plan:
    """All cells, seed by seed: a whole row of levels can be looked at before the second seed is begun. `directory`: of stages."""
    stages: dict[str, PlannedStage] = {}
    cells = []
    for seed in grid.seeds:
        for level in grid.levels:
            cell, needed = _Filling(grid, level, seed, fingerprints, directory).cell()
            cells.append(cell)
            stages.update(needed)
    return Plan(grid, dict(fingerprints), stages, tuple(cells))


class _Filling:
    """The words of one cell."""

    def __init__(self, grid: Grid, level: str, seed: int, fingerprints: Mapping[str, str], directory: Path) -> None:
        self._grid, self._level, self._seed = grid, level, seed
        self._fingerprints, self._directory = fingerprints, directory
        self._words: dict[str, Word] = {**grid.values, **grid.levels[level]}
        self._made: dict[str, PlannedStage] = {}

    def cell(self) -> tuple[PlannedCell, dict[str, PlannedStage]]:
        by_name = {stage.name: stage for stage in self._grid.stages}
        for stage in self._grid.stages:
            if stage.gives:
                self._stage(stage, by_name)
        needed = {self._made[name].id: self._made[name] for name in by_name if name in self._made}
        gives: dict[Gives, str] = {made.stage.gives: made.id for made in needed.values() if made.stage.gives}
        return PlannedCell(self._level, self._seed, tuple(needed), gives), needed

    def _stage(self, stage: Stage, by_name: Mapping[str, Stage]) -> PlannedStage:
        if stage.name in self._made:
            return self._made[stage.name]
        meant = self._meant(stage.words())
        needs = [self._stage(by_name[name], by_name) for name in by_name if name in meant]
        inputs = tuple(name for name in self._grid.inputs if name in meant)
        told = {
            "scheme": KEY_SCHEME,
            "harness": harness.__version__,
            "command": [self._fill(text, self._in_key) for text in stage.command],
            "config": self._fill(stage.config, self._in_key),
        }
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
        made_id = f"{stage.name}-{key[:SHOWN_KEY]}"

        def real(word: str) -> str:
            own = {"out": self._directory / made_id, "config": self._directory / f"{made_id}.toml"}
            return str(own[word]) if word in own else self._at(word)

        made = PlannedStage(
            id=made_id,
            name=stage.name,
            key=key,
            command=tuple(self._fill(text, real) for text in stage.command),
            config=self._fill(stage.config, real),
            needs=tuple(need.id for need in needs),
            inputs=inputs,
            stage=stage,
        )
        self._made[stage.name] = made
        return made

    def _meant(self, words: set[str]) -> set[str]:
        """`words`, and what values and the level's words among them speak of."""
        return words | {inner for word in words if word in self._words for inner in PLACE.findall(_text(self._words[word]))}

    def _fill(self, text: str, of: Callable[[str], str]) -> str:
        def one(word: str) -> str:
            if word in self._words:
                return PLACE.sub(lambda found: of(found[1]), _text(self._words[word]))
            return of(word)

        return PLACE.sub(lambda found: one(found[1]), text)

    def _at(self, word: str) -> str:
        if word in self._made:
            return str(self._directory / self._made[word].id)
        return self._grid.inputs[word] if word in self._grid.inputs else self._cell_word(word)

    def _in_key(self, word: str) -> str:
        if word in self._made:
            return f"<stage {self._made[word].key}>"
        if word in self._grid.inputs:
            return f"<input {self._fingerprints[word]}>"
        return f"<{word}>" if word in ("out", "config") else self._cell_word(word)

    def _cell_word(self, word: str) -> str:
        return {"seed": str(self._seed), "level": self._level}[word]


def _text(word: Word) -> str:
    """As TOML and command lines spell it."""
    return str(word).lower() if isinstance(word, bool) else str(word)
