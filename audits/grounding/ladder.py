"""The resolver ladder: a descriptor and a real page → one element, or the reason why none is meant.

    rung         holds if                                                          kind
    exact        role and name are unique on both pages                            exact
    index        N namesakes on both pages: the k-th of them                       exact
    context      of the namesakes one alone has the same path, landmark,           contextual
                 neighbours or value
    similarity   the best score is at least θ and leads by at least δ              fuzzy
    none         best below θ: absent; lead below δ: ambiguous
A grounded element that cannot take the action (disabled, read-only) is `wrong_state`: it is there, and the dream is still wrong.
Actions without an element are classified too: `off_origin`, `invalid_argument`, `no_element`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal
from urllib.parse import urlsplit

from audits.grounding.config import GroundingConfig
from audits.grounding.similarity import similarity
from harness.axtree import INTERACTIVE_ROLES, Node, Tree, describe_index
from harness.types import INVALID_ACTION, Action, Record, TargetDescriptor

Kind = Literal[
    "exact", "contextual", "fuzzy", "ambiguous", "absent", "wrong_state", "missing_descriptor",
    "off_origin", "invalid_argument", "no_element",
]  # fmt: skip
Rung = Literal["exact", "index", "context", "similarity", "none"]
STRICT: Final = frozenset({"exact", "contextual"})
"""Kinds that count as groundable (M5); the others are reported beside them."""
GROUNDED: Final = frozenset({"exact", "contextual", "fuzzy"})
"""Kinds whose element is acted on."""
SHOWN: Final = 3
"""Candidates kept as evidence."""
_WRITING: Final = frozenset({"fill", "type", "clear", "select_option", "check", "uncheck"})
_NEEDS_ENABLED: Final = _WRITING | {"click", "dblclick"}
"""A browser hovers over, focuses, drags and presses keys on what is disabled (Playwright's actionability; tests/envs)."""


class Candidate(Record):
    """An element that was considered."""

    bid: str
    label: str
    score: float


class Grounding(Record):
    """What became of one descriptor."""

    kind: Kind
    rung: Rung = "none"
    bid: str = ""
    """Of the real page; empty unless an element was found (it is also given for `wrong_state`)."""
    score: float | None = None
    """Similarity of the best candidate; None where no comparison was needed."""
    margin: float | None = None
    """Its lead over the second; None with fewer than two candidates."""
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()

    @property
    def acted_on(self) -> bool:
        return self.kind in GROUNDED


def ground(tree: Tree, target: TargetDescriptor, action: str, config: GroundingConfig) -> Grounding:
    """`resolve`, then: can the element take this action (`click`, `fill`, …)? Raises nothing for any input."""
    found = resolve(tree, target, config)
    if not found.acted_on:
        return found
    node = tree.nodes[tree.by_bid[found.bid]]
    if why := _unfit(node, action):
        return found.model_copy(update={"kind": "wrong_state", "reason": why})
    return found


def resolve(tree: Tree, target: TargetDescriptor, config: GroundingConfig) -> Grounding:
    """The element of `tree` that `target` means."""
    named = [i for i, node in enumerate(tree.nodes) if node.role == target.role and _text(node.name) == target.name]
    usable = [i for i in named if tree.nodes[i].bid is not None]
    if len(named) == target.count and target.index < len(named) and named[target.index] in usable:
        rung: Rung = "exact" if target.count == 1 else "index"
        return Grounding(kind="exact", rung=rung, bid=_bid(tree, named[target.index]))
    described = {i: describe_index(tree, i) for i in usable}
    alone = _by_context(usable, described, target)
    if alone is not None:
        return Grounding(kind="contextual", rung="context", bid=_bid(tree, alone))
    if not config.similarity:
        if len(usable) > 1:
            return _unresolved("ambiguous", f"{len(usable)} elements are called so, {target.count} in the dream", ())
        return _unresolved("absent", "no element is called so in the same place", ())
    return _by_similarity(tree, target, described, config)


_CLUES: Final[tuple[tuple[Callable[[TargetDescriptor], object], bool], ...]] = (
    (lambda target: target.path, True),
    (lambda target: target.landmark, False),
    (lambda target: target.neighbours, True),
    (lambda target: target.neighbours[:1] if any(target.neighbours[:1]) else (), True),
    (lambda target: target.neighbours[1:] if any(target.neighbours[1:]) else (), False),
    (lambda target: target.value, False),
)
"""What tells namesakes apart, the surest first, and whether it suffices for a sole one that is left of several."""


def _by_context(usable: Sequence[int], described: dict[int, TargetDescriptor], target: TargetDescriptor) -> int | None:
    """The one namesake in the same place; None if there are several, or if none is.

    A sole namesake needs agreement too, where the dream shows several: the others may be the ones that are missing.
    """
    left = list(usable)
    for clue, decides in _CLUES:
        wanted = clue(target)
        equal = [i for i in left if wanted and clue(described[i]) == wanted]
        if decides and len(equal) == 1:
            return equal[0]
        left = equal or left
    if len(left) == 1 and (len(usable) > 1 or target.count == 1):
        return left[0]
    return None


def _by_similarity(
    tree: Tree, target: TargetDescriptor, described: dict[int, TargetDescriptor], config: GroundingConfig
) -> Grounding:
    for index, node in enumerate(tree.nodes):
        if index not in described and node.bid is not None and _comparable(node.role, target.role):
            described[index] = describe_index(tree, index)
    scored = sorted(((similarity(target, d, config.weights), -i) for i, d in described.items()), reverse=True)
    shown = tuple(
        Candidate(bid=_bid(tree, -i), label=tree.labels[-i][:120], score=round(score, 4)) for score, i in scored[:SHOWN]
    )
    if not scored:
        return _unresolved("absent", "the page has no element of this role", shown)
    best = scored[0][0]
    lead = best - scored[1][0] if len(scored) > 1 else None
    known = {"score": round(best, 4), "margin": None if lead is None else round(lead, 4)}
    if best < config.threshold:
        return _unresolved("absent", f"the most similar element scores {best:.2f}, below {config.threshold:g}", shown, **known)
    if lead is not None and lead < config.margin:
        return _unresolved("ambiguous", f"two elements score within {config.margin:g}", shown, **known)
    return Grounding(kind="fuzzy", rung="similarity", bid=shown[0].bid, candidates=shown, **known)


def ground_other(action: Action, origins: Sequence[str]) -> Grounding:
    """The class of an action that points at no element. `origins`: where the task's sites are; empty: anywhere."""
    if action.name == INVALID_ACTION:
        return Grounding(kind="invalid_argument", reason=action.error)
    if action.name == "goto":
        url = str(action.arguments.get("url", ""))
        if origins and origin_of(url) not in origins and not url.startswith("about:"):
            return Grounding(kind="off_origin", reason=f"{origin_of(url)[:100] or 'no address'} is none of the task's sites")
    return Grounding(kind="no_element")


def origin_of(url: str) -> str:
    """Scheme, host and port; `file://` for any file; empty for what is no address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme else ""


def _unresolved(
    kind: Kind, reason: str, candidates: tuple[Candidate, ...], score: float | None = None, margin: float | None = None
) -> Grounding:
    return Grounding(kind=kind, reason=reason, candidates=candidates, score=score, margin=margin)


def _unfit(node: Node, action: str) -> str:
    if action in _NEEDS_ENABLED and node.get("disabled") in (True, "true"):
        return "the element is disabled"
    if action in _WRITING and node.get("readonly") in (True, "true"):
        return "the element is read-only"
    return ""


def _comparable(role: str, wanted: str) -> bool:
    return role == wanted or (role in INTERACTIVE_ROLES and wanted in INTERACTIVE_ROLES)


def _bid(tree: Tree, index: int) -> str:
    return tree.nodes[index].bid or ""


def _text(name: str) -> str:
    collapsed = " ".join(name.split())
    return collapsed if collapsed.isascii() else collapsed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
