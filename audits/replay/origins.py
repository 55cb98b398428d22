"""The recorded run's addresses → the replay's: the same sites may be up on other ports.

Origins are paired by the tabs of the two start pages, in order. In all that a dream says the old ones are replaced by the new.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from audits.grounding.ladder import origin_of
from harness.types import Action, JsonDict, Observation


def origin_map(dreamed_start: Observation, real_start: Observation) -> dict[str, str]:
    """Recorded origin → real one, of web addresses that differ; file pages have none."""
    pairs = zip(_urls(dreamed_start), _urls(real_start), strict=False)
    found: dict[str, str] = {}
    for old, new in pairs:
        before, after = origin_of(old), origin_of(new)
        if before.startswith("http") and after.startswith("http") and before != after:
            found.setdefault(before, after)
    return found


def translate(text: str, origins: Mapping[str, str]) -> str:
    """`text` with every recorded address replaced, with or without its scheme."""
    for old, new in origins.items():
        text = text.replace(old, new).replace(old.partition("://")[2], new.partition("://")[2])
    return text


def translated(observation: Observation, origins: Mapping[str, str]) -> Observation:
    if not origins:
        return observation
    return observation.model_copy(
        update={
            "url": translate(observation.url, origins),
            "title": translate(observation.title, origins),
            "axtree": translate(observation.axtree, origins),
        }
    )


def translated_action(action: Action, origins: Mapping[str, str]) -> Action:
    """The action with addresses in its arguments replaced; what it points at is a matter of grounding."""
    if not origins:
        return action
    arguments: JsonDict = {key: _walk(value, origins) for key, value in action.arguments.items()}
    return action.model_copy(update={"arguments": arguments})


def _walk(value: JsonValue, origins: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return translate(value, origins)
    return [_walk(item, origins) for item in value] if isinstance(value, list) else value


def _urls(observation: Observation) -> list[str]:
    return [page.url for page in observation.open_pages] or [observation.url]
