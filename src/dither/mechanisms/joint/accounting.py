"""The guarantees of joint coins against adversaries with different knowledge."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from dither.core.domains import finite
from dither.core.kernels.coin import PairedCoins, largest_loss, partners
from dither.core.kernels.joint import DEALER, GIVEN_AWAY
from dither.errors import InvalidParameter, check_choice, found
from dither.foundation.arrays import Floats
from dither.foundation.numerics.roots import smallest_float
from dither.privacy import Approximate, Guarantee, Nothing, Pure

Failure = Callable[[float], float]  # from ε to the smallest δ

_MOST_EXACT: Final = 512  # positive correlations are computed exactly for up to this number of people
_SLACK: Final = 1e-10  # more than the rounding error of a logarithm
_MOST_EPSILON: Final = 64.0  # a larger loss is treated as infinite


def revealed_epsilon(pairs: PairedCoins, lies: int) -> float:
    """Return the privacy loss against an adversary who knows the partner's coin and anything else."""
    return pairs.loss_if_known(lies)


def revealed_failure(pairs: PairedCoins, lies: int, n: int, colluders: int) -> Failure:
    """Return δ(ε) if the partner is drawn at random, and colluding partners reveal their coin."""
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

    It averages over the partner although its adversary knows the partner. It assumes that the partner's
    collusion is independent of the colluders' coins, and it ignores all other reports: errata J1 to J3.
    """
    p, q = pairs.chance, 1 - pairs.chance
    rho = pairs.covariance / (p * q)
    highest, lowest = max((1 - rho) * p, p + rho * q), min((1 - rho) * q, q + rho * p)
    others = n - colluders - 1
    above, below = colluders * highest + others * p, colluders * lowest + others * q
    return math.log(above / below) if below else math.inf


def least_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε with δ(ε) ≤ delta, nearly the smallest one, and at most the pure loss `most`.

    At the pure loss δ is 0 by definition. `failure` is not evaluated there because its allowance for rounding
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

    One coin has this outcome with probability `chance`, and both coins of a pair with `twice`. If j pairs are
    among the colluders, the other colluders − 2j have partners among the remaining size − colluders people.
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

# The adversary's knowledge besides a person's report. "partner revealed": the partner's coin and anything
# else. "informed": all other answers, but not the pairs. "hidden": the colluders' coins, but neither the
# pairs nor any answer. "theorem 3": the dissertation's Theorem 3 (not a guarantee).
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
        raise InvalidParameter(
            f"expected no delta in the mode {mode!r}, because its bound is pure; leave out "
            f"delta={found(delta)}"
        )
    if mode == "informed" and colluders:
        raise InvalidParameter(
            "expected the mode 'partner revealed' with colluders, because colluders know the pairs; "
            "'informed' assumes that only the other answers and coins are known"
        )


def check_people(n: object) -> int:
    """Return the number of people. Raise InvalidParameter unless it is an integer of at least 2."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise InvalidParameter(f"n, the number of people, must be an integer from 2 upwards, not {found(n)}")
    return int(n)


def check_colluders(colluders: object, n: int) -> None:
    """Raise InvalidParameter unless the number of colluders is from 0 to n − 1."""
    if isinstance(colluders, bool) or not isinstance(colluders, int) or not 0 <= colluders < n:
        raise InvalidParameter(f"colluders must be an integer from 0 to {n - 1}, not {found(colluders)}")


def _promise(epsilon: float, delta: float | None, *assumes: str) -> Guarantee:
    if epsilon == math.inf:
        return Guarantee(Nothing(GIVEN_AWAY))
    return Guarantee(Pure(epsilon) if delta is None else Approximate(epsilon, delta), assumes=assumes)


def _claim(pairs: PairedCoins, lies: int, n: int, colluders: int) -> str:
    if lies != 1:
        raise InvalidParameter(
            f"expected two categories with colluders (Theorem 3), got {lies + 1}; leave out colluders"
        )
    stated = theorem_3_epsilon(pairs, n, colluders)
    return f"Theorem 3 states ε = {stated:.4g}, but it holds for no adversary; use another mode"
