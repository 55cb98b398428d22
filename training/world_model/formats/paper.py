"""The `paper` format: DynaWeb's, for large models. Instruction, o_t and a_t in; r, Δ in English and the whole next AXTree out.

    <Rationale>          r, one paragraph
    <State changes>      Δ, one sentence a line; `Nothing changes.`
    <Next page>          URL: …
                         Title: …
                         the tree, with bids: those of o_t for what stays, new ones for what is new
    <End>                `yes` where the episode ends here, else `no`

DynaWeb §3.1–3.2 and its appendix prompt ask for the same parts; wording and headings are ours, since the paper's prompt
is not published as text. URL, title and end are ours too: an agent's observation has them and the paper is silent.

read(target) gives back o_t+1's normalised tree; texts beyond the token budget of the model are the trainer's business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from harness.actions import print_action
from harness.axtree import CountTokens, approximate_tokens, fit, match
from harness.axtree.tree import Tree
from harness.predictions import WorldModelQuery
from harness.types import Observation
from training.world_model.formats.observed import observed
from training.world_model.formats.protocol import Reading
from training.world_model.labels.records import Label
from training.world_model.memory import PageMemory
from training.world_model.memory.trees import page_tree

INSTRUCTION: Final = """You simulate a web site. You are given the page an agent sees, as an accessibility tree, and the \
action the agent takes on it. Work out what the action does, describe what changes, then write the whole page that follows.
Elements that stay keep their numbers in brackets; new elements get new numbers. Answer in exactly these four parts:
<Rationale>
Why the page changes as it does.
<State changes>
One sentence per change, or "Nothing changes."
<Next page>
URL: the address of the page
Title: its title
The accessibility tree.
<End>
yes if the task ends with this action, else no"""

RATIONALE, CHANGES, NEXT, END = "<Rationale>", "<State changes>", "<Next page>", "<End>"
NOTHING: Final = "Nothing changes."
MAX_PROMPT_TOKENS: Final = 16_384
PAST_ACTIONS: Final = 5


@dataclass(frozen=True, slots=True)
class PaperFormat:
    """`memory` is not used: every page is written out."""

    memory: PageMemory
    count_tokens: CountTokens = approximate_tokens
    max_prompt_tokens: int = MAX_PROMPT_TOKENS
    """Budget of o_t within the prompt; what does not fit is cut by `harness.axtree.fit`, which says so."""
    goal: bool = True
    name: str = "paper"

    def with_memory(self, memory: PageMemory) -> PaperFormat:
        return replace(self, memory=memory)

    def prompt(self, query: WorldModelQuery) -> str:
        now = query.observation
        past = [print_action(step.action) for step in query.history[-PAST_ACTIONS:]]
        tree = fit(page_tree(now.axtree).to_text(), self.max_prompt_tokens, self.count_tokens).text
        parts = [INSTRUCTION]
        if self.goal and query.goal:
            parts.append(f"# The agent's task\n{query.goal}")
        if past:
            parts.append("# Actions before\n" + "\n".join(past))
        parts.append(f"# The page\nURL: {now.url}\nTitle: {_one_line(now.title)}\n{tree}")
        parts.append(f"# The action\n{print_action(query.action)}")
        return "\n\n".join(parts)

    def target(self, query: WorldModelQuery, next_observation: Observation, label: Label) -> str:
        tree = renumbered(page_tree(query.observation.axtree), page_tree(next_observation.axtree))
        return "\n".join(
            [
                RATIONALE, _one_line(label.rationale), CHANGES, *(label.sentences or [NOTHING]), NEXT,
                f"URL: {next_observation.url}", f"Title: {_one_line(next_observation.title)}", tree.to_text(),
                END, "yes" if label.terminal else "no",
            ]
        )  # fmt: skip

    def delta(self, text: str) -> str:
        parts = _split(text)
        return parts.changes if parts else ""

    def read(self, query: WorldModelQuery, text: str) -> Reading:
        parts = _split(text)
        if parts is None:
            return Reading(malformed="the parts Rationale, State changes and Next page are not all there, in this order")
        said = Reading(rationale=parts.rationale, delta=parts.changes, terminal=parts.terminal)
        lines = parts.page.split("\n", 2)
        if len(lines) < 3 or not lines[0].startswith("URL: ") or not lines[1].startswith("Title: "):
            return said.model_copy(update={"malformed": "the next page has no URL, title and tree"})
        url, title = lines[0].removeprefix("URL: ").strip(), lines[1].removeprefix("Title: ").strip()
        tree = page_tree(lines[2])
        if not tree.nodes:
            return said.model_copy(update={"malformed": "the next page has no tree"})
        # Unlike a recorded page, an answer has no reason to hold lines that are no nodes.
        written = len([line for line in lines[2].split("\n") if line.strip()])
        odd = f"{written - len(tree)} of {written} lines of the tree cannot be read" if len(tree) < written else ""
        after = observed(query, tree, url=url, title=title)
        return said.model_copy(update={"next_observation": after, "malformed": odd})

    def grammar(self, query: WorldModelQuery) -> None:
        """None: a large model keeps to the four parts, and a tree has no wrong lines."""


class _Parts(NamedTuple):
    rationale: str
    changes: str
    page: str
    terminal: bool | None


def _split(text: str) -> _Parts | None:
    """The parts of an answer; None where one is missing or out of order. A page may hold `<End>`: the last one counts."""
    _, first, rest = f"\n{text.strip()}\n".partition(f"\n{RATIONALE}\n")
    rationale, second, rest = rest.partition(f"\n{CHANGES}\n")
    changes, third, rest = rest.partition(f"\n{NEXT}\n")
    if not (first and second and third):
        return None
    page, end, word = rest.rpartition(f"\n{END}\n")
    terminal = {"yes": True, "no": False}.get(word.strip().lower()) if end else None
    return _Parts(rationale.strip(), changes.strip(), page if end else word, terminal)


def renumbered(before: Tree, after: Tree) -> Tree:
    """`after` with the bids of `before` for what stays, and fresh ones for what is new: bids that a model can know."""
    of = match(before, after).a_of
    used = {node.bid for node in before.nodes}
    fresh = max((int(bid) for bid in used if bid is not None and bid.isascii() and bid.isdigit() and len(bid) < 10), default=0)
    nodes = []
    for index, node in enumerate(after.nodes):
        bid = node.bid
        if bid is not None:
            old = before.nodes[of[index]].bid if of[index] >= 0 else None
            if old is None:
                fresh += 1
            bid = old or str(fresh)
        nodes.append(node._replace(bid=bid))
    return Tree(tuple(nodes), after.parents)


def _one_line(text: str) -> str:
    return " ".join(text.split())
