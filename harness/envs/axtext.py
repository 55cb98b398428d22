"""Chrome's accessibility tree → BrowserGym's text form (`flatten_axtree_to_str`), without its recursion and its
quadratic string building: a hostile page nests 50,000 nodes. Equal output is a conformance test, not a hope.

Roles left out besides BrowserGym's `LineBreak`: `InlineTextBox`, which newer Chromium adds under every text and which
repeats it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

IGNORED_ROLES = frozenset({"LineBreak", "InlineTextBox"})
# `url`: newer Chromium adds it to every link and to the root; the trees of all published data have none.
IGNORED_PROPERTIES = frozenset({"editable", "readonly", "level", "settable", "multiline", "invalid", "focusable", "url"})
_FLAG_PROPERTIES = frozenset({"required", "focused", "atomic"})


class AxText(NamedTuple):
    text: str
    lines: int


def axtree_text(nodes: list[dict[str, Any]], clickable: frozenset[str] = frozenset()) -> AxText:
    """One line per node, a tab per level: `[bid] role 'name' value='…', property=…`.

    `nodes` are CDP AXNodes with `browsergym_id` set where known, the root first. Bids in `clickable` get BrowserGym's mark of
    that name, and a line even where the node is generic.
    """
    if not nodes:
        return AxText("", 0)
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[str] = []
    stack: list[tuple[dict[str, Any], int, str]] = [(nodes[0], 0, "")]
    visited: set[str] = set()
    while stack:
        node, depth, parent_name = stack.pop()
        if node["nodeId"] in visited:  # Chrome's ids form a tree; a frame listed twice must not loop
            continue
        visited.add(node["nodeId"])
        name, line = _line(node, parent_name, clickable)
        if line is not None:
            lines.append("\t" * depth + line)
            depth += 1
        for child_id in reversed(node.get("childIds", ())):
            child = by_id.get(child_id)
            if child is not None:
                stack.append((child, depth, name))
    return AxText("\n".join(lines), len(lines))


def _line(node: dict[str, Any], parent_name: str, clickable: frozenset[str]) -> tuple[str, str | None]:
    """(name that hides repeated text below, the printed line or None if the node is skipped)."""
    role = node.get("role", {}).get("value", "none")
    if role in IGNORED_ROLES or "name" not in node:
        return "", None
    name = node["name"].get("value", "")
    bid = node.get("browsergym_id", "")
    attributes = [*(("clickable",) if bid in clickable else ()), *_attributes(node)]
    if role == "generic" and not attributes:
        return name, None
    if role == "StaticText" and name in parent_name:
        return name, None
    line = "generic" if role == "generic" and not name else f"{role} {name.strip()!r}"
    if bid:
        line = f"[{bid}] {line}"
    value = node.get("value", {})
    if value.get("value") is not None:
        line += f" value={value['value']!r}"
    return name, ", ".join([line, *attributes])


def _attributes(node: dict[str, Any]) -> list[str]:
    found = []
    for item in node.get("properties", ()):
        name = item["name"]
        if name in IGNORED_PROPERTIES or "value" not in item.get("value", {}):
            continue
        value = item["value"]["value"]
        if name not in _FLAG_PROPERTIES:
            found.append(f"{name}={value!r}")
        elif value:
            found.append(name)
    return found
