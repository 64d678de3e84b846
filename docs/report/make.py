"""Photograph an example report at three widths, light and dark, as the PNGs beside this file.

The page itself is written beside them, as ``example.html``.

Run ``python docs/report/make.py``; it needs the extras ``test-web`` and ``plot`` (for Pillow), and
Chromium with its driver. The data is made up (`make_claims`): it shows the report, and nothing of
how good the classifier is on real data.
"""

import sys
from pathlib import Path

from lightgbm import LGBMClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from metasampler import MesaClassifier
from metasampler.datasets import make_claims
from metasampler.report import make_report
from metasampler.tables import TableEncoder

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "tests" / "helpers"))
from browser import DESKTOP, PHONE, TABLET, look_like, open_browser, photograph, save_picture  # noqa: E402

#: How much of the page is kept: the head and the threshold, and the figures below them.
PICTURES = {
    "phone": (PHONE, False, 2300),
    "tablet": (TABLET, False, 2200),
    "desktop": (DESKTOP, False, 2000),
    "dark": (DESKTOP, True, 2000),
}


def example():
    """Make the report that is photographed."""
    claims = make_claims(20_000)
    train, test = train_test_split(claims, stratify=claims["fraud"], random_state=0)
    X, y = train.drop(columns="fraud"), train["fraud"]
    X_test, y_test = test.drop(columns="fraud"), test["fraud"]
    clf = MesaClassifier(threshold=("recall", 0.6), random_state=0).fit(X, y)
    rival = make_pipeline(TableEncoder(), LGBMClassifier(verbose=-1, n_jobs=1, random_state=0))
    rival.set_output(transform="pandas")
    return make_report(
        clf,
        X_test,
        y_test,
        target="fraud",
        title="Claims of 2026, held-out quarter",
        rivals={"LightGBM": rival.fit(X, y)},
        rows_a_day=400,
        miss_cost=900,
        alarm_cost=40,
    )


def main():
    report = example()
    page = report.save(HERE / "example.html")
    print(report, f"-> {page.relative_to(HERE.parents[1])}")
    with open_browser() as browser:
        for name, (size, dark, height) in PICTURES.items():
            look_like(browser, size, dark=dark)
            browser.get(page.as_uri())
            target = HERE / f"{name}.png"
            weight = save_picture(photograph(browser, size, height), target)
            print(f"{target.name}: {weight / 1000:.0f} kB")


if __name__ == "__main__":
    main()
