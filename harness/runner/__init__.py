"""Tasks × windows × repeats → episodes, whatever breaks on the way.

plan.py       tasks → the list of EpisodeSpecs: order, seeds, instances
schedule.py   which episode may start next on which instance: dependencies, retries, broken sites
loop.py       Runner: hands episodes to workers, enforces the clocks, records what comes back
state.py      RunState: what a progress display needs to know
"""

from harness.runner.loop import Runner, RunSummary
from harness.runner.plan import make_plan
from harness.runner.schedule import Schedule
from harness.runner.state import RunState

__all__ = ["RunState", "RunSummary", "Runner", "Schedule", "make_plan"]
