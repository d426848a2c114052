"""The scikit-learn transformer obeys scikit-learn's contract."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dither as dt

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from dither.privacy import Nothing
from dither.sklearn import Perturb

# These expect that the output repeats after `random_state` was set.
REPEATING = dict.fromkeys(("check_estimators_pickle", "check_fit_idempotent"), "fresh noise at every call")


@parametrize_with_checks(
    [Perturb(), Perturb(dt.OGPM(dt.Interval(-5, 5), epsilon=2))], expected_failed_checks=lambda _: REPEATING
)
def test_estimator_checks(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def test_it_randomises_and_says_what_it_spends() -> None:
    table = np.random.default_rng(1).random((2000, 3))
    fitted = Perturb(epsilon=2.0).fit(table)
    out = fitted.transform(table)
    assert out.shape == table.shape
    assert not np.array_equal(out, fitted.transform(table))
    assert fitted.guarantee_.epsilon == pytest.approx(6.0)
    assert np.abs(out.mean(axis=0) - table.mean(axis=0)).max() < 0.1


def test_a_pickle_keeps_the_mechanism_and_the_promise() -> None:
    table = np.random.default_rng(1).random((20, 2))
    fitted = Perturb(epsilon=2.0).fit(table)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.mechanism_ == fitted.mechanism_
    assert again.guarantee_ == fitted.guarantee_
    assert not np.array_equal(again.transform(table), fitted.transform(table))


def test_it_stands_in_a_pipeline() -> None:
    rng = np.random.default_rng(2)
    table = rng.random((4000, 2))
    model = make_pipeline(Perturb(epsilon=8.0), LinearRegression()).fit(table, table @ [1.0, 2.0])
    assert model.score(table, table @ [1.0, 2.0]) > 0.9


def test_a_mechanism_on_something_else_is_refused() -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        Perturb(dt.KRR(dt.Categories(3), epsilon=1)).fit([[0.5]])


def test_nobody_else_seeds_the_noise() -> None:
    """Ensembles set every parameter called random_state; there is none, and copies keep the promise."""
    assert "random_state" not in Perturb().get_params()
    table = np.random.default_rng(3).random((60, 2))
    labels = table[:, 0] > 0.5
    model = make_pipeline(Perturb(epsilon=1.0), LogisticRegression())
    bag = BaggingClassifier(model, n_estimators=4, random_state=0).fit(table, labels)
    steps = [one[0] for one in bag.estimators_]
    for step in steps:
        assert step.get_params()["source"] is None
        assert step.guarantee_.epsilon == pytest.approx(2.0)
        assert not np.array_equal(step.transform(table), step.transform(table))
    drawn = [step.transform(table).tobytes() for step in steps]
    again = BaggingClassifier(model, n_estimators=4, random_state=0).fit(table, labels)
    drawn += [one[0].transform(table).tobytes() for one in again.estimators_]
    assert len(set(drawn)) == 8


def test_a_seed_takes_the_promise_away() -> None:
    table = np.random.default_rng(4).random((50, 2))
    once = Perturb(source=dt.Seeded(7)).fit(table)
    assert isinstance(once.guarantee_.bound, Nothing)
    assert "seed" in str(once.guarantee_)
    assert np.array_equal(once.transform(table), Perturb(source=dt.Seeded(7)).fit(table).transform(table))
    keyed = Perturb(source=dt.randomness.Keyed(bytes(32), b"table")).fit(table)
    assert keyed.guarantee_.epsilon == pytest.approx(2.0)
    once.set_params(source=None)  # what is fitted keeps the source that its guarantee is about
    assert isinstance(once.guarantee_.bound, Nothing)
    assert np.array_equal(
        Perturb(source=dt.Seeded(9)).fit(table).transform(table),
        Perturb(source=dt.Seeded(9)).fit(table).set_params(source=None).transform(table),
    )
    for wrong in (0, 7, "Seeded", np.random.RandomState(0)):
        with pytest.raises(dt.errors.InvalidParameter, match="source"):
            Perturb(source=wrong).fit(table)  # type: ignore[arg-type]


def test_clones_share_the_source_and_its_guarantee() -> None:
    """A copied seed would repeat its noise in every clone."""
    table = np.random.default_rng(5).random((60, 2))
    seeded = Perturb(source=dt.Seeded(7))
    first, second = (clone(seeded).fit(table) for _ in range(2))
    assert not np.array_equal(first.transform(table), second.transform(table))
    for source in (None, dt.Seeded(1)):
        model = Pipeline([("noise", Perturb(source=source)), ("line", LinearRegression())])
        search = GridSearchCV(model, {"noise__epsilon": [1.0, 8.0]}, cv=2).fit(table, table[:, 0])
        best = search.best_estimator_["noise"]
        assert best.source is source
        assert isinstance(best.guarantee_.bound, Nothing) == (source is not None)
