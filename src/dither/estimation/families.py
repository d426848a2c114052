"""`dt.stats.fit_family`: named families of distributions, fitted to reports by maximum likelihood.

The people of a family follow its density inside the domain. The probabilities are on fine points of the
domain, or on the integers of a Poisson distribution. The mechanism's operator maps them to the distribution
of reports, so the likelihood is exactly the likelihood of the sent reports. Fisher scoring finds its maximum.

The goodness of fit is a score test of smooth alternatives [Neyman37]: the density times exp(Σ t·cos(jπF)),
with F the fitted distribution function. Directions that the parameters could explain are
removed, so the statistic is χ² with one degree of freedom per remaining direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.kernels.transition import Operator
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, choose
from dither.estimation.distribution_methods import empirical_bayes
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import StudentInterval
from dither.estimation.method import number_question, on_circle
from dither.estimation.rounding import thousands
from dither.estimation.significance import Significance
from dither.foundation.arrays import Floats
from dither.foundation.numerics.matrices import dot, product, solve
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FamilyName = Literal["normal", "lognormal", "gamma", "beta", "exponential", "poisson"]

_POINTS: Final = 2048  # points of the domain on which a density is evaluated
_ROWS: Final = 1024  # groups of reports
_STEPS, _HALVINGS = 60, 30  # steps of Fisher scoring, halvings of a step
_ENOUGH: Final = 1e-7  # nats; the search ends when a further step would gain less
_NUDGE: Final = 1e-5  # step of a parameter, for derivatives
_LONGEST: Final = 1.0  # longest step in the logarithms of parameters
_ALTERNATIVES: Final = 6  # number of cosines in the goodness-of-fit test
_SEEN: Final = 1e-6  # least information of a tested direction, relative to the largest one
_REFUSED: Final = 0.01  # a family with a smaller p-value is rejected


class _Family(NamedTuple):
    names: tuple[str, ...]
    positive: tuple[bool, ...]  # parameters that are fitted as their logarithms
    logs: Callable[[Floats, Floats], Floats]  # the log-density of values, up to a constant
    # The starting parameters, from the mean and variance of the values.
    start: Callable[[float, float], tuple[float, ...]]


def _of_beta(mean: float, variance: float) -> tuple[float, float]:
    size = max(mean * (1.0 - mean) / variance - 1.0, 0.5)
    return max(mean * size, 0.1), max((1.0 - mean) * size, 0.1)


def _of_lognormal(mean: float, variance: float) -> tuple[float, float]:
    wide = math.log1p(variance / mean**2)
    return math.log(mean) - wide / 2.0, math.sqrt(wide)


def _log_factorials(x: Floats) -> Floats:
    table = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, float(x.max()) + 1.0)))])
    return np.asarray(table[x.astype(np.intp)])


_FAMILIES: Final[Mapping[str, _Family]] = {
    "normal": _Family(
        ("mean", "standard deviation"),
        (False, True),
        lambda x, t: -(((x - t[0]) / t[1]) ** 2) / 2.0,
        lambda mean, variance: (mean, math.sqrt(variance)),
    ),
    "lognormal": _Family(
        ("mean of logs", "standard deviation of logs"),
        (False, True),
        lambda x, t: -np.log(x) - ((np.log(x) - t[0]) / t[1]) ** 2 / 2.0,
        _of_lognormal,
    ),
    "gamma": _Family(
        ("shape", "scale"),
        (True, True),
        lambda x, t: (t[0] - 1.0) * np.log(x) - x / t[1],
        lambda mean, variance: (mean**2 / variance, variance / mean),
    ),
    "beta": _Family(
        ("alpha", "beta"),
        (True, True),
        lambda x, t: (t[0] - 1.0) * np.log(x) + (t[1] - 1.0) * np.log1p(-x),
        _of_beta,
    ),
    "exponential": _Family(("mean",), (True,), lambda x, t: -x / t[0], lambda mean, variance: (mean,)),
    "poisson": _Family(
        ("mean",), (True,), lambda x, t: x * np.log(t[0]) - _log_factorials(x), lambda mean, variance: (mean,)
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class FittedFamily(Tabular):
    """A family fitted to reports: parameters with their errors, and whether the reports refute it.

    `points` are the family's values, in the domain's units, with their `probabilities`.
    """

    family: str
    parameters: Mapping[str, Estimate]
    points: Floats
    probabilities: Floats
    goodness: Significance
    summary: Counts

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.summary.n

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism that made the reports."""
        return self.summary.question.guarantee

    @property
    def fits(self) -> bool:
        """True unless the goodness-of-fit test rejects the family at 1 %."""
        return self.goodness.p_value >= _REFUSED

    @cached_property
    def mean(self) -> float:
        """The mean of the fitted distribution, inside the domain."""
        return dot(self.points, self.probabilities)

    def quantile(self, q: float) -> float:
        """Return the value below which a share q of the fitted distribution lies."""
        if not 0.0 < q < 1.0:
            raise InvalidParameter("expected the q of a quantile to be a number strictly between 0 and 1")
        sums = np.cumsum(self.probabilities)
        if self.family == "poisson":
            return float(self.points[min(int(np.searchsorted(sums, q)), sums.size - 1)])
        half = (self.points[1] - self.points[0]) / 2.0
        return float(np.interp(q, sums, self.points + half))

    def cdf(self, x: float) -> float:
        """Return the share of the fitted distribution at or below a value."""
        if self.family == "poisson":
            return float(self.probabilities[self.points <= x].sum())
        half = (self.points[1] - self.points[0]) / 2.0
        sums = np.concatenate([[0.0], np.cumsum(self.probabilities)])
        return float(np.interp(x, np.append(self.points - half, self.points[-1] + half), sums))

    def records(self) -> list[Row]:
        """Return a row for each parameter: its value and its interval."""
        return [{"parameter": name, **value.records()[0]} for name, value in self.parameters.items()]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the fitted density over the estimate without a family on `ax`, and return the axes."""
        from dither.estimation.plotting import draw_family

        return draw_family(self, empirical_bayes.distribution(self.summary), title or self.about, ax)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {str(value).split(' (95')[0]}" for name, value in self.parameters.items())
        verdict = "" if self.fits else ": REFUSED, the reports do not come from this family"
        return (
            f"{self.family}: {shown} (95 %, n = {thousands(self.n)}; "
            f"goodness of fit p = {self.goodness.p_value:.2g}{verdict})"
        )


@name_result
def fit_family(reports: Reports | Counts, family: FamilyName) -> FittedFamily:
    """Fit a family of distributions to reports by maximum likelihood, with standard errors and a test.

    The families are "normal", "lognormal", "gamma", "beta" (on the complete domain), "exponential" and
    "poisson" (integers). Only values inside the domain count: a density is cut off at its ends. If the family
    is right, the distribution is about twice as accurate as `dt.distribution`. The exponential is an
    exception, because `dt.distribution` also finds its straight log-density. If the family is wrong, `fits`
    is False as soon as the reports show it.
    """
    kind = choose("family", family, _FAMILIES)
    summary = summarise(reports)
    question = number_question(summary)
    line = question.line
    if on_circle(question):
        raise InvalidParameter(
            "expected an interval to fit a family, got a circle; use dt.distribution on a circle"
        )
    if summary.n < 2:
        raise NotIdentifiable("expected more reports to fit a family; collect more")
    if family not in ("normal", "beta") and line.low < 0.0:
        raise InvalidParameter(
            f"expected a domain from 0 upwards, because the family {family!r} has no negative values; choose "
            "another family"
        )
    points = _points(family, line.low, line.high)
    operator = question.likelihood(points, _ROWS)
    counts = operator.counts(summary.counts)
    values = line.to_unit(points) if family == "beta" else points
    model = _Model(kind, values, operator, counts)
    rough = empirical_bayes.distribution(summary, 64)
    middles = (rough.edges[1:] + rough.edges[:-1]) / 2.0
    if family == "beta":
        middles = line.to_unit(middles)
    mean = dot(middles, rough.probabilities)
    variance = max(dot((middles - mean) ** 2, rough.probabilities), (middles[1] - middles[0]) ** 2)
    theta = model.climb(model.inward(np.array(kind.start(mean, variance))))
    information = model.information(theta)
    if not np.linalg.cond(information) < 1e12:
        raise NotIdentifiable(
            f"expected reports that determine the parameters of the family {family!r}, but these do not; "
            "collect more, or choose a family with fewer parameters"
        )
    errors = np.sqrt(np.diagonal(np.linalg.inv(information))) * model.stretch(theta)
    natural = model.outward(theta)
    parameters = {
        name: Estimate.of(
            StudentInterval(float(value), float(error), summary.n, 0.0),
            question.guarantee,
            limits=(0.0 if above else -math.inf, math.inf),
            people=summary.people,
        )
        for name, above, value, error in zip(kind.names, kind.positive, natural, errors, strict=True)
    }
    probabilities, _ = model.laws(theta)
    return FittedFamily(family, parameters, points, probabilities, model.goodness(theta, family), summary)


def _points(family: str, low: float, high: float) -> Floats:
    if family != "poisson":
        return np.asarray(low + (high - low) * (np.arange(_POINTS) + 0.5) / _POINTS)
    integers = np.arange(math.ceil(low), math.floor(high) + 1.0)
    if integers.size < 2:
        raise InvalidParameter(
            "expected a domain with at least two integers for a Poisson distribution; choose another family"
        )
    return integers


class _Model(NamedTuple):
    """The likelihood of reports as a function of parameters, positive ones as their logarithms."""

    kind: _Family
    values: Floats
    operator: Operator
    counts: Floats

    def inward(self, natural: Floats) -> Floats:
        """Return parameters on the scale of the fit: positive parameters as their logarithms."""
        return np.where(self.kind.positive, np.log(np.maximum(natural, 1e-300)), natural)

    def outward(self, theta: Floats) -> Floats:
        """Return parameters in their own units."""
        return np.where(self.kind.positive, np.exp(np.minimum(theta, 700.0)), theta)

    def stretch(self, theta: Floats) -> Floats:
        """Return the derivative of the parameters in their own units."""
        return np.where(self.kind.positive, self.outward(theta), 1.0)

    def laws(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the values and of the reports."""
        logs = self.kind.logs(self.values, self.outward(theta))
        powers = np.exp(logs - logs.max())
        shares = powers / powers.sum()
        return shares, np.maximum(self.operator.forward(shares), 1e-300)

    def height(self, theta: Floats) -> float:
        """Return the log-likelihood."""
        with np.errstate(all="ignore"):
            found = dot(self.counts, np.log(self.laws(theta)[1]))
        return found if math.isfinite(found) else -math.inf

    def slopes(self, theta: Floats) -> Floats:
        """Return the derivatives of the distribution of reports, a column for each parameter."""
        columns = []
        for number in range(theta.size):
            nudge = np.zeros(theta.size)
            nudge[number] = _NUDGE * max(abs(float(theta[number])), 1e-2)
            ahead, behind = (self.laws(theta + sign * nudge)[1] for sign in (1.0, -1.0))
            columns.append((ahead - behind) / (2.0 * nudge[number]))
        return np.stack(columns, axis=1)

    def information(self, theta: Floats) -> Floats:
        """Return the Fisher information of the parameters."""
        law, slopes = self.laws(theta)[1], self.slopes(theta)
        return product((slopes / law[:, None]).T, slopes) * float(self.counts.sum())

    def climb(self, theta: Floats) -> Floats:
        """Return the parameters with the largest likelihood, by Fisher scoring with halved steps."""
        height = self.height(theta)
        for _ in range(_STEPS):
            slopes, law = self.slopes(theta), self.laws(theta)[1]
            score = product(slopes.T, self.counts / law)
            information = product((slopes / law[:, None]).T, slopes) * float(self.counts.sum())
            move = solve(information + 1e-12 * np.trace(information) * np.eye(theta.size), score)
            if not dot(score, move) > _ENOUGH:
                break
            scale = np.where(self.kind.positive, 1.0, float(np.ptp(self.values)) / 4.0)
            move *= min(1.0, _LONGEST / float(np.abs(move / scale).max()))
            for _ in range(_HALVINGS):
                ahead = self.height(theta + move)
                if ahead > height:
                    break
                move /= 2.0
            else:
                break
            theta, height = theta + move, ahead
        return theta

    def goodness(self, theta: Floats, family: str) -> Significance:
        """Return the score test of smooth alternatives, orthogonal to the parameters."""
        shares, law = self.laws(theta)
        middle = np.cumsum(shares) - shares / 2.0
        waves = np.cos(np.pi * np.arange(1, _ALTERNATIVES + 1) * middle[:, None])
        tilts = (shares[:, None] * (waves - shares @ waves)).T
        others = np.stack([self.operator.forward(tilt) for tilt in tilts], axis=1)
        slopes, n = self.slopes(theta), float(self.counts.sum())
        own = product((slopes / law[:, None]).T, slopes)
        cross = product((slopes / law[:, None]).T, others)
        left = others - product(slopes, solve(own, cross))
        score = product(left.T, self.counts / law)
        values, vectors = np.linalg.eigh(n * product((left / law[:, None]).T, left))
        seen = values > _SEEN * max(float(values.max()), 1e-300)
        statistic = float((product(vectors.T, score)[seen] ** 2 / values[seen]).sum())
        return Significance.chi_square(statistic, int(seen.sum()), f"the family {family!r}")
