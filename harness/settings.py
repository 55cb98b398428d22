"""Settings from TOML files: read, laid over each other, checked; what is wrong is one `UsageError` in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.errors import UsageError

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, *, fix: str, what: str = "") -> dict[str, Any]:
    """A file's tables. Raises UsageError. `what`: what the file is, for the message that it cannot be read (`the grid`)."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {f'{what} ' if what else ''}{path}: {error.strerror}", fix=fix) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}", fix=fix) from None


def overlaid(data: Mapping[str, Any], changes: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    """`data` with `changes` (section → field → value; None is no change) on top."""
    merged = dict(data)
    for section, fields in (changes or {}).items():
        kept = {name: value for name, value in fields.items() if value is not None}
        if kept:
            merged[section] = {**merged.get(section, {}), **kept}
    return merged


def validated(model: type[Model], data: Any, *, source: str, fix: str) -> Model:
    """`data` as `model`. Raises UsageError with the first mistake: field and complaint, never the value, it may be a secret."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{source}: {f'{where}: ' if where else ''}{message}", fix=fix) from None
