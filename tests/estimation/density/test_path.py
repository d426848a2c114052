"""Errors of the modes of a path, against the errors that refits of new reports have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dither as dt
from dither.estimation.density.mode import climb_to_mode
from dither.estimation.density.model import DensityModel, Prior, Strength
from dither.estimation.density.path import Path, Posterior, errors_of
from dither.kernels.transition import Operator

UNIT = dt.Interval(0, 1)
BINS, PEOPLE, TIMES = 16, 20_000, 400


def operator_of(epsilon: float) -> Operator:
    mechanism = dt.SW(UNIT, epsilon=epsilon)
    return mechanism.likelihood((np.arange(4 * BINS) + 0.5) / (4 * BINS), 128).spread(4)


def model_of(operator: Operator, counts: np.ndarray) -> DensityModel:
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
        [climb_to_mode(model_of(operator, counts), strength, np.log(truth), 8).shares for counts in drawn]
    )
    model = model_of(operator, PEOPLE * law)
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
    model = model_of(operator_of(1.0), np.round(counts))
    path = Path.down(model).refine(model)
    assert max(mode.strength.smoothness for mode in path.modes) > 1_000 * model.prior.first
    found = Posterior.over(model, [path])
    assert np.all(np.diagonal(found.covariance) <= np.diagonal(found.own) * (1 + 1e-9))


def test_bias_is_judged_at_a_rougher_mode_that_is_not_refuted() -> None:
    rng = np.random.default_rng(2)
    law = operator_of(1.0).forward(rng.dirichlet(np.ones(BINS)))
    model = model_of(operator_of(1.0), rng.multinomial(PEOPLE, law / law.sum()))
    path = Path.down(model).refine(model)
    ordered = sorted(path.modes, key=lambda mode: -mode.strength.smoothness)
    for mode in ordered:
        judge = path.rougher(mode)
        assert judge.strength.smoothness <= mode.strength.smoothness
        if ordered[-1].strength.smoothness <= mode.strength.smoothness / 10:
            assert judge.strength.smoothness <= mode.strength.smoothness / 9.9
