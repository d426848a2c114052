"""Regressions on private and public regressors, against the truth and against statsmodels' formulas."""

from __future__ import annotations

import math
from typing import Any

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
    fit = dt.stats.regression(told, y)
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
    fit = dt.stats.regression(told, y)
    design = np.column_stack([np.ones(2000), x, z, town == 1, town == 2])
    beta, residuals, *_ = np.linalg.lstsq(design, values, rcond=None)
    assert list(fit.value) == pytest.approx(beta, abs=2e-3)
    spread = np.linalg.inv(design.T @ design) * residuals[0] / (2000 - 5)
    assert fit.standard_error == pytest.approx(np.sqrt(np.diag(spread)), rel=0.15)
    weights = np.where(z > 0.5, 3.0, 1.0)
    root = np.sqrt(weights)[:, None]
    beta = np.linalg.lstsq(design * root, values * root[:, 0], rcond=None)[0]
    assert list(dt.stats.regression(told, y, weights=weights).value) == pytest.approx(beta, abs=2e-3)


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
    fit = dt.stats.regression({"z": z, "town": town}, clear)
    expected = logistic(np.column_stack([np.ones(3000), z, town == "q"]), answers.astype(float))
    assert list(fit.value) == pytest.approx(expected, abs=1e-3)
    told = dt.KRR(YES, epsilon=2).perturb(np.where(answers, "yes", "no").tolist(), source=dt.Seeded(2))
    noisy = dt.stats.regression({"z": z, "town": town}, told)
    for name, value in (("intercept", -0.5), ("z", 0.8), ("town: q", 0.7)):
        assert noisy[name].covers(value, 1 - 1e-6)
        assert noisy[name].half_width() > fit[name].half_width()
    assert noisy.odds("z").covers(math.exp(0.8), 1 - 1e-6)
    low, high = noisy.at({"z": 1.0, "town": "q"}).interval()
    assert 0 < low < 1 / (1 + math.exp(-1.0)) < high < 1
    other = dt.stats.regression({"z": z}, told, answer="no")
    assert float(other["z"]) == pytest.approx(-float(dt.stats.regression({"z": z}, told)["z"]), abs=1e-4)


def test_a_logistic_regression_on_private_categories() -> None:
    rng = np.random.default_rng(4)
    code = rng.choice(3, 8000, p=[0.5, 0.3, 0.2])
    odds = np.array([-0.6, 0.2, 1.0])[code]
    answers = np.where(rng.random(8000) < 1 / (1 + np.exp(-odds)), "yes", "no").tolist()
    told = dt.KRR(TOWN, epsilon=2).perturb(np.array(TOWN.labels)[code].tolist(), source=dt.Seeded(1))
    fit = dt.stats.regression({"town": told}, dt.KRR(YES, epsilon=2).perturb(answers, source=dt.Seeded(2)))
    assert fit["town: v"].covers(0.8, 1 - 1e-6)
    assert fit["town: w"].covers(1.6, 1 - 1e-6)
    assert fit.at("w").covers(1 / (1 + math.exp(-1.0)), 1 - 1e-6)
    assert "log-odds of 'yes'" in repr(fit)


def test_a_logistic_regression_of_those_who_answered() -> None:
    """Silence goes with the regressor, and the log-odds are those of the people who answered."""
    rng, n = np.random.default_rng(3), 8_000
    x = rng.uniform(-1.5, 1.5, n)
    yes, silent = (rng.random(n) < 1.0 / (1.0 + np.exp(-odds)) for odds in (x, x - 1.0))
    asked: Any = dt.KRR(dt.Nullable(dt.Categories(["no", "yes"])), epsilon=3)
    answers = np.where(silent, None, np.where(yes, "yes", "no")).tolist()
    fit = dt.stats.regression({"x": x}, asked.perturb(answers, source=dt.Seeded(3)))
    assert fit["x"].covers(1.0, 1 - 1e-6)
    assert not fit["x"].covers(0.7)  # the slope if silence counted as "no"
    assert fit.at({"x": 0.0}).covers(0.5, 1 - 1e-6)
    assert "of those who answered" in repr(fit)
    assert fit.answer == "yes"
    # Nobody is silent: as for a question that everybody answers, but for the noise of a third answer.
    everybody = dt.stats.regression({"x": x}, asked.perturb(np.where(yes, "yes", "no"), source=dt.Seeded(4)))
    assert everybody["x"].covers(1.0, 1 - 1e-6)


def test_what_cannot_be_regressed_is_refused() -> None:
    told, y, _ = draw(5, 60, 4.0)
    yes = dt.KRR(YES, epsilon=1).perturb(["no", "yes"] * 30, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match=r"'x' to be public or categories.*dt\.Categories"):
        dt.stats.regression({"x": told["x"]}, yes)
    with pytest.raises(InvalidParameter, match="two answers for a logistic regression, got 3"):
        dt.stats.regression({"z": told["z"]}, told["town"])
    with pytest.raises(InvalidParameter, match="60 rows"):
        dt.stats.regression({"z": [1.0, 2.0]}, y)
    with pytest.raises(InvalidParameter, match="different reports of regressor 'b' and regressor 'a'"):
        dt.stats.regression({"a": told["x"], "b": told["x"]}, y)
    with pytest.raises(InvalidParameter, match="different reports of regressor 'a' and the response"):
        dt.stats.regression({"a": y}, y)
    clock = dt.OGPM(dt.Times(), epsilon=1).perturb(["08:15"] * 60, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match=r"regressor 'wake'.*mean directions"):
        dt.stats.regression({"wake": clock}, y)
    with pytest.raises(InvalidParameter, match="response 'wake'"):
        dt.stats.regression("wake ~ z", {"wake": clock, "z": told["z"]})
    with pytest.raises(InvalidParameter, match="finite numbers"):
        dt.stats.regression({"z": [math.nan] * 60}, y)
    with pytest.raises(InvalidParameter, match="at least one regressor"):
        dt.stats.regression({}, y)
    with pytest.raises(InvalidParameter, match="two answers, got one with numbers"):
        dt.stats.regression({"z": told["z"]}, y, answer="yes")
    with pytest.raises(InvalidParameter, match="mean yes"):
        dt.stats.regression({"z": told["z"]}, yes, answer="yess")
    with pytest.raises(NotIdentifiable, match="'again' follows from z"):
        dt.stats.regression({"z": told["z"], "again": told["z"]}, y)
    fit = dt.stats.regression({"z": told["z"], "town": np.repeat(["p", "q"], 30)}, y)
    with pytest.raises(InvalidParameter, match="did you mean town: q"):
        fit["town: qq"]
    with pytest.raises(InvalidParameter, match="expected a value of 'town'"):
        fit.at({"z": 1.0})
    with pytest.raises(InvalidParameter, match="logistic"):
        fit.odds("z")
    with pytest.raises(InvalidParameter, match="take one"):
        _ = fit.slope


def years(n: int, epsilon: float = 6.0):
    rng, source = np.random.default_rng(8), dt.Seeded(8)
    year, x, group = 2015 + rng.integers(0, 10, n), rng.beta(0.7, 0.7, n), rng.choice(["p", "q"], n)
    y = 0.1 + 0.02 * (year - 2015) + (0.1 + 0.3 * (group == "q")) * x + 0.2 * rng.random(n)
    asked = dt.Podium(UNIT, epsilon=epsilon)
    told = {"y": asked.perturb(y, source=source), "x": asked.perturb(x, source=source)}
    return {**told, "year": year, "group": group}, y, x


def test_a_regression_has_no_scale() -> None:
    data, _, x = years(4000)
    year = data["year"]
    plain = dt.stats.regression({"z": year - 2015}, data["y"])
    for shift, scale in ((0, 1), (0, 365.25 * 86_400), (1e9, 1e-7)):
        z = (year - shift) * scale
        fit = dt.stats.regression({"z": z}, data["y"])
        assert float(fit["z"]) * scale == pytest.approx(float(plain["z"]), rel=1e-6)
        assert fit["z"].half_width() * scale == pytest.approx(plain["z"].half_width(), rel=1e-6)
        assert float(fit.at(z[0])) == pytest.approx(float(plain.at(float(year[0] - 2015))), rel=1e-6)
    assert float(fit.r_squared) == pytest.approx(float(plain.r_squared), rel=1e-6)
    yes = dt.KRR(YES, epsilon=4).perturb(np.where(year + 3 * x > 2020, "yes", "no").tolist())
    near, far = dt.stats.regression({"z": year - 2015}, yes), dt.stats.regression({"z": year * 1e-6}, yes)
    assert float(far["z"]) * 1e-6 == pytest.approx(float(near["z"]), rel=1e-4)
    assert far["z"].interval()[1] * 1e-6 == pytest.approx(near["z"].interval()[1], rel=1e-2)
    assert np.isfinite(far["intercept"].interval()).all()


def test_what_is_explained_is_without_the_noise() -> None:
    data, y, _ = years(20_000, 3.0)
    fit = dt.stats.regression({"year": data["year"]}, data["y"])
    truth = np.corrcoef(data["year"], y)[0, 1] ** 2
    assert fit.r_squared.covers(truth, 1 - 1e-6)
    decoded = np.corrcoef(data["year"], np.asarray(data["y"]))[0, 1] ** 2
    assert not fit.r_squared.covers(decoded, 1 - 1e-6)  # the twin: noise counts as unexplained
    assert fit.residual_degrees == 19_998
    assert fit.plot().get_xlabel() == "year"


def test_a_public_response() -> None:
    data, y, _ = years(20_000)
    fit = dt.stats.regression({"x": data["x"], "group": data["group"]}, y)
    assert fit["x"].covers(0.25, 1 - 1e-6)
    assert fit["group: q"].covers(0.15, 1 - 1e-6)
    told = dt.KRR(TOWN, epsilon=3).perturb(["u", "v", "w", "w"] * 50, source=dt.Seeded(1))
    chance = dt.stats.regression({"town": told}, ["yes", "no", "yes", "yes"] * 50)
    assert chance.at("v").value < 0.3
    assert chance.at("w").value > 0.8
    for wrong, words in (({"z": data["year"]}, "statistics package"), ({"x": data["x"]}, "finite numbers")):
        with pytest.raises(InvalidParameter, match=words):
            dt.stats.regression(wrong, np.where(y > 0.5, math.nan, y))


def test_a_constant_regressor_is_named() -> None:
    data, _, _ = years(200)
    for wrong, words in (
        ({"one": np.full(200, 3.0)}, "'one' that differ between people"),
        ({"a": data["year"], "b": 3 - 2 * data["year"]}, r"'b' follows from a"),
    ):
        with pytest.raises(NotIdentifiable, match=words):
            dt.stats.regression(wrong, data["y"])


def test_formulas() -> None:
    pytest.importorskip("formulaic")
    data, _, _ = years(20_000)
    fit = dt.stats.regression("y ~ x * C(group) + year", data)
    assert list(fit.labels) == ["intercept", "x", "group: q", "year", "x × group: q"]
    truth = {"x": 0.1, "group: q": 0.0, "year": 0.02, "x × group: q": 0.3}
    for name, value in truth.items():
        assert fit[name].covers(value, 1 - 1e-6)
    at = fit.at({"x": 0.5, "group": "q", "year": 2020})
    assert at.covers(0.1 + 0.1 + 0.2 + 0.1, 1 - 1e-6)
    curved = dt.stats.regression("y ~ x + I((year - 2015)**2) + np.log(year)", data)
    assert curved["x"].covers(0.25, 1 - 1e-6)
    assert curved.at({"x": 0.5, "year": 2020}).covers(0.1 + 0.1 + 0.125 + 0.1, 0.9999)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"year": data["year"], "z": data["year"] ** 2, "y": 0.1 * data["year"]})
    assert dt.stats.regression(frame[["year"]], data["y"])["year"].covers(0.02, 1 - 1e-6)
    private = {"r": data["x"], **{name: frame[name] for name in frame}}
    assert float(dt.stats.regression("y ~ year + r", private)["year"]) == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ xx", "did you mean x"),
        ("yy ~ x", "did you mean y"),
        ("y ~ x +", "formula with the response"),
        ("x", "one side is missing"),
        ("y ~ 0 + x", "intercept"),
        ("y ~ 1", "at least one"),
        ("y ~ .", "write the names"),
        ("y ~ np.log(x)", "'x' is private"),
        ("y ~ C(x)", r"C\(x\).*private number"),
        ("y ~ np.logg(year)", "logg"),
        ("y ~ year:group", r"year \* group"),
        ("y ~ np.log(year - 2020)", "finite numbers"),
        ("y ~ x + x:x2", "did you mean x"),
    ],
)
def test_a_wrong_formula_gets_a_sentence(formula: str, words: str) -> None:
    pytest.importorskip("formulaic")
    data, _, _ = years(200)
    with np.errstate(all="ignore"), pytest.raises(InvalidParameter, match=words):
        dt.stats.regression(formula, data)


def test_data_goes_with_a_formula() -> None:
    data, _, _ = years(100)
    with pytest.raises(InvalidParameter, match="expected data= only with a formula"):
        dt.stats.regression({"x": data["x"]}, data["y"], data=data)
    pytest.importorskip("formulaic")
    with pytest.raises(InvalidParameter, match="mapping from names"):
        dt.stats.regression("y ~ x", [1, 2])


def test_a_response_without_a_reading_of_squares_has_a_slope_and_no_r_squared() -> None:
    """What campaigns ask numbers by: a regression ended with "no average estimates the variance"."""
    x = np.arange(4000.0) % 10
    asked = dt.Optimal(dt.Interval(0, 10), epsilon=4, unbiased=True)
    fit = dt.stats.regression({"x": x}, asked.perturb(0.5 * x + 2, source=dt.Seeded(1)))
    assert fit["x"].covers(0.5, 1 - 1e-6)
    with pytest.raises(NotIdentifiable, match="estimates the variance"):
        _ = fit.r_squared


def test_a_logistic_regression_of_few_answers_says_so() -> None:
    """100 reports at ε = 1 say as much as 21 answers: 95 % intervals hold in 91 %."""
    x = np.linspace(-2, 2, 100)
    yes = (np.random.default_rng(1).random(100) < 1 / (1 + np.exp(-x))).astype(int)
    said = "as of 21 answers without noise, which are few"
    fit = dt.stats.regression({"x": x}, dt.KRR(dt.Categories(2), epsilon=1).perturb(yes, source=dt.Seeded(1)))
    assert said in repr(fit["x"])
    assert said in repr(fit.at(0.5))
    assert said in repr(fit.odds("x"))
    more = dt.stats.regression(
        {"x": x}, dt.KRR(dt.Categories(2), epsilon=4).perturb(yes, source=dt.Seeded(1))
    )
    assert not more["x"].condition
