"""What all joint mechanisms are: a question whose coins two people share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, final

from dither.errors import InvalidParameter, MalformedReport, Mismatch
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
    """A report is the truth where a coin says so; the coins of two people, paired at random, are correlated.

    `p` is the probability of truth, `rho` the correlation (over k symbols, ρ/(k−1) is), `n` the number of
    people. Numbers are read as the exact rationals that they are; a float next to the end of ρ's range means
    that end, so that rho=1-1/p says what it says on paper.
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
        """The number of symbols that one coin decides between: k categories, two for a bit, g buckets."""

    @abstractmethod
    def _kernel(self, coins: PairedCoins) -> JointKernel:
        """Return the kernel of two coins: what they decide about."""

    @property
    @abstractmethod
    def pull(self) -> Fraction:
        """The covariance weight of a non-holder of a category, relative to a holder's."""

    @final
    @cached_property
    def kernel(self) -> JointKernel:
        """The two coins in integers, and what they decide about: what is dealt."""
        own = self._kernel(coins(Fraction(self.p), Fraction(self.rho), self.symbols))
        if self.travelled is not None and self.travelled.kernel != own:
            raise MalformedReport("the coins and the mechanism's p, rho and n disagree")
        return own

    def _budget(self) -> float:
        return math.inf  # until the coins are known

    def _build(self) -> None:
        n, p, rho = check_people(self.n), exact("p", self.p), exact("rho", self.rho)
        if not Fraction(1, self.symbols) < p < 1:
            raise InvalidParameter(
                f"p is a probability above 1/{self.symbols}, at which reports say nothing, and below 1"
            )
        low, high = rho_range(p, self.symbols)
        if not isinstance(self.rho, Fraction):
            near = [end for end in (low, high) if abs(rho - end) <= max(Fraction(1), abs(end)) / (1 << 50)]
            rho = near[0] if near else rho
        if not low <= rho <= high:
            raise InvalidParameter(
                f"for this p, rho lies between {float(low):.6g} and {float(high):.6g}: elsewhere a "
                "probability would be negative"
            )
        for name, value in (("p", p), ("rho", rho), ("n", n)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "epsilon", self.guarantee.epsilon)
        _ = self.kernel
        object.__setattr__(self, "travelled", None)  # checked above; p, rho and n say all of it

    @property
    def pairs(self) -> PairedCoins:
        """The two coins, in integers."""
        return self.kernel.coins

    @property
    def correlation(self) -> Fraction:
        """The correlation of two partners' coins: ρ/(k − 1) for k symbols."""
        return Fraction(self.rho) / (self.symbols - 1)

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return what a person is promised against an adversary who knows what the mode says.

        PARTNER_REVEALED: the partner's coin, and whatever else; with delta, only if the partner is one of the
        colluders. INFORMED: everybody else's answer, but no pairs. HIDDEN: only the colluders' coins.
        THEOREM_3 is what the dissertation states; it is not a guarantee.
        """
        return account(self.pairs, self.symbols - 1, self.n, mode=mode, colluders=colluders, delta=delta)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What a person is promised if the partner's coin is known: only the dealer is assumed honest."""
        return self.accounting(Mode.PARTNER_REVEALED)

    @final
    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the table of the two coins, the partner's being known."""
        table = self.pairs
        how = f"two coins with weights {table.both}, {table.one}, {table.one}, {table.neither}, one known"
        return self.guarantee.bound, how

    def theorem_3(self, colluders: int = 0) -> float:
        """Return the ε that [Thesis, Thm 3] states. It is not a guarantee: see `dither.jrr`."""
        if self.symbols != 2:
            raise InvalidParameter("Theorem 3 is about two categories")
        check_colluders(colluders, self.n)
        return adversaries.theorem_3(self.pairs, self.n, colluders)

    def count_variance(self, holders: float) -> float:
        """Return the variance of the estimated number of people who hold a category, if so many do.

        [Thesis, Thm 4] with k symbols, and for odd n with 1/n where it has 1/(n−1): somebody stays alone.
        """
        if not 0 <= holders <= self.n:
            raise InvalidParameter("the holders are a number from 0 to n")
        own, other = self.rates
        rest, pull = self.n - holders, float(self.pull)
        noise = holders * float(own * (1 - own)) + rest * float(other * (1 - other))
        overlap = (holders + rest * pull) ** 2 - holders - rest * pull**2
        noise += float(self.pairs.covariance) * overlap / (adversaries.partners(self.n) - 1)
        return noise / self.gap**2

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""
        if not 0.0 <= frequency <= 1.0:
            raise InvalidParameter("a frequency is a number from 0 to 1")
        return self.count_variance(frequency * self.n) / self.n

    def shared(self, n: int) -> tuple[float, float, float]:
        """Return a + b·m + c·m²: what pairs add to n times a share's variance, m being its mean.

        Two people drawn from a population pull a count the same way with the mean (f + (1−f)·pull)²; two of n
        reports are partners' with probability 1/(N−1). Where that adds, its largest value is taken.
        """
        if n > self.n:
            raise Mismatch(f"these coins were for {self.n} people; there are more reports than that")
        weight = float(self.pairs.covariance) * (n - 1) / (adversaries.partners(self.n) - 1)
        if weight >= 0.0:
            return weight, 0.0, 0.0
        slope = float(1 - self.pull) / self.gap
        start = float(self.pull) - self.q * slope
        return weight * start**2, 2.0 * weight * start * slope, weight * slope**2

    def deal(self, n: int | None = None, *, source: Source | None = None) -> list[Coin]:
        """Deal everybody's coins, pairs drawn at random: one `Coin` for each device, to be used once.

        Whoever deals knows the coins, and must not be the collector.
        """
        if n is not None and n != self.n:
            raise InvalidParameter(f"the accounting is for {self.n} people; build another for another number")
        if source is not None and not isinstance(source, Source):
            raise InvalidParameter("source must be a Source such as dt.Seeded(7), or left out")
        tossed = self.pairs.scatter(self.n, self.kernel.each, SYSTEM if source is None else source)
        return [Coin(self, tuple(map(bool, row))) for row in tossed]

    def thresholds(self, bits: int = 64) -> tuple[int, int, int]:
        """Return R₁ ≤ R₂ ≤ R₃, by which two devices toss with one number R below 2^bits [Thesis, Sec. 4.4.2].

        R below R₁: both truthful; below R₂: the first; below R₃: the second. These are the thresholds of
        `rounded(bits)`, whose guarantee is that of these integers.
        """
        return self.pairs.rounded(bits).thresholds(bits)

    def rounded(self, bits: int = 64) -> Self:
        """Return the mechanism whose coins are exactly those of `thresholds(bits)`."""
        table = self.pairs.rounded(bits)
        p = table.chance
        return replace(self, p=p, rho=table.covariance * (self.symbols - 1) / (p * (1 - p)))

    @final
    def version_1(self, sampled: Mapping[str, Any]) -> Self:
        table = self.pairs
        own = {"both": table.both, "one": table.one, "neither": table.neither, "n": self.n}
        if sampled["kernel"] != own:
            raise MalformedReport("the coins and the mechanism's p, rho and n disagree")
        return self

    @final
    def at(self, epsilon: float) -> NoReturn:
        """Refuse: what these coins spend depends on who knows what."""
        raise InvalidParameter(
            "joint coins have no one budget; dt.JRR.tuned chooses them for a mode and an ε"
        )

    def describe(self) -> str:
        """Return a paragraph for people: what is asked, what is promised, what a report is."""
        summary = (type(self).__doc__ or "").strip().splitlines()[0].rstrip(".")
        return f"{self!r}. {summary}. Promise if the partner's coin is known: {self.guarantee}."

    def __repr__(self) -> str:
        numbers = f"p={float(self.p):.6g}, rho={float(self.rho):.6g}, n={self.n}"
        return f"{type(self).__name__}({self.domain!r}, {numbers})"
