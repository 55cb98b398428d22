"""World models behind one protocol: learned, served over HTTP, and the baselines that they have to beat.

load(spec)       a world model by name or checkpoint                            loading
  learned        a language model in this process: batched, sampled, judged     answers: text → Prediction
  http           the same over an OpenAI-compatible server                      assessment: is the goal reached?
  baselines (copy, random), retrieval, oracle, program
  judge, real_judge   the model of its own dreams, or the benchmark behind a real browser
"""

from training.world_model.model.loading import load, load_judge

__all__ = ["load", "load_judge"]
