"""What goes wrong with a world model behind a server. The same weights behind a real one: test_served."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import NotReadyError, UsageError
from harness.protocols import WorldModel
from tests.support.openai_server import OpenAIServer, Reply, chat, error
from tests.training.model.support import checkpoint, query, stop
from training.world_model.model import load
from training.world_model.model.http import ServedWorldModel, read_served


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


@contextmanager
def served(directory: Path, *replies: Reply) -> Iterator[tuple[WorldModel, OpenAIServer]]:
    with OpenAIServer(replies, repeat_last=True) as server:
        file = directory.parent / "served.toml"
        file.write_text(
            f'checkpoint = "tiny"\n[server]\nbase_url = "{server.base_url}"\nmodel = "tiny"\nlogprobs = true\nmax_retries = 0\n',
            encoding="utf-8",
        )
        model = load(f"http:{file}")
        yield model, server
        model.close()


def logprobs(*values: float) -> dict[str, list[dict[str, float]]]:
    return {"content": [{"logprob": value} for value in values]}


def test_a_reply_becomes_the_prediction_that_the_format_reads(directory: Path) -> None:
    with served(directory, chat("because nothing\nsame", logprobs=logprobs(-0.5, -0.25))) as (model, server):
        first, second = (row[0] for row in model.predict([query(seed=1), query(seed=2)]))
        assert first.delta == second.delta == "same"
        assert first.next_observation is not None
        assert first.token_logprobs == (-0.5, -0.25)
        assert first.usage.completion_tokens == 10
        sent = server.requests[0].json
        assert sent["temperature"] == 0.0
        assert sent["max_tokens"] == 24
        assert "do click" in sent["messages"][0]["content"]


def test_samples_are_asked_with_seeds_of_their_own(directory: Path) -> None:
    with served(directory, chat("same")) as (model, server):
        assert len(model.predict([query(seed=5)], samples=3)[0]) == 3
        sent = [request.json for request in server.requests]
        assert len({body["seed"] for body in sent}) == 3
        assert all(body["temperature"] == 1.0 for body in sent)


@pytest.mark.parametrize(
    "reply",
    [chat("\x00<|end|> add add add"), chat(""), chat(None), chat("same", finish_reason="length"), Reply(body=b"<html>")],
)
def test_garbage_is_malformed_and_counted(directory: Path, reply: Reply) -> None:
    with served(directory, reply) as (model, _):
        said = model.predict([query()])[0][0]
        assert said.malformed


def test_a_server_that_is_down_is_not_an_answer(directory: Path) -> None:
    with served(directory, error(503, "loading")) as (model, _), pytest.raises(NotReadyError, match="gives no answers"):
        model.predict([query()])
    with served(directory, chat("same")):
        pass
    with pytest.raises(NotReadyError) as caught:
        load(f"http:{directory.parent / 'served.toml'}").predict([query()])
    assert caught.value.fix


def test_success_is_the_probability_of_the_first_token(directory: Path) -> None:
    for text, p in (("success", 0.8), ("failure", 0.2), ("perhaps", None)):
        with served(directory, chat(text, logprobs=logprobs(math.log(0.8)))) as (model, _):
            assert isinstance(model, ServedWorldModel)
            assert model.assess([stop()])[0] == (pytest.approx(p) if p else None)
            assert model.predict([stop()])[0][0].self_assessed_reward == (pytest.approx(p) if p else None)


def test_without_log_probabilities_no_probability_is_made_up(directory: Path) -> None:
    with served(directory, chat("success")) as (model, _):
        assert isinstance(model, ServedWorldModel)
        with pytest.raises(NotReadyError, match="returns no log-probabilities") as caught:
            model.assess([stop()])
        assert "logprobs = true" in caught.value.fix


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("checkpoint = 3", "server: Field required"),
        ('checkpoint = "tiny"', "server"),
        ("[server", "is not TOML"),
        (None, "cannot read"),
    ],
)
def test_a_wrong_file_is_one_line(text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_served(file)
