"""Every record that crosses a package border: frozen, closed, versioned, at the bottom of the import graph.

    Task ──────────┐
    EpisodeSpec ───┤ what to run (a task, a window, a seed, an attempt)
                   ▼
    Observation → PolicyOutput(Action) → Step … → Trajectory → Verdict → Episode   what happened
                   └── Transition: one (o_t, a_t, o_t+1) of a Trajectory

Names are BrowserGym's (`goal`, `axtree`, `bid`, `last_action_error`), Gymnasium's (`terminated`, `truncated`) and
WebArena's (`task_id`, `intent_template_id`). Seconds everywhere, unless a name says otherwise.
This module imports no torch, playwright, browsergym or pandas: a reader of results needs none of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

SCHEMA_VERSION = 1
"""Version of the stored form of `Episode` and of all that it holds. Guarded by tests/guards/test_stored_schema.py."""

INVALID_ACTION = "invalid"
"""`Action.name` of a reply from which no action could be read; `Action.error` says why. Executed as a no-op."""

JsonDict = dict[str, JsonValue]


class Record(BaseModel):
    """Base of all records: immutable, and an unknown field is an error rather than silently dropped data."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


# ------------------------------------------------------------------------------------------------ what to run


class EvaluatorSpec(Record):
    """How a task is scored, in its benchmark's own terms."""

    kind: str
    """`raw_reward`, `string_match`, `url_match`, `program_html`, `state`, `judge`, `validate`; joined with `+`."""
    spec: JsonDict = Field(default_factory=dict)
    """The benchmark's own evaluator definition, unchanged (WebArena's `eval` object, a reward threshold …)."""
    needs: tuple[str, ...] = ()
    """What scoring depends on beyond the answer: `judge`, `live_page`, `network_trace`."""


class Task(Record):
    """One task of a benchmark. `task_id` is the benchmark's own id; ("benchmark", "task_id") is unique."""

    benchmark: str
    task_id: str
    sites: tuple[str, ...] = ()
    goal: str = ""
    """Empty where the goal exists only after reset (MiniWoB++ draws it from the seed)."""
    start_url: str = ""
    intent_template_id: str = ""
    """The cluster of tasks made from one template; empty means the task is its own cluster."""
    evaluator: EvaluatorSpec
    depends_on: tuple[str, ...] = ()
    """task_ids of this benchmark that must be finished first, on the same site instance."""
    require_reset: bool = False
    known_problems: tuple[str, ...] = ()
    unachievable: bool = False
    """The right answer is "this cannot be done" (WebArena's N/A tasks): what the always-N/A floor counts."""
    metadata: JsonDict = Field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """The resampling unit for intervals: tasks of one template are not independent."""
        return self.intent_template_id or self.task_id

    @property
    def site(self) -> str:
        """The row of a per-site table; tasks over several sites form their own row."""
        return self.sites[0] if len(self.sites) == 1 else ("multi-site" if self.sites else self.benchmark)


class Exclusion(Record):
    """A task left out before a run, and by which rule: a rate without its exclusions means nothing."""

    task_id: str
    rule: str
    rule_version: str = ""
    reason: str = ""
    site: str = ""
    """`Task.site`, for the per-site table; empty where only the id is known."""


class EpisodeSpec(Record):
    """One planned episode. `key` identifies it across resumes; `attempt` counts retries of the same key."""

    task: Task
    window: str = "A"
    repeat: int = 0
    seed: int
    order_index: int
    instance: int = 0
    """Which site instance set may run it (0 for benchmarks without shared state)."""
    attempt: int = 0

    @property
    def key(self) -> str:
        return f"{self.task.benchmark}/{self.task.task_id}/{self.window}/{self.repeat}"

    @property
    def episode_id(self) -> str:
        """File-system safe and unique in a run."""
        safe = "".join(c if c.isalnum() or c in "._-" else "-" for c in self.task.task_id)
        return f"{safe}__{self.window}__r{self.repeat}__a{self.attempt}"


# ------------------------------------------------------------------------------------------------ what happened


class TargetDescriptor(Record):
    """What an element action pointed at, in terms that survive a reload: bids do not (they are DOM-order counters)."""

    role: str
    name: str
    value: str = ""
    path: tuple[str, ...] = ()
    """Ancestors from the root, each as `role "name"`, without decorative nodes."""
    index: int = 0
    """k of N, counted from 0 in document order, among nodes with the same role and name."""
    count: int = 1
    landmark: str = ""
    """Nearest landmark ancestor (`navigation "Main"`), empty if none."""
    neighbours: tuple[str, ...] = ()
    """Texts of the nearest preceding and following named nodes."""


class Action(Record):
    """One action of BrowserGym's high-level action space. `arguments` are keyed by BrowserGym's parameter names."""

    name: str
    arguments: JsonDict = Field(default_factory=dict)
    raw: str = ""
    """The text the action was read from, as written by the policy."""
    target: TargetDescriptor | None = None
    error: str = ""
    """Why no action could be read; only where `name == INVALID_ACTION`."""


class Usage(Record):
    """Tokens and money of model calls. `cost_usd` is None where no price is configured: unknown is not free."""

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Sums field by field; a cost is known only if both are (or if one of the two made no request)."""
        if not self.requests:
            cost = other.cost_usd
        elif not other.requests:
            cost = self.cost_usd
        else:
            cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            requests=self.requests + other.requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=cost,
            seconds=self.seconds + other.seconds,
        )


class PolicyOutput(Record):
    """What a policy answered to one observation. `token_ids` and `logprobs` are per generated token, if given."""

    action: Action
    text: str = ""
    """The raw reply."""
    prompt: tuple[JsonDict, ...] = ()
    """Chat messages sent, images left out; kept only where the policy is told to keep prompts."""
    prompt_token_ids: tuple[int, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    finish_reason: str = ""
    policy_version: str = ""
    usage: Usage = Usage()
    dropped_lines: int = 0
    """Lines of the tree that did not fit the policy's token budget: truncation is never silent."""


class ChatMessage(Record):
    """A message of BrowserGym's chat: what the agent told the user, and what the task told the agent."""

    role: Literal["user", "assistant", "infeasible"]
    message: str


class OpenPage(Record):
    url: str
    title: str


ActionErrorKind = Literal[
    "parse", "unknown_action", "bad_argument", "stale", "hidden", "covered", "disabled", "ambiguous", "not_editable",
    "no_option", "timeout", "navigation", "page_closed", "blocked_by_policy", "other",
]  # fmt: skip


class ActionError(Record):
    """Why an action had no effect. The kind is for counting, the message is what the policy is shown."""

    kind: ActionErrorKind
    message: str


class Observation(Record):
    """What the agent sees. `axtree` is BrowserGym's text form without `InlineTextBox` and `LineBreak` nodes."""

    url: str
    title: str = ""
    axtree: str
    open_pages: tuple[OpenPage, ...] = ()
    active_page_index: int = 0
    focused_bid: str = ""
    last_action_error: str = ""
    chat_messages: tuple[ChatMessage, ...] = ()
    screenshot_ref: str = ""
    """File name beside the stored episode; empty if none was taken."""
    screenshot: Annotated[bytes | None, Field(exclude=True, repr=False)] = None
    """PNG bytes while the episode runs. Never serialised: the store keeps the file and `screenshot_ref`."""
    slow: bool = False
    """The page was still busy when the settle cap was hit."""
    total_nodes: int = 0
    truncated: bool = False
    dropped_nodes: int = 0
    """Nodes left out at extraction because the page exceeds the node cap."""


class Timing(Record):
    """Where the time of a step went, in seconds."""

    policy: float = 0.0
    execute: float = 0.0
    settle: float = 0.0
    observe: float = 0.0
    check: float = 0.0


class Step(Record):
    """Observation o_t, the policy's output a_t, and what came of it (the next observation is the next step's)."""

    index: int
    observation: Observation
    output: PolicyOutput
    action_error: ActionError | None = None
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    timing: Timing = Timing()
    metadata: JsonDict = Field(default_factory=dict)


Phase = Literal["reset", "policy", "step", "score"]
"""What a rollout is doing; each phase has a wall clock of its own (harness.limits)."""
Source = Literal["real", "expert", "dream", "replay"]
StopReason = Literal["stop", "infeasible", "terminated", "truncated", "blocked", "max_steps", "timeout", "error", "interrupted"]
"""truncated = cut short by the environment itself (a dream in which the world model became unsure)."""


class Start(Record):
    """Where a trajectory began: a task's start page, then `prefix_actions` (empty for a fresh task)."""

    task_id: str
    prefix_actions: tuple[Action, ...] = ()


class Trajectory(Record):
    """A rollout. `source` is stated by its producer and never inferred from a path."""

    task: Task
    source: Source
    start: Start
    goal: str
    seed: int
    steps: tuple[Step, ...] = ()
    final_observation: Observation | None = None
    stop_reason: StopReason
    answer: str | None = None
    """What the agent told the user last: its answer, or why the task cannot be done; None if it told nothing."""
    producers: dict[str, str] = Field(default_factory=dict)
    """Who made it: policy, world model, judge → version or checkpoint."""

    @property
    def usage(self) -> Usage:
        total = Usage()
        for step in self.steps:
            total = total + step.output.usage
        return total


class Transition(Record):
    """One real or dreamed change of a page: the world model's training example."""

    goal: str
    observation: Observation
    action: Action
    next_observation: Observation
    provenance: JsonDict = Field(default_factory=dict)


Status = Literal["success", "failure", "error", "blocked", "inconclusive"]
"""error = something of ours or the site's broke; blocked = the site refused (captcha, access denied);
inconclusive = played to the end but not scorable (no judge configured, a judge's unreadable verdict).
Only success and failure say anything about the agent."""

Boundary = Literal["policy", "env", "site", "evaluator", "judge", "harness", "timeout"]


class ErrorInfo(Record):
    """Where and why a rollout broke (see harness.errors)."""

    boundary: Boundary
    kind: str
    message: str
    traceback: str = ""


class Score(Record):
    """One scorer's opinion. A verdict may hold several profiles (official, with errata, verified)."""

    profile: str
    version: str
    status: Status
    reward: float | None = None
    reason: str = ""


class Verdict(Record):
    """The outcome of an episode. `reward` ∈ [0, 1] is None unless status is success or failure."""

    status: Status
    reward: float | None = None
    raw_reward: float | None = None
    threshold: float | None = None
    scorer: str
    scorer_version: str
    reason: str = ""
    evidence: JsonDict = Field(default_factory=dict)
    error: ErrorInfo | None = None
    other_scores: tuple[Score, ...] = ()
    usage: Usage = Usage()
    """Tokens and money of judging."""


class Episode(Record):
    """What the store appends: one finished attempt at one `EpisodeSpec`."""

    schema_version: int = SCHEMA_VERSION
    run_id: str
    spec: EpisodeSpec
    trajectory: Trajectory
    verdict: Verdict
    started_at: str
    """ISO 8601, UTC."""
    wall_seconds: float
    worker: str = ""
    reset_epoch: int = 0
    """How often the site instance had been reset when the episode began."""
    finish_index: int = 0
    """Order in which episodes of this run finished: state may leak along it."""
    notes: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        return self.trajectory.usage + self.verdict.usage


class Check(Record):
    """One line of `harness doctor`."""

    name: str
    status: Literal["ok", "warning", "missing"]
    detail: str
    fix: str = ""
    site: str = ""
    """The site it is about, if it is about one: only tasks on that site are affected."""


def json_value(value: Any) -> JsonValue:
    """`value` as JSON data; what JSON cannot hold becomes its `str`. For evidence, which must never fail to store."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(k): json_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(v) for v in value]
    return str(value)
