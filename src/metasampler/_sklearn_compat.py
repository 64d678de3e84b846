"""All that is used of scikit-learn beyond its documented interface, and nothing else.

Each shortcut has a public twin that gives the same result; `FAST_TREES` says whether the
shortcuts are taken. A scikit-learn release that was not tested here only costs speed. The rest
are scikit-learn's own tools for the authors of estimators, which have no public name yet; if one
is not where it was, those of `_sklearn_public` serve.
"""
# ruff: noqa: F401

import os
import re
from typing import TYPE_CHECKING

import sklearn

PUBLIC_ONLY = os.environ.get("METASAMPLER_PUBLIC_SKLEARN") == "1"
if not PUBLIC_ONLY:
    try:
        from sklearn.base import _fit_context as fit_context
        from sklearn.utils import _safe_indexing as take_rows
        from sklearn.utils._param_validation import (
            Interval,
            StrOptions,
            validate_parameter_constraints,
        )
        from sklearn.utils.validation import _check_sample_weight as check_sample_weight
    except ImportError:  # a later release
        PUBLIC_ONLY = True
if PUBLIC_ONLY and not TYPE_CHECKING:
    from metasampler._sklearn_public import (
        Interval,
        StrOptions,
        check_sample_weight,
        fit_context,
        take_rows,
        validate_parameter_constraints,
    )

_TESTED_FROM, _TESTED_BELOW = (1, 6), (1, 10)
_VERSION = tuple(int(part) for part in re.findall(r"\d+", sklearn.__version__)[:2])

FAST_TREES = not PUBLIC_ONLY and _TESTED_FROM <= _VERSION < _TESTED_BELOW
if FAST_TREES:
    from sklearn.tree._classes import CRITERIA_CLF, DENSE_SPLITTERS, DepthFirstTreeBuilder, Tree
