"""Calls side by side, and members that start threads of their own."""

import threading
import time
from collections import defaultdict
from contextlib import suppress

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_info
from xgboost import XGBClassifier

from metasampler import MesaClassifier
from metasampler._running import side_by_side
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.growth import Growth, PowerDraw, make_adapters
from metasampler.policy import ConstantPolicy, WithRivals


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_results_come_in_the_order_of_the_calls(n_jobs):
    assert side_by_side([lambda n=n: n * n for n in range(7)], n_jobs) == [n * n for n in range(7)]
    assert side_by_side([], n_jobs) == []


def test_calls_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)
    assert sorted(side_by_side([meeting.wait, meeting.wait], 2)) == [0, 1]


def test_a_call_that_fails_stops_the_others():
    stopped = threading.Event()

    def fail():
        raise RuntimeError("no luck today")

    # The first would wait for ever if nobody stopped it.
    with pytest.raises(RuntimeError, match="no luck"):
        side_by_side([lambda: stopped.wait(60), fail], 2, stopped.set)
    assert stopped.is_set()


@pytest.mark.parametrize("n_jobs", [2, 3, 4])
def test_calls_within_calls_start_no_more_threads(n_jobs):
    lock, running, most = threading.Lock(), [0], [0]

    def leaf():
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.005)
        with lock:
            running[0] -= 1
        return threading.get_ident()

    def branch():
        return [side_by_side([leaf] * 5, n_jobs) for _ in range(3)]

    for _ in range(3):
        side_by_side([branch] * 3, n_jobs)
    assert most[0] == n_jobs


def test_a_call_that_has_ended_leaves_its_thread_to_the_others():
    ended = threading.Event()

    def meet():
        assert ended.wait(60)
        # The thread is given back a moment after the call has ended.
        for _ in range(300):
            meeting = threading.Barrier(2, timeout=0.2)
            with suppress(threading.BrokenBarrierError):
                return sorted(side_by_side([meeting.wait, meeting.wait], 2))

    assert side_by_side([meet, ended.set], 2) == [[0, 1], None]


def test_a_call_with_one_job_starts_no_threads():
    def inner():
        return len(set(side_by_side([threading.get_ident] * 4, 1)))

    assert side_by_side([inner, inner], 4) == [1, 1]


def test_threads_of_calls_that_failed_are_given_back():
    def fail():
        raise RuntimeError("no luck today")

    def branch():
        with pytest.raises(RuntimeError, match="no luck"):
            side_by_side([fail] * 5, 2)
        meeting = threading.Barrier(2, timeout=60)
        return sorted(side_by_side([meeting.wait, meeting.wait], 2))

    # One call takes no other thread, so its own have two of the three.
    assert side_by_side([branch, lambda: None], 3)[0] == [0, 1]


class Watched(HistGradientBoostingClassifier):
    """Notes how many OpenMP threads a fit may use."""

    seen: list = []

    def fit(self, X, y):
        threads = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "openmp"]
        self.seen.append(max(threads))
        return super().fit(X, y)


def test_members_of_other_kinds_are_fitted_by_one_thread(imbalanced):
    before = {p["filepath"]: p["num_threads"] for p in threadpool_info()}
    Watched.seen.clear()
    UnderBaggingClassifier(Watched(max_iter=2), 3, random_state=0).fit(*imbalanced)
    assert Watched.seen == [1, 1, 1]
    after = {p["filepath"]: p["num_threads"] for p in threadpool_info()}
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize(
    ("estimator", "n_jobs"),
    [
        (XGBClassifier(n_estimators=2), 1),
        (XGBClassifier(n_estimators=2, n_jobs=2), 2),
        # A weight for each class is beyond the shortcut for LightGBM.
        (LGBMClassifier(n_estimators=2, class_weight="balanced", verbose=-1), 1),
        (RandomForestClassifier(2), None),
    ],
    ids=["xgboost", "xgboost, as set", "lightgbm", "scikit-learn"],
)
def test_only_who_would_take_all_threads_gets_a_number(imbalanced, estimator, n_jobs):
    X, y = imbalanced
    adapter = make_adapters(estimator, [X], 2).of(0)
    assert adapter.fit(X, y, np.arange(len(y)), 0).get_params()["n_jobs"] == n_jobs


def test_catboost_gets_one_thread(imbalanced):
    catboost = pytest.importorskip("catboost")
    X, y = imbalanced
    estimator = catboost.CatBoostClassifier(2, verbose=False, allow_writing_files=False)
    member = make_adapters(estimator, [X], 2).of(0).fit(X, y, np.arange(len(y)), 0)
    assert member.get_params()["thread_count"] == 1


def test_an_interrupt_while_threads_start_lets_nothing_go_on(monkeypatch):
    begun, stopped, ended = threading.Event(), threading.Event(), []

    def call():
        begun.set()
        stopped.wait(10)
        ended.append(True)

    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        begun.wait(10)
        raise KeyboardInterrupt

    # The pool does not know this thread yet, and cannot wait for it.
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        side_by_side([call, call], 2, stopped.set)
    assert ended == [True]


def test_a_step_is_recorded_while_the_next_member_is_fitted(monkeypatch):
    X, y = make_classification(3000, weights=[0.9], random_state=0)
    alone = MesaClassifier(n_estimators=8, random_state=0).fit(X, y)
    draw, fit, add_step = Growth._draw, Growth._fit, Growth._add_step
    begun, beside_a_fit = defaultdict(threading.Event), defaultdict(list)

    by_errors = set()

    def drawn(self, number, rule):
        if rule is not None:
            by_errors.add((self.streams.path, number))
        return draw(self, number, rule)

    def fitted(self, sample, number):
        if (self.streams.path, number) in by_errors:
            begun[self.streams.path, number].set()
        return fit(self, sample, number)

    def record(self, number, *args):
        # In vain for the last member of a team, which no fit follows.
        beside_a_fit[self.streams.path].append(begun[self.streams.path, number + 1].wait(1))
        add_step(self, number, *args)

    monkeypatch.setattr(Growth, "_draw", drawn)
    monkeypatch.setattr(Growth, "_fit", fitted)
    monkeypatch.setattr(Growth, "_add_step", record)
    beside = MesaClassifier(n_estimators=8, n_jobs=2, random_state=0).fit(X, y)
    drawn_by_errors = [found for path, found in beside_a_fit.items() if begun[path, 1].is_set()]
    assert drawn_by_errors
    for found in drawn_by_errors:
        assert found == [True] * (len(found) - 1) + [False]
    np.testing.assert_array_equal(alone.scores_, beside.scores_)
    np.testing.assert_array_equal(alone.predict_proba(X), beside.predict_proba(X))


def test_a_policy_that_reads_the_state_sees_every_step():
    X, y = make_classification(3000, weights=[0.9], random_state=0)
    seen = []

    def policy(growth):
        seen.append((growth.n_members, len(growth.steps), len(growth.errors("valid"))))
        return None

    MesaClassifier(n_estimators=8, meta_sampler=policy, n_jobs=2, random_state=0).fit(X, y)
    assert seen
    assert all(n_members == n_steps for n_members, n_steps, _ in seen)
    # More rows are judged with every fold that a member leaves out.
    n_judged = [n for _, _, n in sorted(seen)]
    assert n_judged[0] < n_judged[-1]


def test_rivals_among_teams_are_the_same_with_threads():
    X, y = make_classification(2000, weights=[0.9], random_state=0)
    policy = WithRivals(ConstantPolicy(0.0), rivals=[0.9])
    alone, beside = (
        MesaClassifier(n_estimators=16, meta_sampler=policy, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, 2)
    )
    assert str(alone.summary()) == str(beside.summary())
    np.testing.assert_array_equal(alone.predict_proba(X), beside.predict_proba(X))


def test_a_rule_of_ones_own_sees_every_step():
    X, y = make_classification(2000, weights=[0.9], random_state=0)
    seen = []

    def policy(growth):
        def rule(candidates, size):
            seen.append((growth.n_members, len(growth.steps)))
            return PowerDraw(1.0)(candidates, size)

        return rule

    MesaClassifier(n_estimators=8, meta_sampler=policy, n_jobs=2, random_state=0).fit(X, y)
    assert seen
    assert all(n_members == n_steps for n_members, n_steps in seen)
