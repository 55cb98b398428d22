"""Scores of pages → the figures of a model: the headline, its companions, and the same for parts of the pages.

delta.*      what the action changed        headline: delta.f1; beside it the pages that really changed, micro, lenient, by sign
full.*       the whole next page            only ever beside copy: most of a page does not change
change.*     did anything change            2×2 with malformed answers as a third column
critical.*   what the expert uses later     all, and those that were not there before
url.*, title.*, answer.*, cost.*, noise.*
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from math import inf

from audits.fidelity.figures import difference, mean, ratio, share
from audits.fidelity.overlap import Overlap
from audits.fidelity.records import ChangeTable, Cut, Difference, Figure, Figures, PageScore
from audits.fidelity.scoring import delta_f1

HEADLINE = "delta.f1"
CUT_FIGURES = ("delta.f1", "delta.f1_changed", "delta.micro_f1", "full.f1", "full.copy_f1", "full.skill", "change.accuracy",
               "critical.recall", "url.accuracy", "answer.malformed")  # fmt: skip
PAIRED: dict[str, Callable[[PageScore], float | None]] = {
    "delta.f1_changed": lambda s: delta_f1(s) if s.edits.real else None,
    "full.f1": lambda s: s.nodes.f1,
    "change.accuracy": lambda s: float(s.foreseen_change == s.changed),
}
"""Figures that exist on the same pages for every model, and so can be compared page by page."""

_SIZES = ((0, "0"), (3, "1-3"), (10, "4-10"), (50, "11-50"))


def figures(scores: Sequence[PageScore], names: Collection[str] = ()) -> Figures:
    """The named figures of these pages, or every one. n of each is the number of pages that it is over."""
    by = [score.template for score in scores]

    def over(value: Callable[[PageScore], float | None], high: float = 1.0) -> Figure:
        return mean([value(s) for s in scores], by, high=high)

    def pooled(parts: Callable[[PageScore], tuple[float, float] | None], low: float = 0.0) -> Figure:
        return ratio([parts(s) for s in scores], by, low=low, high=1.0)

    def holds(flag: Callable[[PageScore], bool | None]) -> Figure:
        return share([flag(s) for s in scores], by)

    made: dict[str, Callable[[], Figure]] = {
        "delta.f1": lambda: over(delta_f1),
        "delta.f1_changed": lambda: over(PAIRED["delta.f1_changed"]),
        "delta.precision": lambda: over(lambda s: s.edits.precision),
        "delta.recall": lambda: over(lambda s: s.edits.recall),
        "delta.micro_f1": lambda: pooled(lambda s: _f1_parts(s.edits)),
        "delta.lenient_f1": lambda: over(lambda s: 0.0 if s.malformed else s.edits_lenient.f1),
        "delta.added_micro_f1": lambda: pooled(lambda s: _f1_parts(s.edits_by_sign["added"])),
        "delta.removed_micro_f1": lambda: pooled(lambda s: _f1_parts(s.edits_by_sign["removed"])),
        "delta.changed_micro_f1": lambda: pooled(lambda s: _f1_parts(s.edits_by_sign["changed"])),
        "delta.right": lambda: holds(lambda s: s.right),
        "full.f1": lambda: over(lambda s: s.nodes.f1),
        "full.precision": lambda: over(lambda s: s.nodes.precision),
        "full.recall": lambda: over(lambda s: s.nodes.recall),
        "full.micro_f1": lambda: pooled(lambda s: _f1_parts(s.nodes)),
        "full.lenient_f1": lambda: over(lambda s: s.nodes_lenient.f1),
        "full.path_f1": lambda: over(lambda s: s.nodes_placed.f1),
        "full.copy_f1": lambda: over(lambda s: s.nodes_copy.f1),
        "full.skill": lambda: pooled(_skill_parts, low=-inf),
        "change.accuracy": lambda: holds(lambda s: s.foreseen_change == s.changed),
        "change.recall": lambda: holds(lambda s: s.foreseen_change is True if s.changed else None),
        "change.noop_accuracy": lambda: holds(lambda s: None if s.changed else s.foreseen_change is False),
        "critical.recall": lambda: pooled(lambda s: _recall_parts(s.critical)),
        "critical.new_recall": lambda: pooled(lambda s: _recall_parts(s.critical_new)),
        "url.accuracy": lambda: holds(lambda s: s.url_right),
        "url.accuracy_changed": lambda: holds(lambda s: s.url_right if s.url_changed else None),
        "title.accuracy": lambda: holds(lambda s: s.title_right),
        "title.accuracy_changed": lambda: holds(lambda s: s.title_right if s.title_changed else None),
        "answer.malformed": lambda: holds(lambda s: bool(s.malformed)),
        "answer.flawed": lambda: holds(lambda s: bool(s.flawed)),
        "answer.repaired": lambda: holds(lambda s: s.repaired),
        "answer.retrieved": lambda: holds(lambda s: s.retrieved),
        "noise.delta_f1": lambda: over(lambda s: s.agreement),
        "cost.prompt_tokens": lambda: over(lambda s: float(s.prompt_tokens), inf),
        "cost.completion_tokens": lambda: over(lambda s: float(s.completion_tokens), inf),
        "cost.seconds": lambda: over(lambda s: s.seconds, inf),
    }
    return {name: make() for name, make in made.items() if not names or name in names}


def change_table(scores: Sequence[PageScore]) -> ChangeTable:
    """Counts of pages: what happened × what was foreseen."""
    names = {
        (True, True): "changed_foreseen", (True, False): "changed_missed", (True, None): "changed_malformed",
        (False, False): "unchanged_foreseen", (False, True): "unchanged_invented", (False, None): "unchanged_malformed",
    }  # fmt: skip
    return ChangeTable(**Counter(names[s.changed, s.foreseen_change] for s in scores))


def malformed_reasons(scores: Sequence[PageScore]) -> dict[str, int]:
    """Reason → pages; answers that could be read in part included. Of `what: where: why; …` the first why counts."""
    said = (score.malformed or score.flawed for score in scores)
    return dict(Counter(why.partition("; ")[0].rpartition(": ")[2][:80] for why in said if why).most_common(20))


def cuts(
    scores: Sequence[PageScore], *, seen_templates: Collection[str] = (), seen_sites: Collection[str] = ()
) -> tuple[Cut, ...]:
    """The same figures by site, benchmark, action, kind and size of change, and by what the training data had seen."""
    keys: dict[str, Callable[[PageScore], str]] = {
        "site": lambda s: s.site,
        "benchmark": lambda s: s.benchmark,
        "action": lambda s: s.action,
        "change": lambda s: s.change,
        "edits": lambda s: _size_class(s.edits.real),
    }
    if seen_templates or seen_sites:
        keys["seen"] = lambda s: _seen(s, seen_templates, seen_sites)
    found: list[Cut] = []
    for by, key in keys.items():
        groups: dict[str, list[PageScore]] = {}
        for s in scores:
            groups.setdefault(key(s), []).append(s)
        for value, group in sorted(groups.items()):
            found.append(Cut(by=by, value=value, figures=figures(group, CUT_FIGURES)))
    return tuple(found)


def differences(models: Sequence[tuple[str, Sequence[PageScore]]]) -> tuple[Difference, ...]:
    """The first model minus each other one, over the examples that both have."""
    found: list[Difference] = []
    for other, theirs in models[1:]:
        first, ours = models[0]
        by_id = {s.example: s for s in theirs}
        pairs = [(s, by_id[s.example]) for s in ours if s.example in by_id]
        by = [s.template for s, _ in pairs]
        for name, value in PAIRED.items():
            figure = difference([value(a) for a, _ in pairs], [value(b) for _, b in pairs], by)
            found.append(Difference(first=first, second=other, figure=name, difference=figure))
    return tuple(found)


def _f1_parts(counts: Overlap) -> tuple[float, float] | None:
    total = counts.predicted + counts.real
    return (2 * counts.hits, total) if total else None


def _recall_parts(counts: Overlap) -> tuple[float, float] | None:
    return (counts.hits, counts.real) if counts.real else None


def _skill_parts(s: PageScore) -> tuple[float, float] | None:
    ours, copied = s.nodes.f1, s.nodes_copy.f1
    return None if ours is None or copied is None else (ours - copied, 1 - copied)


def _size_class(edits: int) -> str:
    return next((name for limit, name in _SIZES if edits <= limit), "51+")


def _seen(s: PageScore, templates: Collection[str], sites: Collection[str]) -> str:
    if s.site not in sites:
        return "new site"
    return "seen template" if s.template in templates else "new template on a seen site"
