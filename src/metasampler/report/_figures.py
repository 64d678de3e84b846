"""Figures as small SVG elements.

They are drawn here, not by matplotlib: its SVG of one curve is some three times as heavy, spells
letters as paths that no screen reader reads, has fixed colours where ours follow the page into the
dark, and needs matplotlib. `benchmarks/report_weight.py` prints the weights. They are drawn in
Python, not by the page's script, so that they are there in print previews, in mail programs and
wherever scripts do not run; the script only moves marks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10

import numpy as np

from metasampler.report._markup import Markup, element

WIDTH, HEIGHT = 360, 264
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 12, 46

#: What the script needs to know of it.
FRAME = f"{WIDTH} {HEIGHT} {LEFT} {RIGHT} {TOP} {BOTTOM}"


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers between two, ends included where they are round.

    Examples
    --------
    >>> from metasampler.report._figures import nice_ticks
    >>> nice_ticks(0, 0.37)
    [0.0, 0.1, 0.2, 0.3]
    """
    if not high > low:
        return [low]
    raw = (high - low) / about
    size = 10 ** floor(log10(raw))
    step = next(size * part for part in (1, 2, 5, 10) if size * part >= raw * 0.999)
    first = ceil(low / step - 1e-9)
    n_steps = floor((high - first * step) / step + 1e-9)
    digits = max(0, -floor(log10(step)))
    return [round(float((first + number) * step), digits) for number in range(n_steps + 1)]


def percent_ticks(low: float, high: float, about: int = 5) -> list[tuple[float, str]]:
    """Return round parts between two, and how they are written."""
    ticks = nice_ticks(low, high, about)
    digits = 0
    while any(abs(100 * tick - round(100 * tick, digits)) > 1e-9 for tick in ticks) and digits < 6:
        digits += 1
    return [(tick, f"{100 * tick:.{digits}f}%") for tick in ticks]


def logit_scale(scores: np.ndarray) -> tuple[Callable, tuple[float, float], list]:
    """Return a scale on which small probabilities have room, its limits and its ticks."""
    least = float(np.clip(np.quantile(scores, 0.001), 1e-6, 0.01))
    most = float(np.clip(np.quantile(scores, 0.9999), 0.5, 1 - 1e-4))

    def scale(value):
        value = np.clip(value, least, most)
        return np.log(value / (1 - value))

    marks = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    ticks = [(mark, f"{100 * mark:.10g}%") for mark in marks if least <= mark <= most]
    return scale, (least, most), ticks


class Axes:
    """A frame with labelled axes into which lines, bands and marks are drawn.

    Parameters
    ----------
    key : str
        What the page's script and the title's id call it.
    title : str
        What it shows, with its main numbers: this is what a screen reader says.
    x_label, y_label : str
    x_ticks, y_ticks : list of (float, str)
        Where the ticks are, and how they are written.
    x_limits, y_limits : (float, float)
    scale : callable, default=None
        What the horizontal values are mapped by first.
    """

    def __init__(
        self, key, title, *, x_label, y_label, x_ticks, y_ticks, x_limits, y_limits, scale=None
    ):
        self.key, self.title = key, title
        self.x_label, self.y_label = x_label, y_label
        self.x_ticks, self.y_ticks = x_ticks, y_ticks
        self.scale = scale or (lambda value: value)
        self.x_limits = tuple(float(self.scale(end)) for end in x_limits)
        self.y_limits = y_limits
        self.parts: list[Markup] = []

    def x(self, value) -> np.ndarray:
        """Return horizontal places."""
        low, high = self.x_limits
        part = (self.scale(np.asarray(value, dtype=float)) - low) / ((high - low) or 1)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(self, value) -> np.ndarray:
        """Return vertical places."""
        low, high = self.y_limits
        # What is above the frame lies at its upper edge.
        part = (np.minimum(np.asarray(value, dtype=float), high) - low) / ((high - low) or 1)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    def line(self, x, y, kind: str = "line", close: bool = False) -> None:
        """Draw a line through points; one that is closed is an area."""
        path = path_of(self.x(x), self.y(y))
        if path:
            self.parts.append(element("path", d=path + ("Z" if close else ""), class_=kind))

    def band(self, x, low, high, kind: str = "band") -> None:
        """Fill what lies between two lines."""
        ok = np.isfinite(low) & np.isfinite(high)
        x, low, high = x[ok], low[ok], high[ok]
        if len(x):
            self.line(np.append(x, x[::-1]), np.append(low, high[::-1]), kind, close=True)

    def dots(self, x, y, kind: str = "dot", radius: float = 3.5) -> None:
        """Draw points."""
        for place, height in zip(self.x(x), self.y(y), strict=True):
            self.parts.append(
                element("circle", cx=number(place), cy=number(height), r=radius, class_=kind)
            )

    def whiskers(self, x, low, high) -> None:
        """Draw vertical intervals."""
        for place, bottom, top in zip(self.x(x), self.y(low), self.y(high), strict=True):
            self.parts.append(
                element(
                    "path", d=f"M{number(place)} {number(bottom)}V{number(top)}", class_="whisker"
                )
            )

    def mark(self, x: float, y: float) -> None:
        """Draw the point of the threshold, which the script moves."""
        self.parts.append(
            element(
                "circle",
                cx=number(self.x(x)),
                cy=number(self.y(y)),
                r=5.5,
                class_="mark",
                data_mark=self.key,
            )
        )

    def upright(self, x: float) -> None:
        """Draw the line of the threshold, which the script moves."""
        place = number(self.x(x))
        self.parts.append(
            element(
                "line",
                x1=place,
                x2=place,
                y1=TOP,
                y2=HEIGHT - BOTTOM,
                class_="mark-line",
                data_mark=self.key,
            )
        )

    def svg(self) -> Markup:
        """Return the figure."""
        low, high = self.x_limits
        return element(
            "svg",
            element("title", self.title, id=f"{self.key}-title"),
            *self._frame(),
            *self.parts,
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            role="img",
            aria_labelledby=f"{self.key}-title",
            data_frame=FRAME,
            data_low=repr(low),
            data_high=repr(high),
            data_top=repr(float(self.y_limits[1])),
            class_="figure",
        )

    def _frame(self):
        """Yield grid, ticks and labels."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value, words in self.y_ticks:
            place = number(self.y(value))
            yield element("path", d=f"M{LEFT} {place}H{right}", class_="grid")
            yield element(
                "text", words, x=LEFT - 6, y=place, dy="0.35em", text_anchor="end", class_="tick"
            )
        for value, words in self.x_ticks:
            place = number(self.x(value))
            yield element("path", d=f"M{place} {bottom}v4", class_="axis")
            yield element(
                "text", words, x=place, y=bottom + 17, text_anchor="middle", class_="tick"
            )
        yield element("path", d=f"M{LEFT} {bottom}H{right}", class_="axis")
        middle = (LEFT + right) / 2
        yield element(
            "text", self.x_label, x=middle, y=HEIGHT - 6, text_anchor="middle", class_="label"
        )
        height = (TOP + bottom) / 2
        yield element(
            "text",
            self.y_label,
            x=11,
            y=number(height),
            transform=f"rotate(-90 11 {number(height)})",
            text_anchor="middle",
            class_="label",
        )


def number(value) -> str:
    """Return a place in a figure; a tenth of a pixel is enough."""
    return f"{float(value):.1f}".removesuffix(".0")


def path_of(x, y) -> str:
    """Return the commands of a line; points too close to tell apart are left out."""
    points: list[tuple[float, float]] = []
    for place, height in zip(x, y, strict=True):
        if not (np.isfinite(place) and np.isfinite(height)):
            continue
        if points and abs(points[-1][0] - place) < 0.2 and abs(points[-1][1] - height) < 0.2:
            continue
        points.append((place, height))
    return "".join(
        f"{'L' if position else 'M'}{number(place)} {number(height)}"
        for position, (place, height) in enumerate(points)
    )


def bar(value: float, spread: float, high: float) -> Markup:
    """Return one horizontal bar, as wide as its place; the number beside it says it in words.

    Parameters
    ----------
    value, spread : float
        Length of the bar, and how far it may be off (NaN for unknown).
    high : float
        The length that fills the place.
    """

    def place(length: float) -> str:
        return number(float(np.clip(100 * length / high, 0, 100)))

    known = np.isfinite(spread)
    return element(
        "svg",
        element("rect", x=0, y=2, width=place(value), height=8, class_="bar"),
        element("path", d=f"M{place(value - spread)} 6H{place(value + spread)}", class_="whisker")
        if known
        else None,
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="bar-place",
    )
