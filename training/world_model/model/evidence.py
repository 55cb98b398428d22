"""What speaks for and against success at the end of an episode: words of the goal, looked for in what was done and what is shown.

A small language model that is asked "success or failure?" sees a cut prompt and believes the agent's last word. Here the values
are compared: is what the goal names what was typed, clicked, answered; is it on the last page, was it there before?

    share(words, found)    Σ rarity(w) over words that are in `found`  ÷  Σ rarity(w) over words;   NaN without words
    rarity(w)              log((T + 1) / (share of goals with w, summed over T templates, + ½)): low for `the`, high for `100096`
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Set

from harness.actions import STOP_ACTIONS, said_of
from harness.predictions import WorldModelQuery
from harness.types import Action

_WORD = re.compile(r"[^\W_]+(?:[.,:/@'’-][^\W_]+)*")
_QUOTED = re.compile(r"[\"“”]([^\"“”]{2,})[\"“”]|'([^']{2,})'")
_QUESTION = re.compile(
    r"\?|\b(what|which|whom?|when|where|how (many|much)|tell me|give|list|count|name|reply|answer)\b", re.IGNORECASE
)
_WENT_WELL = re.compile(r"\b(success|successfully|saved|created|added|updated|thank|deleted|removed)\b", re.IGNORECASE)
_WENT_WRONG = re.compile(r"\b(error|invalid|required|not found|please correct|no results|failed|cannot)\b", re.IGNORECASE)
_RARE_FROM = 3.0
"""A word is a value of its goal if at most about this many templates have it in every goal."""

Words = Set[str]


def words_in(text: str | None) -> frozenset[str]:
    """Lower-case words and numbers; `12.50`, `3-1`, `a@b.c` are one each."""
    return frozenset(_WORD.findall((text or "").lower()))


def numbers_in(words: Words) -> Words:
    return frozenset(word for word in words if any(character.isdigit() for character in word))


class Rarity:
    """How much a word of a goal tells. Learned from goals; a word that none has is as rare as can be."""

    def __init__(self, goals: Iterable[tuple[str, str]]) -> None:
        """`goals`: (template, goal). Templates count equally, however many goals they have."""
        by_template: dict[str, list[Words]] = defaultdict(list)
        for template, goal in goals:
            by_template[template].append(words_in(goal))
        self._templates = len(by_template)
        self._share: Counter[str] = Counter()
        for found in by_template.values():
            for words in found:
                for word in words:
                    self._share[word] += 1 / len(found)  # type: ignore[assignment]  # a Counter of shares

    def __call__(self, word: str) -> float:
        return math.log((self._templates + 1) / (self._share[word] + 0.5))

    def values(self, words: Words) -> Words:
        """The words that make this goal differ from others of its kind."""
        bound = math.log((self._templates + 1) / (_RARE_FROM + 0.5))
        return frozenset(word for word in words if self(word) > bound)

    def share(self, words: Words, found: Words) -> float:
        """Rarity-weighted share of `words` that are in `found`, in [0, 1]; NaN where there are none."""
        total = math.fsum(map(self, words))  # exact: sets have no order, and the last bit would depend on it
        return math.fsum(self(word) for word in words if word in found) / total if total > 0 else math.nan


def evidence(query: WorldModelQuery, rarity: Rarity) -> dict[str, float]:
    """Named numbers for the last moment of an episode (`assessment.outcome_query`), the same names in the same order every time.

    Does not depend on whether the history already holds the agent's last word.
    """
    history = query.history
    if history and history[-1].action.name in STOP_ACTIONS:
        history = history[:-1]
    acts = [past.action for past in history]
    last = acts[-1] if acts else None
    first_page = history[0].observation if history else query.observation
    answer = said_of(query.action)

    goal = words_in(query.goal)
    values, figures, quoted = rarity.values(goal), numbers_in(goal), words_in(" ".join(map("".join, _QUOTED.findall(query.goal))))
    typed = words_in(" ".join(map(_typed, acts)))
    clicked = words_in(" ".join(action.target.name for action in acts if action.target is not None and not _typed(action)))
    done = typed | clicked
    page, address = words_in(query.observation.axtree), _address(query)
    fresh = page - words_in(first_page.axtree)
    seen = page.union(*(words_in(past.observation.axtree) for past in history))
    said = words_in(answer)
    share = rarity.share
    return {
        # the goal's words in what was done and what is shown
        "goal in done": share(goal, done),
        "values in done": share(values, done),
        "quoted in done": share(quoted, done),
        "numbers in done": share(figures, done),
        "goal on page": share(goal, page),
        "values on page": share(values, page),
        "quoted on page": share(quoted, page),
        "numbers on page": share(figures, page),
        "values in address": share(values, address),
        "values fresh": share(values, fresh),
        "values anywhere": share(values, done | page | address),
        "numbers anywhere": share(figures, done | page | address),
        # what was done, in the goal
        "typed in goal": share(typed, goal),
        "typed numbers in goal": share(numbers_in(typed), goal),
        "last typed in goal": share(words_in(_typed(last)) if last else frozenset(), goal),
        "clicked in goal": share(clicked, goal),
        "title in goal": share(words_in(query.observation.title), goal),
        "typed, not in goal": len(typed - goal),
        "typed numbers, not in goal": len(numbers_in(typed) - goal),
        # the answer
        "answered": answer is not None,
        "answer's words": len(said),
        "answer has a number": bool(numbers_in(said)),
        "answer on page": share(said, page),
        "answer seen": share(said, seen),
        "answer fresh": share(said, fresh),
        "answer in goal": share(said, goal),
        "answer's numbers seen": share(numbers_in(said), seen),
        # the goal and the way
        "question": bool(_QUESTION.search(query.goal)),
        "goal's words": len(goal),
        "goal's quoted words": len(quoted),
        "goal's numbers": len(figures),
        "actions": len(acts),
        "repeated actions": len(acts) - len({(action.name, str(action.arguments)) for action in acts}),
        "addresses": len({past.observation.url for past in history}),
        "last is a click": last is not None and last.name == "click",
        "last is on a button": last is not None and last.target is not None and last.target.role == "button",
        "last types": last is not None and bool(_typed(last)),
        "last waits": last is not None and last.name == "noop",
        "last led elsewhere": bool(history) and history[-1].observation.url != query.observation.url,
        "went well": len(_WENT_WELL.findall(query.observation.axtree)),
        "went wrong": len(_WENT_WRONG.findall(query.observation.axtree)),
        "words of the page": len(page),
        "fresh words": len(fresh),
    }


def _typed(action: Action) -> str:
    """What an action puts into a page: text, a value, chosen options. Empty for all others, and for what is said to the user."""
    if action.name in STOP_ACTIONS:
        return ""
    given = [action.arguments.get(name, "") for name in ("text", "value", "options")]
    return " ".join(" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value) for value in given).strip()


def _address(query: WorldModelQuery) -> Words:
    return words_in(re.sub(r"[-+_/=&?%#]", " ", query.observation.url)) | words_in(query.observation.title)
