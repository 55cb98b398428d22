"""WebVoyager behind the `Benchmark` protocol."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from pydantic import ValidationError

from harness.benchmarks.webvoyager.config import WebVoyagerConfig
from harness.benchmarks.webvoyager.page_task import WebVoyagerPage
from harness.benchmarks.webvoyager.selection import NAME, Selection, select
from harness.completions import EndpointConfig
from harness.errors import HarnessError, UsageError
from harness.protocols import Judge
from harness.scoring.judges import JUDGES, JudgeConfig, build_judge
from harness.types import Check, EpisodeSpec, Exclusion, Task


class WebVoyagerBenchmark:
    """643 tasks on 15 live sites, or any file of their schema; exclusions are data, the scorer is a model.

    `judge` is the model server of the judge; without one, answered episodes are `inconclusive`, never failures.
    """

    name = NAME

    def __init__(self, config: WebVoyagerConfig | None = None, judge: EndpointConfig | None = None) -> None:
        self.config = config or WebVoyagerConfig()
        self._endpoint = judge

    @cached_property
    def selection(self) -> Selection:
        return select(self.config)

    @cached_property
    def judge_config(self) -> JudgeConfig | None:
        """The judge's settings, None without a model server. Raises UsageError for votes that cannot decide."""
        if self._endpoint is None:
            return None
        try:
            return JudgeConfig(
                protocol=self.config.judge_protocol,
                endpoint=self._endpoint,
                states=self.config.judge_states,
                modality=self.config.judge_modality,
                votes=self.config.judge_votes,
            )
        except ValidationError as error:
            message = error.errors(include_input=False)[0]["msg"]
            raise UsageError(f"the judge's settings: {message}", fix="correct [judge] or [webvoyager] judge_votes") from None

    @property
    def judge_prompt_hash(self) -> str:
        """Identifies the words of the judge; empty without one. For the manifest: two runs must have been judged alike."""
        return JUDGES[self.config.judge_protocol].prompt_hash if self._endpoint is not None else ""

    def tasks(self) -> Sequence[Task]:
        return self.selection.tasks

    def exclusions(self) -> Sequence[Exclusion]:
        return self.selection.exclusions

    def open(self, spec: EpisodeSpec) -> WebVoyagerPage:
        """The task comes from `spec`, dates resolved when the run was planned: never resolved again here."""
        return WebVoyagerPage(spec.task, self.config, self._judge)

    def checks(self) -> Sequence[Check]:
        try:
            selection = self.selection
        except HarnessError as error:
            return [Check(name="WebVoyager tasks", status="missing", detail=str(error), fix=error.fix), self._judge_check()]
        return [self._tasks_check(selection), *_filter_checks(selection), self._judge_check()]

    def worker_environment(self, instance: int) -> dict[str, str]:
        return {}

    def instances(self) -> int:
        return 0

    @cached_property
    def _judge(self) -> Judge | None:
        return build_judge(self.judge_config) if self.judge_config is not None else None

    def _tasks_check(self, selection: Selection) -> Check:
        what = "the published file" if selection.published else "not the published file"
        detail = f"{len(selection.tasks)} tasks selected from {selection.path} ({what})"
        past = sum(any(p.startswith("past-dates:") for p in task.known_problems) for task in selection.tasks)
        if past:
            return Check(
                name="WebVoyager tasks",
                status="warning",
                detail=f"{detail}; {past} ask for something on a day that is past",
                fix='exclude them with rules = ["past-dates"], or move their dates with dates = "redate"',
            )
        return Check(name="WebVoyager tasks", status="ok", detail=detail)

    def _judge_check(self) -> Check:
        if self._endpoint is None:
            return Check(
                name="WebVoyager judge",
                status="warning",
                detail="no judge configured: answered episodes will be inconclusive",
                fix="configure [judge] with base_url and model",
            )
        try:
            _ = self.judge_config
        except UsageError as error:
            return Check(name="WebVoyager judge", status="missing", detail=str(error), fix=error.fix)
        variable = self._endpoint.api_key_env
        if variable and not os.environ.get(variable):
            return Check(name="WebVoyager judge", status="missing", detail=f"${variable} is not set", fix=f"export {variable}=…")
        return Check(name="WebVoyager judge", status="ok", detail=f"{self._endpoint.model} at {self._endpoint.base_url}")


def _filter_checks(selection: Selection) -> list[Check]:
    checks = []
    if selection.exclusions:
        counts = Counter(exclusion.rule for exclusion in selection.exclusions)
        detail = ", ".join(f"{rule}: {count}" for rule, count in sorted(counts.items()))
        checks.append(Check(name="WebVoyager exclusions", status="ok", detail=detail))
    if selection.unknown_ids:
        names = ", ".join(selection.unknown_ids[:3])
        checks.append(
            Check(
                name="WebVoyager filters",
                status="warning",
                detail=f"{len(selection.unknown_ids)} ids in filters are not in the task file ({names} …)",
                fix="check that filters and task file belong together",
            )
        )
    return checks
