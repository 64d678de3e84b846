"""Make the sampler for boosters that comes with the library, of the rows of `policies-tables`.

The learner plays constants, and these rows are how constants did on the tables, on the same tables
with flipped labels, and with a quarter of their positives: nothing has to be grown again. Five
splits of the first count, three of the second and one of the last, so that the same file comes out
when further splits are measured.

    metasampler bench policies-tables --runs 5 --output docs/results
    python bench/samplers/boosters.py docs/results boosters.npz
"""

import sys
from pathlib import Path

from metasampler import MetaSampler
from metasampler.ensemble.teams import Boosters
from metasampler.meta import FitToConstants
from metasampler.policy import signal_state
from metasampler_bench import load_spec
from metasampler_bench._draw_cases import ACTIONS, Cases, cross_validated
from metasampler_bench._draw_judge import (
    CONSTANTS,
    MUS,
    NOISE,
    THINNED,
    cases_of,
    known_of,
    mean_of,
)
from metasampler_bench._draw_policies import PENALTY, fit_sampler, learned, one_threshold
from metasampler_bench._rows import finished, last_rows
from metasampler_bench._store import ResultStore
from metasampler_bench.datasets import REAL_FAMILIES

#: By what is special of the tables; None for the tables as they are.
N_SPLITS = {None: 5, "noise": 3, "thinned": 1}
SEED = 0


def gain(cases: Cases, known: Cases) -> dict[str, float]:
    """Return relative scores on families that were not learned from, beside the best constants."""
    scores = {
        "relative_score": cross_validated(cases, learned(), known),
        "best_constant_mu": max((cases.test[mu] for mu in MUS), key=lambda s: mean_of(cases, s)),
        "best_constant": max((cases.test[d] for d in CONSTANTS), key=lambda s: mean_of(cases, s)),
        "one_threshold": cross_validated(cases, one_threshold, known),
        "uniform": cases.test["uniform"],
    }
    return {name: round(mean_of(cases, each), 4) for name, each in scores.items()}


def is_used(row: dict) -> bool:
    """Return whether the sampler learns from a row."""
    cell = row["cell"]
    if cell.get("dataset") not in REAL_FAMILIES or cell.get("draws", "mu") not in ("mu", "power"):
        return False
    variety = next((name for name in ("noise", "thinned") if name in cell), None)
    return cell["run"] < N_SPLITS[variety]


folder, output = (Path(argument) for argument in sys.argv[1:3])
spec = load_spec("policies-tables")
stored = finished(last_rows(ResultStore(folder / f"{spec.name}.jsonl").rows()))
rows = [row for row in stored if is_used(row)]
known = known_of(rows)
names = sorted(set(cases_of(rows, {}).tables.tolist()))
sampler = MetaSampler.from_policy(
    fit_sampler(known, seed=SEED),
    n_estimators=4,
    state="signal",
    validation_fraction=0.1,
    trainer=FitToConstants(
        N_SPLITS[None], len(ACTIONS), score_on="test", relative=True, penalty=PENALTY
    ),
    random_state=SEED,
)
sampler.n_updates_ = 1
sampler.summary_ = {
    "tasks": [{"name": name, "family": REAL_FAMILIES[name]} for name in names],
    "families": len(set(known.families.tolist())),
    "splits": N_SPLITS[None],
    "varieties": {
        f"{NOISE:.0%} flipped training labels, splits": N_SPLITS["noise"],
        f"{THINNED:.0%} of the positives, splits": N_SPLITS["thinned"],
    },
    "estimator": repr(Boosters()),
    "trainer": "FitToConstants",
    "state": "signal: the logarithm of the rounds after which scouts stop",
    "action": "power: rows are drawn with weights (error + 0.1) ** power, from 0 to 6",
    "scoring": "average_precision",
    "cross_validated_by_family": gain(cases_of(rows, {}), known),
    "with_flipped_labels": gain(cases_of(rows, {"noise": NOISE}), known),
    "limits": "two classes, 75 or more rows of the smaller one, at most 15,000 training rows",
    # Of the draws that it learns from, and of the scouts before them.
    "cpu_hours": round(
        sum(
            row["scout_cpu"] + sum(row["cpu"][draw] for draw in ACTIONS if draw in row["cpu"])
            for row in rows
        )
        / 3600,
        2,
    ),
    "command": "python bench/samplers/boosters.py docs/results boosters.npz",
    "rows": "metasampler bench policies-tables --runs 5",
    "commit": ", ".join(sorted({str(row["commit"]) for row in rows})),
    "date": max(row["date"] for row in rows),
    "seed": SEED,
    "interrupted": False,
    "stopped": False,
}
sampler.save(output)
for name in ("cross_validated_by_family", "with_flipped_labels", "cpu_hours"):
    print(f"{name}: {sampler.summary_[name]}")
for signal in (10, 20, 30, 40, 60, 100, 200):
    print(f"signal {signal}: power {sampler.choose(signal_state(signal)):.2f}")
