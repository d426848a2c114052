"""JRR: the table, the reports, and the mechanism among others."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from tests.mechanisms.joint import brute
from tests.support.broken.joint import Flipped
from tests.support.cases.joint import THREE, TWO, P
from tests.support.chi_square import ALARM, p_of_counts
from tests.support.repository import reference

REFERENCE = reference("jrr")


def test_the_table_of_two_categories() -> None:
    """[Thesis, Table 4.2] with exact rationals, for numbers and for doubles."""
    for given in ((P, Fraction(-1, 5)), (0.8, 0.3), (0.6, -0.5)):
        pairs = dt.JRR(TWO, p=given[0], rho=given[1], n=10).pairs
        p, rho = map(Fraction, given)
        q = 1 - p
        assert Fraction(pairs.both, pairs.total) == p * p + rho * p * q
        assert Fraction(pairs.one, pairs.total) == (1 - rho) * p * q
        assert Fraction(pairs.neither, pairs.total) == q * q + rho * p * q
        assert pairs.chance == p
        assert pairs.covariance / (p * q) == rho == dt.JRR(TWO, p=p, rho=rho, n=10).correlation


def test_the_table_of_k_categories() -> None:
    """[Thesis, Sec. 4.5]: marginals p and q, cells as printed, and the correlation ρ/(k−1)."""
    k, p, rho = 3, Fraction(1, 2), Fraction(-1, 2)
    jrr = dt.JRR(THREE, p=p, rho=rho, n=10)
    q = (1 - p) / (k - 1)
    law = pair_law(jrr)
    for told in product(range(k), repeat=2):
        lies = sum(symbol != 0 for symbol in told)
        printed = (p * p + rho * p * q, p * q - rho * p * q / (k - 1), q * q + rho * p * q / (k - 1) ** 2)[
            lies
        ]
        assert law[told] == printed
    assert sum(law.values()) == 1
    truthful = [sum(mass for told, mass in law.items() if told[place] == 0) for place in (0, 1)]
    both = law[0, 0]
    assert truthful == [p, p]
    assert (both - p * p) / (p * (1 - p)) == jrr.correlation == rho / (k - 1)


def pair_law(jrr: dt.JRR) -> dict[tuple[int, int], Fraction]:
    """Give the law of what two partners tell whose answer is category 0, from the integers that are dealt."""
    pairs, k = jrr.pairs, jrr.symbols
    law = {}
    for told in product(range(k), repeat=2):
        lies = sum(symbol != 0 for symbol in told)
        weight = (pairs.both, pairs.one, pairs.neither)[lies]
        law[told] = Fraction(weight, pairs.total) / (k - 1) ** lies
    return law


@pytest.mark.parametrize(("domain", "p"), [(TWO, 0.7), (THREE, 0.6), (dt.Categories(5), 0.25)])
def test_the_range_of_rho(domain: dt.Categories, p: float) -> None:
    k = len(domain)
    q = (1 - Fraction(p)) / (k - 1)
    low, high = max(-Fraction(p) / q, -((k - 1) ** 2) * q / Fraction(p)), Fraction(k - 1)
    for end, beyond in ((low, -1), (high, 1)):
        dt.JRR(domain, p=p, rho=end, n=4)
        with pytest.raises(InvalidParameter, match="expected rho from"):
            dt.JRR(domain, p=p, rho=end + Fraction(beyond, 10**6), n=4)
        with pytest.raises(InvalidParameter, match="expected rho from"):
            dt.JRR(domain, p=p, rho=end + Fraction(beyond, 10**30), n=4)


@pytest.mark.parametrize("p", [0.51, 0.6, 0.7, 0.8, 0.9, 0.999])
def test_the_end_of_the_range_in_doubles_is_the_end(p: float) -> None:
    assert dt.JRR(TWO, p=p, rho=1 - 1 / p, n=4).pairs.neither == 0


@pytest.mark.parametrize("n", [4, 5])
def test_reports_follow_the_law(n: int) -> None:
    """All reports of everybody against enumeration; the sign of ρ flipped is rejected."""
    jrr = dt.JRR(TWO, p=P, rho=Fraction(-2, 5), n=n)
    twin = Flipped(TWO, p=P, rho=Fraction(-2, 5), n=n)
    values = np.array([1, 1, 0, 1, 0][:n])
    law = brute.law(jrr.pairs, n)
    for mechanism, right in ((jrr, True), (twin, False)):
        source = dt.Seeded(11)
        size = 4_000
        told = np.array([mechanism.perturb(values, source=source).cells for _ in range(size)])
        coins = (told == values) @ (1 << np.arange(n))
        expected = np.zeros(1 << n)
        for outcome, mass in law.items():
            expected[sum(1 << place for place, yes in enumerate(outcome) if yes)] = float(mass) * size
        counts = np.bincount(coins, minlength=1 << n)
        assert (p_of_counts(counts, expected) > ALARM) == right


def test_k_ary_reports_follow_the_law() -> None:
    jrr = dt.JRR(THREE, p=Fraction(1, 2), rho=Fraction(-1, 2), n=2)
    law, source, size = pair_law(jrr), dt.Seeded(12), 8_000
    told = np.array([jrr.perturb(["tea", "tea"], source=source).cells for _ in range(size)])
    counts = np.bincount(told @ [3, 1], minlength=9)
    expected = [float(law[first, second]) * size for first in range(3) for second in range(3)]
    assert stats.chisquare(counts, expected).pvalue > ALARM
    assert jrr.probabilities("coffee") == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]


@pytest.mark.parametrize("bits", [16, 64])
def test_thresholds_and_the_guarantee_of_rounded_integers(bits: int) -> None:
    jrr = dt.JRR(TWO, p=0.6, rho=-0.3, n=10)
    rounded = jrr.rounded(bits)
    first, second, third = jrr.thresholds(bits)
    assert (first, second, third) == rounded.thresholds(bits)
    whole = 1 << bits
    assert rounded.pairs.chance == Fraction(second, whole) == Fraction(first + third - second, whole)
    ratio = max(Fraction(second - first, whole - third), Fraction(first, second - first))
    assert rounded.guarantee.epsilon == pytest.approx(math.log(ratio), rel=1e-12)
    assert float(abs(rounded.p - jrr.p)) <= 2.0 ** (1 - bits)
    assert rounded.rounded(bits) == rounded


def test_a_mechanism_among_others() -> None:
    jrr = dt.JRR(THREE, p=0.6, rho=-0.3, n=10)
    assert jrr == dt.JRR(THREE, p=Fraction(0.6), rho=Fraction(-0.3), n=10)
    assert hash(jrr) == hash(dt.JRR(THREE, p=0.6, rho=-0.3, n=10))
    assert jrr.fingerprint != dt.JRR(THREE, p=0.6, rho=-0.3, n=11).fingerprint
    assert jrr.fingerprint != dt.JRR(THREE, p=0.6, rho=-0.4, n=10).fingerprint
    assert repr(jrr) == "JRR(Categories(['tea', 'coffee', 'water']), p=0.6, rho=-0.3, n=10)"
    assert dt.audit(jrr, assume=jrr.guarantee.assumes).ok
    assert not dt.audit(jrr).ok  # it assumes an honest dealer
    assert not dt.audit(dt.JRR.heuristic(TWO, epsilon=1, n=10)).ok
    assert dt.from_json(jrr.to_json()).design() == jrr
    assert dt.from_json(jrr.to_json()).fingerprint == jrr.fingerprint
    assert "Promise if the partner's coin is known" in jrr.describe()
    assert jrr.question.decode(np.array([0, 2])).tolist() == ["tea", "water"]
    with pytest.raises(InvalidParameter, match="depends on the mode"):
        jrr.at(1)
    with pytest.raises(MalformedReport):
        jrr.reports([3])


@pytest.mark.parametrize(
    ("p", "rho", "n"),
    [
        (0.5, 0, 4),
        (1, 0, 4),
        (0.4, 0, 4),
        ("0.6", 0, 4),
        (float("nan"), 0, 4),
        (True, 0, 4),
        (0.6, None, 4),
        (0.6, float("inf"), 4),
        (0.6, 0, 1),
        (0.6, 0, 2.5),
        (0.6, 0, True),
    ],
)
def test_bad_parameters_are_refused(p: object, rho: object, n: object) -> None:
    with pytest.raises(InvalidParameter):
        dt.JRR(TWO, p=p, rho=rho, n=n)


def test_bad_input_is_refused() -> None:
    jrr = dt.JRR(TWO, p=0.6, rho=-0.3, n=4)
    with pytest.raises(InvalidParameter, match="one value for each"):
        jrr.perturb([0, 1, 1])
    with pytest.raises(OutsideDomain):
        jrr.perturb([0, 1, 1, 2])
    for call in (
        lambda: jrr.deal(5),
        lambda: jrr.deal("4"),
        lambda: jrr.deal(source=3),
        lambda: jrr.thresholds(0),
        lambda: jrr.rounded("8"),
        lambda: jrr.rounded(2),  # two bits are too few for this p
        lambda: jrr.theorem_3(4),
        lambda: jrr.theorem_3("1"),
    ):
        with pytest.raises(InvalidParameter):
            call()
    with pytest.raises(InvalidParameter):
        dt.JRR(dt.Interval(0, 1), p=0.6, rho=0, n=4)
    with pytest.raises(InvalidParameter):
        jrr.count_variance(5)
    with pytest.raises(InvalidParameter):
        jrr.variance(1.5)
