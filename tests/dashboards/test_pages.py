"""Every page on every kind of directory: drawn without an exception, saying what is missing or broken, in plain text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboards import loading, server
from dashboards.app import BROKEN
from results.text import one_line
from tests.dashboards import places

Show = Callable[..., AppTest]
SHOWN = one_line(places.NAME)
"""How the hostile run's name is shown, and stands in the URL."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds side by side."""
    directory = tmp_path_factory.mktemp("results")
    places.good_run(directory / "good")
    places.good_run(directory / "other", "other")
    places.good_files(directory)
    places.damaged_runs(directory)
    places.damaged_files(directory / "damaged-files")
    places.hostile_run(directory / places.NAME)
    places.good_files(directory / "hostile", places.ALL_AT_ONCE)
    return directory


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Iterator[Show]:
    """Draw one page of the app on a directory, with these query parameters."""

    def draw(directory: Path, page: str, **query: str) -> AppTest:
        monkeypatch.setattr(sys, "argv", ["streamlit_app.py", str(directory)])
        app = AppTest.from_file(str(server.script()), default_timeout=120)
        # AppTest.switch_page knows pages that are files; ours are functions, known by their URL.
        app._page_hash = calc_hash("" if page == "overview" else page)
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    yield draw
    loading._discoveries = loading.Latest(2)


def texts(app: AppTest) -> str:
    kinds = (app.text, app.code, app.caption, app.info, app.warning, app.error, app.success, app.markdown, app.metric, app.header)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def check(app: AppTest) -> str:
    assert not app.exception
    found = texts(app)
    assert BROKEN not in found
    return found


@pytest.mark.parametrize("page", places.PAGES)
def test_an_empty_directory_is_explained_with_the_command_that_fills_it(show: Show, tmp_path: Path, page: str) -> None:
    found = check(show(tmp_path, page))
    assert "harness " in found


def test_a_directory_that_does_not_exist_is_an_empty_one(show: Show, tmp_path: Path) -> None:
    assert "harness " in check(show(tmp_path / "nowhere", "overview"))


def test_the_overview_states_rate_interval_and_denominator(show: Show, root: Path) -> None:
    found = show(root, "overview", run="good")
    check(found)
    rate, episodes, _, _ = found.metric
    assert rate.value == "50.0%"
    assert rate.delta.endswith("n = 12")
    assert episodes.value == "12 of 12"
    assert episodes.delta == "3 unscored, 0 to go"


def test_the_overview_names_what_keeps_two_runs_from_being_compared(show: Show, root: Path) -> None:
    assert "agree in benchmark" in check(show(root, "overview", run="good", vs="other"))


@pytest.mark.parametrize("tab", ["Results", "Tables", "Errors", "Compare", "Published"])
def test_benchmarks(show: Show, root: Path, tab: str) -> None:
    found = check(show(root, "benchmarks", run="good", vs="other", tab=tab))
    assert {"Results": "50.0% of 12 planned", "Compare": "12 pairs scored in both" if False else "pairs scored in both"}.get(
        tab, ""
    ) in found


def test_episodes_are_filtered_by_the_url_and_the_rate_is_of_the_selection(show: Show, root: Path) -> None:
    found = check(show(root, "episodes", run="good", site="shop"))
    assert "6 of 12 episodes shown; 100.0% of them succeed" in found


def test_a_filter_that_leaves_nothing_says_so(show: Show, root: Path) -> None:
    assert "No episode fits these filters" in check(show(root, "episodes", run="good", q="no such task"))


@pytest.mark.parametrize("view", ["Screenshot", "Tree", "What it did", "Reply", "Verdict"])
def test_an_episode_step_by_step(show: Show, root: Path, view: str) -> None:
    found = check(show(root, "episodes", run="good", episode="t0__A__r0__a0", step="1", view=view))
    assert "goal of t0" in found
    assert "the link is hidden" in found
    if view == "Tree":
        assert "1 new (+), 1 changed (~), 0 moved (>), 1 gone (-)" in found
        assert "+   [4] alert 'Bought'" in found
        assert "-   [2] link 'Old'" in found


def test_an_episode_that_does_not_exist_is_named(show: Show, root: Path) -> None:
    found = check(show(root, "episodes", run="good", episode="../../etc/passwd"))
    assert "cannot be shown" in found


@pytest.mark.parametrize("tab", ["Figures", "By part", "Horizon", "Calibration", "Worst predictions"])
def test_world_model(show: Show, root: Path, tab: str) -> None:
    found = check(show(root, "world-model", fidelity="fidelity", tab=tab))
    assert "delta F1 0.500" in found


def test_a_prediction_is_shown_beside_what_happened(show: Show, root: Path) -> None:
    found = check(show(root, "world-model", fidelity="fidelity", tab="Worst predictions"))
    assert "+   [4] alert 'nano'" in found
    assert "+   [4] alert 'Bought'" in found


@pytest.mark.parametrize("tab", ["Rates", "Divergence", "Blame and replays", "Calibration", "More"])
def test_audit(show: Show, root: Path, tab: str) -> None:
    found = show(root, "audit", audit="audit", tab=tab)
    assert "Controls passed" in check(found)
    assert found.metric[0].label == "SSRF"


def test_an_audit_without_controls_withholds_its_rates(show: Show, tmp_path: Path) -> None:
    places.audit(tmp_path / "audit", "nano")
    path = tmp_path / "audit" / "audit.json"
    text = path.read_text().replace('"status":"VALID"', '"status":"INVALID"')
    path.write_text(text)
    found = show(tmp_path, "audit")
    assert "INVALID" in check(found)
    assert [tab.label for tab in found.tabs] == ["Blame and replays"]
    assert found.metric[3].value == "–"


def test_ablations_show_what_was_not_run_and_keep_the_paper_apart(show: Show, root: Path) -> None:
    found = check(show(root, "ablations", grid="ablation"))
    assert "1 of 4 cells" in found
    assert "What the paper reports" in found


def test_training_curves(show: Show, root: Path) -> None:
    found = check(show(root, "training", training="training"))
    assert "loss" in found


BROKEN_RUNS = [("overview", run) for run in ("half", "damaged", "no-plan", "newer", "no-manifest")]


@pytest.mark.parametrize(
    ("page", "run"), [*BROKEN_RUNS, ("benchmarks", "damaged"), ("episodes", "half"), ("episodes", "no-plan")]
)
def test_a_damaged_run_is_named_and_breaks_nothing(show: Show, root: Path, page: str, run: str) -> None:
    found = check(show(root, page, run=run))
    said = {"no-plan": "truncated", "newer": "newer schema 99", "no-manifest": "no run in"}
    assert said.get(run, "") in found


def test_unreadable_episodes_are_counted_and_are_no_failures(show: Show, root: Path) -> None:
    app = show(root, "overview", run="damaged")
    assert "2 episode files cannot be read" in check(app)
    assert app.metric[1].value == "10 of 12"


def test_a_damaged_episode_and_a_damaged_picture_are_named(show: Show, root: Path) -> None:
    names = sorted(path.name for path in (root / "damaged" / "episodes").iterdir())
    assert "damaged" in check(show(root, "episodes", run="damaged", episode=names[0]))
    assert "not a readable PNG" in check(show(root, "episodes", run="damaged", episode=names[2]))


@pytest.mark.parametrize(
    ("page", "key"), [("world-model", "fidelity"), ("audit", "audit"), ("ablations", "grid"), ("training", "training")]
)
def test_a_damaged_file_is_named(show: Show, root: Path, page: str, key: str) -> None:
    found = check(show(root, page, **{key: "damaged-files/cut"}))
    assert "cannot be read" in found or page == "training"


@pytest.mark.parametrize("page", places.PAGES)
def test_hostile_text_is_text(show: Show, root: Path, page: str) -> None:
    query = {"world-model": {"fidelity": "hostile/fidelity"}, "audit": {"audit": "hostile/audit"},
             "ablations": {"grid": "hostile/ablation"}, "training": {"training": "hostile/training"}}  # fmt: skip
    app = show(root, page, **query.get(page, {"run": SHOWN}))
    check(app)
    trusted = (app.markdown, app.caption, app.info, app.warning, app.error, app.success, app.header, app.subheader, app.metric)
    said = [str(element.value) for kind in trusted for element in kind]
    said += [str(widget.label) for kind in (app.button, app.selectbox, app.multiselect, app.toggle) for widget in kind]
    said += [tab.label for tab in app.tabs]
    for text in said:
        assert "evil.test" not in text
        assert "pwned" not in text
        assert "frac" not in text


@pytest.mark.parametrize("part", ["Dream and reality", "Step by step"])
def test_hostile_episodes(show: Show, root: Path, part: str) -> None:
    episodes = sorted(path.name for path in (root / places.NAME / "episodes").iterdir())
    for number, view in enumerate(["Screenshot", "Tree", "Reply", "Verdict"]):
        check(show(root, "episodes", run=SHOWN, episode=episodes[number], part=part, view=view))
        if part == "Dream and reality":
            break
