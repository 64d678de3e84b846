#!/bin/sh
# Meta-train the sampler that comes with the package as "universal" (some minutes).
#
# METASAMPLER_DATA_HOME names the folder with the data. No task is of a family of data that the
# sampler is tested on: neither of imbalanced-learn's 27 sets nor of the extra sets with at least
# 4,000 rows.
set -e
cd "$(dirname "$0")"
# shellcheck disable=SC2046  # one task a line
metasampler meta-train $(cat universal-tasks.txt) \
  --output "${1:-universal.npz}" --state summary --scale-tasks --tasks-per-round 10 \
  --random-steps 4000 --updates 30000 --memory 35000 --batch 128 --lr-decay-steps 130 \
  --validation-task adbench_7_Cardiotocography --validation-task adbench_7_Cardiotocography%0.1 \
  --validation-task adbench_41_Waveform --validation-task keel_vehicle1 --validation-task keel_vehicle1%0.2 \
  --validation-task keel_poker-8-9_vs_5 --validation-task keel_cleveland-0_vs_4 \
  --mu-min 0.7 --validate-every 60 --validation-seeds 8 --seed 0 --no-history
