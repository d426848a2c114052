"""What devices agree on: integers near the coins asked for, which never spend more; and what is assumed."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither.errors import InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols.pairing import ASSUMES
from dither.extensions.protocols.terms import HARD, SEMI_HONEST, UNSEEN

TWO = dt.Categories(2)


def asked(k: int, p: Fraction, share: Fraction, n: int = 10) -> dt.JRR:
    """Give the JRR whose ρ lies that far in its range, on the negative side."""
    q = (1 - p) / (k - 1)
    low = max(-p / q, -((k - 1) ** 2) * q / p)
    return dt.JRR(dt.Categories(k), p=p, rho=low * share, n=n)


@given(
    st.integers(2, 5),
    st.fractions(Fraction(1, 50), Fraction(49, 50)),
    st.fractions(Fraction(-1, 10), Fraction(99, 100)),
    st.integers(10, 20),
)
@pytest.mark.slow
def test_rounded_coins_are_near_and_spend_no_more(
    k: int, above: Fraction, share: Fraction, bits: int
) -> None:
    jrr = asked(k, Fraction(1, k) + above * (1 - Fraction(1, k)) * Fraction(9, 10), share)
    terms = protocols.Terms(jrr, bits)
    table, whole = terms.mechanism.pairs, 1 << bits
    assert whole % table.total == 0
    assert terms.mechanism.guarantee.epsilon <= jrr.guarantee.epsilon
    assert table.chance <= jrr.p
    for rounded, exact in zip(
        (table.both, table.one, table.neither),
        (jrr.pairs.both, jrr.pairs.one, jrr.pairs.neither),
        strict=True,
    ):
        assert abs(Fraction(rounded, table.total) - Fraction(exact, jrr.pairs.total)) <= Fraction(15, whole)
    # The promise, from the thresholds themselves.
    low, middle, high = terms.thresholds
    odds = [Fraction(low * (k - 1), middle - low), Fraction((middle - low) * (k - 1), whole - high)]
    mpmath.mp.dps = 50
    loss = max(abs(mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)) for ratio in odds)
    assert loss <= terms.guarantee.epsilon <= loss + 1e-9


def test_coins_that_never_both_lie_still_never_do() -> None:
    terms = protocols.Terms(dt.JRR.heuristic(TWO, epsilon=1, n=10))
    assert terms.thresholds[2] == 1 << 16
    assert isinstance(terms.guarantee.bound, dt.privacy.Nothing)


def test_coins_have_the_weights_of_the_pair_table() -> None:
    terms = protocols.Terms(dt.JRR(TWO, p=0.7, rho=-0.2, n=4), bits=10)
    one, two = terms.says(True), terms.says(False)
    table = terms.mechanism.pairs
    scale = 1024 // table.total
    counts = [int(((one == yes) & (two == also)).sum()) for yes in (True, False) for also in (True, False)]
    assert counts == [table.both * scale, table.one * scale, table.one * scale, table.neither * scale]


def test_the_guarantee_says_what_it_assumes() -> None:
    jrr = dt.JRR(TWO, p=0.7, rho=-0.2, n=1_000)
    dealt, shuffled = (protocols.Terms(jrr, grouping=way) for way in ("dealt", "shuffled"))
    for terms in (dealt, shuffled):
        assert {SEMI_HONEST, HARD, *ASSUMES[terms.grouping]} <= set(terms.guarantee.assumes)
        informed = terms.accounting("informed", delta=1e-6)
        assert UNSEEN in informed.assumes
        assert informed.bound == terms.mechanism.accounting("informed", delta=1e-6).bound
        assert UNSEEN not in terms.guarantee.assumes
    assert dealt.guarantee != shuffled.guarantee
    assert dealt.accounting("hidden").epsilon <= dealt.guarantee.epsilon
    assert dealt.accounting("partner revealed", colluders=10, delta=0.5).delta == 0.5
    with pytest.raises(InvalidParameter, match="know their partners"):
        dealt.accounting("hidden", colluders=3)


def test_without_a_partner_coins_are_plain_randomized_response() -> None:
    terms = protocols.Terms(dt.JRR(TWO, p=0.7, rho=-0.2, n=4))
    coins = terms.alone(20_000, source=dt.Seeded(3))
    truthful = np.mean([coin.truthful for coin in coins])
    assert abs(truthful - 0.7) < 4.9 * math.sqrt(0.21 / 20_000)
    pairs = terms.mechanism.pairs
    plain = math.log(pairs.chance / (1 - pairs.chance))
    assert plain <= terms.guarantee.epsilon  # the mediant of both/one and one/neither is not the larger


@pytest.mark.parametrize("bits", [3, 21, 8.0, True, "16"])
def test_wrong_bits_are_refused(bits: object) -> None:
    with pytest.raises(InvalidParameter, match="from 4 to 20"):
        protocols.Terms(dt.JRR(TWO, p=0.7, rho=-0.2, n=4), bits)


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="got KRR"):
        protocols.Terms(dt.KRR(TWO, epsilon=1))
    with pytest.raises(InvalidParameter, match="got KRR"):
        protocols.local_pairs(dt.KRR(TWO, epsilon=1), 4)
    with pytest.raises(InvalidParameter, match="more bits"):
        protocols.Terms(dt.JRR(TWO, p=0.5 + 2**-12, rho=-0.2, n=4), bits=4)
    with pytest.raises(InvalidParameter, match='did you mean "dealt"'):
        protocols.Terms(dt.JRR(TWO, p=0.7, rho=-0.2, n=4), grouping="deal")
    with pytest.raises(InvalidParameter, match="at least 2"):
        protocols.local_pairs(dt.JRR(TWO, p=0.7, rho=-0.2, n=4), 1)
