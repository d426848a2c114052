"""`dt.stats.fit_family`: right parameters and levels if the family is right, a refusal if it is wrong."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dither as dt
from tests.support.repository import ROOT

UNIT = dt.Interval(0, 1)
Draw = Callable[[np.random.Generator, int], np.ndarray]


def inside(draw: Draw, most: float = 1.0) -> Draw:
    """Return draws that lie inside the domain."""

    def kept(rng: np.random.Generator, n: int) -> np.ndarray:
        values = draw(rng, 2 * n)
        return values[(values >= 0) & (values <= most)][:n]

    return kept


FAMILIES: dict[str, tuple[dict[str, float], Draw]] = {
    "normal": (
        {"mean": 0.41, "standard deviation": 0.1},
        inside(lambda rng, n: rng.normal(0.41, 0.1, n)),
    ),
    "lognormal": (
        {"mean of logs": -1.5, "standard deviation of logs": 0.4},
        inside(lambda rng, n: rng.lognormal(-1.5, 0.4, n)),
    ),
    "gamma": ({"shape": 3.0, "scale": 0.08}, inside(lambda rng, n: rng.gamma(3, 0.08, n))),
    "beta": ({"alpha": 2.0, "beta": 5.0}, lambda rng, n: rng.beta(2, 5, n)),
    "exponential": ({"mean": 0.2}, inside(lambda rng, n: rng.exponential(0.2, n))),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_are_found_and_the_family_is_kept(family: str) -> None:
    truth, draw = FAMILIES[family]
    mechanism = dt.SW(UNIT, epsilon=2)
    people = draw(np.random.default_rng(1), 20_000)
    found = dt.stats.fit_family(mechanism.perturb(people, source=dt.Seeded(2)), family)  # type: ignore[arg-type]
    assert set(found.parameters) == set(truth)
    for name, value in truth.items():
        estimate = found.parameters[name]
        assert abs(float(estimate) - value) < 4.5 * float(estimate.standard_error)
        assert 0 < float(estimate.standard_error) < 0.2 * abs(value)
    assert found.fits
    assert found.mean == pytest.approx(people.mean(), abs=0.02)
    assert found.quantile(0.5) == pytest.approx(np.median(people), abs=0.02)
    assert found.cdf(found.quantile(0.3)) == pytest.approx(0.3, abs=1e-9)


def test_counts_of_a_poisson_law() -> None:
    people = np.random.default_rng(1).poisson(7, 20_000).clip(0, 30).astype(float)
    found = dt.stats.fit_family(
        dt.SW(dt.Interval(0, 30), epsilon=2).perturb(people, source=dt.Seeded(3)), "poisson"
    )
    assert float(found.parameters["mean"]) == pytest.approx(7, abs=0.2)
    assert found.fits
    assert found.quantile(0.5) == 7
    assert found.cdf(30) == pytest.approx(1)


def test_a_wrong_family_is_refused() -> None:
    reports = dt.SW(UNIT, epsilon=1).perturb(np.random.default_rng(1).beta(2, 5, 20_000), source=dt.Seeded(2))
    wrong = dt.stats.fit_family(reports, "exponential")
    assert not wrong.fits
    assert "REFUSED" in repr(wrong)
    assert "p = " in repr(dt.stats.fit_family(reports, "beta"))


@pytest.mark.slow
def test_the_level_of_the_test() -> None:
    """Right families are refused at 5 % in about 5 % of collections; 60 p-values are not crowded."""
    rng, mechanism = np.random.default_rng(5), dt.SW(UNIT, epsilon=2)
    values = [
        dt.stats.fit_family(
            mechanism.perturb(rng.beta(2, 5, 2000), source=dt.Seeded(run)), "beta"
        ).goodness.p_value
        for run in range(30)
    ]
    assert sum(value < 0.05 for value in values) <= 6  # P(more) < 0.001 at 5 %
    assert np.mean(values) == pytest.approx(0.5, abs=0.2)


def test_wrong_input() -> None:
    reports = dt.SW(UNIT, epsilon=1).perturb([0.5] * 10, source=dt.Seeded(1))
    with pytest.raises(dt.errors.InvalidParameter, match="gamma"):
        dt.stats.fit_family(reports, "gama")  # type: ignore[arg-type]
    with pytest.raises(dt.errors.InvalidParameter, match="circle"):
        dt.stats.fit_family(
            dt.OGPM(dt.Circle(360), epsilon=1).perturb([3.0] * 9, source=dt.Seeded(1)), "normal"
        )
    with pytest.raises(dt.errors.InvalidParameter, match="negative"):
        dt.stats.fit_family(
            dt.SW(dt.Interval(-1, 1), epsilon=1).perturb([0.5] * 9, source=dt.Seeded(1)), "gamma"
        )


def test_the_mean_of_the_shape_with_the_linear_mean_beside_it() -> None:
    # A narrow shape would not do: its error contains a thin tail that the reports cannot show.
    people = np.random.default_rng(1).beta(2, 5, 20_000)
    reports = dt.SW(UNIT, epsilon=2).perturb(people, source=dt.Seeded(4))
    shape, plain = dt.mean(reports, method="empirical bayes"), dt.mean(reports)
    assert shape.standard_error < plain.standard_error
    assert abs(float(shape) - people.mean()) < 4 * shape.standard_error
    assert "linear 0.2" in repr(shape)
    assert "if smooth" in repr(shape)
    with pytest.raises(dt.errors.InvalidParameter):
        dt.mean(
            dt.OGPM(dt.Circle(360), epsilon=1).perturb([3.0] * 9, source=dt.Seeded(1)),
            method="empirical bayes",
        )


def distance(cdf: Callable[[float], float], people: np.ndarray) -> float:
    """Return the W1 distance of a distribution from people on [0, 1]."""
    grid = np.linspace(0, 1, 257)[:-1]
    below = np.searchsorted(np.sort(people), grid, side="right") / people.size
    return float(np.abs([cdf(float(x)) - share for x, share in zip(grid, below, strict=True)]).mean())


@pytest.mark.slow
@pytest.mark.parametrize("family", [*FAMILIES, "poisson"])
def test_a_right_family_is_much_closer_than_a_free_shape(family: str) -> None:
    """W1 at most 0.6 of empirical Bayes, over 24 collections, as far as chance allows.

    The log-density of an exponential is straight, which costs a free shape nothing: 0.6 of its error is below
    the bound of Cramér and Rao for every estimate.
    """
    top, draw = (30.0, poisson) if family == "poisson" else (1.0, FAMILIES[family][1])
    mechanism, rng = dt.SW(dt.Interval(0, top), epsilon=1), np.random.default_rng(7)
    pairs, scores = [], []
    for run in range(24):
        people = draw(rng, 20_000)
        reports = mechanism.perturb(people, source=dt.Seeded(run))
        shape, fitted = dt.distribution(reports), dt.stats.fit_family(reports, family)  # type: ignore[arg-type]
        pairs.append(
            [distance(lambda x, of=of: float(of.cdf(top * x)), people / top) for of in (fitted, shape)]
        )
        found = fitted.parameters.get("mean")
        scores.append(0.0 if found is None else (float(found) - 0.2) / float(found.standard_error))
    near, far = np.array(pairs).T
    most = 1.0 if family == "exponential" else 0.6
    assert near.mean() - most * far.mean() < 2 * np.std(near - most * far) / np.sqrt(24)
    if family == "exponential":  # as exact as the reports' Fisher information allows
        assert np.mean(np.square(scores)) < 1.0 + 2 * np.sqrt(2 / 24)
        assert 0.6 * far.mean() < least_distance(dt.SW(UNIT, epsilon=1), 20_000)[1]


def least_distance(mechanism: Any, n: int) -> tuple[float, float]:
    """Return the least standard error of an exponential's mean, relative to it, and the W1 that follows.

    By Cramér and Rao, from the law of reports in exact integers and differences of the density; the mean is
    0.2 on [0, 1].
    """
    places = (np.arange(400) + 0.5) / 400
    channel = np.array([[float(p) for p in mechanism.probabilities(x)] for x in places])
    logs = np.add.outer([-1e-4, 0.0, 1e-4], np.log(0.2))
    shares = np.exp(-places / np.exp(logs)[:, None])
    shares /= shares.sum(axis=1, keepdims=True)
    laws = shares @ channel
    slope = (laws[2] - laws[0]) / 2e-4
    error = 1 / np.sqrt(n * (slope**2 / laws[1]).sum())
    moved = np.abs(np.cumsum(shares[2] - shares[0])).mean() / 2e-4
    return float(error), float(moved * error * np.sqrt(2 / np.pi))


def test_the_bound_of_an_exponential_is_that_of_the_page() -> None:
    """And the standard error that `dt.stats.fit_family` states is the bound, to a few per cent."""
    small = dt.SW(UNIT, epsilon=1, cells=64)
    error, distance = least_distance(small, 20_000)
    page = (ROOT / "docs" / "estimation_shapes.md").read_text(encoding="utf-8")
    assert float(re.findall(r"at least ([0-9.]+) %", page)[0]) == pytest.approx(100 * error, rel=0.01)
    assert float(re.findall(r"W1 at least ([0-9.]+)\.", page)[0]) == pytest.approx(distance, rel=0.01)
    people = FAMILIES["exponential"][1](np.random.default_rng(1), 20_000)
    found = dt.stats.fit_family(small.perturb(people, source=dt.Seeded(2)), "exponential").parameters["mean"]
    assert float(found.standard_error) / float(found) == pytest.approx(error, rel=0.1)


@pytest.mark.slow
def test_an_exponential_is_as_exact_as_is_possible() -> None:
    """The root mean square error of 400 collections is within 7 % of the bound: two standard errors."""
    mechanism, rng, n = dt.SW(UNIT, epsilon=1, cells=64), np.random.default_rng(9), 5000
    logs = []
    for run in range(400):
        people = FAMILIES["exponential"][1](rng, n)
        found = dt.stats.fit_family(mechanism.perturb(people, source=dt.Seeded(run)), "exponential")
        logs.append(np.log(float(found.parameters["mean"]) / 0.2))
    assert np.sqrt(np.mean(np.square(logs))) == pytest.approx(least_distance(mechanism, n)[0], rel=0.07)


def poisson(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.poisson(7, n).clip(0, 30).astype(float)


@pytest.mark.slow
def test_the_mean_of_a_narrow_shape_is_several_times_closer() -> None:
    """N(0.41, 0.02), SW, n = 20 000: at most 0.4 of the linear error at ε = 1, and its interval holds.

    Medians: in one of twelve collections a point mass is found at an end where nobody is.
    """
    rng, mechanism, errors, held = np.random.default_rng(8), dt.SW(UNIT, epsilon=1), [], 0
    for run in range(24):
        people = rng.normal(0.41, 0.02, 20_000)
        reports = mechanism.perturb(people, source=dt.Seeded(run))
        shape = dt.mean(reports, method="empirical bayes")
        errors.append((float(shape) - people.mean(), float(dt.mean(reports)) - people.mean()))
        held += shape.covers(people.mean())
    near, far = np.median(np.abs(errors), axis=0)
    assert near < 0.4 * far
    assert held >= 20
