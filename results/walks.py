"""What a run of an explorer brought in: transitions, how many changed their page, how many failed, which pages were seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.types import Episode
from results.transitions import Change, change_of, pairs

_CHANGES: tuple[Change, ...] = ("url", "page", "focus", "none")


@dataclass
class WalkCounts:
    """Sums over episodes; `add` one at a time, so that no run has to fit into memory."""

    walks: int = 0
    transitions: int = 0
    changes: Counter[Change] = field(default_factory=Counter)
    """Transitions by what became of the page."""
    actions: Counter[str] = field(default_factory=Counter)
    action_errors: Counter[str] = field(default_factory=Counter)
    pages: set[str] = field(default_factory=set)
    """Different URLs seen."""

    def add(self, episode: Episode) -> None:
        self.walks += 1
        for step, following in pairs(episode.trajectory):
            self.pages.update((step.observation.url, following.url))
            self.transitions += 1
            self.actions[step.output.action.name] += 1
            self.changes[change_of(step.observation, following)] += 1
            if step.action_error:
                self.action_errors[step.action_error.kind] += 1

    def lines(self) -> list[str]:
        """For people, in two or three lines."""
        total = max(1, self.transitions)
        shares = ", ".join(f"{name} {self.changes[name]} ({self.changes[name] / total:.0%})" for name in _CHANGES)
        errors = ", ".join(f"{kind} {n}" for kind, n in self.action_errors.most_common()) or "none"
        return [
            f"{self.transitions} transitions from {self.walks} walks, {len(self.pages)} different pages; changed: {shares}",
            f"failed actions: {self.action_errors.total()} ({errors})",
            "actions: " + ", ".join(f"{name} {n}" for name, n in self.actions.most_common()),
        ]
