"""How long a 1,000-node tree takes to parse, normalise and diff, beside peers doing a comparable job in the same run.

    python benchmarks/axtree.py [--nodes 1000] [--repeats 50]

Goals, on one core: parse ≤ 5 ms, diff ≤ 10 ms. Peers, both from the standard library:

    parse   xml.etree (C, expat) on the same tree as XML: node for node the same structure, attributes for states
    diff    difflib.SequenceMatcher on the lines: gives changed lines, no elements

Each figure is the median of the repeats, in milliseconds of processor time, so that a busy machine does not count.
Each repeat starts from a tree that has computed nothing yet.
"""

from __future__ import annotations

import argparse
import difflib
import random
import statistics
import time
from collections.abc import Callable
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from harness.axtree import Node, Tree, apply, diff, fit, normalise, parse, summary

SEED = 20240229
GOALS_MS = {"parse": 5.0, "diff": 10.0}


def page(nodes: int, rng: random.Random) -> Tree:
    """A page of the usual mixture: texts, links, fields and wrappers, about as deep as real ones."""
    made, depths = [Node("RootWebArea", "Benchmark — a page", None, None, (("focused", True),))], [0]
    depth = 1
    seen = (("clickable", True), ("visible", True))
    for number in range(1, nodes):
        depth = max(1, min(9, depth + rng.choice((-2, -1, 0, 0, 0, 1, 1))))
        kinds = (
            Node("StaticText", f"text no. {number}, it's {rng.randrange(90)} €"),
            Node("link", f"Item {rng.randrange(nodes)}", str(number), None, (*seen, ("url", f"http://a.example/{number}"))),
            Node("textbox", f"Field {number % 40}", str(number), f"v{number}", (*seen, ("required", True))),
            Node("generic", "", str(number), None, (("visible", True), ("expanded", number % 2 == 0), ("hasPopup", "menu"))),
            Node("listitem", "", str(number), None, (("visible", True),)),
        )
        made.append(rng.choices(kinds, weights=(30, 30, 10, 10, 20))[0])
        depths.append(depth)
    return Tree.from_depths(made, depths)


def after_a_click(tree: Tree, rng: random.Random) -> Tree:
    """`tree` with what one action typically does: some states and texts change, rows go, a dialog of 30 nodes comes."""
    nodes, depths = list(tree.nodes), list(tree.depths)
    for index in rng.sample(range(1, len(nodes)), 20):
        nodes[index] = nodes[index]._replace(properties=(*nodes[index].properties, ("busy", True)))
    for index in sorted(rng.sample(range(1, len(nodes)), 20), reverse=True):
        del nodes[index], depths[index]
    at = len(nodes) // 2
    nodes[at:at] = [Node("dialog", "Confirm"), *(Node("button", f"Choice {k}") for k in range(29))]
    depths[at:at] = [1, *([2] * 29)]
    return Tree.from_depths(nodes, depths)


def as_xml(tree: Tree) -> str:
    parts: list[str] = []
    open_nodes: list[int] = []
    for index, node in enumerate(tree.nodes):
        while open_nodes and tree.ends[open_nodes[-1]] <= index:
            parts.append(f"</{tree.nodes[open_nodes.pop()].role}>")
        states = "".join(f" {key}={quoteattr(str(value))}" for key, value in node.properties)
        parts.append(f"<{node.role} name={quoteattr(node.name)} bid={quoteattr(str(node.bid))}{states}>")
        open_nodes.append(index)
    parts.extend(f"</{tree.nodes[index].role}>" for index in reversed(open_nodes))
    return "".join(parts)


def median_ms(run: Callable[[], object], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds) * 1000


def fresh(tree: Tree) -> Tree:
    return Tree(tree.nodes, tree.parents, tree.style)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--repeats", type=int, default=50)
    chosen = options.parse_args()
    rng = random.Random(SEED)
    tree = page(chosen.nodes, rng)
    other, unrelated = after_a_click(tree, rng), page(chosen.nodes, rng)
    text, other_text, xml = tree.to_text(), other.to_text(), as_xml(tree)
    changes = diff(tree, other)
    a, b = normalise(tree), normalise(other)
    assert apply(a, diff(a, b)) == b

    # Other URLs in each repeat: the reader keeps states it has seen, and a page must not be timed against itself.
    unseen = iter([text.replace("a.example", f"{number}.example") for number in range(chosen.repeats)])
    parse_ms = median_ms(lambda: parse(next(unseen)), chosen.repeats)
    diff_ms = median_ms(lambda: diff(fresh(tree), fresh(other)), chosen.repeats)
    figures = {
        "parse": parse_ms,
        "parse, peer: xml.etree": median_ms(lambda: ElementTree.fromstring(xml), chosen.repeats),
        "diff": diff_ms,
        "diff, unrelated pages": median_ms(lambda: diff(fresh(tree), fresh(unrelated)), chosen.repeats),
        "diff, peer: difflib on lines": median_ms(
            lambda: difflib.SequenceMatcher(None, text.split("\n"), other_text.split("\n"), autojunk=False).get_opcodes(),
            max(3, chosen.repeats // 10),
        ),
        "to_text": median_ms(lambda: fresh(tree).to_text(), chosen.repeats),
        "normalise": median_ms(lambda: normalise(tree), chosen.repeats),
        "apply": median_ms(lambda: apply(tree, changes), chosen.repeats),
        "summary": median_ms(lambda: summary(changes), chosen.repeats),
        "fit to 2,000 tokens": median_ms(lambda: fit(text, 2000), chosen.repeats),
    }
    print(f"{len(tree):,} nodes, {len(text):,} characters, {len(changes)} edits, median of {chosen.repeats}")
    for name, value in figures.items():
        goal = f"   goal ≤ {GOALS_MS[name]:g}" if name in GOALS_MS else ""
        print(f"{name:<30} {value:8.2f} ms{goal}")
    print(f"parse / xml.etree              {parse_ms / figures['parse, peer: xml.etree']:8.2f} ×")
    print(f"diff / difflib                 {diff_ms / figures['diff, peer: difflib on lines']:8.3f} ×")


if __name__ == "__main__":
    main()
