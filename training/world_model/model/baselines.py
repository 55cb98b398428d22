"""Anchors: what no foresight at all is worth. `copy`: next = now. `random`: any page that training saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from harness.predictions import Prediction, WorldModelQuery
from harness.types import Observation
from training.world_model.transitions import WorldModelExample


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


class RandomWorldModel:
    """Foresees some page of the query's site, whatever was done: each distinct page is equally likely.

    A function of the query (its seed included) and the sample's number.
    """

    name = "random"
    parameters = 0

    def __init__(self, examples: Iterable[WorldModelExample]) -> None:
        """Pages are kept. An unseen site gets a page of any site."""
        pages: dict[str, dict[str, Observation]] = defaultdict(dict)
        for example in examples:
            page = example.next_observation
            pages[example.query.site].setdefault(f"{page.url}\n{page.axtree}", page)
        self._pages = {site: list(found.values()) for site, found in pages.items()}
        self._all = [page for found in self._pages.values() for page in found]
        self.version = f"1 {len(self._all)} pages"

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        return [[self._any(query, sample) for sample in range(samples)] for query in queries]

    def close(self) -> None: ...

    def _any(self, query: WorldModelQuery, sample: int) -> Prediction:
        pages = self._pages.get(query.site) or self._all
        who = f"{self.name} {self.version}"
        if not pages:
            return Prediction(world_model=who, next_observation=None, malformed="training saw no page")
        seen = query.observation
        asked = f"{query.seed} {sample} {len(query.history)} {query.action.model_dump_json()} {seen.url}\n{seen.axtree}"
        digest = blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        page = pages[int.from_bytes(digest) % len(pages)]
        return Prediction(world_model=who, next_observation=page.model_copy(update={"last_action_error": ""}))
