"""Writes the arena's data files from its templates: tasks, splits, manifest, and the counts in docs/arena.md.

    python scripts/build_arena.py              rewrite what has changed
    python scripts/build_arena.py shop forum   the same for these sites only (`multi`: tasks on several), others stay as they are
    python scripts/build_arena.py --check      exit 1 if a file is not what the templates say (tests/arena does the same)

The same templates and worlds give the same bytes. Splits are kept: only templates without one are given one.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.benchmarks.arena.collection import (
    GROUPS,
    HELD_OUT_SITE,
    BadTemplate,
    assign_splits,
    group_of,
    task_rows,
    templates_of,
)
from harness.benchmarks.arena.data import MANIFEST, SCHEMA_VERSION, SPLITS, as_task, hash_of
from harness.benchmarks.tasksets import task_set_hash

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "harness" / "benchmarks" / "arena" / "data"
CARD = ROOT / "docs" / "arena.md"
KINDS = ("information", "navigation", "content", "configuration")
_BLOCK = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- end -->)", re.DOTALL)


def build(known_splits: dict[str, str], groups: Sequence[str] = GROUPS) -> dict[str, str]:
    """File name → text, of every data file. Raises BadTemplate. Groups not in `groups` keep the tasks they have."""
    files: dict[str, str] = {}
    splits: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for group in GROUPS:
        own = group_rows(group, known_splits) if group in groups else stored_rows(group)
        if own:
            lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in own)
            files[f"{group}.json"] = f'{{"schema_version": {SCHEMA_VERSION}, "tasks": [\n{lines}\n]}}\n'
            splits |= {row["intent_template_id"]: row["split"] for row in own}
            rows += own
    repeated = [text for text, times in Counter(phrasings_of(rows)).items() if times > 1]
    if repeated:
        raise BadTemplate(f"two templates share the phrasing {repeated[0]!r}")
    files[SPLITS] = json.dumps(dict(sorted(splits.items())), indent=1) + "\n"
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "files": [group for group in GROUPS if f"{group}.json" in files],
        "templates": len(splits),
        "tasks": len(rows),
        "task_set_hash": task_set_hash([as_task(row) for row in rows]),
        "data_hash": hash_of(rows),
    }
    files[MANIFEST] = json.dumps(manifest, indent=1) + "\n"
    return files


def group_rows(group: str, known_splits: dict[str, str]) -> list[dict[str, Any]]:
    own = templates_of(group)
    assigned = assign_splits(list(own), known_splits)
    return [row for template in own.values() for row in task_rows(template, assigned[template.id])]


def stored_rows(group: str) -> list[dict[str, Any]]:
    path = DATA / f"{group}.json"
    return list(json.loads(path.read_text(encoding="utf-8"))["tasks"]) if path.exists() else []


def phrasings_of(rows: list[dict[str, Any]]) -> list[str]:
    """Each template's phrasings, once."""
    return [text for _, text in {(row["intent_template_id"], row["intent_template"]) for row in rows}]


def counts(files: dict[str, str]) -> str:
    """The table of docs/arena.md."""
    rows = [row for name in json.loads(files[MANIFEST])["files"] for row in json.loads(files[f"{name}.json"])["tasks"]]
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(group_of(row["sites"]), []).append(row)
    head = ["site", "templates", "tasks", *KINDS, "unachievable", "train", "dev", "test"]
    lines = ["| " + " | ".join(head) + " |", "| --- " + "| ---: " * (len(head) - 1) + "|"]
    for name, own in [*groups.items(), ("**all**", rows)]:
        cells = [
            len({row["intent_template_id"] for row in own}),
            len(own),
            *(sum(row["kind"] == kind for row in own) for kind in KINDS),
            sum((row["eval"]["reference_answers"] or {}).get("exact_match") == "N/A" for row in own),
            *(sum(row["split"] == split for row in own) for split in ("train", "dev", "test")),
        ]
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    types = Counter(kind for row in rows for kind in row["eval"]["eval_types"])
    evaluators = ", ".join(f"`{kind}` {number}" for kind, number in sorted(types.items()))
    held_out = sum(row["held_out_site"] for row in rows)
    manifest = json.loads(files[MANIFEST])
    return "\n".join([
        *lines,
        "",
        f"Evaluators (a task may have several): {evaluators}. Split `held_out_site` ({HELD_OUT_SITE}): {held_out} tasks.",
        f"Task-set hash `{manifest['task_set_hash'][:16]}`, data hash `{manifest['data_hash'][:16]}`, "
        f"schema version {SCHEMA_VERSION}.",
        "",
    ])  # fmt: skip


def main() -> int:
    stored = DATA / SPLITS
    known = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
    chosen = [word for word in sys.argv[1:] if word != "--check"]
    if unknown := set(chosen) - set(GROUPS):
        print(f"error: no site {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
        return 2
    try:
        made = build(known, chosen or GROUPS)
    except BadTemplate as error:
        print(f"error: {error}")
        return 1
    wanted = {DATA / name: text for name, text in made.items()}
    if CARD.exists():
        card = CARD.read_text(encoding="utf-8")
        wanted[CARD] = _BLOCK.sub(lambda _: counts(made), card)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += [path for path in DATA.glob("*.json") if path not in wanted]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what the templates say; run: python scripts/build_arena.py")
        return int(bool(stale))
    DATA.mkdir(exist_ok=True)
    for path in stale:
        if path in wanted:
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()
        print(f"{'wrote' if path in wanted else 'removed'} {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
