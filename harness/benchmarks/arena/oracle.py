"""The scripted policies that prove the benchmark: `--policy oracle` solves every task, `--policy nearly` none.

Both act through the same action space and browser as any policy. `oracle` is given a task's values; `nearly` the same with one
of them wrong, so it does what a capable but careless agent does. Scripts belong to templates, so they play the arena only.
"""

from __future__ import annotations

from random import Random
from urllib.parse import urlsplit

from harness.actions import make_action, print_action
from harness.axtree import parse
from harness.benchmarks.arena.collection import group_of, templates_of
from harness.benchmarks.arena.data import NAME, definitions
from harness.benchmarks.arena.hands import PATIENCE, WAIT_MS, Hands, OracleLost, Steps
from harness.benchmarks.arena.template import Values
from harness.errors import UsageError
from harness.sites.catalog import APPS, SITES
from harness.types import Action, Observation, PolicyOutput, Task


class OraclePolicy:
    """Solves every task of the arena. The seed varies how."""

    name = "oracle"

    def __init__(self) -> None:
        self._task: Task | None = None
        self._seed = 0
        self._hands: Hands | None = None
        self._steps: Steps | None = None
        self._waited = 0

    def reset(self, goal: str, task: Task, seed: int) -> None:
        if task.benchmark != NAME or task.task_id not in definitions():
            raise UsageError(
                f"the {self.name} policy knows the tasks of the arena only, not {task.benchmark}", fix="--bench arena"
            )
        self._task, self._seed, self._hands, self._steps = task, seed, None, None

    def act(self, observation: Observation) -> PolicyOutput:
        if self._hands is None or self._steps is None:
            self._begin(observation)
        assert self._hands is not None and self._steps is not None
        self._hands.see(observation)
        if self._waited < PATIENCE and still_loading(observation):
            self._waited += 1
            action = make_action("noop", {"wait_ms": WAIT_MS})
        else:
            self._waited = 0
            action = self._next(self._steps)
        text = print_action(action)
        return PolicyOutput(action=action.model_copy(update={"raw": text}), text=text, policy_version=f"{self.name}-1")

    def close(self) -> None: ...

    def _next(self, steps: Steps) -> Action:
        try:
            return next(steps)
        except StopIteration:
            raise OracleLost("the oracle ended without stop or give_up") from None

    def values(self, task_id: str) -> Values:
        """What the oracle is told about a task."""
        row = definitions()[task_id]
        values = row["instantiation_dict"]
        assert isinstance(values, dict)
        return values

    def _begin(self, observation: Observation) -> None:
        """The sites' addresses are read off the open tabs: a policy is told no configuration."""
        assert self._task is not None
        template = templates_of(group_of(self._task.sites))[self._task.intent_template_id]
        self._hands = Hands(Random(f"{self._task.task_id}/{self._seed}"), observation.url, homes(observation, template.sites))
        self._steps = template.oracle(self._hands, self.values(self._task.task_id))


class NearlyPolicy(OraclePolicy):
    """The same oracle with one wrong value per task."""

    name = "nearly"

    def values(self, task_id: str) -> Values:
        wrong = definitions()[task_id]["nearly"]
        assert isinstance(wrong, dict)
        return {**super().values(task_id), **wrong}


def still_loading(observation: Observation) -> bool:
    """The page came so slowly that it was cut off while it loaded (a busy machine): a person would wait, too."""
    first = parse(observation.axtree.partition("\n")[0])
    return observation.slow and bool(first.nodes) and bool(first.nodes[0].get("busy"))


def homes(observation: Observation, sites: tuple[str, ...]) -> dict[str, str]:
    """Site → first page, from the tabs that a task begins with."""
    tabs = [page.url for page in observation.open_pages] or [observation.url]
    by_host = {urlsplit(url).hostname: url for url in tabs}
    found = {}
    for site in sites:
        url = urlsplit(by_host.get(APPS[SITES[site].app].hostname, ""))
        if url.netloc:
            found[site] = f"{url.scheme}://{url.netloc}{SITES[site].start_path}"
    return found
