"""Many prompts at once: texts, token ids and log-probabilities of the distribution that was sampled from.

    prompts ─ tokenised, equal ones once, sorted by length ─▶ batches of similar length
       each batch:   read prompts (slots, right padding)  →  repeat rows for further samples  →  one token per row and step
                     rows that have ended are dropped when a quarter has; the longest row decides what is read of the cache

A request's answer depends on its prompt, seed and sample number, not on its neighbours (float32; bfloat16 rounds with the batch).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from harness.errors import UsageError
from harness.types import Record
from training.models.linear import fast_linears
from training.models.prompting import PromptEncoder
from training.models.sampling import pick, stream
from training.models.slots import SlotCache, slot_attention_in

COMPACT_AT = 0.25
"""Share of ended rows at which a batch is copied without them: copying the cache costs about as much as one step."""

MAX_REFUSED = 256
"""Tokens that `accept` may refuse in one place; after that the answer ends there."""

Accept = Callable[[int, Sequence[int], int], bool]
"""(index of the prompt, token ids so far, the next one) → may it come? Asked about the tokens that would be taken only."""


class GenerationConfig(Record):
    """How to generate. Budgets bound memory: rows × columns of the cache."""

    max_new_tokens: int = Field(default=256, ge=1)
    """Most tokens of one answer, the end token included."""
    temperature: float = Field(default=0.0, ge=0.0)
    """0: the most probable token each time."""
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    """Sample from the most probable tokens that together reach this probability."""
    max_rows: int = Field(default=64, ge=1)
    """Most answers generated side by side."""
    max_cells: int = Field(default=131_072, ge=1)
    """Most tokens, prompts and answers, that a batch's cache has room for; a single longer row still runs."""
    prefill_tokens: int = Field(default=16_384, ge=1)
    """Most prompt tokens that are read at once."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """Of matrix products. bf16 is about three times as fast on a CPU that has it, and its rounding depends on the batch."""


@dataclass(frozen=True)
class Generated:
    """One answer."""

    text: str
    """Without the end token and other special tokens."""
    token_ids: tuple[int, ...]
    """As sampled, the end token included."""
    logprobs: tuple[float, ...]
    """Natural logarithm per token, of the tempered and cut distribution; at temperature 0 of the model's own."""
    finish_reason: Literal["stop", "length"]
    prompt_tokens: int


@dataclass
class _Row:
    """One answer in the making."""

    request: int
    sample: int
    length: int
    """Tokens so far, prompt included: the column of the next one."""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False


def generate(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[str | Sequence[int]],
    config: GenerationConfig | None = None,
    *,
    samples: int = 1,
    seeds: Sequence[int] | None = None,
    stop_ids: Iterable[int] | None = None,
    accept: Accept | None = None,
) -> list[list[Generated]]:
    """`samples` answers to each prompt, in the order of the prompts. A prompt is a text (put into the chat template) or ids.

    `seeds`: one per prompt (default 0). Greedy answers are made once and repeated. Raises UsageError for an empty prompt, or one
    that leaves no room in the model's context: cutting prompts is the caller's business.

    A token that `accept` refuses is struck out, and the choice made again among the others: log-probabilities are of the
    distribution without those struck out.
    """
    config = config or GenerationConfig()
    ids = tokenise(model, tokenizer, prompts, config.max_new_tokens)
    seeds = [0] * len(ids) if seeds is None else list(seeds)
    if len(seeds) != len(ids) or samples < 1:
        raise UsageError("generate wants one seed per prompt, and one sample or more", fix="check the arguments")
    stops = frozenset(stop_ids) if stop_ids is not None else frozenset({int(tokenizer.eos_token_id)})
    drawn = 1 if config.temperature == 0.0 else samples
    found: list[list[Generated]] = [[] for _ in ids]
    with inference(model, config):
        for batch in batches(ids, drawn, config):
            run = _Batch(model, ids, batch, drawn, config, seeds, stops, accept, int(tokenizer.eos_token_id))
            for row in run.run():
                found[row.request].append(_finished(row, tokenizer, stops, len(ids[row.request])))
    return [answers * samples if drawn < samples else answers for answers in found]


@contextmanager
def inference(model: Any, config: GenerationConfig) -> Iterator[None]:
    """Everything that generation needs around the model's forward."""
    half = torch.autocast(model.device.type, torch.bfloat16, enabled=config.precision == "bf16")
    # not inference_mode: in it autocast converts every weight anew at every step
    with torch.no_grad(), slot_attention_in(model), fast_linears(model), half:
        yield


def tokenise(model: Any, tokenizer: Any, prompts: Sequence[str | Sequence[int]], room: int) -> list[tuple[int, ...]]:
    """Token ids of each prompt. Raises UsageError where one is empty or leaves less than `room` tokens of context."""
    encoder = PromptEncoder(tokenizer) if any(isinstance(p, str) for p in prompts) else None
    ids = [tuple(encoder.prompt(p) if encoder and isinstance(p, str) else (int(i) for i in p)) for p in prompts]
    context = int(getattr(model.config, "max_position_embeddings", 1 << 30))
    for number, tokens in enumerate(ids):
        if not tokens:
            raise UsageError(f"prompt {number} is empty", fix="give at least one token")
        if len(tokens) + room > context:
            raise UsageError(
                f"prompt {number} has {len(tokens)} tokens: with {room} new ones it exceeds the model's context of {context}",
                fix="lower the format's prompt budget or max_new_tokens",
            )
    return ids


def batches(ids: Sequence[tuple[int, ...]], samples: int, config: GenerationConfig) -> list[list[int]]:
    """Requests of similar length together: lists of indices, within the budgets of `config`."""
    found: list[list[int]] = []
    current: list[int] = []
    longest = 0
    for index in sorted(range(len(ids)), key=lambda i: (len(ids[i]), ids[i], i)):
        rows = (len(current) + 1) * samples
        longest_then = max(longest, len(ids[index]))
        if current and (rows > config.max_rows or rows * (longest_then + config.max_new_tokens) > config.max_cells):
            found.append(current)
            current, longest_then = [], len(ids[index])
        current.append(index)
        longest = longest_then
    return [*found, current] if current else found


class _Batch:
    """One batch, from prompts to answers."""

    def __init__(
        self,
        model: Any,
        ids: Sequence[tuple[int, ...]],
        requests: list[int],
        samples: int,
        config: GenerationConfig,
        seeds: Sequence[int],
        stops: frozenset[int],
        accept: Accept | None,
        end: int,
    ) -> None:
        self._model, self._config, self._stops, self._accept, self._end = model, config, stops, accept, end
        self._device = model.device
        self._rows = [_Row(r, s, len(ids[r])) for r in requests for s in range(samples)]
        self._distinct = sorted({ids[r] for r in requests}, key=lambda tokens: (len(tokens), tokens))
        place = {tokens: number for number, tokens in enumerate(self._distinct)}
        self._source = torch.tensor([place[ids[row.request]] for row in self._rows], device=self._device)
        if config.temperature:
            streams = [stream(seeds[row.request], row.sample, config.max_new_tokens) for row in self._rows]
            self._uniforms = torch.from_numpy(np.stack(streams)).to(self._device)
        else:
            self._uniforms = torch.zeros((len(self._rows), config.max_new_tokens), device=self._device)

    def run(self) -> list[_Row]:
        """All rows, finished."""
        logits_RV, cache = prefill(self._model, self._distinct, self._config)
        if not torch.equal(self._source, torch.arange(len(self._distinct), device=self._device)):
            cache.select(self._source)
            logits_RV = logits_RV.index_select(0, self._source)
        active = list(self._rows)
        positions = torch.tensor([row.length for row in active], device=self._device)
        for step in range(self._config.max_new_tokens):
            tokens_R = self._sample(active, logits_RV, step)
            ended = sum(row.ended for row in active)
            if ended == len(active) or step + 1 == self._config.max_new_tokens:
                break
            if ended >= COMPACT_AT * len(active):
                kept = torch.tensor([i for i, row in enumerate(active) if not row.ended], device=self._device)
                active = [row for row in active if not row.ended]
                tokens_R, positions = tokens_R[kept], positions[kept]
                self._uniforms = self._uniforms[kept]
                cache.select(kept)
            mask = cache.advance(positions)
            out = self._model(
                input_ids=tokens_R[:, None],
                attention_mask=mask,
                position_ids=positions[:, None],
                past_key_values=cache,
                use_cache=True,
                cache_position=positions[:1],
            )
            logits_RV = out.logits[:, -1]
            positions = positions + 1
        return self._rows

    def _sample(self, active: list[_Row], logits_RV: torch.Tensor, step: int) -> torch.Tensor:
        tokens_R, logprobs_R = self._pick(logits_RV, step)
        for refused in range(MAX_REFUSED if self._accept else 0):
            places = [n for n, row in enumerate(active) if not row.ended and not self._accepts(row, int(tokens_R[n]))]
            if not places:
                break
            logits_RV = logits_RV.clone() if refused == 0 else logits_RV
            logits_RV[places, tokens_R[places]] = float("-inf")
            if refused == MAX_REFUSED - 1:
                logits_RV[places] = float("-inf")
                logits_RV[places, self._end] = 0.0
            tokens_R, logprobs_R = self._pick(logits_RV, step)
        for row, token, logprob in zip(active, tokens_R.tolist(), logprobs_R.tolist(), strict=True):
            if not row.ended:
                row.token_ids.append(token)
                row.logprobs.append(logprob)
                row.length += 1
                row.ended = token in self._stops
        return tokens_R

    def _pick(self, logits_RV: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        return pick(logits_RV, self._uniforms[:, step], self._config.temperature, self._config.top_p)

    def _accepts(self, row: _Row, token: int) -> bool:
        return self._accept is None or self._accept(row.request, row.token_ids, token)


def prefill(model: Any, prompts: Sequence[tuple[int, ...]], config: GenerationConfig) -> tuple[torch.Tensor, SlotCache]:
    """Read prompts. Returns (logits (R, V) after each prompt's last token, the filled cache). Inside `inference`."""
    device = model.device
    capacity = max(map(len, prompts)) + config.max_new_tokens
    cache = SlotCache(model.config.num_hidden_layers, len(prompts), capacity, device)
    logits: list[torch.Tensor] = []
    first = 0
    while first < len(prompts):
        last = first + 1
        while last < len(prompts) and (last + 1 - first) * max(map(len, prompts[first : last + 1])) <= config.prefill_tokens:
            last += 1
        part = prompts[first:last]
        longest = max(map(len, part))
        input_ids = torch.zeros((len(part), longest), dtype=torch.long)
        for number, tokens in enumerate(part):
            input_ids[number, : len(tokens)] = torch.tensor(tokens)
        cache.reading = slice(first, last)
        places = torch.arange(longest, device=device)
        hidden_RLH = model.base_model(
            input_ids=input_ids.to(device),
            position_ids=places[None],
            past_key_values=cache,
            use_cache=True,
            cache_position=places,
        ).last_hidden_state
        ends = torch.tensor([len(tokens) - 1 for tokens in part], device=device)
        logits.append(model.get_output_embeddings()(hidden_RLH[torch.arange(len(part), device=device), ends]))
        first = last
    return torch.cat(logits), cache


def _finished(row: _Row, tokenizer: Any, stops: frozenset[int], prompt_tokens: int) -> Generated:
    stopped = bool(row.token_ids) and row.token_ids[-1] in stops
    told = row.token_ids[:-1] if stopped else row.token_ids
    return Generated(
        text=tokenizer.decode(told, skip_special_tokens=True),
        token_ids=tuple(row.token_ids),
        logprobs=tuple(row.logprobs),
        finish_reason="stop" if stopped else "length",
        prompt_tokens=prompt_tokens,
    )
