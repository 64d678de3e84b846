"""What tests of pictures share."""

from io import BytesIO

import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt  # the backend has to be chosen first


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def _parts(figure):
    """All texts and legends that can be seen; turned texts fill only a part of their box."""
    yield from figure.texts
    yield from figure.legends
    for ax in figure.axes:
        if not ax.get_visible():
            continue
        yield from ax.texts
        yield from (ax.title, ax._left_title)
        if ax.get_legend() is not None:
            yield ax.get_legend()
        if ax.axison:
            for axis in (ax.xaxis, ax.yaxis):
                yield axis.label
                low, high = sorted(axis.get_view_interval())
                for tick in axis.get_major_ticks():
                    # Ticks beyond the axis are there but not drawn.
                    if low <= tick.get_loc() <= high and tick.label1.get_rotation() % 90 == 0:
                        yield tick.label1


@pytest.fixture
def covered():
    """A function: pairs of texts and legends that overlap in a figure, or leave it."""

    def find(figure):
        image = BytesIO()
        figure.savefig(image, format="png")
        assert image.getvalue().startswith(b"\x89PNG")
        renderer = figure.canvas.get_renderer()
        boxes = [
            (getattr(part, "get_text", lambda part=part: part)(), part.get_window_extent(renderer))
            for part in _parts(figure)
            if part.get_visible()
        ]
        boxes = [(name, box) for name, box in boxes if name and box.width > 0 and box.height > 0]
        found = [
            (name, other)
            for i, (name, box) in enumerate(boxes)
            for other, second in boxes[:i]
            # Boxes that touch by rounding do not cover anything.
            if box.padded(-0.5).overlaps(second.padded(-0.5))
        ]
        frame = figure.bbox.padded(1)
        found += [
            (name, "the edge")
            for name, box in boxes
            if not (frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1))
        ]
        return found

    return find
