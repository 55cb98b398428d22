"""Trajectories by hand, and a small web site that remembers what it was asked: for tests of replays."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from harness.actions import parse_action
from harness.rollout import with_target
from harness.types import (
    Episode,
    EpisodeSpec,
    EvaluatorSpec,
    Observation,
    PolicyOutput,
    Source,
    Start,
    Step,
    Task,
    Trajectory,
    Verdict,
)

TASK = Task(benchmark="test", task_id="page", intent_template_id="pages", evaluator=EvaluatorSpec(kind="validate"))
URL = "http://shop.localhost:1/"


def page(tree: str, url: str = URL) -> Observation:
    return Observation(url=url, axtree=tree, title="")


def trajectory(
    steps: Sequence[tuple[str | Observation, str]],
    final: str | Observation | None = None,
    *,
    task: Task = TASK,
    source: Source = "dream",
    answer: str | None = None,
) -> Trajectory:
    """Pages with the action on each; the last page is the last one again unless `final` says otherwise."""
    made = []
    for index, (seen, text) in enumerate(steps):
        observation = seen if isinstance(seen, Observation) else page(seen)
        action = with_target(parse_action(text), observation)
        made.append(Step(index=index, observation=observation, output=PolicyOutput(action=action, text=text)))
    last = made[-1].observation if final is None else final if isinstance(final, Observation) else page(final)
    return Trajectory(
        task=task,
        source=source,
        start=Start(task_id=task.task_id),
        goal="do it",
        seed=0,
        steps=tuple(made),
        final_observation=last,
        stop_reason="stop",
        answer=answer,
        producers={"policy": "test", "world_model": "hand"},
    )


def episode(made: Trajectory, verdict: Verdict | None = None, *, window: str = "A", run_id: str = "dreams") -> Episode:
    return Episode(
        run_id=run_id,
        spec=EpisodeSpec(task=made.task, window=window, seed=made.seed, order_index=0),
        trajectory=made,
        verdict=verdict or Verdict(status="success", reward=1.0, raw_reward=0.9, scorer="self", scorer_version="1"),
        started_at="2025-01-01T00:00:00+00:00",
        wall_seconds=1.0,
    )


class Asked(NamedTuple):
    url: str
    requests: list[str]
    """`METHOD /path`, in order of arrival."""


@contextmanager
def remembering(pages: dict[str, str], redirects: dict[str, str] | None = None) -> Iterator[Asked]:
    """A site that keeps every request; POST is answered with a page that says so."""
    requests: list[str] = []
    away = redirects or {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            requests.append(f"{self.command} {path}")
            self.send_response(302 if path in away else 200 if path in pages or self.command == "POST" else 404)
            if path in away:
                self.send_header("Location", away[path])
            body = pages.get(path, "<title>done</title><p>it is done").encode()
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # browsers hang up when a page is closed
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Asked(f"http://127.0.0.1:{server.server_address[1]}", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
