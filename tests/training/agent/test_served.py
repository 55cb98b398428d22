"""Rollouts from a server: the same training as in this process, fresh weights before each update, and what is refused.

No vLLM runs on this machine's CPU. What answers here speaks its protocol (token ids in and out, reload_weights from a directory)
and computes with real weights, those that it was last told to read: so a policy that was not refreshed is a stale one here too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.errors import NotReadyError, UsageError
from tests.training.agent.test_train_command import CONFIG, app, log, place, runner, train
from training.agent.policy import load_actor
from training.models.checkpoint import load_checkpoint
from training.models.generate import GenerationConfig, generate

__all__ = ["place"]


class Server(ThreadingHTTPServer):
    """Serves `weights`, and after `reload_weights` others. `fault`: what is wrong with it."""

    daemon_threads = True

    def __init__(self, weights: Path, fault: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fault = fault
        self.lock = threading.Lock()
        self.loaded: list[str] = []
        self.seen: list[dict[str, Any]] = []
        self.load(weights)

    def load(self, weights: Path) -> None:
        found = load_checkpoint(weights, device="cpu")
        self.model, self.tokenizer = found.model, found.tokenizer

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.seen.append({"path": self.path, **body})
            status, answer = getattr(self, self.path.strip("/").replace("/", "_"))(body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def collective_rpc(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.server.fault == "no dev mode":
            return 404, {"detail": "Not Found"}
        assert body["method"] == "reload_weights"
        path = body["kwargs"]["weights_path"]
        if self.server.fault != "stale":
            self.server.load(Path(path))
        self.server.loaded.append(path)
        return 200, {"results": [None]}

    def reset_prefix_cache(self, _: dict[str, Any]) -> tuple[int, Any]:
        return 200, {}

    def v1_completions(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.server.fault == "dies" and len(self.server.loaded) == 3:
            return 503, {"error": "engine dead"}
        config = GenerationConfig(max_new_tokens=body["max_tokens"], temperature=body["temperature"])
        model, tokenizer = self.server.model.eval(), self.server.tokenizer
        ((found,),) = generate(model, tokenizer, [body["prompt"]], config, seeds=[body["seed"]])
        choice = {
            "text": found.text,
            "finish_reason": found.finish_reason,
            "logprobs": {"token_logprobs": list(found.logprobs)} if body.get("logprobs") is not None else None,
        }
        if self.server.fault != "no ids":
            choice["token_ids"] = list(found.token_ids)
        return 200, {"model": body["model"], "choices": [choice], "usage": {}}

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server(place: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    running = Server(place / "agent", getattr(request, "param", ""))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def settings(place: Path, server: Server, name: str) -> str:
    section = f'[rollouts.server]\nbase_url = "{server.base_url}"\nmodel = "policy"\nmax_retries = 0\n'
    (place / name).write_text(CONFIG + section)
    return name


def weights(directory: Path) -> dict[str, torch.Tensor]:
    return dict(load_actor(directory, device="cpu").model.state_dict())


def test_a_training_with_served_rollouts_is_the_one_in_this_process(place: Path, server: Server, tmp_path: Path) -> None:
    train(place, tmp_path / "here", "--updates", "3")
    train(place, tmp_path / "served", "--updates", "3", config=settings(place, server, "served.toml"))
    here, served = log(tmp_path / "here"), log(tmp_path / "served")
    for one, other in zip(here, served, strict=True):
        assert one["reward"] == other["reward"]
        assert one["length"] == other["length"]
    before, after = weights(tmp_path / "here"), weights(tmp_path / "served")
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not all(torch.equal(before[name], tensor) for name, tensor in weights(place / "agent").items()), "it has learned"


def test_each_update_is_rolled_out_by_the_weights_before_it(place: Path, server: Server, tmp_path: Path) -> None:
    train(place, tmp_path / "out", "--updates", "3", config=settings(place, server, "served.toml"))
    paths = [asked["path"] for asked in server.seen]
    assert server.loaded == [str(tmp_path / "out" / "rollouts" / "policy")] * 3
    assert paths[:2] == ["/collective_rpc", "/reset_prefix_cache"], "before the first answer: who knows what it has served"
    first = next(asked for asked in server.seen if asked["path"] == "/v1/completions")
    assert (first["model"], first["return_token_ids"], first["logprobs"], first["temperature"]) == ("policy", True, 1, 1.0)
    assert all(isinstance(token, int) for token in first["prompt"])


@pytest.mark.parametrize("server", ["stale"], indirect=True)
def test_a_server_that_keeps_its_old_weights_is_found_out(place: Path, server: Server, tmp_path: Path) -> None:
    name = settings(place, server, "stale.toml")
    (place / name).write_text((place / name).read_text().replace("learning_rate = 1e-3", "learning_rate = 1.0"))
    with pytest.raises(UsageError, match="sampler and trainer differ by"):
        train(place, tmp_path / "out", "--updates", "6", config=name)


@pytest.mark.parametrize(
    ("server", "why"),
    [("no dev mode", "does not take new weights"), ("no ids", "does not say which tokens it drew")],
    indirect=["server"],
)
def test_a_server_that_cannot_do_it_is_one_line(place: Path, server: Server, tmp_path: Path, why: str) -> None:
    with pytest.raises(NotReadyError, match=why):
        train(place, tmp_path / "out", "--updates", "1", config=settings(place, server, "faulty.toml"))


@pytest.mark.parametrize("server", ["dies"], indirect=True)
def test_a_server_that_dies_ends_the_training_and_the_same_command_goes_on(place: Path, server: Server, tmp_path: Path) -> None:
    """Its dreams are errors, and no goal is spent on them."""
    out, name = tmp_path / "out", settings(place, server, "served.toml")
    with pytest.raises(NotReadyError, match="no dream came to an end: the rollouts' server gives no answers"):
        train(place, out, "--updates", "4", config=name)
    assert [line["step"] for line in log(out)] == [1, 2]
    server.fault = ""
    train(place, out, "--updates", "4", config=name)
    assert [line["step"] for line in log(out)] == [1, 2, 3, 4]
    train(place, tmp_path / "uncut", "--updates", "4", config=name)
    before, after = weights(out), weights(tmp_path / "uncut")
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_served_rollouts_are_for_dreams(place: Path, server: Server, tmp_path: Path) -> None:
    name = settings(place, server, "online.toml")
    with (place / name).open("a") as file:
        file.write('[evaluation]\nbenchmark = "miniwob"\ntasks = ["click-button"]\n')
    options = {"config": place / name, "policy": place / "agent", "experts": place / "expert", "out": tmp_path / "out"}
    said = runner.invoke(
        app, ["train", "agent", "--online", *[part for key, value in options.items() for part in (f"--{key}", str(value))]]
    )
    assert isinstance(said.exception, UsageError)
    assert "serves dreams" in str(said.exception)
