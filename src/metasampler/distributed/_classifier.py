"""The classifier on a Dask cluster."""

import os

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from metasampler.ensemble import MesaClassifier
from metasampler.large import Cluster, DaskRows, Journal, answers_judged_together, is_dask
from metasampler.persistence.values import from_bytes, to_bytes

__all__ = ["DaskMesaClassifier"]


class DaskMesaClassifier(ClassifierMixin, BaseEstimator):
    """Fit an ensemble on the rows of a Dask cluster.

    The ensemble is the same, bit for bit, as if the classifier were fitted to the same rows in
    memory. Partitions, workers and lost workers do not change it. Only members that multiply
    matrices, such as linear models, may differ in the last bits.

    Parameters
    ----------
    classifier : MesaClassifier or another under-sampling ensemble, default=None
        The ensemble to fit; None means ``MesaClassifier()``. Its members may be of any kind.

    client : distributed.Client, default=None
        The cluster; None means the current client.

    label : str, default=None
        The column of the labels in a Dask data frame.

    weight : str, default=None
        The column of the row weights in a Dask data frame.

    group : str, default=None
        The column of the customer, patient or machine of each row in a Dask data frame: rows of one
        group are held out together. Members do not learn from it.

    time : str, default=None
        The column that says when each row came in a Dask data frame, see `time` in
        :meth:`MesaClassifier.fit <metasampler.MesaClassifier.fit>`. Members do not learn from it.
        It does not go with `checkpoint`.

    folder : path, default=None
        A folder that all workers share. Temporary files there hold the rows, instead of the
        workers' memory.

    checkpoint : path, default=None
        A file that stores the members. If the fitting process ends early, the same call resumes
        from the file and gives the same ensemble. It needs an integer `random_state`. The file is
        not a pickle: members are JSON and arrays, as in a model file. A damaged one is renamed,
        with a warning, and the fit begins anew. Members that a model file cannot hold are not
        stored, also with a warning.

    timeout : float, default=600
        The fit ends with an error after this many seconds without progress.

    Attributes
    ----------
    classifier_ : classifier
        The fitted classifier; it needs no cluster. Its `estimators_samples_` holds None for every
        member, because the row numbers stay on the cluster.

    classes_ : ndarray of shape (n_classes,)
        The labels.

    n_bytes_received_ : int
        About how many bytes the workers sent to the fitting process.

    See Also
    --------
    metasampler.MesaClassifier : The same in memory, and on Parquet files.

    Examples
    --------
    >>> from metasampler.distributed import DaskMesaClassifier
    >>> clf = DaskMesaClassifier(label="fraud")
    >>> clf.fit(frame)  # doctest: +SKIP
    >>> clf.predict_proba(frame).compute()  # doctest: +SKIP
    >>> clf.to_local()  # doctest: +SKIP
    """

    def __init__(
        self,
        classifier=None,
        *,
        client=None,
        label=None,
        weight=None,
        group=None,
        time=None,
        folder=None,
        checkpoint=None,
        timeout=600,
    ):
        self.classifier = classifier
        self.client = client
        self.label = label
        self.weight = weight
        self.group = group
        self.time = time
        self.folder = folder
        self.checkpoint = checkpoint
        self.timeout = timeout

    def fit(
        self,
        X,
        y=None,
        sample_weight=None,
        *,
        groups=None,
        time=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
    ):
        """Fit the classifier.

        Parameters
        ----------
        X : dask data frame or dask array of shape (n_samples, n_features)
            The rows. A data frame has the labels in its column `label`.
        y : dask array of shape (n_samples,), default=None
            The labels, if X is an array.
        sample_weight : dask array of shape (n_samples,), default=None
            Weights, if X is an array.
        groups : dask array of shape (n_samples,), default=None
            The group of each row, if X is an array.
        time : dask array of shape (n_samples,), default=None
            When each row came, if X is an array.
        X_val, y_val : table and array-like, default=None
            Validation rows in memory. Without them the classifier holds out rows of X.
        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the validation rows.

        Returns
        -------
        self : DaskMesaClassifier
            The fitted classifier.
        """
        classifier = MesaClassifier() if self.classifier is None else clone(self.classifier)
        self._check_rows(X, y, sample_weight, groups, time)
        backend = Cluster(self._client(), self.timeout, self.folder)
        arrays = {"weights": sample_weight, "groups": groups, "times": time}
        source = DaskRows(X, y, backend, **arrays, **self._columns())
        if self.checkpoint is not None and source.time is not None:
            raise ValueError(
                "checkpoint does not go with time, which takes several fits: set one of them only."
            )
        if self.checkpoint is not None:
            backend.journal = self._journal(classifier, X)
        classifier.fit(source, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val)
        self.classifier_ = classifier
        self.classes_ = classifier.classes_
        self.n_features_in_ = classifier.n_features_in_
        self.n_bytes_received_ = backend.n_bytes
        return self

    def _client(self):
        if self.client is not None:
            return self.client
        from distributed import get_client

        try:
            return get_client()
        except ValueError as error:
            raise ValueError(
                "There is no cluster: pass client=Client(...), or make one before the fit."
            ) from error

    def _columns(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in ("label", "weight", "group", "time")}

    def _check_rows(self, X, y, sample_weight, groups, time) -> None:
        if not is_dask(X):
            raise TypeError(
                f"X must be a Dask data frame or a Dask array, got {type(X).__name__}; "
                "MesaClassifier takes rows in memory."
            )
        if hasattr(X, "columns"):
            if self.label is None:
                raise ValueError("label=None: name the column of the labels.")
            for name, value in self._columns().items():
                if value is not None and value not in X.columns:
                    raise ValueError(
                        f"{name}={value!r} is not a column; there are {list(X.columns)}."
                    )
            if any(each is not None for each in (y, sample_weight, groups, time)):
                raise ValueError(
                    "A data frame holds labels, weights, groups and times in columns: set label, "
                    "weight, group and time, and pass neither y, sample_weight, groups nor time."
                )
        elif y is None or not all(
            is_dask(each) for each in (y, sample_weight, groups, time) if each is not None
        ):
            raise TypeError(
                "With a Dask array as X, y, sample_weight, groups and time must be Dask arrays, "
                "too."
            )

    def _journal(self, classifier, X) -> Journal:
        if not isinstance(classifier.random_state, (int, np.integer)):
            raise ValueError(
                f"checkpoint={os.fspath(self.checkpoint)!r} needs a classifier whose random_state "
                f"is a number, got {classifier.random_state!r}: otherwise a fit cannot be resumed."
            )
        columns = list(X.columns) if hasattr(X, "columns") else X.shape[1]
        about = f"{classifier.get_params()} {self.label} {self.weight} {self.group} {columns}"
        return Journal(self.checkpoint, about, to_bytes, from_bytes)

    def to_local(self):
        """Return the fitted classifier, which needs no cluster.

        Returns
        -------
        classifier : MesaClassifier
        """
        check_is_fitted(self)
        return self.classifier_

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : dask data frame or dask array of shape (n_samples, n_features)
            The rows to classify. Columns that `fit` did not use are ignored.

        Returns
        -------
        proba : dask array of shape (n_samples, n_classes)
            One chunk a partition.
        """
        return self._by_blocks(_proba_of_block, X, (len(self.to_local().classes_),), float)

    def predict(self, X):
        """Return the class of each row.

        Parameters
        ----------
        X : dask data frame or dask array of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : dask array of shape (n_samples,)
        """
        return self._by_blocks(_labels_of_block, X, (), self.to_local().classes_.dtype)

    def _by_blocks(self, function, X, width: tuple, dtype):
        import dask.array as da
        from dask.delayed import delayed

        if not is_dask(X):
            raise TypeError(
                f"X must be a Dask data frame or a Dask array, got {type(X).__name__}; "
                "to_local() takes rows in memory."
            )
        model = delayed(self.to_local(), pure=True)
        sizes: list = [np.nan] * X.npartitions
        if hasattr(X, "columns"):
            blocks = X.to_delayed()
        else:
            X = X.rechunk({1: -1})
            blocks, sizes = X.to_delayed().ravel(), X.chunks[0]
        answers = answers_judged_together(function, model, self.to_local(), X, blocks)
        arrays = [
            da.from_delayed(answer, (size, *width), dtype=dtype)
            for answer, size in zip(answers, sizes, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _columns_of_fit(model, block):
    names = getattr(model, "feature_names_in_", None)
    return block if names is None else block[list(names)]


def _proba_of_block(model, block):
    if not len(block):
        return np.empty((0, len(model.classes_)))
    return model.predict_proba(_columns_of_fit(model, block))


def _labels_of_block(model, block):
    if not len(block):
        return np.empty(0, dtype=model.classes_.dtype)
    return model.predict(_columns_of_fit(model, block))
