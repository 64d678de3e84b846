"""A redesign changes no result: the fits of `cases.py` give what was recorded, to the last bit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from rounding import GOLDEN, needs_same_rounding

# By its path: pytest imports test files by theirs, so that they are in no package.
_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

golden = np.load(GOLDEN, allow_pickle=False)
versions = cases.versions()

pytestmark = [
    pytest.mark.skipif(
        golden["versions"].tolist() != versions,
        reason=f"recorded with NumPy, SciPy, scikit-learn, LightGBM {golden['versions'].tolist()}",
    ),
    needs_same_rounding(),
]


def test_every_record_has_its_case():
    recorded = {key.split("/")[0] for key in golden.files} - {"versions", "rounding"}
    assert recorded == set(cases.CASES)


@pytest.mark.parametrize("name", cases.CASES)
def test_results_are_those_recorded(name):
    assert_recorded(name, cases.run(name))


@pytest.mark.parametrize("name", cases.IN_FILES)
@pytest.mark.filterwarnings("ignore")
def test_files_give_what_memory_gives(name):
    assert_recorded(name, cases.TEAMS[name].in_files())


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as client:
        yield client


@pytest.mark.parametrize("name", cases.ON_CLUSTER)
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_what_memory_gives(name, client):
    assert_recorded(name, cases.TEAMS[name].on_cluster(client), stays=("samples",))


def assert_recorded(name, numbers, stays=()):
    recorded = {key.split("/")[1] for key in golden.files if key.startswith(f"{name}/")}
    recorded -= set(stays)
    assert recorded == set(numbers)
    for part, value in numbers.items():
        np.testing.assert_array_equal(value, golden[f"{name}/{part}"], err_msg=part)
