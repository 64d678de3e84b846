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
  --output "${1:-universal.npz}" --trainer constants --option state=summary \
  --option "hidden_layer_sizes=()" --option n_estimators=20 --option n_sweeps=1 \
  --option tasks_per_round=133 --option mu_min=0.4 --option penalty=0.0003 --splits 5 \
  --validation-task adbench_7_Cardiotocography --validation-task adbench_7_Cardiotocography%0.1 \
  --validation-task adbench_41_Waveform --validation-task keel_kddcup-buffer_overflow_vs_back \
  --validation-task keel_kddcup-guess_passwd_vs_satan \
  --every 1 --validation-seeds 8 --seed 0 --no-history --jobs 2 \
  --checkpoint "${1:-universal.npz}.state"
