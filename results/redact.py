"""Secrets never reach a stored run: what counts as a secret, and how it is taken out of records and texts.

    secret values ← environment variables that the config names (`api_key_env = "MY_VAR"`)
                  ← environment variables called *_PASSWORD, *_TOKEN, *_KEY, *_SECRET, *_COOKIE
                  ← config values under keys of such names
                  ← values handed in by the caller (cookies of a login)
    secret shapes ← `Authorization: …`, `Bearer …`, `sk-…`, `Cookie: a=b`, `https://user:password@host`

Limits, on purpose. Values under 4 characters and placeholders ("EMPTY", "true") are left alone, values under 8 match
whole words only: taking "1" out of every page would destroy the data. Pixels are not read: a page that shows a password
in clear shows it on its screenshot.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar, cast, get_origin
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from harness.types import Episode, JsonDict

REDACTED = "<redacted>"

MIN_LENGTH = 4
SUBSTRING_LENGTH = 8

_SECRET_NAME = re.compile(r"(?i)(?:^|[_.-])(?:password|passwd|token|key|secret|cookies?|authorization|credentials?)$")
_ENV_REFERENCE = re.compile(r"(?i)(?:password|passwd|token|key|secret|cookies?|credentials?)_env$")
_PLACEHOLDERS = frozenset({"empty", "none", "null", "true", "false", "dummy", "unset", "changeme"})

_SHAPES = (
    ("authorization: ", re.compile(r"(?i)(authorization: )(?:basic|bearer|token) \S+")),
    ("bearer ", re.compile(r"(?i)(bearer )[A-Za-z0-9._~+/=-]{16,}")),
    ("sk-", re.compile(r"(\b)sk-[A-Za-z0-9_-]{16,}")),
    ("cookie: ", re.compile(r"(?i)(cookie: )[\w.-]+=[^;\s\"']+(?:;\s*[\w.-]+(?:=[^;\s\"']*)?)*")),
    ("://", re.compile(r"(://)[^/\s:@?#\"']{1,64}:[^/\s@?#\"']{1,128}(?=@)")),
)
"""(what must occur in the lower-cased text for the pattern to be tried at all, pattern); group 1 stays."""

_IDENTITY = frozenset({"run_id", "task_id", "benchmark", "window", "schema_version"})
"""Fields that episodes are joined by: changing one would lose the episode."""

R = TypeVar("R", bound=BaseModel)


class Redactor:
    """Takes a fixed set of secret values out of strings, JSON data and records. Unchanged input comes back as is."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        kept = {s for s in secrets if len(s) >= MIN_LENGTH and s.lower() not in _PLACEHOLDERS}
        spellings = sorted({form for s in kept for form in _spellings(s)}, key=lambda s: (-len(s), s))
        self._literals = tuple(spellings)
        self._in_json = tuple({json.dumps(s, ensure_ascii=False)[1:-1] for s in spellings})
        self._pattern = re.compile("|".join(map(_literal_pattern, spellings))) if spellings else None

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], environ: Mapping[str, str] | None = None, secrets: Iterable[str] = ()
    ) -> Redactor:
        """A redactor for a run with this config in this environment (`os.environ` unless given)."""
        env = os.environ if environ is None else environ
        values = [*secrets, *(value for name, value in env.items() if _SECRET_NAME.search(name))]
        for key, value in _strings(config):
            if _ENV_REFERENCE.search(key):
                values.append(env.get(value, ""))
            elif _SECRET_NAME.search(key):
                values.append(value)
        return cls(values)

    def suspects(self, text: str) -> bool:
        """Whether serialised JSON text may hold a secret: the fast path for the common episode that holds none."""
        lowered = text.lower()
        return any(s in text for s in self._in_json) or any(
            trigger in lowered and shape.search(text) for trigger, shape in _SHAPES
        )

    def text(self, text: str) -> str:
        """`text` without secrets."""
        if self._pattern is not None and any(s in text for s in self._literals):
            text = self._pattern.sub(REDACTED, text)
        lowered = text.lower()
        for trigger, shape in _SHAPES:
            if trigger in lowered:
                text = shape.sub(rf"\g<1>{REDACTED}", text)
        return text

    def config(self, config: Mapping[str, Any]) -> JsonDict:
        """JSON data without secrets: values under secret names are replaced whatever they are."""
        return cast(JsonDict, self._config("", config))

    def record(self, record: R) -> R:
        """A record of the same type without secrets in any of its strings; the same object if there are none."""
        return cast(R, self._walk(record))

    def episode(self, episode: Episode) -> Episode:
        """`record`, and where a secret was in the trajectory its token ids go too: they would spell it."""
        clean = self.record(episode)
        if clean.trajectory is episode.trajectory:
            return clean
        steps = tuple(
            step.model_copy(update={"output": step.output.model_copy(update=_NO_TOKENS)}) for step in clean.trajectory.steps
        )
        notes = clean.notes
        if any(step.output.token_ids or step.output.prompt_token_ids for step in clean.trajectory.steps):
            notes = (*notes, "token ids were dropped: the trajectory held a secret, and they would spell it")
        trajectory = clean.trajectory.model_copy(update={"steps": steps})
        return clean.model_copy(update={"trajectory": trajectory, "notes": notes})

    def _config(self, key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(k): self._config(str(k), v) for k, v in value.items()}
        if value and _SECRET_NAME.search(key) and not isinstance(value, bool | int | float):
            return REDACTED
        if isinstance(value, list | tuple):
            return [self._config("", item) for item in value]
        return self.text(value) if isinstance(value, str) else value

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, BaseModel):
            changed = {}
            for name, field in type(value).model_fields.items():
                if name in _IDENTITY or get_origin(field.annotation) is Literal:
                    continue
                old = getattr(value, name)
                new = self._walk(old)
                if new is not old:
                    changed[name] = new
            return value.model_copy(update=changed) if changed else value
        if isinstance(value, dict):
            pairs = [(self._walk(k), self._walk(v)) for k, v in value.items()]
            same = all(k is k0 and v is v0 for (k, v), (k0, v0) in zip(pairs, value.items(), strict=True))
            return value if same else dict(pairs)
        if isinstance(value, list | tuple):
            items = [self._walk(item) for item in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return type(value)(items)
        return value


_NO_TOKENS: dict[str, None] = {"prompt_token_ids": None, "token_ids": None, "logprobs": None}


def _spellings(secret: str) -> set[str]:
    """The ways in which a page, a URL or an error message may write a secret."""
    return {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        html.escape(secret),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
    }


def _literal_pattern(secret: str) -> str:
    escaped = re.escape(secret)
    return escaped if len(secret) >= SUBSTRING_LENGTH else rf"(?<!\w){escaped}(?!\w)"


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string in JSON data with the name of the nearest key above it; names are inherited by lists."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            inherited = key if _SECRET_NAME.search(key) else str(name)
            yield from _strings(item, inherited)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item, key)
    elif isinstance(value, str):
        yield key, value
