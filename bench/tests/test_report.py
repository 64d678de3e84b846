import importlib.util
import re
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from metasampler_bench import list_specs, load_spec
from metasampler_bench._figures import FIGURES
from metasampler_bench._report import write_report
from metasampler_bench._retired import RETIRED_NOTE
from metasampler_bench._rows import last_rows
from metasampler_bench._spec import parse_spec
from metasampler_bench._summaries import SUMMARIES
from metasampler_bench._tables import Entry, ResultTable, format_value, pivot_tables

PNG = b"\x89PNG\r\n\x1a\n"
TABLE = '[[report]]\nkind = "table"\nrows = ["method"]\ncolumns = ["k"]\n'
SPEC = """
title = "Small & 100% fine"
paper = "Table 99"
about = "What was done."
[[cells]]
dataset = ["set_one", "set_two"]
method = ["mesa", "spe", "tree"]
k = [5, 10]
"""


def make_spec(more="", head=SPEC):
    return parse_spec("small", head + more)


def row(score=None, method="mesa", dataset="set_one", run=0, fold=0, *, more=None, **cell):
    """A row as the runner writes it; what `more` holds is beside the score."""
    measured = {} if score is None else {"score": score}
    return {
        "spec": "small",
        "cell": {"dataset": dataset, "method": method, "run": run, "fold": fold, **cell},
        **measured,
        **(more or {}),
        "seed": 0,
        "versions": {"python": "3.11", "numpy": "2.0"},
        "commit": "abc1234",
        "date": "2024-01-01",
        "command": "metasampler bench small",
    }


def failed(**options):
    return row(**options, more={"error": "RuntimeError: no luck"})


def texts(table):
    return [[entry.text for entry in line] for line in table.rows]


def bold(table):
    return [[entry.bold for entry in line] for line in table.rows]


def one_table(spec, rows):
    (table,) = pivot_tables(spec, rows, spec.reports[0])
    return table


class TestPivot:
    def test_means_deviations_and_differences_to_the_paper(self):
        values = '[[values]]\nwhere = { method = "spe", dataset = "set_one" }\nk = [5, 10]\n'
        spec = make_spec(TABLE + values + "score = [0.7, 0.5]")
        rows = [row(score, k=5, fold=fold) for fold, score in enumerate([0.5, 0.6, 0.7])]
        rows += [row(score, "spe", k=5, fold=fold) for fold, score in enumerate([0.6, 0.6, 0.9])]
        rows += [row(0.8, k=10), row(0.4, "spe", k=10)]
        table = one_table(spec, rows)
        assert table.title == "Small & 100% fine"
        assert table.header == [
            *("method", "k = 5", "paper", "difference"),
            *("k = 10", "paper", "difference", "fits"),
        ]
        # The deviations are of n - 1: 0.1 and 0.3 / sqrt(3).
        assert texts(table) == [
            ["MESA, default", "0.600 ± 0.100", "-", "-", "0.800", "-", "-", "varies"],
            ["SPE", "0.700 ± 0.173", "0.700", "+0.000", "0.400", "0.500", "-0.100", "varies"],
        ]
        assert bold(table)[0] == [False] * 4 + [True] + [False] * 3
        assert bold(table)[1] == [False, True] + [False] * 6
        assert "Differences are ours minus the paper's." in table.note
        assert "Bold is the best of a column." in table.note

    def test_order_is_the_specs_and_not_the_rows(self):
        rows = [row(0.1, method, k=k) for k in (10, 5) for method in ("tree", "spe", "mesa")]
        table = one_table(make_spec(TABLE), rows)
        assert [line[0] for line in texts(table)] == ["MESA, default", "SPE", "decision tree"]
        assert table.header == ["method", "k = 5", "k = 10"]
        assert table == one_table(make_spec(TABLE), rows[::-1])

    def test_equal_scores_as_shown_are_equally_good(self):
        rows = [row(0.71234, k=5), row(0.71199, "spe", k=5), row(0.7109, "tree", k=5)]
        assert bold(one_table(make_spec(TABLE), rows)) == [
            [False, True],
            [False, True],
            [False, False],
        ]

    def test_a_mean_of_few_fits_is_not_compared_with_means_of_many(self):
        rows = [row(0.9, k=5)]
        rows += [row(score, "spe", k=5, run=run) for run, score in enumerate((0.6, 0.7))]
        rows += [row(score, "tree", k=5, run=run) for run, score in enumerate((0.5, 0.6))]
        table = one_table(make_spec(TABLE), rows)
        assert [line[1] for line in bold(table)] == [False, True, False]
        assert "Bold is the best of a column, among the cells with the most fits." in table.note

    def test_one_method_alone_is_not_the_best(self):
        assert bold(one_table(make_spec(TABLE), [row(0.7, k=5)])) == [[False, False]]

    def test_data_sets_are_not_compared_with_each_other(self):
        report = '[[report]]\nkind = "table"\nrows = ["dataset"]\ncolumns = ["method"]\n'
        rows = [row(0.9, k=5), row(0.8, "spe", k=5)]
        rows += [row(0.3, dataset="set_two", k=5), row(0.4, "spe", "set_two", k=5)]
        table = one_table(make_spec(report), rows)
        assert table.header == ["dataset", "MESA, default", "SPE"]
        assert bold(table) == [[False, True, False], [False, False, True]]
        assert table.note == "Bold is the best of a row."

    def test_a_method_without_size_stands_in_every_column(self):
        rows = [row(0.5, k=5), row(0.6, k=10), row(0.7, "tree")]
        table = one_table(make_spec(TABLE), rows)
        assert table.header == ["method", "k = 5", "k = 10"]
        assert texts(table)[1] == ["decision tree", "0.700", "0.700"]

    def test_failed_and_missing_cells(self):
        rows = [row(0.5, k=5), failed(k=10), failed(method="spe", k=5), row(0.2, "spe", k=10)]
        assert texts(one_table(make_spec(TABLE), rows)) == [
            ["MESA, default", "0.500", "-"],
            ["SPE", "-", "0.200"],
        ]

    def test_relative_differences(self):
        values = '[[values]]\nwhere = { method = "%s", dataset = "set_one" }\nscore = %s\n'
        paper = values % ("mesa", 0.8) + values % ("spe", 0.6)
        spec = make_spec(TABLE.strip() + '\nrelative_to = "mesa"\n' + paper)
        rows = [row(0.5, k=5), row(0.4, "spe", k=5), row(0.55, "tree", k=5)]
        table = one_table(spec, rows)
        assert table.header == ["method", "k = 5", "paper", "difference", "Δ", "Δ in the paper"]
        assert [line[4:] for line in texts(table)] == [
            ["baseline", "-"],
            ["-20.0%", "-25.0%"],
            ["+10.0%", "-"],
        ]

    @pytest.mark.parametrize("missing", ["mesa", "spe"])
    def test_a_relative_difference_to_nothing_is_not_shown(self, missing):
        spec = make_spec(TABLE.strip() + '\nrelative_to = "mesa"\n')
        rows = [row(0.5, method, k=5) for method in ("mesa", "spe") if method != missing]
        table = one_table(spec, [*rows, failed(method=missing, k=5)])
        assert texts(table)[1][2:] == ["-", "-"]

    def test_split_and_where(self):
        report = TABLE + 'split = "dataset"\nwhere = { k = 5 }\n'
        rows = [row(0.5, dataset=name, k=k) for name in ("set_two", "set_one") for k in (5, 10)]
        tables = pivot_tables(make_spec(report), rows, make_spec(report).reports[0])
        assert [table.title.split(": ")[1] for table in tables] == ["set_one", "set_two"]
        assert all(table.header == ["method", "k = 5"] for table in tables)

    def test_several_numbers(self):
        report = '[[report]]\nkind = "table"\nrows = ["method"]\ncolumns = ["dataset"]\n'
        report += 'values = ["rows", "resampling_cpu"]\n'
        values = '[[values]]\nwhere = { method = "spe", dataset = "set_one" }\n'
        spec = make_spec(report + values + "rows = 1500\nresampling_cpu = 2500.0")
        measured = {"rows": 1234.0, "resampling_cpu": 0.12345}
        table = one_table(spec, [row(0.5, "spe", more=measured)])
        assert table.header[1:4] == ["rows set_one", "paper", "difference"]
        assert texts(table) == [["SPE", "1,234", "1,500", "-266", "0.123", "2,500", "-2,500"]]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("score", 0.12345, "0.123"),
        ("score", None, "-"),
        ("score", float("nan"), "-"),
        ("rows", 12345.4, "12,345"),
        ("cpu", 0.012345, "0.0123"),
        ("meta_cpu", 1234.5, "1,234"),
        ("resampling_cpu", -1234.5, "-1,234"),
        ("imbalance_ratio", 9.144, "9.1"),
    ],
)
def test_numbers_as_text(name, value, text):
    assert format_value(name, value) == text


class TestLatex:
    @pytest.mark.parametrize(
        ("text", "latex"),
        [
            ("50% of set_one & #2 {a}", r"50\% of set\_one \& \#2 \{a\}"),
            ("0.5 ± 0.1", r"0.5 $\pm$ 0.1"),
            ("-0.100", "$-$0.100"),
            ("-12.5%", r"$-$12.5\%"),
            ("+1.5%", r"$+$1.5\%"),
            ("mammography-authors", "mammography-authors"),
            ("car-4", "car-4"),
            ("1e-05", "1e-05"),
            ("-", "-"),
            ("a\\b^c~$", r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}\$"),
        ],
    )
    def test_escapes(self, text, latex):
        assert Entry(text).latex() == latex
        assert Entry(text, bold=True).latex() == rf"\textbf{{{latex}}}"

    def test_the_table_is_well_formed(self):
        values = '[[values]]\nwhere = { method = "mesa", dataset = "set_one" }\nscore = 0.5\n'
        spec = make_spec(TABLE.strip() + '\nrelative_to = "mesa"\n' + values)
        rows = [row(0.5 + fold / 9, m, k=5, fold=fold) for m in ("mesa", "spe") for fold in (0, 1)]
        check_latex(one_table(spec, rows).latex())

    def test_markdown_has_as_many_columns_in_every_line(self):
        table = ResultTable("T", ["a", "b"], [[Entry("x"), Entry("1", True)]], "N.")
        assert table.markdown() == "**T**\n\n| a | b |\n| --- | ---: |\n| x | **1** |\n\nN.\n"


def check_latex(text):
    """What LaTeX would stumble over: braces, signs outside of math, columns that do not match."""
    assert text.isascii(), text
    plain = re.sub(r"\\.", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert not set(plain) & set("%#^~")
    outside_of_math = re.sub(r"\$[^$]*\$", "", plain)
    assert "_" not in outside_of_math
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+)\}", text))
    for tabular in re.findall(r"\\begin\{tabular\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        columns = re.match(r"\{(l?r*)\}", tabular)[1]
        lines = [line for line in tabular.splitlines() if line.rstrip().endswith(r"\\")]
        assert lines
        for line in lines:
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1, line


# Three methods on three sets, two folds each; all numbers below follow from these by hand.
MEANS = {
    "constant-0": (0.50, 0.60, 0.72),
    "constant-1": (0.60, 0.50, 0.80),
    "mesa": (0.58, 0.62, 0.80),
}
MANY = """
title = "Many sets"
[[cells]]
dataset = ["a", "b", "c"]
method = ["constant-0", "constant-1", "mesa", "lightgbm"]
k = [10]
"""


def many_rows(**options):
    return [
        row(mean + sign * 0.01, method, dataset, fold=fold, k=10, **options)
        for method, means in MEANS.items()
        for dataset, mean in zip("abc", means, strict=True)
        for fold, sign in enumerate((-1, 1))
    ]


class TestSummaries:
    def test_mean_over_sets(self):
        table = SUMMARIES["mean-over-sets"](
            make_spec(head=MANY), many_rows(), {"reference": "constant-1"}
        )
        assert table.header == ["method", "k = 10", "difference"]
        # Differences to constant-1: (-.1, .1, -.08) and (-.02, .12, 0), their sd over sqrt(3).
        assert texts(table) == [
            ["constant mu 0", "0.6067", "-0.0267 ± 0.0636"],
            ["constant mu 1", "0.6333", "-"],
            ["MESA, default", "0.6667", "+0.0333 ± 0.0437"],
        ]
        assert [line[1] for line in bold(table)] == [False, False, True]
        assert "Means over 3 data sets" in table.note

    def test_one_set_has_no_standard_error(self):
        rows = [r for r in many_rows() if r["cell"]["dataset"] == "a"]
        spec = make_spec(head=MANY)
        table = SUMMARIES["mean-over-sets"](spec, rows, {"reference": "constant-1"})
        assert texts(table)[2][2] == "-0.0200"
        table = SUMMARIES["regret"](spec, rows, {"k": 10, "family": "constant-"})
        assert texts(table)[2][1] == "+0.0200"

    def test_regret(self):
        table = SUMMARIES["regret"](
            make_spec(head=MANY), many_rows(), {"k": 10, "family": "constant-"}
        )
        # The best constants have .6, .6 and .8.
        assert texts(table) == [
            ["constant mu 0", "+0.0600 ± 0.0306", "+0.1000", "a", "2"],
            ["constant mu 1", "+0.0333 ± 0.0333", "+0.1000", "b", "1"],
            ["MESA, default", "+0.0000 ± 0.0115", "+0.0200", "a", "1"],
        ]
        assert table.title.endswith("k = 10")

    def test_regret_takes_the_largest_size_where_its_own_is_missing(self):
        rows = [{**r, "cell": {**r["cell"], "k": 7}} for r in many_rows()]
        report = {"k": 10, "family": "constant-"}
        assert SUMMARIES["regret"](make_spec(head=MANY), rows, report).title.endswith("k = 7")

    def test_leaderboard(self):
        rows = many_rows(more={"cpu": 0.3})
        for dataset, seconds in zip("abc", (0.1, 0.3, 0.9), strict=True):
            for fold in (0, 1):
                rows.append(row(0.1, "lightgbm", dataset, fold=fold, more={"cpu": seconds}))
        # Half of the sets: it has no rank, and changes no other's.
        rows += [row(0.99, "spe", "a", k=10, more={"cpu": 0.6}), failed(method="spe", dataset="b")]
        table = SUMMARIES["leaderboard"](make_spec(head=MANY), rows, {})
        # Ranks: a: 3, 1, 2; b: 2, 3, 1; c: 3, 1.5, 1.5. CPU ratios: 3, 1 and 1/3.
        assert texts(table) == [
            ["MESA, default", "1.50", "0.6667", "2", "1.00", "3 of 3"],
            ["constant mu 1", "1.83", "0.6333", "2", "1.00", "3 of 3"],
            ["constant mu 0", "2.67", "0.6067", "0", "1.00", "3 of 3"],
            ["LightGBM", "4.00", "0.1000", "0", "1.00", "3 of 3"],
            ["SPE", "-", "-", "-", "6.00", "1 of 3"],
        ]
        assert [line[1] for line in bold(table)] == [True, False, False, False, False]
        assert "Ranks of 4 methods on 3 data sets" in table.note

    def test_leaderboard_compares_the_folds_that_all_have(self):
        rows = [row(0.5, "mesa", "a"), row(0.6, "spe", "a"), row(0.9, "mesa", "a", fold=1)]
        table = SUMMARIES["leaderboard"](make_spec(head=MANY), rows, {})
        assert [line[:3] for line in texts(table)] == [
            ["SPE", "1.00", "0.6000"],
            ["MESA, default", "2.00", "0.5000"],
        ]

    def test_leaderboard_ranks_all_methods_on_common_sets(self):
        rows = [row(0.5, "mesa", "a"), row(0.6, "spe", "a"), row(0.9, "mesa", "b")]
        table = SUMMARIES["leaderboard"](make_spec(head=MANY), rows, {"common_sets": True})
        assert [line[:2] for line in texts(table)] == [["SPE", "1.00"], ["MESA, default", "2.00"]]
        assert "Ranks of 2 methods on 1 data sets" in table.note

    def test_growth(self):
        rows = [
            row(0.5, method, fraction=part, more={"resampling_cpu": seconds, "rows": 1000 * part})
            for method, cost in {"smote": lambda p: 3 * p**2, "mesa": lambda p: 0.001}.items()
            for part, seconds in ((part, cost(part)) for part in (0.1, 0.2, 0.4))
        ]
        table = SUMMARIES["growth"](make_spec(head=MANY), rows, {})
        assert texts(table) == [
            ["MESA, default", "IE+ML", "400", "0.001", "-", "-", "-", "40%"],
            ["SMOTE", "OS", "400", "0.48", "2.00", "-", "-", "40%"],
        ]
        assert "10%, 20%, 40%" in table.note

    @pytest.mark.parametrize("kind", ["mean-over-sets", "regret", "leaderboard"])
    def test_first_rows_that_have_no_set_in_common(self, kind):
        rows = [row(0.5, "mesa", "a", k=10), row(0.5, "constant-1", "b", k=10)]
        report = {"reference": "constant-1", "k": 10, "family": "constant-"}
        table = SUMMARIES[kind](make_spec(head=MANY), rows, report)
        assert "nan" not in table.markdown()


def test_no_rows_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no rows of 'small' yet; run it first"):
        write_report(make_spec(TABLE), [], tmp_path / "new")
    with pytest.raises(ValueError, match="no rows of 'small'"):
        write_report(make_spec(TABLE), [{**row(0.5, k=5), "spec": "other"}], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_page(tmp_path):
    rows = [
        row(0.5, k=5),
        row(0.6, "spe", k=5),
        failed(method="tree"),
        failed(method="tree", run=1),
    ]
    rows[1]["versions"] = {"python": "3.11", "numpy": "2.1", "kernels": "Haswell"}
    page, latex = write_report(make_spec(TABLE), rows, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(
        "# Small & 100% fine\n\n<!-- written by hand -->\n<!-- until here -->\n\n"
        "In the paper: Table 99.\n\n**Small & 100% fine**\n"
    )
    assert text.index("| method | k = 5 |") < text.index("## How it was done\n\nWhat was done.\n")
    assert "```sh\nmetasampler bench small\n```" in text
    assert "2 cells, 2 that failed or ran out of time; seed 0; python 3.11, " in text
    assert "; python 3.11, numpy 2.0 or 2.1, kernels Haswell; commit abc1234; 2024-01-01." in text
    assert "- tree on set_one: RuntimeError: no luck\n" in text
    assert "| SPE | **0.600** |" in text
    check_latex(latex.read_text(encoding="utf-8"))
    # Nothing but the rows enters a report.
    before = text
    write_report(make_spec(TABLE), rows, tmp_path)
    assert page.read_text(encoding="utf-8") == before


def test_a_cell_that_was_computed_again_counts_once(tmp_path):
    rows = [failed(k=5), row(0.5, "spe", k=5), row(0.7, k=5)]
    assert last_rows(rows) == [rows[2], rows[1]]
    page, _ = write_report(make_spec(TABLE), rows, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "2 cells; seed" in text
    assert "no luck" not in text
    # Seeds are different cells.
    assert len(last_rows([row(0.5), {**row(0.5), "seed": 1}])) == 2


def test_times_of_another_sitting_are_told_by_the_time_of_lightgbm():
    def row(method, cpu, date, **more):
        cell = {"dataset": "oil", "run": 0, "fold": 0, "method": method}
        return {"spec": "tables", "cell": cell, "seed": 0, "cpu": cpu, "date": date, **more}

    old = [row("lightgbm", 2.0, "2026-01-01"), row("mesa", 6.0, "2026-01-01")]
    old += [row("xgboost", 5.0, "2026-01-02")]
    # A machine that is twice as fast; wall times are not known of all.
    new = [row("lightgbm", 1.0, "2026-02-01", wall=1.0), row("mesa", 2.5, "2026-02-01")]
    found = {each["cell"]["method"]: each["cpu"] for each in last_rows(old + new)}
    assert found == {"lightgbm": 1.0, "mesa": 2.5, "xgboost": 2.5}
    # Without a new row of LightGBM nothing is known of the machine.
    assert last_rows([*old, new[1]]) == [old[0], new[1], old[2]]


def test_tables_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
    figure = (
        '[[report]]\nkind = "curve"\npanel = "dataset"\nline = "method"\nx = "k"\nxlabel = "k"\n'
    )
    with pytest.warns(UserWarning, match=r"1 kind of figures is not drawn.*metasampler\[plot\]"):
        paths = write_report(make_spec(TABLE + figure), [row(0.5, k=5)], tmp_path)
    assert [path.suffix for path in paths] == [".md", ".tex"]
    console = Console(file=StringIO())
    write_report(make_spec(TABLE + figure), [row(0.5, k=5)], tmp_path, console=console)
    assert "figures is not drawn" in console.file.getvalue()


def surface(score, method, dataset):
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.normal(size=(30, 2)), np.arange(30) % 2])
    more = {
        "surface": rng.random(16).tolist(),
        "extent": [-2, 2, -2, 2],
        "points": points.round(2).tolist(),
    }
    return row(score, method, dataset, more=more)


def curves(*names):
    return {name: np.linspace(0.3, 0.6, 80).round(4).tolist() for name in names}


def joint_row():
    made = row(more={"curves": curves("a", "b"), "episodes": list(range(80))})
    made["cell"] = {"tasks": "a", "watch": "b", "run": 0, "fold": 0}
    return made


#: By kind of report: the report, and rows for it.
PICTURES = {
    "curve": (
        'panel = "dataset"\nline = "method"\nx = "rows"\nxlabel = "rows"\nlogx = true',
        [
            row(0.5 + k / 90, m, s, k=k, fold=fold, more={"rows": 40 * k + fold})
            for m in ("mesa", "spe")
            for s in ("a", "b")
            for k in (5, 10)
            for fold in (0, 1)
        ],
    ),
    "heatmap": (
        'rows = "meta_task"\ncolumns = "dataset"',
        [row(0.5 + (s == t) / 9, "mesa-fit", s, meta_task=t) for s in "abc" for t in "abc"],
    ),
    "trace": (
        'line = "noise"',
        [
            row(0.5, "mesa-fit", noise=noise, fold=fold, more={"actions": [0.9, 0.8 - noise, 0.7]})
            for noise in (0.0, 0.4)
            for fold in (0, 1)
        ],
    ),
    "history": ("window = 5", [row(0.5, more={"curves": curves("train", "valid", "test")})]),
    "joint": ("window = 5", [joint_row(), row(0.4, "mesa", "a"), row(0.5, "spe", "b")]),
    "states": (
        "",
        [row(0.5, fold=fold, more={"states": [[0.7, 0.3, 0.6, 0.4]] * 3}) for fold in (0, 1)],
    ),
    "boundary": ("", [surface(0.5, m, s) for m in ("mesa", "tree") for s in ("a", "b")]),
    "critical-difference": ("k = 10", many_rows()),
}


# The rows of "policy" are those of a spec of its own: `test_draws` draws it.
def test_panels_say_how_many_fits_are_behind_them():
    rows = [row(0.5 + fold / 9, k=k, fold=fold) for k in (5, 10) for fold in (0, 1)]
    rows += [row(0.5, dataset="set_two", k=k) for k in (5, 10)]
    report = {"panel": "dataset", "line": "method", "x": "k", "xlabel": "members"}
    ((_, display),) = FIGURES["curve"](make_spec(), rows, report)
    assert list(display.curves) == ["set_one (2 fits)", "set_two (1 fit)"]
    (*_, errors), (*_, none) = (next(iter(lines.values())) for lines in display.curves.values())
    assert min(errors) > 0
    # One fit has no band.
    assert np.isnan(none).all()


@pytest.mark.parametrize("kind", [kind for kind in FIGURES if kind != "policy"])
def test_figures_are_files_that_the_same_rows_give_again(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("metasampler_bench._report._DPI", 20)  # for speed
    report, rows = PICTURES[kind]
    spec = make_spec(f'[[report]]\nkind = "{kind}"\n{report}', head=MANY)
    first = write_report(spec, rows, tmp_path / "first")
    pictures = [path for path in first if path.suffix in (".png", ".svg")]
    assert len(pictures) == (4 if kind == "heatmap" else 2)
    page = first[0].read_text(encoding="utf-8")
    for path in pictures:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(PNG)
            assert f"]({path.name})" in page
        else:
            assert b"</svg>" in content
    # A page without tables has no LaTeX beside it.
    assert sorted((tmp_path / "first").iterdir()) == sorted(first)
    assert not list((tmp_path / "first").glob("*.tex"))
    again = write_report(spec, rows, tmp_path / "again")
    for one, two in zip(first, again, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name


def test_a_picture_of_a_folded_table_stands_below_it(tmp_path, monkeypatch):
    monkeypatch.setattr("metasampler_bench._report._DPI", 20)  # for speed
    more = '[[report]]\nkind = "critical-difference"\nk = 10\nfold = true\nname = "-more"\n'
    text = write_report(make_spec(TABLE + TABLE + more, head=MANY), many_rows(), tmp_path)[0]
    first, _, rest = text.read_text(encoding="utf-8").partition("## How it was done")
    assert "critical-difference" not in first
    assert "](small-critical-difference-more.png)\n\n</details>" in rest


def test_ranks_of_two_methods_make_no_figure(tmp_path):
    spec = make_spec('[[report]]\nkind = "critical-difference"', head=MANY)
    rows = [r for r in many_rows() if r["cell"]["method"] != "mesa"]
    assert [path.suffix for path in write_report(spec, rows, tmp_path)] == [".md"]


@pytest.mark.parametrize("name", list_specs())
def test_reports_of_specs_whose_cells_all_failed(tmp_path, name):
    """What a run without data leaves behind is a page with the reasons, not a traceback."""
    spec = load_spec(name)
    rows = [
        {**failed(), "spec": name, "cell": cell}
        for job in spec.jobs(runs=1, folds=1)[:3]
        for cell in job.cells
    ]
    (page,) = write_report(spec, rows, tmp_path)
    assert "RuntimeError: no luck" in page.read_text(encoding="utf-8")


def test_a_report_without_some_methods(tmp_path):
    report = '\n[[report]]\nkind = "mean-over-sets"\nreference = "constant-1"\n'
    spec = make_spec(report + 'without = ["mesa"]\nsuffix = ", but one"\n', head=MANY)
    # The method that was run once would leave one run to the others.
    rows = [row(score, "constant-1", "a", k=10, run=run) for run, score in enumerate((0.2, 0.4))]
    rows.append(row(0.9, "mesa", "a", k=10))
    page = write_report(spec, rows, tmp_path)[0].read_text(encoding="utf-8")
    assert ": mean over the data sets, but one**" in page
    assert "0.3000" in page
    assert "0.9" not in page.split("but one")[1]


def test_rows_of_methods_that_are_gone_stay_readable(tmp_path):
    spec = make_spec(TABLE)
    rows = [row(0.5, k=5), row(0.25, method="mesa-ahead", k=5)]
    page = write_report(spec, rows, tmp_path)[0].read_text()
    assert "| MESA, meta-trained, look-ahead [1fe915a] | 0.250 |" in page
    assert RETIRED_NOTE in page
    assert RETIRED_NOTE not in write_report(spec, rows[:1], tmp_path)[0].read_text()


def test_of_several_tables_one_stands_open(tmp_path):
    rows = [row(0.5, "mesa", name, k=5) for name in ("a", "b", "c")]
    split = TABLE + 'split = "dataset"\n'
    for more, n_open in (("", 1), ("fold = true\n", 0)):
        text = write_report(make_spec(split + more), rows, tmp_path)[0].read_text(encoding="utf-8")
        first, _, rest = text.partition("## How it was done")
        assert first.count("| --- |") == n_open
        assert rest.count("| --- |") == rest.count("<details>") == 3 - n_open


def test_a_brief_table_has_the_papers_scores_in_brackets(tmp_path):
    rows = [row(score, k=5, fold=fold) for fold, score in enumerate([0.5, 0.6])]
    text = write_report(make_spec(TABLE + "brief = true\n"), rows, tmp_path)[0].read_text()
    assert "0.550 ±" not in text
    assert "| MESA, default | 0.550" in text


def test_the_first_table_stands_open_and_the_others_are_folded(tmp_path):
    rows = [row(0.5, "mesa", k=5), row(0.6, "spe", k=5)]
    both = TABLE + TABLE + 'suffix = ", again"\n'
    text = write_report(make_spec(both), rows, tmp_path)[0].read_text(encoding="utf-8")
    first, _, rest = text.partition("## How it was done")
    assert "<details>" not in first
    assert "<summary>Again</summary>" in rest
    assert rest.count("<details>") == rest.count("</details>") == 1
