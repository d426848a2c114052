"""The base class of joint mechanisms, in which the coins of two people are correlated."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NoReturn, Self, final

from dither.errors import InvalidParameter, MalformedReport, Mismatch, found
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import JointKernel
from dither.mechanisms.frequency.pure_protocol import PureProtocol
from dither.mechanisms.joint import adversaries
from dither.mechanisms.joint.accounting import Mode, account, check_colluders, check_people
from dither.mechanisms.joint.coin import Coin
from dither.mechanisms.joint.tuning import coins, exact, rho_range
from dither.privacy import Bound, Guarantee
from dither.randomness import SYSTEM, Source

Real = float | Fraction


@dataclass(frozen=True, repr=False)
class Joint(PureProtocol):
    """A report is the truth if a coin shows heads; the coins of two people, paired at random, are correlated.

    `p` is the probability of truth. `rho` is the correlation for two symbols; for k symbols it is ρ/(k−1).
    `n` is the number of people. Floats stand for their exact rational values, except that a float next to an
    end of the range of ρ is replaced by that end, so that rho=1-1/p has its mathematical value.
    """

    _: KW_ONLY
    epsilon: float = field(init=False, compare=False)
    p: Real = field()  # type: ignore[assignment]  # a Fraction: float(p) where numpy computes
    rho: Real
    n: int

    alone: ClassVar[bool] = False

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols of one coin: k categories, two for a bit, g buckets."""

    @abstractmethod
    def _kernel(self, coins: PairedCoins) -> JointKernel:
        """Return the kernel that draws reports with these coins."""

    @property
    @abstractmethod
    def pull(self) -> Fraction:
        """The covariance weight of a non-holder of a category, relative to a holder's."""

    @final
    @cached_property
    def kernel(self) -> JointKernel:
        """The kernel with the two coins in integers."""
        own = self._kernel(coins(Fraction(self.p), Fraction(self.rho), self.symbols))
        if self.travelled is not None and self.travelled.kernel != own:
            raise MalformedReport("the coins of the kernel are not those of the mechanism's p, rho and n")
        return own

    def _budget(self) -> float:
        return math.inf  # `_build` sets ε once the coins are known

    def _build(self) -> None:
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
        object.__setattr__(self, "epsilon", self.guarantee.epsilon)
        _ = self.kernel
        object.__setattr__(self, "travelled", None)  # checked above; p, rho and n determine it

    @property
    def pairs(self) -> PairedCoins:
        """The two coins, in integers."""
        return self.kernel.coins

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

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee in the mode PARTNER_REVEALED, which assumes only that the dealer is honest."""
        return self.accounting(Mode.PARTNER_REVEALED)

    @final
    def realised(self) -> tuple[Bound, str]:
        """Return the bound computed from the weights of the two coins, with the partner's coin known."""
        table = self.pairs
        how = f"two coins with weights {table.both}, {table.one}, {table.one}, {table.neither}, one known"
        return self.guarantee.bound, how

    def theorem_3(self, colluders: int = 0) -> float:
        """Return the ε that [Thesis, Thm 3] states. It is not a guarantee: see `dither.jrr`."""
        if self.symbols != 2:
            raise InvalidParameter(f"Theorem 3 is for two categories, not {self.symbols}")
        check_colluders(colluders, self.n)
        return adversaries.theorem_3(self.pairs, self.n, colluders)

    def count_variance(self, holders: float) -> float:
        """Return the variance of the estimated number of people who hold a category, if `holders` do.

        [Thesis, Thm 4] with k symbols, and for odd n with 1/n instead of 1/(n−1), since one person has no
        partner.
        """
        if not 0 <= holders <= self.n:
            raise InvalidParameter(f"holders must be from 0 to n = {self.n}, not {found(holders)}")
        own, other = self.rates
        rest, pull = self.n - holders, float(self.pull)
        noise = holders * float(own * (1 - own)) + rest * float(other * (1 - other))
        overlap = (holders + rest * pull) ** 2 - holders - rest * pull**2
        noise += float(self.pairs.covariance) * overlap / (adversaries.partners(self.n) - 1)
        return noise / self.gap**2

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""
        if not 0.0 <= frequency <= 1.0:
            raise InvalidParameter(f"frequency must be from 0 to 1, not {found(frequency)}")
        return self.count_variance(frequency * self.n) / self.n

    def shared(self, n: int) -> tuple[float, float, float]:
        """Return a, b, c of a + b·m + c·m², the contribution of pairs to n times the variance of a share.

        m is the mean of the share. For two people drawn from a population the mean product of their weights
        is (f + (1−f)·pull)². Two of n reports are of partners with probability 1/(N−1). If the contribution
        is positive, its largest value is used.
        """
        if n > self.n:
            raise Mismatch(f"these coins are for {self.n} people, but there are {n} reports")
        weight = float(self.pairs.covariance) * (n - 1) / (adversaries.partners(self.n) - 1)
        if weight >= 0.0:
            return weight, 0.0, 0.0
        slope = float(1 - self.pull) / self.gap
        start = float(self.pull) - self.q * slope
        return weight * start**2, 2.0 * weight * start * slope, weight * slope**2

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
