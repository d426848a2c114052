"""The rivals: what they really spend, as published and repaired; broken twins; the published errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core import registry
from dither.core.domains import Paths
from dither.core.kernels.alias import Grades, draw, largest_ratio
from dither.core.kernels.places.two_copies import TwoCopies
from dither.core.kernels.window.integers import Blocks
from dither.errors import InvalidParameter
from dither.mechanisms.places.base import grid
from dither.privacy import Nothing, Pure
from dither.privacy.exact import exp_below
from tests.support.chi_square import ALARM, p_value
from tests.support.repository import reference

TARGETS = reference("tracs")
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
SMALL = grid(SQUARE, 4)


def law(mechanism: Any, row: int) -> list[Fraction]:
    weights = mechanism.question.kernel.weights(np.array([row]))[0].tolist()
    return [Fraction(weight, sum(weights)) for weight in weights]


def worst_ratio(laws: list[list[Fraction]]) -> Fraction | float:
    columns = list(zip(*laws, strict=True))
    if any(min(column) == 0 < max(column) for column in columns):
        return math.inf
    return max(max(column) / min(column) for column in columns if max(column))


# ------------------------------------------------------------------------------------------ the kernel


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 2.0, 10.0, 50.0])
def test_bounds_of_weights_keep_epsilon(epsilon: float) -> None:
    grade = Grades.largest(epsilon)
    assert grade.ratio <= exp_below(Fraction(epsilon))
    if epsilon <= 10:
        assert float(grade.ratio) == pytest.approx(math.exp(epsilon), rel=1e-8)
    scores = np.random.default_rng(1).random((5, 7)) * 3 - 1  # even scores that make no sense
    weights = grade.weights(scores)
    assert weights.min() >= grade.low
    assert weights.max() <= grade.high


def test_any_scores_are_private() -> None:
    """The proof needs nothing of the scores: random ones, five inputs, seven candidates."""
    grade = Grades.largest(1.0)
    for seed in range(20):
        weights = grade.weights(np.round(np.random.default_rng(seed).random((5, 7)))).tolist()
        laws = [[Fraction(w, sum(row)) for w in row] for row in weights]
        assert worst_ratio(laws) <= exp_below(Fraction(1))


def test_draws_follow_the_weights() -> None:
    weights = np.array([[1, 2, 3, 4], [10, 0, 5, 5]])
    drawn = draw(np.repeat(weights, 50_000, axis=0), dt.Seeded(1)).reshape(2, -1)
    for row, wanted in zip(drawn, weights, strict=True):
        counts = np.bincount(row, minlength=4)
        kept = wanted > 0
        assert counts[~kept].sum() == 0
        assert stats.chisquare(counts[kept], wanted[kept] / wanted.sum() * row.size).pvalue > ALARM
    twin = np.bincount(drawn[0], minlength=4)
    assert stats.chisquare(twin, np.array([1.1, 2, 3, 3.9]) / 10 * drawn[0].size).pvalue < ALARM


# ------------------------------------------------------------------------------ what is really spent


@pytest.mark.parametrize(
    "kind", [dt.rivals.NGram, dt.rivals.LSRR, dt.rivals.LSRR.as_meant, dt.rivals.LSRR.as_published]
)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_guarantee_is_the_enumerated_one(kind: Any, epsilon: float) -> None:
    mechanism = kind(SQUARE, SMALL, epsilon=epsilon)
    worst = worst_ratio([law(mechanism, row) for row in range(len(SMALL))])
    spent = mechanism.guarantee.epsilon
    assert float(worst) <= math.exp(spent) * (1 + 1e-12)
    assert math.log(float(worst)) == pytest.approx(spent, abs=1e-10)


def test_repaired_rivals_keep_their_budget() -> None:
    for epsilon in (0.5, 2.0, 10.0):
        for full in (
            dt.rivals.NGram(SQUARE, SMALL, epsilon=epsilon),
            dt.rivals.Gridding(SQUARE, epsilon=epsilon, side=5),
        ):
            assert epsilon * (1 - 2e-6) <= full.guarantee.epsilon <= epsilon
        spent = dt.rivals.LSRR(SQUARE, SMALL, epsilon=epsilon).guarantee.epsilon
        assert epsilon * (1 - 1e-6) <= spent <= epsilon
        assert (
            epsilon * (1 - 1e-6) <= dt.rivals.ATP(SQUARE, SMALL, epsilon=epsilon).guarantee.epsilon <= epsilon
        )


def test_published_rivals_do_not() -> None:
    points = grid(SQUARE, 11)
    assert isinstance(dt.rivals.NGram.as_published(SQUARE, points, epsilon=2.0).guarantee.bound, Nothing)
    assert isinstance(dt.rivals.ATP.as_published(SQUARE, points, epsilon=2.0).guarantee.bound, Nothing)
    assert "depends on the true location" in str(
        dt.rivals.NGram.as_published(SQUARE, points, epsilon=2.0).guarantee
    )
    meant = dt.rivals.LSRR.as_meant(SQUARE, points, epsilon=2.0).guarantee
    assert meant.bound == Pure(meant.epsilon)
    assert meant.epsilon == pytest.approx(2.75, abs=0.05)  # claimed: 2
    assert dt.rivals.LSRR.as_meant(SQUARE, points, epsilon=10.0).guarantee.epsilon == pytest.approx(
        11.1, abs=0.1
    )
    coded = dt.rivals.LSRR.as_published(SQUARE, points, epsilon=2.0).guarantee.epsilon
    assert math.log(2) < coded < 1.0  # and here less than claimed
    for half in (
        dt.rivals.NGram(SQUARE, points, epsilon=2.0, reach=1.0),
        dt.rivals.Gridding(SQUARE, epsilon=2.0, as_published=True),
    ):
        assert half.guarantee.epsilon == pytest.approx(1.06, abs=0.01)


def test_a_reach_over_everything_is_no_restriction() -> None:
    assert isinstance(dt.rivals.NGram(SQUARE, SMALL, epsilon=1.0, reach=1.0).guarantee.bound, Pure)


# -------------------------------------------------------------------------------------- sectors of ATP


def middle_law(kernel: TwoCopies, left: int, truth: int, right: int) -> list[float]:
    """Return the law of a copy's middle location: two neighbours tell a sector each, then all is by chance.

    Written from the description: a neighbour sees the truth in one of k fixed sectors and tells it by k-RR;
    the candidates lie in both sectors that were told, and are all points if none does.
    """
    points, k = np.asarray(kernel.points), kernel.sectors
    own, other = (
        Fraction(weight, kernel.sector.total) for weight in (kernel.sector.inside, kernel.sector.outside)
    )
    seen = []
    for neighbour in (left, right):
        gaps = points - points[neighbour]
        seen.append([int(math.atan2(y, x) % (2 * math.pi) / (2 * math.pi / k)) for x, y in gaps])
    law = [Fraction(0)] * len(points)
    for one, two in product(range(k), repeat=2):
        chance = math.prod(
            own if told == sectors[truth] else other for told, sectors in zip((one, two), seen, strict=True)
        )
        both = [j for j in range(len(points)) if (seen[0][j], seen[1][j]) == (one, two)] or range(len(points))
        for j in both:
            law[j] += chance / len(both)
    return [float(chance) for chance in law]


def test_told_sectors_follow_k_rr_and_centred_ones_are_rejected() -> None:
    """Points on a circle, of which the truth is the last: then a report is the candidate that was chosen.

    Anchors are told as they are (the next point weighs 2^−18), and candidates are chosen alike.
    """
    points = tuple((math.cos(turn), math.sin(turn)) for turn in 2 * math.pi * np.arange(7) / 7 + 0.1)
    sector = Blocks.largest(1.5, 6)
    kernel = TwoCopies(points, Grades(1), sector, Grades(Grades.MOST))
    twin = replace(kernel, odds=math.exp(1.5))  # as published: sectors about the true direction, seldom lies
    for left, right in ((0, 1), (3, 1), (4, 5)):
        law = middle_law(kernel, left, 6, right)
        path = np.asarray(points)[[left, 6, right]]
        paths = Paths.of(np.broadcast_to(path, (30_000, 3, 2)))
        for drawn, follows in ((kernel, True), (twin, False)):
            told = drawn.draw_paths(paths, dt.Seeded(3)).reshape(-1, 3)[:, 1]
            assert (p_value(told, law) > ALARM) is follows


def test_the_budget_of_a_sector() -> None:
    sector = dt.rivals.ATP(SQUARE, grid(SQUARE, 6), epsilon=8.0).question.kernel.sector
    fair = float(Fraction(sector.inside, sector.total))
    assert fair == pytest.approx(math.exp(1.5) / (5 + math.exp(1.5)), rel=1e-6)


def test_budgets_of_a_location_in_atp_add_up() -> None:
    for epsilon in (0.3, 2.0, 7.7):
        kernel = dt.rivals.ATP(SQUARE, SMALL, epsilon=epsilon).question.kernel
        anchor, sector, choice = kernel.anchor, kernel.sector, kernel.choice
        assert anchor.ratio <= exp_below(Fraction(epsilon) / 2)
        assert sector.ratio**2 * choice.ratio <= exp_below(Fraction(epsilon) / 2 * (1 + Fraction(1, 10**12)))


# --------------------------------------------------------------------------- the published experiments


def locations(paths: int, seed: int = 1) -> np.ndarray:
    """Random places of the 11 × 11 grid as the authors draw them: never on the upper edges."""
    return np.random.default_rng(seed).integers(0, 10, (paths, 100, 2)) / 10.0


RIVALS: dict[str, Any] = {
    "atp_as_coded": dt.rivals.ATP.as_published,
    "atp_fixed_sectors_correct_krr": dt.rivals.ATP,
    "ngram_as_coded": dt.rivals.NGram.as_published,
    "em_full_domain": partial(dt.rivals.NGram, reach=1.0),
    "srr_as_coded": dt.rivals.LSRR.as_published,
    "srr_c_exp_eps": dt.rivals.LSRR.as_meant,
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", RIVALS)
def test_errors_on_the_grid(name: str) -> None:
    target = TARGETS["discrete_grid10_10traj"]
    points, places = grid(SQUARE, 11), locations(30)
    for epsilon, wanted in zip(target["eps"], target[name], strict=True):
        noisy = RIVALS[name](SQUARE, points, epsilon=epsilon).perturb(places, source=dt.Seeded(2)).values
        measured = np.linalg.norm(noisy - places, axis=-1).mean()
        assert measured == pytest.approx(wanted, rel=target["rel_tol"])


@pytest.mark.parametrize(("name", "kind"), [("tracs_d_nearest", dt.TraCSD), ("tracs_c_nearest", dt.TraCSC)])
def test_tracs_rounded_to_the_grid(name: str, kind: Any) -> None:
    target = TARGETS["discrete_grid10_10traj"]
    reading, places = dt.maps.Rounded(grid(SQUARE, 11)), locations(100)
    for epsilon, wanted in zip(target["eps"], target[name], strict=True):
        mechanism = kind(SQUARE, epsilon=epsilon, reading=reading)
        measured = np.linalg.norm(
            mechanism.perturb(places, source=dt.Seeded(2)).values - places, axis=-1
        ).mean()
        assert measured == pytest.approx(wanted, rel=target["rel_tol"])


def test_gridding_as_figure_d3_says() -> None:
    """A fixed location, the corner: coarse and fine grids are worse than TraCS-C at every ε."""
    published = TARGETS["published_csv"]["figD.3_gridding"]

    def error(mechanism: Any) -> float:
        reports = mechanism.perturb(np.zeros((4_000, 1, 2)), source=dt.Seeded(4))
        return float(np.linalg.norm(reports.values, axis=-1).mean())

    for index, epsilon in enumerate(published["epsilon"]):
        own = error(dt.TraCSC(SQUARE, epsilon=epsilon))
        coarse, fine = (
            error(dt.rivals.Gridding(SQUARE, epsilon=epsilon, side=side, as_published=True))
            for side in (10, 30)
        )
        full = error(dt.rivals.Gridding(SQUARE, epsilon=epsilon))
        assert own < full < coarse
        assert own < min(coarse, fine)
        assert own == pytest.approx(published["results_tracs_c"][index], abs=0.035)  # 500 draws published
        assert coarse == pytest.approx(published["results_10"][index], abs=0.045)


# ------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("kind", "points", "more"),
    [
        (dt.rivals.NGram, [(0, 0)], {}),
        (dt.rivals.NGram, [(0, 0), (0, 0)], {}),
        (dt.rivals.NGram, [(0, 0), (2, 0)], {}),
        (dt.rivals.NGram, [(0, 0), (math.nan, 0)], {}),
        (dt.rivals.NGram, "points", {}),
        (dt.rivals.NGram, SMALL, {"reach": 0.0}),
        (dt.rivals.NGram, SMALL, {"reach": "far"}),
        (dt.rivals.LSRR, SMALL, {"rings": (0.6, 0.3)}),
        (dt.rivals.LSRR, SMALL, {"rings": 0.3}),
        (dt.rivals.LSRR, SMALL, {"contrast": "e^ε"}),
        (dt.rivals.ATP, SMALL, {"sectors": 1}),
        (dt.rivals.ATP, SMALL, {"epsilon": 0.0}),
    ],
)
def test_bad_parameters(kind: Any, points: Any, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        kind(SQUARE, points, **{"epsilon": 1.0, **more})


@pytest.mark.parametrize(
    "mechanism",
    [
        dt.rivals.NGram(SQUARE, SMALL, epsilon=2.0),
        dt.rivals.NGram.as_published(SQUARE, SMALL, epsilon=2.0),
        dt.rivals.LSRR(SQUARE, SMALL, epsilon=2.0, unit="trajectory"),
        dt.rivals.LSRR.as_meant(SQUARE, SMALL, epsilon=2.0),
        dt.rivals.ATP(SQUARE, SMALL, epsilon=2.0),
        dt.rivals.Gridding(SQUARE, epsilon=2.0),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_shapes_and_the_wire(mechanism: Any) -> None:
    paths = [np.full((length, 2), 0.3) for length in (1, 2, 3, 8)]
    reports = mechanism.perturb(paths, source=dt.Seeded(1))
    assert reports.values.shape == (14, 2)
    again = dt.from_bytes(reports.to_bytes())
    np.testing.assert_array_equal(again.values, reports.values)
    assert again.question.guarantee == mechanism.guarantee
    assert mechanism.describe()
    assert len(mechanism.perturb([])) == 0


def test_names_of_the_contrasts() -> None:
    assert dt.rivals.LSRR.as_published(SQUARE, SMALL, epsilon=2.0).contrast == "coded"
    assert dt.rivals.LSRR(SQUARE, SMALL, epsilon=2.0).contrast == "kept"


def test_impossible_columns_are_noticed() -> None:
    weights = np.array([[1, 1, 0], [1, 2, 0]])
    assert largest_ratio(2, 3, lambda rows: weights[rows]) == pytest.approx(1.5)
    weights = np.array([[1, 1, 0], [1, 2, 1]])
    assert largest_ratio(2, 3, lambda rows: weights[rows]) is None


def test_rivals_are_not_at_the_top_and_specifications_name_them() -> None:
    kinds = list(dt.rivals.__all__)
    assert not set(dt.rivals.__all__) & set(dt.__all__)
    assert {name: registry.design_of(name) for name in kinds} == {
        name: getattr(dt.rivals, name) for name in kinds
    }
    told = dt.rivals.LSRR.as_meant(SQUARE, SMALL, epsilon=2.0)
    read = dt.from_json(told.to_json())
    assert read.design() == told
    assert read.design().contrast == "meant"
