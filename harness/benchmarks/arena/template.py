"""Template: the source of a family of tasks. See `api` for how to write one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, ClassVar, Literal

from harness.benchmarks.arena.hands import Hands, Steps
from harness.types import JsonDict

Values = Mapping[str, Any]
"""JSON values that make one task of a template: WebArena's `instantiation_dict`."""

Kind = Literal["information", "navigation", "content", "configuration"]


class Template(ABC):
    """All tasks of one intent template. Stateless: one object serves every task, in any order."""

    id: ClassVar[str]
    """Lower-case words joined by `-`, beginning with the site: the cluster of its tasks, stable for ever."""
    sites: ClassVar[tuple[str, ...]]
    """Names of harness.sites, the start site first."""
    kind: ClassVar[Kind]
    phrasings: ClassVar[tuple[str, ...]]
    """At least four goals with `{key}` for the values; task k is worded by phrasing k modulo their number."""
    count: ClassVar[int] = 6
    """How many tasks are made."""
    login: ClassVar[tuple[str, ...] | None] = None
    """Sites to be signed in to; None: all of `sites`; (): a visitor."""
    start: ClassVar[str] = ""
    """Start URL with placeholders (`__SHOP__/basket/`); several are joined by ` |AND| `; empty: the home of each site."""
    unachievable: ClassVar[bool] = False
    """The right answer is that it cannot be done."""

    @abstractmethod
    def instances(self, rng: Random) -> Iterator[JsonDict]:
        """Values of the tasks, all different. `rng` is seeded by the template's id; the first `count` are used."""

    @abstractmethod
    def expected(self, v: Values) -> JsonDict:
        """WebArena's `eval` object for these values, made by `expect`."""

    @abstractmethod
    def nearly(self, v: Values) -> JsonDict:
        """The values with one of them wrong, so that the same oracle does nearly the right thing."""

    @abstractmethod
    def oracle(self, o: Hands, v: Values) -> Steps:
        """The actions of somebody who knows the site: a generator that ends with `o.stop` or `o.give_up`."""
