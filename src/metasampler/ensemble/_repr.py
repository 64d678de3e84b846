"""What a notebook shows of a fitted ensemble, below scikit-learn's own picture of it."""

from html import escape

import numpy as np

from metasampler.ensemble._summary import score_name

__all__ = ["fit_html"]

_WIDTH, _HEIGHT, _EDGE = 320, 80, 6


def fit_html(ensemble) -> str:
    """Return what a fit came to, as HTML that loads nothing; nothing before a fit."""
    if not hasattr(ensemble, "estimators_"):
        return ""
    summary = ensemble.summary()
    labels = ensemble.classes_.tolist()
    counts = ensemble.class_counts_.tolist()
    shown = ", ".join(
        f"{label!r}: {count:,}" for label, count in list(zip(labels, counts, strict=True))[:10]
    )
    more = f" and {len(labels) - 10} more classes" if len(labels) > 10 else ""
    lines = [f"{len(ensemble.estimators_)} members, fitted on {sum(counts):,} rows ({shown}{more})"]
    if summary.promise:
        lines.append(summary.promise)
    if len(scores := ensemble.held_out_scores_) > 1:
        shown = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
        lines.append(f"Held-out {score_name(ensemble)}, before calibration: {shown}.")
    text = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f'<div style="font-size: 90%; margin: 0.5em 0">{text}{_curve(ensemble)}</div>'


def _curve(ensemble) -> str:
    """Return the validation scores after each member as a line; nothing if there are too few."""
    scores = np.asarray(ensemble.scores_, dtype=float)
    if len(ensemble.held_out_scores_) > 1:
        return ""  # the curve would be that of the trees alone
    if len(scores) < 2 or not np.isfinite(scores).all():
        return ""
    low, high = float(scores.min()), float(scores.max())
    x = np.linspace(_EDGE, _WIDTH - _EDGE, len(scores))
    y = _HEIGHT - _EDGE - (scores - low) / (high - low or 1.0) * (_HEIGHT - 2 * _EDGE)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    said = (
        f"{score_name(ensemble)} on the validation rows, before calibration: {scores[0]:.3f} at "
        f"first, {scores[-1]:.3f} in the end, between {low:.3f} and {high:.3f}"
    )
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'style="display: block; max-width: 100%"><title>{escape(said)}</title>'
        f'<polyline points="{points}" fill="none" stroke="#0072B2" stroke-width="2"/></svg>'
        f"<div>{escape(said)}.</div>"
    )
