"""Frequencies from shared coins: unbiased, with intervals that hold; coins and their reports."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, Mismatch, OutsideDomain
from tests.support.cases.joint import THREE, TWO
from tests.support.chi_square import consistent
from tests.support.repository import reference

REFERENCE = reference("jrr")


@pytest.mark.parametrize("n", [1_000, 1_001])
def test_frequencies_are_unbiased_with_the_joint_variance(n: int) -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=1, n=n)
    share, runs, source = 0.05, 400, dt.Seeded(17)
    values, errors, covered = [], [], 0
    for _ in range(runs):
        people = (source.integers(1000, n) < 1000 * share).astype(int)
        found = dt.frequencies(jrr.perturb(people, source=source))[1]
        low, high = found.interval()
        values.append(found.value)
        errors.append(found.standard_error)
        covered += low <= share <= high
    error = math.sqrt((jrr.variance(share) + share * (1 - share)) / n)
    assert consistent(np.array(values), share, error**2)
    assert np.mean(errors) == pytest.approx(error, rel=0.03)
    assert error < 0.9 * math.sqrt((replace(jrr, rho=Fraction(0)).variance(share) + share * (1 - share)) / n)
    assert 0.92 <= covered / runs <= 0.98


def test_intervals_hold_where_the_gain_is_not_known() -> None:
    """At ε = 0.01 next to nothing is known about the frequency, on which the error depends tenfold."""
    jrr, runs, source = dt.JRR.heuristic(TWO, epsilon=0.01, n=1_000), 400, dt.Seeded(18)
    for share in (0.0, 0.5):
        covered = 0
        for _ in range(runs):
            people = (source.integers(1000, 1_000) < 1000 * share).astype(int)
            low, high = dt.frequencies(jrr.perturb(people, source=source))[1].interval()
            covered += low <= share <= high
        assert covered / runs >= 0.91


def test_summaries_and_coins() -> None:
    jrr = dt.JRR(THREE, p=0.6, rho=-0.3, n=7)
    values = ["tea", "tea", "water", "coffee", "tea", "water", "tea"]
    coins = jrr.deal(7, source=dt.Seeded(19))
    sent = [coin.apply(value, source=dt.Seeded(20)) for coin, value in zip(coins, values, strict=True)]
    together = dt.Reports.concatenate(sent)
    assert dt.Counts.gather(sent) == dt.Counts.of(together)
    assert dt.frequencies(dt.Counts.gather(sent)).n == 7
    for coin, report, value in zip(coins, together, values, strict=True):
        assert (report == value) == coin.truthful[0]
    with pytest.raises(Mismatch, match="expected 7 reports, one for each of the coins, got 14"):
        dt.frequencies(dt.Reports.concatenate([together, together]))


def test_fewer_reports_than_people_gain_less() -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=1, n=1_000)
    half = dt.frequencies(jrr.reports([0] * 350 + [1] * 150))[0].standard_error
    whole = dt.frequencies(jrr.reports([0] * 700 + [1] * 300))[0].standard_error
    assert half > math.sqrt(2) * whole


def test_coins_keep_their_secret() -> None:
    coin = dt.JRR(TWO, p=0.6, rho=-0.3, n=4).deal()[0]
    assert "True" not in repr(coin)
    assert "False" not in repr(coin)
    with pytest.raises(OutsideDomain):
        coin.apply(2)
    with pytest.raises(InvalidParameter):
        dt.jrr.Coin(coin.mechanism, (1,))


@pytest.mark.parametrize(
    "make",
    [
        lambda: dt.rivals.SUE(dt.Categories(5), epsilon=2),
        lambda: dt.OLH(dt.Categories(9), epsilon=2),
        lambda: dt.KRR(THREE, epsilon=2),
        lambda: dt.KRR(TWO, epsilon=2),
        lambda: dt.rivals.BLH(THREE, epsilon=1),
    ],
)
def test_over_other_mechanisms_marginals_stay(make) -> None:
    mechanism = make()
    joint = dt.JRR.over(mechanism, rho=Fraction(0), n=9)
    assert joint.rates == mechanism.rates
    label = mechanism.categories.labels[1]
    assert joint.probabilities(label) == mechanism.probabilities(label)
    assert joint.guarantee.epsilon == pytest.approx(mechanism.guarantee.epsilon, rel=1e-12)
    values = [label] * 9
    reports = joint.perturb(values, source=dt.Seeded(21))
    assert reports.cells.dtype == mechanism.perturb(values).cells.dtype
    assert joint.reports(reports.cells) == reports
    assert joint.deal()[3].apply(label).cells.shape == reports.cells[:1].shape
    assert dt.from_json(joint.to_json()).design() == joint


def test_what_coins_cannot_be_shared_over() -> None:
    with pytest.raises(InvalidParameter, match="a 1 and a 0 with equal probabilities"):
        dt.JRR.over(dt.OUE(THREE, epsilon=1), rho=0, n=4)
    for other in (dt.SubsetSelection(THREE, epsilon=1), dt.Duchi(dt.Interval(0, 1), epsilon=1), None):
        with pytest.raises(InvalidParameter, match="RR, KRR, SUE, OLH or BLH"):
            dt.JRR.over(other, rho=0, n=4)
