"""Sentences, verdicts and counts on the result pages are what the stored rows say."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from metasampler_bench import load_spec
from metasampler_bench._claims import (
    CLAIMS,
    count_fits,
    judge_claims,
    load_looks,
    make_claims_page,
    say_what_is_left,
    with_sentences,
)
from metasampler_bench._look import Look
from metasampler_bench._paired import Difference, paired
from metasampler_bench._paper_sentences import transfer_losses
from metasampler_bench._sampler_cards import SAMPLER_CARDS
from metasampler_bench._sampler_sentences import SAMPLER_SENTENCES
from metasampler_bench._sentences import SENTENCES, say
from metasampler_bench._spec import list_specs
from metasampler_bench._statistics import holm

RESULTS = Path(__file__).parents[2] / "docs" / "results"
BOARDS = ("policies", "leaderboard", "leaderboard-large")
PAPER = [name for name in list_specs() if load_spec(name).paper]
REVIEW = ("seeds", "sensitivity", "validation-size", "own-members", "deep")


@pytest.fixture(scope="module")
def looks():
    return load_looks(RESULTS)


def row(score, run=0, fold=0, **cell):
    return {"spec": "s", "seed": 0, "score": score, "cell": {**cell, "run": run, "fold": fold}}


@pytest.mark.parametrize("page", ["README.md", "sampler.md"])
def test_the_pages_are_what_the_rows_say(page, looks):
    text = (RESULTS / page).read_text(encoding="utf-8")
    assert "<!-- rows: " in text
    assert with_sentences(text, looks) == text, (
        "run: metasampler bench claims --output docs/results"
    )


def test_the_claims_are_what_the_rows_say(looks):
    text = (RESULTS / "claims.md").read_text(encoding="utf-8")
    assert text == make_claims_page(looks)
    for line in (judge_claims(looks).markdown("##").strip(), say_what_is_left(looks)):
        assert line in text


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_pages_open_with_their_sentences(name, looks):
    if name not in looks:
        pytest.skip("no rows yet")
    said = say(looks[name].spec, looks[name].rows)
    assert said
    assert said in (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert "nan" not in said


def test_every_place_of_the_samplers_is_on_their_page():
    text = (RESULTS / "sampler.md").read_text(encoding="utf-8")
    places = set(re.findall(r"<!-- rows: ([\w-]+) -->", text))
    assert {*SAMPLER_SENTENCES, *SAMPLER_CARDS} <= places


def test_every_paper_spec_has_sentences_and_a_place_in_the_readme():
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    for name in (*PAPER, *REVIEW, *BOARDS):
        assert name in SENTENCES
        assert f"<!-- rows: {name} -->" in text
        assert any(report["kind"] == "sentences" for report in load_spec(name).reports)


def test_cells_that_are_left_are_counted(looks):
    spec = load_spec("networks")
    cells = [cell for job in spec.jobs() for cell in job.cells]
    done = [{"spec": "networks", "seed": 0, "score": 0.5, "cell": cell} for cell in cells[3:]]
    assert f"`networks` 3 of {len(cells)}" in say_what_is_left({"networks": Look(spec, done)})
    whole = Look(spec, [{**done[0], "cell": cell} for cell in cells])
    assert "`networks`" not in say_what_is_left({"networks": whole})


def test_fits_are_counted_cell_by_cell():
    spec = load_spec("transfer-matrix")
    rows = [row(0.5, fold=n, dataset=name, k=10) for name in ("a", "b") for n in range(8)]
    rows += [row(0.5, fold=n, dataset="a", meta_task="b", k=10) for n in range(3)]
    # A sampler that takes minutes has a line of its own.
    rows.append(row(0.5, dataset="b", meta_task="isolet", k=10))
    looks = {"transfer-matrix": Look(spec, rows), "datasets": Look(load_spec("datasets"), rows)}
    looks["deep"] = Look(load_spec("deep"), rows[:16])
    lines = [[entry.text for entry in line] for line in count_fits(looks).rows]
    assert lines == [
        ["Figure 5", "transfer-matrix", "a", "2", "3 to 8", "1"],
        ["Figure 5", "transfer-matrix", "b", "1", "8", "0"],
        ["Figure 5", "transfer-matrix", "samplers of isolet elsewhere", "1", "1", "1"],
        ["-", "deep", "a, b", "1", "8", "0"],
    ]


def test_pages_that_are_linked_are_there():
    for name in ("README.md", "claims.md"):
        text = (RESULTS / name).read_text(encoding="utf-8")
        for page in re.findall(r"\]\(([\w-]+\.md)\)", text):
            assert (RESULTS / page).is_file(), page


def test_claims_name_specs_and_rules():
    for claim in CLAIMS:
        assert claim.spec in list_specs()
        assert claim.rule
        assert claim.text.endswith(".")


def test_a_verdict_changes_with_the_rows():
    spec = load_spec("under-sampling")
    claim = CLAIMS[0]
    others = ("rusboost-paper", "under-bagging", "spe-paper", "cascade")
    for own, verdict in ((0.9, "confirmed"), (0.1, "not confirmed")):
        rows = [row(own, dataset="isolet", method="mesa-fit", k=5)]
        rows += [row(0.5, dataset="isolet", method=name, k=5) for name in others]
        assert claim.judge(Look(spec, rows))[0] == verdict


def test_marked_places_are_filled_and_the_rest_is_kept(looks):
    text = "a 1\n<!-- rows: datasets -->\nold\n<!-- end -->\nb 2\n"
    written = with_sentences(text, looks)
    said = say(looks["datasets"].spec, looks["datasets"].rows)
    assert written == f"a 1\n<!-- rows: datasets -->\n{said}\n<!-- end -->\nb 2\n"
    assert with_sentences(written, looks) == written


def test_differences_on_a_fixed_split_are_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 9))
    one, two = ({(n, 0): float(v) for n, v in enumerate(values)} for values in (a, b))
    plain = Difference(one, two, fixed=True)
    assert plain.p == pytest.approx(ttest_rel(a, b).pvalue)
    assert plain.mean == pytest.approx(np.mean(a - b))
    # Folds share training rows: the error is larger, by what Nadeau and Bengio say.
    folds = Difference(one, two)
    assert folds.error == pytest.approx(plain.error * np.sqrt((1 / 9 + 1 / 3) / (1 / 9)))
    assert Difference(one, {}).n == 0


def test_tables_of_differences_are_paired_and_corrected():
    spec = load_spec("synthetic")
    rng = np.random.default_rng(1)
    rows = []
    for fold in range(4):
        base = rng.random()
        rows.append(row(base, fold=fold, dataset="arch-low", method="mesa-fit", k=5))
        scores = {"under-bagging": base - 0.2 + 0.01 * rng.random()}
        scores["smoteboost"] = base + 0.1 * (-1) ** fold
        rows += [row(v, 0, fold, dataset="arch-low", method=m, k=5) for m, v in scores.items()]
    # A row without its pair does not count.
    rows.append(row(9.0, run=1, dataset="arch-low", method="smoteboost", k=5))
    report = {"rows": ["method"], "columns": ["dataset"], "reference": {"method": "mesa-fit"}}
    (table,) = paired(spec, rows, report)
    texts = {line[0].text: line[1] for line in table.rows}
    assert texts["UnderBagging"].bold
    assert texts["UnderBagging"].text.startswith("-0.19")
    assert not texts["SMOTEBoost"].bold
    assert "4 pairs each" in table.note
    assert holm([0.01, 0.5]) == [0.02, 0.5]


def test_relative_differences_are_of_the_splits_that_both_have():
    own, whole = {(0, 0): 0.9}, {(0, 0): 1.0, (0, 1): 0.1}
    assert Difference(own, whole).relative == pytest.approx(-0.1)
    rows = [row(v, 0, f, dataset="isolet", method="mesa-fit", k=10) for (_, f), v in whole.items()]
    rows.append(row(0.9, dataset="isolet", method="mesa-fit", k=10, meta_fraction=0.5))
    ((loss, part, name),) = transfer_losses(Look(load_spec("transfer-matrix"), rows))["parts"]
    assert (loss, part, name) == (pytest.approx(-0.1), "50%", "isolet")


def test_a_difference_says_what_it_is_to():
    spec = load_spec("sensitivity")
    (report,) = (r for r in spec.reports if r["kind"] == "paired")
    cell = {"dataset": "spectrometer", "method": "mesa-fit", "k": 10}
    rows = [row(0.5, **cell), row(0.6, setting="sigma=0.4", **cell)]
    (table,) = paired(spec, rows, report)
    assert table.title.endswith("differences to the paper's settings")


def verdict(name, text, rows):
    (claim,) = (claim for claim in CLAIMS if text in claim.text)
    assert claim.spec == name
    return claim.judge(Look(load_spec(name), rows))[0]


def test_networks_are_judged_on_the_splits_that_all_have():
    cell = {"dataset": "isolet", "k": 10}
    rows = [row(0.8, method="mesa-fit", **cell), row(0.1, fold=1, method="mesa-fit", **cell)]
    rows += [row(0.7, dataset="isolet", method="network")]
    assert verdict("deep", "networks that learn", rows) == "confirmed"
    rows += [row(0.9, dataset="isolet", method="network-l2rw")]
    assert verdict("deep", "networks that learn", rows) == "not confirmed"


@pytest.mark.parametrize(
    ("scores", "reliable", "searches"),
    [
        ([0.8, 0.82, 0.81], "confirmed", "confirmed"),
        ([0.8, 0.8, 0.497], "not confirmed", "partly"),
        ([0.1, 0.12, 0.11], "not confirmed", "not confirmed"),
    ],
)
def test_meta_trainings_are_judged_by_their_seeds(scores, reliable, searches):
    rows = []
    for fold in range(4):
        place = {"fold": fold, "dataset": "spectrometer", "k": 10}
        for seed, score in enumerate(scores):
            extra = {"meta_seed": seed} if seed else {}
            rows.append(row(score + 0.001 * fold, method="mesa-fit", **place, **extra))
        rows += [row(0.5, method="random-mu", **place), row(0.4, method="uniform-draws", **place)]
        rows += [row(0.7, method="search-policies", **place)]
        rows += [row(0.5, method="search-constants", **place)]
    assert verdict("seeds", "reliable", rows) == reliable
    assert verdict("seeds", "Soft actor-critic", rows) == searches


def test_kinds_of_members_are_counted():
    place = {"dataset": "spectrometer", "k": 10}
    rows = []
    for base, score in (("GNB", 0.6), ("KNN", 0.4)):
        rows.append(row(score, method="mesa-fit", base=base, **place))
        rows.append(row(0.5, method="under-bagging", base=base, **place))
    assert verdict("own-members", "any kind of member", rows[:2]) == "confirmed"
    assert verdict("own-members", "any kind of member", rows) == "not confirmed"


def test_costs_of_the_families_are_said_with_meta_training_and_networks():
    place = {"dataset": "protein_homo", "fraction": 0.4}
    rows = []
    for method, more in (
        ("mesa-fit", {"resampling_cpu": 0.1, "meta_cpu": 61.0}),
        ("smote", {"resampling_cpu": 3.0}),
        ("network-l2rw", {"resampling_cpu": 0.0, "cpu": 7.5}),
    ):
        rows.append({**row(0.5, method=method, **place), **more})
    said = say(load_spec("methods"), rows)
    assert "MESA's draws take 0.1 CPU seconds. The slowest method, SMOTE, takes 3." in said
    assert "takes another 61." in said
    assert "takes 7.5 (L2RW)." in said
