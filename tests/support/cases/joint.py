"""One table: coins of every correlation, and every kind of question whose coins two people share.

A new kind of question is one line here: the laws of tests/mechanisms/joint run over it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import dither as dt
from dither.core.kernels.coin import PairedCoins

TWO, THREE = dt.Categories(2), dt.Categories(["tea", "coffee", "water"])
P = Fraction(7, 10)

COINS = {
    "plain": PairedCoins.of(P, Fraction(0)),
    "negative": PairedCoins.of(P, Fraction(-1, 25)),
    "extreme": PairedCoins.of(P, (1 - 1 / P) * P * (1 - P)),
    "positive": PairedCoins.of(P, Fraction(1, 10)),
    "twins": PairedCoins.of(P, P * (1 - P)),
    "of doubles": PairedCoins.of(Fraction(0.6), Fraction(-0.3) * Fraction(0.6) * (1 - Fraction(0.6))),
}

# As functions of the number of people.
JOINT: dict[str, Callable[..., Any]] = {
    "two categories": partial(dt.JRR, TWO, p=P, rho=Fraction(-1, 5)),
    "two categories, doubles": partial(dt.JRR, TWO, p=0.6, rho=-0.3),
    "two categories, together": partial(dt.JRR, TWO, p=0.6, rho=0.9),
    "three categories": partial(dt.JRR, THREE, p=Fraction(1, 2), rho=Fraction(-1, 2)),
    "over RR": partial(dt.JRR.over, dt.KRR(TWO, epsilon=2), rho=-0.1),
    "over KRR": partial(dt.JRR.over, dt.KRR(THREE, epsilon=2), rho=-0.1),
    "over SUE": partial(dt.JRR.over, dt.rivals.SUE(dt.Categories(5), epsilon=2), rho=-0.2),
    "over OLH": partial(dt.JRR.over, dt.OLH(dt.Categories(9), epsilon=2), rho=-0.1),
    "over BLH": partial(dt.JRR.over, dt.rivals.BLH(THREE, epsilon=1), rho=-0.1),
}
