#!/usr/bin/env bash
# The four ablation grids, with what they need: the oracle's run, nearly right runs (a judge that has seen no failure calls
# everything a success), walks, a data set, the audit's controls. Hours to days on two cores; every step goes on where it stopped.
# Arguments go to each `harness ablate`: scripts/ablations.sh --jobs 2 --seeds 1
set -euo pipefail
cd "$(dirname "$0")/.."
harness=.venv/bin/harness
# 4: some episodes ended in an error. They are counted where it matters, and are no reason to stop here.
play() { "$harness" "$@" || [ $? = 4 ]; }

play run --bench arena --policy oracle --run-dir runs/arena-oracle
play run --bench arena --policy nearly --run-dir runs/arena-nearly
play explore --bench arena --run-dir runs/arena-explore
[ -f data/wm/arena/card.json ] || "$harness" data build runs/arena-oracle runs/arena-nearly runs/arena-explore --out data/wm/arena
play audit controls runs/arena-oracle --env arena --limit 200 --out runs/arena-oracle-controls
failed=0
for grid in world_model dream_length real_ratio truncation; do
  "$harness" ablate --config "configs/ablations/$grid.toml" "$@" || failed=$?
  [ "$failed" != 130 ] || exit 130
done
exit "$failed"
