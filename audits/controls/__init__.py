"""Controls: is the audit itself right? They come before any number about dreams.

negative      recorded real successes through the dream's own path           α = P(failure), the false alarm rate
positive      the same with a planted fault of a known kind at a known page   detected? where? which cause?
determinism   recorded page against replayed page, same actions               mask, threshold (audits.replay.calibration)

faults        recorded trajectory → planted dreams, ten kinds
planting      a run of recorded successes → a run of planted dreams
calibrate     a negative control → calibration and DeterminismRows
grounding     a negative control → how often the ladder chose another element than the recorded one
"""
