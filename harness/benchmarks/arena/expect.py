"""What must be true at the end of a task, as WebArena's `eval` object with one more entry, `state`.

expect(answer("12.50"), rows("shop", "SELECT …", [7], [[1]]), changes("shop", "order_order +1"))
→ {"eval_types": ["string_match", "state"], "reference_answers": {"must_include": ["12.50"]}, …,
   "state": {"checks": [{"site": "shop", "sql": …, "parameters": [7], "rows": [[1]]}],
             "changes": {"shop": ["order_order +1"]}}}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.types import JsonDict

NOT_ACHIEVABLE = "N/A"
"""WebArena's answer to an unachievable task; BrowserGym's `report_infeasible` counts as it."""


class Part(NamedTuple):
    """One condition. `entry` is merged into the `eval` object under `key`: lists are joined."""

    eval_type: str
    key: str
    entry: Any


def answer(*includes: str) -> Part:
    """The answer includes each text, case aside. Beware of numbers: `12` is included in `112`; use `exact_answer`."""
    return Part("string_match", "reference_answers", {"must_include": list(includes)})


def exact_answer(text: str) -> Part:
    """The whole answer is this text, case and outer quotes aside."""
    return Part("string_match", "reference_answers", {"exact_match": text})


def impossible() -> Part:
    """The task cannot be done, and the agent says so."""
    return exact_answer(NOT_ACHIEVABLE)


def at_url(*urls: str) -> Part:
    """The active tab ends at one of these: host and path contain it, its query parameters are among the page's."""
    return Part("url_match", "reference_url", " |OR| ".join(urls))


def on_page(url: str, locator: str, *includes: str) -> Part:
    """The page at `url` (`last`: where the agent ended) shows each text.

    `locator` is JavaScript that begins with `document.` or `[...document.`; empty: the whole page source.
    """
    target = {"url": url, "locator": locator, "required_contents": {"must_include": list(includes)}}
    return Part("program_html", "program_html", [target])


def rows(site: str, sql: str, parameters: Sequence[Any], expected: Sequence[Sequence[Any]]) -> Part:
    """A SELECT with `?` parameters on the site's database gives exactly these rows, in this order. At least one per task
    should be true only if the task was done: doing nothing must not satisfy all of them."""
    check = {"site": site, "sql": " ".join(sql.split()), "parameters": list(parameters), "rows": [list(r) for r in expected]}
    return Part("state", "checks", [check])


def changes(site: str, *allowed: str) -> Part:
    """Tables of the site's database that may change: `ticket +1` (one row added), `ticket ~1 -0`, `order_*` (any change).

    A table named with counts must change by exactly these (what is not given is 0); a bare name or glob allows anything.
    """
    return Part("state", "changes", {site: list(allowed)})


def expect(*parts: Part) -> JsonDict:
    """All of these conditions, as WebArena's `eval` object. Raises ValueError if a part is given twice in conflict."""
    types: list[str] = []
    found: dict[str, Any] = {"reference_answers": None, "reference_url": "", "program_html": []}
    state: dict[str, Any] = {"checks": [], "changes": {}}
    for part in parts:
        if part.eval_type not in types:
            types.append(part.eval_type)
        if part.key == "checks":
            state["checks"] += part.entry
        elif part.key == "changes":
            for site, allowed in part.entry.items():
                state["changes"].setdefault(site, []).extend(allowed)
        elif part.key == "program_html":
            found["program_html"] += part.entry
        elif found[part.key]:
            raise ValueError(f"two parts say {part.key}")
        else:
            found[part.key] = part.entry
    return {"eval_types": types, **found, **({"state": state} if "state" in types else {})}
