"""The most probable distribution and its evidence, against scipy's optimiser and quadrature.

Errors of the modes of a path, against the errors that refits of new reports have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, optimize

import dither as dt
from dither.core.kernels.transition import Operator
from dither.estimation.density import DensityModel, Path, Posterior, Prior, Strength, climb_to_mode, errors_of

UNIT = dt.Interval(0, 1)


def model_of(mechanism, values, bins, atoms=(), circular=False):
    inputs = mechanism.line.from_unit((np.arange(bins * 4) + 0.5) / (bins * 4))
    operator = mechanism.question.likelihood(inputs, 512).spread(4)
    counts = operator.counts(dt.Counts.of(mechanism.perturb(values, source=dt.Seeded(1))).counts)
    columns = np.zeros((operator.shape[0], 0))
    if atoms:
        columns = mechanism.question.likelihood(np.array(atoms), 512).dense()
    return DensityModel(operator, columns, counts, Prior.of(bins, circular=circular))


def log_posterior(model, strength, logs):
    """The same function, written again from its definition."""
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    bins = model.bins
    expected = model.operator.dense() @ shares[:bins] + model.atoms @ shares[bins:]
    second = np.diff(logs[:bins], 2)
    slope = np.polyfit(np.linspace(-1, 1, bins), logs[:bins], 1)[0]
    found = model.counts @ np.log(expected) - strength.smoothness * second @ second / 2 - slope**2 / 18
    odds = logs[bins:] - np.log(np.exp(logs[:bins]).sum())
    return found - (((odds + 3) / 2) ** 2).sum() / 2


@pytest.mark.some(every=3)
@pytest.mark.parametrize("atoms", [(), (0.0,), (0.25, 1.0)], ids=len)
@pytest.mark.parametrize("smoothness", [0.5, 300.0])
def test_the_mode_is_the_top_that_scipy_finds(atoms, smoothness):
    values = np.where(
        np.random.default_rng(2).random(4000) < 0.2, 0.0, np.random.default_rng(3).random(4000) ** 2
    )
    model = model_of(dt.SW(UNIT, epsilon=2), values, 12, atoms)
    strength = Strength(smoothness)
    mode = climb_to_mode(model, strength, np.zeros(12 + len(atoms)), 40)
    best = optimize.minimize(lambda logs: -log_posterior(model, strength, logs), mode.logs, method="BFGS")
    assert -best.fun - log_posterior(model, strength, mode.logs) < 0.02
    other = np.exp(best.x) / np.exp(best.x).sum()
    np.testing.assert_allclose(mode.shares, other, atol=3e-3)


def test_the_posterior_of_two_points_is_that_of_quadrature():
    mechanism = dt.SW(UNIT, epsilon=1)
    operator = mechanism.question.likelihood(np.array([0.0, 1.0]), 512)
    counts = operator.counts(
        dt.Counts.of(mechanism.perturb([0.0] * 3000 + [1.0] * 2000, source=dt.Seeded(4))).counts
    )
    prior = Prior.of(2, circular=False)
    model = DensityModel(operator, np.zeros((operator.shape[0], 0)), counts, prior)
    posterior = Posterior.over(model, [Path.down(model)])
    matrix, top = operator.dense(), posterior.best.evidence

    def density(slope, power=0):
        logs = np.array([-slope, slope])
        shares = np.exp(logs) / np.exp(logs).sum()
        return shares[1] ** power * np.exp(counts @ np.log(matrix @ shares) - slope**2 / 18 - top)

    whole, first, second = (integrate.quad(density, -6, 6, args=(k,), limit=200)[0] for k in (0, 1, 2))
    assert posterior.shares[1] == pytest.approx(first / whole, abs=0.004)
    spread = np.sqrt(second / whole - (first / whole) ** 2)
    assert np.sqrt(posterior.covariance[1, 1]) == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("scatter", [0.0, 0.7])
def test_the_prior_is_normalised(scatter):
    prior = Prior.of(9, circular=False)
    for smoothness in (0.1, 50.0):
        matrix, level = prior.precision(Strength(smoothness, scatter))
        values = np.linalg.eigvalsh(matrix)
        assert values[0] == pytest.approx(0.0, abs=1e-8)  # the constant
        # A covariance of the smooth part, the slope's and the scatter's add up.
        assert level == pytest.approx(float(np.log(values[1:]).sum()), abs=1e-6)
        if scatter:
            assert 1.0 / values[-1] > scatter**2


def test_a_circle_has_no_slope():
    prior = Prior.of(8, circular=True)
    matrix, _ = prior.precision(Strength(1.0))
    np.testing.assert_allclose(matrix, np.roll(np.roll(matrix, 3, axis=0), 3, axis=1))
    assert np.sum(np.linalg.eigvalsh(matrix) < 1e-9) == 1


def test_more_reports_ask_for_a_rougher_curve():
    values = np.random.default_rng(5).beta(2, 5, 200_000)
    mechanism = dt.SW(UNIT, epsilon=4)
    models = [model_of(mechanism, values[:n], 64) for n in (1_000, 200_000)]
    few, many = (Posterior.over(model, [Path.down(model)]).freedom for model in models)
    assert 2 < few < many < 30


BINS, PEOPLE, TIMES = 16, 20_000, 400


def operator_of(epsilon: float) -> Operator:
    mechanism = dt.SW(UNIT, epsilon=epsilon)
    return mechanism.question.likelihood((np.arange(4 * BINS) + 0.5) / (4 * BINS), 128).spread(4)


def path_model(operator: Operator, counts: np.ndarray) -> DensityModel:
    atoms = np.zeros((operator.shape[0], 0))
    return DensityModel(operator, atoms, counts.astype(float), Prior.of(BINS, circular=False))


def test_errors_are_those_of_new_reports() -> None:
    """Variance and bias of 400 refits at one smoothness: 4.9 standard errors of the 400 decide."""
    middles = (np.arange(BINS) + 0.5) / BINS
    truth = middles * (1 - middles) ** 4
    truth = 0.8 * truth / truth.sum() + 0.2 / BINS  # errors of nearly empty bins are not linear
    operator, strength = operator_of(2.0), Strength(3.0)
    law = operator.forward(truth)
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(PEOPLE, law / law.sum(), TIMES)
    fits = np.array(
        [climb_to_mode(path_model(operator, counts), strength, np.log(truth), 8).shares for counts in drawn]
    )
    model = path_model(operator, PEOPLE * law)
    centre = climb_to_mode(model, strength, np.log(truth), 30)
    exact = replace(centre, logs=np.log(truth))
    products, bias = errors_of(model, centre, exact)
    variance = np.diagonal(products)
    np.testing.assert_allclose(fits.var(axis=0, ddof=1), variance, rtol=0.05 + 4.9 * (2 / TIMES) ** 0.5)
    squares = np.mean((fits - truth) ** 2, axis=0)
    np.testing.assert_allclose(squares, variance + bias**2, rtol=0.1 + 4.9 * (2 / TIMES) ** 0.5)
    # The posterior's own covariance is told apart: it is too large where there is no bias.
    assert np.mean(np.diagonal(centre.covariance) / fits.var(axis=0, ddof=1)) > 1.3


def test_straight_shapes_have_narrower_bands_than_the_posterior_has() -> None:
    counts = PEOPLE * operator_of(1.0).forward(np.full(BINS, 1 / BINS))
    model = path_model(operator_of(1.0), np.round(counts))
    path = Path.down(model).refine(model)
    assert max(mode.strength.smoothness for mode in path.modes) > 1_000 * model.prior.first
    found = Posterior.over(model, [path])
    assert np.all(np.diagonal(found.covariance) <= np.diagonal(found.own) * (1 + 1e-9))


def test_bias_is_judged_at_a_rougher_mode_that_is_not_refuted() -> None:
    rng = np.random.default_rng(2)
    law = operator_of(1.0).forward(rng.dirichlet(np.ones(BINS)))
    model = path_model(operator_of(1.0), rng.multinomial(PEOPLE, law / law.sum()))
    path = Path.down(model).refine(model)
    ordered = sorted(path.modes, key=lambda mode: -mode.strength.smoothness)
    for mode in ordered:
        judge = path.rougher(mode)
        assert judge.strength.smoothness <= mode.strength.smoothness
        if ordered[-1].strength.smoothness <= mode.strength.smoothness / 10:
            assert judge.strength.smoothness <= mode.strength.smoothness / 9.9
