"""fidelity.json as tables for people (terminal, Markdown, CSV, LaTeX through results.render): models side by side.

The copy world model stands beside every model, asked for or not: its full-page F1 is what a large unchanged page gives away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audits.fidelity.records import FidelityReport, Figure, ModelFidelity
from results.intervals import Interval
from results.tables import Cell, Column, Kind, Report, Table

HEAD = {
    "delta.f1": "delta F1",
    "delta.f1_changed": "delta F1, changed pages",
    "delta.micro_f1": "delta F1, micro",
    "change.accuracy": "change detection",
    "change.noop_accuracy": "no-ops foreseen",
    "full.f1": "full-page F1",
    "full.copy_f1": "copy's full-page F1",
    "full.skill": "skill over copy",
    "critical.recall": "critical elements",
    "critical.new_recall": "new critical elements",
    "url.accuracy": "URL",
    "url.accuracy_changed": "URL, where it changes",
    "title.accuracy_changed": "title, where it changes",
    "answer.malformed": "unreadable answers",
    "answer.flawed": "answers read in part",
    "answer.retrieved": "retrieved pages",
}
MORE = {
    "delta.precision": "delta precision",
    "delta.recall": "delta recall",
    "delta.lenient_f1": "delta F1, lenient",
    "delta.added_micro_f1": "added, micro F1",
    "delta.removed_micro_f1": "removed, micro F1",
    "delta.changed_micro_f1": "changed, micro F1",
    "delta.right": "whole delta right",
    "full.lenient_f1": "full-page F1, lenient",
    "full.path_f1": "full-page F1, path-aware",
    "noise.delta_f1": "agreement of samples",
    "self.precision": "self-assessment: precision",
    "self.recall": "self-assessment: recall",
    "self.accuracy": "self-assessment: accuracy",
    "goal.leak": "goal leak",
    "goal.leak_control": "goal leak, control",
    "goal.evidence": "goal leak with evidence",
    "goal.depends": "page depends on the goal",
}
CALIBRATION = {f"{prefix}.{name}": f"{label}: {name.upper() if name != 'brier' else 'Brier'}"
               for prefix, label in (("confidence", "token confidence"), ("self", "self-assessment"))
               for name in ("brier", "ece", "auroc")}  # fmt: skip
COST = {
    "cost.prompt_tokens": "prompt tokens",
    "cost.completion_tokens": "answer tokens",
    "cost.seconds": "seconds",
    "cost.flops": "FLOPs",
}
FEW_TEMPLATES = 10
_N = "n: pages, or what the figure is over; intervals over templates"
DEPTHS = ("free.full_f1", "kappa.full", "free.delta_f1", "kappa.delta", "malformed.rate", "lost_target.rate")
CUTS = ("delta.f1", "full.f1", "full.copy_f1", "change.accuracy", "answer.malformed")


def report(found: FidelityReport) -> Report:
    """All tables. The summary is the first model's headline."""
    first = found.models[0]
    head = first.figures["delta.f1"]
    tables = [
        _figures("fidelity", "Fidelity", HEAD, found.models),
        _figures("more", "More figures", MORE, found.models),
        _figures("calibration", "Calibration, in hundredths", CALIBRATION, found.models),
        _cost(found.models),
    ]
    tables += [_differences(found)] if found.differences else []
    tables += [_depths(model) for model in found.models if model.depths]
    tables += [_cuts(model) for model in found.models]
    tables += [_malformed(found.models)] if any(model.malformed for model in found.models) else []
    return Report(
        title=f"Fidelity on {found.split}, {found.examples} of {found.available} transitions",
        summary=f"{first.spec}: delta F1 {_words(head)} over {head.n} pages of {head.clusters} templates",
        warnings=tuple(_warnings(found)),
        tables=tuple(table for table in tables if table.rows),
    )


def _figures(name: str, title: str, shown: Mapping[str, str], models: Sequence[ModelFidelity]) -> Table:
    heads = [Column("figure")]
    for model in models:
        heads += [Column(model.spec, "percent"), Column("95 %, in %", "interval"), Column("n", "int")]
    rows = []
    for figure, label in shown.items():
        cells: list[Cell] = [label]
        for model in models:
            cells += _cells(model.figures.get(figure))
        if any(cell is not None for cell in cells[1::3]):
            rows.append(tuple(cells))
    return Table(
        name, title, tuple(heads), tuple(rows), notes=("n: pages, or what the figure is over; intervals over templates",)
    )


def _cost(models: Sequence[ModelFidelity]) -> Table:
    heads = (Column("model"), *(Column(label, _kind(name)) for name, label in COST.items()), Column("n", "int"))
    rows = []
    for model in models:
        found = [model.figures.get(name) for name in COST]
        rows.append((model.spec, *(figure.value if figure else None for figure in found), found[0].n if found[0] else None))
    notes = ("per prediction; seconds are wall time of a batch over its answers; FLOPs ≈ 2 · parameters · tokens",)
    return Table("cost", "Cost of a prediction", heads, tuple(rows), notes)


def _kind(name: str) -> Kind:
    return "int" if name == "cost.flops" else "number"


def _differences(found: FidelityReport) -> Table:
    heads = (Column("models"), Column("figure"), Column("difference", "points"), Column("95 %", "points interval"),
             Column("n", "int"))  # fmt: skip
    rows = []
    for one in found.differences:
        pair, figure = f"{one.first} − {one.second}", one.difference
        rows.append((pair, one.figure, figure.value, _interval(figure), figure.n))
    return Table("differences", "Paired differences, in points", heads, tuple(rows), notes=("same pages on both sides",))


def _depths(model: ModelFidelity) -> Table:
    heads = (Column("depth", "int"), *(Column(name, "percent") for name in DEPTHS), Column("κ full, 95 %", "interval"),
             Column("κ delta, 95 %", "interval"), Column("chains", "int"))  # fmt: skip
    rows = [
        (
            depth.depth, *(depth.figures[name].value for name in DEPTHS), _interval(depth.figures["kappa.full"]),
            _interval(depth.figures["kappa.delta"]), depth.figures["free.full_f1"].n,
        )
        for depth in model.depths
    ]  # fmt: skip
    return Table(
        f"free-running {model.folder}", f"Free running: {model.spec}", heads, tuple(rows), ("κ: free over teacher forced",)
    )


def _cuts(model: ModelFidelity) -> Table:
    heads = (Column("by"), Column("value"), Column("n", "int"), *(Column(name, "percent") for name in CUTS),
             Column("delta F1, 95 %", "interval"), Column("pages in it", "int"))  # fmt: skip
    rows = [
        (
            cut.by, cut.value, cut.figures["full.f1"].n, *(cut.figures[name].value for name in CUTS),
            _interval(cut.figures["delta.f1"]), cut.figures["delta.f1"].n,
        )
        for cut in model.cuts
    ]  # fmt: skip
    return Table(f"cuts {model.folder}", f"Where it is right: {model.spec}", heads, tuple(rows))


def _malformed(models: Sequence[ModelFidelity]) -> Table:
    rows = [(model.spec, why, n) for model in models for why, n in model.malformed.items()]
    return Table("malformed", "Unreadable answers", (Column("model"), Column("why"), Column("pages", "int")), tuple(rows))


def _warnings(found: FidelityReport) -> list[str]:
    said = ["Full-page figures mean nothing alone: most of a page does not change. The headline is delta F1."]
    if found.templates < FEW_TEMPLATES:
        said.append(f"Only {found.templates} templates: intervals are wide, and rest on few independent pieces of evidence.")
    for model in found.models:
        said += [f"{model.spec}: {n} not measured: {what}" for what, n in model.unmeasured.items()]
    return said


def _cells(figure: Figure | None) -> list[Cell]:
    return [None, None, None] if figure is None or figure.value is None else [figure.value, _interval(figure), figure.n]


def _interval(figure: Figure) -> Interval | None:
    return None if figure.low is None or figure.high is None else Interval(figure.low, figure.high)


def _words(figure: Figure) -> str:
    if figure.value is None:
        return "not measurable"
    span = "" if figure.low is None or figure.high is None else f" [{figure.low:.3f}, {figure.high:.3f}]"
    return f"{figure.value:.3f}{span}"
