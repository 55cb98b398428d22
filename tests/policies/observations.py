"""Small observations for tests of policies."""

from __future__ import annotations

from harness.types import EvaluatorSpec, Observation, Task

TASK = Task(benchmark="test", task_id="1", evaluator=EvaluatorSpec(kind="raw_reward"))


def page(*lines: str, **fields: object) -> Observation:
    """An observation whose tree is a root with these lines (tabs give deeper nesting)."""
    tree = "\n".join(["RootWebArea 'Test', focused", *(f"\t{line}" for line in lines)])
    return Observation(url="http://test.example/", title="Test", axtree=tree, **fields)  # type: ignore[arg-type]
