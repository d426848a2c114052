"""The method `"empirical bayes"`: distributions and quantiles from a smooth density with point masses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import InvalidParameter
from dither.estimation.atoms import AtomSearch
from dither.estimation.curve import DensityCurve
from dither.estimation.density import DensityModel, Path, Posterior, Prior
from dither.estimation.distributions import Bins, EstimatedDistribution, likelihood
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood import MOST_POINTS, OVERLAP
from dither.estimation.linear import Method, numerical, on_circle
from dither.estimation.summary import Summary
from dither.kernels.transition import Dense, Operator
from dither.question import NumberQuestion

GRID: Final = 128  # bins of a fit
_ROWS: Final = 8  # groups of reports for each bin, at least
_ACROSS: Final = 16  # groups of reports across a window, at least
_MOST_ROWS: Final = 1 << 16
_TIMES: Final = 4  # values that represent a bin, at least
_FEW: Final = 8  # values of a report from which on they tell a shape
_SCATTERS: Final = (0.0, 0.5, 2.0)  # of declared points about a smooth curve


@dataclass(frozen=True)
class EmpiricalBayes(Method):
    """Estimate a smooth log-density with point masses, whose smoothness the reports themselves choose.

    The log-density has a normal prior on its second differences. All strengths of the prior are averaged,
    each weighted by its evidence: how probable it makes the reports. Point masses are added, up to
    `most_atoms`, each only if the evidence rises. Intervals are those of the posterior.
    """

    most_atoms: int = 12

    def __post_init__(self) -> None:
        if isinstance(self.most_atoms, bool) or not isinstance(self.most_atoms, int) or self.most_atoms < 0:
            raise InvalidParameter("the number of point masses is a whole number, at least 0")

    def quantile(self, summary: Summary, share: float) -> Estimate:
        """Estimate the value below which a share of the people are."""
        if is_too_coarse(summary):
            return likelihood.quantile(summary, share)
        if on_circle(numerical(summary)):
            raise InvalidParameter(
                "directions have no order; dt.mean and dt.resultant tell about them by default"
            )
        return self.curve(summary).quantile(share)

    def distribution(self, summary: Summary, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: how many equal ones, or their edges."""
        if is_too_coarse(summary):
            return likelihood.distribution(summary, bins)
        return EstimatedDistribution.of_curve(self.curve(summary), summary, repr(self), bins)

    def curve(self, summary: Summary) -> DensityCurve:
        """Return the posterior of the density."""
        mechanism = numerical(summary)
        line = mechanism.line
        points = declared_points(mechanism)
        circular = on_circle(mechanism)
        if points is not None:
            rows = _rows(mechanism, points.size)
            operator = mechanism.likelihood(np.clip(line.from_unit(points), line.low, line.high), rows)
            model = _model(operator, summary, Prior.of(points.size, circular=circular and points.size > 2))
            posterior = _about_a_curve(model)
            return DensityCurve(line, posterior, (), summary.n, mechanism.guarantee, points)
        rows = _rows(mechanism, GRID)
        operator = _spread(mechanism, rows)
        model = _model(operator, summary, Prior.of(GRID, circular=circular))
        model, path, atoms = AtomSearch(mechanism, rows).search(model, self.most_atoms)
        posterior = Posterior.over(model, [path.refine(model)])
        return DensityCurve(line, posterior, tuple(atoms), summary.n, mechanism.guarantee)

    def __repr__(self) -> str:
        return "empirical bayes"


def posterior_of_cells(laws: Floats, counts: Array) -> Posterior:
    """Return the posterior of the shares of ordered cells, with the law of their reports in each row.

    As for declared points, the shares lie about a smooth curve, off it by a factor that is estimated too.
    """
    operator = Dense(np.ascontiguousarray(laws.T), np.arange(laws.shape[1]))
    model = DensityModel(
        operator,
        np.zeros((laws.shape[1], 0)),
        np.asarray(counts, dtype=np.float64),
        Prior.of(laws.shape[0], circular=False),
    )
    return _about_a_curve(model)


def _about_a_curve(model: DensityModel) -> Posterior:
    return Posterior.over(model, [Path.down(model, scatter).refine(model) for scatter in _SCATTERS])


def is_too_coarse(summary: Summary) -> bool:
    """Return whether reports take too few values to tell a shape: maximum likelihood is closer then.

    Two values (`Duchi`) tell a mean. What a smooth prior would add to it is its own shape.
    """
    mechanism = numerical(summary)
    return mechanism.outcomes < _FEW and mechanism.line.points is None


def declared_points(mechanism: NumberQuestion) -> Floats | None:
    """Return the only possible values on [0, 1], if the domain declares them."""
    points = mechanism.line.points
    return None if points is None else mechanism.line.to_unit(points)


def _model(operator: Operator, summary: Summary, prior: Prior) -> DensityModel:
    return DensityModel(operator, np.zeros((operator.shape[0], 0)), operator.counts(summary.counts), prior)


def _rows(mechanism: NumberQuestion, bins: int) -> int:
    """Return into how many groups reports are counted: narrow windows need many."""
    across = 1 << math.ceil(math.log2(_ACROSS / mechanism.window_share))
    return min(max(_ROWS * max(bins, GRID), across), _MOST_ROWS)


def _spread(mechanism: NumberQuestion, rows: int) -> Operator:
    """Return the law of reports for equal bins, with values uniform inside each."""
    times = math.ceil(min(max(_TIMES * GRID, OVERLAP / mechanism.window_share), MOST_POINTS) / GRID)
    places = (np.arange(GRID * times) + 0.5) / (GRID * times)
    return mechanism.likelihood(mechanism.line.from_unit(places), rows).spread(times)


empirical_bayes: Final = EmpiricalBayes()
