"""Make the sampler for boosters that comes with the library, of the rows of `policies-tables`.

Soft actor-critic was trained several times on one table of every family; the rows hold what each
training learned. The sampler is the mean of all of them, so that no seed is chosen. What stands on
its card as its gain was measured with trainings on one half of the families, on the other half.

    metasampler bench policies-tables --output docs/results
    python bench/samplers/boosters.py docs/results boosters.npz

With ``--flips`` it is made of the trainings that also saw every table with flipped labels.
"""

import sys
from pathlib import Path

import numpy as np

from metasampler import MetaSampler
from metasampler.ensemble.teams import Boosters
from metasampler.policy import signal_state
from metasampler_bench import load_spec
from metasampler_bench._draw_cases import Cases, cross_validated
from metasampler_bench._draw_judge import CONSTANTS, MUS, NOISE, cases_of, known_of, mean_of
from metasampler_bench._draw_policies import one_threshold
from metasampler_bench._draw_trained import OWN, policy_of_all, trained
from metasampler_bench._draw_training import SIGNALS, soft_actor_critic
from metasampler_bench._rows import finished, last_rows
from metasampler_bench._store import ResultStore
from metasampler_bench.datasets import REAL_FAMILIES

FLIPS = "--flips" in sys.argv
FOLDER, OUTPUT = (Path(argument) for argument in sys.argv[1:3])


def gain(cases: Cases) -> dict[str, float]:
    """Return relative scores of the policies of halves, and of what they have to beat."""
    found = trained(rows, cases, learner, noise)
    best = {
        "best_constant_mu": max(mean_of(cases, cases.test[draw]) for draw in MUS),
        "best_constant": max(mean_of(cases, cases.test[draw]) for draw in CONSTANTS),
        "one_threshold": mean_of(cases, cross_validated(cases, one_threshold, known_of(rows))),
        "uniform": mean_of(cases, cases.test["uniform"]),
    }
    scores = {"relative_score": mean_of(cases, found.as_one), **best}
    return {name: round(float(score), 4) for name, score in scores.items()}


spec = load_spec("policies-tables")
rows = finished(last_rows(ResultStore(FOLDER / f"{spec.name}.jsonl").rows()))
learner, noise = OWN[0], NOISE if FLIPS else 0.0
policy, trainings = policy_of_all(rows, learner, noise)
tasks = trainings[0]["tasks"]
sampler = MetaSampler.from_policy(
    policy,
    n_estimators=4,
    state="signal",
    validation_fraction=0.25,
    learner=soft_actor_critic(len(tasks), trainings[0]["n_episodes"] // len(tasks)),
    random_state=trainings[0]["seed"],
)
sampler.n_updates_ = sampler.learner.n_updates
sampler.summary_ = {
    "tasks": [{"name": name, "family": REAL_FAMILIES[name.split("@")[0]]} for name in tasks],
    "families": len(set(REAL_FAMILIES.values())),
    "trainings": len(trainings),
    "episodes": sum(row["n_episodes"] for row in trainings),
    "cpu_hours": round(sum(row["cpu"] for row in trainings) / 3600, 2),
    "estimator": repr(Boosters()),
    "learner": "SoftActorCritic",
    "state": "signal: the logarithm of the rounds after which scouts stop",
    "action": "power: rows are drawn with weights (error + 0.1) ** power, from 0 to 6",
    "scoring": "average_precision",
    "cross_validated_by_family": gain(cases_of(rows, {})),
    "with_flipped_labels": gain(cases_of(rows, {"noise": NOISE})),
    "limits": "two classes, 75 or more rows of the smaller one; trained on at most 4,000 rows a "
    "table, tested on at most 15,000",
    "command": "python bench/samplers/boosters.py docs/results boosters.npz" + " --flips" * FLIPS,
    "rows": "metasampler bench policies-tables",
    "commit": trainings[-1]["commit"],
    "date": max(row["date"] for row in trainings),
    "versions": trainings[-1]["versions"],
    "seed": trainings[0]["seed"],
    "interrupted": False,
    "stopped": False,
}
sampler.save(OUTPUT)
for name in ("cross_validated_by_family", "with_flipped_labels", "episodes", "cpu_hours"):
    print(f"{name}: {sampler.summary_[name]}")
for signal in (10, 20, 30, 40, 60, 100, 200):
    powers = [np.interp(signal, SIGNALS, row["powers"]) for row in trainings]
    power = sampler.choose(signal_state(signal))
    print(
        f"signal {signal}: power {power:.2f}, of trainings {min(powers):.2f} to {max(powers):.2f}"
    )
