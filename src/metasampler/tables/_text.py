"""Free text: columns of sentences, and the few numbers that stand for one."""

import re
from hashlib import blake2b

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

__all__ = ["is_free_text", "learn_topics", "topics_of_texts"]

# A category has few words a level, or few levels: of the columns of 70 real tables the breeds of
# dogs come nearest, with 3.5 words and one level for 19 rows (`benchmarks/columns.py`).
_FEWEST_WORDS = 3
_FEWEST_DISTINCT = 0.3
_FEWEST_TEXTS = 50

# With more texts, words and topics are learned from those with the smallest keys.
_MOST_TEXTS = 20_000

_N_WORDS, _N_TOPICS = 2000, 32
_TOKEN = r"(?u)\b\w\w+\b"
_WORD = re.compile(r"(?u)\b[^\W\d_]{2,}\b")


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
    return sum(len(_WORD.findall(text)) for text in some) / max(1, len(some))


def _smallest_keys(texts, size: int) -> list[str]:
    """Return the texts with the smallest keys, which do not depend on their order."""
    if len(texts) <= size:
        return sorted(texts)
    return sorted(texts, key=lambda text: blake2b(text.encode(errors="replace")).digest())[:size]


def learn_topics(levels) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Learn words, their weights and topics from distinct texts, whatever their order.

    Returns
    -------
    words : list of str
        The words that most texts have.
    weights : ndarray of shape (n_words,)
        Their inverse document frequencies.
    topics : ndarray of shape (n_words, n_topics)
        The directions in which texts differ most.
    """
    texts = _smallest_keys(levels, _MOST_TEXTS)
    counter = CountVectorizer(token_pattern=_TOKEN, dtype=np.float64)
    counts = counter.fit_transform(texts)
    words = counter.get_feature_names_out()
    frequency = np.bincount(counts.indices, minlength=len(words))
    # Of equally frequent words the first by the alphabet: stable.
    chosen = np.argsort(-frequency, kind="stable")[:_N_WORDS]
    chosen = np.sort(chosen[frequency[chosen] >= 2])
    if not len(chosen):
        return [], np.empty(0), np.empty((0, 0))
    weighing = TfidfTransformer(sublinear_tf=True)
    table = weighing.fit_transform(counts[:, chosen])
    n_topics = min(_N_TOPICS, len(chosen))
    # One thread: sums over several come in another order.
    with threadpool_limits(1):
        *_, topics = randomized_svd(table, n_topics, random_state=0)
    return words[chosen].tolist(), weighing.idf_, np.ascontiguousarray(topics.T)


def topics_of_texts(levels, words: list[str], weights: np.ndarray, topics: np.ndarray):
    """Return the topics of each text, by what `learn_topics` gave."""
    if not words or not len(levels):
        return np.zeros((len(levels), topics.shape[1]))
    counter = CountVectorizer(token_pattern=_TOKEN, vocabulary=words, dtype=np.float64)
    counts = sparse.csr_matrix(counter.transform(map(str, levels)))
    counts.sort_indices()
    counts.data = (1 + np.log(counts.data)) * weights[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return (counts @ topics) / np.where(lengths > 0, lengths, 1)[:, None]
