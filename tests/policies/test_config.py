"""A policy is plain data: it survives JSON, and a mistake in it is one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.completions import EndpointConfig
from harness.errors import UsageError
from harness.policies import LlmConfig, PolicyConfig, ReplayConfig, load_policy_config, make_policy

CONFIGS = Path(__file__).parent.parent.parent / "configs" / "policies"


@pytest.mark.parametrize(
    "config",
    [
        PolicyConfig(),
        PolicyConfig(name="random"),
        PolicyConfig(name="replay", replay=ReplayConfig(actions=('click("1")',))),
        PolicyConfig(name="llm", llm=LlmConfig(endpoint=EndpointConfig(model="m"))),
        PolicyConfig(name="tests.policies.test_registry:Own", options={"greeting": "hi"}),
    ],
    ids=lambda config: config.name,
)
def test_json_round_trip_builds_the_same_policy(config: PolicyConfig) -> None:
    copy = PolicyConfig.model_validate_json(config.model_dump_json())
    assert copy == config
    policy = make_policy(copy)
    policy.close()


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_the_shipped_examples_are_valid(path: Path) -> None:
    assert load_policy_config(str(path)).name in ("llm", "heuristic")


def test_names_and_classes_need_no_file() -> None:
    assert load_policy_config("noop").name == "noop"
    assert load_policy_config("my_agent:Agent").name == "my_agent:Agent"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("heuristics", "no policy 'heuristics'"),
        ("llm", "needs [llm]"),
        ("replay", "needs [replay]"),
        ("missing.toml", "cannot read missing.toml"),
    ],
)
def test_bad_policy_argument(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_policy_config(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("name = ", "is not TOML"),
        ("nam = 'noop'", "nam"),
        ("name = 'noop'\n[llm.endpoint]\nmodel = 'm'", "has no [llm]"),
        ("name = 'noop'\n[options]\na = 1", "class of your own"),
        ("name = 'llm'\n[llm]\nhistory = 'all'\n[llm.endpoint]\nmodel = 'm'", "llm.history"),
        ("name = 'llm'\n[llm.endpoint]\nmodel = 'm'\nbase_url = 'http://me:hunter2@host'", "user or password"),
        ("name = 'replay'\n[replay]\nepisode = 'a'\nactions = ['noop()']", "either"),
    ],
)
def test_bad_file(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_policy_config(str(path))
    assert says in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is not TOML"):
        load_policy_config(str(path))
