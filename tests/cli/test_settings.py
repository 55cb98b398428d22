"""TOML files as settings: what is read, what lies on top, and the one line that says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field, field_validator

from harness.errors import UsageError
from harness.settings import overlaid, read_toml, validated
from harness.types import Record


class Example(Record):
    number: int = Field(default=1, ge=1)
    key: str = ""

    @field_validator("key")
    @classmethod
    def _short(cls, key: str) -> str:
        if len(key) > 3:
            raise ValueError("too long")
        return key


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot read the grid {path}: No such file"), (b"a =", "{path} is not TOML"), (b"a = '\xff'", "{path} is not TOML")],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "x.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_toml(path, what="the grid", fix="look elsewhere")
    assert str(raised.value).startswith(message.format(path=path)) and raised.value.fix == "look elsewhere"


def test_changes_lie_on_top_and_none_is_no_change() -> None:
    data = {"name": "x", "train": {"epochs": 1, "rate": 2}}
    assert overlaid(data, {"train": {"epochs": 3, "rate": None}, "rows": {"n": 1}, "checks": {"every": None}}) == {
        "name": "x",
        "train": {"epochs": 3, "rate": 2},
        "rows": {"n": 1},
    }
    assert data == {"name": "x", "train": {"epochs": 1, "rate": 2}}
    assert overlaid(data, None) == data


def test_the_first_mistake_is_named_and_no_value_shown() -> None:
    assert validated(Example, {"number": 2}, source="x.toml", fix="") == Example(number=2)
    with pytest.raises(UsageError, match=r"^x\.toml: number: Input should be greater than or equal to 1$"):
        validated(Example, {"number": 0, "key": "secret"}, source="x.toml", fix="")
    with pytest.raises(UsageError, match=r"^x\.toml: key: too long$"):
        validated(Example, {"key": "secret"}, source="x.toml", fix="")
