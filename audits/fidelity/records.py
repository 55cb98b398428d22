"""What `harness fidelity` leaves behind: the schema of predictions.jsonl.gz, scores.jsonl.gz and fidelity.json.

    OUT/fidelity.json                    FidelityReport: every figure of every model, what dashboards read
    OUT/<model>/asked.json               Asked: what was asked of whom; a resume must ask the same
    OUT/<model>/predictions.jsonl.gz     Answered, one line per question, in the order of asking
    OUT/<model>/scores.jsonl.gz          PageScore, one line per example: every figure can be recomputed from it

Figures are fractions of 1 unless a name says otherwise. A figure without a value was not measurable; it is never 0.
"""

from __future__ import annotations

from pydantic import Field

from audits.fidelity.overlap import Overlap
from harness.predictions import Prediction
from harness.types import JsonDict, Record

FIDELITY_SCHEMA_VERSION = 1

CONVENTIONS = (
    "A node is (role, name, value, states checked, disabled, expanded, selected); bids, focus and layout do not count.",
    "delta.f1 is the mean over pages whose real or predicted delta is not empty. Pages where both are empty are left out of F1 "
    "and counted in change detection; delta.f1_changed is the mean over really changed pages, the same pages for every model.",
    "An answer that cannot be read scores 0 on every page and never counts as a foreseen no-op.",
    "A page has changed if its address, its tabs or its nodes differ, their order included; focus alone is no change.",
    "skill = (F1 - F1 of copy) / (1 - F1 of copy), summed over pages before dividing.",
    "With several samples the first is scored; all of them make the self-noise.",
    "Intervals are 95 %, their unit is the template: bootstrap from 30 templates on, below that Student's t (Wilson on an "
    "effective n for rates). No interval below two templates, or where no page differs from another.",
)


class Figure(Record):
    """One number with its denominator and 95 % interval. `value` None: nothing to measure it on (n = 0)."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Pages, unless the figure says otherwise."""
    clusters: int = 0
    """Templates among them: the unit that the bootstrap draws."""
    method: str = ""
    """Of the interval; empty where there is none."""


Figures = dict[str, Figure]


class Asked(Record):
    """What makes answers comparable. Equal for a resume, or it is refused."""

    schema_version: int = FIDELITY_SCHEMA_VERSION
    spec: str
    name: str
    version: str
    data: str
    """Hash of the split's file."""
    split: str
    samples: int
    parameters: int | None = None
    """Of the model, for the FLOPs estimate; None where it has none or does not say."""


class Answered(Record):
    """One question and its answers. `key` names the question: see audits.fidelity.questions."""

    key: str
    predictions: tuple[Prediction, ...]
    seconds: float = 0.0
    """Wall time of the batch, divided by its number of answers."""


class PageScore(Record):
    """One predicted page beside the real one. Counts are (hits, predicted, real)."""

    example: str
    """RUN/EPISODE/STEP."""
    site: str
    template: str
    benchmark: str = ""
    action: str
    change: str
    """Of the real page, as the data set says: none, focus, page, url."""
    source: str = ""
    malformed: str = ""
    """Why the answer could not be read; empty if it could."""
    flawed: str = ""
    """What of a readable answer could not be applied and was left out."""
    repaired: bool = False
    retrieved: bool = False
    nodes: Overlap
    nodes_lenient: Overlap
    nodes_placed: Overlap
    """Equal nodes under equal ancestors."""
    nodes_copy: Overlap
    """What a copy of o_t scores here."""
    edits: Overlap
    edits_lenient: Overlap
    edits_by_sign: dict[str, Overlap] = Field(default_factory=dict)
    changed: bool
    """Did the real page change?"""
    foreseen_change: bool | None
    """Does the predicted page differ from o_t? None where malformed."""
    right: bool
    """The delta is foreseen: F1 ≥ 0.99, or both are empty and so is the change."""
    url_right: bool
    url_changed: bool
    title_right: bool
    title_changed: bool
    critical: Overlap
    """Elements that the expert acts on later and that are on the real next page; hits are on the predicted one too."""
    critical_new: Overlap
    """Those of them that were not on o_t."""
    confidence: float | None = None
    """exp of the mean token log-probability."""
    agreement: float | None = None
    """Mean pairwise delta F1 of the samples; None with fewer than two."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class ChangeTable(Record):
    """Change detection: what happened × what was foreseen."""

    changed_foreseen: int = 0
    changed_missed: int = 0
    changed_malformed: int = 0
    unchanged_foreseen: int = 0
    """No-ops foreseen as no-ops."""
    unchanged_invented: int = 0
    """A change was foreseen where none came."""
    unchanged_malformed: int = 0


class Cut(Record):
    """The headline figures of the pages that share a property."""

    by: str
    """site, action, change, edits (size of the real delta), benchmark, seen (template or site of the training data)."""
    value: str
    figures: Figures


class Depth(Record):
    """Free running at depth h against teacher forcing on the same steps. n of each figure counts chains alive to here."""

    depth: int
    figures: Figures
    """free.full_f1, forced.full_f1, kappa.full; free.delta_f1, forced.delta_f1, kappa.delta; malformed.rate, lost_target.rate."""


class Bin(Record):
    """One bin of a reliability curve, of equal mass."""

    n: int
    stated: float
    """Mean stated probability."""
    observed: float
    """Share that happened."""
    low: float | None
    high: float | None


class ModelFidelity(Record):
    """Everything measured about one model on one split."""

    spec: str
    name: str
    version: str
    folder: str
    """Below OUT: where its predictions and scores lie."""
    figures: Figures
    change: ChangeTable
    cuts: tuple[Cut, ...] = ()
    depths: tuple[Depth, ...] = ()
    """Empty unless free running was asked for."""
    malformed: dict[str, int] = Field(default_factory=dict)
    """Reason → pages, most frequent first; also of answers that could be read in part."""
    unmeasured: dict[str, int] = Field(default_factory=dict)
    """What a figure leaves out: pages not answered, goals that changed nothing readable, outcomes that nothing was said of."""
    reliability: dict[str, tuple[Bin, ...]] = Field(default_factory=dict)
    """Calibration curves: `confidence` and `self_assessment`."""


class Difference(Record):
    """Paired: the first model minus the second, on the same pages."""

    first: str
    second: str
    figure: str
    difference: Figure


class FidelityReport(Record):
    """fidelity.json."""

    schema_version: int = FIDELITY_SCHEMA_VERSION
    data: str
    """Name of the data set's directory."""
    split: str
    examples: int
    """Asked, of `available`."""
    available: int
    templates: int
    conventions: tuple[str, ...] = CONVENTIONS
    models: tuple[ModelFidelity, ...]
    differences: tuple[Difference, ...] = ()
    notes: JsonDict = Field(default_factory=dict)
