"""Small tensors: one thread is fastest, and other tests run beside these."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
