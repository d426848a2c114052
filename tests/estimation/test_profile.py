"""Ends of intervals by quadratic programs are those of many constrained fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.counts import Counts
from dither.estimation.likelihood import (
    Likeliest,
    ProfileInterval,
    Relaxed,
    climb,
    mean_quantity,
    tilt,
)
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded

UNIT = dt.Interval(0, 1)
REACH = 1.96


class Patient(Relaxed):
    """Constrained fits that climb on until nothing is gained: what the programs are compared with."""

    def under(self, gaps: Floats, warm: Floats) -> object:  # type: ignore[override]
        start = 0.999 * warm + 0.001 / gaps.size
        finish = tilt(gaps - self.phantoms * gaps.mean())
        return climb(self.fit.operator, self.fit.counts, start, finish=finish, tolerance=1e-4, most=60_000)


def likeliest(mechanism: Any, values: Floats) -> Likeliest:
    return Likeliest.of(Counts.of(mechanism.perturb(values, source=Seeded(3))), 16)


CASES = {
    "SW": (dt.SW(UNIT, epsilon=1), 10_000),
    "SW, few reports": (dt.SW(UNIT, epsilon=0.5), 300),
    "a circle": (dt.SW(dt.Circle(1), epsilon=1), 10_000),
    "bins with the same law": (dt.OGPM(UNIT, epsilon=1), 10_000),
    "another kernel": (dt.Staircase(UNIT, epsilon=2), 5000),
}


@pytest.mark.parametrize("name", CASES)
def test_ends_are_those_of_constrained_fits(name: str) -> None:
    mechanism, n = CASES[name]
    found = likeliest(mechanism, np.random.default_rng(5).beta(2, 5, n))
    fit = found.relaxed.fit
    top = climb(fit.operator, fit.counts, fit.probabilities, tolerance=1e-5, most=100_000)
    fits = Patient(top, found.relaxed.phantoms)
    for first, side in ((3, 1.0), (4, -1.0), (9, 1.0)):
        parts = np.zeros(found.shares.size)
        parts[8 * first : 8 * first + 8] = 1.0
        limit = max(side, 0.0)
        value = min(max(float(parts @ fits.probabilities), 0.0), 1.0)
        slow = ProfileInterval(value, fits, mean_quantity(parts, 0.0, 1.0), 0.0)._end(REACH, limit)
        fast = found.relaxed.farthest(parts, side, REACH, limit)
        assert fast is not None
        assert fast == pytest.approx(slow, abs=0.03 * abs(slow - value) / REACH + 1e-4)


def test_where_no_program_serves_fits_do() -> None:
    """Two answers tell a mean; the share of a bin can be nearly anything."""
    found = likeliest(dt.Duchi(UNIT, epsilon=1), np.full(2000, 0.4))
    share = found.between(0.25, 0.5)
    parts = (np.arange(128) // 8 == 4) * 1.0
    assert found.relaxed.farthest(parts, 1.0, REACH, 1.0) is None
    assert share.interval()[1] - share.interval()[0] > 0.9


def test_an_interval_holds_its_estimate_and_is_wider_at_a_higher_level() -> None:
    found = likeliest(dt.SW(UNIT, epsilon=2), np.random.default_rng(5).beta(2, 5, 3000))
    share = found.between(0.25, 0.5)
    ends = [share.interval(level) for level in (0.5, 0.95, 0.999)]
    assert all(low <= float(share) <= high for low, high in ends)
    assert [low for low, _ in ends] == sorted((low for low, _ in ends), reverse=True)
    assert [high for _, high in ends] == sorted(high for _, high in ends)
    assert share.covers(ends[1][1], 0.95)
    assert not share.covers(ends[1][1] + 0.01, 0.95)
