"""Broken twins of questions with shared coins. Tests must reject them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dither.core.kernels.coin import PairedCoins
from dither.core.kernels.joint import JointResponse
from dither.mechanisms.joint.joint import Joint


@dataclass(frozen=True, repr=False)
class Flipped(Joint):
    """JRR with the sign of ρ flipped: the same marginals, and counts that are worse instead of better."""

    symbols = 2

    def _join(self, coins: PairedCoins) -> JointResponse:
        p = Fraction(self.p)
        return JointResponse(PairedCoins.of(p, -Fraction(self.rho) * p * (1 - p)), self.n, 2)
