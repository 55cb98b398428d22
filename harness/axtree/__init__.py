"""Accessibility trees: parse and print, normalise, identify, match, diff, fit. The core data structure of the project.

    tree         Node, Tree: immutable, in document order; Tree.to_text()
    parsing      parse(text) → Tree, BrowserGym's form and WebArena's
    normalising  normalise(tree): what differs between recordings of one page goes
    identity     describe(tree, bid) → TargetDescriptor, find(tree, descriptor) → bids
    matching     match(a, b): which node of a is which node of b
    edits        diff(a, b) → edits, apply(a, edits) → b
    sentences    summary(edits): plain English
    fitting      fit(text, budget): cut to a token budget

Everything here is a pure function of its arguments; no browser, no network, nothing outside the standard library and
`harness.types`.
"""

from harness.axtree.edits import Added, Changed, Diff, Edit, Moved, NodeRef, Removed, apply, diff
from harness.axtree.fitting import CountTokens, Fitted, approximate_tokens, fit
from harness.axtree.identity import INTERACTIVE_ROLES, describe, describe_index, find
from harness.axtree.matching import Matching, match
from harness.axtree.normalising import normalise
from harness.axtree.parsing import parse
from harness.axtree.sentences import summary
from harness.axtree.tree import Node, PropertyValue, RawLiteral, Style, Tree

__all__ = [
    "INTERACTIVE_ROLES",
    "Added",
    "Changed",
    "CountTokens",
    "Diff",
    "Edit",
    "Fitted",
    "Matching",
    "Moved",
    "Node",
    "NodeRef",
    "PropertyValue",
    "RawLiteral",
    "Removed",
    "Style",
    "Tree",
    "apply",
    "approximate_tokens",
    "describe",
    "describe_index",
    "diff",
    "find",
    "fit",
    "match",
    "normalise",
    "parse",
    "summary",
]
