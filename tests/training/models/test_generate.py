"""Batched generation against transformers' own `generate`, and what must not depend on the batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from tests.training.models.support import tiny
from training.models import GenerationConfig, PromptEncoder, choice_probabilities, generate
from training.models.generate import batches
from training.models.linear import fast_linears
from training.models.sampling import distribution, pick, stream

PROMPTS = tuple("button 'Add to basket' link 'Sign in' " * times for times in (1, 6, 3, 3, 9, 2))
GREEDY = GenerationConfig(max_new_tokens=24)
SAMPLED = GenerationConfig(max_new_tokens=24, temperature=1.0, top_p=0.9)


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any]:
    return tiny()


def stock(model: Any, ids: Sequence[int], count: int, eos: int | None = None) -> list[int]:
    given_ids = torch.tensor([list(ids)])
    out = model.generate(
        given_ids,
        attention_mask=torch.ones_like(given_ids),
        max_new_tokens=count,
        do_sample=False,
        eos_token_id=eos,
        pad_token_id=0,
    )
    return list(out[0, len(ids) :].tolist())


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_greedy_equals_stock_generate_whatever_the_batch(kv_heads: int) -> None:
    model, tokenizer = tiny(kv_heads=kv_heads)
    encoder = PromptEncoder(tokenizer)
    for config in (GREEDY, GREEDY.model_copy(update={"max_rows": 2}), GREEDY.model_copy(update={"prefill_tokens": 40})):
        for prompt, answers in zip(PROMPTS, generate(model, tokenizer, PROMPTS, config), strict=True):
            assert list(answers[0].token_ids) == stock(model, encoder.prompt(prompt), 24, tokenizer.eos_token_id)


def test_a_stop_token_ends_a_row_and_the_others_go_on(made: tuple[Any, Any]) -> None:
    """Any token may be a stop: then rows end at different steps and the batch is compacted."""
    model, tokenizer = made
    plain = generate(model, tokenizer, PROMPTS, SAMPLED, seeds=range(6), stop_ids=())
    stop = Counter(t for answers in plain for t in answers[0].token_ids).most_common(1)[0][0]
    stopped = generate(model, tokenizer, PROMPTS, SAMPLED, seeds=range(6), stop_ids=[stop])
    reasons = set()
    for whole, cut in zip(plain, stopped, strict=True):
        ids = whole[0].token_ids
        expected = ids[: ids.index(stop) + 1] if stop in ids else ids
        assert cut[0].token_ids == expected
        assert cut[0].finish_reason == ("stop" if stop in ids else "length")
        assert len(cut[0].logprobs) == len(expected)
        reasons.add(cut[0].finish_reason)
    assert "stop" in reasons


def test_logprobs_are_those_of_the_sampled_distribution(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    encoder = PromptEncoder(tokenizer)
    for config in (GREEDY, SAMPLED, SAMPLED.model_copy(update={"temperature": 0.7, "top_p": 1.0})):
        answer = generate(model, tokenizer, PROMPTS[:3], config, seeds=[5, 6, 7])[1][0]
        prompt = encoder.prompt(PROMPTS[1])
        with torch.inference_mode():
            logits = model(torch.tensor([prompt + list(answer.token_ids)])).logits[0, len(prompt) - 1 : -1]
        expected = distribution(logits, config.temperature, config.top_p)
        chosen = expected.gather(-1, torch.tensor(answer.token_ids)[:, None])[:, 0]
        torch.testing.assert_close(torch.tensor(answer.logprobs), chosen, atol=1e-5, rtol=1e-5)


def test_samples_depend_on_seed_and_number_and_on_nothing_else(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    many = generate(model, tokenizer, PROMPTS, SAMPLED, samples=3, seeds=[1, 2, 3, 3, 4, 5])
    alone = generate(model, tokenizer, PROMPTS[2:3], SAMPLED, samples=2, seeds=[3])
    assert [a.token_ids for a in alone[0]] == [a.token_ids for a in many[2][:2]]
    assert many[2] == many[3], "equal prompts with equal seeds"
    assert len({a.token_ids for a in many[0]}) == 3, "samples differ"
    again = generate(model, tokenizer, PROMPTS[2:3], SAMPLED, seeds=[9])
    assert again[0][0].token_ids != alone[0][0].token_ids
    shorter = generate(model, tokenizer, PROMPTS[2:3], SAMPLED.model_copy(update={"max_new_tokens": 5}), seeds=[3])
    assert shorter[0][0].token_ids == alone[0][0].token_ids[:5]


def test_greedy_samples_are_one_answer_repeated(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    answers = generate(model, tokenizer, PROMPTS[:1], GREEDY, samples=3)[0]
    assert len(answers) == 3
    assert len({a.token_ids for a in answers}) == 1


def test_refused_tokens_never_come(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    encoder = PromptEncoder(tokenizer)
    wanted = {0: encoder.completion("link 'Sign in'"), 1: encoder.completion("button 'Search'")}
    free = generate(model, tokenizer, PROMPTS[:2], GREEDY)

    def accept(request: int, so_far: Sequence[int], token: int) -> bool:
        return token not in free[request][0].token_ids

    answers = generate(model, tokenizer, PROMPTS[:2], GREEDY, accept=accept)
    for one, other in zip(answers, free, strict=True):
        assert not set(one[0].token_ids) & set(other[0].token_ids)
    unbound = generate(model, tokenizer, PROMPTS[:2], GREEDY, accept=lambda *_: True)
    assert [a[0].token_ids for a in unbound] == [a[0].token_ids for a in free]

    def only(request: int, so_far: Sequence[int], token: int) -> bool:
        return token == wanted[request][len(so_far)]

    exact = generate(model, tokenizer, PROMPTS[:2], GREEDY, accept=only)
    assert all(set(a[0].token_ids[:-1]) <= set(wanted[n]) for n, a in enumerate(exact)), "else the answer ends"
    nothing = generate(model, tokenizer, PROMPTS[:1], GREEDY, accept=lambda *_: False)
    assert (nothing[0][0].finish_reason, nothing[0][0].text) == ("stop", "")


def test_a_prompt_without_room_is_refused_and_never_cut(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    with pytest.raises(UsageError, match="exceeds the model's context of 512"):
        generate(model, tokenizer, [PROMPTS[0] * 60], GREEDY)
    with pytest.raises(UsageError, match="prompt 1 is empty"):
        generate(model, tokenizer, [[5], []], GREEDY)


def test_generation_leaves_the_model_as_it_was(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    before = model.config._attn_implementation
    generate(model.train(), tokenizer, PROMPTS[:1], GREEDY)
    assert model.training
    assert model.config._attn_implementation == before
    model.eval()


def test_float32_products_through_onednn_are_the_same_numbers(made: tuple[Any, Any]) -> None:
    model, _ = made
    ids = torch.randint(3, 200, (3, 40))
    with torch.inference_mode():
        before = model(ids).logits
        with fast_linears(model):
            assert any("forward" in module.__dict__ for module in model.modules())
            torch.testing.assert_close(model(ids).logits, before, atol=1e-5, rtol=1e-5)
    assert not any("forward" in module.__dict__ for module in model.modules()), "undone"


def test_bfloat16_differs_by_its_rounding_alone(made: tuple[Any, Any]) -> None:
    """The first token of each answer: later ones stand in contexts of their own."""
    model, tokenizer = made
    first = GREEDY.model_copy(update={"max_new_tokens": 3})
    exact = generate(model, tokenizer, PROMPTS, first)
    rounded = generate(model, tokenizer, PROMPTS, first.model_copy(update={"precision": "bf16"}))
    for a, b in zip(exact, rounded, strict=True):
        assert a[0].logprobs[0] == pytest.approx(b[0].logprobs[0], abs=0.05)


def test_a_model_that_attends_through_windows_is_refused() -> None:
    from transformers import GptOssConfig, GptOssForCausalLM

    _, tokenizer = tiny()
    config = GptOssConfig(
        vocab_size=400, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, num_local_experts=2, num_experts_per_tok=1, pad_token_id=0, eos_token_id=2,
    )  # fmt: skip
    with pytest.raises(UsageError, match="gpt_oss cannot generate in this process"):
        generate(GptOssForCausalLM(config).eval(), tokenizer, PROMPTS[:1], GREEDY)


@given(
    lengths=st.lists(st.integers(1, 300), min_size=1, max_size=40),
    samples=st.integers(1, 4),
    rows=st.integers(4, 16),
    cells=st.integers(100, 5000),
)
def test_batches_hold_every_request_once_within_the_budgets(lengths: list[int], samples: int, rows: int, cells: int) -> None:
    config = GenerationConfig(max_new_tokens=10, max_rows=rows, max_cells=cells)
    found = batches([(0,) * n for n in lengths], samples, config)
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) * samples <= rows
        assert len(batch) == 1 or len(batch) * samples * (max(lengths[i] for i in batch) + 10) <= cells


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.floats(-8, 8), min_size=2, max_size=12), st.floats(0.2, 2), st.floats(0.05, 1), st.floats(0, 1, exclude_max=True)
)
def test_a_pick_is_inside_the_nucleus(logits: list[float], temperature: float, top_p: float, uniform: float) -> None:
    row = torch.tensor([logits])
    logprobs = distribution(row, temperature, top_p)
    assert float(logprobs.exp().sum()) == pytest.approx(1.0, abs=1e-4)
    token, logprob = pick(row, torch.tensor([uniform], dtype=torch.float64), temperature, top_p)
    assert torch.isfinite(logprob).all()
    assert float(logprob) == float(logprobs[0, int(token)])


def test_picks_follow_the_distribution() -> None:
    """10,000 draws of 3 tokens; the bound is 4.5 standard errors of the largest cell."""
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2]])).repeat(10_000, 1)
    tokens, _ = pick(logits, torch.from_numpy(stream(0, 0, 10_000)), 1.0, 1.0)
    shares = torch.bincount(tokens, minlength=3) / 10_000
    torch.testing.assert_close(shares, torch.tensor([0.5, 0.3, 0.2]), atol=0.0225, rtol=0)


def test_the_probability_of_a_choice_is_that_of_its_first_token(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    encoder = PromptEncoder(tokenizer)
    found = choice_probabilities(model, tokenizer, PROMPTS, ("success", "failure"))
    first = [encoder.text(word)[0] for word in ("success", "failure")]
    for prompt, row in zip(PROMPTS, found, strict=True):
        with torch.inference_mode():
            logits = model(torch.tensor([encoder.prompt(prompt)])).logits[0, -1, first]
        assert row == pytest.approx(torch.softmax(logits, -1).tolist(), abs=1e-5)
        assert sum(row) == pytest.approx(1.0)
    with pytest.raises(UsageError, match="begin with the same token"):
        choice_probabilities(model, tokenizer, PROMPTS[:1], ("success", "success"))
