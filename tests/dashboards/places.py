"""Directories of results to open the dashboard on: good, unfinished, damaged, hostile; all of them small and made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audits.fidelity.overlap import Overlap
from audits.fidelity.records import Answered, ChangeTable, Depth, FidelityReport, Figure, ModelFidelity, PageScore
from audits.metrics.summarise import summarise
from audits.records import AuditRow, DeterminismRow, PlantedFault
from harness.predictions import Prediction
from harness.types import Action, ActionError, EpisodeSpec, Observation, Step, Usage
from results.ablations import Ablation, Cell, Cost, Trial, write_ablation
from results.files import gzipped
from results.store import RunStore
from tests.dashboards.pictures import PNG
from tests.results.factory import episode, manifest, plan, step, task

PAGES = ("overview", "benchmarks", "episodes", "world-model", "audit", "ablations", "training")

HOSTILE = (
    "<script>window.pwned=1</script>",
    "<img src='http://evil.test/x.png' onerror='window.pwned=1'>",
    "![i](http://evil.test/i.png)",
    "[l](javascript:window.pwned=1)",
    "$\\frac{1}{2}$",
    ":material/home: :red[red] :smile: :streamlit:",
    "```\n<b>out of the fence</b>",
    "\u202egnp.exe\u2066",
    "nul\x00bell\x07\x1b[2J",
    '=HYPERLINK("http://evil.test")',
    "x" * 5_000,
)
ALL_AT_ONCE = " ".join(HOSTILE)
NAME = "![i](http:evil.test) $x^2$ :material:home: <b>bold<b> \u202e"
"""A directory's name may hold anything but a slash and NUL."""

BEFORE = "RootWebArea 'Shop', focused\n\t[1] button 'Buy'\n\t[2] link 'Old'\n\t[3] textbox 'Search' value='a'"
AFTER = "RootWebArea 'Shop', focused\n\t[1] button 'Buy'\n\t[3] textbox 'Search' value='b'\n\t[4] alert 'Bought'"


def good_run(directory: Path, run_id: str = "good", *, played: int = 12, planned: int = 12) -> None:
    """Two sites, four templates, three repeats of nothing; successes, failures, an error."""
    tasks = [task(f"t{n}", template=f"tpl{n // 3}", site=("shop", "forum")[n % 2]) for n in range(planned)]
    specs = plan(tasks)
    statuses = ("success", "failure", "success", "error")
    with RunStore.create(directory, manifest(specs, run_id=run_id), specs) as store:
        for number, spec in enumerate(specs[:played]):
            store.record(_episode(spec, statuses[number % 4], run_id), {"step-000.png": PNG, "step-001.png": PNG})


def hostile_run(directory: Path) -> None:
    """Everything that a page, a model, a benchmark or a file name can say is hostile."""
    tasks = [
        task(f"{text[:40]}-{n}", template=text[:40], site=text[:60], goal=ALL_AT_ONCE) for n, text in enumerate(HOSTILE[:10])
    ]
    specs = plan(tasks)
    facts = manifest(
        specs,
        run_id="hostile",
        policy=ALL_AT_ONCE,
        policy_version=ALL_AT_ONCE,
        judge=ALL_AT_ONCE,
        config={ALL_AT_ONCE: ALL_AT_ONCE},
    )
    with RunStore.create(directory, facts, specs) as store:
        for number, spec in enumerate(specs):
            store.record(_hostile_episode(spec, number), {"step-000.png": b"not a picture"})


def damaged_runs(root: Path) -> None:
    """Half-written and corrupted runs: each must be named, none may break a page."""
    good_run(root / "half", "half", played=5)
    (root / "half" / "index.jsonl").write_bytes((root / "half" / "index.jsonl").read_bytes()[:-40])
    (root / "half" / "episodes" / ".tmp-t9__A__r0__a0.7").mkdir()
    good_run(root / "damaged", "damaged")
    episodes = sorted((root / "damaged" / "episodes").iterdir())
    (episodes[0] / "episode.json.gz").write_bytes(b"\x1f\x8b not gzip at all")
    (episodes[1] / "episode.json.gz").write_bytes((episodes[1] / "episode.json.gz").read_bytes()[:50])
    (episodes[2] / "step-000.png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    good_run(root / "no-plan", "no-plan")
    (root / "no-plan" / "plan.jsonl.gz").write_bytes(b"\x1f\x8b\x08 cut")
    good_run(root / "newer", "newer")
    newer = json.loads((root / "newer" / "manifest.json").read_text())
    (root / "newer" / "manifest.json").write_text(json.dumps({**newer, "schema_version": 99, "unknown": 1}))
    (root / "no-manifest" / "episodes" / "t1__A__r0__a0").mkdir(parents=True)


def damaged_files(root: Path) -> None:
    """Files of every other kind that are cut, of another version, or no JSON."""
    for name, content in {
        "audit.json": b'{"schema_version": 1, "status": "VAL',
        "fidelity.json": b"[1, 2",
        "ablation.json": b'{"name": 3}',
        "train_log.jsonl": b'nonsense\n{"step": 1, "loss": 2.0}\n{"step": 2, "lo',
    }.items():
        (root / "cut").mkdir(parents=True, exist_ok=True)
        (root / "cut" / name).write_bytes(content)


def good_files(root: Path, words: str = "nano") -> None:
    """An audit, a fidelity file with predictions, an ablation and a training; `words` is whatever data may say."""
    audit(root / "audit", words)
    fidelity(root / "fidelity", words)
    ablation(root / "ablation", words)
    (root / "training").mkdir(parents=True)
    lines = [{"step": n, "loss": 2.0 / (n + 1), words: n, "dev": {"loss": 1.0}, "ledger": {"tokens": n}} for n in range(30)]
    (root / "training" / "train_log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def audit(directory: Path, words: str) -> None:
    rows = audit_rows(24, words)
    negative = [_audit_row(n, words).model_copy(update={"dreamed": True, "outcome": "success", "cause": "", "divergence": None,
                                                        "divergence_cause": None}) for n in range(80)]  # fmt: skip
    planted = [
        PlantedFault(dream=words, task_id=f"t{n}", fault="renamed_target", planted_at=1, expected_cause="crit",
                     outcome="failure", found_at=1, found_cause="crit") for n in range(8)
    ]  # fmt: skip
    same = [DeterminismRow(task_id=f"t{n}", pages=3, equal=3) for n in range(8)]
    found = summarise(rows, negative=negative, planted=planted, determinism=same)
    directory.mkdir(parents=True)
    (directory / "audit.json").write_text(found.model_dump_json())
    write_rows(directory, rows)


def write_rows(directory: Path, rows: list[AuditRow]) -> None:
    (directory / "rows.jsonl.gz").write_bytes(gzipped("".join(row.model_dump_json() + "\n" for row in rows)))


def audit_rows(count: int, words: str, **fields: Any) -> list[AuditRow]:
    return [_audit_row(n, words).model_copy(update=fields) for n in range(count)]


def fidelity(directory: Path, words: str) -> None:
    half = Figure(value=0.5, low=0.4, high=0.6, n=10, clusters=4)
    names = ("delta.f1", "full.f1", "full.copy_f1", "free.delta_f1", "kappa.delta", "free.full_f1", "kappa.full")
    more = ("malformed.rate", "lost_target.rate")
    figures = dict.fromkeys((*names, *more), half)
    model = ModelFidelity(
        spec=words, name=words, version="1", folder="model", figures=figures, change=ChangeTable(),
        depths=(Depth(depth=1, figures=figures), Depth(depth=2, figures=figures)), malformed={words: 2},
    )  # fmt: skip
    report = FidelityReport(data=words, split="test", examples=1, available=1, templates=1, models=(model,))
    (directory / "model").mkdir(parents=True)
    (directory / "fidelity.json").write_text(report.model_dump_json())
    count = Overlap(hits=1, predicted=3, real=3)
    score = PageScore(
        example="good/t0__A__r0__a0/0", site=words, template="t", action=words, change="page", nodes=count, nodes_lenient=count,
        nodes_placed=count, nodes_copy=count, edits=count, edits_lenient=count, changed=True, foreseen_change=True, right=False,
        url_right=True, url_changed=False, title_right=True, title_changed=False, critical=count, critical_new=count,
    )  # fmt: skip
    (directory / "model" / "scores.jsonl.gz").write_bytes(gzipped(score.model_dump_json() + "\n"))
    page = Observation(url="http://shop.test/1", axtree=AFTER.replace("Bought", words.replace("\n", " ")))
    answer = Prediction(world_model=words, next_observation=page, rationale=words, text=words)
    row = Answered(key=f"teacher {score.example}", predictions=(answer,))
    (directory / "model" / "predictions.jsonl.gz").write_bytes(gzipped(row.model_dump_json() + "\n"))


def ablation(directory: Path, words: str) -> None:
    trials = tuple(Trial(task_id=f"t{n}", cluster=f"c{n // 2}", success=n % 3 == 0) for n in range(12))
    cells = (
        Cell(
            level="1",
            seed=0,
            state="done",
            dreamed=trials,
            real=trials,
            replayed=trials,
            controls_passed=True,
            cost=Cost(seconds=3),
        ),
        Cell(level=words, seed=0, state="failed", problem=words),
    )
    directory.mkdir(parents=True)
    grid = Ablation(
        name="x", title=words, factor="dream_length", levels=("1", words), seeds=(0, 1), config={words: words}, cells=cells
    )
    write_ablation(directory / "ablation.json", grid)


def _audit_row(n: int, words: str) -> AuditRow:
    failed = n % 3 == 0
    return AuditRow(
        dream=f"dreams/{n}", benchmark="arena", task_id=f"{words}-{n}", template=f"tpl{n // 2}", site=words, length=3,
        dreamed=n % 2 == 0, score=0.8 if n % 2 == 0 else 0.2, outcome="failure" if failed else "success",
        cause="exec" if failed else "", compared=2 if failed else 4, divergence=2 if failed else None,
        divergence_cause="exec" if failed else None, judge_on_real=not failed, grounding=("exact", "absent"),
        world_model=words, policy=words, evidence=f"../good/episodes/t{n % 12}__A__r0__a0",
    )  # fmt: skip


def _episode(spec: EpisodeSpec, status: Any, run_id: str) -> Any:
    broken = ActionError(kind="hidden", message="the link is hidden")
    steps = [
        step(0, axtree=BEFORE).model_copy(update={"observation": _page(0, BEFORE)}),
        step(1, axtree=AFTER, error=broken).model_copy(update={"observation": _page(1, AFTER)}),
    ]
    return episode(spec, status, steps=steps, run_id=run_id)


def _page(number: int, tree: str) -> Observation:
    url = f"http://shop.test/{number}"
    return Observation(url=url, title="Shop", axtree=tree, screenshot_ref=f"step-00{number}.png")


def _hostile_episode(spec: EpisodeSpec, number: int) -> Any:
    text = HOSTILE[number]
    names = text.replace("\n", " ").replace("'", '"')
    tree = f"RootWebArea '{names}'\n\t[1] link '{names}'\n\t\tStaticText '{names}'\nno node at all {text}"
    observation = Observation(url=f"javascript:{text}", title=text, axtree=tree, screenshot_ref="step-000.png")
    action = Action(name="send_msg_to_user", arguments={"text": text}, raw=ALL_AT_ONCE)
    hostile = Step(
        index=0,
        observation=observation,
        output={"action": action, "text": ALL_AT_ONCE, "prompt": ({"role": "user", "content": text},), "usage": Usage()},
        metadata={text: text},
    )
    return episode(
        spec,
        "failure",
        steps=[hostile, hostile.model_copy(update={"index": 1})],
        run_id="hostile",
        verdict={"reason": ALL_AT_ONCE, "evidence": {text: ALL_AT_ONCE, "replay": {"dream": text}}, "scorer": text},
        trajectory={"answer": ALL_AT_ONCE},
    )
