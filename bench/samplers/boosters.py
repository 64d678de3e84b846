"""Make the sampler for boosters that comes with the library, of the rows of `policies-tables`.

The learner plays constants, and these rows are how constants did: nothing has to be grown again.

    python bench/samplers/boosters.py docs/results boosters.npz

With ``--varieties`` it learns from the tables with flipped labels and with fewer positives too.
"""

import sys
from pathlib import Path

import numpy as np

from metasampler import MetaSampler
from metasampler.ensemble.teams import Boosters
from metasampler.meta import FitToConstants
from metasampler.policy import signal_state
from metasampler_bench import load_spec
from metasampler_bench._draw_cases import ACTIONS, Cases, cross_validated, mean_by_table
from metasampler_bench._draw_judge import cases_of, known_of
from metasampler_bench._draw_policies import PENALTY, fit_sampler, learned, one_threshold
from metasampler_bench._rows import finished, last_rows
from metasampler_bench._store import ResultStore
from metasampler_bench.datasets import REAL_FAMILIES

VARIETIES = "--varieties" in sys.argv
FOLDER, OUTPUT = (Path(argument) for argument in sys.argv[1:3])
SEED = 0


def relative(cases: Cases, scores: np.ndarray) -> float:
    """Return the mean relative score over the tables."""
    return round(float(np.mean(list(mean_by_table(cases.tables, scores).values()))), 4)


spec = load_spec("policies-tables")
rows = finished(last_rows(ResultStore(FOLDER / f"{spec.name}.jsonl").rows()))
cases = cases_of(rows, {})
known = known_of(rows) if VARIETIES else cases
names = sorted(set(cases.tables.tolist()))
counts = [int((cases.tables == name).sum()) for name in names]
mus = [draw for draw in cases.test if draw.replace(".", "").isdigit() or draw == "uniform"]
sampler = MetaSampler.from_policy(
    fit_sampler(known, seed=SEED),
    n_estimators=4,
    state="signal",
    validation_fraction=0.1,
    learner=FitToConstants(
        max(counts), len(ACTIONS), score_on="test", relative=True, penalty=PENALTY
    ),
    random_state=SEED,
)
sampler.n_updates_ = 1
sampler.summary_ = {
    "tasks": [{"name": name, "family": REAL_FAMILIES[name]} for name in names],
    "families": len(set(cases.families.tolist())),
    "splits": max(counts),
    "estimator": repr(Boosters()),
    "learner": "FitToConstants",
    "state": "signal: the logarithm of the rounds after which scouts stop",
    "action": "power: rows are drawn with weights (error + 0.1) ** power, from 0 to 6",
    "scoring": "average_precision",
    "cross_validated_by_family": {
        "relative_score": relative(cases, cross_validated(cases, learned(), known)),
        "best_constant_mu": max(relative(cases, cases.test[draw]) for draw in mus),
        "one_threshold": relative(cases, cross_validated(cases, one_threshold, known)),
        "uniform": relative(cases, cases.test["uniform"]),
    },
    "limits": "two classes, 200 or more rows of the smaller one, at most 15,000 training rows",
    "varieties": len(set(known.tables.tolist())) - len(names),
    "command": "python bench/samplers/boosters.py docs/results boosters.npz"
    + " --varieties" * VARIETIES,
    "rows": "metasampler bench policies-tables",
    "commit": sorted({str(row["commit"]) for row in rows})[-1],
    "date": max(row["date"] for row in rows),
    "seed": SEED,
    "interrupted": False,
    "stopped": False,
}
sampler.save(OUTPUT)
print(f"{OUTPUT}: {sampler.summary_['cross_validated_by_family']}")
for signal in (10, 20, 30, 40, 60, 100, 200):
    power = sampler.choose(signal_state(signal))
    print(f"signal {signal}: power {power:.2f}")
