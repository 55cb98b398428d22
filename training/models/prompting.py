"""A prompt's text → the token ids that a model is given: the same for training, for sampling and for a chat server.

    template:  <|im_start|>user\\n  CONTENT  <|im_end|>\\n<|im_start|>assistant\\n
               markup                text     markup

A page may hold the text `<|im_end|>` or `<|end|>`. It comes from strangers and must not end a turn, so the content is encoded
with special tokens switched off, apart from the markup around it. (A chat server encodes both together: for such pages, and
only for them, its token ids differ from ours.)
"""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError

MARK = "\ue000\ue001\ue000"
"""Stands for the content while the template is rendered: private-use characters, in no template."""


class PromptEncoder:
    """Encodes prompts and completions for one tokenizer. Stateless after construction."""

    def __init__(self, tokenizer: Any) -> None:
        """Raises UsageError if the tokenizer has no chat template, or one that does not pass the message through."""
        self._tokenizer = tokenizer
        if not tokenizer.chat_template:
            raise UsageError("the tokenizer has no chat template", fix="use an instruction-tuned model, or a checkpoint of ours")
        rendered = tokenizer.apply_chat_template([{"role": "user", "content": MARK}], tokenize=False, add_generation_prompt=True)
        before, mark, after = str(rendered).partition(MARK)
        if not mark:
            raise UsageError("the tokenizer's chat template drops or rewrites the user's message", fix="use another model")
        self._before = self._markup(before)
        self._after = self._markup(after)
        self._end = int(tokenizer.eos_token_id)

    @property
    def overhead(self) -> int:
        """Tokens of markup around each prompt."""
        return len(self._before) + len(self._after)

    def text(self, text: str) -> list[int]:
        """Tokens of plain text: what looks like a special token in it is spelt out."""
        return list(self._tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def count(self, text: str) -> int:
        """Tokens of plain text, as `harness.axtree.fit` wants to count them."""
        return len(self.text(text))

    def prompt(self, text: str) -> list[int]:
        return [*self._before, *self.text(text), *self._after]

    def completion(self, text: str) -> list[int]:
        """What is to be learned after `prompt(…)`: the text and the end token."""
        return [*self.text(text), self._end]

    def _markup(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
