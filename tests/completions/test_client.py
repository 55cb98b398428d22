"""The client against a real HTTP server that follows a script."""

from __future__ import annotations

import pickle
import socket

import pytest

from harness.completions import CompletionError, Completions, EndpointConfig
from harness.errors import error_info
from tests.support.openai_server import OpenAIServer, Reply, chat, error

ASK = [{"role": "user", "content": "hello"}]


def client(server: OpenAIServer, **fields: object) -> Completions:
    """A client that retries at once; pauses it would have made are in `.pauses`."""
    pauses: list[float] = []
    made = Completions(
        EndpointConfig(base_url=server.base_url, model="small", **fields),  # type: ignore[arg-type]
        sleep=pauses.append,
    )
    made.pauses = pauses  # type: ignore[attr-defined]
    return made


def failure(server: OpenAIServer, **fields: object) -> CompletionError:
    with client(server, **fields) as completions, pytest.raises(CompletionError) as caught:
        completions.complete(ASK)
    assert "\n" not in str(caught.value)
    assert caught.value.boundary == "policy"
    return caught.value


def test_a_plain_reply_and_the_request_that_asked_for_it() -> None:
    with OpenAIServer([chat("hi", model="small-2026")]) as server:
        with client(server, temperature=0.5, extra_body={"top_p": 0.9}) as completions:
            reply = completions.complete(ASK, max_tokens=7, seed=3, response_format={"type": "json_object"})
        (request,) = server.requests
    assert (reply.text, reply.finish_reason, reply.model) == ("hi", "stop", "small-2026")
    assert (reply.usage.requests, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 100, 10)
    assert reply.usage.cost_usd is None
    assert reply.token_ids is reply.prompt_token_ids is reply.logprobs is None
    assert request.path == "/v1/chat/completions"
    assert "authorization" not in request.headers
    assert request.json == {
        "model": "small",
        "messages": ASK,
        "max_tokens": 7,
        "temperature": 0.5,
        "seed": 3,
        "response_format": {"type": "json_object"},
        "top_p": 0.9,
    }


def test_vllm_fields_are_asked_for_and_kept() -> None:
    reply = chat("ab", token_ids=[5, 6], logprobs={"content": [{"logprob": -0.5}, {"logprob": -1}]})
    reply.body["prompt_token_ids"] = [1, 2, 3]
    reply.body["usage"] = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2}}
    with OpenAIServer([reply]) as server:
        with client(server, logprobs=True, token_ids=True) as completions:
            got = completions.complete(ASK)
        assert server.requests[0].json["logprobs"] is True
        assert server.requests[0].json["return_token_ids"] is True
    assert (got.token_ids, got.prompt_token_ids, got.logprobs) == ((5, 6), (1, 2, 3), (-0.5, -1.0))
    assert (got.usage.prompt_tokens, got.usage.cached_tokens, got.usage.completion_tokens) == (3, 2, 2)


def test_token_ids_are_continued_as_they_are() -> None:
    reply = Reply(
        body={
            "choices": [{"text": "ab", "finish_reason": "length", "token_ids": [5, 6], "logprobs": {"token_logprobs": [-1, 0]}}]
        }
    )
    with OpenAIServer([Reply(status=503), reply]) as server:
        with client(server, logprobs=True, token_ids=True) as completions:
            got = completions.continue_ids([1, 2, 3], max_tokens=4, temperature=1.0, seed=9)
        request = server.requests[1]
    assert (request.path, request.json) == (
        "/v1/completions",
        {
            "model": "small",
            "prompt": [1, 2, 3],
            "max_tokens": 4,
            "temperature": 1.0,
            "seed": 9,
            "logprobs": 1,
            "return_token_ids": True,
        },
    )
    assert (got.text, got.token_ids, got.logprobs, got.finish_reason, got.usage.requests) == (
        "ab",
        (5, 6),
        (-1.0, 0.0),
        "length",
        2,
    )


def test_control_speaks_to_the_root_once() -> None:
    with OpenAIServer([Reply(body={}), Reply(status=503)]) as server:
        with client(server) as completions:
            completions.control("/collective_rpc", {"method": "reload_weights"})
            with pytest.raises(CompletionError):
                completions.control("/reset_prefix_cache", {})
        assert [(one.method, one.path) for one in server.requests] == [
            ("POST", "/collective_rpc"),
            ("POST", "/reset_prefix_cache"),
        ]


def test_prices_make_a_cost_and_cached_tokens_are_cheaper() -> None:
    reply = chat("x")
    reply.body["usage"]["prompt_tokens_details"] = {"cached_tokens": 40}
    prices = {"prompt_usd_per_million": 2.0, "cached_usd_per_million": 0.5, "completion_usd_per_million": 8.0}
    with OpenAIServer([reply, chat("y", usage=False)]) as server, client(server, **prices) as completions:
        assert completions.complete(ASK).usage.cost_usd == pytest.approx((60 * 2 + 40 * 0.5 + 10 * 8) / 1e6)
        assert completions.complete(ASK).usage.cost_usd is None, "no usage reported: the cost is unknown, not zero"


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_passing_troubles_are_retried(status: int) -> None:
    with OpenAIServer([error(status, "busy"), error(status, "busy"), chat("done")]) as server:
        with client(server) as completions:
            reply = completions.complete(ASK)
            pauses = completions.pauses  # type: ignore[attr-defined]
        assert len(server.requests) == 3
    assert reply.text == "done"
    assert reply.usage.requests == 3
    assert len(pauses) == 2
    assert all(0 <= pause <= bound for pause, bound in zip(pauses, (1.0, 2.0), strict=True)), "doubling bound, jitter"


def test_retry_after_is_honoured() -> None:
    with (
        OpenAIServer([error(429, "slow down", Retry_After="7"), error(503, "x", Retry_After="3"), chat("ok")]) as server,
        client(server) as completions,
    ):
        completions.complete(ASK)
        assert completions.pauses == [7.0, 3.0]  # type: ignore[attr-defined]


def test_a_pause_longer_than_allowed_is_not_waited_for() -> None:
    with OpenAIServer([error(429, "come back tomorrow", Retry_After="86400")]) as server:
        caught = failure(server, max_retry_wait_seconds=60)
        assert len(server.requests) == 1
    assert (caught.kind, caught.retry_after) == ("rate_limited", 86400.0)


def test_retries_end() -> None:
    with OpenAIServer([error(500, "broken")], repeat_last=True) as server:
        caught = failure(server, max_retries=2)
        assert len(server.requests) == 3
    assert (caught.kind, caught.status) == ("http_5xx", 500)
    assert "broken" in str(caught)


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (error(400, "bad field"), "http_4xx", "bad field"),
        (error(404, "model small does not exist"), "model_not_found", "'small'"),
        (error(400, "This model's maximum context length is 8"), "context_length", "too long"),
        (error(422, "unprocessable"), "http_4xx", "422"),
        (Reply(status=400, body=b"<html>\n\nno json \xff</html>"), "http_4xx", "no json"),
        (Reply(status=418, body=b""), "http_4xx", "418"),
    ],
)
def test_other_4xx_are_final(reply: Reply, kind: str, says: str) -> None:
    with OpenAIServer([reply]) as server:
        caught = failure(server)
        assert len(server.requests) == 1
    assert caught.kind == kind
    assert says in str(caught)


def test_a_hanging_server_is_a_timeout() -> None:
    with OpenAIServer([Reply(hold=True)]) as server:
        caught = failure(server, timeout_seconds=0.2, max_retries=0)
    assert caught.kind == "timeout"


def test_a_dripping_server_is_a_timeout_too() -> None:
    with OpenAIServer([Reply(body=b" " * 10_000, drip=True)]) as server:
        caught = failure(server, timeout_seconds=0.3, max_retries=0)
    assert caught.kind == "timeout", "every byte resets httpx's own timeout"


def test_a_lost_connection_is_retried() -> None:
    whole = chat("complete")
    cut = Reply(body=whole.body, cut_after=20)
    with OpenAIServer([cut, whole]) as server, client(server) as completions:
        assert completions.complete(ASK).text == "complete"
        assert completions.pauses  # type: ignore[attr-defined]


def test_a_huge_reply_is_refused() -> None:
    with OpenAIServer([Reply(body=b'{"a": "' + b"x" * 300_000 + b'"}')]) as server:
        caught = failure(server, max_response_bytes=100_000)
        assert len(server.requests) == 1
    assert caught.kind == "bad_reply"
    assert "100000 bytes" in str(caught)


def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        config = EndpointConfig(base_url=url, model="m", max_retries=1)
        pauses: list[float] = []
        with Completions(config, sleep=pauses.append) as completions, pytest.raises(CompletionError) as caught:
            completions.complete(ASK)
    assert caught.value.kind == "unreachable"
    assert url in str(caught.value)
    assert caught.value.fix
    assert len(pauses) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with OpenAIServer([chat("stolen")]) as other, OpenAIServer() as server:
        server.add(Reply(status=status, headers={"Location": other.base_url + "/chat/completions"}))
        caught = failure(server)
        assert other.requests == []
    assert caught.kind == "http_3xx"


def test_models_lists_what_is_served() -> None:
    with OpenAIServer([Reply(body={"data": [{"id": "a"}, {"id": "b"}, {"x": 1}, 7]})]) as server:
        with client(server) as completions:
            assert completions.models() == ("a", "b")
        assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")


def test_an_error_survives_the_way_from_a_worker_and_into_a_result() -> None:
    original = CompletionError("gone", kind="timeout", fix="wait", retry_after=2.0)
    copy = pickle.loads(pickle.dumps(original))
    assert (str(copy), copy.kind, copy.fix, copy.retry_after) == ("gone", "timeout", "wait", 2.0)
    info = error_info(copy)
    assert (info.boundary, info.kind, info.message) == ("policy", "timeout", "gone")
