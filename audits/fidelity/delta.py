"""What an action changed, as a multiset of signed edits; two deltas are compared by how many edits they share.

    Δ(o, o')   removed   in o, not in o'          added   in o', not in o
               changed   a removed and an added element of equal role and name: other value or other states

Both Δ̂ = (ô_t+1 against o_t) and Δ = (o_t+1 against o_t) are made by the same rule from what the pages hold, not from an
alignment: an edit in the wrong order or under the wrong parent costs nothing here (the path-aware full-tree figure sees
it), and no alignment can turn one right edit into several wrong ones. A new text in place of an old one is two edits.

A copy of o_t has an empty Δ̂: delta F1 0 on every page that changed, whatever its full-tree F1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Literal, NamedTuple

from audits.fidelity.overlap import Overlap, lenient, strict
from audits.fidelity.pages import Element, Page

Sign = Literal["added", "removed", "changed"]
SIGNS: tuple[Sign, ...] = ("added", "removed", "changed")

State = tuple[str, tuple[str, ...]]
"""(value, states)."""


class Edit(NamedTuple):
    """One edit. `before` is () of what is added, `after` is () of what is removed."""

    sign: Sign
    role: str
    name: str
    before: State | tuple[()] = ()
    after: State | tuple[()] = ()


Delta = Counter[Edit]


def delta(before: Page, after: Page) -> Delta:
    """The edits that lead from one page to the other."""
    gone, come = before.elements - after.elements, after.elements - before.elements
    found: Delta = Counter()
    olds, news = _states(gone), _states(come)
    for role, name in {**olds, **news}:
        old, new = sorted(olds.get((role, name), [])), sorted(news.get((role, name), []))
        for one, other in zip(old, new, strict=False):
            found[Edit("changed", role, name, one, other)] += 1
        for one in old[len(new) :]:
            found[Edit("removed", role, name, before=one)] += 1
        for other in new[len(old) :]:
            found[Edit("added", role, name, after=other)] += 1
    return found


def compare(predicted: Delta, real: Delta) -> Overlap:
    """Shared edits, each as often as it occurs on both sides."""
    return strict(predicted, real)


def compare_leniently(predicted: Delta, real: Delta) -> Overlap:
    """Names need only be similar. A changed element's states must be right, and its value similar."""
    return lenient(predicted, real, family=_family, name=_words)


def compare_sign(predicted: Delta, real: Delta, sign: Sign) -> Overlap:
    """Only the edits of one sign."""
    return strict(_of(predicted, sign), _of(real, sign))


def size(edits: Delta) -> int:
    return sum(edits.values())


def _states(elements: Counter[Element]) -> dict[tuple[str, str], list[State]]:
    found: dict[tuple[str, str], list[State]] = defaultdict(list)
    for element, count in elements.items():
        found[element.role, element.name] += [(element.value, element.states)] * count
    return found


def _of(edits: Mapping[Edit, int], sign: Sign) -> Delta:
    return Counter({edit: count for edit, count in edits.items() if edit.sign == sign})


def _family(edit: Edit) -> tuple[str, str, tuple[str, ...]]:
    return edit.sign, edit.role, edit.after[1] if edit.sign == "changed" and edit.after else ()


def _words(edit: Edit) -> str:
    return f"{edit.name} {edit.after[0]}" if edit.sign == "changed" and edit.after else edit.name
