"""An environment may cut an episode short: the loop stops there, and says so."""

from __future__ import annotations

from harness.protocols import StepResult
from harness.rollout import run_episode
from harness.testing import ScriptedEnv, ScriptedPolicy
from harness.types import Action, EpisodeSpec, EvaluatorSpec, Task


class Unsure(ScriptedEnv):
    def step(self, action: Action) -> StepResult:
        return super().step(action)._replace(truncated=True)


def test_a_truncated_step_is_the_last() -> None:
    spec = EpisodeSpec(task=Task(benchmark="b", task_id="t", evaluator=EvaluatorSpec(kind="x")), seed=0, order_index=0)
    trajectory, verdict = run_episode(ScriptedPolicy(["noop()"]), Unsure(["a", "b", "c"]), spec, max_steps=5)
    assert (trajectory.stop_reason, len(trajectory.steps)) == ("truncated", 1)
    assert trajectory.steps[0].truncated
    assert verdict.status == "success", "it is scored where it stopped"
