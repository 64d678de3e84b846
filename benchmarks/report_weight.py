"""What a report weighs, by rows; and its curve beside the same curve by matplotlib.

Run ``python benchmarks/report_weight.py``; it needs the extra ``plot``. Sizes in bytes. CPU time is
that of `make_report` without the shuffling of columns, whose cost is that of the model.
"""

import io
import re
import time

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from metasampler.report import make_report


def make(n_rows):
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.02).astype(int)
    X = rng.normal(size=(n_rows, 5)) + y[:, None]
    clf = LogisticRegression().fit(X[:1000], y[:1000])
    begin = time.process_time()
    report = make_report(clf, X, y, n_repeats=0)
    return report, time.process_time() - begin


def by_matplotlib(numbers, fonttype):
    """Draw precision over recall with its band as SVG, and count its bytes."""
    hits, alarms = np.array(numbers["hits"]), np.array(numbers["alarms"])
    called = alarms > 0
    recall, precision = hits[called] / numbers["positive"], hits[called] / alarms[called]
    low, high = (
        np.array(numbers[key], dtype=float)[called] for key in ("precisionLow", "precisionHigh")
    )
    with mpl.rc_context({"svg.fonttype": fonttype}):
        figure = Figure(figsize=(3.75, 2.75), layout="constrained")
        ax = figure.add_subplot(xlabel="Recall: part found", ylabel="Precision: part right")
        ax.fill_between(recall, low, high, alpha=0.15)
        ax.plot(recall, precision)
        ax.grid(axis="y")
        stream = io.BytesIO()
        figure.savefig(stream, format="svg")
    return len(stream.getvalue())


def main():
    print("rows       cut points  page, bytes  CPU, s")
    for n_rows in (1000, 10_000, 100_000, 1_000_000):
        report, cpu = make(n_rows)
        size = len(report.html.encode())
        print(f"{n_rows:<10,} {len(report.numbers['threshold']):>10}  {size:>11,}  {cpu:>6.2f}")
    ours = re.search(r"<svg[^>]*precision-recall-title.*?</svg>", report.html)[0]
    print("\nprecision over recall of the last page, bytes")
    print(f"ours                           {len(ours.encode()):>8,}")
    print(f"matplotlib, letters as paths   {by_matplotlib(report.numbers, 'path'):>8,}")
    print(f"matplotlib, letters as text    {by_matplotlib(report.numbers, 'none'):>8,}")


if __name__ == "__main__":
    main()
