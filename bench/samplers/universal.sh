#!/bin/sh
# Meta-train the sampler that comes with the package as "universal" (five minutes on two cores).
#
# METASAMPLER_DATA_HOME names the folder with the data. No task is of a family of data that the
# sampler is tested on: neither of imbalanced-learn's 27 sets nor of the two-class extra sets with
# at least 4,000 rows. Nor are the validation tasks of a family that is trained on.
set -e
cd "$(dirname "$0")"
# shellcheck disable=SC2046  # one task a line
metasampler meta-train $(cat universal-tasks.txt) \
  --output "${1:-universal.npz}" --learner constants --state summary --hidden 0 --members 20 \
  --splits 5 --updates 1 --tasks-per-round 133 --mu-min 0.4 --penalty 0.0003 \
  --validation-task adbench_7_Cardiotocography --validation-task adbench_7_Cardiotocography%0.1 \
  --validation-task adbench_41_Waveform --validation-task keel_kddcup-buffer_overflow_vs_back \
  --validation-task keel_kddcup-guess_passwd_vs_satan \
  --validate-every 1 --validation-seeds 8 --seed 0 --no-history --jobs 2 \
  --checkpoint "${1:-universal.npz}.state" --checkpoint-every 1
