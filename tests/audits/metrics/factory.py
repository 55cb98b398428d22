"""Rows of an audit, short to write; and random ones for property tests."""

from __future__ import annotations

import numpy as np

from audits.records import AuditRow, PolicyRow


def row(index: int, dreamed: bool, real: bool | None, **fields: object) -> AuditRow:
    """A dream of four actions; `real` None = inconclusive."""
    outcome = "inconclusive" if real is None else "success" if real else "failure"
    known: dict[str, object] = {
        "dream": f"run/{index:05d}",
        "task_id": f"task{index}",
        "site": "shop",
        "length": 4,
        "dreamed": dreamed,
        "outcome": outcome,
        "cause": {"inconclusive": "infrastructure", "failure": "oracle", "success": ""}[outcome],
        "compared": 5,
    }
    return AuditRow.model_validate(known | fields)


def table(n11: int, n10: int, n01: int = 0, n00: int = 0, unknown: int = 0, **fields: object) -> list[AuditRow]:
    """Rows with these counts, `unknown` of them dreamed successes without an outcome; every row its own cluster."""
    cells = [(True, True)] * n11 + [(True, False)] * n10 + [(False, True)] * n01 + [(False, False)] * n00
    rows = [row(i, dreamed, real, **fields) for i, (dreamed, real) in enumerate(cells)]
    return rows + [row(len(cells) + i, True, None, **fields) for i in range(unknown)]


def audit(seed: int, n: int = 120, clusters: int = 40, **fields: object) -> list[AuditRow]:
    """A plausible audit: several sites, lengths, causes, scores that mean something, groups of four."""
    generator = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        length = int(generator.integers(1, 9))
        diverged = generator.random() < 0.4
        page = int(generator.integers(1, length + 2)) if diverged else None
        success = not diverged and generator.random() < 0.8
        score = float(np.clip(0.5 + 0.2 * success + generator.normal(0, 0.2), 0, 1))
        unknown = generator.random() < 0.03
        rows.append(
            row(
                i,
                score > 0.5,
                None if unknown else success,
                task_id=f"task{i % (clusters * 2)}",
                template=f"template{i % clusters}",
                site=("shop", "forum", "wiki", "shop2")[i % 4],
                task_type=("read", "write")[i % 2],
                world_model=("nano", "micro")[i % 2],
                policy=f"p{i % 3}",
                group=f"group{i // 4}",
                length=length,
                compared=page or length + 1,
                divergence=page,
                divergence_cause=str(generator.choice(["exec", "url", "crit", "any"])) if page else None,
                score=score,
                judge_on_real=bool(generator.random() < 0.5 + 0.3 * success) if generator.random() < 0.9 else None,
                grounding=("exact",) * (length - 1) + (("absent",) if diverged else ("no_element",)),
                uncertainty={"token_nll": float(generator.random() + (not success))},
                unintended_changes=int(generator.random() < 0.1),
                **fields,
            )
        )
    return rows


def policies(seed: int, k: int = 6, tasks: int = 40) -> list[PolicyRow]:
    """k checkpoints with real rates .1 … .4 and an optimistic simulator."""
    generator = np.random.default_rng(seed)
    return [
        PolicyRow(
            policy=f"c{c}",
            updates=10 * c,
            kl=0.1 * c,
            task_id=f"t{j}",
            template=f"g{j // 2}",
            simulated=float(generator.random() < 0.2 + 0.08 * c),
            real=float(generator.random() < 0.1 + 0.3 * c / max(1, k - 1)),
        )
        for c in range(k)
        for j in range(tasks)
    ]
