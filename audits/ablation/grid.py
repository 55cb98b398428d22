"""A grid is data: one TOML file says what differs, and how a cell is trained, dreamed, played for real and audited.

    name = "dream_length"
    extends = "common/x.toml"    a file beside it: its inputs, values and stages, and what else this one does not say itself
    factor = "dream_length"
    seeds = [0, 1, 2]
    reference = "5"              the level that real success is compared with, pair by pair
    [inputs]                     paths made before the grid; their content is part of every key (`--input NAME=PATH` for others)
    [values]                     words that all cells share
    [levels.5]                   what is different at this level; a word that another level does not name stands in [values]
    [[stages]]                   in order; a stage may speak only of those before it
    name = "dream"
    command = ["dream", "{world_model}", "--policy", "checkpoint:{agent}", "--seed", "{seed}", "--run-dir", "{out}"]

`{word}` stands for an input's path, a value, a level's word, the directory of an earlier stage, `{seed}`, `{level}`, `{out}`
(this stage's own directory) or `{config}` (a file with the stage's `config` text). A value or a level's word may itself speak of
inputs and stages: what a cell runs is what its words lead to, and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from harness.settings import read_toml, validated
from harness.types import Record

Word = str | bool | int | float
Gives = Literal["", "dreamed", "real", "audit"]

PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
OWN = frozenset({"seed", "level", "out", "config"})
"""Words that every stage knows."""
_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,39}$"


class Stage(Record):
    """One command of `harness`, run once for each different way in which its words can be filled in."""

    name: str = Field(pattern=_NAME)
    command: tuple[str, ...] = Field(min_length=1)
    """Arguments of `harness`."""
    config: str = ""
    """Text of a file that the command is given as `{config}`."""
    gives: Gives = ""
    """What a cell's numbers are read from it: `dreamed` (a run of dreams), `real` (a run), `audit` (a report's directory)."""
    writes: tuple[str, ...] = ()
    """Files below `{out}` that must be there when it has finished."""
    resume: tuple[str, ...] = ()
    """Added to the command of a stage that was begun before. Commands that go on by themselves need none."""
    exclusive: str = ""
    """Stages with the same word here never run side by side: `arena` for what sets its sites back."""

    def words(self) -> set[str]:
        """What it speaks of."""
        return {word for text in (*self.command, self.config) for word in PLACE.findall(text)}


class Grid(Record):
    """One file."""

    name: str = Field(pattern=r"^[\w-]{1,64}$")
    title: str = ""
    factor: str
    """As `results.ablations.Ablation.factor`: what papers report on the same factor is put beside the table."""
    seeds: tuple[int, ...] = Field(min_length=1)
    reference: str = ""
    """The level that the others are compared with, episode by episode."""
    inputs: dict[str, str] = Field(default_factory=dict)
    values: dict[str, Word] = Field(default_factory=dict)
    levels: dict[str, dict[str, Word]] = Field(min_length=1)
    stages: tuple[Stage, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        level_words = {word for words in self.levels.values() for word in words}
        lacking = {word for words in self.levels.values() for word in level_words - set(words)} - set(self.values)
        if lacking:
            raise ValueError(f"not every level names {', '.join(sorted(lacking))}, and no value does")
        stages = [stage.name for stage in self.stages]
        names = [*self.inputs, *{*self.values, *level_words}, *stages, *OWN]
        if twice := sorted(name for name, count in Counter(names).items() if count > 1):
            raise ValueError(f"named twice: {', '.join(twice)}")
        if bad := sorted(name for name in names if not re.match(_NAME, name)):
            raise ValueError(f"no name for a word: {', '.join(map(repr, bad))}")
        if self.reference and self.reference not in self.levels:
            raise ValueError(f"reference: no level is called {self.reference!r}")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("a seed is there twice")
        self._known({*level_words, *self.values})
        self._giving()
        return self

    def _known(self, words: set[str]) -> None:
        """Every word means something, and stages speak of earlier ones only: there is no circle."""
        outside = {*self.inputs, "seed", "level"}
        stages = {stage.name for stage in self.stages}
        spoken = {
            word: set(PLACE.findall(str(text))) for made in (self.values, *self.levels.values()) for word, text in made.items()
        }
        for word, inner in spoken.items():
            if unknown := sorted(inner - outside - stages):
                raise ValueError(f"{word}: nothing is called {', '.join(unknown)}")
        earlier: set[str] = set()
        for stage in self.stages:
            direct = stage.words()
            if "config" in direct and not stage.config:
                raise ValueError(f"stage {stage.name}: {{config}} without a config")
            if unknown := sorted(direct - OWN - outside - words - stages):
                raise ValueError(f"stage {stage.name}: nothing is called {', '.join(unknown)}")
            meant = direct | {inner for word in direct & words for made in self._meanings(word) for inner in made}
            if later := sorted((meant & stages) - earlier):
                raise ValueError(f"stage {stage.name} speaks of {', '.join(later)}, which comes no earlier")
            earlier.add(stage.name)

    def _meanings(self, word: str) -> list[set[str]]:
        return [set(PLACE.findall(str(made[word]))) for made in (self.values, *self.levels.values()) if word in made]

    def _giving(self) -> None:
        given = Counter(stage.gives for stage in self.stages if stage.gives)
        for what in ("dreamed", "real"):
            if given[what] != 1:
                raise ValueError(f"{given[what]} stages give {what!r}: one must")
        if given["audit"] > 1:
            raise ValueError("several stages give 'audit'")


def read_grid(path: Path) -> Grid:
    """Read a file and what it extends. Raises `UsageError`, one line."""
    fix = "see the files in configs/ablations"
    data = read_toml(path, what="the grid", fix=fix)
    if "extends" in data:
        common = path.parent / str(data.pop("extends"))
        data = _above(data, read_toml(common, what=f"what {path.name} extends,", fix=fix))
    return validated(Grid, data, source=str(path), fix=fix)


def _above(own: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """`own` over `common`: tables are merged name by name, anything else is replaced."""
    tables = {
        name: {**common[name], **table}
        for name, table in own.items()
        if isinstance(table, dict) and isinstance(common.get(name), dict)
    }
    return {**common, **own, **tables}
