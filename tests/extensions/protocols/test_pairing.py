"""Pairings: everybody has one partner, drawn uniformly, and what is no pairing is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols.pairing import from_order
from tests.support.chi_square import ALARM

# --- who tosses with whom ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 6, 7])
def test_pairings_are_pairings(n: int) -> None:
    pairing = protocols.deal_pairs(n)
    assert sorted(one for pair in (*pairing.pairs, pairing.alone) for one in pair) == list(range(n))
    assert len(pairing.alone) == n % 2


def turned(source: dt.Seeded) -> tuple[int, ...]:
    """The broken twin: everybody at a place that is any as often, but in a circle that is only turned."""
    return from_order(np.roll(np.arange(4), int(source.integers(4, 1)[0])).tolist())


@pytest.mark.parametrize("fair", [True, False])
def test_pairs_are_drawn_uniformly(fair: bool) -> None:
    """Of four people, the partner of the first is any other as often."""
    source = dt.Seeded(5)
    drawn = [
        (protocols.deal_pairs(4, source=source).partners if fair else turned(source))[0] for _ in range(4_000)
    ]
    counts = np.bincount(drawn, minlength=4)
    assert counts[0] == 0
    assert bool(stats.chisquare(counts[1:]).pvalue > ALARM) is fair


@pytest.mark.parametrize("partners", [(1, 2, 0), (0, 1), (2, 3, 0), (1, 0, -1), (True, False)])
def test_invalid_pairings_are_refused(partners: tuple[int, ...]) -> None:
    with pytest.raises(InvalidParameter):
        protocols.Pairing(partners)
