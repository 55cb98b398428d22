"""The world model that every other has to beat: next = now."""

from __future__ import annotations

from collections.abc import Sequence

from harness.predictions import Prediction, WorldModelQuery


class CopyWorldModel:
    """Foresees that nothing changes: a full-page F1 near 1, a delta F1 of 0. Says nothing about the end or about success."""

    name = "copy"
    version = "1"
    parameters = 0

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        return [[self._copy(query)] * samples for query in queries]

    def close(self) -> None: ...

    def _copy(self, query: WorldModelQuery) -> Prediction:
        # The error of an earlier action is not part of the page.
        page = query.observation.model_copy(update={"last_action_error": ""})
        return Prediction(world_model=f"{self.name} {self.version}", next_observation=page)
