"""The llm policy against a real model server. Runs where HARNESS_TEST_LLM_URL names one:

python3 scripts/serve_smollm2.py -- .venv/bin/python -m pytest -m slow tests/policies/test_llm_real_server.py
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.completions import CompletionError, Completions, EndpointConfig
from harness.policies import LanguageModelPolicy, LlmConfig
from harness.types import Episode
from tests.policies.observations import TASK, page

URL = os.environ.get("HARNESS_TEST_LLM_URL", "")
MODEL = os.environ.get("HARNESS_TEST_LLM_MODEL", "smollm2-135m-instruct")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not URL, reason="HARNESS_TEST_LLM_URL names no server"),
    pytest.mark.timeout(900),
]


def endpoint(**fields: object) -> EndpointConfig:
    given = {"base_url": URL, "model": MODEL, "max_tokens": 24, "timeout_seconds": 300, **fields}
    return EndpointConfig.model_validate(given)


def test_the_server_says_what_it_serves() -> None:
    with Completions(endpoint()) as completions:
        assert MODEL in completions.models()


def test_a_real_reply_is_repeatable_and_counted() -> None:
    with Completions(endpoint(prompt_usd_per_million=1.0, completion_usd_per_million=1.0)) as completions:
        replies = [completions.complete([{"role": "user", "content": "Say hello."}]) for _ in range(2)]
    first = replies[0]
    assert first.text
    assert first.text == replies[1].text, "temperature 0"
    assert first.usage.prompt_tokens > 5
    assert 0 < first.usage.completion_tokens <= 24
    assert first.usage.cost_usd == pytest.approx((first.usage.prompt_tokens + first.usage.completion_tokens) / 1e6)


def test_a_field_that_the_server_does_not_know_is_a_clear_error() -> None:
    with Completions(endpoint(token_ids=True)) as completions, pytest.raises(CompletionError) as caught:
        completions.complete([{"role": "user", "content": "Say hello."}])
    assert caught.value.kind == "http_4xx"
    assert "return_token_ids" in str(caught.value)
    assert "token_ids" in caught.value.fix


def test_the_policy_acts_or_says_why_not() -> None:
    policy = LanguageModelPolicy(LlmConfig(endpoint=endpoint(), keep_prompts=True))
    policy.reset("Click the button.", TASK, 1)
    output = policy.act(page("[13] button 'Click Me!'"))
    policy.close()
    assert output.text
    assert output.usage.prompt_tokens > 300
    assert output.action.raw or output.action.error


@pytest.mark.browser
def test_harness_run_stores_tokens_cost_and_raw_replies(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'name = "llm"\n[llm]\nhistory = "none"\nmax_tree_tokens = 800\n[llm.endpoint]\nbase_url = "{URL}"\nmodel = "{MODEL}"\n'
        "max_tokens = 24\ntimeout_seconds = 300\nprompt_usd_per_million = 0.1\ncompletion_usd_per_million = 0.2\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "harness.cli.main", "run", "--bench", "miniwob", "--tasks", "click-test"]
    command += ["--policy", str(policy), "--max-steps", "2", "--workers", "1", "--run-dir", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (stored,) = (tmp_path / "run").rglob("episode.json.gz")
    episode = Episode.model_validate_json(gzip.decompress(stored.read_bytes()))
    assert episode.trajectory.steps
    for step in episode.trajectory.steps:
        assert step.output.text
        assert step.output.usage.prompt_tokens > 300
        assert step.output.usage.cost_usd
    assert episode.usage.cost_usd
    assert episode.verdict.status in ("success", "failure")
