"""The dashboard in a real Chromium: every page, clicks that lead somewhere, downloads, themes, and hostile data that stays text.

One server for the module, on a free port, on a directory that holds all kinds of results side by side. Nothing here waits for
a fixed time: each expectation is retried by the browser until it holds.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboards.app import BROKEN
from dashboards.server import HEALTH
from harness.envs.session import BrowserSession
from results.reader import RunReader
from results.store import RunStore
from results.text import one_line
from tests.dashboards import places
from tests.dashboards.replays import replay_run
from tests.results.factory import episode, step

pytestmark = pytest.mark.browser

PATIENCE = 60_000
"""Milliseconds: of a busy machine, not of the dashboard."""

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("results")
    places.hostile_run(directory / places.NAME)
    places.good_files(directory / "hostile", places.ALL_AT_ONCE)
    places.damaged_runs(directory)
    places.damaged_files(directory / "damaged-files")
    places.good_run(directory / "good")
    places.good_run(directory / "other", "other")
    places.good_run(directory / "growing", "growing", played=5)
    places.good_files(directory)  # after the hostile ones: the newest is shown unless another is chosen
    replay_run(directory / "replays")
    rows = places.audit_rows(1, "nano", evidence="../replays/episodes/t0__A__r0__a0")
    places.write_rows(directory / "audit", rows)
    return directory


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "harness.cli.main", "dashboard", "--runs", str(root), "--port", "0", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        address = next(line.split()[-1] for line in process.stdout if line.startswith("dashboard: "))
        while process.poll() is None:
            try:
                if httpx.get(address + HEALTH).is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        assert process.poll() is None, "the server ended"
        yield address
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture
def browse(server: str, browser_session: BrowserSession) -> Iterator[Open]:
    """Opens a path and waits until it is drawn. Afterwards nothing may have gone wrong, whatever was clicked."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_page(path: str, **options: Any) -> Page:
        context = browser_session.context({"viewport": {"width": 1280, "height": 1000}, **options})
        context.set_default_timeout(PATIENCE)
        context.set_default_navigation_timeout(PATIENCE)
        contexts.append(context)
        page: Page = context.new_page()
        page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: None if _ours(request.url, server) else wrong.append(f"request {request.url}"))
        page.on("pageerror", lambda error: wrong.append(f"script error {error}"))
        page.goto(server + path)
        drawn(page)
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.pwned") is None
            assert page.locator(".katex").count() == 0, "data was read as TeX"
            leading = page.evaluate("[...document.querySelectorAll('a[href], img[src]')].map(e => e.href || e.src)")
            assert [url for url in leading if not _ours(url, server)] == []
            sane(page)
        context.close()
    assert wrong == []


def _ours(url: str, server: str) -> bool:
    return url.startswith((server, "data:", "blob:"))


def drawn(page: Page) -> None:
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    expect(page.locator("h2, h1").first).to_be_visible(timeout=PATIENCE)


def sane(page: Page) -> None:
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text(BROKEN)).to_have_count(0)


def says(page: Page, text: str) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)


def click_line(page: Page, key: str, line: int) -> None:
    """Click in a line of a grid (from 0), which Streamlit draws on a canvas: lines are 35 pixels high, below a header."""
    grid = page.locator(f".st-key-table-{key} .dvn-scroller").first
    grid.scroll_into_view_if_needed()
    grid.click(position={"x": 60, "y": 35 * (line + 1) + 17})


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_a_filter_is_clicked_and_stands_in_the_url(browse: Open) -> None:
    page = browse("/episodes?run=good")
    says(page, "12 of 12 episodes shown")
    page.get_by_label("Site").click()
    page.get_by_role("option", name="shop").click()
    says(page, "6 of 12 episodes shown; 100.0% of them succeed")
    expect(page).to_have_url(re.compile("[?&]site=shop"), timeout=PATIENCE)
    page.reload()
    says(page, "6 of 12 episodes shown")


def test_an_episode_is_opened_walked_through_and_left_with_the_back_button(browse: Open) -> None:
    page = browse("/episodes?run=good&state=failure")
    says(page, "3 of 12 episodes shown")
    click_line(page, "episodes", 1)
    expect(page).to_have_url(re.compile("[?&]episode=t5__A__r0__a0"), timeout=PATIENCE)
    says(page, "goal of t5")
    page.get_by_role("button", name="Step on").click()
    says(page, "Error (hidden)")
    assert query(page)["step"] == ["1"]
    page.get_by_role("tab", name="Tree").click()
    says(page, "1 new (+), 1 changed (~), 0 moved (>), 1 gone (-)")
    page.get_by_role("button", name="Next").click()
    says(page, "goal of t9")
    assert query(page)["state"] == ["failure"]
    page.go_back()
    says(page, "goal of t5")


def test_the_latest_failure_is_a_link_to_its_episode(browse: Open) -> None:
    page = browse("/?run=good")
    says(page, "Click a line to open the episode")
    click_line(page, "latest", 0)
    says(page, "goal of t11")
    expect(page).to_have_url(re.compile("[?&]run=good"), timeout=PATIENCE)


def test_a_table_is_downloaded(browse: Open) -> None:
    page = browse("/benchmarks?run=good")
    with page.expect_download() as waiting:
        page.locator(".st-key-exports-sites").get_by_role("button", name="CSV").click()
    path = waiting.value.path()
    assert path is not None
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "table,row,column,value"
    assert "sites,1,of planned,0.0" in lines or "sites,1,of planned,1.0" in lines
    assert waiting.value.suggested_filename.endswith(".csv")


def test_the_theme_is_switched(browse: Open) -> None:
    page = browse("/?run=good", color_scheme="light")
    says(page, "Success by site")
    colour = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.locator('[data-testid="stMainMenu"] button').click()
    page.get_by_test_id("stMainMenuItem-theme-Dark").click()
    page.wait_for_function(f"() => {colour} !== 'rgb(255, 255, 255)'")
    says(page, "Success by site")


def test_three_clicks_from_the_overview_to_the_success_rate_of_a_site(browse: Open) -> None:
    page = browse("/?run=good")
    page.get_by_role("link", name="Benchmarks").click()
    says(page, "Success 50.0% of 12 planned episodes (95% interval")
    says(page, "Results by site")


def test_three_clicks_from_the_overview_to_the_step_where_a_dream_went_wrong(browse: Open) -> None:
    page = browse("/?run=good")
    page.get_by_role("link", name="Audit").click()
    says(page, "Controls passed")
    expect(page.get_by_test_id("stMetric").first).to_contain_text("SSRF")
    page.get_by_role("tab", name="Blame and replays").click()
    says(page, "Click a line to see dream and reality")
    click_line(page, "ledger", 0)
    says(page, "Page 2: dream and reality part here.")
    says(page, "alert 'Thank you for your order'")
    says(page, "alert 'Sold out'")
    says(page, "Reality says: failure")


def test_a_growing_run_is_drawn_anew_by_itself(browse: Open, root: Path) -> None:
    page = browse("/?run=growing")
    says(page, "5 of 12")
    reader = RunReader.open(root / "growing")
    spec = reader.plan()[5]
    with RunStore.resume(root / "growing", reader.manifest) as store:
        store.record(episode(spec, "success", steps=[step(0)], run_id="growing"), {})
    says(page, "6 of 12")


def test_a_comparison_of_two_runs_is_a_link(browse: Open) -> None:
    page = browse("/benchmarks?run=good&vs=other&tab=Compare")
    says(page, "Paired comparison")
    page.get_by_role("link", name="Episodes").click()
    says(page, "12 of 12 episodes shown")
    expect(page).to_have_url(re.compile("[?&]run=good"), timeout=PATIENCE)
    assert query(page)["vs"] == ["other"]


@pytest.mark.parametrize("path", ["/world-model?fidelity=fidelity", "/ablations?grid=ablation", "/training?training=training"])
def test_the_other_pages_are_drawn(browse: Open, path: str) -> None:
    page = browse(path)
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("run", ["half", "damaged", "no-plan", "no-manifest"])
def test_damaged_runs_raise_nothing(browse: Open, run: str) -> None:
    page = browse(f"/?run={run}")
    says(page, "Runs, newest first")


def test_hostile_data_is_shown_literally_and_does_nothing(browse: Open) -> None:
    name = quote(one_line(places.NAME), safe="")
    page = browse(f"/?run={name}")
    says(page, "Latest episodes without success")
    page = browse(f"/episodes?run={name}&episode={first_hostile()}&part=Step+by+step&view=Reply")
    says(page, "<script>window.pwned=1</script>")
    page.get_by_role("tab", name="Verdict").click()
    says(page, "by <script>window.pwned=1</script>")
    for path in ("/world-model?fidelity=hostile/fidelity", "/audit?audit=hostile/audit", "/ablations?grid=hostile/ablation",
                 "/training?training=hostile/training"):  # fmt: skip
        drawn(browse(path))


def first_hostile() -> str:
    return "-script-window.pwned-1--script--0__A__r0__a0"
