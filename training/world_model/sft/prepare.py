"""A data set of transitions → what the training reads, made once and kept in OUT/prepared.

    train.jsonl.gz ─┬─ some rows ───▶ tokenizer (nano)                  prepared/tokenizer/
                    ├─ pages, answers ─▶ page memory                    prepared/memory.jsonl.gz
                    └─ all rows ────▶ labels ─▶ rows ─▶ token arrays    prepared/train.npz, dev.npz, prepared.json (counts)

prepared.json is written last and names what it was made from: another configuration or data set makes everything anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from transformers import AutoTokenizer

from harness.axtree import approximate_tokens
from harness.errors import UsageError
from harness.types import JsonDict
from results.environment import package_versions
from training.models import PromptEncoder, build_model
from training.models.checkpoint import LIBRARIES
from training.world_model.formats import Format, get_format
from training.world_model.formats.rows import remember
from training.world_model.labels import DiffLabeler
from training.world_model.memory import PageMemory
from training.world_model.sft.config import SftConfig
from training.world_model.sft.rows import Examples, assessment_rows, remembering, transition_rows
from training.world_model.sft.tokens import KINDS, LengthPolicy, TokenTable, tokenise
from training.world_model.sft.varying import varied
from training.world_model.transitions import WorldModelExample, read_card, read_dataset, read_outcomes

T = TypeVar("T")
Progress = Callable[[str, int, int | None], None]
"""(what is being done, how many so far, of how many or None)."""


@dataclass(frozen=True)
class Prepared:
    model: Any
    tokenizer: Any
    encoder: PromptEncoder
    form: Format
    memory: PageMemory
    train: TokenTable
    dev: TokenTable
    dev_examples: tuple[WorldModelExample, ...]
    """Those that are answered in full at each look."""
    counts: JsonDict
    """Rows, tokens, and what was refused and why, per split."""
    data_sha256: str


def format_of(name: str, max_prompt_tokens: int, options: JsonDict, memory: PageMemory, encoder: PromptEncoder) -> Format:
    return get_format(
        name, memory=memory, count_tokens=remembering(encoder.count), max_prompt_tokens=max_prompt_tokens, **options
    )


def prepare(config: SftConfig, data: Path, out: Path, progress: Progress = lambda *_: None) -> Prepared:
    """Make or read what the training needs. Raises UsageError for an empty train or dev split, or one that loses all rows."""
    card = read_card(data)
    folder = out / "prepared"
    stamp: JsonDict = {
        "rows": config.rows_digest,
        "dev_rows": config.checks.dev_rows,
        "data": card.hash,
        "versions": dict(package_versions(LIBRARIES)),
    }
    for split in ("train", "dev"):
        if not card.splits[split].rows:
            raise UsageError(f"the {split} split of {data} is empty", fix="build a data set from more runs")
    state = _read_state(folder / "prepared.json")
    known = state is not None and all(state.get(name) == value for name, value in stamp.items())

    def examples(split: str, count: int | None) -> Examples:
        rows = card.splits[split].rows
        number = min(rows, count or rows)
        return lambda what: counted(evenly(read_dataset(data, split), rows, count), f"{split}: {what}", number, progress)

    train, dev = examples("train", config.rows.limit), examples("dev", config.checks.dev_rows)
    if known:
        memory = PageMemory.load(folder / "memory.jsonl.gz")
        texts: Sequence[str] = ()
    else:
        folder.mkdir(parents=True, exist_ok=True)
        memory = remember(train("pages"))
        texts = _texts(config, examples("train", config.rows.tokenizer_rows))
    model, tokenizer = _model(config, folder / "tokenizer", texts, known)
    encoder = PromptEncoder(tokenizer)
    form = format_of(config.format.name, config.format.max_prompt_tokens, config.format.options, memory, encoder)
    if known and state is not None:
        tables = {split: TokenTable.load(folder / f"{split}.npz") for split in ("train", "dev")}
        counts = state["counts"]
    else:
        tables, counts = {}, {}
        for split, rows in (("train", train), ("dev", dev)):
            tables[split], counts[split] = _table(config, rows, data, split, form, encoder)
            tables[split].save(folder / f"{split}.npz")
        memory.save(folder / "memory.jsonl.gz")
        (folder / "prepared.json").write_text(json.dumps({**stamp, "counts": counts}, indent=2), encoding="utf-8")
    assert isinstance(counts, dict)
    dev_examples = tuple(evenly(read_dataset(data, "dev"), card.splits["dev"].rows, config.checks.dev_rows))
    return Prepared(model, tokenizer, encoder, form, memory, tables["train"], tables["dev"], dev_examples, counts, card.hash)


def evenly(items: Iterable[T], total: int, count: int | None) -> Iterator[T]:
    """`count` of `total` items at equal distances, the first included; all of them where `count` is None or not smaller."""
    if count is None or count >= total:
        yield from items
        return
    taken = 0
    for number, item in enumerate(items):
        if taken < count and number * count >= taken * total:
            taken += 1
            yield item


def counted(items: Iterable[T], what: str, total: int | None, progress: Progress) -> Iterator[T]:
    """The items, telling `progress` about each."""
    for number, item in enumerate(items, 1):
        yield item
        progress(what, number, total)


def _texts(config: SftConfig, examples: Examples) -> list[str]:
    """What nano's tokenizer learns from: prompts and targets as they will be, cut by an estimate of their tokens."""
    form = get_format(
        config.format.name,
        memory=remember(examples("tokenizer, pages")),
        count_tokens=approximate_tokens,
        max_prompt_tokens=config.format.max_prompt_tokens,
        **config.format.options,
    )
    rows = transition_rows(lambda what: examples(f"tokenizer, {what}"), form, DiffLabeler(), Counter(), remembered=True)
    return ["assess\nsuccess\nfailure\n", *(text for row in rows for text in (row.prompt, row.completion))]


def _model(config: SftConfig, folder: Path, texts: Sequence[str], known: bool) -> tuple[Any, Any]:
    """The untrained model; nano's tokenizer is kept, so that a resumed training has the same."""
    from training.models.presets import NANO, nano

    if config.model.base == NANO and known:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        return nano(config.model, tokenizer, seed=config.seed), tokenizer
    model, tokenizer = build_model(config.model, texts, seed=config.seed)
    if config.model.base == NANO:
        tokenizer.save_pretrained(folder)
    return model, tokenizer


def _table(
    config: SftConfig, examples: Examples, data: Path, split: str, form: Format, encoder: PromptEncoder
) -> tuple[TokenTable, JsonDict]:
    refused: Counter[str] = Counter()
    policy = LengthPolicy(config.rows.lengths[-1], config.format.max_new_tokens)
    remembered = split == "train"
    rows = transition_rows(examples, form, DiffLabeler(), refused, remembered=remembered)
    if config.rows.assess:
        rows = chain(rows, assessment_rows(read_outcomes(data, split), form, remembered=remembered))
    if config.rows.variants and remembered:
        known = list(rows)
        rows = chain(known, varied(known, config.rows.variants, config.seed))
    table = tokenise(rows, encoder, policy, refused)
    table, left_out = _share(table, config.rows.assess_share, config.seed)
    if not (table.kinds == 0).any():
        raise UsageError(
            f"no row of the {split} split can be trained on: {dict(refused)}",
            fix="raise format.max_new_tokens or rows.lengths, or lower format.max_prompt_tokens",
        )
    per_kind = {name: int((table.kinds == index).sum()) for index, name in enumerate(KINDS)}
    counts: JsonDict = {
        "rows": dict(per_kind),
        "tokens": int(table.starts[-1]),
        "target_tokens": table.target_tokens,
        "longest": int(table.lengths.max()),
        "refused": dict(sorted(refused.items())),
        "assessments_left_out": left_out,
    }
    return table, counts


def _share(table: TokenTable, share: float, seed: int) -> tuple[TokenTable, int]:
    """The table with at most `share` of its rows self-assessments, and how many were left out."""
    transitions, assessments = np.flatnonzero(table.kinds == 0), np.flatnonzero(table.kinds == 1)
    most = int(share / (1 - share) * len(transitions))
    if len(assessments) <= most:
        return table, 0
    kept = np.random.default_rng(np.random.SeedSequence((seed, 0xA55E55))).choice(assessments, most, replace=False)
    return table.select(np.sort(np.concatenate([transitions, kept]))), len(assessments) - most


def _read_state(path: Path) -> dict[str, Any] | None:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None
