"""The ends of profile likelihood intervals of linear quantities, by quadratic programs.

An end of the interval of Σ v·p is the largest Σ v·p among the distributions p whose log-likelihood is within
a number of nats of the maximum. Near the maximum the log-likelihood is quadratic to a few per cent. Its
Hessian is computed once for all quantities. With it, an end is the solution of a quadratic program over p ≥
0. Few of the bins that are empty at the maximum gain probability, and few of the others lose all of it. So
the conditions of Karush, Kuhn and Tucker are written as y = q + M·z with y, z ≥ 0 and y·z = 0, where z is 0
at the maximum (a principal pivot of the Hessian [Cottle09, Sec. 2.3]). Then an end needs only a few systems
of about ten equations. Further programs correct the error of the quadratic form. Each is about the last
solution, with its exact log-likelihood and gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from dither.core.kernels.transition import Operator
from dither.foundation.arrays import Floats, Mask
from dither.foundation.numerics.matrices import dot, product, solve

# Added to the Hessian, relative to its mean diagonal, as bins may have equal distributions.
_RIDGE: Final = 1e-9
_EMPTY: Final = 1e-7  # bins with less than this share of the largest probability start as empty
_ROUNDS: Final = 60  # largest number of exchanges of bins in a program
_AT_ONCE: Final = 8  # number of rounds that exchange all bins with a wrong sign
_CLIMBS: Final = 16  # largest number of programs for the maximum
_PROGRAMS: Final = 5  # largest number of programs for an end
_FLAT: Final = 1e-4  # nats; a smaller gain of the log-likelihood is not worth another program
_SAME: Final = 1e-9  # a mean this close to its limit counts as the limit
_TINY: Final = 1e-300


class _Point(NamedTuple):
    """A distribution over the bins, its log-likelihood, and the gradient of the log-likelihood."""

    shares: Floats
    height: float
    gradient: Floats


class _Pivot(NamedTuple):
    """The solution of a program without exchanged bins, as a linear function: M, and the vector for Σ p = 1.

    For a used bin, y is its share and z its multiplier. For an empty bin the roles are exchanged.
    """

    used: Mask
    matrix: Floats
    total: Floats

    @classmethod
    def of(cls, hessian: Floats, used: Mask) -> Self:
        own, others = np.flatnonzero(used), np.flatnonzero(~used)
        inverse = solve(hessian[np.ix_(own, own)], np.eye(own.size))
        sums = inverse.sum(axis=0)
        complete = float(sums.sum())
        inverse -= np.outer(sums, sums) / complete
        across = hessian[np.ix_(others, own)]
        beside = product(across, inverse) + sums / complete
        fill = product(across, sums) / complete
        below = hessian[np.ix_(others, others)] - product(beside, across.T) - fill[:, None] + 1.0 / complete
        matrix, total = np.empty_like(hessian), np.empty(len(hessian))
        matrix[np.ix_(own, own)], matrix[np.ix_(own, others)] = inverse, -beside.T
        matrix[np.ix_(others, own)], matrix[np.ix_(others, others)] = beside, below
        total[own], total[others] = sums / complete, fill - 1.0 / complete
        return cls(used, matrix, total)

    def respond(self, slopes: Floats) -> Floats:
        """Return the derivative of q by the linear part of a program's objective."""
        return product(self.matrix, np.where(self.used, slopes, 0.0)) - np.where(self.used, 0.0, slopes)


@dataclass(frozen=True, eq=False)
class LikelihoodProfile:
    """A log-likelihood about its maximum."""

    operator: Operator
    counts: Floats
    best: _Point
    hessian: Floats
    pivot: _Pivot

    @classmethod
    def of(cls, operator: Operator, counts: Floats, start: Floats) -> Self:
        """Return the profile whose maximum is found from a distribution close to it."""
        found = cls._climb(operator, counts, start, start > _EMPTY * start.max())
        return cls._climb(operator, counts, found.best.shares, found.best.shares > 0.0)

    @classmethod
    def _climb(cls, operator: Operator, counts: Floats, start: Floats, used: Mask) -> Self:
        expected = np.maximum(operator.forward(start), _TINY)
        weights = counts / expected / expected  # expected**2 could underflow to 0
        hessian = operator.products(weights, operator)
        hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian) / len(hessian)
        pivot = _Pivot.of(hessian, used)
        best = _look(operator, counts, start)
        for _ in range(_CLIMBS):
            here = cls(operator, counts, best, hessian, pivot)
            found = here._solve(best, np.zeros_like(start), 0.0, 0.0)
            after = best if found is None else _look(operator, counts, found)
            if after.height - best.height < _FLAT:
                break
            best = after
        return cls(operator, counts, best, hessian, pivot)

    def end(self, numbers: Floats, side: float, reach: float, limit: float, close: float) -> float | None:
        """Return the largest (side 1) or least (side −1) mean of `numbers`, up to a limit; None if not found.

        The log-likelihood there is reach²/2 below its maximum, to `close` in units of `reach`.
        """
        numbers, limit, point = side * numbers, side * limit, self.best
        for _ in range(_PROGRAMS):
            shares = self._solve(point, numbers, reach**2 / 2.0 + point.height - self.best.height, limit)
            if shares is None:
                return None
            point = _look(self.operator, self.counts, shares)
            loss, mean = math.sqrt(2.0 * max(self.best.height - point.height, 0.0)), dot(numbers, shares)
            at_limit = mean >= limit - _SAME
            if abs(loss - reach) <= close or (loss <= reach and at_limit):
                return side * (limit if at_limit else mean)
        return None

    def _solve(self, about: _Point, numbers: Floats, slack: float, limit: float) -> Floats | None:
        """Return the shares with the largest mean of `numbers`; None if the exchanges of bins do not end.

        The log-likelihood is approximated by a quadratic function about a point. It may be `slack` below its
        value there. If all numbers are zero, return its maximum.
        """
        pivot, matrix = self.pivot, self.pivot.matrix
        q = np.stack(
            [
                pivot.respond(product(self.hessian, about.shares) + about.gradient) + pivot.total,
                pivot.respond(numbers),
            ],
            axis=1,
        )
        exchanged = np.flatnonzero(q[:, 0] < 0.0)
        for times in range(_ROUNDS):
            z, y = np.zeros_like(q), q
            if exchanged.size:
                z[exchanged] = solve(matrix[np.ix_(exchanged, exchanged)], -q[exchanged])
                y = q + product(matrix[:, exchanged], z[exchanged])
                y[exchanged] = 0.0
            shares, multipliers = (np.where(pivot.used[:, None], *pair) for pair in ((y, z), (z, y)))
            factor = _factor(about, numbers, shares, multipliers, slack, limit)
            if factor == math.inf:  # the shares do not change before the next bin is exchanged
                falling = y[:, 1] < 0.0
                factor = 1.001 * float((-y[falling, 0] / y[falling, 1]).min()) if falling.any() else 0.0
            both = np.array([1.0, factor])
            wrong = product(y, both) < 0.0
            wrong[exchanged] = product(z[exchanged], both) > 0.0
            after = np.flatnonzero(wrong)
            if np.array_equal(after, exchanged):
                found = np.maximum(product(shares, both), 0.0)
                return np.asarray(found / found.sum())
            if times >= _AT_ONCE:  # exchange one bin at a time to avoid cycles [Cottle09, Sec. 4.2]
                after = np.setxor1d(exchanged, np.setxor1d(after, exchanged)[-1:])
            exchanged = after
        return None


def _factor(
    about: _Point, numbers: Floats, shares: Floats, multipliers: Floats, slack: float, limit: float
) -> float:
    """Return the weight of the numbers at which the log-likelihood is `slack` lower, or their mean `limit`.

    Shares and multipliers are linear functions of the weight, given by two columns. Let d be the change of
    the shares. Then d·H·d is d·(multipliers + gradient + weight·numbers), and multipliers are zero where
    shares are positive.
    """
    if not numbers.any():
        return 0.0
    moved = shares - np.stack([about.shares, np.zeros_like(numbers)], axis=1)
    gain, along = (product(row, moved) for row in (about.gradient, numbers))
    held = product(about.shares, multipliers)
    square = float(along[1]) / 2.0
    slope = float(along[0] - gain[1] - held[1]) / 2.0
    rest = -float(gain[0] + held[0]) / 2.0 - slack
    mean = dot(numbers, shares[:, 0])
    if not square > 0.0:
        return 0.0 if mean >= limit else math.inf
    factor = (math.sqrt(max(slope**2 - 4.0 * square * rest, 0.0)) - slope) / (2.0 * square)
    return min(factor, max(limit - mean, 0.0) / (2.0 * square))


def _look(operator: Operator, counts: Floats, shares: Floats) -> _Point:
    expected = np.maximum(operator.forward(shares), _TINY)
    return _Point(shares, dot(counts, np.log(expected)), operator.backward(counts / expected) - counts.sum())
