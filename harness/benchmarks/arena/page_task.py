"""One episode of the arena on a live page.

setup   sites of the task set back → fence → signed in, proven → start pages, proven → goal
check   a request for a page elsewhere ends the episode
score   the database first (evaluators open pages), then WebArena's evaluators
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.benchmarks.arena.data import render
from harness.benchmarks.arena.logins import is_sign_in, sign_in
from harness.benchmarks.arena.loopback import Fence
from harness.benchmarks.arena.scoring import evaluate_official, official_types, verdict
from harness.benchmarks.arena.state import Database, evaluate_state
from harness.errors import SiteError, boundary
from harness.protocols import TaskSignal
from harness.scoring.webarena import Answer
from harness.sites.catalog import SITES
from harness.sites.definition import Account, AppName
from harness.sites.health import problem
from harness.sites.instances import reset, reset_epochs
from harness.sites.records import InstanceSet
from harness.types import EpisodeSpec, Trajectory, Verdict, json_value

VIEWPORT = {"width": 1280, "height": 720}
HTTP_ERROR = 400


class ArenaPage:
    """`PageTask` of the arena."""

    ends_on_answer = True

    def __init__(self, spec: EpisodeSpec, row: Mapping[str, Any], sites: InstanceSet) -> None:
        # Sites that ask are told to leave out animations: a tab that is fading in is neither here nor there.
        self.context_options: dict[str, Any] = {"viewport": dict(VIEWPORT), "reduced_motion": "reduce"}
        self._spec = spec
        self._row = row
        self._sites = sites
        self._apps: tuple[AppName, ...] = tuple(dict.fromkeys(SITES[site].app for site in row["sites"]))
        self._fence: Fence

    # ------------------------------------------------------------------ PageTask

    def setup(self, page: Any) -> str:
        with boundary("site"):
            self._epochs = reset(self._sites, self._row["sites"])
        self._fence = Fence(page.context, [app.url for app in self._sites.apps.values()])
        for app, account in self._accounts().items():
            sign_in(page, app, self._sites.apps[app].url, account)
        with boundary("site"):
            self._open_start_pages(page)
        return str(self._row["intent"])

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        if self._fence.escapes:
            return TaskSignal(terminated=True, metadata={"left_the_sites": json_value(self._fence.escapes)})
        return TaskSignal()

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        self._require_own_state()
        row, final_url = self._row, str(page.url)
        databases: dict[str, Database] = {app: self._database(app) for app in self._apps}
        state = evaluate_state(row["eval"].get("state") or {}, databases, {site: SITES[site].app for site in row["sites"]})
        official = None
        if official_types(row):
            answer = Answer(trajectory.answer, infeasible=trajectory.stop_reason == "infeasible")
            official = evaluate_official(row, page, answer, self._sites.urls)
        return verdict(
            row,
            official,
            state,
            escapes=self._fence.escapes,
            evidence={
                "final_url": final_url,
                "reset_epochs": json_value(self._epochs),
                "left_the_sites": json_value(self._fence.escapes),
                "blocked_hosts": json_value(self._fence.blocked),
            },
        )

    def teardown(self) -> None: ...

    # ------------------------------------------------------------------ inside

    def _require_own_state(self) -> None:
        """Another process that set the sites back in mid-episode took the agent's work and its login with it."""
        now = reset_epochs(self._sites)
        if any(now.get(app) != epoch for app, epoch in self._epochs.items()):
            raise SiteError(
                f"instance set {self._sites.index} was set back by somebody else during the episode",
                kind="foreign_reset",
                fix="one run per state directory: harness sites up --state DIR, and [arena] state_dir",
            )

    def _database(self, app: AppName) -> Database:
        running = self._sites.apps[app]
        if why := problem(running.app, running.port):
            raise SiteError(f"the {app} went down during the episode: {why}", kind="unreachable", fix="harness sites status")
        return Database(app, running.database, running.golden_database, (running.data, running.golden))

    def _accounts(self) -> dict[AppName, Account]:
        """One person per application: cookies are per host. Of two sites of one application the last named decides."""
        return {SITES[site].app: SITES[site].account for site in self._row["login"]}

    def _open_start_pages(self, page: Any) -> None:
        """The last tab opened is the active one, so the first site comes last."""
        urls = render(self._row["start_url"], self._sites.urls).split(" |AND| ")
        for number, url in enumerate(reversed(urls)):
            tab = page if number == 0 else page.context.new_page()
            answer = tab.goto(url, wait_until="domcontentloaded")
            if answer is not None and answer.status >= HTTP_ERROR:
                raise SiteError(f"the start page {url} answers {answer.status}", kind=f"http_{answer.status}")
            for site in self._row["login"]:
                if is_sign_in(SITES[site].app, tab.url):
                    raise SiteError(f"{site} shows its sign-in page at step 0", kind="not_signed_in")
