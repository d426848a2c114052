"""A mechanism solved for means, variances and covariances of several numbers."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, product
from typing import Final, cast

import numpy as np

from dither.core.domains import Interval
from dither.core.domains.records import Box
from dither.core.kernels.channel import LinearReading
from dither.core.kernels.splines import MOST_PIECES, SplineKernel, coefficients, moment_queries
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats
from dither.mechanisms.mechanism import ADDED, QueryMechanism
from dither.mechanisms.optimal.design import relative_gap
from dither.mechanisms.optimal.queries.bound import (
    MOST_ENUMERATED,
    best_multipliers,
    enumerated_bound,
    lower_bound,
    matched_bound,
)
from dither.mechanisms.optimal.queries.design import QueryDesign, channel_of
from dither.mechanisms.optimal.queries.solve import Moments, solve, steady, trim
from dither.mechanisms.optimal.queries.store import stored_design
from dither.mechanisms.optimal.queries.workload import check_solvable

PIECES: Final = {1: 6, 2: 3, 3: 1, 4: 1}  # pieces of an axis, by the number of axes
FINE: Final = {1: 14, 2: 6, 3: 2}  # more pieces: smaller errors, and longer specifications
_MOST_ROWS: Final = 128  # largest number of combinations of splines
_POINTS: Final = 20  # points of the grid of one number
# Weights of the squared errors of means and of mean squares, relative to products: a mean enters a covariance
# times the distance of the other mean from the middle.
_MEAN, _SQUARE, _PRODUCT = 0.4, 0.6, 1.0
_SECONDS: Final = 8.0
TARGET: Final = 0.01  # target of the search: at most ten seconds for up to four numbers


@dataclass(frozen=True)
class JointMoments(QueryMechanism):
    """Several numbers at once, reported for their means, variances and covariances.

    Promise:   pure ε for all numbers together.
    Reports:   the number of a column of a channel, in one or two bytes.
    Use when:  a covariance, a correlation or a slope of two to four private numbers is wanted, or the
               variance of one number. `dt.stats.covariance`, `dt.stats.correlation` and `dt.stats.regression`
               take the reports. More `pieces` of each axis reduce the errors, most at ε above 2, and make
               the specification longer.
    Reference: solved for the moments of B-splines by column generation; the bound is in docs/theory.md.

    >>> import dither as dt
    >>> body = dt.Box({"height": dt.Interval(100, 220), "weight": dt.Interval(30, 200)})
    >>> asked = dt.optimal.JointMoments(body, epsilon=1)
    >>> asked.report_bytes, asked.guarantee
    (1, Guarantee: ε ≤ 1 for one value)
    """

    domain: Box | Interval

    _: KW_ONLY
    pieces: int | None = field(default=None, metadata=ADDED)

    _draws = ("splines",)

    _takes = (Box, Interval)

    def _check(self) -> None:
        check_solvable(self.epsilon)
        if self.domain.optional:
            raise InvalidParameter("expected numbers that everybody has; leave out dt.Nullable")
        if len(self._ends) not in PIECES:
            raise InvalidParameter(f"expected one to {max(PIECES)} numbers, got {len(self._ends)}")
        if self.pieces is not None:
            given, splines = self.pieces, int(_MOST_ROWS ** (1.0 / len(self._ends)) + 1e-9)
            most = min(MOST_PIECES, splines - 2)
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
                raise InvalidParameter(
                    f"expected pieces to be an integer from 1 to {most}, got {found(given)}"
                )

    @property
    def _ends(self) -> tuple[tuple[float, float], ...]:
        return self.domain.ends if isinstance(self.domain, Box) else ((self.domain.low, self.domain.high),)

    @property
    def _pieces(self) -> int:
        return PIECES[len(self._ends)] if self.pieces is None else self.pieces

    def _kernel(self) -> SplineKernel:
        axes, pieces = len(self._ends), self._pieces
        design = moment_design(axes, self.epsilon, pieces)
        channel = channel_of(design, mirrored=Moments(moment_gram(axes, pieces)).mirrored)
        return SplineKernel(self._ends, pieces, channel)

    def _codebook(self, kernel: SplineKernel) -> LinearReading:
        return kernel.reading

    @cached_property
    def matrix(self) -> Floats:
        """The moments of the combinations of splines, a row for each moment."""
        return moment_queries(len(self._ends), self._pieces)

    # --- errors for people at public points, with every number scaled to [−1, 1]

    @cached_property
    def variances(self) -> Floats:
        """The variance that one report adds to each moment, for people spread evenly over a grid of points.

        The grid has equal steps for one number. For more it has the means of the splines on each axis, with
        the usual pieces. Moments are defined by `moment_queries`, with every number from −1 to 1.
        """
        points, answers = _grid(len(self._ends))
        low, high = np.array(self._ends).T
        kernel = cast(SplineKernel, self.question.kernel)
        laws = kernel.weights(low + (points + 1.0) / 2.0 * (high - low)) @ kernel.channel.matrix
        return np.asarray((laws @ self.question.reading.table.T**2 - answers.T**2).mean(axis=0))

    @property
    def weighted_variance(self) -> float:
        """The sum of `variances` with the weights for which the channel is solved."""
        return float(_importance(len(self._ends)) ** 2 @ self.variances)

    @cached_property
    def bound(self) -> float:
        """A lower bound on `weighted_variance` of every ε-LDP mechanism, for people on the same grid.

        This needs scipy and takes seconds: the program is solved for the points themselves.
        """
        return _point_bound(len(self._ends), self.epsilon)

    @property
    def gap(self) -> float:
        """The relative excess of `weighted_variance` over the bound."""
        return relative_gap(self.weighted_variance, self.bound)


def _importance(axes: int) -> Floats:
    """Return the weight of each moment: means, squares and products."""
    pairs = axes * (axes - 1) // 2
    if axes == 1:
        return np.array([_SQUARE, _PRODUCT])
    return np.array([_MEAN] * axes + [_SQUARE] * axes + [_PRODUCT] * pairs)


def _gram(answers: Floats, axes: int) -> Floats:
    weighted = _importance(axes)[:, None] * answers
    return np.asarray(weighted.T @ weighted)


def moment_gram(axes: int, pieces: int) -> Floats:
    """Return WᵀW for the weighted moments of the combinations of splines."""
    return _gram(moment_queries(axes, pieces), axes)


def moment_family(axes: int, pieces: int) -> str:
    """Return the name of the shipped designs for these splines."""
    return f"moments{axes}" if pieces == PIECES[axes] else f"moments{axes}x{pieces}"


def _grid(axes: int) -> tuple[Floats, Floats]:
    """Return points, a row for each point, and their moments, a row for each moment."""
    ticks = np.linspace(-1.0, 1.0, _POINTS) if axes == 1 else coefficients(PIECES[axes])[0]
    points = np.array(list(product(ticks, repeat=axes)))
    products = [points[:, i] * points[:, j] for i, j in combinations(range(axes), 2)]
    return points, np.array([*points.T, *(points**2).T, *products])


@lru_cache(maxsize=16)
def moment_design(axes: int, epsilon: float, pieces: int) -> QueryDesign:
    """Return the design for the moments of `axes` numbers: shipped, from a shipped neighbour, or solved."""
    gram = moment_gram(axes, pieces)
    design = stored_design(moment_family(axes, pieces), steady(gram), epsilon)
    return solve_moments(gram, epsilon, _SECONDS) if design is None else design


def solve_moments(gram: Floats, epsilon: float, seconds: float) -> QueryDesign:
    """Return a design with few columns whose variance is at most 2 % above the solved design's."""
    made = solve(gram, epsilon, target=TARGET, seconds=seconds)
    return trim(made, steady(gram), TARGET, relative=True)


@lru_cache(maxsize=32)
def _point_bound(axes: int, epsilon: float) -> float:
    gram, ratio = _gram(_grid(axes)[1], axes), math.exp(epsilon)
    if len(gram) > MOST_ENUMERATED:  # too many columns to try all or to solve in seconds
        return max(
            lower_bound(gram, ratio, best_multipliers(steady(gram), ratio)), matched_bound(gram, ratio)
        )
    channel = channel_of(solve(gram, epsilon, target=TARGET), mirrored=Moments(gram).mirrored).matrix
    return max(enumerated_bound(gram, ratio, channel), matched_bound(gram, ratio))
