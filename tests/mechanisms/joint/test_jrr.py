"""JRR: the table, the reports, the variance of Theorem 4, and estimates that say how far they are off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, Mismatch, OutsideDomain
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import JointResponse
from dither.mechanisms.joint.joint import Joint
from tests.mechanisms.joint import brute
from tests.support.chi_square import ALARM, p_of_counts
from tests.support.repository import reference

REFERENCE = reference("jrr")
TWO, THREE = dt.Categories(2), dt.Categories(["tea", "coffee", "water"])
P = Fraction(7, 10)


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
        with pytest.raises(InvalidParameter, match="rho must be from"):
            dt.JRR(domain, p=p, rho=end + Fraction(beyond, 10**6), n=4)
        with pytest.raises(InvalidParameter, match="rho must be from"):
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


@dataclass(frozen=True, repr=False)
class Flipped(Joint):
    """JRR with the sign of ρ flipped: the same marginals, and counts that are worse instead of better."""

    symbols, pull = 2, Fraction(-1)
    rates = property(lambda self: (Fraction(self.p), 1 - Fraction(self.p)))
    decode, probabilities = dt.JRR.decode, dt.JRR.probabilities

    def _kernel(self, coins: PairedCoins) -> JointResponse:
        p = Fraction(self.p)
        return JointResponse(PairedCoins.of(p, -Fraction(self.rho) * p * (1 - p)), self.n, 2)


def test_k_ary_reports_follow_the_law() -> None:
    jrr = dt.JRR(THREE, p=Fraction(1, 2), rho=Fraction(-1, 2), n=2)
    law, source, size = pair_law(jrr), dt.Seeded(12), 8_000
    told = np.array([jrr.perturb(["tea", "tea"], source=source).cells for _ in range(size)])
    counts = np.bincount(told @ [3, 1], minlength=9)
    expected = [float(law[first, second]) * size for first in range(3) for second in range(3)]
    assert stats.chisquare(counts, expected).pvalue > ALARM
    assert jrr.probabilities("coffee") == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]


# --- variance ----------------------------------------------------------------------------------------------


def test_examples_of_the_dissertation() -> None:
    assert dt.JRR(TWO, p=0.8, rho=0.0, n=2).count_variance(2) == pytest.approx(
        REFERENCE["example_variances"]["independent"], abs=1e-3
    )
    assert dt.JRR(TWO, p=0.8, rho=-0.25, n=2).count_variance(2) == pytest.approx(
        REFERENCE["example_variances"]["joint"], abs=1e-3
    )


def test_theorem_4_and_the_simulations_of_the_facts() -> None:
    for n, n1, p, simulated in REFERENCE["simulated_variances"]["value"]:
        jrr = dt.JRR(TWO, p=p, rho=1 - 1 / p, n=n)
        assert jrr.count_variance(n1) == pytest.approx(simulated, rel=0.01)
    jrr = dt.JRR(TWO, p=P, rho=Fraction(-1, 5), n=10)  # as printed, for even n
    printed = 0.21 / 0.16 * (10 - 0.2 * ((2 * 3 - 10) ** 2 - 10) / 9)
    assert jrr.count_variance(3) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("rho", [Fraction(-2, 5), Fraction(1, 2)])
def test_the_variance_is_exact_for_two_categories(n: int, rho: Fraction) -> None:
    """Var of the estimate by enumeration over all pairings and coins, odd n included."""
    jrr = dt.JRR(TWO, p=P, rho=rho, n=n)
    for n1 in range(n + 1):
        answers = [True] * n1 + [False] * (n - n1)
        first = second = Fraction(0)
        for coins, mass in brute.law(jrr.pairs, n).items():
            told = sum(answer == coin for answer, coin in zip(answers, coins, strict=True))
            count = (told - n * (1 - P)) / (2 * P - 1)
            first, second = first + mass * count, second + mass * count**2
        assert first == n1
        assert jrr.count_variance(n1) == pytest.approx(float(second - first**2), rel=1e-12)


@pytest.mark.parametrize("n", [4, 5])
def test_the_variance_is_exact_for_three_categories(n: int) -> None:
    jrr = dt.JRR(THREE, p=Fraction(1, 2), rho=Fraction(-1, 2), n=n)
    own, other = jrr.rates
    for holders in range(n + 1):
        mean = square = Fraction(0)
        for coins, mass in brute.law(jrr.pairs, n).items():
            # The count of a category: truthful holders, and others' lies, each of two as likely.
            fixed = sum(coins[:holders])
            liars = sum(not coin for coin in coins[holders:])
            for hits in range(liars + 1):
                chance = mass * math.comb(liars, hits) * Fraction(1, 2) ** liars
                count = (fixed + hits - n * other) / (own - other)
                mean, square = mean + chance * count, square + chance * count**2
        assert mean == holders
        assert jrr.count_variance(holders) == pytest.approx(float(square - mean**2), rel=1e-12)


def counts_of(mechanism: Joint, values: np.ndarray, runs: int, seed: int) -> np.ndarray:
    source = dt.Seeded(seed)
    supports = [
        mechanism.supports(mechanism.counting.count(mechanism.perturb(values, source=source).cells))
        for _ in range(runs)
    ]
    return (np.array(supports) - mechanism.n * mechanism.q) / mechanism.gap


def consistent(sample: np.ndarray, mean: float, variance: float) -> bool:
    """Say whether a sample has this mean and this variance; wrong once in a million times."""
    far = abs(sample.mean() - mean) / math.sqrt(variance / sample.size)
    spread = abs(sample.var() / variance - 1) / math.sqrt(2 / sample.size)
    return bool(max(far, spread) < stats.norm.isf(ALARM / 4))


@pytest.mark.parametrize(
    ("n", "n1", "epsilon"), [(100, 3, 0.5), (101, 3, 0.5), (40, 40, 1.0), (41, 20, 1.0), (200, 190, 0.01)]
)
def test_simulated_variances(n: int, n1: int, epsilon: float) -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=epsilon, n=n)
    values = np.arange(n) < n1
    sample = counts_of(jrr, values.astype(int), 4_000, 13)[:, 1]
    assert consistent(sample, n1, jrr.count_variance(n1))
    plain = jrr.count_variance(n1) if n1 == 20 else replace(jrr, rho=Fraction(0)).count_variance(n1)
    assert consistent(sample, n1, plain) == (n1 == 20)  # plain coins are rejected where the gain is seen


def test_simulated_variances_reject_a_flipped_sign() -> None:
    jrr = dt.JRR(TWO, p=P, rho=Fraction(-2, 5), n=60)
    twin = Flipped(TWO, p=P, rho=Fraction(-2, 5), n=60)
    values = np.zeros(60, dtype=int)
    assert consistent(counts_of(jrr, values, 3_000, 14)[:, 0], 60, jrr.count_variance(0))
    assert not consistent(counts_of(twin, values, 3_000, 14)[:, 0], 60, jrr.count_variance(0))


@pytest.mark.parametrize("rho", [-0.8, 0.9])
def test_simulated_variances_of_many_categories(rho: float) -> None:
    n = 51
    jrr = dt.JRR(THREE, p=0.55, rho=rho, n=n)
    values = np.array(["tea"] * 40 + ["coffee"] * 10 + ["water"])
    sample = counts_of(jrr, values, 3_000, 15)
    for place, holders in enumerate((40, 10, 1)):
        assert consistent(sample[:, place], holders, jrr.count_variance(holders))


def test_simulated_variances_of_bits_and_buckets() -> None:
    n, domain = 51, dt.Categories(6)
    values = np.array([0] * 45 + [1] * 6)
    unary = dt.JRR.over(dt.SUE(domain, epsilon=2), rho=-0.36, n=n)
    hashed = dt.JRR.over(dt.OLH(domain, epsilon=1.5), rho=-1.5, n=n)
    for mechanism in (unary, hashed):
        sample = counts_of(mechanism, values, 2_000, 16)
        for place, holders in ((0, 45), (1, 6), (5, 0)):
            assert consistent(sample[:, place], holders, mechanism.count_variance(holders))
        alone = replace(mechanism, rho=Fraction(0))
        assert not consistent(sample[:, 0], 45, alone.count_variance(45))


def test_ratios_of_the_datasets() -> None:
    for name, (n, n1) in REFERENCE["counts"].items():
        for epsilon, ratio in zip((0.01, 0.1, 1.0), REFERENCE["ratio_datasets"][name], strict=True):
            jrr = dt.JRR.heuristic(TWO, epsilon=epsilon, n=n)
            plain = replace(jrr, rho=Fraction(0)).count_variance(n1)
            assert jrr.count_variance(n1) / plain == pytest.approx(ratio, rel=1e-3)
            if name == "kosarak":
                assert plain == pytest.approx(REFERENCE["rr_mse_kosarak"][f"{epsilon:g}"], rel=1e-3)
    for epsilon, ratio in REFERENCE["ratio_all_ones"].items():
        jrr = dt.JRR.heuristic(TWO, epsilon=float(epsilon), n=10_000)
        plain = replace(jrr, rho=Fraction(0))
        assert jrr.count_variance(10_000) / plain.count_variance(10_000) == pytest.approx(ratio, rel=1e-3)


# --- estimates ---------------------------------------------------------------------------------------------


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
    assert dt.Summary.gather(sent) == dt.Summary.of(together)
    assert dt.frequencies(dt.Summary.gather(sent)).n == 7
    for coin, report, value in zip(coins, together, values, strict=True):
        assert (report == value) == coin.truthful[0]
    with pytest.raises(Mismatch, match="7 people, but there are 14 reports"):
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
        lambda: dt.SUE(dt.Categories(5), epsilon=2),
        lambda: dt.OLH(dt.Categories(9), epsilon=2),
        lambda: dt.KRR(THREE, epsilon=2),
        lambda: dt.RR(TWO, epsilon=2),
        lambda: dt.BLH(THREE, epsilon=1),
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
    assert dt.from_json(dt.to_json(joint)) == joint


def test_what_coins_cannot_be_shared_over() -> None:
    with pytest.raises(InvalidParameter, match="another probability than a 0"):
        dt.JRR.over(dt.OUE(THREE, epsilon=1), rho=0, n=4)
    for other in (dt.SubsetSelection(THREE, epsilon=1), dt.Duchi(dt.Interval(0, 1), epsilon=1), None):
        with pytest.raises(InvalidParameter, match="RR, KRR, SUE, OLH or BLH"):
            dt.JRR.over(other, rho=0, n=4)


# --- the object --------------------------------------------------------------------------------------------


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
    assert dt.from_json(dt.to_json(jrr)) == jrr
    assert dt.from_json(dt.to_json(jrr)).fingerprint == jrr.fingerprint
    assert "Promise if the partner's coin is known" in jrr.describe()
    assert jrr.decode(np.array([0, 2])).tolist() == ["tea", "water"]
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
