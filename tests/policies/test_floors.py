"""noop, random and replay."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.actions import make_action
from harness.errors import UsageError
from harness.policies import NoopPolicy, PolicyConfig, RandomPolicy, ReplayConfig, ReplayPolicy, make_policy
from harness.policies.page import read_page
from harness.policies.random import legal_actions
from harness.types import (
    INVALID_ACTION,
    Action,
    Episode,
    EpisodeSpec,
    PolicyOutput,
    Start,
    Step,
    TargetDescriptor,
    Trajectory,
    Verdict,
)
from tests.policies.observations import TASK, page

FORM = page(
    "[1] heading 'Buy'",
    "[2] textbox 'Name'",
    "[3] textbox 'Coupon', disabled=True",
    "[4] combobox 'Size'",
    "\t[5] option 'S', selected=True",
    "\t[6] option 'L', selected=False",
    "StaticText 'no bid'",
    "[7] button 'Go'",
)


def test_noop_waits() -> None:
    policy = NoopPolicy()
    policy.reset("", TASK, 0)
    assert policy.act(FORM).action.name == "noop"


def test_legal_actions_are_those_of_interactive_elements() -> None:
    actions = legal_actions(read_page(FORM.axtree), ["ann"])
    touched = {(action.name, action.arguments["bid"]) for action in actions}
    assert touched == {
        ("fill", "2"), ("click", "2"), ("select_option", "4"), ("click", "4"), ("click", "5"), ("click", "6"), ("click", "7"),
    }  # fmt: skip


def test_random_is_uniform_and_repeatable() -> None:
    def play(seed: int, steps: int) -> list[Action]:
        policy = RandomPolicy()
        policy.reset("ann", TASK, seed)
        return [policy.act(FORM).action for _ in range(steps)]

    assert play(7, 20) == play(7, 20)
    assert play(7, 20) != play(8, 20)
    chosen = play(1, 4000)
    legal = legal_actions(read_page(FORM.axtree), ["ann"])
    counts = [chosen.count(action) for action in legal]
    expected = len(chosen) / len(legal)
    # chi-square with 7 degrees of freedom: 24.3 is the 0.1 % point
    assert len(legal) == 8
    assert sum((count - expected) ** 2 / expected for count in counts) < 24.3


@given(st.text(max_size=200))
def test_random_survives_any_tree(tree: str) -> None:
    policy = RandomPolicy()
    policy.reset("goal", TASK, 0)
    assert policy.act(FORM.model_copy(update={"axtree": tree})).action.name != INVALID_ACTION


def episode(actions: list[Action]) -> Episode:
    steps = tuple(Step(index=i, observation=FORM, output=PolicyOutput(action=a)) for i, a in enumerate(actions))
    trajectory = Trajectory(task=TASK, source="real", start=Start(task_id="1"), goal="", seed=0, steps=steps, stop_reason="stop")
    return Episode(
        run_id="r",
        spec=EpisodeSpec(task=TASK, seed=0, order_index=0),
        trajectory=trajectory,
        verdict=Verdict(status="success", reward=1.0, scorer="s", scorer_version="1"),
        started_at="2026-01-01T00:00:00Z",
        wall_seconds=1.0,
    )


def store(path: Path, body: bytes) -> str:
    path.write_bytes(gzip.compress(body))
    return str(path)


def test_replay_gives_back_a_stored_episode(tmp_path: Path) -> None:
    recorded = [
        make_action("click", {"bid": "7"}).model_copy(update={"target": TargetDescriptor(role="button", name="Go")}),
        Action(name=INVALID_ACTION, raw="hm", error="parse: nothing"),
        make_action("fill", {"bid": "2", "value": "ann"}),
    ]
    path = store(tmp_path / "episode.json.gz", episode(recorded).model_dump_json().encode())
    policy = make_policy(PolicyConfig(name="replay", replay=ReplayConfig(episode=path)))
    for _ in range(2):
        policy.reset("", TASK, 0)
        assert [policy.act(FORM).action for _ in recorded] == recorded
    assert policy.act(FORM).action == make_action("send_msg_to_user", {"text": ""})


def test_replay_of_a_list_may_wait_at_its_end() -> None:
    policy = ReplayPolicy(ReplayConfig(actions=('click("7")',), at_end="noop"))
    policy.reset("", TASK, 0)
    assert [policy.act(FORM).action.name for _ in range(3)] == ["click", "noop", "noop"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"not gzip", "not a gzip file"),
        (gzip.compress(b"{}")[:-6], "not a gzip file, or cut off"),
        (gzip.compress(b"\xff\xfe"), "not an episode"),
        (gzip.compress(b'{"schema_version": 1}'), "not an episode"),
        (gzip.compress(b"[" * 100_000), "not an episode"),
    ],
)
def test_a_broken_episode_is_one_line(tmp_path: Path, body: bytes, says: str) -> None:
    path = tmp_path / "episode.json.gz"
    path.write_bytes(body)
    with pytest.raises(UsageError) as caught:
        ReplayPolicy(ReplayConfig(episode=str(path)))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_episode() -> None:
    with pytest.raises(UsageError, match="No such file"):
        ReplayPolicy(ReplayConfig(episode="nowhere/episode.json.gz"))


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.policies.replay.MAX_EPISODE_BYTES", 1000)
    with pytest.raises(UsageError, match="larger than"):
        ReplayPolicy(ReplayConfig(episode=store(tmp_path / "episode.json.gz", b" " * 10_000)))


def test_an_unreadable_listed_action_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="action 2"):
        ReplayPolicy(ReplayConfig(actions=('click("1")', "click here")))
