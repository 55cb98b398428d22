"""Our batched generation against transformers' own `generate`: the same weights, prompts and number of tokens, greedy.

    .venv/bin/python benchmarks/generation.py [--checkpoint DIR] [--batches 1,4,16,64] [--prompt 256] [--new 32] [--samples 1]

Both run in turn in one process, and processor time is counted, not waiting: read the ratio, not the rates. Stock pads on the
left and cannot share a prompt between samples; ours pads on the right and reads each prompt once. The end token is switched
off for both: every row writes all its tokens.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from training.models import GenerationConfig, ModelConfig, build_model, generate, load_checkpoint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="default: nano with random weights")
    parser.add_argument("--batches", default="1,4,16,64")
    parser.add_argument("--prompt", type=int, default=256, help="longest prompt in tokens; the shortest has three quarters of it")
    parser.add_argument("--new", type=int, default=32)
    parser.add_argument("--samples", type=int, default=1, help="answers to each prompt; above 1 they are drawn, not greedy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    model, tokenizer = _model(arguments.checkpoint)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f}M parameters, {arguments.threads} threads, float32")
    shortest = arguments.prompt * 3 // 4
    print(f"prompts of {shortest} to {arguments.prompt} tokens, {arguments.new} new ones, {arguments.rounds} rounds")
    print(f"{'batch':>6} {'stock tokens/s':>15} {'ours tokens/s':>15} {'ratio':>7} {'equal rows':>11}")
    for batch in map(int, arguments.batches.split(",")):
        print(_compare(model, tokenizer, batch, arguments), flush=True)


def _compare(model: Any, tokenizer: Any, batch: int, arguments: argparse.Namespace) -> str:
    prompts = _prompts(len(tokenizer), max(1, batch // arguments.samples), arguments.prompt)
    drawn = arguments.samples > 1
    config = GenerationConfig(max_new_tokens=arguments.new, temperature=float(drawn), max_rows=batch)

    def ours() -> list[list[int]]:
        found = generate(model, tokenizer, prompts, config, samples=arguments.samples, stop_ids=())
        return [list(answer.token_ids) for row in found for answer in row]

    def stock() -> list[list[int]]:
        longest = max(map(len, prompts))
        ids = torch.full((len(prompts), longest), int(tokenizer.pad_token_id or 0))
        for number, prompt in enumerate(prompts):
            ids[number, longest - len(prompt) :] = torch.tensor(prompt)
        mask = torch.zeros_like(ids)
        for number, prompt in enumerate(prompts):
            mask[number, longest - len(prompt) :] = 1
        with torch.inference_mode():
            out = model.generate(
                ids, attention_mask=mask, min_new_tokens=arguments.new, max_new_tokens=arguments.new, do_sample=drawn,
                num_return_sequences=arguments.samples, eos_token_id=None, pad_token_id=0, top_k=0,
            )  # fmt: skip
        return [list(row) for row in out[:, longest:].tolist()]

    times: dict[str, list[float]] = {"stock": [], "ours": []}
    answers: dict[str, list[list[int]]] = {}
    for number in range(arguments.rounds + 1):
        for name, run in (("stock", stock), ("ours", ours)):
            seconds, answers[name] = _timed(run)
            if number:  # the first round warms up
                times[name].append(seconds)
    tokens = len(prompts) * arguments.samples * arguments.new
    equal = sum(a == b for a, b in zip(answers["stock"], answers["ours"], strict=True))
    ratio = median(a / b for a, b in zip(times["stock"], times["ours"], strict=True))
    told = "drawn" if drawn else f"{equal}/{len(answers['ours'])}"
    rates = [tokens / median(times[name]) for name in ("stock", "ours")]
    return f"{batch:>6} {rates[0]:>15,.0f} {rates[1]:>15,.0f} {ratio:>7.2f} {told:>11}"


def _timed(run: Callable[[], list[list[int]]]) -> tuple[float, list[list[int]]]:
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def _prompts(vocabulary: int, count: int, longest: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(longest * 3 // 4, longest + 1, (count,), generator=generator).tolist()
    return [torch.randint(3, vocabulary, (length,), generator=generator).tolist() for length in lengths]


def _model(checkpoint: Path | None) -> tuple[Any, Any]:
    if checkpoint is not None:
        loaded = load_checkpoint(checkpoint)
        return loaded.model, loaded.tokenizer
    letters = "etaoinshrdlu"
    texts = ("".join(letters[number // 12**place % 12] for place in range(4)) + " " for number in range(12**4))
    return build_model(ModelConfig(), texts)  # enough different pairs to fill the vocabulary


if __name__ == "__main__":
    main()
