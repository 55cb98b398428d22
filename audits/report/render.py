"""An `AuditSummary` for people: Markdown for terminals and documents, LaTeX and CSV for papers. Numbers are taken, never made.

Every share stands with its count, its denominator and its interval. While the controls do not allow it, the headline is not
printed: the first line says INVALID and why.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from audits.metrics.numbers import Estimate
from audits.metrics.summary import AuditSummary

Table = tuple[str, Sequence[str], list[list[str]]]
"""Title, head, lines."""


def markdown(found: AuditSummary, *, show_invalid: bool = False) -> str:
    """The whole report."""
    parts = ["# Audit", "", *_headline(found, show_invalid)]
    parts += [f"- warning: {line}" for line in found.warnings]
    for title, head, lines in tables(found, show_invalid=show_invalid):
        parts += ["", f"## {title}", "", *_markdown_table(head, lines)]
    return "\n".join(parts) + "\n"


def latex(found: AuditSummary, *, show_invalid: bool = False) -> str:
    """One `tabular` per table, titles as comments."""
    parts = [f"% {_plain(line)}" for line in _headline(found, show_invalid)]
    for title, head, lines in tables(found, show_invalid=show_invalid):
        parts += [f"% {title}", rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule"]
        parts += [" & ".join(map(_tex, head)) + r" \\", r"\midrule"]
        parts += [" & ".join(map(_tex, line)) + r" \\" for line in lines]
        parts += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(parts)


def comma_separated(found: AuditSummary, *, show_invalid: bool = False) -> str:
    """All tables in one file: table, then the row's cells as `column=value`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for title, head, lines in tables(found, show_invalid=show_invalid):
        writer.writerow(["table", *head])
        writer.writerows([[title, *line] for line in lines])
    return out.getvalue()


def tables(found: AuditSummary, *, show_invalid: bool = False) -> Iterable[Table]:
    """The tables, the controls first. Rates of dreams are left out while they may not be believed."""
    yield "Controls", ("control", "value", "n", "95 % interval"), list(_controls(found))
    yield "Replays", ("outcome", "cause", "dreams"), list(_counts(found))
    if found.status == "INVALID" and not show_invalid:
        return
    yield "Rates", ("rate", "value", "n", "95 % interval"), list(_rates(found))
    for cut in found.cuts:
        lines = [[s.stratum, *_cells(s.rate), str(s.inconclusive)] for s in cut.strata]
        if len(lines) > 1:
            yield f"SSRF by {cut.cut.replace('_', ' ')}", (cut.cut, "SSRF", "n", "95 % interval", "inconclusive"), lines
    yield (
        "Pages that still agree",
        ("page", "S(t)", "n", "95 % interval", "diverged here"),
        [[str(p.page), *_cells(p.survival), str(p.events)] for p in found.survival.pages],
    )
    yield (
        "Grounding of actions",
        ("class", "share", "n", "95 % interval"),
        [
            *([kind, *_cells(e)] for kind, e in found.groundability.actions.items()),
            ["groundable (exact or contextual)", *_cells(found.groundability.groundable)],
            ["phantom (absent)", *_cells(found.groundability.phantom)],
        ],
    )
    if found.anchors:
        lines = [[a.name, *_cells(a.rates.ssrf), str(a.survival.h_max)] for a in found.anchors]
        yield "World models with a known answer", ("anchor", "SSRF", "n", "95 % interval", "recommended length"), lines
    if found.recovery:
        lines = [[r.arm, *_cells(r.difference), str(r.missing)] for r in found.recovery]
        yield "Other arms", ("arm", "real success more than stop", "n", "95 % interval", "without a pair"), lines


def _headline(found: AuditSummary, show_invalid: bool) -> list[str]:
    lines = []
    if found.status == "INVALID":
        lines += ["**INVALID**", "", *(f"- {reason}" for reason in found.reasons), ""]
    if found.headline is not None:
        lines.append(f"**SSRF {_line(found.headline)}**: dreamed successes that fail in reality. {found.estimands['stop']}.")
    elif show_invalid:
        lines.append(f"SSRF {_line(found.rates.ssrf)}, which may not be quoted: {'; '.join(found.headline_withheld)}.")
    elif found.status != "INVALID":
        lines += ["SSRF is withheld:", "", *(f"- {reason}" for reason in found.headline_withheld)]
    else:
        lines.append("SSRF is withheld (--show-invalid prints it all the same).")
    if found.plan is not None:
        drawn = f"{found.plan.drawn} dreams of {found.plan.source} by seed {found.plan.seed}, plan {found.plan_digest}"
        lines += ["", f"Sample: {drawn}. {found.plan.rule[:1].upper()}{found.plan.rule[1:]}."]
    return lines


def _controls(found: AuditSummary) -> Iterable[list[str]]:
    checked = found.controls
    if checked.negative is not None:
        exact, alpha = checked.negative.exact, checked.negative.alpha
        yield ["α, false alarms", _share(alpha.value), _of(alpha), f"{_share(exact.low)} to {_share(exact.high)}"]
        unknown = checked.negative.bounds
        yield [
            "negative controls without an outcome",
            _share(unknown.inconclusive_share),
            f"{unknown.inconclusive} of {unknown.n}",
            "",
        ]
    for score in checked.positive:
        name = "planted faults detected" if score.fault == "all" else f"  {score.fault.replace('_', ' ')}"
        yield [name, *_cells(score.recall)]
        if score.fault == "all":
            median = "none" if score.localisation_median is None else f"{score.localisation_median:g}"
            yield ["  median |τ̂ − k|, pages", median, str(score.localised.n), ""]
            yield ["  at exactly page k", *_cells(score.localised)]
            yield ["  under the right cause", *_cells(score.cause_accuracy)]
    if checked.determinism is not None:
        yield ["pages equal when run twice", *_cells(checked.determinism.equal)]


def _counts(found: AuditSummary) -> Iterable[list[str]]:
    counts = found.counts
    yield ["success", "", str(counts.success)]
    yield from (["failure", cause, str(number)] for cause, number in counts.failure_causes.items())
    yield from (["inconclusive", cause, str(number)] for cause, number in counts.inconclusive_causes.items())
    yield ["all", "", str(counts.replayed)]
    if counts.missing:
        yield ["not replayed yet", "", str(counts.missing)]


def _rates(found: AuditSummary) -> Iterable[list[str]]:
    rates = found.rates
    yield ["SSRF, real failure of dreamed success", *_cells(rates.ssrf)]
    bounds = rates.ssrf_bounds
    if bounds.low is not None and bounds.high is not None:
        yield ["  bounds, whatever inconclusive ones are", f"{_share(bounds.low)} to {_share(bounds.high)}", str(bounds.n), ""]
    if found.excess is not None:
        yield ["  beyond false alarms (Abbott)", *_cells(found.excess)]
    yield ["SFRS, real success of dreamed failure", *_cells(rates.sfrs)]
    yield ["optimism bias", *_cells(rates.optimism_bias)]
    yield ["  blame: dynamics", *_cells(found.blame.dynamics)]
    yield ["  blame: judge", *_cells(found.blame.judge)]
    yield ["  blame: not attributed", *_cells(found.blame.unattributed)]
    yield ["AUROC of the self-assessment", *_cells(found.auroc, share=False)]
    yield ["side effects nobody asked for", *_cells(found.side_effects)]
    survival = found.survival
    yield [
        "recommended dream length, actions",
        str(survival.h_max),
        str(survival.n),
        "longer ones not tried" if survival.open_ended else "",
    ]


def _cells(e: Estimate, *, share: bool = True) -> list[str]:
    show = _share if share else _number
    interval = "" if e.interval is None else f"{show(e.interval.low)} to {show(e.interval.high)}"
    return [show(e.value), _of(e), interval]


def _of(e: Estimate) -> str:
    return str(e.n) if e.k is None else f"{e.k:g} of {e.n}"


def _line(e: Estimate) -> str:
    value, of, interval = _cells(e)
    return f"{value} ({of}, 95 % {interval or 'interval undefined'})"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _markdown_table(head: Sequence[str], lines: list[list[str]]) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_plain(cell) for cell in cells) + " |"

    return [row(head), "|" + " --- |" * len(head), *map(row, lines)]


def _plain(text: str) -> str:
    """One line, no markup of its own: names of tasks and sites come from files."""
    return " ".join(text.split()).replace("|", "/").replace("<", "‹").replace("`", "'")


def _tex(text: str) -> str:
    escaped = text.strip().replace("\\", "/")
    for sign in "&%$#_{}":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped.replace("α", r"$\alpha$").replace("τ̂", r"$\hat\tau$").replace("−", "-").replace("~", r"\textasciitilde{}")
