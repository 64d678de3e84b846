"""The 27 benchmark sets of imbalanced-learn."""

from __future__ import annotations

import os
import tarfile
from http.client import HTTPException
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.datasets import get_data_home

from metasampler_bench.datasets._local import ENVIRONMENT_VARIABLE, known_data_home, read_npz

__all__ = ["ZENODO", "ZENODO_NAMES", "load_zenodo"]

ADDRESS = "https://zenodo.org/record/61452/files/benchmark-imbalanced-learn.tar.gz"

#: Rows, columns and positive rows of each set, counted in the files.
ZENODO = {
    "ecoli": (336, 7, 35),
    "optical_digits": (5620, 64, 554),
    "satimage": (6435, 36, 626),
    "pen_digits": (10992, 16, 1055),
    "abalone": (4177, 10, 391),
    "sick_euthyroid": (3163, 42, 293),
    "spectrometer": (531, 93, 45),
    "car_eval_34": (1728, 21, 134),
    "isolet": (7797, 617, 600),
    "us_crime": (1994, 100, 150),
    "yeast_ml8": (2417, 103, 178),
    "scene": (2407, 294, 177),
    "libras_move": (360, 90, 24),
    "thyroid_sick": (3772, 52, 231),
    "coil_2000": (9822, 85, 586),
    "arrhythmia": (452, 278, 25),
    "solar_flare_m0": (1389, 32, 68),
    "oil": (937, 49, 41),
    "car_eval_4": (1728, 21, 65),
    "wine_quality": (4898, 11, 183),
    "letter_img": (20000, 16, 734),
    "yeast_me2": (1484, 8, 51),
    "webpage": (34780, 300, 981),
    "ozone_level": (2536, 72, 73),
    "mammography": (11183, 6, 260),
    "protein_homo": (145751, 74, 1296),
    "abalone_19": (4177, 10, 32),
}
#: In the order of their numbers, which is the order of imbalanced-learn.
ZENODO_NAMES = tuple(ZENODO)


def load_zenodo(
    name: str, data_home: str | os.PathLike[str] | None, *, download: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and labels (-1, 1) of a set, from the folder or by a download."""
    folder = known_data_home(data_home)
    file = f"zenodo/x{ZENODO_NAMES.index(name) + 1}data.npz"
    path = Path(get_data_home() if folder is None else folder) / file
    if path.is_file():
        return read_npz(path)
    # Its import takes a noticeable time, which only a download is worth.
    from imblearn.datasets import fetch_datasets

    try:
        found = fetch_datasets(
            data_home=None if folder is None else os.fspath(folder),
            filter_data=(name,),
            download_if_missing=download,
        )
    # What a broken connection, a page instead of the archive and a read-only folder raise.
    except (OSError, HTTPException, tarfile.TarError) as error:
        place = "scikit-learn's data folder" if folder is None else f"{os.fspath(folder)!r}"
        reason = f"the download failed: {error}" if download else "download=False"
        raise FileNotFoundError(
            f"{name!r} could not be read from {file} in {place} ({reason}). Either call once with "
            f"download=True where there is a network, or unpack {ADDRESS} into a folder "
            "'zenodo' and give the folder that holds it as data_home or in the environment "
            f"variable {ENVIRONMENT_VARIABLE}."
        ) from error
    return found[name].data, found[name].target
