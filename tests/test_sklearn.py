"""The scikit-learn transformer obeys scikit-learn's contract."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt

pytest.importorskip("sklearn")

from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from dither.sklearn import Perturb


@parametrize_with_checks([Perturb(), Perturb(dt.OGPM(dt.Interval(-5, 5), epsilon=2))])
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


def test_it_stands_in_a_pipeline() -> None:
    rng = np.random.default_rng(2)
    table = rng.random((4000, 2))
    model = make_pipeline(Perturb(epsilon=8.0), LinearRegression()).fit(table, table @ [1.0, 2.0])
    assert model.score(table, table @ [1.0, 2.0]) > 0.9


def test_a_mechanism_on_something_else_is_refused() -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        Perturb(dt.KRR(dt.Categories(3), epsilon=1)).fit([[0.5]])
