"""Curves, choices and budgets: the questions people ask."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import LinearClassifier
from dither.extensions.classifiers.monte_carlo import Densities
from tests.extensions.classifiers.settings import UNIT, black_box, quadratic
from tests.support.repository import reference

EXAMPLES = reference("qcu")["examples"]
# The dissertation's first example: class 1 on [0.2, 0.8].
MIDDLE = LinearClassifier([[0.0], [-1.0], [1.0]], [0.0, 0.2, -0.8])
STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])


@pytest.mark.slow
def test_the_budget_for_a_utility() -> None:
    """ε = 1.386 for OGPM and 5.365 for Laplace, where the dissertation says 1.8 and 5.2."""
    ogpm = dt.classifiers.epsilon_for_utility(MIDDLE, [0.5], dt.OGPM(UNIT, epsilon=1), at_least=0.8)
    assert ogpm.epsilon == pytest.approx(EXAMPLES["pm_eps_for_.8_theta.3"], abs=1e-3)
    # Clamping adds nothing in the middle: what is beyond the ends is lost either way.
    wide = dt.Laplace(UNIT, epsilon=1, cells=1 << 14)
    for mechanism in (wide, wide.truncated()):
        found = dt.classifiers.epsilon_for_utility(MIDDLE, [0.5], mechanism, at_least=0.8, between=(4, 6))
        # One cell more or less at an edge has a probability of 7·10^−4, which 0.012 of ε makes up for.
        assert found.epsilon == pytest.approx(EXAMPLES["laplace_eps_for_.8"], abs=0.012)
        assert found.lower >= 0.8
        assert dt.classifiers.utility(MIDDLE, [0.5], found.mechanism).lower == found.lower
        # A budget less than 0.1 ‰ smaller was looked at, and is not enough.
        assert found.epsilon / 1.0001 <= found.not_enough < found.epsilon
        assert dt.classifiers.utility(MIDDLE, [0.5], mechanism.at(found.not_enough)).lower < 0.8


def test_the_budget_read_off_a_sampled_curve_is_enough() -> None:
    found = dt.classifiers.epsilon_for_utility(
        black_box(MIDDLE), [0.5], dt.OGPM(UNIT, epsilon=1), at_least=0.8, source=dt.Seeded(1)
    )
    assert found.curve.method == "importance sampling"
    assert EXAMPLES["pm_eps_for_.8_theta.3"] < found.epsilon < 1.8
    assert dt.classifiers.utility(MIDDLE, [0.5], found.mechanism).lower >= 0.8
    with pytest.raises(dt.errors.Infeasible, match="ask for less"):
        dt.classifiers.epsilon_for_utility(
            black_box(MIDDLE), [0.5], dt.OGPM(UNIT, epsilon=1), at_least=0.999, between=(0.1, 1)
        )


def test_the_best_mechanism() -> None:
    candidates = {
        "OGPM": dt.OGPM(UNIT, epsilon=1),
        "SW": dt.SW(UNIT, epsilon=1).redesigned(),
        "Laplace": dt.Laplace(UNIT, epsilon=1).truncated(),
        "k-RR": dt.KRR(dt.Categories([step / 20 for step in range(21)]), epsilon=1),
    }
    ranking = dt.classifiers.best_mechanism(STEEP, [0.8, 0.5], candidates, epsilon=3)
    alone = {
        name: dt.classifiers.utility(STEEP, [0.8, 0.5], kind.at(3)).lower for name, kind in candidates.items()
    }
    assert list(ranking.names) == sorted(alone, key=lambda name: -alone[name])
    assert ranking.best == candidates[ranking.names[0]].at(3)
    assert ranking.decided
    assert ranking.names[0] in repr(ranking).splitlines()[0]
    sampled = dt.classifiers.best_mechanism(
        black_box(STEEP), [0.8, 0.5], list(candidates.values()), epsilon=3, queries=2000, source=dt.Seeded(3)
    )
    assert sampled.utilities[0].confidence == pytest.approx(1 - 0.05 / 4)
    twice = dt.classifiers.best_mechanism(STEEP, [0.8, 0.5], [candidates["OGPM"]] * 2, epsilon=3)
    assert twice.names == ("OGPM", "OGPM 2")


def test_a_curve_and_its_picture() -> None:
    epsilons = [0.5, 1.0, 2.0, 4.0]
    curve = dt.classifiers.utility_curve(STEEP, [0.8, 0.5], dt.OGPM(UNIT, epsilon=1), epsilons)
    alone = [
        dt.classifiers.utility(STEEP, [0.8, 0.5], dt.OGPM(UNIT, epsilon=epsilon)).lower
        for epsilon in epsilons
    ]
    assert curve.method == "exact"
    assert curve.lower.tolist() == alone
    assert len(curve) == 4
    pytest.importorskip("matplotlib")
    axes = curve.plot(label="exact")
    band = dt.classifiers.utility_curve(
        quadratic, [0.5, 0.5], dt.OGPM(UNIT, epsilon=1), epsilons, queries=1000, source=dt.Seeded(2)
    )
    assert band.plot(ax=axes) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["exact", "importance sampling"]
    assert (band.lower < band.estimate).all()
    assert (band.estimate < band.upper).all()


def test_each_divides_the_budget_and_a_single_mechanism_does_not() -> None:
    single = dt.classifiers.utility_curve(STEEP, [0.8, 0.5], dt.OGPM(UNIT, epsilon=1), [1.0])
    each = dt.classifiers.utility_curve(
        STEEP, [0.8, 0.5], dt.Each(a=dt.OGPM(UNIT, epsilon=1), b=dt.OGPM(UNIT, epsilon=1)), [2.0]
    )
    assert each.lower == pytest.approx(single.lower, abs=1e-12)


def test_monte_carlo_along_a_curve() -> None:
    curve = dt.classifiers.utility_curve(
        STEEP,
        [0.8, 0.5],
        dt.OGPM(UNIT, epsilon=1),
        [1.0, 3.0],
        method="Monte Carlo",
        queries=1000,
        confidence=1 - 1e-6,
        source=dt.Seeded(1),
    )
    exact = dt.classifiers.utility_curve(STEEP, [0.8, 0.5], dt.OGPM(UNIT, epsilon=1), [1.0, 3.0])
    assert curve.method == "Monte Carlo"
    assert (curve.lower <= exact.lower).all()


@pytest.mark.slow
def test_many_features_at_once() -> None:
    """Twenty features: the mixture is no worse than so many queries a budget."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=20)
    model = LinearClassifier([weights], [-float(weights.sum()) / 2])
    x = np.clip(0.5 + 0.5 * np.sign(weights) * generator.random(20), 0, 1)
    epsilons = [1.0, 2.0, 4.0]
    once = dt.classifiers.utility_curve(
        black_box(model), x, dt.OGPM(UNIT, epsilon=1), epsilons, queries=4000, source=dt.Seeded(1)
    )
    exact = dt.classifiers.utility_curve(model, x, dt.OGPM(UNIT, epsilon=1), epsilons)
    assert (once.lower <= exact.upper).all()
    assert (once.lower >= exact.lower - 0.1).all()


def test_the_mixture_is_bounded_by_its_own_laws() -> None:
    """Weights are at most the number of budgets, whatever the classifier; here they come near it."""
    laws = [dt.OGPM(UNIT, epsilon=epsilon).law for epsilon in (1.0, 10.0, 20.0)]
    least = sum(Densities.of(laws, unit).least_ratios() for unit in (0.3, 0.5, 0.9))
    most = 1.0 / np.exp(least).mean(axis=1)
    assert (most <= 3.0 + 1e-9).all()
    assert most.max() > 2.9


CANDIDATES: list[Any] = [dt.OGPM(UNIT, epsilon=1)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: dt.classifiers.epsilon_for_utility(MIDDLE, [0.5], CANDIDATES[0], at_least=1.5),
        lambda: dt.classifiers.epsilon_for_utility(
            MIDDLE, [0.5], CANDIDATES[0], at_least=0.8, between=(0, 3)
        ),
        lambda: dt.classifiers.best_mechanism(MIDDLE, [0.5], [], epsilon=1),
        lambda: dt.classifiers.best_mechanism(MIDDLE, [0.5], CANDIDATES, epsilon=math.nan),
        lambda: dt.classifiers.utility_curve(MIDDLE, [0.5], CANDIDATES[0], [2.0, 1.0]),
        lambda: dt.classifiers.utility_curve(MIDDLE, [0.5], CANDIDATES[0], []),
        lambda: dt.classifiers.utility(MIDDLE, [0.5], CANDIDATES[0], method="importance sampling"),
        lambda: dt.classifiers.utility(MIDDLE, [0.5], CANDIDATES[0], method="Monte Carlo", confidence=1),
        lambda: dt.classifiers.utility(MIDDLE, [0.5], CANDIDATES[0], confidence=95),
        lambda: dt.classifiers.utility(MIDDLE, [0.5], CANDIDATES[0], queries=2),
    ],
)
def test_nonsense_is_refused(ask: Any) -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        ask()
