"""A report on a fitted classifier: one HTML file for those who decide and those who audit.

The file is complete in itself: it loads nothing, sends nothing and runs no script but its own. It
holds aggregates at no more than a thousand thresholds, so that it stays below a megabyte whatever
the number of rows, and nothing of the rows unless it is asked for.

Figures are drawn here, as small SVG elements with real text, rather than by matplotlib: they weigh
a third of it, follow the page into the dark, can be read by a screen reader and are there where
scripts do not run (``python benchmarks/report_weight.py`` prints the weights). A small script of
our own moves marks and numbers.
"""

from metasampler.report._make_report import Report, make_report

__all__ = ["Report", "make_report"]
