"""LightGBM members: the table is binned once, and every member trains on some of its rows."""

import tempfile
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse
from scipy.special import expit, softmax

from metasampler._sklearn_compat import take_rows
from metasampler.growth._adapters import Adapter, naming_the_estimator
from metasampler.growth._recoding import RecodedRows, Recoding, learn_recoding

__all__ = ["BoostedMember", "LightGBMAdapter"]

# Up to this many columns LightGBM's histograms by rows are faster, by 10 to 25%.
_FEW_COLUMNS = 50

# What LightGBM calls the rounds without gain after which training stops.
_PATIENCE = ("early_stopping_round", "early_stopping_rounds", "n_iter_no_change")

# Parameters that do not concern LightGBM, or that are set here.
_NOT_PASSED_ON = ("class_weight", "importance_type", "n_jobs", "random_state", *_PATIENCE)


def _known_table(X):
    """Return a table of a kind that LightGBM knows: not SciPy's sparse arrays."""
    return csr_matrix(X) if issparse(X) else X


def make_bin_edges(tables: list, settings: dict, categorical_features: list[int]) -> bytes:
    """Return the edges of the bins, given a sample of rows in one or more tables.

    They are a binned table of LightGBM's with a single row, in its own format: some kilobytes that
    any process can make the same bins from.
    """
    import lightgbm

    sample = tables[0] if len(tables) == 1 else np.concatenate(tables)
    binned = lightgbm.Dataset(
        _known_table(sample), categorical_feature=categorical_features, params=settings
    ).construct()
    with tempfile.TemporaryDirectory(prefix="metasampler-") as folder:
        path = Path(folder) / "edges"
        binned.subset([0]).construct().save_binary(path)
        return path.read_bytes()


def _read_bin_edges(edges: bytes, settings: dict):
    """Return the binned table that `make_bin_edges` wrote."""
    import lightgbm

    with tempfile.TemporaryDirectory(prefix="metasampler-") as folder:
        path = Path(folder) / "edges"
        path.write_bytes(edges)
        return lightgbm.Dataset(path, params=settings).construct()


class BoostedMember:
    """A fitted LightGBM member.

    Parameters
    ----------
    booster : lightgbm.Booster
        The trees.
    n_classes : int
        The labels are 0, ..., n_classes - 1.
    recoding : Recoding, default=None
        What the trees read in the place of the codes of some categories.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees, as LightGBM knows them.
    n_rounds_ : int
        Rounds of boosting that count: those up to the best one, if training stopped early.
    tables : object
        What `scores_of_boosters` has made of this member and those beside it. It is not stored.
    """

    tables: Any = None

    def __init__(self, booster, n_classes: int, recoding: Recoding | None = None):
        self.n_classes = n_classes
        self.recoding = recoding
        stopped = booster.best_iteration > 0
        self.n_rounds_ = booster.best_iteration if stopped else booster.current_iteration()
        self.booster_ = booster

    def __getstate__(self):
        # LightGBM's objects live outside of Python; the text of the model is all there is to keep.
        text = self.booster_.model_to_string(num_iteration=self.n_rounds_)
        return {
            "n_classes": self.n_classes,
            "n_rounds_": self.n_rounds_,
            "recoding": self.recoding,
            "model": text,
        }

    def __setstate__(self, state):
        import lightgbm

        self.n_classes, self.n_rounds_ = state["n_classes"], state["n_rounds_"]
        self.recoding = state["recoding"]
        self.booster_ = lightgbm.Booster(model_str=state["model"])

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The encoded rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        positive = self.probabilities_of(self.raw_scores(X))
        return positive if self.n_classes > 2 else np.column_stack([1 - positive, positive])

    def raw_scores(self, X) -> np.ndarray:
        """Return the sums of the trees: log-odds, or one number per class."""
        table = _known_table(X) if self.recoding is None else self.recoding(X)
        return self.booster_.predict(
            table, num_iteration=self.n_rounds_, raw_score=True, num_threads=1
        )

    def probabilities_of(self, raw: np.ndarray) -> np.ndarray:
        """Return the probabilities that raw scores stand for: of class 1 only, if there are two."""
        return softmax(raw, axis=1) if self.n_classes > 2 else expit(raw)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of the splits on each column, as a share of the gain of all splits."""
        gains = self.booster_.feature_importance("gain", self.n_rounds_)
        return gains / (gains.sum() or 1.0)


class LightGBMAdapter(Adapter):
    """The members of LightGBM, on a table that is binned once.

    Members are those that LightGBM's own `fit` gives on the rows of a member, but for the edges of
    the bins, which come from all rows, or from a sample of ``subsample_for_bin`` rows by their
    keys: they do not depend on the partitions. One thread serves a member, so the result does
    not depend on their number. If the base estimator has an
    ``early_stopping_round`` and there are rows that the member must not see, it stops by their
    log-loss.
    """

    # LightGBM lets other threads run.
    fits_in_threads = True
    starts_threads = False
    patience_parameters = _PATIENCE

    #: The round after which the learning rate doubles; None leaves it as it is.
    doubles_after: int | None = None

    #: Columns of codes that every second member reads as numbers, see `Recoding`, and how many
    #: levels each has.
    n_levels: dict[int, int] = {}

    #: What fits and scores every second member, if it is another adapter.
    _second: "LightGBMAdapter | None" = None

    #: The edges of the bins, see `make_bin_edges`; None: the table itself has them.
    edges: bytes | None = None

    # Pairs of a table and what was made of it.
    _seen: object = None
    _reference: tuple = (None, None)
    _binned: tuple = (None, None)

    def __copy__(self):
        # As it is, not as it is stored: no fit changes the binned table.
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def alike(self, estimator, doubles_after: int | None = None) -> "LightGBMAdapter":
        """Return an adapter of other members that shares the binned table."""
        twin = copy(self)
        twin.__dict__.pop("_given", None)
        twin.estimator, twin.doubles_after = estimator, doubles_after
        if self._second is not None:
            twin._second = self._second.alike(estimator, doubles_after)
        twin.stops_early = twin._patience() is not None
        return twin

    def recode_in_turn(self, n_levels: dict[int, int]) -> None:
        """Let every second member read some categories as numbers; `n_levels` has the columns."""
        self._second = copy(self)
        self._second.n_levels = n_levels

    def of(self, number: int) -> Adapter:
        """Return the adapter of the member with this number."""
        return self if self._second is None or number % 2 == 0 else self._second

    def __getstate__(self):
        # The binned table lives outside of Python; another process bins it again.
        nothing = (None, None)
        return {**self.__dict__, "_binned": nothing, "_reference": nothing, "_seen": None}

    def before_growth(self, data) -> None:
        """Cut columns into bins by a sample of the rows, unless the table is that sample itself."""
        table = data.tables[0]
        if self._seen is table:
            return
        settings = self._settings(table.shape[1])
        del settings["n_estimators"]
        # Bins are the same for any number of threads.
        settings["num_threads"] = effective_n_jobs(self.n_jobs)
        make_edges = partial(
            make_bin_edges, settings=settings, categorical_features=self.categorical_features
        )
        with naming_the_estimator(self.estimator):
            self.edges = data.bin_edges(self._given["subsample_for_bin"], make_edges)
        self._seen = table

    @cached_property
    def _given(self) -> dict[str, Any]:
        # Read once: scikit-learn looks at the signature every time.
        return self.estimator.get_params()

    def _patience(self):
        return next(filter(None, map(self._given.get, _PATIENCE)), None)

    def prepare(self, X, codes):
        """Bin the table."""
        settings = self._settings(X.shape[1])
        del settings["n_estimators"]
        with naming_the_estimator(self.estimator):
            self._dataset(X, codes[: X.shape[0]], settings)

    def _dataset(self, X, codes: np.ndarray, settings: dict):
        """Return the binned table; it is binned anew only if it is another one."""
        table, binned = self._binned
        if table is not X:
            binned = self._bin(_known_table(X), codes, settings)
            self._binned = X, binned
        return binned

    def _bin(self, X, codes: np.ndarray, settings: dict):
        """Return a table in bins."""
        import lightgbm

        # Some settings, such as `max_bin`, affect the bins.
        binned = lightgbm.Dataset(
            X,
            codes.astype(np.float32),
            categorical_feature=self.categorical_features,
            # Bins are the same for any number; nothing else of LightGBM's runs meanwhile.
            params={**settings, "num_threads": effective_n_jobs(self.n_jobs)},
            reference=self._edges_of_bins(settings),
        ).construct()
        binned.params = {**settings, "num_threads": 1}
        return binned

    def _binned_rows(self, X, codes: np.ndarray, rows: np.ndarray, settings: dict):
        """Return rows of a table in bins."""
        if not hasattr(X, "is_in_file"):
            return self._dataset(X, codes[: X.shape[0]], settings).subset(rows.tolist()).construct()
        # These rows are here for one member: they are binned as they are read, once.
        return self._bin(X.for_lightgbm(rows), codes[rows], settings)

    def _binned_anew(self, X, codes: np.ndarray, rows: np.ndarray, settings: dict, values):
        """Return rows in bins of their own, with ``values`` in the columns that are recoded."""
        columns = list(self.n_levels)

        def recode(table, which):
            table = np.array(table)
            table[:, columns] = values[which]
            return table

        most = self._given["subsample_for_bin"]
        if len(rows) <= most:
            return self._recoded_rows(X, codes, rows, settings, recode)
        some = np.linspace(0, len(rows) - 1, most).astype(np.intp)
        edges = self._recoded_rows(
            X, codes, rows[some], settings, lambda table, which: recode(table, some[which])
        )
        return self._recoded_rows(X, codes, rows, settings, recode, edges)

    def _recoded_rows(self, X, codes, rows: np.ndarray, settings: dict, recode, reference=None):
        """Return recoded rows in bins: their own bins, or those of another binned table."""
        import lightgbm

        if reference is None or len(rows) <= self._given["subsample_for_bin"]:
            table = recode(take_rows(X, rows), slice(None))
        else:
            lightgbm.Sequence.register(RecodedRows)
            table = RecodedRows(X, rows, recode)
        return lightgbm.Dataset(
            table,
            codes[rows].astype(np.float32),
            categorical_feature=[k for k in self.categorical_features if k not in self.n_levels],
            params={**settings, "num_threads": 1},
            reference=reference,
        ).construct()

    def _edges_of_bins(self, settings: dict):
        """Return a small binned table with the edges that all others take over."""
        if self.edges is None:
            return None
        edges, reference = self._reference
        if edges is not self.edges:
            reference = _read_bin_edges(self.edges, settings)
            self._reference = self.edges, reference
        return reference

    def could_have_fitted(self, member, n_columns: int) -> bool:
        """Return whether something from a file is a member on rows of `n_columns`."""
        return (
            isinstance(member, BoostedMember)
            and member.n_classes == self.n_classes
            and member.booster_.num_feature() == n_columns
        )

    def fit(self, X, codes, rows, seed, sample_weight=None, unseen=None, unseen_weight=None):
        """Fit a new member on some rows of X, or on all of them if ``rows`` is None."""
        with naming_the_estimator(self.estimator):
            return self._fit(X, codes, rows, seed, sample_weight, unseen, unseen_weight)

    def _fit(self, X, codes, rows, seed, sample_weight, unseen, unseen_weight) -> BoostedMember:
        import lightgbm

        rows = np.arange(X.shape[0]) if rows is None else rows
        settings = self._settings(X.shape[1])
        n_rounds = settings.pop("n_estimators")
        recoding: Recoding | None = None
        if self.n_levels:
            recoding, values = learn_recoding(
                self.n_levels, X, rows, codes[rows], sample_weight, seed
            )
            training = self._binned_anew(X, codes, rows, settings, values)
        else:
            training = self._binned_rows(X, codes, rows, settings)
        if sample_weight is not None:
            training.set_weight(sample_weight)
        options: dict = {"callbacks": []}
        if self.doubles_after is not None:
            rates = self._rates(settings["learning_rate"])
            options["callbacks"].append(lightgbm.reset_parameter(learning_rate=rates))
        patience = self._patience()
        if patience is not None and unseen is not None and len(unseen):
            if recoding is None:
                judging = self._binned_rows(X, codes, unseen, settings)
            else:
                judging = self._recoded_rows(
                    X, codes, unseen, settings, lambda table, _: recoding(table), training
                )
            if unseen_weight is not None:
                judging.set_weight(unseen_weight)
            options["valid_sets"] = [judging]
            options["callbacks"].append(lightgbm.early_stopping(patience, verbose=False))
        settings["random_state"] = seed
        # Kept as it is: LightGBM would write the model to a text and read it again.
        booster = lightgbm.train(
            settings, training, n_rounds, keep_training_booster=True, **options
        )
        return BoostedMember(booster.free_dataset(), self.n_classes, recoding)

    def _rates(self, learning_rate: float):
        return lambda number: learning_rate * (1 if number < self.doubles_after else 2)

    def _settings(self, n_columns: int) -> dict:
        """Return LightGBM's settings, and the number of rounds as ``n_estimators``."""
        settings = {
            name: value
            for name, value in self._given.items()
            if value is not None and name not in _NOT_PASSED_ON
        }
        settings.setdefault("objective", "binary" if self.n_classes == 2 else "multiclass")
        settings |= {
            "num_threads": 1,
            "verbose": -1,
            "feature_pre_filter": False,
            "force_row_wise" if n_columns <= _FEW_COLUMNS else "force_col_wise": True,
        }
        if self.n_classes > 2:
            settings["num_class"] = self.n_classes
        return settings
