"""Odd and hostile bodies: never a crash, never a silent half-truth."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.completions import Completion, CompletionError, EndpointConfig
from harness.completions.replies import parse_completion
from harness.completions.retries import parse_retry_after

CONFIG = EndpointConfig(model="m")
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def parse(body: Any) -> Completion:
    text = body if isinstance(body, str) else json.dumps(body)
    return parse_completion(text, CONFIG, requests=1, seconds=0.0)


def with_choice(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "x"}, **choice}]}


def test_a_message_comes_before_a_text_beside_it() -> None:
    """Some chat servers add an empty `text`."""
    assert parse(with_choice(text=None)).text == "x"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "[]",
        "null",
        '{"choices": [',
        "[" * 100_000,
        {},
        {"choices": []},
        {"choices": None},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": "hi"}]},
        {"choices": [{"message": {"content": 7}}]},
        with_choice(token_ids="12"),
        with_choice(token_ids=[1, "2"]),
        with_choice(token_ids=[-1]),
        with_choice(token_ids=[True]),
        with_choice(logprobs={"content": 7}),
        with_choice(logprobs={"token_logprobs": 7}),
        with_choice(logprobs={"token_logprobs": [None]}),
        {"choices": [{"text": 7}]},
        with_choice(logprobs={"content": [{"token": "a"}]}),
        '{"choices": [{"message": {"content": "x"}, "logprobs": {"content": [{"logprob": NaN}]}}]}',
    ],
)
def test_garbled_is_a_bad_reply(body: Any) -> None:
    with pytest.raises(CompletionError) as caught:
        parse(body)
    assert caught.value.kind == "bad_reply"
    assert not caught.value.retryable
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, 3, {"text": "b"}]}, "ab", ""),
        ({"content": "act", "reasoning_content": "because"}, "act", "because"),
        ({"content": "act", "reasoning": "newer vLLM"}, "act", "newer vLLM"),
    ],
)
def test_shapes_of_content(message: dict[str, Any], text: str, reasoning: str) -> None:
    reply = parse({"choices": [{"message": message}]})
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_a_lone_surrogate_can_be_stored() -> None:
    reply = parse('{"choices": [{"message": {"content": "a\\ud800b"}}]}')
    assert reply.text == "a?b"
    assert reply.model_dump_json()


@pytest.mark.parametrize("usage", [None, 7, {}, {"prompt_tokens": "9"}, {"prompt_tokens": -1, "completion_tokens": True}])
def test_unusable_usage_is_no_usage(usage: Any) -> None:
    reply = parse(with_choice() | {"usage": usage})
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cost_usd) == (0, 0, None)


def test_token_ids_stand_in_for_missing_usage() -> None:
    reply = parse(with_choice(token_ids=[1, 2]) | {"prompt_token_ids": [1, 2, 3]})
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (3, 2)


def test_more_cached_than_sent_never_makes_a_negative_cost() -> None:
    priced = EndpointConfig(model="m", prompt_usd_per_million=1, cached_usd_per_million=0, completion_usd_per_million=1)
    body = with_choice() | {"usage": {"prompt_tokens": 5, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 50}}}
    usage = parse_completion(json.dumps(body), priced, requests=1, seconds=0.0).usage
    assert (usage.cached_tokens, usage.cost_usd) == (5, 0.0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "logprobs", "token_ids", "text", "logprob"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_a_completion_or_a_bad_reply(body: Any) -> None:
    try:
        reply = parse(body)
    except CompletionError as error:
        assert error.kind == "bad_reply"
    else:
        assert Completion.model_validate_json(reply.model_dump_json()) == reply


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("5", 5.0),
        (" 0.5 ", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 12:01:00 GMT", 60.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
    ],
)
def test_retry_after(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds
