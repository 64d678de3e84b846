"""Free text: columns of sentences, and the few numbers that stand for one."""

import re
import warnings
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

__all__ = ["TextModel", "is_free_text", "learn_text", "words_a_text"]

# A category has few words a level, or few levels: of the columns of 70 real tables the breeds of
# dogs come nearest, with 3.5 words and one level for 19 rows (`benchmarks/columns.py`).
_FEWEST_WORDS = 3
_FEWEST_DISTINCT = 0.3
_FEWEST_TEXTS = 50

# With more texts, words and topics are learned from those with the smallest keys.
_MOST_TEXTS = 20_000

_N_WORDS, _N_TOPICS = 5000, 16

# A text is scored by a model of the texts of other folds, so that its own label is never in it.
_N_FOLDS = 5
# The standard errors by which a score must be better than chance.
_SURE = 2
# With fewer texts of a class nothing is learned of it; more classes get no scores.
_FEWEST_OF_CLASS, _MOST_CLASSES = 10, 10

_TOKEN = r"(?u)\b\w\w+\b"
_WORD = re.compile(r"(?u)\b[^\W\d_]{2,}\b")
# Chinese and Japanese have no blanks between words, which have about two letters.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,}")


def is_free_text(levels, n_known: int) -> bool:
    """Return whether the distinct texts of a column are sentences rather than names of levels.

    Parameters
    ----------
    levels : collection of str
        The distinct texts.
    n_known : int
        Number of rows with a text.
    """
    if len(levels) < max(_FEWEST_TEXTS, _FEWEST_DISTINCT * n_known):
        return False
    return words_a_text(levels) >= _FEWEST_WORDS


def words_a_text(levels) -> float:
    """Return the mean number of words of some texts; numbers are not words."""
    some = _smallest_keys(levels, 1000)
    return sum(map(_count_words, some)) / max(1, len(some))


def _count_words(text: str) -> float:
    unspaced = _UNSPACED.findall(text)
    return len(_WORD.findall(_UNSPACED.sub(" ", text))) + sum(map(len, unspaced)) / 2


def _spaced(text: str) -> str:
    """Return a text with a blank after each pair of letters that has none between words."""
    return _UNSPACED.sub(lambda found: f" {' '.join(map(''.join, pairwise(found[0])))} ", text)


def _key(text: str) -> bytes:
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()


def _smallest_keys(texts, size: int) -> list[str]:
    """Return the texts with the smallest keys, which do not depend on their order."""
    return sorted(texts) if len(texts) <= size else sorted(texts, key=_key)[:size]


@dataclass(frozen=True)
class TextModel:
    """What is known of the texts of a column.

    Attributes
    ----------
    words : list of str
        The words that most texts have.
    weights : ndarray of shape (n_words,)
        Their inverse document frequencies.
    topics : ndarray of shape (n_words, n_topics)
        The directions in which texts differ most.
    classes : list of str
        The classes that have scores, as texts; of two classes one.
    scores : ndarray of shape (n_words, n_classes, n_folds)
        What each word adds to the score of a class, by texts of other folds.
    offsets : ndarray of shape (n_classes, n_folds)
        What is added to all scores.
    """

    words: list[str]
    weights: np.ndarray
    topics: np.ndarray
    classes: list[str] = field(default_factory=list)
    scores: np.ndarray = field(default_factory=lambda: np.empty((0, 0, _N_FOLDS)))
    offsets: np.ndarray = field(default_factory=lambda: np.empty((0, _N_FOLDS)))

    @property
    def names(self) -> list[str]:
        """What the numbers of a text are called."""
        topics = [f"topic {number + 1}" for number in range(self.topics.shape[1])]
        if len(self.classes) == 1:
            return [*topics, "score"]
        return [*topics, *(f"score of {name}" for name in self.classes)]

    def numbers_of(self, levels) -> np.ndarray:
        """Return topics and scores of each text."""
        texts = list(map(str, levels))
        if not texts:
            return np.empty((0, len(self.names)))
        table = self.weighted(texts)
        columns = [table @ self.topics]
        if self.classes:
            folds = _folds_of(texts)
            scores = np.empty((len(texts), len(self.classes)))
            for fold in np.unique(folds):
                rows = folds == fold
                offsets = self.offsets[:, fold]
                scores[rows] = table[rows] @ np.ascontiguousarray(self.scores[..., fold]) + offsets
            columns.append(scores)
        return np.hstack(columns)

    def weighted(self, texts: list[str]):
        """Return the weights of the words of each text, as rows of length one."""
        counter = CountVectorizer(token_pattern=_TOKEN, vocabulary=self.words, dtype=np.float64)
        counts = sparse.csr_matrix(counter.transform(map(_spaced, texts)))
        counts.sort_indices()
        counts.data = (1 + np.log(counts.data)) * self.weights[counts.indices]
        lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        return sparse.csr_matrix(sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ counts)


def _folds_of(texts: list[str]) -> np.ndarray:
    # By the text itself: a row needs no memory of the fold it was in.
    return np.array([_key(text)[0] % _N_FOLDS for text in texts])


def learn_text(levels, of_classes: dict | None = None) -> TextModel | None:
    """Learn words, topics and scores from distinct texts; None if there is nothing to learn.

    So it is if no word is in two texts, or if scores rank texts that they were not learned from no
    better than by chance: then topics would be noise for the members, too.

    Parameters
    ----------
    levels : collection of str
        The distinct texts; their order does not matter.
    of_classes : dict of dict, default=None
        For each class the texts of its rows, with how many rows have them.
    """
    texts = _smallest_keys(levels, _MOST_TEXTS)
    counts = CountVectorizer(token_pattern=_TOKEN, dtype=np.float64)
    try:
        table = counts.fit_transform(map(_spaced, texts))
    except ValueError:  # no words at all
        return None
    words = counts.get_feature_names_out()
    frequency = np.bincount(table.indices, minlength=len(words))
    # Stable: equally frequent words count in alphabetical order.
    chosen = np.argsort(-frequency, kind="stable")[:_N_WORDS]
    chosen = np.sort(chosen[frequency[chosen] >= 2])
    if len(chosen) < 2:
        return None
    weights = np.log((1 + len(texts)) / (1 + frequency[chosen])) + 1
    model = TextModel(words[chosen].tolist(), weights, np.empty((len(chosen), 0)))
    # One thread: sums over several come in another order.
    with threadpool_limits(1):
        n_topics = min(_N_TOPICS, len(chosen) - 1)
        *_, topics = randomized_svd(model.weighted(texts), n_topics, random_state=0)
        model = replace(model, topics=np.ascontiguousarray(topics.T))
        return model if of_classes is None else _with_scores(model, of_classes)


def _with_scores(model: TextModel, of_classes: dict) -> TextModel | None:
    """Return a model with a score for each class; None if no score is better than chance."""
    sizes = {label: len(texts) for label, texts in of_classes.items()}
    if not 2 <= len(sizes) <= _MOST_CLASSES or min(sizes.values()) < _FEWEST_OF_CLASS:
        return model
    some = {label: _smallest_keys(of_classes[label], _MOST_TEXTS) for label in of_classes}
    texts = [text for label in some for text in some[label]]
    labels = np.repeat(np.arange(len(some)), [len(each) for each in some.values()])
    counts = np.array([of_classes[label][text] for label in some for text in some[label]], float)
    # The rarer one of two classes.
    classes = list(range(len(some)))
    if len(some) == 2:
        classes = [int(np.argmin(np.bincount(labels, counts)))]
    table, folds = model.weighted(texts), _folds_of(texts)
    scores = np.zeros((len(model.words), len(classes), _N_FOLDS))
    offsets = np.zeros((len(classes), _N_FOLDS))
    for place, label in enumerate(classes):
        for fold in range(_N_FOLDS):
            rows = folds != fold
            truth = labels[rows] == label
            if not 0 < truth.sum() < len(truth):
                continue
            trainer = LogisticRegression(class_weight="balanced", max_iter=200, tol=1e-3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                trainer.fit(table[rows], truth, counts[rows])
            scores[:, place, fold], offsets[place, fold] = trainer.coef_[0], trainer.intercept_[0]
    names = [str(label) for place, label in enumerate(some) if place in classes]
    model = replace(model, classes=names, scores=scores, offsets=offsets)
    found = model.numbers_of(texts)[:, -len(classes) :]
    good = [_beats_chance(labels == k, of, counts) for k, of in zip(classes, found.T, strict=True)]
    return model if any(good) else None


def _beats_chance(positive: np.ndarray, score: np.ndarray, counts: np.ndarray) -> bool:
    """Return whether scores rank texts by two standard errors better than chance."""
    n_positive, n_others = positive.sum(), (~positive).sum()
    error = np.sqrt((n_positive + n_others + 1) / (12 * n_positive * n_others))
    return bool(roc_auc_score(positive, score, sample_weight=counts) > 0.5 + _SURE * error)
