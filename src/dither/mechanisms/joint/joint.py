"""Joint mechanisms with correlated coins of two people: JRR, also for bits and hashes."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from typing import Literal, NoReturn, Self, cast

import numpy as np

from dither.core.domains import Categories, finite
from dither.core.kernels.coin import PairedCoins
from dither.core.kernels.joint import JointBits, JointHashed, JointKernel, JointResponse
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.hashing import Hashing
from dither.core.kernels.sets.prefix import HashedResponse
from dither.core.kernels.window.kernel import ResponseKernel
from dither.core.question import CategoryQuestion, as_question, can_answer, check_epsilon
from dither.core.reports import Reports
from dither.errors import InvalidParameter, check_choice, found
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.joint.accounting import (
    Mode,
    account,
    check_colluders,
    check_mode,
    check_people,
    theorem_3_epsilon,
)
from dither.mechanisms.joint.coins import Search, coins, constraint, exact, plain, published_coins, rho_range
from dither.privacy import Guarantee


@dataclass(frozen=True)
class Coin:
    """The coin of one device, for one answer. Keep it secret: it reveals whether the report is true."""

    mechanism: Joint
    truthful: tuple[bool, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.truthful) != self.mechanism.each or not all(
            type(truth) is bool for truth in self.truthful
        ):
            raise InvalidParameter(f"a coin of this mechanism must be {self.mechanism.each} booleans")

    def apply(self, value: object, *, source: Source | None = None) -> Reports:
        """Return the report of one answer; `source` selects the lie if there are several."""
        codes = self.mechanism.categories.check([value])
        if codes.shape != (1,):
            raise InvalidParameter(
                "expected one answer for one coin, got another number of answers; pass one value"
            )
        randomness = SYSTEM if source is None else source
        cells = np.empty(1, dtype=self.mechanism.question.layout)
        cells[:] = self.mechanism.joint_kernel.tell(codes, np.array([self.truthful]), randomness)
        return Reports(self.mechanism.question, cells)


Real = float | Fraction


@dataclass(frozen=True, repr=False)
class Joint(CategoryMechanism):
    """A report is the truth if a coin shows heads. The coins of two people, paired at random, are correlated.

    `p` is the probability of truth. `rho` is the correlation for two symbols; for k symbols it is ρ/(k−1).
    `n` is the number of people. Floats mean their exact rational values, except that a float next to an
    end of the range of ρ is replaced by that end, so that rho=1-1/p has its mathematical value.
    """

    _: KW_ONLY
    epsilon: float = field(init=False, compare=False)
    p: Real = field()  # a Fraction; numpy code uses float(p)
    rho: Real
    n: int

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols of one coin: k categories, two for a bit, g buckets."""

    @abstractmethod
    def _join(self, coins: PairedCoins) -> JointKernel:
        """Return the kernel that draws reports with these coins."""

    def _kernel(self) -> JointKernel:
        return self._join(coins(Fraction(self.p), Fraction(self.rho), self.symbols))

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
                f"expected rho from {float(low):.6g} to {float(high):.6g} for p = {float(p):g}, got "
                f"{float(rho):g}: otherwise a probability would be negative"
            )
        for name, value in (("p", p), ("rho", rho), ("n", n)):
            object.__setattr__(self, name, value)
        spent = self._kernel().promise(math.inf, {}).bound
        object.__setattr__(self, "epsilon", Guarantee(spent).epsilon)

    @property
    def joint_kernel(self) -> JointKernel:
        """The kernel of reports that share coins."""
        return cast(JointKernel, self.question.kernel)

    @property
    def each(self) -> int:
        """The number of coins of one report."""
        return self.joint_kernel.each

    @property
    def pairs(self) -> PairedCoins:
        """The two coins, in integers."""
        return self.joint_kernel.coins

    @property
    def correlation(self) -> Fraction:
        """The correlation of two partners' coins: ρ/(k − 1) for k symbols."""
        return Fraction(self.rho) / (self.symbols - 1)

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee against an adversary with the knowledge of a mode.

        Modes. "partner revealed": the partner's coin and anything else; with delta, only if the partner
        colludes. "informed": all other answers, but not the pairs. "hidden": only the colluders' coins.
        "theorem 3" is the ε stated in the dissertation; it is not a guarantee.
        """
        return account(self.pairs, self.symbols - 1, self.n, mode=mode, colluders=colluders, delta=delta)

    def theorem_3(self, colluders: int = 0) -> float:
        """Return the ε that [Thesis, Thm 3] states. It is not a guarantee: see `dither.mechanisms.jrr`."""
        if self.symbols != 2:
            raise InvalidParameter(
                f"expected two categories with colluders (Theorem 3), got {self.symbols}; leave out colluders"
            )
        check_colluders(colluders, self.n)
        return theorem_3_epsilon(self.pairs, self.n, colluders)

    def count_variance(self, holders: float, *, both: float | None = None) -> float:
        """Return the variance of the estimated number of people who hold a category, if `holders` people do.

        Pairs are drawn at random unless `both` gives the number of fixed pairs in which both people hold it.
        """
        if not 0 <= holders <= self.n:
            raise InvalidParameter(f"holders must be from 0 to n = {self.n}, not {found(holders)}")
        if both is not None:
            _check_even(self.n)
            least, most = max(0.0, holders - self.n / 2.0), holders / 2.0
            if not least <= both <= most:
                raise InvalidParameter(
                    f"expected {least:g} to {most:g} of {self.n // 2} pairs in which both people hold the "
                    f"category, got {found(both)}, if {holders:g} people hold it"
                )
        return float(self.joint_kernel.count_variance(holders, both))

    def deal(
        self,
        n: int | None = None,
        *,
        grouping: Literal["random", "fixed"] = "random",
        source: Source | None = None,
    ) -> list[Coin]:
        """Return one `Coin` for each device, to be used once.

        Pairs are drawn at random. With the grouping "fixed", neighbours are partners: the first and the
        second person, the third and the fourth. Then everybody knows the pairs, and the guarantee is the one
        of "partner revealed". The dealer knows the coins and must not be the collector.
        """
        check_choice("grouping", grouping, Literal["random", "fixed"])
        if grouping == "fixed":
            _check_even(self.n)
        if n is not None and n != self.n:
            raise InvalidParameter(
                f"expected n = {self.n}, the number of people of this mechanism, got {found(n)}; make "
                f"another mechanism for {found(n)} people"
            )
        if source is not None and not isinstance(source, Source):
            raise InvalidParameter(
                f"source must be a Source such as dt.Seeded(7), or None, not {found(source)}"
            )
        randomness = SYSTEM if source is None else source
        tossed = self.pairs.scatter(self.n, self.each, randomness, fixed=grouping == "fixed")
        return [Coin(self, tuple(map(bool, row))) for row in tossed]

    def thresholds(self, bits: int = 64) -> tuple[int, int, int]:
        """Return R₁ ≤ R₂ ≤ R₃ for two devices with one uniform number R below 2^bits [Thesis, Sec. 4.4.2].

        R < R₁: both are truthful. R₁ ≤ R < R₂: only the first is. R₂ ≤ R < R₃: only the second is. These are
        the thresholds of `rounded(bits)`; its guarantee belongs to these integers.
        """
        return self.pairs.rounded(bits).thresholds(bits)

    def rounded(self, bits: int = 64) -> Self:
        """Return the mechanism with exactly the coins of `thresholds(bits)`."""
        table = self.pairs.rounded(bits)
        p = table.chance
        return replace(self, p=p, rho=table.covariance * (self.symbols - 1) / (p * (1 - p)))

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


def _check_even(people: int) -> None:
    if people % 2:
        raise InvalidParameter(f"expected an even number of people for fixed pairs, got {people}")


@dataclass(frozen=True, repr=False)
class JointSUE(Joint):
    """One bit for each category, kept or flipped by a coin that is correlated with another person's coin.

    Promise:   if the partner's coins are known, the loss of two bits, as the rows of two answers differ in
               two bits.
    Reports:   ⌈k/8⌉ bytes of packed bits, as in SUE.
    Use when:  the dissertation's extension is studied; `JRR.over(SUE(...), rho=..., n=...)` returns it.
    Reference: [Thesis, Sec. 4.5] names OUE; that is not possible, see deviations.
    """

    _draws = ("joint bits",)

    @property
    def symbols(self) -> int:
        """The two values of a bit."""
        return 2

    def _join(self, coins: PairedCoins) -> JointBits:
        return JointBits(coins, self.n, len(self.categories))

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee in the mode "partner revealed"; the other modes are not available."""
        if mode != "partner revealed" or delta is not None:
            raise InvalidParameter(
                "expected the mode 'partner revealed' without delta for JointSUE, because a row of coins "
                "reveals more about the pairs than one coin"
            )
        bit = super().accounting(mode, colluders=colluders)
        return bit.repeated(2)


@dataclass(frozen=True, repr=False)
class JointOLH(Joint):
    """The answer's bucket under a public hash, or a lie, by a coin that is correlated with another person's.

    Promise:   the promise of JRR, on the buckets.
    Reports:   eight bytes: seed·2^16 + bucket, as in OLH.
    Use when:  the dissertation's extension is studied; `JRR.over(OLH(...), rho=..., n=...)` returns it. The
               gain is small: only the coins of people who hold a category change its count together.
    Reference: [Thesis, Sec. 4.5].
    """

    _draws = ("joint hashed",)

    _: KW_ONLY
    hashed_to: int

    @property
    def symbols(self) -> int:
        """The number of buckets."""
        return Hashing(self.hashed_to).buckets  # raises an error if there are too many buckets

    def _join(self, coins: PairedCoins) -> JointHashed:
        return JointHashed(coins, self.n, self.hashed_to)


@dataclass(frozen=True, repr=False)
class JRR(Joint):
    """The answer or a lie, decided by a coin; the coins of two people are correlated.

    Promise:   `jrr.guarantee` if the partner's coin is known (often no guarantee); `jrr.accounting(mode)` for
               less knowledge.
    Reports:   a category, in one to four bytes.
    Use when:  the dissertation is reproduced. Against an adversary who knows the partner, plain `RR` has the
               smallest variance of all; read docs/jrr.md before anything else.
    Reference: [Thesis, Ch. 4]; its Theorem 3 is not a guarantee, see deviations.

    >>> jrr = JRR(Categories(2), p=0.8, rho=-0.25, n=2)  # Example 3
    >>> round(jrr.count_variance(2), 4)
    0.6667
    >>> jrr.guarantee.bound
    Nothing(reason="other people's coins can give this one away, and with it the answer")
    """

    _draws = ("joint response",)

    @staticmethod
    def tuned(
        domain: Categories,
        *,
        epsilon: float,
        mode: Mode,
        n: int,
        colluders: int = 0,
        delta: float | None = None,
        n1: float | None = None,
    ) -> JRR:
        """Return the coins with the smallest variance that spend at most ε in a mode.

        `n1` is a guess of the number of people who hold the counted category; by default all numbers have
        equal weight. If the partner may be known, independent coins (ρ = 0) are best for every n1.
        """
        budget, k = check_epsilon(epsilon), _size(domain)
        check_mode(n, mode, colluders, delta)
        if n1 is not None and not 0 <= finite("n1", n1) <= n:
            raise InvalidParameter(f"n1 must be from 0 to n = {n}, or None, not {found(n1)}")
        if mode in ("partner revealed", "informed") and delta is None:
            return JRR(domain, p=plain(budget, k), rho=Fraction(0), n=n)
        first, second = (n / 2.0, n * (2.0 * n + 1.0) / 6.0) if n1 is None else (n1, n1 * n1)
        allowed = constraint(mode, budget, k, n, colluders=colluders, delta=delta)
        p, rho = Search(k, n, budget, first, second).best(allowed)
        return JRR(domain, p=p, rho=rho, n=n)

    @staticmethod
    def heuristic(domain: Categories, *, epsilon: float, n: int, colluders: int = 0) -> JRR:
        """Return the published choice: p = e^ε/(1+e^ε) with the most negative ρ; a smaller p with colluders.

        [Thesis, Sec. 4.3.4]. With colluders, p is chosen so that Theorem 3 states ε. Neither choice has a
        guarantee of ε.
        """
        k = _size(domain)
        check_mode(n, "theorem 3", colluders, None)
        p, rho = published_coins(check_epsilon(epsilon), k, n, colluders)
        return JRR(domain, p=p, rho=rho, n=n)

    @staticmethod
    def over(mechanism: object, *, rho: Real, n: int) -> Joint:
        """Return a mechanism with the same reports and correlated coins, for RR, KRR, SUE, OLH and BLH.

        `rho` is for categories, single bits or buckets.
        """
        if not can_answer(mechanism):
            raise InvalidParameter(
                f"correlated coins need RR, KRR, SUE, OLH or BLH, not {type(mechanism).__name__}"
            )
        question = as_question(mechanism)
        kernel, domain = question.kernel, question.domain
        if isinstance(kernel, ResponseKernel):
            return JRR(domain, p=kernel.rates[0], rho=rho, n=n)
        if isinstance(kernel, Bits) and kernel.own.heads + kernel.other.heads == 1 << kernel.own.bits:
            return JointSUE(domain, p=kernel.rates[0], rho=rho, n=n)
        if isinstance(kernel, HashedResponse):
            return JointOLH(domain, p=kernel.rates[0], rho=rho, n=n, hashed_to=kernel.window.cells)
        if isinstance(kernel, Bits):
            raise InvalidParameter(
                "expected a mechanism that keeps a 1 and a 0 with equal probabilities, got OUE; use SUE"
            )
        raise InvalidParameter(
            f"correlated coins need RR, KRR, SUE, OLH or BLH, not {question.name}"
            + ("; its reports are not the truth or a lie" if isinstance(question, CategoryQuestion) else "")
        )

    @property
    def symbols(self) -> int:
        """The number of categories."""
        return len(self.categories)

    def _join(self, coins: PairedCoins) -> JointResponse:
        return JointResponse(coins, self.n, self.symbols)


def _size(domain: object) -> int:
    if not isinstance(domain, Categories):
        raise InvalidParameter(f"expected a domain of type Categories for JRR, got {type(domain).__name__}")
    return len(domain)
