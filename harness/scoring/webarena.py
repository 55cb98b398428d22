"""WebArena's official evaluators, asked once, at the end: upstream's number with our labels around it.

    evaluate(upstream, task, page, answer, …)            one run of `GenericWebArenaTask.validate` → Evaluation
    verdict(official, corrected, …)                      Evaluation(s) → Verdict with every profile's score

What upstream hides is made visible, without touching its number:
- an AssertionError in an evaluator becomes 0.0 upstream (BrowserGym's validate); here it is an `EvaluatorError`
- a tab on a foreign host ends the task with 0.0 upstream; here that is the reason of the failure
- a missing judge is `inconclusive`, an unreadable judge an error: neither is a 0
- `eval()` runs upstream on text that holds the page's URL; quotes in that URL are percent-encoded first
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from harness.errors import EvaluatorError, HarnessError, error_info, first_line
from harness.scoring.webarena_judge import PROMPT_HASH, PROMPT_VERSION, Match, Matcher
from harness.scoring.webarena_upstream import TOKENIZER, Upstream, hooked
from harness.types import ErrorInfo, JsonDict, Score, Status, Usage, Verdict, json_value

ERRATA_PROFILE = "webarena-errata"
NEEDS_JUDGE = "not scorable: needs a judge (set one with [judge] base_url and model)"

Effect = Literal["fix", "exclude", "note"]


class Answer(NamedTuple):
    """What the agent told the user at its stop."""

    text: str | None = None
    infeasible: bool = False

    @property
    def chat_messages(self) -> list[dict[str, str]]:
        """As BrowserGym's chat holds it: upstream reads the role and text of the last message."""
        if self.infeasible:
            return [{"role": "infeasible", "message": self.text or ""}]
        return [] if self.text is None else [{"role": "assistant", "message": self.text}]


class Evaluation(NamedTuple):
    """One run of upstream's `validate`. `reward` is None unless status is success or failure."""

    status: Status
    reward: float | None
    reason: str
    done: bool = True
    error: ErrorInfo | None = None
    matches: tuple[Match, ...] = ()
    usage: Usage = Usage()


def evaluate(upstream: Upstream, task: Any, page: Any, answer: Answer, matcher: Matcher) -> Evaluation:
    """Ask upstream. Never raises an `Exception`: what breaks is an `error` Evaluation with its boundary."""
    try:
        with hooked(matcher), _assertions_visible(task):
            reward, done, _, info = task.validate(_harmless(upstream, task, page), answer.chat_messages)
    except HarnessError as error:
        return _broken(error, matcher)
    except Exception as error:  # noqa: BLE001  upstream's evaluators run JavaScript, HTTP and eval(): anything can come
        return _broken(EvaluatorError(_described(error), kind=_kind(error)), matcher)
    matches, usage = tuple(matcher.matches), matcher.usage
    if matcher.unscored and reward > 0:
        return Evaluation("inconclusive", None, NEEDS_JUDGE, done, None, matches, usage)
    status: Status = "success" if reward >= 1.0 else "failure"
    return Evaluation(status, float(reward), _reason(status, answer, info, matches), done, None, matches, usage)


@contextmanager
def corrected(upstream: Upstream, task: Any, definition: JsonDict) -> Iterator[None]:
    """Within the block, `task` is scored by `definition`: its own with an erratum applied to `eval`."""
    original = task.config_file, task.evaluator
    with tempfile.TemporaryDirectory(prefix="harness-errata-") as folder:
        path = Path(folder) / "task.json"
        path.write_text(json.dumps(definition), encoding="utf-8")
        task.config_file, task.evaluator = str(path), upstream.evaluators.evaluator_router(str(path))
        try:
            yield
        finally:
            task.config_file, task.evaluator = original


def verdict(
    upstream: Upstream,
    official: Evaluation,
    errata: Score,
    *,
    headline: Literal["official", "errata"] = "official",
    judge: str = "",
    evidence: JsonDict | None = None,
    usage: Usage | None = None,
) -> Verdict:
    """The stored outcome: one profile as the verdict, all profiles in `other_scores`.

    `judge` is the judge model's name. Errors of the official run are errors of the verdict, whatever the headline.
    """
    scores = (
        Score(
            profile=upstream.profile,
            version=upstream.version,
            status=official.status,
            reward=official.reward,
            reason=official.reason,
        ),
        errata,
    )
    chosen = scores[1] if headline == "errata" and official.error is None else scores[0]
    details: JsonDict = {
        "tokenizer": TOKENIZER,
        "judge": {"model": judge, "prompt_version": PROMPT_VERSION, "prompt_hash": PROMPT_HASH} if judge else None,
        "matches": json_value([match.model_dump(mode="json", exclude={"usage"}) for match in official.matches]),
        **(evidence or {}),
    }
    return Verdict(
        status=chosen.status,
        reward=chosen.reward,
        raw_reward=official.reward,
        threshold=1.0,
        scorer=chosen.profile,
        scorer_version=chosen.version,
        reason=chosen.reason,
        evidence=details,
        error=official.error,
        other_scores=scores,
        usage=official.usage if usage is None else usage,
    )


class _VisibleAssertions:
    """Upstream's evaluator; a failed assertion in it is not an AssertionError any more, so `validate` cannot hide it."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator = evaluator

    def __call__(self, **arguments: Any) -> float:
        try:
            return float(self._evaluator(**arguments))
        except AssertionError as error:
            detail = first_line(error) or "no message"
            raise EvaluatorError(f"an assertion failed in an evaluator ({detail})", kind="assertion") from error


@contextmanager
def _assertions_visible(task: Any) -> Iterator[None]:
    original = task.evaluator
    task.evaluator = _VisibleAssertions(original)
    try:
        yield
    finally:
        task.evaluator = original


_EVAL_BREAKERS = str.maketrans({"'": "%27", "\\": "%5C", "\n": "%0A", "\r": "%0D"})


def _harmless(upstream: Upstream, task: Any, page: Any) -> Any:
    """`page`, unless its URL could end the string literal that upstream puts it into before `eval()`."""
    if "__last_url__" not in json.dumps(task.config["eval"]):
        return page
    safe = str(page.url).translate(_EVAL_BREAKERS)
    return page if safe == page.url else upstream.pseudo_page(page, safe)


def _broken(error: HarnessError, matcher: Matcher) -> Evaluation:
    info = error_info(error)
    return Evaluation("error", None, info.message, True, info, tuple(matcher.matches), matcher.usage)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"


def _kind(error: Exception) -> str:
    module = type(error).__module__.partition(".")[0]
    if module == "playwright":
        return "navigation"
    return "site_api" if module in ("requests", "urllib3") else "evaluator_error"


def _reason(status: Status, answer: Answer, info: dict[str, Any], matches: tuple[Match, ...]) -> str:
    if message := str(info.get("error", "")):
        return message
    if status == "success":
        return "official evaluators gave 1"
    missed = next((match for match in matches if match.score == 0.0 and match.label), None)
    if missed is not None:
        return f"the judge says {missed.label}"
    if answer.text is None and not answer.infeasible:
        return "official evaluators gave 0; the agent gave no answer"
    return "official evaluators gave 0"
