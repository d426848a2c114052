"""What joint coins promise against adversaries with different knowledge.

The coins with the least variance for a promise, and groups larger than two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from dither.core.domains import finite
from dither.core.kernels.coin import PairedCoins, largest_loss, partners
from dither.core.kernels.joint import DEALER, GIVEN_AWAY
from dither.errors import Infeasible, InvalidParameter, check_choice, found
from dither.foundation.arrays import Floats
from dither.foundation.numerics.roots import argmin, largest_float, smallest_float
from dither.privacy import Approximate, Guarantee, Nothing, Pure
from dither.privacy.exact import exp_below

Failure = Callable[[float], float]  # from ε to the smallest δ

_MOST_EXACT: Final = 512  # for up to so many people positive correlations are computed exactly
_SLACK: Final = 1e-10  # more than the rounding error of a logarithm
_MOST_EPSILON: Final = 64.0  # a larger loss is treated as infinite


def revealed_epsilon(pairs: PairedCoins, lies: int) -> float:
    """Return the privacy loss against an adversary who knows the partner's coin and anything else."""
    return pairs.loss_if_known(lies)


def revealed_failure(pairs: PairedCoins, lies: int, n: int, colluders: int) -> Failure:
    """Return δ(ε) if the partner is drawn at random and reveals their coin if they collude."""
    total = pairs.total
    caught = Fraction(colluders, partners(n) - 1)
    cases = [
        (caught * Fraction(pairs.both, total), caught * Fraction(pairs.one, total)),
        (caught * Fraction(pairs.one, total), caught * Fraction(pairs.neither, total)),
        ((1 - caught) * pairs.chance, (1 - caught) * (1 - pairs.chance)),
    ]
    truth = np.array([float(weight) for weight, _ in cases])
    lie = np.array([float(weight / lies) for _, weight in cases])
    return _failure(truth, lie, 2.0**-40, 0.0)


def informed_failure(pairs: PairedCoins, lies: int, n: int) -> Failure:
    """Return δ(ε) against an adversary who knows all other answers, hence coins, but not the pairs.

    The number j of liars among the others is a sufficient statistic. The person is truthful with probability
    P(Z = j)·(n − j)/n and lies with P(Z = j + 1)·(j + 1)/n, where Z is the number of liars among all n.
    """
    law = pairs.noes(n)
    liars = law.first + np.arange(-1, law.masses.size)
    masses = np.concatenate([[0.0], law.masses, [0.0]])
    return _failure(
        masses[:-1] * (n - liars) / n, masses[1:] * (liars + 1) / (n * lies), n * 2.0**-48, 2.0 * law.lost
    )


def hidden_epsilon(pairs: PairedCoins, lies: int, n: int, colluders: int) -> float:
    """Return the loss against an adversary who knows the colluders' coins, but no pairs and no answers.

    With negative correlation the polynomial both + 2·one·t + neither·t² has real roots, so by Newton's
    inequalities P(Z = z)/C(n, z) is log-concave in z. Then the probability of a pattern of coins is
    log-concave in its number of liars, and the loss is largest if all colluders lied or all were truthful.
    """
    size = partners(n)
    if pairs.independent or not colluders:
        return largest_loss([(pairs.both + pairs.one, pairs.one + pairs.neither)], lies)
    if pairs.both * pairs.neither > pairs.one**2:
        if size > _MOST_EXACT:
            return revealed_epsilon(
                pairs, lies
            )  # an upper bound; positive correlation increases the variance
        patterns = _patterns(pairs, size, colluders)
        return largest_loss(list(pairwise(patterns)), lies)
    if not pairs.neither and 2 * colluders >= size:
        return math.inf
    lying = _alike(size, colluders, 1 - pairs.chance, Fraction(pairs.neither, pairs.total))
    truthful = _alike(size, colluders, pairs.chance, Fraction(pairs.both, pairs.total))
    losses = math.log(lies * (1.0 - lying) / lying), math.log(lies * truthful / (1.0 - truthful))
    return min(max(map(abs, losses)) + _SLACK, revealed_epsilon(pairs, lies))


def theorem_3_epsilon(pairs: PairedCoins, n: int, colluders: int) -> float:
    """Return the ε that [Thesis, Thm 3] states for two answers. It is not a guarantee.

    It averages over the partner although its adversary knows the partner, assumes that whether the partner
    colludes is independent of the colluders' coins, and ignores all other reports: errata J1 to J3.
    """
    p, q = pairs.chance, 1 - pairs.chance
    rho = pairs.covariance / (p * q)
    highest, lowest = max((1 - rho) * p, p + rho * q), min((1 - rho) * q, q + rho * p)
    others = n - colluders - 1
    above, below = colluders * highest + others * p, colluders * lowest + others * q
    return math.log(above / below) if below else math.inf


def least_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε with δ(ε) ≤ delta, nearly the smallest one, and at most the pure loss `most`.

    At the pure loss δ is 0 by definition. `failure` is not evaluated there, since its allowance for rounding
    errors would make it positive.
    """
    if failure(0.0) <= delta:
        return 0.0
    high = min(most, _MOST_EPSILON)
    if high < most and failure(high) > delta:
        return math.inf
    return smallest_float(lambda epsilon: failure(epsilon) <= delta, 0.0, high, steps=64)


def _failure(truth: Floats, lie: Floats, slack: float, lost: float) -> Failure:
    """Return δ(ε) = Σ [truth − e^ε·lie]₊ + [lie − e^ε·truth]₊ for weights with relative error `slack`."""

    def failure(epsilon: float) -> float:
        ratio = math.exp(epsilon) * (1.0 - slack) / (1.0 + slack)
        above = np.maximum(truth - ratio * lie, 0.0).sum() + np.maximum(lie - ratio * truth, 0.0).sum()
        return float(above) * (1.0 + slack) + lost

    return failure


def _alike(size: int, colluders: int, chance: Fraction, twice: Fraction) -> float:
    """Return the probability that a person's coin equals the colluders' coins, given that these are equal.

    One coin has this outcome with probability `chance`, both coins of a pair with `twice`. If j pairs are
    among the colluders, the other colluders − 2j have partners among the size − colluders people that remain.
    """
    first = max(0, colluders - size // 2)
    j = np.arange(first, colluders // 2, dtype=np.float64)
    lone = colluders - 2.0 * j
    growth = lone * (lone - 1.0) / (2.0 * (j + 1.0) * (size - 2.0 * (colluders - j - 1.0)))
    logs = np.log(growth) + (math.log(twice / chance**2) if twice else -math.inf)
    weights = np.concatenate([[0.0], np.cumsum(logs)])
    weights = np.exp(weights - weights.max())
    lone = colluders - 2.0 * np.arange(first, first + weights.size)
    partner = float((weights * lone).sum() / weights.sum()) / (size - colluders)
    return float(chance) + partner * float(twice / chance - chance)


def _patterns(pairs: PairedCoins, size: int, colluders: int) -> list[int]:
    """Return the weight of a pattern of coins of colluders and one more person, for each number of liars."""
    law = [1]
    for _ in range(size // 2):
        padded = [0, 0, *law, 0, 0]
        law = [
            pairs.both * here + 2 * pairs.one * before + pairs.neither * two
            for two, before, here in zip(padded, padded[1:], padded[2:], strict=False)
        ]
    ways = [math.comb(size, liars) for liars in range(size + 1)]
    common = math.lcm(*ways)
    weights = [mass * (common // way) for mass, way in zip(law, ways, strict=True)]
    for _ in range(size - colluders - 1):  # sum over the coin of one person after another
        weights = [here + more for here, more in pairwise(weights)]
    return weights


UNPAIRED: Final = "nobody learns who is paired with whom"
UNKNOWN: Final = "nothing is known about other people's answers"


# The adversary's knowledge besides a person's report: the partner's coin, and then whatever else; everybody
# else's answer, but not who is paired with whom; the colluders' coins, but not who is paired with whom, and
# nobody's answer; what the dissertation's Theorem 3 looks at, which is not a guarantee.
Mode = Literal["partner revealed", "informed", "hidden", "theorem 3"]


def account(
    pairs: PairedCoins, lies: int, n: int, *, mode: Mode, colluders: int, delta: float | None
) -> Guarantee:
    """Return the guarantee of one of n people in a mode."""
    check_mode(n, mode, colluders, delta)
    crowd = f"at most {colluders} people collude with the collector"
    pure = revealed_epsilon(pairs, lies)
    if mode == "theorem 3":
        return Guarantee(Nothing(_claim(pairs, lies, n, colluders)))
    if mode == "hidden":
        return _promise(hidden_epsilon(pairs, lies, n, colluders), None, DEALER, UNPAIRED, UNKNOWN, crowd)
    if mode == "informed":
        if delta is None:
            return _promise(pure, None, DEALER)
        failure = informed_failure(pairs, lies, n)
        return _promise(least_epsilon(failure, delta, pure), delta, DEALER, UNPAIRED)
    if delta is None:
        return _promise(pure, None, DEALER)
    failure = revealed_failure(pairs, lies, n, colluders)
    spent = least_epsilon(failure, delta, pure)
    return _promise(spent, delta, DEALER, "pairs are drawn at random", UNKNOWN, crowd)


def check_mode(n: int, mode: Mode, colluders: int, delta: float | None) -> None:
    """Raise InvalidParameter unless the mode, the number of colluders and δ are compatible."""
    check_choice("mode", mode, Mode)
    check_people(n)
    check_colluders(colluders, n)
    if delta is not None and not 0.0 < finite("delta", delta) < 1.0:
        raise InvalidParameter(
            f"delta must be between 0 and 1, not {found(delta)}; omit it for a pure guarantee"
        )
    if mode in ("hidden", "theorem 3") and delta is not None:
        raise InvalidParameter(f"{mode!r} has a pure bound; omit delta={found(delta)}")
    if mode == "informed" and colluders:
        raise InvalidParameter(
            "'informed' assumes that all other answers, hence coins, are known, but not the pairs, which "
            "colluders know; use 'partner revealed' with colluders"
        )


def check_people(n: object) -> int:
    """Return the number of people; raise InvalidParameter unless it is a whole number from 2 upwards."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise InvalidParameter(
            f"n, the number of people, must be a whole number from 2 upwards, not {found(n)}"
        )
    return int(n)


def check_colluders(colluders: object, n: int) -> None:
    """Raise InvalidParameter unless the number of colluders is from 0 to n − 1."""
    if isinstance(colluders, bool) or not isinstance(colluders, int) or not 0 <= colluders < n:
        raise InvalidParameter(f"colluders must be a whole number from 0 to {n - 1}, not {found(colluders)}")


def _promise(epsilon: float, delta: float | None, *assumes: str) -> Guarantee:
    if epsilon == math.inf:
        return Guarantee(Nothing(GIVEN_AWAY))
    return Guarantee(Pure(epsilon) if delta is None else Approximate(epsilon, delta), assumes=assumes)


def _claim(pairs: PairedCoins, lies: int, n: int, colluders: int) -> str:
    if lies != 1:
        raise InvalidParameter(f"Theorem 3 is for two categories, not {lies + 1}")
    stated = theorem_3_epsilon(pairs, n, colluders)
    return f"Theorem 3 states ε = {stated:.4g}, which does not hold for any adversary; use another mode"


Coins = tuple[Fraction, Fraction]  # p and ρ

_BITS: Final = 53  # probabilities are multiples of 2^−53
_GRID: Final = 24  # probabilities of truth that are tried before the best is refined
_STEPS: Final = 20  # steps of each search


def exact(name: str, value: object) -> Fraction:
    """Return a number as its exact rational value."""
    return value if isinstance(value, Fraction) else Fraction(finite(name, value))


def rho_range(p: Fraction, categories: int) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest ρ for which no probability of the table is negative."""
    lies = categories - 1
    q = (1 - p) / lies
    return max(-p / q, -(lies**2) * q / p), Fraction(lies)


def coins(p: Fraction, rho: Fraction, categories: int) -> PairedCoins:
    """Return the two coins of [Thesis, Sec. 4.5]: ρ·p·q is their covariance, so ρ/(k−1) their correlation."""
    return PairedCoins.of(p, rho * p * (1 - p) / (categories - 1))


def plain(epsilon: float, categories: int) -> Fraction:
    """Return the largest probability of truth, as a double, for which plain RR or KRR spends at most ε."""
    ratio = exp_below(Fraction(epsilon))
    return _double(ratio / (ratio + categories - 1))


def published_coins(epsilon: float, categories: int, n: int, colluders: int) -> Coins:
    """Return p = e^ε/(1+e^ε) and ρ = 1 − 1/p [Thesis, Sec. 4.3.4]; with colluders, p by Theorem 3."""
    p = plain(epsilon, categories)
    if colluders:
        if categories != 2:
            raise InvalidParameter(f"Theorem 3 is for two categories, not {categories}; omit colluders")
        if colluders >= n - 1:
            raise Infeasible(
                f"with {colluders} colluders among {n} people no correlation satisfies Theorem 3"
            )
        # p(1 − ρm/(n−1)) = e^ε/(1+e^ε) at ρ = 1 − 1/p
        p = _double(1 - (n - 1) * (1 - p) / (n - 1 - colluders))
        if p <= Fraction(1, 2):
            raise Infeasible(
                f"with {colluders} colluders among {n} people no correlation satisfies Theorem 3"
            )
    return p, rho_range(p, categories)[0]


@dataclass(frozen=True)
class Search:
    """The smallest variance of a count under a mode, over the probability of truth and ρ.

    `first` and `second` are the mean and the mean square of the number of people who hold the category.
    A negative ρ helps if most people hold the category or most do not, and a positive one otherwise.
    """

    categories: int
    n: int
    epsilon: float
    first: float
    second: float

    def best(self, allowed: Callable[[PairedCoins], bool]) -> Coins:
        """Return the coins with the smallest variance among the allowed ones: a grid search, then refined."""
        highest = plain(self.epsilon, self.categories)

        def choose(budget: float) -> tuple[float, Coins]:
            p = plain(budget, self.categories) if budget < self.epsilon else highest
            rho = self._farthest(p, allowed)
            return self.variance(p, rho), (p, rho)

        step = self.epsilon / _GRID
        tried = [choose(step * count) for count in range(1, _GRID + 1)]
        place = min(range(_GRID), key=lambda index: tried[index][0])
        refined = [tried[place]]

        def variance(budget: float) -> float:
            refined.append(choose(budget))
            return refined[-1][0]

        argmin(variance, step * place, step * min(place + 2, _GRID), sections=_STEPS)
        return min(refined)[1]

    def variance(self, p: Fraction, rho: Fraction) -> float:
        """Return the mean variance of the estimated count."""
        lies = self.categories - 1
        q = (1 - p) / lies
        spread = partners(self.n) - 1
        other = self.n - self.first
        noise = self.first * float(p * (1 - p)) + other * float(q * (1 - q))
        return (noise + float(rho * p * q) * self._overlap / spread) / float(p - q) ** 2

    @property
    def _overlap(self) -> float:
        """The sum over pairs of people of the products of their weights in a count."""
        away = 1.0 / (self.categories - 1)
        gap = 1.0 + away
        squared = gap**2 * self.second - 2.0 * gap * away * self.n * self.first + (away * self.n) ** 2
        return squared - self.first - (self.n - self.first) * away**2

    def _farthest(self, p: Fraction, allowed: Callable[[PairedCoins], bool]) -> Fraction:
        """Return the allowed ρ farthest from 0 on the side that helps; ρ = 0 is always allowed."""
        end = rho_range(p, self.categories)[0 if self._overlap > 0.0 else 1]
        if allowed(coins(p, end, self.categories)):
            return end

        def keeps(share: float) -> bool:
            return allowed(coins(p, end * Fraction(share), self.categories))

        return end * Fraction(largest_float(keeps, 0.0, 1.0, steps=_STEPS))


def constraint(
    mode: Mode, epsilon: float, categories: int, n: int, *, colluders: int, delta: float | None
) -> Callable[[PairedCoins], bool]:
    """Return a function that returns whether coins spend at most ε in a mode."""
    lies = categories - 1
    if mode == "theorem 3":
        if lies != 1:
            raise InvalidParameter(f"Theorem 3 is for two categories, not {categories}")
        return lambda pairs: theorem_3_epsilon(pairs, n, colluders) <= epsilon
    if mode == "hidden":
        return lambda pairs: hidden_epsilon(pairs, lies, n, colluders) <= epsilon
    if delta is None:
        return lambda pairs: revealed_epsilon(pairs, lies) <= epsilon
    if mode == "informed":
        return lambda pairs: informed_failure(pairs, lies, n)(epsilon) <= delta
    return lambda pairs: revealed_failure(pairs, lies, n, colluders)(epsilon) <= delta


def _double(number: Fraction) -> Fraction:
    return Fraction(math.floor(number * (1 << _BITS)), 1 << _BITS)


@dataclass(frozen=True)
class Group:
    """Exchangeable coins of a group: `masses[s]` is the probability that s people are truthful."""

    size: int
    p: Fraction
    rho: Fraction
    masses: tuple[Fraction, ...]

    def count_variance(self, n: int, n1: int) -> float:
        """Return the variance of the estimated count if n1 of n people hold the category, grouped at random.

        Theorem 4 with size − 1 companions among n − 1 people instead of one partner.
        """
        if n < self.size or n % self.size or not 0 <= n1 <= n:
            raise InvalidParameter(
                f"n must be a multiple of the group's size, {self.size}, and n1 from 0 to n; "
                f"not {found(n)} and {found(n1)}"
            )
        overlap = Fraction((2 * n1 - n) ** 2 - n, n - 1) * (self.size - 1)
        return float(self.p * (1 - self.p) / (2 * self.p - 1) ** 2 * (n + self.rho * overlap))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person against an adversary who knows all other coins of the group."""
        scale = math.lcm(*(mass.denominator for mass in self.masses)) * math.lcm(
            *(math.comb(self.size, count) for count in range(self.size + 1))
        )
        pattern = [int(mass * scale / math.comb(self.size, count)) for count, mass in enumerate(self.masses)]
        loss = largest_loss(list(zip(pattern[1:], pattern, strict=False)), 1)
        if loss == math.inf:
            return Guarantee(Nothing("the rest of the group can give a coin away, and with it the answer"))
        return Guarantee(Pure(loss), assumes=(DEALER,))


def least_rho(size: int, p: float | Fraction) -> Fraction:
    """Return the smallest pairwise correlation of `size` coins with probability p of heads.

    The number of heads is an integer with mean size·p, so its variance, size·pq·(1 + (size−1)·ρ), is at least
    θ(1−θ), where θ is the fractional part of size·p. Equality holds for the distribution on the two integers
    next to size·p. In large groups (size−1)·ρ approaches −1: a count has hardly any noise, and all other
    coins of a group determine the last one.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise InvalidParameter(
            f"the size of a group must be a whole number from 2 upwards, not {found(size)}"
        )
    chance = exact("p", p)
    if not Fraction(1, 2) < chance < 1:
        raise InvalidParameter(f"p must be above 1/2 and below 1, not {float(chance):g}")
    rest = size * chance % 1
    return (rest * (1 - rest) / (size * chance * (1 - chance)) - 1) / (size - 1)


def group(size: int, *, p: float | Fraction, rho: float | Fraction) -> Group:
    """Return exchangeable coins with this p and pairwise correlation; raise Infeasible if there are none.

    Every feasible ρ is reached by a mixture of independent coins with those of `least_rho` if ρ < 0, and with
    coins that are all equal if ρ > 0.

    >>> group(3, p=0.75, rho=-0.25).masses
    (Fraction(1, 256), Fraction(9, 256), Fraction(171, 256), Fraction(75, 256))
    """
    chance, correlation = exact("p", p), exact("rho", rho)
    least = least_rho(size, chance)
    if not least <= correlation <= 1:
        raise Infeasible(
            f"{size} coins with p = {float(chance):g} have correlations from {float(least):.6g} to 1, not "
            f"{float(correlation):g}"
        )
    plain = [
        math.comb(size, count) * chance**count * (1 - chance) ** (size - count) for count in range(size + 1)
    ]
    if correlation < 0:
        below, rest = divmod(size * chance, 1)
        extreme = [Fraction(0)] * (size + 1)
        extreme[int(below)] += 1 - rest
        extreme[int(below) + (1 if rest else 0)] += rest
        share = correlation / least
    else:
        extreme = [1 - chance, *[Fraction(0)] * (size - 1), chance]
        share = correlation
    masses = [share * most + (1 - share) * other for most, other in zip(extreme, plain, strict=True)]
    return Group(size, chance, correlation, tuple(masses))
