"""From replays to the audit's numbers and their rendering.

rows      run of replays → AuditRows, with the weights of its sampling plan
judging   the dreams' own judge on the real pages → the split of blame
controls  directory of controls → what was controlled, and with which settings
build     both → AuditSummary; settings that differ make it INVALID
render    AuditSummary → Markdown, LaTeX; tables as CSV
"""
