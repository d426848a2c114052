"""The realised budget of lattices, against brute force over all pairs of inputs, and at every ε."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.channel import Channel
from dither.core.kernels.lattice.delta import excess, failure
from dither.core.kernels.lattice.integers import Bounded, Clamped, Ring, domain_base
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.lattice.noise import (
    End,
    Geometric,
    LatticeNoise,
    Stairs,
    fixed_exponential,
    largest_ratio,
)
from dither.errors import InvalidParameter, MalformedReport
from dither.mechanisms.numeric.gaussian import Calibration
from dither.privacy import PAC, Approximate, Pure
from dither.privacy.exact import exp_above, exp_below, log_above
from tests.support.travel import Change, changed

UNIT, WIDE, DEGREES = dt.Interval(0, 1), dt.Interval(-3, 7), dt.Circle(360)
POINTS = [-3, -1, 0, 2.5, 7]

PURE = {
    "Laplace": lambda eps, **more: dt.Laplace(WIDE, epsilon=eps, **more),
    "T-Laplace": lambda eps, **more: dt.Laplace(UNIT, epsilon=eps, **more).truncated(),
    "Staircase": lambda eps, **more: dt.Staircase(UNIT, epsilon=eps, **more),
    "Staircase, squared": lambda eps, **more: dt.Staircase(WIDE, epsilon=eps, loss="squared", **more),
    "BoundedLaplace": lambda eps, **more: dt.BoundedLaplace(WIDE, epsilon=eps, **more),
    "BoundedLaplace, 1/3": lambda eps, **more: dt.BoundedLaplace(
        UNIT, epsilon=eps, sensitivity=1 / 3, **more
    ),
    "Purkayastha": lambda eps, **more: dt.rivals.Purkayastha(DEGREES, epsilon=eps, **more),
}


def rows(mechanism: Any, units: Any) -> list[list[Fraction]]:
    return [mechanism.probabilities(float(mechanism.line.from_unit(np.asarray(unit)))) for unit in units]


def worst(laws: list[list[Fraction]]) -> Fraction:
    """The largest ratio of two probabilities of one report, over all pairs."""
    return max(Fraction(max(column), min(column)) for column in zip(*laws, strict=True))


@pytest.mark.some(every=8)
@pytest.mark.parametrize("name", [name for name in PURE if "1/3" not in name])
@pytest.mark.parametrize("epsilon", [0.02, 0.7, 3.0, 9.0])
@pytest.mark.parametrize("cells", [8, 64])
def test_no_pair_of_inputs_has_a_larger_ratio(name: str, epsilon: float, cells: int) -> None:
    mechanism = PURE[name](epsilon, cells=cells)
    laws = rows(mechanism, np.linspace(0, 1, 67))
    assert all(sum(law) == 1 and min(law) > 0 for law in laws)
    found = worst(laws)
    assert found <= mechanism.question.kernel.ratio <= exp_below(Fraction(epsilon))
    assert found >= 1 + (mechanism.question.kernel.ratio - 1) * Fraction(999_999, 1_000_000)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("sensitivity", [0.1, 1 / 3, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_bounded_laplace_over_all_pairs_that_are_near(epsilon: float, sensitivity: float) -> None:
    mechanism = dt.BoundedLaplace(UNIT, epsilon=epsilon, sensitivity=sensitivity, cells=64)
    steps, shift = mechanism.question.kernel.lattice.noise.reach, mechanism.question.kernel.lattice.shift
    assert shift >= sensitivity * steps
    laws = rows(mechanism, np.arange(steps + 1) / steps)
    near = max(
        max(one / two for one, two in zip(laws[a], laws[b], strict=True))
        for a, b in itertools.permutations(range(steps + 1), 2)
        if abs(a - b) <= shift
    )
    assert near <= mechanism.question.kernel.ratio <= exp_below(Fraction(epsilon))
    assert near >= 1 + (mechanism.question.kernel.ratio - 1) * Fraction(999, 1000)


def test_inputs_within_the_sensitivity_stay_within_the_shift() -> None:
    rng = np.random.default_rng(3)
    for sensitivity in (0.1, 0.25, 1 / 3, 0.7):
        mechanism = dt.BoundedLaplace(WIDE, epsilon=1.0, sensitivity=10 * sensitivity, cells=1 << 10)
        low = rng.uniform(-3, 7 - 10 * sensitivity, 20_000)
        high = np.minimum(low + 10 * sensitivity, 7.0)
        apart = mechanism.question.kernel.start.aim(high) - mechanism.question.kernel.start.aim(low)
        assert apart.max() <= mechanism.question.kernel.lattice.shift


@pytest.mark.some(every=7)
@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("epsilon", [1e-3, 0.01, 0.5, 1.0, 4.0, 12.0, 20.0])
def test_realised_budget_is_never_above_and_hardly_below(name: str, epsilon: float) -> None:
    mechanism = PURE[name](epsilon)
    finding = dt.audit(mechanism, assume=mechanism.guarantee.assumes)
    assert finding.ok
    assert isinstance(finding.bound, Pure)
    assert 0 <= epsilon - finding.realised <= min(1e-3 * epsilon, 2e-5)


@pytest.mark.some(every=7)
@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("epsilon", [1e-6, 1e-5, 3e-4, 30.0, 50.0])
def test_extreme_budgets(name: str, epsilon: float) -> None:
    mechanism = PURE[name](epsilon)
    assert 0.99 * epsilon <= dt.audit(mechanism).realised <= epsilon
    values = mechanism.line.from_unit(np.linspace(0, 1, 101))
    reports = mechanism.perturb(values, source=dt.Seeded(1))
    assert np.isfinite(reports.values).all()
    assert np.isfinite(mechanism.variance(values)).all()
    low, high = mechanism.support
    assert low <= reports.values.min() <= reports.values.max() <= high


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_the_ends_of_the_clamped_range_are_hardly_ever_reported(epsilon: float) -> None:
    for mechanism in (dt.Laplace(UNIT, epsilon=epsilon), dt.Staircase(UNIT, epsilon=epsilon)):
        top = mechanism.question.chances(1.0)[-1]
        assert 0 < top < 1.1e-10
        low, high = mechanism.support
        assert high - 1 == pytest.approx(-low, rel=1e-9)
        decoded = mechanism.question.decode(np.array([0, mechanism.question.outcomes - 1]))
        assert decoded.tolist() == pytest.approx([low, high], rel=1e-12)


# What broken twins look like to the audit.


def refused(mechanism: Any, lattice: Any) -> bool:
    """Say whether a device refuses a mechanism whose noise was replaced on the way."""
    kernel = LatticeKernel.on(mechanism.line, lattice).device()
    assert dt.from_json(changed(mechanism, device=lambda device: None)) == mechanism.question
    try:
        dt.from_json(changed(mechanism, device=lambda device: device.update(kernel)))
    except MalformedReport as error:
        return bool(re.search("that integers can represent|above the asked|would exceed", str(error)))
    return False


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_a_steeper_noise_is_refused(epsilon: float) -> None:
    """A base rounded down by a part in 2^60 spends more than ε: exact arithmetic sees it."""
    honest = dt.Laplace(UNIT, epsilon=epsilon)
    kernel = honest.question.kernel.lattice
    steps = kernel.last >> kernel.fraction
    base = fixed_exponential(Fraction(epsilon) / steps)
    for twin, bad in (
        (base - (base >> 60), True),
        (domain_base(epsilon, kernel.last, kernel.fraction, steps), False),
    ):
        noise = LatticeNoise(Geometric(), twin, kernel.noise.reach, End.PILED)
        assert refused(honest, Clamped(noise, kernel.last, kernel.fraction)) is bad


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_weights_made_of_floats_break_the_budget(epsilon: float) -> None:
    """The twin that most libraries ship: probabilities in doubles. Their ratios are not within e^ε."""
    honest = dt.Laplace(UNIT, epsilon=epsilon)
    steps, reach = honest.question.kernel.lattice.steps, honest.question.kernel.lattice.noise.reach
    floats = np.exp(-epsilon / steps * np.arange(reach))
    weights = tuple(int(Fraction(weight) * 2**128) for weight in floats.tolist())
    assert largest_ratio(weights[:-steps], weights[steps:]) > exp_above(Fraction(epsilon))


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_a_staircase_with_narrow_stairs_is_refused(epsilon: float) -> None:
    honest = dt.Staircase(UNIT, epsilon=epsilon)
    kernel, decay = honest.question.kernel.lattice, honest.question.kernel.lattice.noise.decay
    assert isinstance(decay, Stairs)
    noise = LatticeNoise(Stairs(decay.run - 1, decay.first), kernel.noise.base, kernel.noise.reach, End.PILED)
    assert refused(honest, Clamped(noise, kernel.last, kernel.fraction))


def test_bounded_laplace_without_its_normaliser_is_refused() -> None:
    """b = D/ε forgets that the totals differ: it realises 1.380 at ε = 1, D = 1/2."""
    honest = dt.BoundedLaplace(UNIT, epsilon=1.0, sensitivity=0.5)
    shift, steps = honest.question.kernel.lattice.shift, honest.question.kernel.lattice.noise.reach
    naive = Bounded(LatticeNoise(Geometric(), fixed_exponential(Fraction(1, shift)), steps, End.CUT), shift)
    assert log_above(naive.ratio) == pytest.approx(1.380, abs=5e-4)
    assert refused(honest, naive)


# Promises with a δ.


def brute_excess(laws: list[list[Fraction]], bound: Fraction) -> Fraction:
    return max(
        sum((max(Fraction(0), one - bound * two) for one, two in zip(a, b, strict=True)), Fraction(0))
        for a, b in itertools.permutations(laws, 2)
    )


def brute_failure(laws: list[list[Fraction]], bound: Fraction) -> Fraction:
    return max(
        sum((one for one, two in zip(a, b, strict=True) if one > bound * two), Fraction(0))
        for a, b in itertools.permutations(laws, 2)
    )


@pytest.mark.some(every=10)
@pytest.mark.parametrize("calibration", ["analytic", "pac"])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.01, 0.02), (0.3, 0.05), (1.0, 1e-3), (4.0, 0.1), (9.0, 1e-4)]
)
@pytest.mark.parametrize("cells", [32, 128])
def test_delta_against_brute_force(
    calibration: Calibration, epsilon: float, delta: float, cells: int
) -> None:
    mechanism = dt.Gaussian(UNIT, epsilon=epsilon, delta=delta, calibration=calibration, cells=cells)
    laws = rows(mechanism, [*np.linspace(0, 1, 9), 0.001, 0.01, 0.03, 0.97, 0.99, 0.999])
    bound = exp_below(Fraction(epsilon))
    spent = Fraction(mechanism.question.promise.bound.delta)
    if calibration == "pac":
        assert brute_failure(laws, bound) <= spent <= Fraction(delta)
        assert failure(mechanism.question.kernel.lattice, bound) <= spent
    else:
        brute = brute_excess(laws, bound)
        assert brute <= spent <= Fraction(delta)
        assert brute >= spent * Fraction(999, 1000)
        assert excess(mechanism.question.kernel.lattice, bound) <= spent


@pytest.mark.some(every=5)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-3, 1e-6), (0.5, 1e-9), (1.0, 1e-5), (5.0, 1e-3), (20.0, 1e-6)]
)
def test_delta_at_full_size(epsilon: float, delta: float) -> None:
    analytic = dt.Gaussian(WIDE, epsilon=epsilon, delta=delta)
    finding = dt.audit(analytic)
    assert finding.ok
    assert isinstance(finding.bound, Approximate)
    assert finding.realised == epsilon
    assert 0.999 * delta <= finding.realised_delta <= delta
    probable = dt.Gaussian(WIDE, epsilon=epsilon, delta=delta, calibration="pac")
    assert isinstance(probable.guarantee.bound, PAC)
    tail = epsilon * probable.sigma / 10 - 5 / probable.sigma
    assert probable.guarantee.bound.delta == pytest.approx(math.erfc(tail / math.sqrt(2)) / 2, rel=2e-2)
    assert dt.audit(probable).ok


@pytest.mark.some(every=8)
@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 35.0, 50.0])
@pytest.mark.parametrize("calibration", ["analytic", "pac"])
def test_gaussian_at_extreme_budgets(epsilon: float, calibration: Calibration) -> None:
    for delta in (1e-12, 1e-3, 0.3):
        mechanism = dt.Gaussian(UNIT, epsilon=epsilon, delta=delta, calibration=calibration)
        assert dt.audit(mechanism).ok
        assert np.isfinite(mechanism.perturb(np.linspace(0, 1, 50)).values).all()


def test_the_classic_calibration_is_refused_where_it_is_wrong() -> None:
    fine = dt.Gaussian(UNIT, epsilon=0.9, delta=1e-5, calibration="classic")
    assert dt.audit(fine).ok
    assert fine.sigma > fine.at(0.9).sigma * 0.999
    assert fine.sigma > dt.Gaussian(UNIT, epsilon=0.9, delta=1e-5).sigma
    with pytest.raises(InvalidParameter, match="analytic"):
        dt.Gaussian(UNIT, epsilon=10.0, delta=1e-2, calibration="classic")


def test_narrow_normal_noise_is_refused() -> None:
    honest = dt.Gaussian(UNIT, epsilon=1.0, delta=1e-5)
    narrow, wide = (dt.Gaussian(UNIT, epsilon=epsilon, delta=1e-5) for epsilon in (1.001, 0.999))
    assert 0.99 < narrow.sigma / honest.sigma < 1 < wide.sigma / honest.sigma < 1.01
    assert refused(honest, narrow.question.kernel.lattice)
    assert not refused(honest, wide.question.kernel.lattice)


# Channels.


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0, 20.0, 50.0])
def test_exponential_over_all_pairs(epsilon: float) -> None:
    for mechanism in (
        dt.Exponential(WIDE, POINTS, epsilon=epsilon),
        dt.Exponential(UNIT, np.linspace(0, 1, 11), epsilon=epsilon, sensitivity=0.5),
        dt.Exponential(DEGREES, range(0, 360, 45), epsilon=epsilon),
    ):
        laws = [mechanism.probabilities(point) for point in mechanism.points]
        assert all(sum(law) == 1 and min(law) > 0 for law in laws)
        assert worst(laws) == mechanism.question.kernel.ratio <= exp_below(Fraction(epsilon))
        assert dt.audit(mechanism).ok
    full = dt.Exponential(UNIT, np.linspace(0, 1, 11), epsilon=epsilon, sensitivity=0.5)
    assert dt.audit(full).realised == pytest.approx(epsilon, rel=1e-7)


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0, 50.0])
def test_exponential_spends_all_of_its_budget(epsilon: float) -> None:
    """On uneven points the rows have different sums, so no sensitivity is right for all of them."""
    for domain, points in ((WIDE, POINTS), (UNIT, [0, 0.1, 0.7]), (DEGREES, [10, 100, 350])):
        made = dt.Exponential(domain, points, epsilon=epsilon)
        assert epsilon * (1 - 2e-6) <= made.guarantee.epsilon <= epsilon
        assert dt.audit(made).realised == pytest.approx(epsilon, rel=2e-6)
        printed = dt.Exponential(domain, points, epsilon=epsilon, as_published=True)
        assert printed.guarantee.epsilon < 0.6 * epsilon


def test_exponential_is_as_accurate_as_its_budget_allows() -> None:
    points = np.linspace(0, 1, 101)
    full, printed = (dt.Exponential(UNIT, points, epsilon=2, as_published=half) for half in (False, True))
    assert full.worst_error("absolute") == pytest.approx(0.341, abs=5e-4)
    assert printed.worst_error("absolute") == pytest.approx(0.416, abs=5e-4)


def test_a_sensitivity_that_breaks_the_budget_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="sensitivity"):
        dt.Exponential(UNIT, np.linspace(0, 1, 11), epsilon=1.0, sensitivity=0.4)
    with pytest.raises(InvalidParameter, match="at least 1e-12"):
        dt.Exponential(UNIT, [0, 1], epsilon=1.0, sensitivity=0)


def test_channels_are_checked() -> None:
    total = 1 << 128
    assert Channel(((1, total - 1), (total - 1, 1))).ratio == total - 1
    assert float(Channel(((1, 2), (2, 1))).ratio) == 2.0
    for bad in (((total, 0), (0, total)), ((1, total - 1), (total,)), ((),), ()):
        with pytest.raises(InvalidParameter):
            Channel(bad)
    assert [sum(row) for row in Channel.of([[1, 2, 3], [5, 1, 1]]).rows] == [total, total]


# The wire.


@pytest.mark.parametrize("name", PURE)
def test_the_integers_travel(name: str) -> None:
    mechanism = PURE[name](0.7, cells=256)
    again = dt.from_json(mechanism.to_json())
    assert again.design() == mechanism
    assert again.fingerprint == mechanism.fingerprint
    assert again.kernel == mechanism.question.kernel

    def refused_from_the_wire(change: Change) -> None:
        with pytest.raises(MalformedReport):
            dt.from_json(changed(mechanism, change))

    refused_from_the_wire(lambda device: device.update(PURE[name](0.8, cells=256).question.device()))
    refused_from_the_wire(lambda device: device.pop("lattice"))
    refused_from_the_wire(lambda device: device.update(lattice=3))
    refused_from_the_wire(lambda device: device["lattice"]["noise"].update(digest="0" * 16))
    refused_from_the_wire(lambda device: device["start"].update(fraction=3))


def test_a_smaller_sensitivity_is_refused_from_the_wire() -> None:
    whole, near = (dt.BoundedLaplace(UNIT, epsilon=1.0, sensitivity=d, cells=256) for d in (1.0, 0.5))
    for asked in (whole, dt.BoundedLaplace(UNIT, epsilon=1.0, cells=256)):
        with pytest.raises(MalformedReport, match=r"certified for values up to .* steps apart, got 64 steps"):
            dt.from_json(changed(asked, lambda device: device.update(near.question.device())))


def test_a_gentler_noise_is_accepted_from_the_wire() -> None:
    """A collector reads what an older version sent, if it keeps the promise."""
    mechanism, older = (dt.Laplace(UNIT, epsilon=eps, cells=256) for eps in (0.7, 0.699))
    read = dt.from_json(changed(mechanism, lambda device: device.update(older.question.device())))
    assert read.kernel == older.question.kernel
    assert dt.audit(read).realised <= 0.699


def test_gaussian_and_exponential_travel() -> None:
    for mechanism in (
        dt.Gaussian(WIDE, epsilon=1.0, delta=1e-4, calibration="pac", cells=256),
        dt.Exponential(WIDE, POINTS, epsilon=1.0),
    ):
        again = dt.from_json(mechanism.to_json())
        assert again.design() == mechanism
        assert again.fingerprint == mechanism.fingerprint
        reports = mechanism.perturb(np.linspace(-3, 7, 40), source=dt.Seeded(2))
        assert dt.from_bytes(reports.to_bytes()) == reports


@pytest.mark.parametrize("end", End)
def test_noise_that_ends_in_another_way_is_refused(end: End) -> None:
    """The ratio of a lattice is proved for one way in which its noise ends."""
    noise = LatticeNoise(Geometric(), fixed_exponential(Fraction(1, 2)), 40, end)
    lattices = {
        End.RING: lambda: Ring(noise),
        End.CUT: lambda: Bounded(noise, 2),
        End.PILED: lambda: Clamped(noise, 20, 8),
    }
    for wanted, make in lattices.items():
        if wanted is end:
            make()
        else:
            with pytest.raises(InvalidParameter, match=rf"expected noise with {re.escape(str(wanted))}"):
                make()
