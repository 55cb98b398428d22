#!/usr/bin/env bash
# Grids of configs/ablations, with what they need: the demo (experts, what the warm policy gets wrong, a data set) and the audit's
# controls. Hours to days on two cores; every step goes on where it stopped.
# GRIDS: which, in order; all five where it is not set. Arguments go to each `harness ablate`:
#   GRIDS=methods scripts/ablations.sh --jobs 2 --seeds 1
set -euo pipefail
cd "$(dirname "$0")/.."
harness=.venv/bin/harness
# 4: some episodes ended in an error. They are counted where it matters, and are no reason to stop here.
play() { "$harness" "$@" || [ $? = 4 ]; }

.venv/bin/python scripts/dream_demo.py --out runs/dream-demo
play audit controls runs/dream-demo/experts --env miniwob --limit 200 --out runs/dream-demo/controls
failed=0
for grid in ${GRIDS:-methods real_ratio dream_length world_model truncation}; do
  "$harness" ablate --config "configs/ablations/$grid.toml" "$@" || failed=$?
  [ "$failed" != 130 ] || exit 130
done
exit "$failed"
