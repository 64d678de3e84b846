"""The page: what it says, what it must not hold, and what it weighs."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from math import floor

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.svm import LinearSVC

from metasampler.report import make_report
from metasampler.report._explorer import _from_to
from metasampler.report._findings import out_of, percent
from metasampler.report._sections import _loss

EVIL = '<script>alert("x")</script>'
QUICK = {"n_repeats": 0, "n_resamples": 50}
VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """All elements of a page with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


def test_the_headline_says_what_the_model_does(numbers):
    clf, X, y = numbers
    report = make_report(clf, X, y, target="fraud", **QUICK)
    called = clf.predict(X) == 1
    # Rounded as the script of the page rounds.
    right = floor(100 * y[called].mean() + 0.5)
    found = floor(100 * called[y == 1].mean() + 0.5)
    wanted = f"Of 100 alarms {right} are right; {found} of 100 rows with fraud = 1 are found."
    assert report.headline == wanted
    assert wanted in Page(report.html).text


def test_the_page_says_what_its_table_and_ranges_show(numbers):
    clf, X, y = numbers
    says = "The table shows what your team would find in the first 10, 20, ... rows."
    text = Page(make_report(clf, X, y, target="fraud", **QUICK).html).text
    assert says in text
    assert "Ranges are 95% intervals: bootstrap with 50 resamples; for the Brier score" in text
    assert "in the first 2, 4 rows." in Page(make_report(clf, X[:20], y[:20], **QUICK).html).text
    # Nobody knows what a team would find without labels.
    text = Page(make_report(clf, X, **QUICK).html).text
    assert "Which rows to look at first" in text
    assert "your team would find" not in text


def test_rare_hits_are_counted_among_more_alarms():
    rng = np.random.default_rng(0)
    y = np.zeros(30_000, dtype=int)
    y[:60] = 1
    X = rng.normal(size=(30_000, 1)) + 0.1 * y[:, None]
    clf = LogisticRegression(class_weight="balanced").fit(X, y)
    assert "Of 1,000 alarms" in Page(make_report(clf, X, y, **QUICK).html).text


def test_users_words_are_never_markup(numbers):
    _, X, y = numbers
    frame = pd.DataFrame(X, columns=[EVIL, "a&b", "</title><img src=x onerror=alert(1)>"])
    labels = np.where(y == 1, EVIL, "</script><b>")
    model = LogisticRegression().fit(frame, labels)
    report = make_report(
        model,
        frame,
        labels,
        pos_label=EVIL,
        target=EVIL,
        title=EVIL,
        source={EVIL: EVIL},
        comparison={EVIL: {EVIL: 0.5}},
        cautions=[EVIL],
        top_rows=5,
        n_repeats=1,
        n_resamples=20,
    )
    page = Page(report.html)
    # Ours: the numbers and the page's own. Nothing that a user wrote became an element.
    assert len(page.all("script")) == 2
    assert not {"img", "b"} & {tag for tag, _ in page.elements}
    assert page.text.count(EVIL) > 5
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)


@pytest.mark.parametrize("name", ["a\x00b\x1b[31m", "\u202egnp.exe", "\ud800", "x" * 10_000, ""])
def test_names_that_mislead_or_do_not_fit_are_tamed(numbers, name, tmp_path):
    clf, X, y = numbers
    report = make_report(clf, X, y, target=name, title=name, source={"n": name}, **QUICK)
    html = report.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert not set("\x00\x1b\u202e") & set(html)
    assert "x" * 250 not in html.split("<script")[0]


def test_the_page_loads_nothing_and_lets_nothing_else_run(numbers):
    clf, X, y = numbers
    html = make_report(clf, X, y, **QUICK).html
    page = Page(html)
    policy = next(
        attrs["content"]
        for attrs in page.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for _, attrs in page.elements:
        assert "src" not in attrs
        assert "style" not in attrs  # which the policy would refuse
        assert attrs.get("href", "#").startswith(("#", "data:"))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", html)


def test_whoever_cannot_see_the_page_can_read_it(numbers):
    clf, X, y = numbers
    page = Page(make_report(clf, X, y, **{**QUICK, "n_repeats": 1}).html)
    assert page.all("html")[0]["lang"] == "en"
    labelled = {attrs["for"] for attrs in page.all("label")}
    assert {attrs["id"] for attrs in page.all("input")} <= labelled
    assert all("scope" in attrs for attrs in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    for attrs in page.all("svg"):
        assert attrs.get("aria-hidden") == "true" or "aria-labelledby" in attrs
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for attrs in page.all("a"):
        assert attrs["href"][1:] in ids
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert any(attrs.get("aria-live") == "polite" for _, attrs in page.elements)


def test_no_row_is_in_the_page_unless_it_was_asked_for(numbers):
    clf, _, _ = numbers
    rng = np.random.default_rng(0)
    # Values that nothing else could have written.
    X = pd.DataFrame({"secret": rng.random(1000), "b": rng.random(1000), "c": rng.random(1000)})
    y = (rng.random(1000) < 0.2).astype(int)
    clf = LogisticRegression().fit(X, y)
    html = make_report(clf, X, y, **QUICK).html
    assert not [value for value in X.to_numpy().ravel() if f"{value:.10f}" in html]
    assert "aggregates only" in html
    assert "Rows to look at first" not in html
    listed = make_report(clf, X, y, top_rows=3, **QUICK).html
    scores = clf.predict_proba(X)[:, 1]
    text = Page(listed).text
    assert "numbers and scores of 3 rows" in text
    for row in np.argsort(-scores, kind="stable")[:3]:
        assert f"{row:,}" in text
        assert f"{scores[row]:.6g}" in text


def test_the_size_does_not_depend_on_the_number_of_rows():
    rng = np.random.default_rng(0)

    def size(n_rows):
        y = (rng.random(n_rows) < 0.05).astype(int)
        X = rng.normal(size=(n_rows, 2)) + y[:, None]
        clf = LogisticRegression().fit(X[:1000], y[:1000])
        report = make_report(clf, X, y, n_repeats=1, n_resamples=100)
        assert len(report.numbers["threshold"]) <= 1000
        return len(report.html.encode())

    small, large = size(1000), size(1_000_000)
    assert large < 250_000
    assert large < 1.15 * small


def test_a_page_of_many_columns_classes_and_settings_stays_small():
    rng = np.random.default_rng(0)
    names = [f"{i} " + "x" * 500 for i in range(2000)]
    X = pd.DataFrame(rng.normal(size=(600, 2000)), columns=names)
    y = np.array([f"class {i % 60} " + "y" * 500 for i in range(600)])
    clf = LogisticRegression(max_iter=3, class_weight=dict.fromkeys(np.unique(y), 1.0))
    with pytest.warns(Warning, match="converge"):
        clf.fit(X, y)
    html = make_report(clf, X, y, **QUICK).html
    assert len(html.encode()) < 1_000_000
    assert "the first 100 of 2,000" in html


def test_without_labels_the_page_says_only_what_is_known(numbers):
    clf, X, _ = numbers
    report = make_report(clf, X)
    page = Page(report.html)
    assert "hits" not in report.numbers
    assert f"{(clf.predict(X) == 1).sum():,}" in page.text
    assert "how many alarms are right is not known" in page.text
    for word in ("Precision", "Recall", "Brier", "cost", "Calibration"):
        assert word not in page.text, word
    assert {attrs["id"] for attrs in page.all("input")} == {
        *("slider", "rows-a-day", "alarms-per-day"),
    }


def test_scores_that_are_no_probabilities_have_no_calibration(numbers):
    _, X, y = numbers
    clf = LinearSVC(random_state=0).fit(X[:500], y[:500])
    report = make_report(clf, X, y, **QUICK)
    text = Page(report.html).text
    assert "Brier" not in text
    assert "Calibration" not in text
    place = report.numbers["start"]
    assert report.numbers["alarms"][place] == (clf.predict(X) == 1).sum()


def test_many_classes_are_shown_one_against_the_rest_and_in_a_matrix():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], p=[0.7, 0.2, 0.1], size=900)
    X = rng.normal(size=(900, 3)) + np.eye(3)[np.searchsorted(["a", "b", "c"], y)]
    clf = LogisticRegression().fit(X, y)
    report = make_report(clf, X, y, **QUICK)
    text = Page(report.html).text
    assert "The model has 3 classes; this looks at one of them against the rest." in text
    assert "rows of class c" in text
    right, found = clf.score(X, y), recall_score(y, clf.predict(X), average="macro")
    said = (
        f"{percent(right, 0)} of the rows get the right class. The mean recall of the 3 classes is "
        f"{percent(found, 0)}."
    )
    assert said in text
    assert report.headline.startswith(f"{said} Of ")
    assert "as a" in text
    assert "Each class" in text
    place = report.numbers["start"]
    assert report.numbers["alarms"][place] == (clf.predict(X) == "c").sum()
    other = make_report(clf, X, y, pos_label="b", **QUICK)
    assert "rows of class b" in Page(other.html).text


def test_fifty_classes_are_drawn_and_their_confusions_listed():
    rng = np.random.default_rng(0)
    labels = np.array([f"class <{k}>" for k in range(50)])
    codes = np.arange(1500) % 50
    # Classes 0 and 1 lie at the same place.
    centres = rng.normal(0, 6, (50, 5))
    centres[1] = centres[0]
    X = centres[codes] + rng.normal(size=(1500, 5))
    clf = LogisticRegression(max_iter=2000).fit(X, labels[codes])
    report = make_report(clf, X, labels[codes], **QUICK)
    text = Page(report.html).text
    assert report.html.count('class="cell good"') == 50
    assert "class <0> taken for class <1>" in text
    assert "The largest confusions" in text
    assert "Model expects" in text
    assert "<0>" not in report.html
    assert len(report.html) < 400_000


def test_few_rows_of_the_class_to_find_are_warned_of(numbers):
    clf, X, y = numbers
    few = np.append(np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:4])
    text = Page(make_report(clf, X[few], y[few], **QUICK).html).text
    assert "Only 4 of these rows are of the class to find." in text
    assert "Only" not in Page(make_report(clf, X, y, **QUICK).html).text


def test_the_same_seed_gives_the_same_page(numbers):
    clf, X, y = numbers

    def page():
        html = make_report(clf, X, y, n_repeats=2, n_resamples=50, random_state=3).html
        return re.sub(r"\d+-\d+-\d+ \d+:\d+ UTC", "", html)

    assert page() == page()


@pytest.mark.parametrize(
    "part", [0.00003, 0.0052, 0.0149, 0.05, 0.115, 0.372, 0.5, 0.946, 0.996, 1.0]
)
def test_so_many_of_so_many_is_close_to_the_truth(part):
    n, of = (int(words.replace(",", "")) for words in out_of(part))
    assert n / of == pytest.approx(part, rel=0.05)
    assert (n == of) == (part == 1)


@pytest.fixture(scope="module")
def rare():
    """A model of a rare class: all its precision lies far below 100%."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = (rng.random(20_000) < 0.01 * np.exp(0.4 * X[:, 0])).astype(int)
    # The last column is one that it does not read.
    clf = LogisticRegression().fit(X[:, :2], y)
    clf.coef_, clf.n_features_in_ = np.column_stack([clf.coef_, [0.0]]), 3
    return clf, X, y


def test_the_axis_of_precision_ends_where_the_curve_does(numbers, rare):
    tops = []
    for clf, X, y in (numbers, rare):
        page = Page(make_report(clf, X, y, **QUICK).html)
        drawn = [
            svg for svg in page.all("svg") if svg.get("aria-labelledby", "").startswith("prec")
        ]
        tops.append(float(drawn[0]["data-top"]))
        assert ("The axis ends below 100%" in page.text) == (tops[-1] < 1)
    assert tops[0] == 1
    assert tops[1] < 0.2


def test_columns_that_the_model_does_not_read_are_named_apart(rare):
    clf, X, y = rare
    frame = pd.DataFrame(X, columns=["much", "little", "nothing"])
    clf.feature_names_in_ = frame.columns.to_numpy()
    text = Page(make_report(clf, frame, y, n_repeats=2, n_resamples=50).html).text
    assert "Shuffled, these columns change no score here: nothing." in text
    assert "+0.0000" not in text


def test_listed_rows_have_the_names_that_they_are_given(numbers):
    clf, X, y = numbers
    ids = pd.Series([f"claim {row:05}" for row in range(len(y))], name="claim_id")
    page = Page(make_report(clf, X, y, top_rows=2, ids=ids, **QUICK).html)
    best = np.argsort(-clf.predict_proba(X)[:, 1], kind="stable")
    assert "claim_id" in page.text
    assert all(ids[row] in page.text for row in best[:2])
    assert ids[best[2]] not in page.text
    assert "holds names, numbers and scores of 2 rows" in page.text
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make_report(clf, X, y, top_rows=2, ids=ids[1:], **QUICK)


def test_shares_stand_beside_counts(numbers):
    clf, X, y = numbers
    called = clf.predict(X) == 1
    text = Page(make_report(clf, X, y, **QUICK).html).text
    for words, part in (
        ("found", called[y == 1].mean()),
        ("missed", 1 - called[y == 1].mean()),
        ("false alarms", called[y == 0].mean()),
        ("left alone", 1 - called[y == 0].mean()),
    ):
        assert f"{words}: {percent(part)}" in text


def test_numbers_of_rows_come_first_and_shares_are_in_percent(numbers):
    clf, X, y = numbers
    stored = {"MESA": {"precision": [0.4, 0.406], "average precision": [0.5, 0.6]}}
    text = Page(make_report(clf, X, y, comparison=stored, **QUICK).html).text
    order = np.argsort(-clf.predict_proba(X)[:, 1], kind="stable")[:50]
    right = int(y[order].sum())
    assert f"first 50{right} ({right / 50:.1%})" in text
    assert "40.3% ± 0.3%" in text
    assert "0.550 ± 0.050" in text


def test_small_words_of_the_page():
    assert [_loss(each) for each in (-0.00001, 0.0, 0.00001)] == ["0.0000"] * 3
    assert _loss(-0.0312) == "-0.0312"
    assert _from_to(1.0, 1.0) == "about 100%"
    assert _from_to(0.004, 0.006) == "between 0.4% and 0.6%"
