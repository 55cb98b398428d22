"""Clients of OpenAI-compatible model servers: one request in, one `Completion` out, over plain HTTP.

    EndpointConfig (config)  where the server is, what to ask of it, what it costs
    Completions    (client)  sends chat messages, retries what is worth retrying
      ├ replies              JSON of a server → Completion, tolerant of what vLLM, OpenAI and others leave out
      ├ retries              which failures are tried again, and after how long
      └ errors               CompletionError: one kind per thing a person can do about it

vLLM comes first (`logprobs`, `return_token_ids`), but nothing here needs it, and vLLM is never imported.
"""

from harness.completions.client import Completions, Message
from harness.completions.config import EndpointConfig
from harness.completions.errors import CompletionError, CompletionErrorKind
from harness.completions.replies import Completion

__all__ = ["Completion", "CompletionError", "CompletionErrorKind", "Completions", "EndpointConfig", "Message"]
