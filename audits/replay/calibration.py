"""What two identical real runs differ in: the mask of volatile nodes, and the threshold for a page as a whole.

    same actions twice ─► nodes that differ ─► Mask        role and shape of the name, per site; masked in comparisons only
                       └► agreement of pages ─► threshold   its 1st percentile: what lies below is a divergence (`any`)

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


class Calibration(Record):
    """Learned by `harness audit controls`, used by every comparison. The default masks nothing and accepts no difference."""

    schema_version: int = CALIBRATION_VERSION
    mask: tuple[Volatile, ...] = ()
    threshold: float = Field(default=1.0, ge=0, le=1)
    """θ of D_any."""
    pages: int = 0
    """Pairs of pages it was learned from."""
    source: str = ""
    """Run of recorded trajectories and run of their replay."""

    @property
    def digest(self) -> str:
        """12 hex digits: two audits with equal digests compared pages by the same rule."""
        data = self.model_dump(mode="json", exclude={"source"})
        return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]

    def masks(self, site: str, node: Element) -> bool:
        return (site, node.role, shape_of(node)) in _keys(self.mask)


@lru_cache(maxsize=8)
def _keys(mask: tuple[Volatile, ...]) -> frozenset[tuple[str, str, str]]:
    return frozenset((v.site, v.role, v.shape) for v in mask)


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


def load_calibration(path: Path) -> Calibration:
    """A calibration file, or the one in a controls directory. Raises UsageError."""
    file = path / "calibration.json" if path.is_dir() else path
    try:
        return Calibration.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the calibration {file}: {error}", fix="harness audit controls RUN makes one") from None
    except ValidationError:
        raise UsageError(f"{file} is not a calibration", fix="harness audit controls RUN makes one") from None
