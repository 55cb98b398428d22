"""Grids of train → dream → real evaluation → audit: what is planned, run stage by stage, and read back into `ablation.json`.

    grid          TOML → Grid: factor, levels, seeds, stages as argument lists of `harness`
    plan          Grid → Plan: cells, and the distinct stages that they share, each with a key of its content
    fingerprint   what an input holds, as one hash
    records       what is known of a stage on disk: attempts, seconds, how it ended
    execute       Plan → child processes, some side by side; a stage that has finished is never run again
    harvest       a cell's stages → its trials and cost
    provenance    which processes, commits and machines the numbers come from: stages.json
    assemble      all cells → results.ablations.Ablation, written as JSON, Markdown, CSV and LaTeX; parts run apart → one

It lives with the audits, above `results` and beside `training`: it reads an audit's summary and runs' outcomes, and reaches
training only as a child process, so that reading or planning a grid needs no torch.
"""

from audits.ablation.assemble import assemble, merge_results, write_results
from audits.ablation.execute import Watch, execute
from audits.ablation.grid import Grid, Stage, read_grid
from audits.ablation.plan import Plan, PlannedCell, PlannedStage, make_plan
from audits.ablation.records import StageRecord, Stages

__all__ = [
    "Grid",
    "Plan",
    "PlannedCell",
    "PlannedStage",
    "Stage",
    "StageRecord",
    "Stages",
    "Watch",
    "assemble",
    "execute",
    "make_plan",
    "merge_results",
    "read_grid",
    "write_results",
]
