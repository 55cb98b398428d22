"""Scripted doubles for tests of your own code and ours: a policy, a world, a judge, a world model that do what they are told.

No browser, no model, no network; the rollout loop, the store and the reports around them are the real ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.actions import parse_action
from harness.errors import RolloutError
from harness.predictions import Prediction, WorldModelQuery
from harness.protocols import StepResult
from harness.types import Action, EpisodeSpec, Observation, PolicyOutput, Status, Task, Timing, Trajectory, Usage, Verdict


class ScriptedPolicy:
    """Answers with `actions` in order (BrowserGym's syntax), then with the last one again; an exception among them is raised."""

    name = "scripted"

    def __init__(self, actions: Sequence[str | Exception]) -> None:
        self._actions = tuple(actions)
        self._next = 0
        self.seen: list[Observation] = []

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._next = 0
        self.seen = []

    def act(self, observation: Observation) -> PolicyOutput:
        self.seen.append(observation)
        action = self._actions[min(self._next, len(self._actions) - 1)]
        self._next += 1
        if isinstance(action, Exception):
            raise action
        return PolicyOutput(action=parse_action(action), text=action, policy_version="scripted")

    def close(self) -> None: ...


class ScriptedEnv:
    """Shows `pages` (trees as text) one after the other, whatever the action; the last one ends the episode.

    `fault` is raised at the step it is keyed by (0 = reset).
    """

    def __init__(
        self, pages: Sequence[str], *, goal: str = "reach the last page", status: Status = "success",
        fault: tuple[int, RolloutError] | None = None,
    ) -> None:  # fmt: skip
        self._pages = tuple(pages)
        self._goal = goal
        self._status = status
        self._fault = fault
        self._at = 0
        self.actions: list[Action] = []

    def reset(self, spec: EpisodeSpec) -> tuple[str, Observation]:
        self._at, self.actions = 0, []
        self._maybe_fail()
        return self._goal, self._observation()

    def step(self, action: Action) -> StepResult:
        self.actions.append(action)
        self._at += 1
        self._maybe_fail()
        last = self._at >= len(self._pages) - 1
        return StepResult(self._observation(), None, float(last), last, False, Timing())

    def score(self, trajectory: Trajectory) -> Verdict:
        reward = {"success": 1.0, "failure": 0.0}.get(self._status)
        return Verdict(status=self._status, reward=reward, scorer="scripted", scorer_version="1")

    def close(self) -> None: ...

    def _maybe_fail(self) -> None:
        if self._fault and self._fault[0] == self._at:
            raise self._fault[1]

    def _observation(self) -> Observation:
        return Observation(url="scripted:", axtree=self._pages[min(self._at, len(self._pages) - 1)])


class ScriptedJudge:
    """Gives `statuses` in order, then the last one again."""

    name = "scripted"
    version = "1"

    def __init__(self, statuses: Sequence[Status]) -> None:
        self._statuses = list(statuses)

    def judge(self, trajectory: Trajectory) -> Verdict:
        status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
        return Verdict(
            status=status, reward={"success": 1.0, "failure": 0.0}.get(status), scorer=self.name, scorer_version=self.version
        )


class ScriptedWorldModel:
    """Foresees `pages` (trees as text) by the length of a query's history: pages[0] after the first action, and so on.

    A page that is an exception is raised; None is an answer that cannot be read. The last page is terminal. With several
    `samples`, sample i sees `pages` of `others[i - 1]` where given, else the same.
    """

    name = "scripted"
    version = "1"

    def __init__(self, pages: Sequence[str | Exception | None], *, others: Sequence[Sequence[str | None]] = ()) -> None:
        self._pages = [tuple(pages), *map(tuple, others)]
        self.batches: list[int] = []
        """Queries per call."""

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        self.batches.append(len(queries))
        return [[self._answer(query, number) for number in range(samples)] for query in queries]

    def close(self) -> None: ...

    def _answer(self, query: WorldModelQuery, number: int) -> Prediction:
        pages = self._pages[min(number, len(self._pages) - 1)]
        at = min(len(query.history), len(pages) - 1)
        page = pages[at]
        if isinstance(page, Exception):
            raise page
        return Prediction(
            world_model="scripted 1",
            next_observation=None if page is None else Observation(url="scripted:", axtree=page),
            terminal=at == len(pages) - 1,
            malformed="no tree in it" if page is None else "",
            usage=Usage(requests=1),
        )
