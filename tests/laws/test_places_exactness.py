"""The exact ε of a location: every report of small mechanisms at many places, borders included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.window.integers import Blocks, certify
from dither.core.kernels.window.kernel import SectorKernel
from dither.errors import InvalidParameter
from dither.mechanisms.places.base import PairMechanism
from dither.mechanisms.places.rivals import Sectors
from dither.privacy.exact import exp_below, log_above
from tests.support.broken.numbers import twin as broken

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
LONG = dt.Rectangle(dt.Interval(-3, -1), dt.Interval(0, 10))
DISK = dt.Disk(2.0, (1.0, 1.0))
TILTED = dt.maps.Parallelogram((0.0, 0.0), (2.0, 1.0), (-1.0, 1.0))

Make = Callable[..., PairMechanism]
MAKERS: dict[str, Make] = {
    "TraCS-C": partial(dt.TraCSC, SQUARE),
    "TraCS-C, long": partial(dt.TraCSC, LONG, split=0.3),
    "TraCS-C, SW": partial(dt.TraCSC, SQUARE, inner=partial(dt.SW, redesign=True)),
    "TraCS-C, tilted": partial(dt.TraCSC, TILTED),
    "TraCS-C, sphere": partial(dt.TraCSC, dt.Sphere()),
    "TraCS-D": partial(dt.TraCSD, SQUARE),
    "TraCS-D, corner": partial(dt.TraCSD, LONG, start=(-3.0, 0.0)),
    "TraCS-D, squared": partial(dt.TraCSD, SQUARE, direction=partial(dt.OGPM, loss="squared"), split=0.5),
    "TraCS-D, disk": partial(dt.TraCSD, DISK),
    "TraCS-D, tilted": partial(dt.TraCSD, TILTED),
    "strawman": partial(dt.rivals.Strawman, SQUARE),
}


def grid(area: Any, side: int = 5) -> np.ndarray:
    """Places all over an area, its edges and corners included."""
    if isinstance(area, dt.Sphere):
        return np.array(list(product(np.linspace(-180, 180, side), np.linspace(-90, 90, side))))
    box = area.box
    x, y = np.linspace(box.x.low, box.x.high, side), np.linspace(box.y.low, box.y.high, side)
    return np.unique(np.round(area.clip(np.array(list(product(x, y)))), 12), axis=0)


def largest_ratio(mechanism: PairMechanism, reference: object) -> Fraction | float:
    """The largest ratio of the probabilities of one report at two places of the grid."""
    laws = [
        [p for row in mechanism.probabilities(place, reference=reference) for p in row]
        for place in mechanism.area.clip(grid(mechanism.domain))
    ]
    assert all(sum(law) == 1 for law in laws)
    ratios = [(max(column), min(column)) for column in zip(*laws, strict=True)]
    return max(Fraction(high, low) if low else float("inf") for high, low in ratios)


@pytest.mark.some(every=5)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 14.0])
def test_every_ratio_is_within_the_guarantee(name: str, epsilon: float) -> None:
    mechanism = MAKERS[name](epsilon=epsilon, cells=8)
    bound = mechanism.guarantee.bound
    assert isinstance(bound, dt.privacy.Pure)
    assert bound.epsilon <= epsilon
    references = (
        [None]
        if isinstance(mechanism, dt.TraCSC)
        else [None, *mechanism.area.clip(grid(mechanism.domain, 3))]
    )
    worst = max(largest_ratio(mechanism, reference) for reference in references)
    assert worst <= exp_below(Fraction(bound.epsilon))
    assert log_above(Fraction(worst)) == bound.epsilon  # and it is reached: nothing is given away unseen


@pytest.mark.parametrize("epsilon", [1e-5, 0.1, 2.0, 20.0, 50.0])
@pytest.mark.parametrize("kind", [dt.TraCSC, dt.TraCSD, dt.rivals.Strawman, dt.PlanarLaplace])
def test_the_budget_is_kept_and_nearly_spent(kind: Any, epsilon: float) -> None:
    realised = kind(LONG, epsilon=epsilon).guarantee.epsilon
    assert epsilon * (1 - 2e-6) <= realised <= epsilon


def test_a_place_that_is_its_own_reference_is_randomised() -> None:
    """As coded, its direction is sent as it is, and the program stops."""
    mechanism = dt.TraCSD(SQUARE, epsilon=2.0, cells=8)
    law = mechanism.probabilities((0.5, 0.5), reference=(0.5, 0.5))
    assert all(p > 0 for row in law for p in row)
    assert mechanism.perturb(np.full((50, 3, 2), 0.5)).values.std() > 0.1


# ---------------------------------------------------------------------------------------- broken twins


class TooHonest(Sectors):  # type: ignore[misc]
    """k-RR as coded: a lie is told with probability 1/(k − 1 + e^ε) in all, among k others."""

    def _kernel(self) -> SectorKernel:
        fair = super()._kernel()
        window = fair.window
        return replace(
            fair, window=Blocks(window.cells, window.width, window.step // self.sectors, window.bits)
        )


class Shortcut(Sectors):  # type: ignore[misc]
    """`if epsilon > 10: return private_val`, "to avoid numerical error"."""

    def _kernel(self) -> SectorKernel:
        def listed(own: SectorKernel, value: float) -> list[Fraction]:
            truth = own.start.aim_one(value) % own.outcomes
            return [Fraction(int(cell == truth)) for cell in range(own.outcomes)]

        return broken(super()._kernel(), **({"_probabilities": listed} if self.epsilon > 10 else {}))


def twin(part: type[Sectors], epsilon: float) -> PairMechanism:
    return dt.TraCSD(SQUARE, epsilon=epsilon, cells=16, direction=partial(part, sectors=6))


def test_k_rr_with_the_missing_factor_is_rejected() -> None:
    fair, broken = dt.rivals.Strawman(SQUARE, epsilon=2.0, cells=16), twin(TooHonest, 2.0)
    assert largest_ratio(fair, None) <= exp_below(Fraction(2))
    assert largest_ratio(broken, None) > exp_below(Fraction(4))
    with pytest.raises(InvalidParameter):
        certify(broken.parts[0].question.kernel.window, exp_below(Fraction(broken.parts[0].epsilon)))
    # the realised ε of the direction, ln(k·(k − 2 + e^ε)) for k others: 3.94 for 1.52
    lied = broken.parts[0].question.kernel
    assert float(lied.ratio) == pytest.approx(6 * (4 + np.exp(broken.parts[0].epsilon)) + 5, rel=0.15)


def test_the_shortcut_above_ten_is_rejected() -> None:
    assert largest_ratio(dt.rivals.Strawman(SQUARE, epsilon=14.0, cells=16), None) <= exp_below(Fraction(14))
    assert largest_ratio(twin(Shortcut, 14.0), None) == float("inf")


def test_the_corner_trap() -> None:
    """From the paper's starting corner three directions of four lead nowhere; from the centre none does."""
    trapped = dt.TraCSD(SQUARE, epsilon=2.0, start=(0.0, 0.0))
    places = np.random.default_rng(1).random((40_000, 1, 2))
    stuck = (np.abs(trapped.perturb(places, source=dt.Seeded(1)).values) < 1e-6).all(axis=-1).mean()
    directions = np.arctan2(places[:, 0, 1], places[:, 0, 0])
    assert stuck == pytest.approx(1.0 - trapped.parts[0].cdf(np.pi / 2, directions).mean(), abs=0.01)
    assert stuck > 0.5
    free = dt.TraCSD(SQUARE, epsilon=2.0).perturb(np.full((4000, 3, 2), 0.5), source=dt.Seeded(1)).values
    assert len(np.unique(free.reshape(-1, 2), axis=0)) > 11_900
