"""Replays per minute beside bare Playwright executing the same actions, and memory over many replays.

    python benchmarks/replay.py RUN [--episodes 24] [--rounds 5]     RUN: successes of the arena's oracle; the sites are up
    python benchmarks/replay.py RUN --memory 500                     RUN: any recorded run, its episodes again and again

Goals: ≥ 0.6 × bare Playwright, memory flat over 500 replays. Both contenders set the sites back, sign in through the form and
open the start page; bare Playwright then does every recorded action on the element with the recorded role, name and number and
waits for the page's load event. It looks at no page, compares nothing and judges nothing. A rehearsal leaves out the episodes
that it cannot execute in this way. One browser, one process, contenders in turn; intervals: 95 %, bootstrap over rounds, paired.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from scipy.stats import bootstrap

from audits.replay.config import ReplaySettings
from audits.replay.plan import draw
from audits.replay.safety import Guard, guarded
from audits.replay.worker import Replayer, browser_config
from harness.assembly import make_benchmark
from harness.benchmarks.arena.data import definitions, render
from harness.benchmarks.arena.logins import sign_in
from harness.config import RunConfig
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import find_chromium
from harness.envs.session import BrowserSession
from harness.rollout import Silent
from harness.sites import InstanceSet, reset
from harness.sites.catalog import SITES
from harness.sites.instances import running_sets
from harness.sites.layout import DEFAULT_STATE
from harness.types import Action, EpisodeSpec, Trajectory
from results.reader import RunReader

POINTS = 10
"""Measurements of memory, the first after the first tenth."""


class Ours:
    name = "replay"

    def __init__(self, run: Path, config: RunConfig, session: BrowserSession) -> None:
        settings, guard = ReplaySettings(dreams=str(run.resolve())), Guard(ReplaySettings(dreams="").safety)
        env = BrowserEnv(session, guarded(make_benchmark(config).open, guard))
        self._replayer = Replayer(env, settings, guard)

    def play(self, spec: EpisodeSpec, _recorded: Trajectory) -> bool:
        _trajectory, verdict = self._replayer.play(spec, Silent())
        return verdict.status == "success"


class Bare:
    name = "bare Playwright"

    def __init__(self, sites: InstanceSet, session: BrowserSession) -> None:
        self._sites, self._session = sites, session

    def play(self, spec: EpisodeSpec, recorded: Trajectory) -> bool:
        row: Any = definitions()[spec.task.task_id]
        reset(self._sites, row["sites"])
        context = self._session.context({"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"})
        try:
            page = context.new_page()
            for app, site in {SITES[site].app: site for site in row["login"]}.items():
                sign_in(page, app, self._sites.apps[app].url, self._sites.account(site))
            page.goto(render(row["start_url"], self._sites.urls))
            for step in recorded.steps:
                _do(page, step.output.action)
        except Exception:  # noqa: BLE001  whatever it is: this episode is no script for bare Playwright
            return False
        finally:
            context.close()
        return True


def _do(page: Any, action: Action) -> None:
    arguments = action.arguments
    if action.name in ("send_msg_to_user", "report_infeasible", "noop"):
        return
    if action.name == "scroll":
        page.mouse.wheel(*(float(str(arguments[key])) for key in ("delta_x", "delta_y")))
        return
    if action.name == "go_back":
        page.go_back()
        return
    target = action.target
    assert target is not None, action.name
    # Chromium's tree has names as they are shown (capitals of a style sheet, no icons), Playwright's as they are written.
    name = re.compile(rf"^[\W_]*{re.escape(target.name)}[\W_]*$", re.IGNORECASE)
    element = page.get_by_role(target.role, name=name).nth(target.index)
    match action.name:
        case "click":
            element.click()
        case "type" | "fill":
            element.fill(str(arguments["value" if action.name == "fill" else "text"]))
            if arguments.get("press_enter"):
                element.press("Enter")
        case "select_option":
            element.select_option(label=arguments["options"])
        case "check":
            element.check()
        case _:
            raise ValueError(f"{action.name}: not one of the actions that are played here")
    page.wait_for_load_state("load")


def compare(run: Path, state: Path, episodes: int, rounds: int) -> None:
    load = os.getloadavg()[0]
    reader = RunReader.open(run)
    options = {"run": {"benchmark": "arena"}, "arena": {"state_dir": state}, "browser": {"screenshots": "none"}}
    config = RunConfig.model_validate(options)
    session = BrowserSession(browser_config(config.browser), find_chromium())
    try:
        tasks = {task.task_id: task for task in make_benchmark(config).tasks()}
        single = [spec for spec in draw(reader, tasks, which="success", instances=1).specs if _plain(spec)]
        sites = running_sets(state)
        if not sites:
            raise SystemExit("no site is up; start them: harness sites up")
        contenders = (Bare(sites[0], session), Ours(run, config, session))
        chosen, tried = _rehearse(contenders, reader, single, episodes)
        times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
        for number in range(rounds):
            for contender in contenders[:: -1 if number % 2 else 1]:
                begun = time.perf_counter()
                failed = [spec.episode_id for spec, recorded in chosen if not contender.play(spec, recorded)]
                times[contender.name].append(time.perf_counter() - begun)
                if failed:
                    print(f"round {number + 1}: {contender.name} failed where it had not: {', '.join(failed)}", flush=True)
            rates = ", ".join(f"{name} {len(chosen) * 60 / taken[-1]:.1f}/min" for name, taken in times.items())
            print(f"round {number + 1}: {rates}", flush=True)
    finally:
        session.close()
    steps = sum(len(recorded.steps) for _, recorded in chosen)
    print(f"{len(chosen)} episodes, {steps} actions, of {tried} tried in rehearsal; {rounds} rounds; load before {load:.1f}")
    bare, ours = (np.array(times[contender.name]) for contender in contenders)
    for name, seconds in (("bare Playwright", bare), ("replay", ours)):
        print(f"{name:16} {len(chosen) * 60 / seconds.mean():6.1f} replays/min, {seconds.mean() / steps:.3f} s per action")
    found_ratio = bootstrap((bare, ours), lambda b, o, axis: b.sum(axis) / o.sum(axis), paired=True, vectorized=True, rng=0)
    low, high = found_ratio.confidence_interval
    print(f"replay ÷ bare    {bare.sum() / ours.sum():6.2f} [{low:.2f}, {high:.2f}]   (goal 0.6)")


def _plain(spec: EpisodeSpec) -> bool:
    return "|AND|" not in str(definitions()[spec.task.task_id]["start_url"])


def _rehearse(
    contenders: Sequence[Ours | Bare], reader: RunReader, specs: Sequence[EpisodeSpec], wanted: int
) -> tuple[list[tuple[EpisodeSpec, Trajectory]], int]:
    chosen: list[tuple[EpisodeSpec, Trajectory]] = []
    for tried, spec in enumerate(specs, start=1):
        pair = spec, reader.episode(str(spec.task.metadata["dream"])).trajectory
        if all(contender.play(*pair) for contender in contenders):
            chosen.append(pair)
        if len(chosen) == wanted:
            return chosen, tried
    return chosen, len(specs)


def memory(run: Path, number: int) -> None:
    """Unique memory of this process and of its browser, after each tenth of `number` replays."""
    reader = RunReader.open(run)
    config = RunConfig.model_validate({"run": {"benchmark": reader.manifest.benchmark}, "browser": {"screenshots": "none"}})
    session = BrowserSession(browser_config(config.browser), find_chromium())
    ours = Ours(run, config, session)
    benchmark = make_benchmark(config)
    specs = draw(reader, {task.task_id: task for task in benchmark.tasks()}, instances=benchmark.instances()).specs
    try:
        for done in range(1, number + 1):
            spec = specs[done % len(specs)]
            ours.play(spec, reader.episode(str(spec.task.metadata["dream"])).trajectory)
            if done % max(1, number // POINTS) == 0:
                own = psutil.Process()
                children = sum(_unique(child) for child in own.children(recursive=True))
                print(f"{done:6} replays: worker {_unique(own) >> 20} MiB, browser and driver {children >> 20} MiB", flush=True)
    finally:
        session.close()
    print(f"peak of the worker {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


def _unique(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", type=Path)
    options.add_argument("--episodes", type=int, default=24)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--state", type=Path, default=DEFAULT_STATE, help="where the sites keep their files")
    options.add_argument("--memory", type=int, metavar="N", help="N replays, and how much memory they leave")
    chosen = options.parse_args()
    if chosen.memory:
        memory(chosen.run, chosen.memory)
    else:
        compare(chosen.run, chosen.state, chosen.episodes, chosen.rounds)


if __name__ == "__main__":
    main()
