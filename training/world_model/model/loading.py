"""`load(spec)`: a world model by name, as the command line spells it.

    DIR                       a checkpoint that `harness train world-model` wrote
    http:FILE.toml            the same behind a server                                        (model.http)
    frozen:MODEL[:FORMAT]     an untrained language model: `smollm2`, or a directory; FORMAT `paper` (default) or `edits`
    copy                      nothing changes
    random:DATA               any page of that data set's train split
    outcomes:DATA             nothing changes, and a judge of endings, learned from that data set's train split
    retrieval:DATA            the nearest transition of that data set's train split; with +FILE.toml shown to a model server
    oracle:RUN[,RUN…]         a real browser at the recorded episode's place                  (program: kept running)

Nothing heavy is imported before a model is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from harness.errors import UsageError
from harness.protocols import Judge, WorldModel

SPELLINGS = (
    "a checkpoint directory, copy, random:DATA, outcomes:DATA, retrieval:DATA, oracle:RUN, program:RUN, frozen:MODEL "
    "or http:FILE.toml"
)
FROZEN = {"paper": (1000, 600), "edits": (800, 256)}
"""Format → tokens of the page in the prompt, and of an answer, for a model that was never trained on it. The paper format says
in its prompt what is wanted; `edits` does not: an untrained model can only guess."""


def load(spec: str | Path, **options: Any) -> WorldModel:
    """Make a world model. `options` go to its kind: `dtype`, `device`, `generation` (learned, frozen).

    Raises UsageError for a spec that names nothing, NotReadyError where weights, a server's key or a browser are missing.
    """
    text = str(spec)
    kind, _, rest = text.partition(":")
    if text == "copy":
        from training.world_model.model.baselines import CopyWorldModel

        return CopyWorldModel()
    makers: dict[str, Callable[..., WorldModel]] = {
        "random": _random,
        "outcomes": _outcomes,
        "retrieval": _retrieval,
        "oracle": _oracle,
        "program": _program,
        "frozen": _frozen,
        "http": _served,
    }
    if kind in makers:
        if not rest:
            raise UsageError(f"{text!r} names nothing behind the colon", fix=SPELLINGS)
        return makers[kind](rest, **options)
    if not Path(text).is_dir():
        raise UsageError(f"no world model {text!r}", fix=SPELLINGS)
    return _learned(text, **options)


def load_judge(spec: str | Path, threshold: float = 0.5, **options: Any) -> Judge:
    """The world model of `spec` as the judge of its dreams. Raises UsageError for one that cannot assess."""
    return judge_of(load(spec, **options), threshold)


def judge_of(model: WorldModel, threshold: float = 0.5) -> Judge:
    """The judge that shares this model's weights, or browser. Raises UsageError for a model that was not taught to assess."""
    if hasattr(model, "verdict"):
        from training.world_model.model.real_judge import RealJudge

        return RealJudge(cast(Any, model))
    from training.world_model.model.judge import Assessor, SelfJudge

    if not getattr(model, "assesses", False) or not hasattr(model, "assess"):
        raise UsageError(
            f"the world model {model.name} does not say whether goals are reached", fix="train one with rows.assess = true"
        )
    return SelfJudge(cast(Assessor, model), threshold)


def _learned(directory: str, **options: Any) -> WorldModel:
    from training.models import GenerationConfig, PromptEncoder, load_checkpoint
    from training.world_model.model.learned import LearnedWorldModel

    generation = options.pop("generation", None) or GenerationConfig()
    checkpoint = load_checkpoint(directory, **options)
    form = form_of(Path(directory), PromptEncoder(checkpoint.tokenizer))
    generation = generation.model_copy(update={"max_new_tokens": checkpoint.card.max_new_tokens})
    return LearnedWorldModel.of_checkpoint(checkpoint, form, generation)


def _served(file: str) -> WorldModel:
    from transformers import AutoTokenizer

    from training.models import PromptEncoder
    from training.models.checkpoint import read_card
    from training.world_model.model.http import ServedWorldModel, read_served

    config = read_served(Path(file))
    card = read_card(config.checkpoint)
    tokenizer = AutoTokenizer.from_pretrained(config.checkpoint, local_files_only=True)
    return ServedWorldModel(
        config,
        form_of(config.checkpoint, PromptEncoder(tokenizer)),
        name=card.preset,
        version=f"{card.format} {card.weights_sha256[:12]} served",
        max_new_tokens=card.max_new_tokens,
        assesses=card.assesses,
    )


def form_of(directory: Path, encoder: Any) -> Any:
    """The format of a world model's checkpoint, with its page memory. Raises UsageError for an agent's checkpoint."""
    from training.models.checkpoint import read_card
    from training.world_model.formats import get_format
    from training.world_model.memory import PageMemory
    from training.world_model.sft.rows import remembering

    card = read_card(directory)
    if card.kind != "world_model":
        raise UsageError(f"{directory} is the checkpoint of a policy, not of a world model", fix="name the other directory")
    return get_format(
        card.format,
        memory=PageMemory.load(directory / "memory.jsonl.gz"),
        count_tokens=remembering(encoder.count),
        max_prompt_tokens=card.max_prompt_tokens,
        **card.format_options,
    )


def _frozen(rest: str, **options: Any) -> WorldModel:
    from training.models import GenerationConfig, ModelConfig, PromptEncoder, build_model
    from training.models.checkpoint import best_device
    from training.models.presets import precision
    from training.world_model.formats import get_format
    from training.world_model.model.learned import LearnedWorldModel
    from training.world_model.sft.rows import remembering

    base, _, named = rest.partition(":")
    format_name = named or "paper"
    if format_name not in FROZEN:
        raise UsageError(f"no format {format_name!r}", fix=f"one of {', '.join(FROZEN)}")
    prompt_tokens, answer_tokens = FROZEN[format_name]
    model, tokenizer = build_model(ModelConfig(base=base), ())
    encoder = PromptEncoder(tokenizer)
    form = get_format(format_name, count_tokens=remembering(encoder.count), max_prompt_tokens=prompt_tokens)
    generation = options.get("generation") or GenerationConfig()
    return LearnedWorldModel(
        model.to(options.get("device") or best_device()),
        tokenizer,
        form,
        name=f"frozen {Path(base).name}",
        version=form.name,
        generation=generation.model_copy(
            update={"max_new_tokens": answer_tokens, "precision": "bf16" if precision() else "fp32"}
        ),
        assesses=True,
    )


def _random(data: str) -> WorldModel:
    from training.world_model.model.baselines import RandomWorldModel
    from training.world_model.transitions import read_dataset

    return RandomWorldModel(read_dataset(data, "train"))


def _outcomes(data: str) -> WorldModel:
    from training.world_model.model.outcomes import OutcomesWorldModel
    from training.world_model.transitions import read_outcomes

    return OutcomesWorldModel(read_outcomes(data, "train"))


def _retrieval(rest: str) -> WorldModel:
    from training.world_model.formats import get_format
    from training.world_model.model.prompted import prompted
    from training.world_model.model.retrieval import RetrievalWorldModel
    from training.world_model.transitions import read_dataset

    data, _, file = rest.partition("+")
    model = RetrievalWorldModel(read_dataset(data, "train"), lambda memory: get_format("edits", memory=memory))
    return prompted(model, Path(file)) if file else model


def _oracle(runs: str) -> WorldModel:
    from training.world_model.model.oracle import OracleWorldModel

    return OracleWorldModel([Path(run) for run in runs.split(",")])


def _program(runs: str) -> WorldModel:
    from training.world_model.model.program import ProgramWorldModel

    return ProgramWorldModel([Path(run) for run in runs.split(",")])
