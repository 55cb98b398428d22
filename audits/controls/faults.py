"""Faults that a world model could make, planted into a recorded real success: a dream whose first lie is known.

    kind             page k                                                   cause that must be found
    renamed_target   the element of action k is called otherwise              exec
    phantom_target   has a button that does not exist; action k clicks it     exec
    phantom_option   has an option that does not exist; action k selects it   exec
    stale_copy       is page k-1 again, although the address changed          url
    wrong_url        has another address                                      url
    phantom_login    signed in for signed out, or the other way round         url
    wrong_value      shows another value than the answer's; so is the answer  crit
    wrong_count      a number is another one                                  any
    deleted_node     an element is missing that no action needs               any
    fake_success     announces a success                                      any
    swapped_order    two neighbours have changed places                       any

k is 2 … T+1: page 1 is a recorded one by definition. All else is as recorded, so that nothing diverges before k.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

from audits.fidelity.pages import read_page
from audits.records import DivergenceCause
from harness.actions import bids_of, make_action
from harness.axtree import INTERACTIVE_ROLES, Node, Tree, describe, describe_index, parse
from harness.types import Observation, PolicyOutput, Step, Trajectory

BANNER: Final = "Success! All your changes have been saved."
OTHER_NAMES: Final = (
    "Proceed to the annexe",
    "Apply quarterly rota",
    "Unfold the ledger",
    "Fetch more vouchers",
    "Quick handout",
)
_NUMBER: Final = re.compile(r"\d+")
_LOGIN: Final = re.compile(r"(log|sign)(\s?)(in|out)", re.IGNORECASE)
_PHANTOM_BID: Final = "99990"


class Planted(NamedTuple):
    """A dream with one known fault."""

    trajectory: Trajectory
    fault: str
    page: int
    """k."""
    cause: DivergenceCause


class _Change(NamedTuple):
    """What a fault makes of page k: the page, and the step that acts on it if that changes too."""

    observation: Observation
    output: PolicyOutput | None = None
    answer: str | None = None


Planter = Callable[[Trajectory, int, Random], _Change | None]


def plant(recorded: Trajectory, fault: str, rng: Random) -> Planted | None:
    """The recorded trajectory with one fault of this kind, at a random page that can have it; None if none can."""
    cause, planter = FAULTS[fault]
    for number in _shuffled(range(2, len(recorded.steps) + 2), rng):
        if _page(recorded, number) is None:
            continue
        change = planter(recorded, number, rng)
        if change is not None and _shows(change, _page(recorded, number)):
            return Planted(_with_change(recorded, number, change), fault, number, cause)
    return None


def _shows(change: _Change, before: Observation | None) -> bool:
    """A change that a comparison of pages cannot see by its own rules (decorative nodes, repeated text) is no fault."""
    if before is None:
        return False
    return not read_page(change.observation).same_as(read_page(before)) or change.output is not None


def _with_change(recorded: Trajectory, number: int, change: _Change) -> Trajectory:
    steps = list(recorded.steps)
    final = recorded.final_observation
    if number <= len(steps):
        update: dict[str, object] = {"observation": change.observation}
        if change.output is not None:
            update["output"] = change.output
        steps[number - 1] = steps[number - 1].model_copy(update=update)
    else:
        final = change.observation
    if change.answer is not None:
        last = steps[-1]
        action = last.output.action.model_copy(update={"arguments": {"text": change.answer}, "raw": ""})
        steps[-1] = last.model_copy(update={"output": last.output.model_copy(update={"action": action})})
    return recorded.model_copy(
        update={
            "source": "dream",
            "steps": tuple(steps),
            "final_observation": final,
            "answer": recorded.answer if change.answer is None else change.answer,
            "producers": {**recorded.producers, "world_model": "planted"},
        }
    )


# ------------------------------------------------------------------------------------------------ exec


def _renamed_target(t: Trajectory, number: int, rng: Random) -> _Change | None:
    step = _step(t, number)
    target = step.output.action.target if step is not None else None
    if step is None or target is None or target.count != 1 or len(bids_of(step.output.action)) != 1 or step.action_error:
        return None
    tree = parse(step.observation.axtree)
    bid = bids_of(step.output.action)[0]
    index = tree.by_bid.get(bid)
    if index is None or not target.name:
        return None
    nodes = list(tree.nodes)
    nodes[index] = nodes[index]._replace(name=rng.choice(OTHER_NAMES))
    changed = Tree(tuple(nodes), tree.parents)
    action = step.output.action.model_copy(update={"target": describe(changed, bid)})
    return _Change(_shown(step.observation, changed), step.output.model_copy(update={"action": action}))


def _phantom_target(t: Trajectory, number: int, rng: Random) -> _Change | None:
    step = _step(t, number)
    if step is None or not bids_of(step.output.action):
        return None
    tree = parse(step.observation.axtree)
    place = tree.by_bid.get(bids_of(step.output.action)[0])
    if place is None:
        return None
    changed, index = _inserted(tree, Node("button", rng.choice(OTHER_NAMES), _PHANTOM_BID), place)
    action = make_action("click", {"bid": _PHANTOM_BID}).model_copy(update={"target": describe_index(changed, index)})
    return _Change(_shown(step.observation, changed), step.output.model_copy(update={"action": action}))


def _phantom_option(t: Trajectory, number: int, rng: Random) -> _Change | None:
    step = _step(t, number)
    if step is None or step.output.action.name != "select_option" or step.action_error:
        return None
    tree = parse(step.observation.axtree)
    place = tree.by_bid.get(bids_of(step.output.action)[0])
    option = rng.choice(OTHER_NAMES)
    if place is None:
        return None
    inside = next((i for i in range(place + 1, tree.ends[place]) if tree.nodes[i].role == "option"), None)
    changed = tree if inside is None else _inserted(tree, Node("option", option, _PHANTOM_BID), inside)[0]
    action = step.output.action.model_copy(update={"arguments": {**step.output.action.arguments, "options": option}, "raw": ""})
    return _Change(_shown(step.observation, changed), step.output.model_copy(update={"action": action}))


# ------------------------------------------------------------------------------------------------ url


def _stale_copy(t: Trajectory, number: int, _rng: Random) -> _Change | None:
    now, before = _page(t, number), _page(t, number - 1)
    if now is None or before is None or read_page(now).url == read_page(before).url:
        return None
    return _Change(before)


def _wrong_url(t: Trajectory, number: int, _rng: Random) -> _Change | None:
    page = _page(t, number)
    if page is None or not page.url.startswith(("http", "file")):
        return None
    path, _, query = page.url.partition("?")
    return _Change(page.model_copy(update={"url": f"{path.rstrip('/')}/annexe{'?' if query else ''}{query}"}))


def _phantom_login(t: Trajectory, number: int, _rng: Random) -> _Change | None:
    page = _page(t, number)
    if page is None:
        return None
    tree = parse(page.axtree)
    nodes = [
        node._replace(name=_LOGIN.sub(_other_login, node.name))
        if node.role in ("link", "button", "menuitem") and _LOGIN.fullmatch(node.name)
        else node
        for node in tree.nodes
    ]
    return _Change(_shown(page, Tree(tuple(nodes), tree.parents))) if nodes != list(tree.nodes) else None


# ------------------------------------------------------------------------------------------------ crit and any


def _wrong_value(t: Trajectory, number: int, _rng: Random) -> _Change | None:
    """The answer, and on page k whatever shows it."""
    page = _page(t, number)
    answer = " ".join((t.answer or "").split())
    if page is None or not _NUMBER.search(answer) or number > len(t.steps):
        return None
    if t.steps[-1].output.action.name != "send_msg_to_user":
        return None
    wrong = _NUMBER.sub(lambda found: str(int(found.group()[:15]) + 7), answer, count=1)
    tree = parse(page.axtree)
    pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)")
    nodes = [node._replace(name=pattern.sub(lambda _found: wrong, node.name)) for node in tree.nodes]
    if nodes == list(tree.nodes) or any(wrong in node.name for node in tree.nodes):
        return None
    return _Change(_shown(page, Tree(tuple(nodes), tree.parents)), answer=wrong)


def _wrong_count(t: Trajectory, number: int, rng: Random) -> _Change | None:
    used = _used(t)

    def wrong(node: Node) -> Node | None:
        if (node.role, node.name) in used or not _NUMBER.search(node.name) or _holds(node, t.answer):
            return None
        return node._replace(name=_NUMBER.sub(lambda found: str(int(found.group()[:15]) + 1), node.name, count=1))

    return _one_node(t, number, rng, wrong)


def _deleted_node(t: Trajectory, number: int, rng: Random) -> _Change | None:
    page = _page(t, number)
    if page is None:
        return None
    tree, used = parse(page.axtree), _used(t)
    leaves = [
        i
        for i, node in enumerate(tree.nodes)
        if node.role in INTERACTIVE_ROLES | {"heading"}
        and node.name
        and tree.ends[i] == i + 1
        and (node.role, node.name) not in used
        and not _LOGIN.fullmatch(node.name)
        and not _holds(node, t.answer)
    ]
    if not leaves:
        return None
    gone = rng.choice(leaves)
    nodes = tree.nodes[:gone] + tree.nodes[gone + 1 :]
    parents = [p - (p > gone) for i, p in enumerate(tree.parents) if i != gone]
    return _Change(_shown(page, Tree(nodes, tuple(parents))))


def _fake_success(t: Trajectory, number: int, _rng: Random) -> _Change | None:
    page = _page(t, number)
    if page is None:
        return None
    tree = parse(page.axtree)
    return _Change(_shown(page, _inserted(tree, Node("heading", BANNER, _PHANTOM_BID), 1)[0])) if len(tree) > 1 else None


def _swapped_order(t: Trajectory, number: int, rng: Random) -> _Change | None:
    page = _page(t, number)
    if page is None:
        return None
    tree, used = parse(page.axtree), _used(t)
    pairs = [(a, b) for children in tree.children for a, b in pairwise(children) if _swappable(tree, a, b, used)]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    order = [*range(a), *range(b, tree.ends[b]), *range(a, b), *range(tree.ends[b], len(tree))]
    return _Change(_shown(page, Tree.from_depths([tree.nodes[i] for i in order], [tree.depths[i] for i in order])))


def _swappable(tree: Tree, a: int, b: int, used: frozenset[tuple[str, str]]) -> bool:
    """Neighbours of one role with different texts; none of them is acted on, and namesakes keep their order."""
    if tree.nodes[a].role != tree.nodes[b].role or tree.nodes[a].role not in (
        "listitem",
        "row",
        "option",
        "link",
        "article",
        "treeitem",
    ):
        return False
    first = [(tree.nodes[i].role, tree.nodes[i].name) for i in range(a, tree.ends[a]) if tree.nodes[i].name]
    second = [(tree.nodes[i].role, tree.nodes[i].name) for i in range(b, tree.ends[b]) if tree.nodes[i].name]
    return bool(first and second) and first != second and not used & {*first, *second}


FAULTS: Final[Mapping[str, tuple[DivergenceCause, Planter]]] = MappingProxyType(
    {
        "renamed_target": ("exec", _renamed_target),
        "phantom_target": ("exec", _phantom_target),
        "phantom_option": ("exec", _phantom_option),
        "stale_copy": ("url", _stale_copy),
        "wrong_url": ("url", _wrong_url),
        "phantom_login": ("url", _phantom_login),
        "wrong_value": ("crit", _wrong_value),
        "wrong_count": ("any", _wrong_count),
        "deleted_node": ("any", _deleted_node),
        "fake_success": ("any", _fake_success),
        "swapped_order": ("any", _swapped_order),
    }
)
"""Fault → the cause that must be found, and who plants it."""


# ------------------------------------------------------------------------------------------------ helpers


def _page(t: Trajectory, number: int) -> Observation | None:
    return t.steps[number - 1].observation if number <= len(t.steps) else t.final_observation


def _step(t: Trajectory, number: int) -> Step | None:
    return t.steps[number - 1] if number <= len(t.steps) else None


def _shuffled(numbers: range, rng: Random) -> Iterator[int]:
    return iter(rng.sample(numbers, len(numbers)))


def _shown(page: Observation, tree: Tree) -> Observation:
    return page.model_copy(update={"axtree": tree.to_text()})


def _used(t: Trajectory) -> frozenset[tuple[str, str]]:
    """Role and name of all that is acted on: such elements are the subject of other faults."""
    targets = (step.output.action.target for step in t.steps)
    return frozenset((target.role, target.name) for target in targets if target is not None)


def _holds(node: Node, answer: str | None) -> bool:
    return bool(answer) and " ".join((answer or "").split()).casefold() in node.name.casefold()


def _one_node(t: Trajectory, number: int, rng: Random, change: Callable[[Node], Node | None]) -> _Change | None:
    page = _page(t, number)
    if page is None:
        return None
    tree = parse(page.axtree)
    changed = [(i, new) for i, node in enumerate(tree.nodes) if i and (new := change(node)) is not None]
    if not changed:
        return None
    index, node = rng.choice(changed)
    nodes = (*tree.nodes[:index], node, *tree.nodes[index + 1 :])
    return _Change(_shown(page, Tree(nodes, tree.parents)))


def _inserted(tree: Tree, node: Node, before: int) -> tuple[Tree, int]:
    """The tree with a node before another one, as its sibling; and where it is."""
    nodes, depths = list(tree.nodes), list(tree.depths)
    nodes.insert(before, node)
    depths.insert(before, depths[before] if before < len(depths) else 1)
    return Tree.from_depths(nodes, depths), before


def _other_login(found: re.Match[str]) -> str:
    word = found.group(3)
    other = "out" if word.lower() == "in" else "in"
    return f"{found.group(1)}{found.group(2)}{other.upper() if word.isupper() else other}"
