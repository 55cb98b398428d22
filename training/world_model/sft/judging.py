"""How well a model in training tells success from failure, read where it says so: no text is generated for it.

A mean over tokens hides a blind judge: the marks around a verdict are learned at once, and a model that always says how often
goals are reached has a small loss. AUROC is 0.5 for it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from scipy.stats import mannwhitneyu

from training.models.prompting import PromptEncoder
from training.world_model.model.assessment import CHOICES


class Verdicts:
    """Collects P(success) at the first tokens of verdicts; as `training.models.choice` would ask for it."""

    def __init__(self, tokenizer: Any) -> None:
        encoder = PromptEncoder(tokenizer)
        self._choices = [encoder.text(choice)[0] for choice in CHOICES]
        self._said: list[float] = []
        self._truth: list[bool] = []

    def add(self, logits_NV: torch.Tensor, labels_N: torch.Tensor) -> None:
        """Logits and labels at the target positions of self-assessment rows; other tokens than a verdict's first are left out."""
        verdicts = torch.isin(labels_N, torch.tensor(self._choices, device=labels_N.device))
        chosen = logits_NV[verdicts][:, self._choices].float().softmax(dim=-1)
        self._said += chosen[:, 0].tolist()
        self._truth += (labels_N[verdicts] == self._choices[0]).tolist()

    def metrics(self) -> dict[str, float]:
        """`assessment_auroc`, and `assessment_brier` = mean (P(success) − success)²; empty where one outcome is missing."""
        if len(set(self._truth)) < 2 or not all(map(math.isfinite, self._said)):
            return {}
        good = [said for said, truth in zip(self._said, self._truth, strict=True) if truth]
        bad = [said for said, truth in zip(self._said, self._truth, strict=True) if not truth]
        auroc = float(mannwhitneyu(good, bad).statistic) / (len(good) * len(bad))
        brier = sum((said - truth) ** 2 for said, truth in zip(self._said, self._truth, strict=True)) / len(self._said)
        return {"assessment_auroc": auroc, "assessment_brier": brier}
