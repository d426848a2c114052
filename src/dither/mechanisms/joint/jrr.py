"""JRR: randomized response with coins that are correlated between two people, for more accurate counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dither.domains import Categories, finite
from dither.errors import InvalidParameter, found
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import JointResponse
from dither.kernels.sets.bits import Bits
from dither.kernels.sets.hashed_response import HashedResponse
from dither.kernels.window.response import ResponseKernel
from dither.mechanisms.joint.accounting import Mode, check_mode
from dither.mechanisms.joint.extensions import JointOLH, JointSUE
from dither.mechanisms.joint.joint import Joint, Real
from dither.mechanisms.joint.tuning import Search, constraint, plain, published
from dither.question import CategoryQuestion, as_question, can_answer, check_epsilon


@final
@dataclass(frozen=True, repr=False)
class JRR(Joint):
    """The answer or a lie, decided by a coin; the coins of two people are correlated.

    Promise:   `jrr.guarantee` if the partner's coin is known, often none; `jrr.accounting(mode)` for less
               knowledge.
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

        `n1` is a guess of the number of people who hold the category to be counted; by default all numbers
        have equal weight. If the partner may be known, independent coins (ρ = 0) are best for every n1.
        """
        budget, k = check_epsilon(epsilon), _size(domain)
        check_mode(n, mode, colluders, delta)
        if n1 is not None and not 0 <= finite("n1", n1) <= n:
            raise InvalidParameter(f"n1 must be from 0 to n = {n}, or None, not {found(n1)}")
        if mode in (Mode.PARTNER_REVEALED, Mode.INFORMED) and delta is None:
            return JRR(domain, p=plain(budget, k), rho=Fraction(0), n=n)
        first, second = (n / 2.0, n * (2.0 * n + 1.0) / 6.0) if n1 is None else (n1, n1 * n1)
        allowed = constraint(mode, budget, k, n, colluders=colluders, delta=delta)
        p, rho = Search(k, n, budget, first, second).best(allowed)
        return JRR(domain, p=p, rho=rho, n=n)

    @staticmethod
    def heuristic(domain: Categories, *, epsilon: float, n: int, colluders: int = 0) -> JRR:
        """Return the published choice, p = e^ε/(1+e^ε) with the most negative ρ; with colluders, a smaller p.

        [Thesis, Sec. 4.3.4]. With colluders, p is chosen so that Theorem 3 states ε. Neither choice has a
        guarantee of ε.
        """
        k = _size(domain)
        check_mode(n, Mode.THEOREM_3, colluders, None)
        p, rho = published(check_epsilon(epsilon), k, n, colluders)
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
                "OUE keeps a 1 with another probability than a 0; correlated coins need equal ones: use SUE"
            )
        raise InvalidParameter(
            f"correlated coins need RR, KRR, SUE, OLH or BLH, not {question.name}"
            + ("; its reports are not the truth or a lie" if isinstance(question, CategoryQuestion) else "")
        )

    @property
    def symbols(self) -> int:
        """The number of categories."""
        return len(self.categories)

    def _joined(self, coins: PairedCoins) -> JointResponse:
        return JointResponse(coins, self.n, self.symbols)


def _size(domain: object) -> int:
    if not isinstance(domain, Categories):
        raise InvalidParameter(f"JRR needs a domain of type Categories, not {type(domain).__name__}")
    return len(domain)
