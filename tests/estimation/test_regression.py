"""Regressions on private and public regressors, against the truth and against statsmodels' formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable

UNIT = dt.Interval(0, 1)
YES = dt.Categories(["no", "yes"])
TOWN = dt.Categories(["u", "v", "w"])


def draw(seed: int, n: int, epsilon: float):
    rng, source = np.random.default_rng(seed), dt.Seeded(seed)
    x, z, town = rng.beta(0.7, 0.7, n), rng.random(n), rng.choice(3, n, p=[0.5, 0.3, 0.2])
    y = 0.1 + 0.3 * x + 0.2 * z + np.array([0, 0.1, 0.2])[town] + rng.uniform(0, 0.15, n)
    told = {
        "x": dt.Podium(UNIT, epsilon=epsilon).perturb(x, source=source),
        "z": z,
        "town": dt.KRR(TOWN, epsilon=epsilon).perturb(np.array(TOWN.labels)[town].tolist(), source=source),
    }
    return told, dt.Podium(UNIT, epsilon=epsilon).perturb(np.clip(y, 0, 1), source=source), (x, z, town, y)


def test_noise_does_not_flatten_several_slopes() -> None:
    told, y, _ = draw(1, 20_000, 3.0)
    fit = dt.regression(told, y)
    truth = {"x": 0.3, "z": 0.2, "town: v": 0.1, "town: w": 0.2, "intercept": 0.175}
    assert set(fit.labels) == set(truth)
    for name, value in truth.items():
        assert fit[name].covers(value, 1 - 1e-6)
    assert fit.at({"x": 0.5, "z": 0.5, "town": "v"}).covers(0.525, 1 - 1e-6)
    naive = np.linalg.lstsq(
        np.column_stack([np.ones(20_000), np.asarray(told["x"])]), np.asarray(y), rcond=None
    )
    assert not fit["x"].covers(naive[0][1], 1 - 1e-6)  # the twin: decoded single values flatten the slope
    assert [row["answer"] for row in fit.records()] == list(fit.labels)
    assert len(fit.to_frame()) == 5
    assert fit.plot(title="y").get_title().startswith("y\n")


def test_without_noise_it_is_least_squares() -> None:
    told, y, (x, z, town, values) = draw(2, 2000, 40.0)
    fit = dt.regression(told, y)
    design = np.column_stack([np.ones(2000), x, z, town == 1, town == 2])
    beta, residuals, *_ = np.linalg.lstsq(design, values, rcond=None)
    assert list(fit.value) == pytest.approx(beta, abs=2e-3)
    spread = np.linalg.inv(design.T @ design) * residuals[0] / (2000 - 5)
    assert fit.standard_error == pytest.approx(np.sqrt(np.diag(spread)), rel=0.15)
    weights = np.where(z > 0.5, 3.0, 1.0)
    root = np.sqrt(weights)[:, None]
    beta = np.linalg.lstsq(design * root, values * root[:, 0], rcond=None)[0]
    assert list(dt.regression(told, y, weights=weights).value) == pytest.approx(beta, abs=2e-3)


def logistic(design: np.ndarray, answers: np.ndarray) -> np.ndarray:
    def fall(beta: np.ndarray) -> float:
        odds = design @ beta
        return float(np.logaddexp(0, odds).sum() - answers @ odds)

    return optimize.minimize(fall, np.zeros(design.shape[1]), method="BFGS").x


def test_a_logistic_regression_is_scipys_without_noise_and_right_with_it() -> None:
    rng = np.random.default_rng(3)
    z, town = rng.normal(size=3000), rng.choice(["p", "q"], 3000)
    odds = -0.5 + 0.8 * z + 0.7 * (town == "q")
    answers = rng.random(3000) < 1 / (1 + np.exp(-odds))
    clear = dt.KRR(YES, epsilon=40).perturb(np.where(answers, "yes", "no").tolist(), source=dt.Seeded(1))
    fit = dt.regression({"z": z, "town": town}, clear)
    expected = logistic(np.column_stack([np.ones(3000), z, town == "q"]), answers.astype(float))
    assert list(fit.value) == pytest.approx(expected, abs=1e-3)
    told = dt.KRR(YES, epsilon=2).perturb(np.where(answers, "yes", "no").tolist(), source=dt.Seeded(2))
    noisy = dt.regression({"z": z, "town": town}, told)
    for name, value in (("intercept", -0.5), ("z", 0.8), ("town: q", 0.7)):
        assert noisy[name].covers(value, 1 - 1e-6)
        assert noisy[name].half_width() > fit[name].half_width()
    assert noisy.odds("z").covers(math.exp(0.8), 1 - 1e-6)
    low, high = noisy.at({"z": 1.0, "town": "q"}).interval()
    assert 0 < low < 1 / (1 + math.exp(-1.0)) < high < 1
    other = dt.regression({"z": z}, told, answer="no")
    assert float(other["z"]) == pytest.approx(-float(dt.regression({"z": z}, told)["z"]), abs=1e-4)


def test_a_logistic_regression_on_private_categories() -> None:
    rng = np.random.default_rng(4)
    code = rng.choice(3, 8000, p=[0.5, 0.3, 0.2])
    odds = np.array([-0.6, 0.2, 1.0])[code]
    answers = np.where(rng.random(8000) < 1 / (1 + np.exp(-odds)), "yes", "no").tolist()
    told = dt.KRR(TOWN, epsilon=2).perturb(np.array(TOWN.labels)[code].tolist(), source=dt.Seeded(1))
    fit = dt.regression({"town": told}, dt.KRR(YES, epsilon=2).perturb(answers, source=dt.Seeded(2)))
    assert fit["town: v"].covers(0.8, 1 - 1e-6)
    assert fit["town: w"].covers(1.6, 1 - 1e-6)
    assert fit.at("w").covers(1 / (1 + math.exp(-1.0)), 1 - 1e-6)
    assert "log-odds of 'yes'" in repr(fit)


def test_what_cannot_be_regressed_is_refused() -> None:
    told, y, _ = draw(5, 60, 4.0)
    yes = dt.KRR(YES, epsilon=1).perturb(["no", "yes"] * 30, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match=r"'x' is a private number.*dt\.Categories"):
        dt.regression({"x": told["x"]}, yes)
    with pytest.raises(InvalidParameter, match="two answers, and this one has 3"):
        dt.regression({"z": told["z"]}, told["town"])
    with pytest.raises(InvalidParameter, match="60 people"):
        dt.regression({"z": [1.0, 2.0]}, y)
    with pytest.raises(InvalidParameter, match="same reports twice"):
        dt.regression({"a": told["x"], "b": told["x"]}, y)
    with pytest.raises(InvalidParameter, match="not finite"):
        dt.regression({"z": [math.nan] * 60}, y)
    with pytest.raises(InvalidParameter, match="at least one regressor"):
        dt.regression({}, y)
    with pytest.raises(InvalidParameter, match="two answers; this one has numbers"):
        dt.regression({"z": told["z"]}, y, answer="yes")
    with pytest.raises(InvalidParameter, match="mean yes"):
        dt.regression({"z": told["z"]}, yes, answer="yess")
    with pytest.raises(NotIdentifiable, match="one follows from others"):
        dt.regression({"z": told["z"], "again": told["z"]}, y)
    fit = dt.regression({"z": told["z"], "town": np.repeat(["p", "q"], 30)}, y)
    with pytest.raises(InvalidParameter, match="did you mean town: q"):
        fit["town: qq"]
    with pytest.raises(InvalidParameter, match="needs a value of 'town'"):
        fit.at({"z": 1.0})
    with pytest.raises(InvalidParameter, match="logistic"):
        fit.odds("z")
    with pytest.raises(InvalidParameter, match="take one"):
        _ = fit.slope
