"""Goals about variances and covariances."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, cast

import numpy as np

from dither.advice.catalogue import Candidate, on_a_line
from dither.advice.goals.numbers import Averaged, Mean
from dither.core.domains import Domain, Interval
from dither.core.domains.records import Box
from dither.core.kernels.channel import Channel
from dither.core.kernels.splines import SplineKernel
from dither.errors import DitherError
from dither.estimation.linear import squared_reading, unbiased_reading
from dither.foundation.arrays import Floats
from dither.foundation.losses import absolute, squared
from dither.foundation.tables import percent
from dither.mechanisms.combined import Each
from dither.mechanisms.numeric.pm import Hybrid
from dither.mechanisms.numeric.podium import Podium
from dither.mechanisms.optimal.queries.moments import FINE, JointMoments

_TICKS: Final = 240  # inputs that represent evenly spread values
_WORTH: Final = 0.02  # least gain in error for a longer specification
_COARSE: Final = 1 << 11  # cells of a window on which variances are computed


def even_variances(mechanism: JointMoments) -> Floats:
    """Return the variance of each moment that one report adds, for numbers spread evenly from −1 to 1."""
    kernel = cast(SplineKernel, mechanism.question.kernel)
    low, high = kernel.ends[0]
    ticks = low + (np.arange(_TICKS) + 0.5) / _TICKS * (high - low)
    rows = Channel(kernel.channel.values[: kernel.pieces + 2])
    axis = SplineKernel((kernel.ends[0],), kernel.pieces, rows)
    own = axis.weights(ticks[:, None]).mean(axis=0)
    shares = np.ones(1)
    for _ in kernel.ends:
        shares = np.multiply.outer(shares, own).reshape(-1)
    squares = kernel.reading.table**2 @ (shares @ kernel.channel.matrix)
    axes = len(kernel.ends)
    pairs = axes * (axes - 1) // 2
    return np.asarray(squares - np.array([1 / 3] * axes + [1 / 5] * axes + [1 / 9] * pairs))


def _of_moments(goal: Averaged, domain: Box | Interval, epsilon: float, wait: bool) -> list[Candidate]:
    """Return `JointMoments`, with more pieces than usual if that reduces the error by 2 %.

    More pieces at an ε without a shipped design take seconds, so they are tried only with `wait`.
    """
    found: list[Candidate] = []
    with suppress(DitherError):  # more than four numbers, or a budget out of range
        usual = JointMoments(domain, epsilon=epsilon)
        found.append(Candidate("JointMoments", usual))
        fine = FINE.get(len(cast(SplineKernel, usual.question.kernel).ends))
        if fine is not None and wait:
            finer = replace(usual, pieces=fine)
            least, most = (goal.spread(made) or math.inf for made in (finer, usual))
            if least < (1.0 - _WORTH) ** 2 * most:
                found = [Candidate(f"JointMoments(pieces={fine})", finer)]
    return found


@dataclass(frozen=True)
class Covariance(Averaged):
    """The covariances of n people's numbers: the root mean square error over pairs, for sides of length 1.

    It is the error from privacy, for people spread evenly. Plans add the sampling error.
    `dt.stats.covariance`, `dt.stats.correlation` and `dt.stats.regression` take the reports. `Sampled` cannot
    answer: nobody reports two numbers.

    >>> from dither import recommend
    >>> body = Box({"height": Interval(100, 220), "weight": Interval(30, 200)})
    >>> recommend(body, Covariance(n=10_000), epsilon=1)[0]["mechanism"]
    'JointMoments'
    """

    apart = True
    takes = (Box,)
    otherwise = "for one number use dt.goals.Variance"

    def candidates(self, domain: object, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        box = cast(Box, domain)
        found: list[Candidate] = []
        found.extend(_of_moments(self, box, epsilon, wait))
        parts = dict(zip(box.names, box.sides, strict=True))
        for kind in (Podium, Hybrid):
            each = {name: kind(side, epsilon=epsilon / len(parts)) for name, side in parts.items()}
            found.append(Candidate(f"Each({kind.__name__}(…), …)", Each(each)))
        return found

    def spread(self, mechanism: object) -> float:
        if isinstance(mechanism, JointMoments):
            axes = len(cast(Box, mechanism.domain).names)
            return float(even_variances(mechanism)[2 * axes :].mean() / 16.0)
        mean = Mean(criterion="average")
        parts = [
            (mean.spread(part) or math.inf) / part.domain.length**2
            for part in cast(Each, mechanism).parts.values()
        ]
        # Variance of a product of two decodings, given values x and y from the middle: s·t + s·y² + t·x².
        return float(np.mean([s * t + (s + t) / 12.0 for s, t in combinations(parts, 2)]))

    def sampling(self, domain: Domain) -> float:
        """Return n times the sampling variance of products of two evenly spread numbers, (1/12)²."""
        return 1.0 / 144.0

    def reason(self, first: Candidate, domain: Domain) -> str:
        return _reason(first, "both numbers are in one report, with the complete budget")


@dataclass(frozen=True)
class Variance(Averaged):
    """The variance of the numbers of n people, in squares of the domain's unit.

    The error is the error from privacy, for values spread evenly. Plans add the sampling error.

    >>> from dither import recommend
    >>> recommend(Interval(0, 1), Variance(n=10_000), epsilon=1)[0]["mechanism"]
    'JointMoments(pieces=14)'
    """

    apart = True
    takes = (Interval,)
    otherwise = "for two numbers use dt.goals.Covariance"

    def candidates(self, domain: object, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        line = cast(Interval, domain)
        found: list[Candidate] = []
        found.extend(_of_moments(self, line, epsilon, wait))
        return [*found, *on_a_line(line, epsilon, (absolute, squared), variants=False)]

    def spread(self, mechanism: object) -> float | None:
        if isinstance(mechanism, JointMoments):
            return float(even_variances(mechanism)[1] / 16.0 * cast(Interval, mechanism.domain).length ** 4)
        own = cast(Podium, mechanism)  # or another mechanism of one number
        try:
            question = (replace(own, cells=_COARSE) if getattr(own, "cells", 0) > _COARSE else own).question
            line, length = question.line, question.line.length
            gaps = unbiased_reading(question, plain=True).values - (line.low + line.high) / 2.0
            numbers = squared_reading(question, gaps)
        except DitherError:  # no average of reports estimates it, or the window does not fit
            return None
        inputs = line.low + (np.arange(_TICKS) + 0.5) / _TICKS * length
        operator = question.likelihood(inputs, numbers.size)
        if operator.shape[0] < numbers.size:
            return None
        return float(operator.backward(numbers**2).mean() - length**4 / 80.0)

    def sampling(self, domain: Domain) -> float:
        """Return n times the sampling variance of squares of evenly spread values, l⁴(1/80 − 1/144)."""
        return cast(Interval, domain).length ** 4 / 180.0

    def reason(self, first: Candidate, domain: Domain) -> str:
        return _reason(first, "the smallest error of a mean square")


def _reason(first: Candidate, otherwise: str) -> str:
    if not isinstance(first.mechanism, JointMoments):
        return f"{otherwise}; no bound is known"
    try:
        gap = first.mechanism.gap
    except DitherError:  # scipy is not installed
        return f"solved: {otherwise}; the bound needs the extra `optimal`"
    above = f"{percent(gap)} above" if gap < 1.0 else f"{1.0 + gap:.2g} times"
    return f"solved: {otherwise}; the variance of all moments is {above} a bound for every mechanism"
