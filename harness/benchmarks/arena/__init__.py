"""The arena: tasks on real applications that run on this machine, scored by WebArena's evaluators and by their databases.

api          what a template's author writes against: read this first
template     Template · expect: what must be true afterwards · hands: how an oracle acts
templates/   one file per site: the source of all tasks
collection   templates → WebArena's JSON; scripts/build_arena.py writes it to data/ · data: reads it
benchmark    ArenaBenchmark · config · page_task: one episode · logins · loopback: nothing leaves the sites
scoring      WebArena's evaluators and state: rows and changes of a site's database, against its first state
oracle       the policies `oracle` and `nearly`
"""

from harness.benchmarks.arena.benchmark import ArenaBenchmark
from harness.benchmarks.arena.config import ArenaConfig
from harness.benchmarks.arena.data import NAME, SCHEMA_VERSION

__all__ = ["NAME", "SCHEMA_VERSION", "ArenaBenchmark", "ArenaConfig"]
