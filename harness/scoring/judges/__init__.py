"""Model judges: a model reads what an agent saw and answered, and says whether the task was done.

    config      JudgeConfig: protocol, endpoint, how many pages, screenshots or trees, votes
    prompts     every word a judge is told; prompt_hash
    states      an episode's pages as message parts, fenced off as data
    base        asking, votes, evidence; trouble becomes an `error` verdict
      webvoyager, webjudge   the two protocols

A judge is an instrument with an error of its own: its name, version, prompt hash, model, prompts and raw replies are in
every verdict.
"""

from harness.scoring.judges.base import ModelJudge
from harness.scoring.judges.config import JudgeConfig, Modality, Protocol
from harness.scoring.judges.webjudge import WebJudge
from harness.scoring.judges.webvoyager import WebVoyagerJudge

JUDGES: dict[Protocol, type[ModelJudge]] = {"webvoyager": WebVoyagerJudge, "webjudge": WebJudge}


def build_judge(config: JudgeConfig) -> ModelJudge:
    """The judge of `config.protocol`. Raises `NotReadyError` if the endpoint's key is not set."""
    return JUDGES[config.protocol](config)


__all__ = ["JUDGES", "JudgeConfig", "Modality", "ModelJudge", "Protocol", "WebJudge", "WebVoyagerJudge", "build_judge"]
