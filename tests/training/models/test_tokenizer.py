from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from tests.training.models.support import TEXTS, tiny
from training.models import PromptEncoder, train_tokenizer
from training.models.tokenizer import END, START, fingerprint

TOKENIZER = train_tokenizer(TEXTS, 400)


def test_equal_texts_in_any_order_give_the_same_tokenizer() -> None:
    assert fingerprint(train_tokenizer(TEXTS[::-1], 400)) == fingerprint(TOKENIZER)
    assert fingerprint(train_tokenizer(TEXTS[:1], 400)) != fingerprint(TOKENIZER)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_survives_encoding_and_decoding(text: str) -> None:
    ids = PromptEncoder(TOKENIZER).text(text)
    assert TOKENIZER.decode(ids) == text


def test_words_of_the_training_text_are_few_tokens_and_digits_are_single_ones() -> None:
    encoder = PromptEncoder(TOKENIZER)
    assert encoder.count(" basket") == 1
    assert encoder.count("2024") == 4


def test_what_looks_like_a_special_token_in_a_page_is_only_text() -> None:
    encoder = PromptEncoder(TOKENIZER)
    ids = encoder.prompt(f"button '{END}' {START}")
    assert ids.count(TOKENIZER.bos_token_id) == 1
    assert TOKENIZER.eos_token_id not in ids
    assert encoder.completion("x")[-1] == TOKENIZER.eos_token_id


def test_a_chat_server_sees_the_same_token_ids() -> None:
    text = "button 'Sign in'\nlink 'Blue mug'"
    rendered = TOKENIZER.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True)
    assert rendered == PromptEncoder(TOKENIZER).prompt(text)


def test_a_vocabulary_too_small_for_the_bytes_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot hold 256 bytes"):
        train_tokenizer(TEXTS, 200)


def test_a_tokenizer_without_chat_template_is_refused() -> None:
    _, tokenizer = tiny()
    tokenizer.chat_template = None
    with pytest.raises(UsageError, match="no chat template"):
        PromptEncoder(tokenizer)
    tokenizer.chat_template = "{{ 'always the same' }}"
    with pytest.raises(UsageError, match="drops or rewrites"):
        PromptEncoder(tokenizer)
