"""A byte-level BPE tokenizer of our own, trained on trees and actions: about 4,000 tokens instead of SmolLM2's 49,000.

On a CPU the vocabulary is most of a small model's cost (embeddings, logits), and page markup compresses well with few tokens.
Any text has tokens, because the 256 bytes are tokens; nothing is ever unknown. Digits are tokens of their own, so that
"(9)" → "(10)" is a change of digits, as in SmolLM2 and Llama.

    <|start|> prompt … target <|end|>          <|pad|> fills up

The chat template writes exactly that, so that a chat server given the prompt as a user message sees the same token ids.
Training is a pure function of the texts and the size: equal input, equal file (tests/training/models/test_tokenizer.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from harness.errors import UsageError

PAD, START, END = "<|pad|>", "<|start|>", "<|end|>"
BYTES = 256
CHAT_TEMPLATE = "{{ '" + START + "' }}{% for message in messages %}{{ message['content'] }}{% endfor %}"


def train_tokenizer(texts: Iterable[str], vocab_size: int = 4096, context: int = 4096) -> PreTrainedTokenizerFast:
    """Learn merges from `texts`. The vocabulary has at most `vocab_size` tokens, fewer where the texts hold no more pairs.

    `context` is what the tokenizer states as the model's maximum length. Raises UsageError for a size that cannot hold the bytes.
    """
    if vocab_size < BYTES + 3:
        raise UsageError(
            f"a vocabulary of {vocab_size} cannot hold {BYTES} bytes and 3 special tokens", fix="set vocab_size to 512 or more"
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\d"), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=START,
        eos_token=END,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def fingerprint(tokenizer: Any) -> str:
    """SHA-256 of what decides token ids: vocabulary, merges, splitting, special tokens. Padding settings do not count."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    kept = {name: state.get(name) for name in ("model", "added_tokens", "normalizer", "pre_tokenizer", "post_processor")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
