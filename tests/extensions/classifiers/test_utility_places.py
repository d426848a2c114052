"""The utility of two features that are one place: by Monte Carlo, within its bounds, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import dither as dt
from dither.errors import InvalidParameter

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
STEEP = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])


def test_two_coordinates_are_within_the_bounds_of_their_exact_utility() -> None:
    """TraCS-C randomises its coordinates independently, so that its utility is known exactly."""
    tracs = dt.TraCSC(SQUARE, epsilon=2)
    first, second = tracs.parts
    exact = dt.classifiers.utility(STEEP, [0.8, 0.5], dt.Each(x=first, y=second), names=["x", "y"]).lower
    found = dt.classifiers.utility(STEEP, [0.8, 0.5], tracs, confidence=1 - 1e-6, source=dt.Seeded(1))
    assert found.method == "Monte Carlo"
    assert found.queries == 20_000
    assert found.lower <= exact <= found.upper < found.lower + 0.05
    assert found.guarantee == tracs.guarantee


@pytest.mark.parametrize("kind", [dt.PlanarLaplace, dt.TraCSD])
def test_other_mechanisms_of_places(kind: Any) -> None:
    weak, strong = (
        dt.classifiers.utility(STEEP, [0.9, 0.9], kind(SQUARE, epsilon=epsilon), source=dt.Seeded(2))
        for epsilon in (0.5, 20)
    )
    assert weak.upper < strong.lower


def test_what_is_refused() -> None:
    tracs = dt.TraCSC(SQUARE, epsilon=2)
    with pytest.raises(InvalidParameter, match="Monte Carlo"):
        dt.classifiers.utility(STEEP, [0.8, 0.5], tracs, method="exact")
    with pytest.raises(InvalidParameter, match=r"expected a record of two features.*got 3"):
        dt.classifiers.utility(lambda rows: rows[:, 0] > 0.5, [0.8, 0.5, 0.1], tracs)
    with pytest.raises(InvalidParameter, match="confidence"):
        dt.classifiers.utility(STEEP, [0.8, 0.5], tracs, confidence=1)
