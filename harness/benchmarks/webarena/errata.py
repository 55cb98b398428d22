"""Known mistakes in task definitions, by task id, each with its reason and source (errata.toml).

    effect = "fix"      the definition is corrected (`set`), and the corrected one gives the errata score
    effect = "exclude"  no answer can be right: the errata score is `inconclusive`
    effect = "note"     worth knowing when reading a result; no score changes

The official score never changes. Both are stored with every verdict.
"""

from __future__ import annotations

import copy
import tomllib
from functools import lru_cache
from importlib import resources

from pydantic import JsonValue

from harness.scoring.webarena import Effect
from harness.types import JsonDict, Record

ERRATA_VERSION = "1"


class Change(Record):
    path: str
    """Dotted place in the task's `eval` object; numbers index lists (`program_html.0.url`)."""
    value: JsonValue


class Erratum(Record):
    benchmarks: tuple[str, ...]
    task_ids: tuple[int, ...]
    effect: Effect
    reason: str
    source: str
    set: tuple[Change, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.reason} [{self.effect}; {self.source}]"


@lru_cache(maxsize=1)
def all_errata() -> tuple[Erratum, ...]:
    """Every entry of errata.toml, in file order."""
    table = tomllib.loads(resources.files(__package__).joinpath("errata.toml").read_text(encoding="utf-8"))
    return tuple(Erratum.model_validate(entry) for entry in table["erratum"])


def errata_for(benchmark: str, task_id: str) -> tuple[Erratum, ...]:
    """Entries of one task."""
    return tuple(e for e in all_errata() if benchmark in e.benchmarks and int(task_id) in e.task_ids)


def apply_fixes(definition: JsonDict, entries: tuple[Erratum, ...]) -> JsonDict:
    """A copy of a task definition with all `set` changes of its `fix` entries made in `eval`."""
    result = copy.deepcopy(definition)
    for entry in entries:
        for change in entry.set:
            *parents, last = change.path.split(".")
            node: JsonValue = result["eval"]
            for part in parents:
                node = _child(node, part)
            if isinstance(node, list):
                node[int(last)] = change.value
            elif isinstance(node, dict):
                node[last] = change.value
    return result


def _child(node: JsonValue, part: str) -> JsonValue:
    if isinstance(node, list):
        return node[int(part)]
    if isinstance(node, dict):
        return node[part]
    raise KeyError(part)
