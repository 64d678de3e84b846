"""What the tests of both packages share: data, and a look at pictures."""

import os
from io import BytesIO
from pathlib import Path

# Before NumPy is imported: the results that tests compare with were made with these kernels of
# BLAS, and others round otherwise. They need a processor with AVX-512.
_PROCESSOR = Path("/proc/cpuinfo")
if _PROCESSOR.exists() and "avx512bw" in _PROCESSOR.read_text(encoding="utf-8"):
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"

# No test opens a window.
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits, make_classification

# Machines differ: no test fails for the time it takes.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def imbalanced():
    """Two overlapping classes, 1 : 9."""
    return make_classification(
        600, n_features=8, n_informative=5, weights=[0.9], flip_y=0.02, random_state=0
    )


@pytest.fixture(scope="session")
def for_teams():
    """Two overlapping classes, 1 : 2, with enough rows of the smaller one for teams."""
    return make_classification(
        800, n_features=8, n_informative=5, weights=[0.67], flip_y=0.02, random_state=0
    )


@pytest.fixture(scope="session")
def three_classes():
    """Real data, three classes of 60, 20 and 170 rows; by name the smallest comes first."""
    X, y = load_digits(return_X_y=True)
    sizes = {0: 60, 1: 20, 2: 170}
    rows = np.concatenate([np.flatnonzero(y == label)[:n] for label, n in sizes.items()])
    return X[rows], np.array(["zero", "one", "two"])[y[rows]]


@pytest.fixture(scope="session")
def data_home():
    """The folder with the real data sets; tests that need it are skipped without it."""
    folder = os.environ.get("METASAMPLER_DATA_HOME")
    if not folder or not Path(folder).is_dir():
        pytest.skip("METASAMPLER_DATA_HOME names no folder with the real data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def mammography(data_home):
    """The split of mammography that the authors of MESA used: training, validation, test."""
    parts = {}
    for part in ("train", "valid", "test"):
        with np.load(data_home / "extra" / f"mesa_Mammo_{part}.npz") as archive:
            parts[part] = (archive["data"], archive["label"])
    return parts


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
