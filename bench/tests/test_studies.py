"""Studies: rows that are measured, kept, and shown again."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rounding import needs_same_rounding
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from typer.testing import CliRunner

import metasampler_bench
from metasampler import MesaClassifier
from metasampler.cli import app
from metasampler.ensemble.teams import Blend
from metasampler_bench._tables import ResultTable
from metasampler_bench.studies import STUDIES, Options, Study, find_study, write_study_page
from metasampler_bench.studies import _pages as pages
from metasampler_bench.studies._random_tasks import KINDS, RandomTask
from metasampler_bench.studies._study import read_rows
from metasampler_bench.studies._teams_parts import Pieces
from metasampler_bench.studies._teams_tasks import cut

RESULTS = Path(metasampler_bench.__file__).parents[3] / "docs" / "results"
STORED = [study for study in STUDIES.values() if (RESULTS / study.file_name).is_file()]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["study", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def measure(options):
    for name in options.datasets or ("one", "two"):
        for number in range(options.runs):
            yield {"set": name, "split": number, "score": options.seed + number / 3}


def tables(rows):
    lines = [[row["set"], f"{row['score']:.3f}"] for row in rows]
    return [ResultTable.from_texts("Scores [of all]", ["set", "score"], lines, "A note.")]


@pytest.fixture
def small(monkeypatch):
    study = Study("small", "A small study", "What was done.", measure, tables, runs=2)
    monkeypatch.setitem(STUDIES, "small", study)
    return study


def test_rows_are_kept_and_shown_again(small, tmp_path):
    text = run("small", "--seed", "1", "--output", tmp_path)
    assert "Scores [of all]" in text
    content = read_rows(tmp_path / "small.json")
    assert content["rows"] == [
        {"set": name, "split": number, "score": pytest.approx(1 + number / 3, rel=1e-5)}
        for name in ("one", "two")
        for number in range(2)
    ]
    assert content["command"] == "metasampler study small --runs 2 --seed 1"
    assert set(content["versions"]) >= {"metasampler", "numpy"}
    page = (tmp_path / "small.md").read_text()
    assert page.startswith("# A small study\n\n`metasampler study small --runs 2 --seed 1`, ")
    assert "What was done.\n\n### Scores [of all]\n\n| set | score |\n" in page
    assert "| one | 1.000 |\n| one | 1.333 |\n| two" in page
    (tmp_path / "small.md").unlink()
    assert "1.333" in run("small", "--report-only", "--output", tmp_path)
    assert (tmp_path / "small.md").read_text() == page


def test_what_an_interrupted_study_leaves(small, tmp_path):
    def breaks(options):
        yield from measure(options)
        yield {"set": "three", "split": 0, "score": 0.0}
        raise KeyboardInterrupt

    study = Study("small", "", "", breaks, tables, runs=1)
    with pytest.raises(KeyboardInterrupt):
        study.run(Options(runs=1), tmp_path / "rows.json")
    assert [row["set"] for row in read_rows(tmp_path / "rows.json")["rows"]] == ["one", "two"]


def test_an_interrupted_study_goes_on(small, tmp_path):
    asked = []

    def stops_once(options):
        asked.append(options.finished)
        for row in measure(replace(options, datasets=("one", "two", "three"))):
            if row["set"] in options.finished:
                continue
            if row["set"] == "three" and len(asked) == 1:
                raise KeyboardInterrupt
            yield row

    study = Study("small", "", "", stops_once, tables, runs=2, resumes=True)
    path = tmp_path / "rows.json"
    with pytest.raises(KeyboardInterrupt):
        study.run(Options(runs=2), path)
    rows = study.run(Options(runs=2), path)
    assert asked == [set(), {"one"}]
    assert [row["set"] for row in rows] == ["one", "one", "two", "two", "three", "three"]
    # Another command measures all of its own rows.
    assert len(study.run(Options(runs=1), path)) == 3
    assert asked[-1] == set()


def test_only_tables_without_a_folder(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = run("small", "--runs", "1", "--dataset", "three")
    assert "three" in text
    assert "two" not in text
    assert list(tmp_path.iterdir()) == []


def test_bad_requests(small, tmp_path):
    assert "Did you mean 'rivals'" in run("rivlas", code=2)
    assert "one of calibration" in run(code=2)
    assert "needs the folder" in run("small", "--report-only", code=2)
    text = run("small", "--report-only", "--output", tmp_path, code=2)
    assert "no rows of 'small'" in text.replace("\n", " ").replace("│", "").replace("  ", " ")
    with pytest.raises(ValueError, match="Known: calibration"):
        find_study("qqq")


def test_the_list():
    lines = run("--list").splitlines()
    assert [line.split()[0] for line in lines] == list(STUDIES)
    assert any(line.endswith("(10 splits)") for line in lines)
    assert all(re.search(r"\(\d+ [a-z ]+\)$", line) for line in lines)


@pytest.mark.parametrize("study", STORED, ids=lambda study: study.name)
def test_stored_rows_can_be_shown(study, tmp_path):
    (tmp_path / study.file_name).write_bytes((RESULTS / study.file_name).read_bytes())
    page = write_study_page(study, tmp_path).read_text()
    made = study.tables(read_rows(RESULTS / study.file_name)["rows"])
    assert made
    first, *others = made
    assert f"### {first.title}\n" in page
    for table in others:
        assert f"<summary>{table.title}</summary>\n" in page
    if study.name in ("calibration", "few-rows"):
        assert "| isotonic [1fe915a] |" in page
    stored = json.loads((RESULTS / study.file_name).read_text())
    assert f"`{stored['command']}`" in page


@pytest.mark.parametrize("page", sorted({study.page_name for study in STORED}))
def test_stored_pages_are_what_the_rows_say(page, tmp_path):
    chosen = [study for study in STORED if study.page_name == page]
    for study in chosen:
        (tmp_path / study.file_name).write_bytes((RESULTS / study.file_name).read_bytes())
    written = write_study_page(chosen[0], tmp_path)
    assert written.read_text() == (RESULTS / f"{page}.md").read_text()


def stored_row(study, row, keys):
    rows = read_rows(RESULTS / study.file_name)["rows"]
    return next(other for other in rows if all(other[key] == row[key] for key in keys))


@needs_same_rounding()
@pytest.mark.parametrize(
    ("name", "datasets", "gone"),
    [
        ("calibration", ("ecoli",), set()),
        ("hold-out", ("ecoli",), set()),
        ("few-rows", ("keel_glass4",), {"auto, refitted"}),
        ("recall", ("iranian_churn",), set()),
    ],
)
def test_decisions_are_measured_as_they_were(name, datasets, gone, data_home):
    study = STUDIES[name]
    if not (RESULTS / study.file_name).is_file():
        pytest.skip("the rows are not part of a distribution")
    rows = list(study.measure(Options(runs=1, datasets=datasets, data_home=str(data_home))))
    assert rows
    keys = [k for k in ("set", "split", "k", "method", "preset", "target") if k in rows[0]]
    for row in rows:
        if row.get("method") not in gone:
            stored = stored_row(study, row, keys)
            for key, value in row.items():
                expected = pytest.approx(value, rel=1e-4) if isinstance(value, float) else value
                assert stored[key] == expected, key


def test_policies_and_members_are_measured_as_they_were(data_home):
    options = {"runs": 1, "data_home": str(data_home)}
    for row in STUDIES["rivals"].measure(Options(**options)):
        stored = stored_row(STUDIES["rivals"], row, ("task", "policy"))
        assert stored["test"] == pytest.approx(row["test"], abs=1e-5)
    for row in STUDIES["members"].measure(Options(datasets=("keel_glass1",), **options)):
        stored = stored_row(STUDIES["members"], row, ("set", "split", "kind", "members"))
        assert stored["average precision"] == pytest.approx(row["average precision"], abs=1e-5)


def test_baselines_beside_the_paper(mammography, data_home):
    study = STUDIES["baselines"]
    rows = list(study.measure(Options(runs=2, data_home=str(data_home))))
    (table,) = study.tables(rows)
    lines = {(line[0].text, line[1].text): line for line in table.rows}
    assert lines["UnderBagging", "the paper"][2].text == "0.307"
    assert 0.2 < float(lines["UnderBagging", "ours"][2].text.split()[0]) < 0.4
    assert ("Cascade", "the authors' rule, first k - 1 of k") in lines


def test_agreement_with_imbalanced_learn(data_home):
    study = STUDIES["agreement"]
    options = Options(runs=2, datasets=("ecoli",), data_home=str(data_home))
    (table,) = study.tables(list(study.measure(options)))
    assert [line[0].text for line in table.rows] == [
        "UnderBagging",
        "RUSBoost, stumps",
        "RUSBoost, full trees",
    ]


@pytest.mark.parametrize("weight", [0.8, 0.9], ids=["many", "few"])
def test_the_teams_of_a_study_are_those_of_a_fit(weight):
    X, y = make_classification(1600, n_informative=6, weights=[weight], random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    X, X_test, y, _ = train_test_split(frame, y, stratify=y, random_state=0)
    fitted = MesaClassifier(random_state=3, calibration=None).fit(X, y)
    teams = Pieces(X, y, X_test, 3).default()
    assert len(teams) == (3 if weight == 0.8 else 4)
    judged = [team.growth.judged() for team in teams]
    shares = [team.growth.sampled_shares() for team in teams]
    blend, _ = Blend.of(teams[0].growth.data, judged, shares, [team.n_votes for team in teams])
    proba = blend([team.test for team in teams])
    np.testing.assert_array_equal(proba, fitted.predict_proba(X_test))


@pytest.mark.parametrize(("name", "n_tables"), [("teams", 3), ("few-positives", 2)])
def test_teams_are_measured(name, n_tables, data_home):
    study = STUDIES[name]
    sets = ("iranian_churn", "resume_callback")
    rows = list(study.measure(Options(runs=1, datasets=sets, data_home=str(data_home))))
    assert {row["set"] for row in rows} == set(sets)
    assert all(0 < row["average precision"] <= 1 for row in rows)
    made = study.tables(rows)
    assert len(made) == n_tables
    assert "nan" not in "".join(table.markdown() for table in made)


def test_promises_are_kept_by_groups():
    study = STUDIES["promises"]
    rows = list(study.measure(Options(runs=1, datasets=("made, groups, noise 0.3",))))
    assert len(rows) == 18
    wrong = {
        option: max(
            abs(row["kept recall"] - row["expected recall"])
            for row in rows
            if row["option"] == option
        )
        for option in ("without", "with", "folds")
    }
    assert wrong["without"] > 0.3 > max(wrong["with"], wrong["folds"])
    (table,) = study.tables(rows)
    assert "made, groups" in table.markdown()


def test_thinned_tables_keep_their_test_rows(data_home):
    whole, thin = (cut("iranian_churn", 0, str(data_home), few) for few in (None, 50))
    assert thin[1].sum() == 50
    assert np.sum(thin[1] == 0) == np.sum(whole[1] == 0)
    pd.testing.assert_frame_equal(thin[2], whole[2])


def test_mammography_of_rows():
    scores = {"MESA, learned": 0.6, "uniform mu": 0.5}
    rows = [
        {
            "seed": seed,
            "fit": fit,
            "policy": policy,
            "scores": [score + seed / 100] * 3,
            "mu": [0.5, 0.75],
            "mean mu": 0.6,
            "CPU seconds of meta-training": 3.0 if "MESA" in policy else None,
        }
        for seed in range(2)
        for fit in range(2)
        for policy, score in scores.items()
    ]
    (table,) = STUDIES["mammography"].tables(rows)
    texts = [[entry.text for entry in line] for line in table.rows]
    assert texts[0][:2] == ["MESA, paper", "0.515"]
    assert texts[2] == ["MESA, learned", *["0.605 ± 0.007"] * 3, ""]
    assert texts[3][-1] == "+0.100 ± 0.000"
    assert "mu moves by 0.25" in table.note


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_random_tasks(number):
    task = RandomTask.number(number)
    assert task.kind == KINDS[number]
    parts = task.draw()
    for first, second in zip(parts, task.draw(), strict=True):
        np.testing.assert_array_equal(first, second)
    X, y, X_val, y_val, _, _ = parts
    assert len(X) == len(y)
    assert X.shape[1] == X_val.shape[1]
    assert y_val.sum() >= 40


def test_every_page_has_studies():
    assert set(pages.PAGES) <= {study.page_name for study in STUDIES.values()}
