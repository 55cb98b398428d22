"""Numbers of an audit: pure functions from the rows of `audits.records` to frozen records.

    audits.records rows ──▶ summarise ──▶ summary.AuditSummary (JSON) ──▶ harness audit report, dashboards
                              │
    M1 rates, strata          │  M5 groundability                      M8 exploitation, updates
    M2 controls               │  M6 calibration, discrimination,       M9 worth
    M3 divergence             │     selective, blame                   power (before browser time is spent)
    (M4: audits.fidelity)     │  M7 ranks (panel: policies × tasks)    numbers (how intervals are made)

Every metric with its denominator, formula and how it misleads: docs/audit-metrics.md.
"""
