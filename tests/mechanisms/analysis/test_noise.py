"""The closed forms of noise against values computed independently with 50 digits."""

from __future__ import annotations

import itertools
import math
from typing import Any, get_args

import numpy as np
import pytest
from scipy import integrate, special, stats

import dither as dt
from dither.foundation.losses import as_power
from dither.mechanisms.analysis.law import loss_moment
from dither.mechanisms.numeric.gaussian import Calibration, balle
from dither.mechanisms.numeric.staircase import StaircaseDensity, best_step
from tests.support.repository import reference

REFERENCE: dict[str, Any] = reference("lattice")
UNIT = dt.Interval(0, 1)


def close(found: Any, wanted: Any, rtol: float = 1e-10, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


MAKERS = {
    "t_laplace": lambda eps: dt.Laplace(UNIT, epsilon=eps).truncated(),
    "b_laplace": lambda eps: dt.BoundedLaplace(UNIT, epsilon=eps),
}


def answers(name: str, mechanism: Any, row: dict[str, Any]) -> None:
    """Check every answer of a mechanism against the reference."""
    assert row["cases"]
    for case in row["cases"]:
        x = case["x"]
        close(mechanism.mean(x), case["mean"])
        close(mechanism.variance(x), case["variance"])
        close(mechanism.error("absolute", x), case["l1"])
        close(mechanism.error("squared", x), case["l2"])
        for y, density in case["pdf"]:
            close(mechanism.pdf(y, x), density)
        for y, mass in case["cdf"]:
            close(mechanism.cdf(y, x), mass)
        places, masses = mechanism.atoms(x)
        wanted = case.get("atoms", [])
        close(places, [place for place, _ in wanted])
        close(masses, [mass for _, mass in wanted])
        if name == "b_laplace":
            close(1 / (2 * row["params"]["b"] * mechanism.pdf(x, x)), case["norm_const_C_x"])


@pytest.mark.parametrize("name", MAKERS)
def test_every_question(name: str) -> None:
    assert len(REFERENCE[name]) >= 4
    for row in REFERENCE[name]:
        answers(name, MAKERS[name](row["eps"]), row)


@pytest.mark.parametrize("name", MAKERS)
def test_a_budget_that_is_off_by_a_millionth_is_seen(name: str) -> None:
    for row in REFERENCE[name]:
        with pytest.raises(AssertionError):
            answers(name, MAKERS[name](row["eps"] * (1 + 1e-6)), row)


@pytest.mark.some(every=5)
@pytest.mark.parametrize(
    "row", REFERENCE["b_laplace_scale_on_01"], ids=lambda r: f"{r['eps']}-{r['sensitivity']}"
)
def test_scale_of_bounded_laplace(row: dict[str, float]) -> None:
    mechanism = dt.BoundedLaplace(UNIT, epsilon=row["eps"], sensitivity=row["sensitivity"])
    close(mechanism.scale, row["b"])
    wide = dt.BoundedLaplace(dt.Interval(-3, 7), epsilon=row["eps"], sensitivity=10 * row["sensitivity"])
    close(wide.scale, row["b"])


@pytest.mark.some(every=3)
@pytest.mark.parametrize(
    "row", REFERENCE["staircase_sensitivity1"], ids=lambda r: f"{r['eps']}-{r['variant']}"
)
def test_staircase(row: dict[str, Any]) -> None:
    loss = "absolute" if row["variant"] == "l1_optimal" else "squared"
    mechanism = dt.Staircase(UNIT, epsilon=row["eps"], loss=loss)
    close(best_step(row["eps"], as_power(loss)), row["gamma"])
    close(mechanism.pdf(0.3, 0.3), row["a"])
    close(mechanism.error("absolute", 0.3), row["l1"])
    close(mechanism.error("squared", 0.3), row["l2"])
    close(mechanism.variance(0.9), row["l2"])
    wide = dt.Staircase(dt.Interval(-3, 7), epsilon=row["eps"], loss=loss)
    close(wide.worst_error("absolute"), 10 * row["l1"])
    close(wide.pdf(5.0, 5.0), row["a"] / 10)


@pytest.mark.parametrize("row", REFERENCE["staircase"], ids=lambda r: f"{r['eps']:g}")
def test_staircase_at_every_budget(row: dict[str, float]) -> None:
    eps = row["eps"]
    close(best_step(eps, as_power("squared")), row["gamma_L2"])
    close(best_step(eps, as_power("absolute")), row["gamma_L1"])
    first, second = (StaircaseDensity(eps, row[name]) for name in ("gamma_L1", "gamma_L2"))
    one, two = (loss_moment(as_power(loss), False) for loss in ("absolute", "squared"))
    close(second.density(np.asarray(0.0)), row["a_gammaL2"])
    close(second.whole(two), row["var_L2"], atol=0)
    close(first.whole(one), row["Eabs_L1"], atol=0)
    close(first.whole(two), row["var_at_gamma_L1"], atol=0)
    close(second.whole(one), row["Eabs_at_gamma_L2"], atol=0)


@pytest.mark.parametrize("row", REFERENCE["general_gamma"], ids=lambda r: f"{r['eps']:g}-{r['gamma']:g}")
def test_staircases_with_any_first_step(row: dict[str, float]) -> None:
    density = StaircaseDensity(row["eps"], row["gamma"])
    close(density.density(np.asarray(0.0)), row["a"])
    close(density.whole(loss_moment(as_power("squared"), False)), row["var"])
    close(density.whole(loss_moment(as_power("absolute"), False)), row["Eabs"])


def test_stable_at_tiny_budgets() -> None:
    assert best_step(1e-6, as_power("squared")) == pytest.approx(0.49999991666666667, rel=1e-13)
    tiny = StaircaseDensity(1e-6, best_step(1e-6, as_power("squared")))
    assert tiny.whole(loss_moment(as_power("squared"), False)) == pytest.approx(2e12, rel=1e-10)
    assert tiny.whole(loss_moment(as_power(0.5), False)) == pytest.approx(math.gamma(1.5) * 1e3, rel=1e-9)


@pytest.mark.parametrize("row", REFERENCE["purkayastha_s1"], ids=lambda r: f"{r['eps']}")
def test_purkayastha(row: dict[str, float]) -> None:
    radians = dt.rivals.Purkayastha(dt.Circle(2 * math.pi), epsilon=row["eps"])
    for x in (0.0, 1.0, 5.5):
        close(radians.pdf(x, x), row["density_at_0"])
        close(radians.pdf((x + math.pi) % (2 * math.pi), x), row["density_at_pi"])
        close(radians.error("absolute", x), row["l1"])
        close(radians.error("squared", x), row["l2"])
        close(1 - radians.variance(x), row["resultant_length"])
        assert radians.mean(x) == x
    degrees = dt.rivals.Purkayastha(dt.Circle(360), epsilon=row["eps"])
    close(degrees.worst_error("absolute"), math.degrees(row["l1"]))


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.3, 2.0, 20.0, 50.0])
def test_laplace_in_closed_form(epsilon: float) -> None:
    mechanism = dt.Laplace(dt.Interval(-3, 7), epsilon=epsilon)
    scale = 10 / epsilon
    law = stats.laplace(loc=1.5, scale=scale)
    ys = 1.5 + scale * np.array([-8.0, -0.5, 0.0, 0.1, 3.0])
    close(mechanism.pdf(ys, 1.5), law.pdf(ys))
    close(mechanism.cdf(ys, 1.5), law.cdf(ys))
    close(mechanism.mean([1.5, 7.0]), [1.5, 7.0])
    close(mechanism.variance(-3.0), 2 * scale**2, atol=0)
    for k in (0.5, 1.0, 1.7, 2.0, 4.0):
        close(mechanism.error(k, 0.0), math.gamma(k + 1) * scale**k, atol=0)
        close(mechanism.worst_error(k), math.gamma(k + 1) * scale**k, atol=0)
        close(mechanism.average_error(k), math.gamma(k + 1) * scale**k, atol=0)


@pytest.mark.some(every=2)
@pytest.mark.parametrize("calibration", get_args(Calibration))
def test_gaussian_in_closed_form(calibration: Calibration) -> None:
    mechanism = dt.Gaussian(dt.Interval(-3, 7), epsilon=0.8, delta=1e-5, calibration=calibration)
    law = stats.norm(loc=1.5, scale=mechanism.sigma)
    ys = 1.5 + mechanism.sigma * np.array([-6.0, -0.5, 0.0, 0.1, 3.0])
    close(mechanism.pdf(ys, 1.5), law.pdf(ys))
    close(mechanism.cdf(ys, 1.5), law.cdf(ys))
    for k in (0.5, 1.0, 2.0, 4.0):
        wanted = mechanism.sigma**k * 2 ** (k / 2) * special.gamma((k + 1) / 2) / math.sqrt(math.pi)
        close(mechanism.error(k, 0.0), wanted, atol=0)


@pytest.mark.slow
def test_scales_of_the_gaussian() -> None:
    classic = dt.Gaussian(UNIT, epsilon=0.5, delta=1e-5, calibration="classic")
    close(classic.sigma, math.sqrt(2 * math.log(1.25e5)) / 0.5)
    probable = dt.Gaussian(UNIT, epsilon=2.0, delta=0.1, calibration="pac")
    root = math.sqrt(math.log(20))
    close(probable.sigma, math.sqrt(2) / 2 * (math.sqrt(math.log(20) + 2) + root) / 2)
    for epsilon, delta in [(1e-3, 1e-6), (0.1, 1e-9), (1.0, 1e-5), (8.0, 1e-2), (50.0, 1e-6)]:
        sigma = dt.Gaussian(UNIT, epsilon=epsilon, delta=delta).sigma
        near, far = 0.5 / sigma - epsilon * sigma, -0.5 / sigma - epsilon * sigma
        spent = stats.norm.cdf(near) - math.exp(epsilon + stats.norm.logcdf(far))
        close(spent, delta, rtol=1e-8, atol=0)
        close(balle(epsilon, sigma), delta, rtol=1e-8, atol=0)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("loss", ["absolute", "squared", 1.3], ids=repr)
@pytest.mark.parametrize(
    "mechanism",
    [
        dt.Staircase(UNIT, epsilon=2.0).truncated(),
        dt.Staircase(UNIT, epsilon=0.4, loss="squared").truncated(),
        dt.Gaussian(UNIT, epsilon=2.0, delta=1e-3).truncated(),
        dt.Laplace(UNIT, epsilon=7.0).truncated(),
        dt.BoundedLaplace(UNIT, epsilon=7.0, sensitivity=0.3),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_errors_against_quadrature(mechanism: Any, loss: Any) -> None:
    """An independent integral of the density, and the atoms, at a few inputs."""
    for x in (0.0, 0.2, 0.55, 1.0):
        steps = [
            x + sign * (whole + first) for sign in (-1, 1) for whole in (0, 1) for first in _edges(mechanism)
        ]
        breaks = sorted({0.0, 1.0, x, *(step for step in steps if 0 < step < 1)})
        inner = sum(
            integrate.quad(
                lambda y, x=x: as_power(loss)(y - x) * mechanism.pdf(y, x), a, b, epsabs=1e-14, epsrel=1e-13
            )[0]
            for a, b in itertools.pairwise(breaks)
        )
        places, masses = mechanism.atoms(x)
        close(mechanism.error(loss, x), inner + float(np.sum(masses * as_power(loss)(places - x))), rtol=1e-9)
        close(mechanism.cdf(1.0, x), 1.0)


def _edges(mechanism: Any) -> list[float]:
    return (
        [0.0, best_step(mechanism.epsilon, as_power(mechanism.loss))]
        if isinstance(mechanism, dt.Staircase)
        else [0.0]
    )


def test_exponential_by_hand() -> None:
    """101 points and the domain's length as sensitivity: weights e^(−ε·distance/2)."""
    points = np.linspace(0, 1, 101)
    mechanism = dt.Exponential(UNIT, points, epsilon=2.0, as_published=True)
    weights = np.exp(-np.abs(points - 0.5))
    chances = weights / weights.sum()
    places, masses = mechanism.atoms(0.501)
    close(places, points)
    close(masses, chances)
    close(mechanism.error("absolute", 0.501), chances @ np.abs(points - 0.501))
    close(mechanism.cdf(0.3, 0.5), chances[:31].sum())
    close(mechanism.mean(0.5), 0.5)
