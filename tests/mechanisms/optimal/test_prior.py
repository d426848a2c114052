"""A public prior for one number: its gain on average, its cost in the worst case, how it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats

LINE, TURN = dt.Interval(0, 100), dt.Circle(360)


def people(n: int, seed: int) -> Floats:
    """Return skewed numbers: most are below 30."""
    return np.clip(np.random.default_rng(seed).lognormal(3.0, 0.5, n), 0.0, 100.0)


PUBLIC = people(2_000, 1)


@pytest.mark.parametrize(("epsilon", "loss"), [(1.0, "absolute"), (3.0, "squared")])
def test_a_prior_gains_on_average_and_loses_in_the_worst_case(epsilon: float, loss: Any) -> None:
    design = dt.Optimal(LINE, epsilon=epsilon, loss=loss, prior=(PUBLIC, "wages of 2019"))
    effect = design.prior_effect
    assert effect.average < 0.7 * effect.average_without
    assert effect.worst > effect.worst_without
    assert "instead of" in str(effect)
    values = people(20_000, 2)
    power = 1 if loss == "absolute" else 2
    told = design.perturb(values, source=dt.Seeded(3)).values
    assert float(np.mean(np.abs(told - values) ** power)) == pytest.approx(effect.average, rel=0.06)
    assert dt.audit(design).holds
    again = dt.from_json(design.to_json())
    assert again.fingerprint == design.fingerprint
    assert again.codebook() == design.question.codebook()


def test_the_points_are_those_of_an_exhaustive_search() -> None:
    """Two numbers for people at four places, against all pairs of bins."""
    values = np.array([10.0] * 50 + [20.0] * 30 + [70.0] * 15 + [90.0] * 5)
    design = dt.Optimal(LINE, epsilon=1, outputs=2, prior=(values, "made up"))
    spots, shares, odds = np.array([10.0, 20.0, 70.0, 90.0]), np.array([0.5, 0.3, 0.15, 0.05]), np.e
    grid = 100.0 * (np.arange(512) + 0.5) / 512
    apart = np.abs(spots[:, None] - grid)
    tried = [
        float(shares @ (a + b + (odds - 1.0) * np.minimum(a, b)) / (odds + 1.0))
        for a, b in (
            (apart[:, [i]][:, 0], apart[:, [j]][:, 0]) for i in range(0, 512, 4) for j in range(0, i, 4)
        )
    ]
    assert design.prior_effect.average == pytest.approx(min(tried), rel=0.02)


def test_on_a_circle_distances_are_those_of_the_short_way() -> None:
    angles = np.random.default_rng(4).normal(0.0, 25.0, 2_000) % 360  # about the begin of the circle
    design = dt.Optimal(TURN, epsilon=2, prior=(angles, "a public survey"))
    told = design.perturb(angles, source=dt.Seeded(5)).values
    gap = np.abs(told - angles)
    error = float(np.minimum(gap, 360.0 - gap).mean())
    assert error == pytest.approx(design.prior_effect.average, rel=0.06)
    assert error < 0.6 * design.prior_effect.average_without
    near = design.perturb(np.full(4_000, 359.9), source=dt.Seeded(6)).values
    other = design.perturb(np.full(4_000, 0.1), source=dt.Seeded(7)).values
    assert np.median((near + 180) % 360) == pytest.approx(np.median((other + 180) % 360), abs=1.0)


@pytest.mark.parametrize(
    ("domain", "values"), [(LINE, PUBLIC), (TURN, np.random.default_rng(8).normal(90.0, 30.0, 2_000) % 360)]
)
def test_any_design_can_be_read_for_a_prior(domain: Any, values: Floats) -> None:
    design = dt.Optimal(domain, epsilon=2)
    read = design.read_for((values, "a public survey"))
    reports = design.perturb(values, source=dt.Seeded(9))

    def error(told: Floats) -> float:
        gap = np.abs(told - values)
        return float((np.minimum(gap, 360.0 - gap) if domain.circular else gap).mean())

    assert error(reports.read_by(read).values) < 0.7 * error(reports.values)
    effect = design.reading_effect((values, "a public survey"))
    assert effect.average == pytest.approx(error(reports.read_by(read).values), rel=0.06)
    assert effect.average_without == pytest.approx(error(reports.values), rel=0.06)
    assert effect.worst > effect.worst_without
    assert "largest error over the domain" in str(effect)
    assert dt.from_json(read.to_json()).codebook() == read.codebook()
    assert read.fingerprint == design.fingerprint
    assert design.read_for(None).fingerprint == design.fingerprint


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"prior": PUBLIC}, "public source"),
        ({"prior": (PUBLIC, " ")}, "public source"),
        ({"prior": ([], "nobody")}, "one or more finite numbers"),
        ({"prior": (["x"], "words")}, "one or more finite numbers"),
        ({"prior": ([1.0, np.nan], "holes")}, "one or more finite numbers"),
        ({"prior": ([-5.0, 50.0], "outside")}, "must lie in"),
        ({"prior": ([5.0] * 9, "the same")}, "two different values"),
        ({"prior": (PUBLIC, "wages"), "unbiased": True}, "leave `unbiased`"),
    ],
)
def test_what_is_no_prior_is_refused(more: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.Optimal(LINE, epsilon=1, **more)


def test_a_fitted_design_has_no_certificate_and_one_without_a_prior_no_effect() -> None:
    with pytest.raises(InvalidParameter, match="no certificate"):
        _ = dt.Optimal(LINE, epsilon=1, prior=(PUBLIC, "wages")).gap
    with pytest.raises(InvalidParameter, match="with a prior"):
        _ = dt.Optimal(LINE, epsilon=1).prior_effect
