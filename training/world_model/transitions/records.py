"""What a data set holds: examples for the world model, outcomes for its self-assessment, and how both are stored.

    StoredEpisode     one line of train|dev|test|held_out_site.jsonl.gz: each page once, steps that point at pages
       ├── examples()  WorldModelExample for each kept step: (o_t, a_t, what came before) → o_t+1
       └── outcome()   OutcomeExample: the last page and whether the goal was reached; None if nobody can say

A page is o_t+1 of one step, o_t of the next and history of all later ones. Stored once, it costs once; a step that is no
example (a duplicate, a page that was never seen) still stands in the history of those after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from harness.predictions import PastStep, WorldModelQuery
from harness.types import INVALID_ACTION, Action, JsonDict, Observation, Record, TargetDescriptor

DATASET_SCHEMA_VERSION = 1

HISTORY_PAGES = 8
"""How many of the latest pages of a history are whole; earlier ones keep URL and title, and the action taken there."""

SPLITS = ("train", "dev", "test", "held_out_site")


class WorldModelExample(Record):
    """One real transition. Nothing in `query` comes from after the action."""

    query: WorldModelQuery
    next_observation: Observation
    provenance: JsonDict
    """As `results.transitions` writes it: run, episode, step, site, template, split, source, action, action_error, change,
    terminated, status …; `split` is this data set's, `split_given` the benchmark's own."""
    critical: tuple[TargetDescriptor, ...] = ()
    """What the expert acts on later in this episode, in order, each once; empty if no expert acted."""


class OutcomeExample(Record):
    """How one finished episode ended: success or failure, never a broken or unscored one."""

    goal: str
    site: str
    history: tuple[PastStep, ...]
    """Every action of the episode, with the page it was taken on."""
    observation: Observation
    """The last page seen."""
    answer: str | None
    success: bool
    provenance: JsonDict


class StoredStep(Record):
    """One action of a stored episode. Pages are indices into `StoredEpisode.pages`."""

    page: int
    action: Action
    next_page: int | None = None
    """None where what came of the action was not seen."""
    kept: bool = True
    """False: no example, only history of the later ones (rejects.jsonl.gz says why)."""
    goal: str = ""
    provenance: JsonDict = Field(default_factory=dict)


class StoredOutcome(Record):
    page: int
    answer: str | None
    success: bool


class StoredEpisode(Record):
    """One line of a split's file. Raises ValidationError where a step names a page that is not there."""

    schema_version: int = DATASET_SCHEMA_VERSION
    site: str
    goal: str
    provenance: JsonDict
    """What all its steps share."""
    pages: tuple[Observation, ...]
    steps: tuple[StoredStep, ...]
    outcome: StoredOutcome | None = None

    def model_post_init(self, _: object) -> None:
        named = [step.page for step in self.steps] + [step.next_page or 0 for step in self.steps]
        named += [self.outcome.page] if self.outcome else []
        if not all(0 <= index < len(self.pages) for index in named):
            raise ValueError("a step names a page that is not there")

    def examples(self) -> Iterator[WorldModelExample]:
        """Its kept steps, in order."""
        for number, step in enumerate(self.steps):
            if step.kept and step.next_page is not None:
                yield WorldModelExample(
                    query=WorldModelQuery(
                        goal=step.goal,
                        observation=self.pages[step.page],
                        action=step.action,
                        history=self._history(number),
                        site=self.site,
                    ),
                    next_observation=self.pages[step.next_page],
                    provenance={**self.provenance, **step.provenance},
                    critical=self._critical(number),
                )

    def outcome_example(self) -> OutcomeExample | None:
        """None unless the episode ended in success or failure."""
        if self.outcome is None:
            return None
        return OutcomeExample(
            goal=self.goal,
            site=self.site,
            history=self._history(len(self.steps)),
            observation=self.pages[self.outcome.page],
            answer=self.outcome.answer,
            success=self.outcome.success,
            provenance=self.provenance,
        )

    def _history(self, until: int) -> tuple[PastStep, ...]:
        whole_from = until - HISTORY_PAGES
        return tuple(
            PastStep(
                observation=self.pages[step.page] if number >= whole_from else _address(self.pages[step.page]), action=step.action
            )
            for number, step in enumerate(self.steps[:until])
            # What could not be read was not done.
            if step.action.name != INVALID_ACTION
        )

    def _critical(self, number: int) -> tuple[TargetDescriptor, ...]:
        if self.provenance.get("source") != "expert":
            return ()
        targets = (step.action.target for step in self.steps[number + 1 :])
        return tuple(dict.fromkeys(target for target in targets if target is not None))


def _address(page: Observation) -> Observation:
    return Observation(url=page.url, title=page.title, axtree="")
