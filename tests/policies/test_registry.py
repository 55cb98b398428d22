"""A user's own policy by `module:Class`, and every way in which that can go wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.policies import PolicyConfig, make_policy
from harness.types import Action, Observation, PolicyOutput, Task
from tests.policies.observations import TASK, page


class Own:
    name = "own"

    def __init__(self, greeting: str = "hello") -> None:
        self.greeting = greeting

    def reset(self, goal: str, task: Task, seed: int) -> None: ...

    def act(self, observation: Observation) -> PolicyOutput:
        return PolicyOutput(action=Action(name="send_msg_to_user", arguments={"text": self.greeting}))

    def close(self) -> None: ...


class Nameless(Own):
    name = None  # type: ignore[assignment]


class NoPolicy:
    name = "nothing"


def test_a_users_class_gets_its_options() -> None:
    policy = make_policy(PolicyConfig(name=f"{__name__}:Own", options={"greeting": "moin"}))
    policy.reset("", TASK, 0)
    assert policy.act(page()).action.arguments == {"text": "moin"}


def test_a_module_in_the_current_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere", *__import__("sys").path])
    text = f"from {__name__} import Own as Agent\n"
    Path("agent_of_a_user.py").write_text(text, encoding="utf-8")
    assert make_policy(PolicyConfig(name="agent_of_a_user:Agent")).name == "own"


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("no_such_module:Agent", {}, "cannot import 'no_such_module'"),
        (f"{__name__}:Missing", {}, "has no class 'Missing'"),
        (f"{__name__}:TASK", {}, "has no class 'TASK'"),
        (f"{__name__}:Own", {"size": 3}, "does not take these options"),
        (f"{__name__}:NoPolicy", {}, "it lacks reset, act, close"),
        (f"{__name__}:Nameless", {}, "it lacks name"),
        (":Agent", {}, "cannot import ''"),
    ],
)
def test_what_is_no_policy(name: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_policy(PolicyConfig(name=name, options=options))  # type: ignore[arg-type]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.fix


def test_a_module_that_fails_on_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken_agent.py").write_text("raise RuntimeError('no\\nGPU')", encoding="utf-8")
    with pytest.raises(UsageError, match="RuntimeError: no"):
        make_policy(PolicyConfig(name="broken_agent:Agent"))
