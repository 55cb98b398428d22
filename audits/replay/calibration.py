"""What two identical real runs differ in: the mask of volatile nodes, and the threshold for a page as a whole.

    same actions twice ─► nodes that differ ─────► mask       role and shape of the name, per site; left out of comparisons only
                       ├► parts of addresses ────► places     path segments and query values that are drawn anew
                       └► agreement of the pages ─► threshold  its 1st percentile: what lies below is a divergence (`any`)

A shape has `#` for digits: `21 minutes ago` and `22 minutes ago` are one volatile node. Grounding, crit and evaluators never
look through the mask.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, ValidationError

from audits.fidelity.pages import Element
from harness.errors import UsageError
from harness.types import Record

CALIBRATION_VERSION = 1
_DIGITS = re.compile(r"\d+")
MAX_SHAPE = 160


class Volatile(Record):
    """A kind of node that two identical runs showed differently."""

    site: str
    role: str
    shape: str
    seen: int = 1
    """Pages on which it differed."""


class VolatilePlace(Record):
    """A part of an address that two identical runs showed differently: a key drawn at random, a time."""

    site: str
    before: str
    """`/accounts/wishlists`: the path segment after it; `/search?token`: the value of that query parameter."""
    seen: int = 1


class Calibration(Record):
    """Learned by `harness audit controls`, used by every comparison. The default masks nothing and accepts no difference."""

    schema_version: int = CALIBRATION_VERSION
    mask: tuple[Volatile, ...] = ()
    places: tuple[VolatilePlace, ...] = ()
    threshold: float = Field(default=1.0, ge=0, le=1)
    """θ of D_any on sites that have none of their own."""
    thresholds: dict[str, float] = Field(default_factory=dict)
    """θ by site, where enough pages were seen: a site whose scripts race must not blunt the audit of the others."""
    pages: int = 0
    """Pairs of pages it was learned from."""
    source: str = ""
    """Run of recorded trajectories and run of their replay."""

    @property
    def digest(self) -> str:
        """12 hex digits: two audits with equal digests compared pages by the same rule."""
        data = self.model_dump(mode="json", exclude={"source"})
        return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]

    def threshold_of(self, site: str) -> float:
        return self.thresholds.get(site, self.threshold)

    def masks(self, site: str, node: Element) -> bool:
        return (site, node.role, shape_of(node)) in _keys(self.mask)

    def address(self, site: str, url: str) -> str:
        """Path and query of a plain URL, `*` for volatile parts; of a file its name."""
        if url.startswith("file:"):
            return url.rpartition("/")[2]
        path, values = _parts(url)
        volatile = _places(self.places)
        shown = ""
        for segment in path:
            shown += "/*" if (site, shown) in volatile else f"/{segment}"
        query = [f"{key}={'*' if (site, f'{shown}?{key}') in volatile else value}" for key, value in values]
        return shown + ("?" + "&".join(query) if query else "")


@lru_cache(maxsize=8)
def _keys(mask: tuple[Volatile, ...]) -> frozenset[tuple[str, str, str]]:
    return frozenset((v.site, v.role, v.shape) for v in mask)


@lru_cache(maxsize=8)
def _places(places: tuple[VolatilePlace, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((place.site, place.before) for place in places)


def _parts(url: str) -> tuple[list[str], list[tuple[str, str]]]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url], []
    return [s for s in parts.path.split("/") if s], parse_qsl(parts.query, keep_blank_values=True)


def shape_of(node: Element) -> str:
    """Name and value without what counts up."""
    return _DIGITS.sub("#", f"{node.name}\n{node.value}" if node.value else node.name)[:MAX_SHAPE]


def learn(differing: Iterable[tuple[str, Element]]) -> tuple[Volatile, ...]:
    """The mask from (site, node that two identical runs did not share), sorted."""
    seen: dict[tuple[str, str, str], int] = {}
    for site, node in differing:
        key = (site, node.role, shape_of(node))
        seen[key] = seen.get(key, 0) + 1
    return tuple(Volatile(site=s, role=r, shape=n, seen=count) for (s, r, n), count in sorted(seen.items()))


def learn_places(pairs: Iterable[tuple[str, str, str]]) -> tuple[VolatilePlace, ...]:
    """Volatile parts from (site, address of one run, of the other). Addresses of different build teach nothing: an action that
    leads elsewhere the second time is no token."""
    seen: dict[tuple[str, str], int] = {}
    for site, one, other in pairs:
        (path, query), (other_path, other_query) = _parts(one), _parts(other)
        if len(path) != len(other_path) or [k for k, _ in query] != [k for k, _ in other_query]:
            continue
        shown = ""
        for mine, theirs in zip(path, other_path, strict=True):
            if mine != theirs:
                seen[site, shown] = seen.get((site, shown), 0) + 1
            shown += f"/{mine}" if mine == theirs else "/*"
        for (key, mine), (_, theirs) in zip(query, other_query, strict=True):
            if mine != theirs:
                seen[site, f"{shown}?{key}"] = seen.get((site, f"{shown}?{key}"), 0) + 1
    return tuple(VolatilePlace(site=s, before=b, seen=count) for (s, b), count in sorted(seen.items()))


def load_calibration(path: Path) -> Calibration:
    """A calibration file, or the one in a controls directory. Raises UsageError."""
    file = path / "calibration.json" if path.is_dir() else path
    try:
        return Calibration.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the calibration {file}: {error}", fix="harness audit controls RUN makes one") from None
    except ValidationError:
        raise UsageError(f"{file} is not a calibration", fix="harness audit controls RUN makes one") from None
