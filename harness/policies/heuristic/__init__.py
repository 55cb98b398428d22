"""The policy without a model: rules that match the goal's text with the accessibility tree. The default of `make run`.

    policy     HeuristicPolicy: asks the rules in turn, remembers what was done
    rules      their order
    situation  what a rule sees: goal, page, past;  Rule = Situation → Action | None
    goal       quoted strings, ordinals, lists in the goal's text
    fields, choices, dates, numbers, clicks    the rules

It knows no task by name and reads nothing but goal and tree. It is a floor to compare agents with and a proof that
the harness works, not an agent: what it cannot spell out as a rule (pictures, long texts, planning) it fails.
"""

from harness.policies.heuristic.policy import HeuristicPolicy

__all__ = ["HeuristicPolicy"]
