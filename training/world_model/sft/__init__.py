"""Supervised fine-tuning of the world model: L = −Σ log p(r, Δ | goal, o_t, a_t), on the target's tokens alone (DynaWeb §3.2).

config      SftConfig, read_config        configs/world_model/*.toml
rows        Row                           a prompt and what is to be written after it: transitions and self-assessments
prepare     prepare                       data set → tokenizer, page memory, token arrays; kept beside the training
  tokens    TokenTable, LengthPolicy      rows that would lose target tokens are refused and counted
batches     plan                          every batch of the training, decided before it begins
loss        target_loss                   logits at target positions only
trainer     TargetTrainer                 TRL's SFTTrainer over token arrays
  judging   Verdicts                      does it tell success from failure?
  callbacks                               log, dev metrics, early stop, time budget, complete checkpoints
train       train                         all of it; resumes to the same losses
"""

from training.world_model.sft.config import SftConfig, read_config
from training.world_model.sft.train import Evaluate, Trained, train

__all__ = ["Evaluate", "SftConfig", "Trained", "read_config", "train"]
