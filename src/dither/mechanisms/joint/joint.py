"""The base class of joint mechanisms, in which the coins of two people are correlated."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from typing import NoReturn, Self, final

from dither.errors import InvalidParameter, found
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import JointKernel
from dither.mechanisms.base import CategoryMechanism
from dither.mechanisms.joint import adversaries
from dither.mechanisms.joint.accounting import Mode, account, check_colluders, check_people
from dither.mechanisms.joint.coin import Coin
from dither.mechanisms.joint.tuning import coins, exact, rho_range
from dither.privacy import Guarantee
from dither.randomness import SYSTEM, Source

Real = float | Fraction


@dataclass(frozen=True, repr=False)
class Joint(CategoryMechanism):
    """A report is the truth if a coin shows heads; the coins of two people, paired at random, are correlated.

    `p` is the probability of truth. `rho` is the correlation for two symbols; for k symbols it is ρ/(k−1).
    `n` is the number of people. Floats stand for their exact rational values, except that a float next to an
    end of the range of ρ is replaced by that end, so that rho=1-1/p has its mathematical value.
    """

    _: KW_ONLY
    epsilon: float = field(init=False, compare=False)
    p: Real = field()  # a Fraction: float(p) where numpy computes
    rho: Real
    n: int

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols of one coin: k categories, two for a bit, g buckets."""

    @abstractmethod
    def _joined(self, coins: PairedCoins) -> JointKernel:
        """Return the kernel that draws reports with these coins."""

    @final
    def _kernel(self) -> JointKernel:
        return self._joined(coins(Fraction(self.p), Fraction(self.rho), self.symbols))

    def _budget(self) -> float:
        return math.inf  # `_check` sets ε once the coins are known

    def _check(self) -> None:
        n, p, rho = check_people(self.n), exact("p", self.p), exact("rho", self.rho)
        if not Fraction(1, self.symbols) < p < 1:
            raise InvalidParameter(
                f"p must be above 1/{self.symbols}, where reports contain no information, and below 1, "
                f"not {float(p):g}"
            )
        low, high = rho_range(p, self.symbols)
        if not isinstance(self.rho, Fraction):
            near = [end for end in (low, high) if abs(rho - end) <= max(Fraction(1), abs(end)) / (1 << 50)]
            rho = near[0] if near else rho
        if not low <= rho <= high:
            raise InvalidParameter(
                f"for p = {float(p):g}, rho must be from {float(low):.6g} to {float(high):.6g}, not "
                f"{float(rho):g}: otherwise a probability would be negative"
            )
        for name, value in (("p", p), ("rho", rho), ("n", n)):
            object.__setattr__(self, name, value)
        spent = self._kernel().promise(math.inf, {}).bound
        object.__setattr__(self, "epsilon", Guarantee(spent).epsilon)

    @property
    def pairs(self) -> PairedCoins:
        """The two coins, in integers."""
        pairs: PairedCoins = self.kernel.coins
        return pairs

    @property
    def correlation(self) -> Fraction:
        """The correlation of two partners' coins: ρ/(k − 1) for k symbols."""
        return Fraction(self.rho) / (self.symbols - 1)

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee against an adversary with the knowledge of a mode.

        PARTNER_REVEALED: the partner's coin, and anything else; with delta, only if the partner is one of the
        colluders. INFORMED: all other answers, but not the pairs. HIDDEN: only the colluders' coins.
        THEOREM_3 is what the dissertation states; it is not a guarantee.
        """
        return account(self.pairs, self.symbols - 1, self.n, mode=mode, colluders=colluders, delta=delta)

    def theorem_3(self, colluders: int = 0) -> float:
        """Return the ε that [Thesis, Thm 3] states. It is not a guarantee: see `dither.jrr`."""
        if self.symbols != 2:
            raise InvalidParameter(f"Theorem 3 is for two categories, not {self.symbols}")
        check_colluders(colluders, self.n)
        return adversaries.theorem_3(self.pairs, self.n, colluders)

    def count_variance(self, holders: float) -> float:
        """Return the variance of the estimated number of people who hold a category, if `holders` do."""
        if not 0 <= holders <= self.n:
            raise InvalidParameter(f"holders must be from 0 to n = {self.n}, not {found(holders)}")
        return float(self.kernel.count_variance(holders))

    def deal(self, n: int | None = None, *, source: Source | None = None) -> list[Coin]:
        """Return one `Coin` for each device, to be used once; pairs are drawn at random.

        The dealer knows the coins and must not be the collector.
        """
        if n is not None and n != self.n:
            raise InvalidParameter(f"this mechanism is for {self.n} people; build another one for {found(n)}")
        if source is not None and not isinstance(source, Source):
            raise InvalidParameter(
                f"source must be a Source such as dt.Seeded(7), or None, not {found(source)}"
            )
        tossed = self.pairs.scatter(self.n, self.kernel.each, SYSTEM if source is None else source)
        return [Coin(self, tuple(map(bool, row))) for row in tossed]

    def thresholds(self, bits: int = 64) -> tuple[int, int, int]:
        """Return R₁ ≤ R₂ ≤ R₃ for two devices with one uniform number R below 2^bits [Thesis, Sec. 4.4.2].

        R < R₁: both are truthful; R₁ ≤ R < R₂: the first is; R₂ ≤ R < R₃: the second is. These are the
        thresholds of `rounded(bits)`, whose guarantee is that of these integers.
        """
        return self.pairs.rounded(bits).thresholds(bits)

    def rounded(self, bits: int = 64) -> Self:
        """Return the mechanism whose coins are exactly those of `thresholds(bits)`."""
        table = self.pairs.rounded(bits)
        p = table.chance
        return replace(self, p=p, rho=table.covariance * (self.symbols - 1) / (p * (1 - p)))

    @final
    def at(self, epsilon: float) -> NoReturn:
        """Raise InvalidParameter: the ε of joint coins depends on the mode of accounting."""
        raise InvalidParameter(
            "the ε of joint coins depends on the mode; use dt.JRR.tuned(domain, epsilon=…, mode=…, n=…)"
        )

    def describe(self) -> str:
        """Return a description in words: the mechanism and its guarantee."""
        summary = (type(self).__doc__ or "").strip().splitlines()[0].rstrip(".")
        return f"{self!r}. {summary}. Promise if the partner's coin is known: {self.guarantee}."

    def __repr__(self) -> str:
        numbers = f"p={float(self.p):.6g}, rho={float(self.rho):.6g}, n={self.n}"
        return f"{type(self).__name__}({self.domain!r}, {numbers})"
