"""MESA with the members of the first release, for tests of what a hold-out and a refit do."""

from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier

__all__ = ["first_release_trees", "tree_mesa"]


def first_release_trees():
    """The two kinds of trees that were the default of the first release."""
    return [
        DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=2),
        ExtraTreeClassifier(criterion="entropy", max_features=0.5),
    ]


def tree_mesa(estimator=None, n_estimators=50, *, validation_fraction=0.2, **options):
    """A `MesaClassifier` of trees, or of an estimator, that holds a fifth of the rows out."""
    return MesaClassifier(
        first_release_trees() if estimator is None else estimator,
        n_estimators,
        validation_fraction=validation_fraction,
        **options,
    )
