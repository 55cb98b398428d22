"""The key reaches the server and nothing else: no message, log line, repr, traceback or result."""

from __future__ import annotations

import logging
import traceback

import pytest
from pydantic import ValidationError

from harness.completions import CompletionError, Completions, EndpointConfig
from harness.errors import NotReadyError, error_info
from tests.support.openai_server import OpenAIServer, Reply, chat, error

KEY = "sk-not-a-real-key-0123456789"
ASK = [{"role": "user", "content": "hello"}]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_LLM_KEY", KEY)


def config(server: OpenAIServer) -> EndpointConfig:
    return EndpointConfig(base_url=server.base_url, model="m", api_key_env="TEST_LLM_KEY", max_retries=1)


def test_the_server_gets_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with OpenAIServer([chat("hi")]) as server:
        with Completions(config(server)) as completions:
            completions.complete(ASK)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "httpcore" in caplog.text, "the transport's own debug log was on"
    assert KEY not in caplog.text


def test_a_wrong_key_names_the_variable() -> None:
    with OpenAIServer([error(401, f"Incorrect API key provided: {KEY}")]) as server:
        with Completions(config(server)) as completions, pytest.raises(CompletionError) as caught:
            completions.complete(ASK)
        assert len(server.requests) == 1
    assert caught.value.kind == "unauthorized"
    assert "TEST_LLM_KEY" in str(caught.value)
    assert "***" in str(caught.value), "the server's echo is shown without the key"


@pytest.mark.parametrize(
    "reply",
    [
        error(400, f"bad {KEY}"),
        error(500, f"bad {KEY}"),
        Reply(status=404, body=KEY.encode()),
        Reply(body=f"garbage {KEY}".encode()),
        Reply(status=302, headers={"Location": f"http://127.0.0.1:1/{KEY}"}),
        Reply(body={"choices": []}, cut_after=3),
        chat(f"your key is {KEY}"),
    ],
)
def test_an_echo_of_the_key_goes_nowhere(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)  # at DEBUG httpcore logs the server's headers as they come
    told = ""
    with (
        OpenAIServer([reply], repeat_last=True) as server,
        Completions(config(server), sleep=lambda _: None) as completions,
    ):
        told += repr(completions) + str(completions.__dict__)
        try:
            told += completions.complete(ASK).model_dump_json()
        except CompletionError as failed:
            told += repr(failed) + error_info(failed).model_dump_json()
            told += "".join(traceback.format_exception(failed))
    assert told
    assert KEY not in told
    assert KEY not in caplog.text


def test_a_missing_key_says_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_LLM_KEY")
    with pytest.raises(NotReadyError, match="TEST_LLM_KEY is not set") as caught:
        Completions(EndpointConfig(model="m", api_key_env="TEST_LLM_KEY"))
    assert "TEST_LLM_KEY" in caught.value.fix


@pytest.mark.parametrize("value", ["key\nwith newline", "schlüssel"])
def test_an_unsendable_key_is_named_not_shown(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TEST_LLM_KEY", value)
    with pytest.raises(NotReadyError, match="TEST_LLM_KEY") as caught:
        Completions(EndpointConfig(model="m", api_key_env="TEST_LLM_KEY"))
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "field",
    [
        {"base_url": "http://user:hunter2@host/v1"},
        {"base_url": "http://host/v1?key=hunter2"},
        {"base_url": "http://host/v1#hunter2"},
        {"base_url": "ftp://hunter2/v1"},
        {"base_url": "http://[hunter2/v1"},
        {"base_url": "http://host:hunter2/v1"},
        {"base_url": ""},
        {"api_key_env": "sk-hunter2"},
    ],
)
def test_secrets_in_the_config_are_refused_without_being_shown(field: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as caught:
        EndpointConfig.model_validate({"model": "m", **field})
    assert "hunter2" not in str(caught.value)
