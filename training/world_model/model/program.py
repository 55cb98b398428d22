"""`program`: the environment itself as an executable world (AWM): the oracle's browser, kept alive along an episode.

AWM makes worlds of code that run without a browser. Here the world that runs is the recorded one: MiniWoB++'s pages and the
arena's applications, whose state lives in their databases and whose pages need a browser to become trees. So `program` gives
the oracle's answers by definition. What it adds is speed where queries follow each other: it goes on from where it stands,
without a reset and without the prefix, as a program that is asked for its next state does.

Queries of one call are put in the order of their episodes for that; answers come back in the order asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.predictions import Prediction, WorldModelQuery
from training.world_model.model.oracle import OracleWorldModel
from training.world_model.model.recorded import Prefix


class ProgramWorldModel(OracleWorldModel):
    """As `OracleWorldModel`, and goes on without a reset where the query is the next step of the episode that is open."""

    name = "program"
    version = "1"

    def _answers(self, queries: Sequence[WorldModelQuery], samples: int) -> list[list[Prediction]]:
        # A second sample of a query is never the next step: sample by sample keeps the episodes running.
        found: list[list[Prediction]] = [[] for _ in queries]
        order = sorted(range(len(queries)), key=lambda at: self._place(queries[at]))
        for _ in range(samples):
            for at in order:
                found[at].append(self._visit(queries[at]))
        return found

    def _place(self, query: WorldModelQuery) -> tuple[str, str, int]:
        prefix = self._episodes.locate(query)
        return ("", "", 0) if prefix is None else (str(prefix.run), prefix.spec.episode_id, len(prefix.actions))

    def _reach(self, prefix: Prefix) -> None:
        if not self.replayer.stands_at(prefix):
            self.replayer.go_to(prefix)
