"""Sentences of the guide whose numbers follow from the code or from the rows of studies.

They are made again here, of what the code and the rows say now. The numbers in the prose of result
pages are marked in the pages themselves; `test_claims` compares those.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from metasampler import MesaClassifier
from metasampler.cli import _parts_input
from metasampler.ensemble import _held_out, _mesa, _recipes
from metasampler.growth import _data, _hold_out, _rules, _weights
from metasampler.large import _merging, _partitioned
from metasampler.meta import SoftActorCritic
from metasampler.policy import WithRivals
from metasampler_bench._look import short
from metasampler_bench._statistics import paired, set_means
from metasampler_bench.datasets import REAL_FAMILIES
from metasampler_bench.studies import STUDIES
from metasampler_bench.studies._study import read_rows as read_study

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"

CODE = r"`[^`]*`"


def words_of(text: str) -> str:
    """Return a text without programs, in one line."""
    text = re.sub(r"^```(?!\{).*?^```$|^```[^\n]*$", " ", text, flags=re.M | re.S)
    return " ".join(re.sub(CODE, " ", text).split())


def of_code() -> dict[str, list[str]]:
    """Return sentences of the guide, made of what the code says."""
    few, sharp = _recipes.ENOUGH_ROWS, _recipes._ENOUGH_FOR_SIGNAL
    recipe, fast, best = (_recipes.RECIPES[name] for name in ("default", "fast", "best"))
    n_members = [r.n_scouts + r.n_boosters + r.n_trees for r in (recipe, fast)]
    watched, folds = _data.MAX_EVALUATION_ROWS, 10
    rivals = WithRivals.DEFAULT
    n_rivals = len(rivals) * (WithRivals._N_MEMBERS - 1)
    rate, floor = recipe.learning_rate, _rules._FLOOR
    signal = "the number of boosting rounds, at a learning rate of 0.1,"
    agent = SoftActorCritic()
    return {
        "README.md": ["Rank 1 is best."],
        "docs/coming-from.md": ["Do not compare them with 0.5."],
        "docs/glossary.md": [
            "from 0 (easy rows) to 1 (hard rows)",
            f"from 0 (uniform) to {_rules._MAX_POWER:g}",
            f"the weight (error + {floor}) to this power",
            f"if the rare class has {few} to {sharp - 1} rows",
            signal,
            f"A round at {rate} counts {'twice' * (rate == 0.2)}.",
        ],
        "docs/guide/how-it-works.md": [
            f"weights (error + {floor}) to this power. Power 0 is a uniform draw.",
            f"**{few} to {sharp - 1} rows**",
            f"**Fewer than {few} rows**",
            f"The ensemble is {recipe.n_few} trees (`fast`: {fast.n_few}, `best`: {best.n_few})",
            f"two scouts, four boosters, {recipe.n_trees} trees",
        ],
        "docs/guide/reading-a-fit.md": [
            signal,
            f"Below {_recipes._NOISY:.0f} the fit expects noise",
        ],
        "docs/guide/sampler.md": [
            "With a power of 0 the draw is uniform.",
            f"With a power of {_rules._MAX_POWER:g} nearly all drawn rows are hard.",
            f"the constants mu = {rivals[0]:g} and mu = {rivals[1]:g}",
            f"if at least {WithRivals._FEWEST_ROWS} positives are held out",
        ],
        "docs/guide/tables.md": ["days since 1970"],
        "docs/guide/decisions.md": [
            "here a miss costs 50 and a false alarm costs 1",
            "If your team can check 200 rows",
            "the positions of the 200 most probable ones",
            "the threshold that 1% of the held-out rows reach",
            f"with {few} rows or more of the rare class",
            f"If that leaves fewer than {_held_out._ENOUGH_ROWS} rows of a class, they use all",
            f"or fewer than {few} rare rows",
            f"If a class has fewer than {_held_out._ENOUGH_ROWS} validation rows",
        ],
        "docs/guide/large-data.md": [
            f"a sample of {_parts_input._SAMPLE:,} rows",
            f"at most `max_rows` ({MesaClassifier().max_rows:,}) rows of a class",
            f"use up to {watched:,} rows of each class",
            # LightGBM's own default.
            "LightGBM's bin edges come from 200,000 rows",
            # A key and the number of its row; as many keys below the last one as above it.
            f"16 bytes for each key near the last one: for a part that gives r rows, "
            f"about {2 * _merging._N_DEVIATIONS} √r keys",
            "4 (m + 3 m) p bytes to one worker",
            f"up to {2 * watched // folds:,} rows, a tenth of the scored ones",
            "8 bytes a row",
            f"10 bytes for each row, at most {10 * 2 * watched / 1e6:.0f} MB for two classes",
            "20 float32 columns",
            f"The default has {n_members[0]} members, `fast` has {n_members[1]}.",
        ],
        "docs/design.md": [
            f"Over more than {_weights.MANY_ROWS:,} rows they are exact.",
            f"*evaluation* rows, up to {watched:,} of each class",
            f"A class with up to {_hold_out.MAX_RANKED:,} rows is assigned to folds by rank",
            f"at most {_partitioned.MAX_GATHERED / 1e6:.0f} million of them",
            "modulo 2 ** 64",
            # By `benchmarks/speed.py`.
            "CPU time is 1.2 times as much for meta-training",
            f"This costs {n_rivals} members. With fewer than {WithRivals._FEWEST_ROWS} positives",
            f'"universal" becomes the constant {_mesa._BLIND_MU}',
            f"With fewer than {few} rows of the smallest class there are no teams",
            f"But fewer than {few} rows were hardly tried",
            f"With fewer than {sharp} rows sharp trees join the teams",
            f"Scouts learn at a rate of {short(rate, 1)}.",
            f"A patience of {2 * recipe.patience} rounds",
            "stay too far from 0 and 1",
            "share code 0",
            f"No column of the {len(REAL_FAMILIES)} tables",
            f"Rewards are multiplied by {agent.reward_scale:g} as in the authors' code",
            f"the temperature of {agent.alpha:g} is meant",
        ],
    }


@cache
def of_rows() -> dict[str, list[str]]:
    """Return sentences that are made of stored rows."""
    tables = {
        table.title: [[entry.text for entry in line] for line in table.rows]
        for name in ("teams", "few-positives")
        for table in STUDIES[name].tables(stored(STUDIES[name].file_name))
    }
    variants = {line[0]: line for line in tables["Variants of the default"]}
    gain = {name: line[2] for name, line in variants.items()}
    cpu = {name: float(line[5] or "nan") for name, line in variants.items()}
    words = {1.1: "a tenth", 1.2: "a fifth"}
    more = {name: words.get(round(cpu[name] / cpu["default"], 1)) for name in cpu}
    of_signal = [line[2] for line in tables["Signal and what hard draws gain"]]
    thinned = tables["Teams or trees: thinned tables"]
    # By the number of positives: what teams are ahead of trees, and what sharp trees add.
    ahead, added = ({line[0]: line[n] for line in thinned} for n in (6, 8))
    return {
        "docs/design.md": [
            f"It changes average precision by {gain['held out, refitted']}",
            f"Over the {len(REAL_FAMILIES)} tables its rank correlation with the gain of hard "
            f"draws is {of_signal[0]} to {of_signal[1]} for boosters and {of_signal[2]} for trees.",
            f"takes {more['scouts of rate .1']} more CPU time and changes average precision by "
            f"{gain['scouts of rate .1']}.",
            f"would add {gain['patience 20']} for {more['patience 20']} more CPU time",
            f"changes by {gain['without boosters']} without boosters, and by "
            f"{gain['without trees']} without trees",
            f"({gain['without scouts']} without them)",
            f"did worse ({gain['stacked by left-out rows']})",
            f"on these rows ({gain['best team by left-out rows']})",
            f"with one row the order is as good ({gain['ratio 1']})",
            f"thinned to 50 rows of this class teams are ahead of trees by {ahead['35 to 74']}, on "
            f"tables thinned to 25 rows by {ahead['0 to 34']}",
            f"Sharp trees add {added['125 to 199']} with 150 rows, {added['35 to 74']} with 50, "
            f"and {added['0 to 34']} with 25",
        ],
        "docs/results/decisions-stopping.md": list(of_stopping()),
        "docs/results/fuzz.md": ["integers beyond 64 bits"],
        "docs/guide/decisions.md": list(of_decisions()),
    }


def stored(name: str) -> list[dict]:
    return read_study(RESULTS / name)["rows"]


def of_decisions() -> Iterator[str]:
    rows = stored("decisions-calibration.json")
    methods = ("raw", "prior", "sigmoid")
    briers = [set_means(rows, "Brier score", k=50, method=method) for method in methods]
    raw, prior, sigmoid = (short(brier.mean()) for brier in briers)
    yield (
        f"With 50 of the paper's trees, the mean Brier score over {len(briers[0])} data sets is "
        f"{raw} without calibration, {prior} with `prior` and {sigmoid} with `sigmoid`"
    )
    reached = set_means(stored("decisions-recall.json"), "recall", preset="default", target=0.8)
    yield (
        f"We asked the default for a recall of .8 on {len(reached)} tables, and got "
        f"{short(reached.mean(), 2)}"
    )


def of_stopping() -> Iterator[str]:
    rows = stored("decisions-stopping.json")

    def line(patience) -> dict:
        names = ("members", "CPU seconds", "average precision", "Brier score")
        return {name: set_means(rows, name, n_iter_no_change=patience) for name in names}

    def shown(values: dict) -> list[str]:
        return [f"{v.mean():.{n}f}" for v, n in zip(values.values(), (1, 3, 4, 4), strict=True)]

    none = line(None)
    members, *others, brier = shown(none)
    yield f"Here an ensemble has up to {float(members):.0f} members."
    yield f"| None | {' | '.join([members, *others])} | | {brier} |"
    for patience in (5, 10, 20):
        own = line(patience)
        members, seconds, score, brier = shown(own)
        gaps = [paired(own[name], none[name]) for name in ("average precision", "Brier score")]
        (lost, _), (score_gap, brier_gap) = gaps[0], (f"{gap:+.4f} ± {e:.4f}" for gap, e in gaps)
        cells = [patience, members, seconds, score, score_gap, brier, brier_gap]
        yield f"| {' | '.join(map(str, cells))} |"
        improving = " members without improvement" * (patience == 5)
        yield f"after {patience}{improving}: {-lost:.3f}, with {round(float(members))} members"
    yield f"{len(none['members'])} data sets; ±"


HELD = {
    page: [*of_code().get(page, ()), *of_rows().get(page, ())] for page in of_code() | of_rows()
}


@pytest.mark.parametrize("page", sorted(HELD))
def test_sentences_say_what_code_and_rows_say(page):
    text = words_of((ROOT / page).read_text(encoding="utf-8"))
    assert [sentence for sentence in HELD[page] if words_of(sentence) not in text] == []
