"""How long the dashboard takes with 100,000 episodes, and how much memory: `python benchmarks/dashboard.py`.

A run is made as a real one lies on disk (plan, index, one directory per episode; one episode in full), the command
`harness dashboard` serves it, and a real Chromium opens pages. Printed, in seconds:

    ready           from the command to the server's first answer: imports, and the newest run read once
    first paint     from opening the address to the success rate on the page
    cold            the same after the run has changed on disk, so that it must be read again
    episodes        the list of episodes: drawn, filtered, an episode opened
    MiB             memory of the server afterwards; kB: what a page sends over its websocket
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from playwright.sync_api import Page, sync_playwright

from dashboards.server import HEALTH
from harness.envs.chromium import find_chromium
from harness.types import (
    Action,
    Episode,
    EpisodeSpec,
    EvaluatorSpec,
    Observation,
    PolicyOutput,
    Start,
    Step,
    Task,
    Trajectory,
    Verdict,
)
from results.files import gzipped
from results.index import index_line, row_of
from results.manifest import RunManifest
from results.reader import EPISODE, EPISODES, INDEX, MANIFEST, PLAN

SITES = ("shop", "shop_admin", "forum", "tracker", "wiki")
TEMPLATES = 800
REPEATS = 4
STATES = ("success", "failure", "failure", "error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100_000)
    count = parser.parse_args().episodes
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        begun = time.perf_counter()
        make_run(root / "large", count)
        print(f"a run of {count:,} episodes made in {time.perf_counter() - begun:.0f} s")
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        begun = time.perf_counter()
        with serve(root) as (address, process):
            print(f"ready           {time.perf_counter() - begun:8.2f} s")
            measure(address, process, root)


def make_run(directory: Path, count: int) -> None:
    """A run of `count` episodes as results.store leaves it, without the bytes of most episodes."""
    (directory / EPISODES).mkdir(parents=True)
    specs = [spec(number) for number in range(count)]
    (directory / PLAN).write_bytes(gzipped("".join(one.model_dump_json() + "\n" for one in specs)))
    first = episode(specs[0])
    data = gzipped(first.model_dump_json())
    row = row_of(first, len(data))
    with (directory / INDEX).open("wb") as index:
        for one in specs:
            changed = {
                "episode_id": one.episode_id, "key": one.key, "task_id": one.task.task_id, "site": one.task.site,
                "cluster": one.task.cluster, "repeat": one.repeat, "order_index": one.order_index,
                "finish_index": one.order_index, "status": STATES[one.order_index * 7 % 4],
            }  # fmt: skip
            index.write(index_line(row.model_copy(update=changed)))
            (directory / EPISODES / one.episode_id).mkdir()
    (directory / EPISODES / specs[0].episode_id / EPISODE).write_bytes(data)
    manifest = RunManifest(
        run_id="large", created_at="2026-01-01T00:00:00+00:00", benchmark="arena", task_set_hash="0" * 64,
        tasks=count // REPEATS, planned=count, repeats=REPEATS, policy="made up",
    )  # fmt: skip
    (directory / MANIFEST).write_text(manifest.model_dump_json(indent=1))


def spec(number: int) -> EpisodeSpec:
    task = number // REPEATS
    site = SITES[task % len(SITES)]
    return EpisodeSpec(
        task=Task(
            benchmark="arena", task_id=f"{site}-task-{task}", sites=(site,), intent_template_id=f"{site}-{task % TEMPLATES}",
            goal="Look up the price of the Haldermere Urban Mister in the shop, then order two of them.",
            evaluator=EvaluatorSpec(kind="string_match", spec={"reference_answers": {"must_include": ["28 May 2022"]}}),
        ),
        repeat=number % REPEATS, seed=number, order_index=number,
    )  # fmt: skip


def episode(one: EpisodeSpec) -> Episode:
    tree = "RootWebArea 'Shop', focused\n" + "\n".join(f"\t[{n}] link 'Product {n}'" for n in range(300))
    step = Step(
        index=0, observation=Observation(url="http://shop.test/", title="Shop", axtree=tree),
        output=PolicyOutput(action=Action(name="click", arguments={"bid": "7"}, raw='click("7")'), text="I click."),
    )  # fmt: skip
    return Episode(
        run_id="large", spec=one, started_at="2026-01-01T00:00:00+00:00", wall_seconds=3.0,
        trajectory=Trajectory(task=one.task, source="real", start=Start(task_id=one.task.task_id), goal=one.task.goal,
                              seed=one.seed, steps=(step,), stop_reason="stop"),
        verdict=Verdict(status="success", reward=1.0, scorer="arena", scorer_version="1", reason="all evaluators agree"),
    )  # fmt: skip


@contextmanager
def serve(root: Path) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "harness.cli.main", "dashboard", "--runs", str(root), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(line.split()[-1] for line in process.stdout if line.startswith("dashboard: "))
            while True:
                try:
                    httpx.get(address + HEALTH).raise_for_status()
                    break
                except httpx.TransportError:
                    time.sleep(0.02)
            yield address, psutil.Process(process.pid)
        finally:
            process.kill()


def measure(address: str, process: psutil.Process, root: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium().path, args=["--no-sandbox"])
        open_page(browser, address).close()  # the browser's own first start is not the dashboard's
        for name in ("first paint",) * 5:
            timed(name, process, lambda: open_page(browser, address).close())
        os.utime(root / "large" / INDEX)
        timed("cold", process, lambda: open_page(browser, address).close())
        page = browser.new_page()
        page.set_default_timeout(120_000)
        received = watch(page)
        timed("episodes", process, lambda: show(page, f"{address}/episodes?run=large", "episodes shown"))
        print(f"                {sum(received) / 1000:8.0f} kB over the websocket")
        timed("filtered", process, lambda: choose(page, "Site", "forum"))
        one = f"{address}/episodes?run=large&episode={spec(0).episode_id}"
        timed("an episode", process, lambda: show(page, one, "Step 0 of"))
        browser.close()
    print(f"memory          {process.memory_info().rss / 2**20:8.0f} MiB")


def open_page(browser: Any, address: str) -> Page:
    page: Page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(address + "/?run=large", wait_until="commit")
    page.get_by_test_id("stMetricValue").first.wait_for()
    return page


def show(page: Page, url: str, text: str) -> None:
    page.goto(url, wait_until="commit")
    page.get_by_text(text).first.wait_for()


def choose(page: Page, label: str, option: str) -> None:
    whole = page.get_by_text("of them succeed").inner_text()
    page.get_by_label(label).click()
    page.get_by_role("option", name=option).click()
    page.get_by_text("of them succeed").filter(has_not_text=whole).wait_for()


def watch(page: Page) -> list[int]:
    sizes: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
    return sizes


def timed(name: str, process: psutil.Process, work: Callable[[], None]) -> None:
    """Wall time, and the CPU time of the server: the second depends little on what else runs."""
    before, begun = process.cpu_times(), time.perf_counter()
    work()
    seconds, after = time.perf_counter() - begun, process.cpu_times()
    print(f"{name:16}{seconds:8.2f} s   server's CPU {after.user + after.system - before.user - before.system:5.2f} s")


if __name__ == "__main__":
    main()
