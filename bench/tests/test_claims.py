"""Claims are judged by their rule, and pages say what the stored rows say."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel

from metasampler_bench import load_spec
from metasampler_bench._claim_list import CLAIMS, Claim, transferred
from metasampler_bench._claims import judge, judge_claims
from metasampler_bench._evidence import Pair, weigh, weigh_sets
from metasampler_bench._fit_counts import count_fits, say_what_is_left
from metasampler_bench._look import Look
from metasampler_bench._numbers import Numbers, marked, with_numbers
from metasampler_bench._paired import Difference, paired
from metasampler_bench._places import PLACES, with_places
from metasampler_bench._prose import prose_of
from metasampler_bench._report import write_report
from metasampler_bench._spec import list_specs
from metasampler_bench._statistics import holm

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"


@pytest.fixture(scope="module")
def numbers():
    return Numbers(RESULTS)


def row(score, run=0, fold=0, **cell):
    return {"spec": "s", "seed": 0, "score": score, "cell": {**cell, "run": run, "fold": fold}}


# ---------------------------------------------------------------------- stored rows and pages


def test_every_claim_is_judged_by_rows(numbers):
    looks = numbers.looks
    for claim in CLAIMS:
        assert claim.spec in list_specs()
        assert claim.text.endswith(".")
        # There may be no rows of GHM: it needs PyTorch.
        if claim.spec in looks and "GHM" not in claim.text:
            assert claim.evidence(looks[claim.spec]) is not None, claim.text


MARKED = [path for path in sorted(RESULTS.glob("*.md")) if "<!-- rows: " in path.read_text()]
MARKED += [path for path in sorted(DOCS.rglob("*.md")) if "<!--= " in path.read_text()]


@pytest.mark.parametrize("page", sorted(set(MARKED)), ids=lambda page: page.stem)
def test_numbers_and_tables_in_prose_are_what_the_rows_say(page, numbers):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!--= ") == len(list(marked(text))), "a comment without a number before it"
    assert with_numbers(with_places(text, numbers), numbers) == text, (
        "run: metasampler bench claims --output docs/results"
    )
    assert "nan" not in re.findall(r"\w+", text)


def test_every_table_for_pages_is_on_one():
    pages = "\n".join(path.read_text(encoding="utf-8") for path in RESULTS.glob("*.md"))
    assert set(re.findall(r"<!-- rows: ([\w-]+) -->", pages)) == set(PLACES)


@pytest.mark.parametrize("name", list_specs())
def test_pages_open_with_prose(name):
    page = RESULTS / f"{name}.md"
    if not page.is_file():
        pytest.skip("no rows yet")
    assert len(prose_of(page).split()) > 20


def test_pages_that_are_linked_are_there():
    for page in RESULTS.glob("*.md"):
        for name in re.findall(r"\]\(([\w-]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (RESULTS / name).is_file(), f"{page.name}: {name}"


def test_the_overview_names_every_page():
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    for name in list_specs():
        assert f"({name}.md)" in text or not (RESULTS / f"{name}.md").is_file()


# ---------------------------------------------------------------------- numbers in prose


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        (".100", 0.4567, ".457"),
        ("0.1", 0.4567, "0.5"),
        ("+.001", -0.01234, "-.012"),
        ("+.001", -0.0001, "+.000"),
        ("1%", 0.1234, "12%"),
        ("1.0%", -0.1234, "-12.3%"),
        ("1,000", 54321.4, "54,321"),
        ("7", 12, "12"),
        (".500", 1.0, "1.000"),
    ],
)
def test_numbers_keep_their_form(written, value, expected):
    text = f"a {written}<!--= x --> b"
    assert with_numbers(text, {"x": value}.get) == f"a {expected}<!--= x --> b"


def test_a_wrong_number_is_seen_and_other_text_is_kept():
    text = "It has 3<!--= 1 + 2 --> rows, 4 columns and 9<!--= 2 * 4 --> sets.\n"
    right = with_numbers(text, Numbers(RESULTS))
    assert right == "It has 3<!--= 1 + 2 --> rows, 4 columns and 8<!--= 2 * 4 --> sets.\n"
    assert [each.written for each in marked(text)] == ["3", "9"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 +", "gives no number"),
        ("mean('nothing', 'mesa')", "gives no number"),
        ("at('tables', dataset='nowhere', method='mesa')", "are there rows of this place"),
        ("__import__('os')", "gives no number"),
    ],
)
def test_expressions_that_give_no_number(expression, message, numbers):
    with pytest.raises(ValueError, match=message):
        numbers(expression)


# ---------------------------------------------------------------------- prose of pages


def test_prose_of_a_page_outlives_its_tables(tmp_path):
    spec = load_spec("datasets")
    rows = [{**row(0.5, dataset="isolet"), "spec": "datasets", "n_rows": 7, "n_features": 2}]
    rows[0] |= {"n_positive": 1, "imbalance_ratio": 6.0}
    page = write_report(spec, rows, tmp_path)[0]
    assert prose_of(page) == "<!-- written by hand -->\n<!-- until here -->"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<!-- until here -->", "Seven rows.\n<!-- until here -->"))
    rows[0]["n_rows"] = 8
    write_report(spec, rows, tmp_path)
    assert "Seven rows." in prose_of(page)
    page.write_text("# Title\n<!-- written by hand -->\nNo end.")
    with pytest.raises(ValueError, match="has no end"):
        prose_of(page)


# ---------------------------------------------------------------------- evidence and verdicts


def splits(values):
    return {(n // 4, n % 4): float(value) for n, value in enumerate(values)}


def pairs(differences, rival="SPE", dataset="mammography-authors"):
    other = np.full(len(differences), 0.5)
    return [Pair(rival, dataset, splits(other + differences), splits(other))]


def test_an_effect_on_a_fixed_split_is_a_t_test():
    values = np.random.default_rng(0).normal(0.01, 0.01, 10)
    (effect,) = weigh(pairs(values)).effects.values()
    expected = ttest_1samp(values, 0)
    assert effect.p == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval()
    assert effect.interval == pytest.approx((low, high))
    # Two one-sided tests: the larger of both p.
    sides = (
        ttest_1samp(values, 0.02, alternative="less").pvalue,
        ttest_1samp(values, -0.02, alternative="greater").pvalue,
    )
    assert effect.p_within(0.02) == pytest.approx(max(sides))


def test_data_sets_count_the_same_and_their_errors_are_independent():
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.0, 0.1, 12), rng.normal(0.2, 0.3, 8)
    # A data set of two cells is no more than one of one cell.
    both = [*pairs(first, dataset="a"), *pairs(first, dataset="a"), *pairs(second, dataset="b")]
    effect = weigh(both).effects["SPE"]
    alone = [Difference(splits(1 + v), splits(1 + 0 * v)) for v in (first, second)]
    assert effect.mean == pytest.approx(np.mean([each.mean for each in alone]))
    assert effect.error == pytest.approx(np.hypot(*(each.error for each in alone)) / 2)
    assert 7 < effect.df < 18
    assert effect.n_sets == 2


def test_what_is_ahead_of_all_is_ahead_of_the_nearest():
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.001, 10)
    found = weigh([*pairs(0.1 + noise, "far"), *pairs(0.02 + noise, "near")])
    assert found.ahead() == ("near", found.effects["near"].p)
    assert found.within(0.01) == ("far", found.effects["far"].p_within(0.01))
    # One of two rivals may differ by chance.
    assert found.different() == ("far", 2 * found.effects["far"].p)
    assert (found.n_ahead, found.n_behind, found.n_cells) == (2, 0, 2)


def test_the_rival_that_is_shown_is_the_one_that_decides():
    spread = np.random.default_rng(6).normal(0, 0.06, 10)
    spread -= spread.mean()
    # Behind by much, but not surely; behind the other by little and surely.
    loud, sure = -0.03 + spread, -0.01 + spread / 60
    found = weigh([*pairs(loud, "loud"), *pairs(sure, "sure")])
    assert found.effects["loud"].mean < found.effects["sure"].mean < 0
    # The worst of two rivals may be ahead by chance.
    assert found.ahead() == ("sure", 2 * found.effects["sure"].p)
    assert judged(found) == ("refuted", *found.ahead())
    # Ahead of both in the mean, but not surely of the one with the larger lead.
    found = weigh([*pairs(-loud, "loud"), *pairs(-sure, "sure")])
    assert found.effects["loud"].mean > found.effects["sure"].mean > 0
    assert judged(found) == ("undecided", "loud", found.effects["loud"].p)


@pytest.mark.parametrize("margin", [None, 0.01])
def test_a_verdict_shows_the_p_and_the_interval_that_it_rests_on(margin):
    rng = np.random.default_rng(7)
    names = set()
    for mean, spread in ((0.0, 0.002), (0.0, 0.1), (0.03, 0.005), (-0.03, 0.005), (-0.02, 0.03)):
        for _ in range(20):
            cells = [pairs(rng.normal(mean, spread, 10), rival) for rival in ("a", "b", "c")]
            found = weigh([pair for cell in cells for pair in cell])
            name, rival, p = judged(found, margin)
            low, high = found.effects[rival].interval
            names.add(name)
            assert (p < 0.05) == (name != "undecided")
            if name in ("confirmed", "partly", "refuted", "different") and margin is None:
                assert low > 0 or high < 0
            if name == "no difference" or (name == "confirmed" and margin):
                assert max(abs(low), abs(high)) < 0.02
    assert len(names) >= 3


def test_differences_over_many_sets_are_tested_by_ranks():
    values = np.random.default_rng(3).normal(0.02, 0.01, 20)
    found = weigh_sets({"constant": values, "none": []})
    effect = found.effects["constant"]
    assert list(found.effects) == ["constant"]
    assert effect.mean == pytest.approx(values.mean())
    assert effect.p == pytest.approx(effect.p_of_ranks) != ttest_1samp(values, 0).pvalue
    assert weigh_sets({}) is None


def test_what_several_methods_claim_needs_rows_of_all():
    claim = next(claim for claim in CLAIMS if "trained by either" in claim.text)
    methods = ("mesa-fit", "mesa-as-coded", "uniform-draws")
    rows = [
        row(0.5 - 0.1 * place + 0.01 * number, dataset=name, method=method, k=20)
        for place, method in enumerate(methods)
        for number, name in enumerate("abc")
    ]
    spec = load_spec("authors-recipe")
    found = claim.evidence(Look(spec, rows))
    assert [effect.mean for effect in found.effects.values()] == pytest.approx([0.2, 0.1])
    for method in methods:
        left = [each for each in rows if each["cell"]["method"] != method]
        assert claim.evidence(Look(spec, left)) is None


def test_the_mean_and_the_ranks_have_to_agree():
    # Behind by little on most sets, ahead by much on few.
    few = np.array([-0.01] * 23 + [0.15] * 4) + np.linspace(0, 1e-4, 27)
    effect = weigh_sets({"SPE": few}).effects["SPE"]
    assert effect.mean > 0
    assert effect.p_of_ranks < 0.05
    assert effect.p == 1.0
    for sign in (1, -1):
        found = weigh_sets({"SPE": sign * few})
        assert judged(found).name == "undecided"
        assert found.effects["SPE"].interval[0] < 0 < found.effects["SPE"].interval[1]
    # The same direction, but a mean that one set makes: its interval has zero in it.
    one = np.array([0.01] * 19 + [1.0]) + np.linspace(0, 1e-4, 20)
    effect = weigh_sets({"SPE": one}).effects["SPE"]
    assert effect.p_of_ranks < 0.001 < 0.05 < effect.p
    assert effect.interval[0] < 0


@pytest.mark.parametrize(
    ("difference", "margin", "expected"),
    [
        (0.0, None, "no difference"),
        (0.0, 0.01, "confirmed"),
        (0.25, None, "confirmed"),
        (-0.25, None, "refuted"),
        (0.25, 0.01, "different"),
    ],
)
def test_what_is_the_same_in_all_fits_is_exact(difference, margin, expected):
    # Sums of these scores round differently.
    base = np.array([0.1, 0.7, 0.35, 0.3])
    for dataset in ("a", "mammography-authors"):
        both = [Pair("r", dataset, splits(base + difference), splits(base))]
        found = weigh(both)
        assert judged(found, margin).name == expected
        low, high = found.effects["r"].interval
        assert low == pytest.approx(difference) == high
    lone = weigh_sets({"r": [difference] * 5})
    assert lone.effects["r"].is_known


def test_a_set_with_a_single_fit_is_left_out_and_counted():
    single = pairs([0.9], dataset="b")
    found = weigh([*pairs(0.05 + NOISE), *single])
    (effect,) = found.effects.values()
    assert effect == replace(weigh(pairs(0.05 + NOISE)).effects["SPE"], n_left_out=1)
    assert judged(found).name == "confirmed"
    look = {"noise": Look(load_spec("noise"), [])}
    claim = Claim("x.", "", "noise", lambda look: found)
    (line,) = judge_claims(look, [claim], "Claims").rows
    assert line[3].text.endswith(", without 1 set of one fit")
    # Nothing but single fits tells nothing.
    found = weigh([*single, *pairs([0.2], dataset="c")])
    assert found.effects["SPE"].mean == pytest.approx(0.55)
    assert judged(found) == ("undecided", "SPE", 1.0)


def test_one_pair_tests_nothing():
    found = weigh(pairs([0.5]))
    assert not found.effects["SPE"].is_known
    assert found.ahead().p == found.within(1.0).p == found.different().p == 1.0
    assert np.isnan(found.effects["SPE"].interval).all()
    assert weigh([]) is None


NOISE = np.random.default_rng(4).normal(0, 0.002, 10)


def judged(found, margin=None):
    (verdict,) = judge([Claim("x.", "", "noise", lambda look: found, margin)], [found])
    return verdict


@pytest.mark.parametrize(
    ("cells", "margin", "expected"),
    [
        ([0.05 + NOISE], None, "confirmed"),
        ([0.05 + NOISE, -0.01 + NOISE], None, "partly"),
        ([NOISE - NOISE.mean()], None, "no difference"),
        ([-0.05 + NOISE], None, "refuted"),
        ([30 * NOISE], None, "undecided"),
        ([0.001 + NOISE], 0.01, "confirmed"),
        ([0.05 + NOISE], 0.01, "different"),
        ([30 * NOISE], 0.01, "undecided"),
    ],
)
def test_verdicts(cells, margin, expected):
    found = weigh(pair for values in cells for pair in pairs(values))
    assert judged(found, margin).name == expected


def test_the_worst_of_many_rivals_may_be_ahead_by_chance():
    worst, level = -0.0025 + NOISE, NOISE - NOISE.mean()
    assert judged(weigh(pairs(worst, "0"))).name == "refuted"
    rivals = [(worst, "0"), *((level, f"{number}") for number in range(1, 60))]
    found = weigh(pair for values, rival in rivals for pair in pairs(values, rival))
    assert found.ahead().rival == "0"
    assert judged(found).name == "no difference"


def test_claims_are_corrected_together():
    found, unknown = weigh(pairs(0.0025 + NOISE)), weigh(pairs([0.5]))
    p = found.ahead().p
    assert 0.001 < p < 0.05 / 3
    one = Claim("x.", "", "noise", lambda look: found)
    other = Claim("y.", "", "noise", lambda look: unknown)
    look = {"noise": Look(load_spec("noise"), [])}
    for claims, n in (([one], 1), ([one, other, other], 3)):
        line, *_ = judge_claims(look, claims, "Claims").rows
        shown = next(entry.text for entry in line if re.fullmatch(r"\.\d{3}", entry.text))
        assert float(shown) == pytest.approx(n * p, abs=0.0006)
    # The correction may take a verdict away.
    verdicts = judge([one] + [other] * 60, [found] + [unknown] * 60)
    assert verdicts[0].name != judged(found).name == "confirmed"


def test_a_claim_without_rows_is_open():
    table = judge_claims({}, CLAIMS[:2], "Claims")
    assert [line[2].text for line in table.rows] == ["open", "open"]


# ---------------------------------------------------------------------- counts and differences


def test_cells_that_are_left_are_counted():
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


def test_a_difference_says_what_it_is_to():
    spec = load_spec("sensitivity")
    (report,) = (r for r in spec.reports if r["kind"] == "paired")
    cell = {"dataset": "spectrometer", "method": "mesa-fit", "k": 10}
    rows = [row(0.5, **cell), row(0.6, setting="sigma=0.4", **cell)]
    (table,) = paired(spec, rows, report)
    assert table.title.endswith("differences to the paper's settings")


def test_losses_are_relative_to_the_splits_that_both_have():
    own, whole = {(0, 0): 0.9}, {(0, 0): 1.0, (0, 1): 0.1}
    assert Difference(own, whole).relative == pytest.approx(-0.1)
    rows = [row(v, 0, f, dataset="isolet", method="mesa-fit", k=10) for (_, f), v in whole.items()]
    rows.append(row(0.9, dataset="isolet", method="mesa-fit", k=10, meta_fraction=0.5))
    (pair,) = transferred(Look(load_spec("transfer-matrix"), rows), "meta_fraction")
    assert pair.dataset == "isolet"
    assert pair.difference.mean == pytest.approx(-0.1)
