"""Free running: the model's own page is the next question's page, for up to eight steps of a recorded episode.

    o_0 ─a_0▶ ô_1 ─a_1▶ ô_2 … ô_h        free       beside      o_h-1 ─a_h-1▶ ô_h      teacher forced, same step

    κ(h) = Σ F1_free(h) / Σ F1_forced(h) over the chains that have a step h: 1 at h = 1, below it where errors compound
           (MBPO, arXiv:1906.08253; Lambert et al., arXiv:2203.09637)

full   ô_h against o_h            delta   (ô_h against ô_h-1) against (o_h against o_h-1), where the real page changed

Recorded actions point at elements of the real page. Each is grounded anew on the model's page by its descriptor; where the
element is not there the action is asked as it was recorded, and counted as a lost target. An answer that cannot be read ends
a chain: it scores 0 at that depth and at all later ones, which keeps the denominators of all depths honest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audits.fidelity.answers import Answers, Progress, Question, silent
from audits.fidelity.choosing import spread
from audits.fidelity.delta import compare, delta, size
from audits.fidelity.figures import mean, ratio, share
from audits.fidelity.overlap import Overlap, strict
from audits.fidelity.pages import Page, read_page
from audits.fidelity.records import Depth, Figures
from audits.fidelity.scoring import Example, example_id
from harness.actions import bids_of
from harness.axtree import find, parse
from harness.predictions import PastStep, Prediction
from harness.types import Action, Observation

MAX_DEPTH: Final = 8

Chain = tuple[Example, ...]
"""Consecutive steps of one episode."""


@dataclass(frozen=True)
class StepScore:
    """One chain at one depth: the free page, and the teacher-forced one of the same step."""

    template: str
    depth: int
    malformed: bool
    lost_target: bool
    free: Overlap
    forced: Overlap
    free_edits: Overlap
    forced_edits: Overlap


def chains(examples: Iterable[Example], limit: int | None = None, depth: int = MAX_DEPTH) -> list[Chain]:
    """Stretches of 2 to `depth` consecutive steps, cut from the front of each episode; at most `limit`, evenly spread.

    `examples` come episode by episode, steps in order, as a data set is read.
    """
    return spread(_stretches(examples, depth), limit, key=lambda chain: example_id(chain[0]))


def _stretches(examples: Iterable[Example], depth: int) -> Iterator[Chain]:
    stretch: list[Example] = []
    for example in examples:
        if stretch and (len(stretch) == depth or not _follows(stretch[-1], example)):
            if len(stretch) > 1:
                yield tuple(stretch)
            stretch = []
        stretch.append(example)
    if len(stretch) > 1:
        yield tuple(stretch)


def _follows(one: Example, other: Example) -> bool:
    a, b = one.provenance, other.provenance
    step, following = a.get("step"), b.get("step")
    same = (a.get("run"), a.get("episode")) == (b.get("run"), b.get("episode"))
    return same and isinstance(step, int) and following == step + 1


def reground(action: Action, page: Observation) -> tuple[Action, bool]:
    """The action with the bid that its target has on `page`; and whether the target is missing there."""
    bids = bids_of(action)
    if action.target is None or len(bids) != 1:
        return action, False
    found = find(parse(page.axtree), action.target)
    if not found:  # a page that a model wrote in full may hold the element without a bid
        return action, (action.target.role, action.target.name) not in read_page(page).named
    arguments = {name: found[0] if value == bids[0] else value for name, value in action.arguments.items()}
    return action.model_copy(update={"arguments": arguments}), False


def run_chains(found: Sequence[Chain], answers: Answers, progress: Progress = silent) -> list[StepScore]:
    """Ask, depth by depth, for all chains at once; score each step.

    A chain ends early where there is no stored answer and no model to ask: that is no fault of the model.
    """
    running = [_Running(chain) for chain in found]
    scores: list[StepScore] = []
    total = sum(len(chain) for chain in found)
    for depth in range(1, max(map(len, found), default=0) + 1):
        running = [r for r in running if len(r.chain) >= depth]
        free = answers.answer([r.question(depth) for r in running if r.page], _from(len(scores), total, progress))
        forced = answers.answer([_forced(r.chain[depth - 1]) for r in running])
        replies = iter(free)
        going_on = []
        for r, teacher in zip(running, forced, strict=True):
            reply = next(replies) if r.page else None
            if teacher is None or (r.page and reply is None):
                continue
            scores.append(r.step(depth, reply.predictions[0] if reply else None, teacher.predictions[0]))
            going_on.append(r)
        running = going_on
    return scores


def depths(scores: Sequence[StepScore]) -> tuple[Depth, ...]:
    """The figures of each depth; full-page κ over all chains there, delta κ over those whose real page changed."""
    return tuple(
        Depth(depth=depth, figures=_figures([s for s in scores if s.depth == depth]))
        for depth in sorted({s.depth for s in scores})
    )


def _from(done: int, total: int, progress: Progress) -> Progress:
    """Progress of one depth as part of the whole."""
    return lambda answered, _: progress(done + answered, total)


def _figures(scores: Sequence[StepScore]) -> Figures:
    by = [s.template for s in scores]
    full = [(s.free.f1 or 0.0, s.forced.f1 or 0.0) for s in scores]
    edits = [(s.free_edits.f1 or 0.0, s.forced_edits.f1 or 0.0) if s.free_edits.real else None for s in scores]
    return {
        "free.full_f1": mean([free for free, _ in full], by, high=1.0),
        "forced.full_f1": mean([forced for _, forced in full], by, high=1.0),
        "kappa.full": ratio(full, by),
        "free.delta_f1": mean([pair[0] if pair else None for pair in edits], by, high=1.0),
        "forced.delta_f1": mean([pair[1] if pair else None for pair in edits], by, high=1.0),
        "kappa.delta": ratio(edits, by),
        "malformed.rate": share([s.malformed for s in scores], by),
        "lost_target.rate": share([s.lost_target for s in scores], by),
    }


class _Running:
    """A chain and where the model has got to in it."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.page: Observation | None = chain[0].query.observation
        """The model's own page; None after an answer that could not be read."""
        self._asked = chain[0].query
        self._history = chain[0].query.history
        self._lost_target = False

    def question(self, depth: int) -> Question:
        """At depth 1 it is the teacher-forced one, and so is its answer."""
        assert self.page is not None
        if depth == 1:
            return _forced(self.chain[0])
        recorded = self.chain[depth - 1].query
        action, self._lost_target = reground(recorded.action, self.page)
        update = {"observation": self.page, "action": action, "history": self._history}
        self._asked = recorded.model_copy(update=update)
        return f"free {example_id(self.chain[0])} {depth}", self._asked

    def step(self, depth: int, reply: Prediction | None, teacher: Prediction) -> StepScore:
        """Score this depth and go on to the next."""
        example = self.chain[depth - 1]
        now, real = read_page(example.query.observation), read_page(example.next_observation)
        page = reply.next_observation if reply else None
        score = StepScore(
            template=str(example.provenance.get("template", "")),
            depth=depth,
            malformed=page is None,
            lost_target=self._lost_target,
            free=_nodes(page, real),
            forced=_nodes(teacher.next_observation, real),
            free_edits=_edits(self.page, page, now, real),
            forced_edits=_edits(example.query.observation, teacher.next_observation, now, real),
        )
        self._history = (*self._history, PastStep(observation=self._asked.observation, action=self._asked.action))
        self.page = page
        return score


def _forced(example: Example) -> Question:
    return f"teacher {example_id(example)}", example.query


def _nodes(page: Observation | None, real: Page) -> Overlap:
    return Overlap(0, 0, len(real.nodes)) if page is None else strict(read_page(page).elements, real.elements)


def _edits(before: Observation | None, after: Observation | None, now: Page, real: Page) -> Overlap:
    """Of the model's step from its own page, against the real step."""
    wanted = delta(now, real)
    if before is None or after is None:
        return Overlap(0, 0, size(wanted))
    return compare(delta(read_page(before), read_page(after)), wanted)
