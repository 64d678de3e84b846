"""A redesign changes no result: the fits of `cases.py` give what was recorded, to the last bit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import scipy
import sklearn

# By its path: pytest imports test files by theirs, so that they are in no package.
_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

golden = np.load(cases.RECORD, allow_pickle=False)
versions = [np.__version__, scipy.__version__, sklearn.__version__]

pytestmark = [
    pytest.mark.skipif(
        golden["versions"].tolist() != versions,
        reason=f"recorded with NumPy, SciPy, scikit-learn {golden['versions'].tolist()}",
    ),
    pytest.mark.skipif(
        not np.array_equal(golden["rounding"], cases.rounding()),
        reason="recorded on a processor that rounds otherwise",
    ),
]


def test_every_record_has_its_case():
    recorded = {key.split("/")[0] for key in golden.files} - {"versions", "rounding"}
    assert recorded == set(cases.CASES)


@pytest.mark.parametrize("name", cases.CASES)
def test_results_are_those_recorded(name):
    numbers = cases.run(name)
    recorded = {key.split("/")[1] for key in golden.files if key.startswith(f"{name}/")}
    assert recorded == set(numbers)
    for part, value in numbers.items():
        np.testing.assert_array_equal(value, golden[f"{name}/{part}"], err_msg=part)
