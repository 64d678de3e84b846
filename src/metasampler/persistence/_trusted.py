"""The types that a model file may hold, by name.

A name stands for one class or function. A prefix such as ``metasampler.`` would not do: through it
a file could reach whatever a module of the package imports.
"""

#: Types that hold LightGBM's text of a model, and under which names. The text is checked first.
BOOSTERS = {
    "metasampler.growth._lightgbm_adapter.BoostedMember": ("model",),
    "lightgbm.basic.Booster": ("handle", "_handle"),
}

#: scikit-learn's tree. skops does not trust it because it goes where its numbers point; here these
#: are checked.
TREE = "sklearn.tree._tree.Tree"

_OWN = {
    "drift._baseline": ("Baseline", "ColumnBins"),
    "ensemble._balance_cascade": ("BalanceCascadeClassifier",),
    "ensemble._boosters": ("Boosters",),
    "ensemble._calibration": (
        "Blend",
        "NoCalibration",
        "PriorCalibration",
        "Sigmoid",
        "SigmoidCalibration",
    ),
    "ensemble._class_decision": ("ClassEvidence",),
    "ensemble._cut_points": ("CutPoints",),
    "ensemble._easy_ensemble": ("EasyEnsembleClassifier",),
    "ensemble._mesa": ("MesaClassifier",),
    "ensemble._pool": ("Pool", "SoftmaxCalibration"),
    "ensemble._self_paced": ("SelfPacedEnsembleClassifier", "_SelfPacedDraw"),
    "ensemble._under_bagging": ("UnderBaggingClassifier",),
    "ensemble.base": ("FittedTeam",),
    "growth._lightgbm_adapter": ("BoostedMember",),
    "growth._loop": ("GrowthStep",),
    "growth._rules": ("GaussianDraw", "PowerDraw"),
    "meta._constants": ("FitToConstants",),
    "meta._learners": ("SoftActorCritic",),
    "meta._sampler": ("MetaSampler",),
    "policy._network": ("GaussianPolicy", "Layers"),
    "policy._policies": (
        "ConstantPolicy",
        "LearnedPolicy",
        "StateEncoder",
        "UniformPolicy",
    ),
    "policy._rivals": ("Drawn", "WithRivals"),
    "tables._cleaner": ("TableCleaner",),
    "tables._encoder": ("TableEncoder",),
    "tables._encodings": (
        "CategoryColumn",
        "DateColumn",
        "DateDifference",
        "DurationColumn",
        "EmptyColumn",
        "IgnoredColumn",
        "NumberColumn",
        "TextColumn",
    ),
    "tables._form": ("TableForm", "TreeTable"),
    "tables._text": ("TextModel",),
    "tables._sense": ("ColumnFacts", "ColumnReport"),
}

#: What searches keep: how rows were split and scored. The functions of scorers are pure ones.
_SEARCHES = (
    *(
        f"sklearn.model_selection._split.{name}"
        for name in (
            "GroupKFold",
            "KFold",
            "RepeatedKFold",
            "RepeatedStratifiedKFold",
            "ShuffleSplit",
            "StratifiedGroupKFold",
            "StratifiedKFold",
            "StratifiedShuffleSplit",
            "TimeSeriesSplit",
        )
    ),
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    # Scorers of scikit-learn 1.6 keep what they ask for in these.
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    *(
        f"sklearn.metrics._ranking.{name}"
        for name in ("average_precision_score", "roc_auc_score", "top_k_accuracy_score")
    ),
    *(
        f"sklearn.metrics._classification.{name}"
        for name in (
            "accuracy_score",
            "balanced_accuracy_score",
            "brier_score_loss",
            "f1_score",
            "jaccard_score",
            "log_loss",
            "matthews_corrcoef",
            "precision_score",
            "recall_score",
        )
    ),
)

#: All that is trusted beyond what skops trusts itself.
TRUSTED = [
    *(f"metasampler.{module}.{name}" for module, names in _OWN.items() for name in names),
    *BOOSTERS,
    "lightgbm.sklearn.LGBMClassifier",
    # LightGBM keeps its scores in these.
    "collections.OrderedDict",
    "collections.defaultdict",
    TREE,
    *_SEARCHES,
]
