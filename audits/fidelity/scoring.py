"""One predicted page against the real one: a pure function from (example, predictions) to a `PageScore`.

o_t ─────────────┬─ Δ̂ ─▶ ô_t+1        edits, change, right       Δ̂ against Δ
                 └─ Δ ──▶ o_t+1        nodes, url, title, critical   ô_t+1 against o_t+1
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from audits.fidelity.delta import SIGNS, Delta, compare, compare_leniently, compare_sign, delta
from audits.fidelity.overlap import Overlap, lenient, strict
from audits.fidelity.pages import Page, read_page
from audits.fidelity.records import PageScore
from harness.predictions import Prediction, WorldModelQuery
from harness.types import JsonDict, Observation, TargetDescriptor

RIGHT_F1 = 0.99
"""From here on a delta counts as foreseen, for the calibration of confidence."""

_NOTHING = Page(url="", title="", tabs=(1, 0), nodes=(), places=())


class Example(Protocol):
    """A real transition: what the rows of a data set of transitions look like from here."""

    @property
    def query(self) -> WorldModelQuery: ...

    @property
    def next_observation(self) -> Observation: ...

    @property
    def provenance(self) -> JsonDict: ...

    @property
    def critical(self) -> tuple[TargetDescriptor, ...]: ...


def example_id(example: Example) -> str:
    """RUN/EPISODE/STEP: unique in a data set."""
    origin = example.provenance
    return f"{origin.get('run', '')}/{origin.get('episode', '')}/{origin.get('step', '')}"


def score(example: Example, predictions: Sequence[Prediction], seconds: float = 0.0) -> PageScore:
    """Score the first of `predictions`; the others count for agreement only. Raises ValueError without any."""
    if not predictions:
        raise ValueError("no prediction to score")
    first = predictions[0]
    now, real = read_page(example.query.observation), read_page(example.next_observation)
    foreseen = None if first.next_observation is None else read_page(first.next_observation)
    true_delta = delta(now, real)
    edits = _edits(now, foreseen, true_delta)
    page = foreseen or _NOTHING
    foreseen_delta: Delta = delta(now, foreseen) if foreseen else Counter()
    changed = not now.same_as(real)
    foreseen_change = None if foreseen is None else not now.same_as(foreseen)
    origin = example.provenance
    return PageScore(
        example=example_id(example),
        site=str(origin.get("site", example.query.site)),
        template=str(origin.get("template", "")),
        benchmark=str(origin.get("benchmark", "")),
        action=example.query.action.name,
        change=str(origin.get("change", "")),
        source=str(origin.get("source", "")),
        malformed="" if foreseen else (first.malformed or "no page and no reason"),
        flawed=first.malformed if foreseen else "",
        repaired=first.repaired,
        retrieved=bool(first.retrieved),
        nodes=strict(page.elements, real.elements),
        nodes_lenient=lenient(page.elements, real.elements, family=lambda e: e.role, name=lambda e: e.name),
        nodes_placed=strict(page.placed, real.placed),
        nodes_copy=strict(now.elements, real.elements),
        edits=edits,
        edits_lenient=compare_leniently(foreseen_delta, true_delta),
        edits_by_sign={sign: compare_sign(foreseen_delta, true_delta, sign) for sign in SIGNS},
        changed=changed,
        foreseen_change=foreseen_change,
        right=foreseen is not None and foreseen_change == changed and (1.0 if edits.f1 is None else edits.f1) >= RIGHT_F1,
        url_right=page.url == real.url and foreseen is not None,
        url_changed=now.url != real.url,
        title_right=page.title == real.title and foreseen is not None,
        title_changed=now.title != real.title,
        critical=_critical(example.critical, page, real, ()),
        critical_new=_critical(example.critical, page, real, now.named),
        confidence=confidence(first),
        agreement=agreement(now, predictions),
        prompt_tokens=first.usage.prompt_tokens,
        completion_tokens=first.usage.completion_tokens,
        seconds=seconds,
    )


def delta_f1(score: PageScore) -> float | None:
    """F1 of one page's delta by the convention: None only where nothing changed and nothing was claimed."""
    if score.malformed:
        return 0.0
    return score.edits.f1


def confidence(prediction: Prediction) -> float | None:
    """exp(mean log-probability) of the answer's tokens, in [0, 1]; None where the backend gives none or an invalid one."""
    logprobs = prediction.token_logprobs
    if not logprobs or any(math.isnan(x) or x > 0 for x in logprobs):
        return None
    return math.exp(max(-700.0, sum(logprobs) / len(logprobs)))


def agreement(now: Page, predictions: Sequence[Prediction]) -> float | None:
    """Mean F1 between the deltas of each two samples: 1 where a model always says the same. None below two samples.

    Two that foresee no edit agree; one that cannot be read agrees with nothing.
    """
    if len(predictions) < 2:
        return None
    pages = [None if p.next_observation is None else read_page(p.next_observation) for p in predictions]
    deltas = [None if page is None else delta(now, page) for page in pages]
    pairs = [_alike(a, b) for a, b in combinations(deltas, 2)]
    return sum(pairs) / len(pairs)


def _alike(a: Delta | None, b: Delta | None) -> float:
    if a is None or b is None:
        return 0.0
    f1 = compare(a, b).f1
    return 1.0 if f1 is None else f1


def _edits(now: Page, foreseen: Page | None, real: Delta) -> Overlap:
    """A malformed answer found none of the real edits."""
    return Overlap(0, 0, sum(real.values())) if foreseen is None else compare(delta(now, foreseen), real)


def _critical(
    targets: Sequence[TargetDescriptor], predicted: Page, real: Page, known: frozenset[tuple[str, str]] | tuple[()]
) -> Overlap:
    """Of the wanted (role, name) that the real page has, and that are not `known`: how many the predicted page has too."""
    wanted = {(target.role, target.name) for target in targets} & real.named - frozenset(known)
    found = wanted & predicted.named
    return Overlap(len(found), len(found), len(wanted))
