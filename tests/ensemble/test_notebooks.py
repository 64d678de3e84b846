"""What a notebook shows: scikit-learn's picture, and what the fit came to."""

from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.ensemble._repr import fit_html


@pytest.fixture(scope="module")
def fitted(imbalanced):
    X, y = imbalanced
    labels = np.where(y == 1, "<b>bad & ugly</b>", "good")
    clf = MesaClassifier(DecisionTreeClassifier(), 6, threshold="f1", random_state=0)
    return clf.fit(X, labels)


def test_a_fit_shows_its_curve_and_its_promise(fitted):
    html = fit_html(fitted)
    # Well-formed, and no label gets out of its text.
    root = ElementTree.fromstring(html)
    text = " ".join(root.itertext())
    assert fitted.summary().promise in text
    assert "6 members, fitted on 600 rows" in text
    assert f"{fitted.scores_[-1]:.3f} in the end" in text
    points = root.find(".//polyline").attrib["points"].split()
    assert len(points) == len(fitted.scores_)
    # A higher score lies higher up.
    heights = np.array([float(point.split(",")[1]) for point in points])
    assert np.all(np.diff(heights)[np.diff(fitted.scores_) > 0] < 0)
    assert len(html) < 5000
    assert not any(word in html for word in ("<script", "http", "url(", "<b>"))


def test_notebooks_get_both_pictures(fitted):
    for html in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in html
        assert html.endswith(fit_html(fitted))
        HTMLParser().feed(html)
    unfitted = MesaClassifier()
    assert "members, fitted on" not in unfitted._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert "text/html" not in fitted._repr_mimebundle_()


def test_fits_without_scores_and_with_many_classes():
    X, y = make_classification(300, n_classes=12, n_informative=6, n_clusters_per_class=1)
    html = fit_html(UnderBaggingClassifier(n_estimators=2, random_state=0).fit(X, y))
    assert "<svg" not in html
    assert "and 2 more classes" in html


def test_teams_show_the_score_of_all_and_no_curve_of_some(for_teams):
    clf = MesaClassifier(random_state=0).fit(*for_teams)
    html = fit_html(clf)
    assert "<svg" not in html
    assert f"together {clf.held_out_scores_['together']:.3f}" in html
