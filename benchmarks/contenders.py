"""The contenders of throughput.py. Each lives in a process of its own and plays the scripts that it is sent.

    StockContender     BrowserGym as AgentLab runs it: gym.make, reset, steps, close; a task and a chat browser per episode
    BareContender      Playwright calls and nothing else: one kept browser, a fresh context per episode, no waiting of our own
    OursContender      BrowserEnv in-process: one kept browser, a fresh context per episode
    HarnessContender   the same through Runner, worker processes and RunStore, as `harness run` does
All use the same Chromium binary and the same MiniWoB++ pages, but for one row: stock BrowserGym on a full Chromium, which is what
it gets where nobody looks for the headless shell. No goal is measured against that row.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, SupportsFloat

from scripted import Script, script_key

from harness.actions import parse_action
from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.axtext import axtree_text
from harness.envs.marking import pop_bid
from harness.errors import first_line
from harness.runner import RunState
from harness.types import Episode, EpisodeSpec

FULL_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Round:
    """One pass over a list of scripts. `seconds` is the wall time of the whole pass, closing included."""

    seconds: float
    resets: tuple[float, ...] = ()
    steps: tuple[float, ...] = ()
    start_and_stop: float = 0.0
    """Seconds outside `seconds`: starting and stopping workers (harness only)."""
    deviations: int = 0
    """Episodes that ended otherwise than rehearsed. Stock's actions give up after 0.5 s and its observations may raise, so a busy
    machine makes some fail; all others must have none."""


class Contender(Protocol):
    """`warm_up` are other seeds' scripts, for a contender that starts anew in each pass."""

    def play(self, scripts: Sequence[Script], warm_up: Sequence[Script]) -> Round: ...

    def close(self) -> None: ...


def serve(connection: Connection, name: str, browser: str) -> None:
    """Process entry: (scripts, warm-up scripts) come in, Rounds go out, None ends it."""
    contender = CONTENDERS[name](browser)
    try:
        while (order := connection.recv()) is not None:
            connection.send(contender.play(*order))
    except EOFError:
        pass  # the parent is gone
    finally:
        contender.close()


class Player:
    """A contender's process, told what to play."""

    def __init__(self, name: str, browser: str) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name, browser))
        self._process.start()
        theirs.close()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def play(self, scripts: Sequence[Script], warm_up: Sequence[Script]) -> Round:
        self._connection.send((scripts, warm_up))
        try:
            played: Round = self._connection.recv()
        except EOFError:
            raise SystemExit("a contender died; what it said is above") from None
        return played

    def close(self) -> None:
        self._connection.send(None)
        self._process.join()


class _Timer:
    """Collects seconds per reset and per step."""

    def __init__(self) -> None:
        self._began = self._lap = time.perf_counter()
        self.deviations = 0
        self.resets: list[float] = []
        self.steps: list[float] = []

    def begin(self) -> None:
        self._lap = time.perf_counter()

    def lap(self, into: list[float]) -> None:
        now = time.perf_counter()
        into.append(now - self._lap)
        self._lap = now

    def round(self) -> Round:
        return Round(time.perf_counter() - self._began, tuple(self.resets), tuple(self.steps), deviations=self.deviations)


def _as_rehearsed(script: Script, reward: SupportsFloat, terminated: bool) -> bool:
    return (float(reward), terminated) == (script.reward, True)


def _check(name: str, script: Script, reward: SupportsFloat, terminated: bool) -> None:
    if not _as_rehearsed(script, reward, terminated):
        raise SystemExit(
            f"{name}: {script.task_id}, seed {script.seed} ended with reward {reward}, terminated {terminated}; "
            f"the rehearsal earned {script.reward}: the contenders are not doing the same work"
        )


class StockContender:
    def __init__(self, browser: str, slow_mo: int | None = None) -> None:
        import browsergym.miniwob  # noqa: F401  registers the ids
        from playwright.sync_api import BrowserType

        self._slow_mo = slow_mo
        launch = BrowserType.launch

        def with_binary(self: BrowserType, **kwargs: Any) -> Any:
            return launch(self, **{"executable_path": browser, **kwargs})

        BrowserType.launch = with_binary  # type: ignore[method-assign]  # the chat's browser takes no options

    def play(self, scripts: Sequence[Script], warm_up: Sequence[Script]) -> Round:
        import gymnasium
        from playwright.sync_api import Error as PlaywrightError

        timer = _Timer()
        for script in scripts:
            timer.begin()
            env = gymnasium.make(
                f"browsergym/miniwob.{script.task_id}",
                disable_env_checker=True,
                slow_mo=self._slow_mo,
                task_kwargs={"base_url": MiniwobBenchmark().base_url()},
            )
            reward, terminated = 0.0, False
            try:
                env.reset(seed=script.seed)
                timer.lap(timer.resets)
                for action in script.actions:
                    _, reward, terminated, _, _ = env.step(action)
                    timer.lap(timer.steps)
            except PlaywrightError as error:  # seen: a DevTools session that is gone when it is to be closed
                print(f"stock BrowserGym failed in {script.task_id}: {first_line(error)}", flush=True)
            env.close()
            timer.deviations += not _as_rehearsed(script, reward, terminated)
        return timer.round()

    def close(self) -> None: ...


class BareContender:
    """An honest lower bound: what a person would write who needs just these observations of just these pages.

    One DevTools tree and one DevTools screenshot per observation; elements are found by a `bid` attribute that one short
    script sets. Nothing is cleaned up, no dialog, popup, frame, navigation or error is looked after, nothing is waited for.
    """

    MARK = """() => {
        window.bids ??= 0;
        for (const element of document.querySelectorAll('*')) {
            if (!element.hasAttribute('bid')) element.setAttribute('bid', window.bids++);
            element.setAttribute('aria-roledescription', `browsergym_id_${element.getAttribute('bid')} `);
        }
        return [document.title, document.activeElement.getAttribute('bid')];
    }"""

    def __init__(self, browser: str) -> None:
        from playwright.sync_api import sync_playwright

        self._tasks = {task.task_id: task for task in MiniwobBenchmark().tasks()}
        self._driver = sync_playwright().start()
        self._browser = self._driver.chromium.launch(executable_path=browser)

    def play(self, scripts: Sequence[Script], warm_up: Sequence[Script]) -> Round:
        timer = _Timer()
        for script in scripts:
            spec = EpisodeSpec(task=self._tasks[script.task_id], seed=script.seed, order_index=0)
            timer.begin()
            task = MiniwobBenchmark().open(spec)
            context = self._browser.new_context(**task.context_options)
            page = context.new_page()
            cdp = context.new_cdp_session(page)
            task.setup(page)
            tree, _picture = self._observe(page, cdp)
            timer.lap(timer.resets)
            if tree != script.first_tree:
                raise SystemExit(f"bare Playwright sees another page than ours in {script.task_id}:\n{tree}\n{script.first_tree}")
            for text in script.actions:
                self._act(page, text)
                signal = task.check(page, None)
                self._observe(page, cdp)
                timer.lap(timer.steps)
            context.close()
            _check("bare Playwright", script, signal.reward, signal.terminated)
        return timer.round()

    def _act(self, page: Any, text: str) -> None:
        action = parse_action(text)
        arguments = dict(action.arguments)
        element = page.locator(f'[bid="{arguments.pop("bid")}"]')
        match action.name:
            case "click":
                element.click()
            case "fill":
                element.fill(arguments["value"])
            case "select_option":
                element.select_option(arguments["options"])
            case _:
                raise SystemExit(f"bare Playwright was not told how to {action.name}")

    def _observe(self, page: Any, cdp: Any) -> tuple[str, bytes]:
        page.evaluate(self.MARK)
        nodes = cdp.send("Accessibility.getFullAXTree")["nodes"]
        for node in nodes:
            if bid := pop_bid(node):
                node["browsergym_id"] = bid
        picture = cdp.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return axtree_text(nodes).text, base64.b64decode(picture["data"])

    def close(self) -> None:
        self._browser.close()
        self._driver.stop()


class OursContender:
    def __init__(self, browser: str) -> None:
        from harness.envs.browser import BrowserEnv
        from harness.envs.chromium import find_chromium
        from harness.envs.config import BrowserConfig
        from harness.envs.session import BrowserSession

        self._tasks = {task.task_id: task for task in MiniwobBenchmark().tasks()}
        self._env = BrowserEnv(
            BrowserSession(BrowserConfig(executable_path=browser), find_chromium(browser)), MiniwobBenchmark().open
        )

    def play(self, scripts: Sequence[Script], warm_up: Sequence[Script]) -> Round:
        timer = _Timer()
        for script in scripts:
            spec = EpisodeSpec(task=self._tasks[script.task_id], seed=script.seed, order_index=0)
            timer.begin()
            self._env.reset(spec)
            timer.lap(timer.resets)
            for text in script.actions:
                result = self._env.step(parse_action(text))
                timer.lap(timer.steps)
            self._env.end_episode()
            _check("BrowserEnv", script, result.reward, result.terminated)
        return timer.round()

    def close(self) -> None:
        self._env.close()


class HarnessContender:
    """`harness run` without its terminal output: plan, workers, policy in the worker, scoring, recording to disk.

    Each pass is a run of its own with fresh workers: the warm-up scripts first, then the timed ones, from the record of the last
    of the former to the record of the last of the latter. The rest, starting and stopping, is reported apart.
    """

    def __init__(self, browser: str, workers: int = 1) -> None:
        self._browser, self._workers = browser, workers
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # where workers find scripted:ScriptedPolicy

    def play(self, scripts: Sequence[Script], warm_up: Sequence[Script]) -> Round:
        from harness.cli.launch import launch
        from harness.cli.prepare import Request, prepare

        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            options = self._options([*warm_up, *scripts], first_seed=warm_up[0].seed)
            prepared = prepare(Request(None, options, "", str(self._workers), Path(folder) / "run"))
            finished = _Finished()
            with (
                prepared.open_store() as store,
                launch(prepared, store, finished, retry_errors=False, reset=False) as runner,
            ):
                runner.run()
        whole = time.perf_counter() - began
        episodes = {(e.spec.task.task_id, e.spec.seed): e for e in finished.episodes}
        for script in scripts:
            steps = episodes[script.task_id, script.seed].trajectory.steps
            _check("harness run", script, steps[-1].reward, steps[-1].terminated)
        seconds = finished.at[-1] - finished.at[len(warm_up) - 1]
        timed = [step.timing for script in scripts for step in episodes[script.task_id, script.seed].trajectory.steps]
        return Round(
            seconds,
            steps=tuple(t.execute + t.settle + t.check + t.observe for t in timed),
            start_and_stop=whole - (finished.at[-1] - finished.at[0]),
        )

    def _options(self, scripts: Sequence[Script], first_seed: int) -> dict[str, dict[str, Any]]:
        by_key = {script_key(script.task_id, script.seed): list(script.actions) for script in scripts}
        return {
            "run": {"tasks": tuple({script.task_id: None for script in scripts}), "repeats": 2, "base_seed": first_seed},
            "browser": {"executable_path": self._browser},
            "policy": {"name": "scripted:ScriptedPolicy", "options": {"scripts": by_key}},
        }

    def close(self) -> None: ...


class _Finished:
    """The runner's display: which episodes were recorded, and when."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []
        self.at: list[float] = []

    def update(self, state: RunState) -> None: ...

    def finished(self, episode: Episode, state: RunState) -> None:
        self.episodes.append(episode)
        self.at.append(time.perf_counter())


def full_chromium() -> str:
    """The browser with its own headless mode, not the smaller headless shell; empty if none is installed."""
    return next((path for name in FULL_CHROMIUM if (path := shutil.which(name))), "")


CONTENDERS: dict[str, Callable[[str], Contender]] = {
    "stock": StockContender,
    "stock, slow_mo=0": partial(StockContender, slow_mo=0),
    "stock, full chromium": lambda _browser: StockContender(full_chromium()),
    "bare Playwright": BareContender,
    "BrowserEnv": OursContender,
    "harness, 1 worker": HarnessContender,
    "harness, 2 workers": partial(HarnessContender, workers=2),
}
