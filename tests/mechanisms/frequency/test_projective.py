"""Projective response: which geometry, how much variance, which bytes make which report, exact counts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.kernels.sets.projective import Geometry, ProjectiveKernel
from dither.core.kernels.sets.subsets import SubsetBits
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.randomness import Source
from dither.mechanisms.frequency.projective import best_geometry
from dither.privacy.exact import exp_below

ALARM = 1e-6


class Bytes(Source):
    """A source of prepared bytes."""

    def __init__(self, data: bytes) -> None:
        self.left = data

    def fill(self, buffer: memoryview | bytearray) -> None:
        memoryview(buffer).cast("B")[:] = self.take(memoryview(buffer).nbytes)

    def take(self, size: int) -> bytes:
        taken, self.left = self.left[:size], self.left[size:]
        assert len(taken) == size
        return taken

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return False


def _subsets(k: int, epsilon: float) -> float:
    """The average variance of subset selection with the best size, in closed form [Ye18]."""
    E, best = math.exp(epsilon), math.inf
    for w in {max(1, int(k / (E + 1))), int(k / (E + 1)) + 1}:
        p = w * E / (w * E + k - w)
        q = (p * (w - 1) + (1 - p) * w) / (k - 1)
        best = min(best, (p * (1 - p) / k + (k - 1) / k * q * (1 - q)) / (p - q) ** 2)
    return best


@pytest.mark.some(every=4)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5, 0.8, 1.0, 1.3, 1.7, 2.0, 2.5, 3.0, 3.3, 3.7, 4.0])
def test_at_most_three_per_cent_above_subset_selection(epsilon: float) -> None:
    for k in (1024, 1500, 2048, 3000, 4096, 10_000, 16_384, 65_536):
        mechanism = dt.ProjectiveResponse(dt.Categories(k), epsilon=epsilon)
        assert mechanism.variance(1 / k) <= 1.03 * _subsets(k, epsilon)
        assert mechanism.report_bytes <= 4


@pytest.mark.parametrize(
    ("k", "epsilon", "q", "t", "ratio"),
    [
        (64, 0.5, 3, 5, 1.027),
        (64, 1, 4, 4, 1.014),
        (64, 2, 8, 3, 1.009),
        (1024, 0.5, 3, 7, 1.010),
        (1024, 1, 4, 6, 1.003),
        (1024, 2, 8, 5, 1.004),
        (1024, 4, 53, 3, 1.018),
    ],
)
def test_the_published_table(k: int, epsilon: float, q: int, t: int, ratio: float) -> None:
    mechanism = dt.ProjectiveResponse(dt.Categories(k), epsilon=epsilon)
    assert mechanism.question.kernel.geometry == Geometry(q, t)
    assert mechanism.variance(1 / k) / _subsets(k, epsilon) == pytest.approx(ratio, abs=6e-4)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("k", [2, 3, 10, 13, 50, 300, 2000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.2, 4.0, 8.0])
def test_no_other_small_geometry_is_better(k: int, epsilon: float) -> None:
    """Against all orders up to 200 and all dimensions, with the variance written in floats."""
    E = math.exp(epsilon)

    def variance(shape: Geometry) -> float:
        total = shape.block * E + shape.points - shape.block
        p, q = shape.block * E / total, (shape.meeting * E + shape.block - shape.meeting) / total
        return (p * (1 - p) + (k - 1) * q * (1 - q)) / (k * (p - q) ** 2)

    chosen = variance(best_geometry(epsilon, k))
    for order in range(2, 200):
        for dimension in range(2, 12):
            try:
                shape = Geometry(order, dimension)
            except InvalidParameter:
                continue
            if shape.points >= k:
                assert chosen <= variance(shape) * (1 + 1e-12)


def test_one_point_to_a_hyperplane_is_randomized_response() -> None:
    mechanism = dt.ProjectiveResponse(dt.Categories(5), epsilon=3)
    other = dt.KRR(dt.Categories(5), epsilon=3)
    assert mechanism.question.kernel.geometry.block == 1
    assert (mechanism.p, mechanism.q) == pytest.approx((other.p, other.q), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 4.0, 26.0, 27.0, 50.0])
@pytest.mark.parametrize("k", [2, 7, 100])
def test_rates_are_those_of_subsets_of_the_points(k: int, epsilon: float) -> None:
    """A difference set is as good as all sets of its size on its points."""
    kernel = dt.ProjectiveResponse(dt.Categories(k), epsilon=epsilon).question.kernel
    assert kernel.ratio <= exp_below(Fraction(epsilon))
    if kernel.outcomes > 2 and kernel.geometry.block < kernel.outcomes:
        twin = SubsetBits.largest(epsilon, kernel.outcomes, kernel.geometry.block)
        for one, two in zip(kernel.rates, twin.rates, strict=True):
            assert float(one) == pytest.approx(float(two), rel=1e-9)


def test_a_weight_rounded_up_is_rejected() -> None:
    mechanism = dt.ProjectiveResponse(dt.Categories(20), epsilon=1)
    kernel = mechanism.question.kernel
    twin = ProjectiveKernel(kernel.geometry, kernel.inside + 1, kernel.outside, kernel.bits)
    assert twin.ratio > exp_below(Fraction(1))
    with pytest.raises(InvalidParameter, match="ε"):
        replace(mechanism.question, kernel=twin, made_by=None)


@pytest.mark.parametrize(("k", "epsilon"), [(20, 1.0), (1000, 30.0)])
def test_the_bytes_of_one_draw(k: int, epsilon: float) -> None:
    """As docs/wire.md says, at both ends of every share of the words that is looked at."""
    kernel = dt.ProjectiveResponse(dt.Categories(k), epsilon=epsilon).question.kernel
    shape, H, L, size = kernel.geometry, kernel.inside, kernel.outside, kernel.bits // 8
    members = sorted(np.flatnonzero(shape.holds).tolist())
    others = sorted(set(range(shape.points)) - set(members))
    told = shape.block * H
    for code in (0, 1, k - 1):
        for number, d in list(enumerate(members))[:4] + list(enumerate(members))[-2:]:
            for u in (number * H, number * H + H - 1):
                assert kernel.draw_one(code, Bytes(u.to_bytes(size, "little"))) == (d - code) % shape.points
        for number, d in list(enumerate(others))[:4] + list(enumerate(others))[-2:]:
            for u in (told + number * L, told + number * L + L - 1):
                assert kernel.draw_one(code, Bytes(u.to_bytes(size, "little"))) == (d - code) % shape.points
    again = kernel.total.to_bytes(size, "little") + b"\xff" * size + b"\0" * size
    assert kernel.draw_one(1, Bytes(again)) == (members[0] - 1) % shape.points


def test_arrays_use_words_as_single_draws_do() -> None:
    kernel = dt.ProjectiveResponse(dt.Categories(64), epsilon=1).question.kernel
    words = np.random.default_rng(5).integers(0, kernel.total, 500, dtype=np.uint64)
    codes = np.arange(500) % 64
    reports = np.empty(500, dtype=kernel.layout)
    kernel.write(codes, reports, Bytes(words.tobytes()))
    one_by_one = [
        kernel.draw_one(int(code), Bytes(int(word).to_bytes(8, "little")))
        for code, word in zip(codes, words, strict=True)
    ]
    assert reports.tolist() == one_by_one
    words[7] = np.uint64(kernel.total)
    kernel.write(codes, reports, Bytes(words.tobytes() + bytes(8)))
    assert int(reports[7]) == (int(kernel.geometry.members[0]) - 7) % kernel.outcomes


@pytest.mark.parametrize(("k", "epsilon"), [(64, 1.0), (300, 2.0), (1000, 4.0)])
def test_reports_follow_the_law_and_a_shifted_set_does_not(k: int, epsilon: float) -> None:
    kernel = dt.ProjectiveResponse(dt.Categories(k), epsilon=epsilon).question.kernel
    reports = kernel.draw(np.full(400_000, 17), dt.Seeded(3))
    counts = np.bincount(reports, minlength=kernel.outcomes)
    for code, fits in ((17, True), (18, False)):
        p = float(stats.chisquare(counts, kernel.chances(code) * counts.sum()).pvalue)
        assert (p > ALARM) is fits


@pytest.mark.parametrize(("k", "epsilon"), [(10, 0.5), (500, 2.0), (2000, 4.0)])
def test_counts_are_exact_whatever_they_are(k: int, epsilon: float) -> None:
    """Sums of integers, also where a float would not hold them: hostile counts up to 2^50 in one cell."""
    mechanism = dt.ProjectiveResponse(dt.Categories(k), epsilon=epsilon)
    shape = mechanism.question.kernel.geometry
    rng = np.random.default_rng(2)
    counts = np.where(rng.random(shape.points) < 0.02, 1 << 50, rng.integers(0, 3, shape.points))
    found = mechanism.supports(counts)
    for x in {0, 1, k // 2, k - 1}:
        inside = (np.flatnonzero(shape.holds) - x) % shape.points
        assert int(found[x]) == int(counts[inside].sum())
    reports = mechanism.perturb(np.arange(200) % k, source=dt.Seeded(1))
    assert mechanism.supports(mechanism.question.counting.count(reports.cells)).tolist() == (
        reports.values.sum(axis=0).tolist()
    )


def test_too_many_categories() -> None:
    with pytest.raises(InvalidParameter, match="1048576 categories"):
        dt.ProjectiveResponse(dt.Categories((1 << 20) + 1), epsilon=1)
    assert dt.ProjectiveResponse(dt.Categories(1 << 20), epsilon=4).question.outcomes <= 1 << 21


@pytest.mark.parametrize(
    "change",
    [
        {"order": 6},
        {"order": 1 << 40},
        {"dimension": 1},
        {"dimension": 1 << 50},
        {"polynomial": [1, 1, 1, 1, 1, 1, 1, 1]},
        {"set": "0" * 32},
        {"own": "2", "other": "1"},
        {"own": "f" * 17},
        {"bits": 96},
    ],
)
def test_hostile_device_texts(change: dict[str, object]) -> None:
    device = {**dt.ProjectiveResponse(dt.Categories(64), epsilon=1).question.kernel.device(), **change}
    with pytest.raises((MalformedReport, InvalidParameter)):
        ProjectiveKernel.from_device(device, dt.Categories(64))


def test_a_kernel_with_too_few_points_is_refused() -> None:
    small = dt.ProjectiveResponse(dt.Categories(10), epsilon=1).question.kernel
    with pytest.raises(InvalidParameter, match="for another domain"):
        replace(dt.ProjectiveResponse(dt.Categories(500), epsilon=1).question, kernel=small)
