"""Pooling: one estimate from several groups of people, by inverse variance or by known shares."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter, Mismatch, found
from dither.estimation.comparison.arithmetic import weighted_sum
from dither.estimation.comparison.differences import Groups, estimates_of
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import frequencies
from dither.estimation.intervals import StudentInterval
from dither.estimation.linear import linear
from dither.estimation.method import summarise_numbers
from dither.estimation.pairs.readings import number_mechanism, numbers
from dither.estimation.summary import Summary, summarise
from dither.question import CategoryQuestion
from dither.reports import Reports


def combine(
    parts: Sequence[Reports | Summary | Estimate], *, weights: Sequence[float] | None = None
) -> Estimate:
    """Return one estimate from independent ones of the same quantity, such as versions of a question.

    The parts are reports, summaries or estimates of different people. Reports may be of other mechanisms or
    have another ε, but must be on the same domain. Without `weights`, each part has its inverse variance,
    which has the smallest error; weights are divided by their sum.

    >>> import dither as dt
    >>> age = dt.Podium(dt.Interval(18, 100), epsilon=1)
    >>> first = age.perturb([43] * 20_000, source=dt.Seeded(1))
    >>> second = age.at(2).perturb([43] * 20_000, source=dt.Seeded(2))
    >>> combine([first, second])
    43.3 ± 0.4 (95 %, n = 40 000)
    """
    given: object = parts
    if not isinstance(given, Sequence) or not given:
        raise InvalidParameter("combine takes a list of reports, summaries or estimates, at least one")
    _check_domains(parts)
    estimates = [_unbiased_estimate(part) for part in parts]
    if weights is None:
        weights = [_precision(part) for part in estimates]
    shares = _shares(weights, len(estimates))
    return weighted_sum(list(zip(shares, estimates, strict=True)))


def post_stratified(groups: Groups, shares: Mapping[Any, float]) -> Estimate:
    """Return the estimate for a population in which the share of every group (stratum) is known.

    Each group counts by its share of the population instead of its share of the reports. So a group that
    answered less often than others is not under-represented; within a group, who answers must not matter.
    """
    given = estimates_of(groups)
    if not isinstance(shares, Mapping):
        raise InvalidParameter(f"shares are a mapping from groups to their shares, not {found(shares)}")
    _check_strata(list(given), list(shares))
    known = [shares[label] for label in given]
    if abs(math.fsum(_check_weights(known)) - 1.0) > 1e-6:
        raise InvalidParameter("the shares of the population must sum to 1; divide counts by their total")
    return weighted_sum([(float(share), given[label]) for label, share in zip(given, known, strict=True)])


def weighted_mean(reports: Reports, weights: Sequence[float] | Floats) -> Estimate:
    """Estimate the mean of a population from people with public weights, such as inverse chances.

    Σ w·y/Σ w, where y is the number whose mean over the noise is the person's value. The error is that of its
    linearisation, w·(y − mean)/mean(w), and contains that the weights vary.
    """
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"weights need reports, one weight for each, not {type(reports).__name__}")
    line = number_mechanism(reports).line
    told = numbers(reports)
    given = np.asarray(weights)
    if given.dtype.kind not in "iuf" or given.shape != told.shape:
        raise InvalidParameter(f"{told.size} reports need as many numbers as weights, one for each")
    share = given.astype(np.float64)
    if not (np.isfinite(share).all() and share.size and share.min() >= 0.0 and share.sum() > 0.0):
        raise InvalidParameter("weights are finite numbers from 0 upwards, not all 0")
    share /= share.mean()
    mean = float((share * told).mean())
    influence = share * (told - mean)
    n = told.size
    spread = float((influence**2).sum() / max(n - 1, 1))
    skew = float((influence**3).mean() / spread) if spread > 0.0 else 0.0
    middle = (line.low + line.high) / 2.0
    interval = StudentInterval(middle + mean, math.sqrt(spread / n), n, skew)
    return Estimate.of(interval, reports.question.guarantee, unit=line.unit)


def _check_strata(given: list[Hashable], known: list[Hashable]) -> None:
    for label in known:
        if label not in given:
            raise InvalidParameter(
                f"group {found(label)} has a share, but no estimate: it has fewer reports than the minimum"
            )
    for label in given:
        if label not in known:
            raise InvalidParameter(f"group {found(label)} has an estimate, but no share of the population")


def _check_domains(parts: Sequence[object]) -> None:
    domains = [summary.question.domain for summary in parts if isinstance(summary, Reports | Summary)]
    for domain in domains[1:]:
        if domain.device() != domains[0].device():
            raise Mismatch(f"these are different questions: one is on {domains[0]}, another on {domain}")


def _unbiased_estimate(part: object) -> Estimate:
    if isinstance(part, Estimate):
        return part
    if not isinstance(part, Reports | Summary):
        raise InvalidParameter(f"combine takes reports, summaries or estimates, not {type(part).__name__}")
    summary = summarise(part)
    if isinstance(summary.question, CategoryQuestion):
        return frequencies(summary)
    return linear.mean(summarise_numbers(summary, linear))


def _precision(part: Estimate) -> float:
    """Return the inverse variance, averaged over the categories of frequencies."""
    square = float(np.mean(np.square(part.standard_error)))
    if not (math.isfinite(square) and square > 0.0):
        raise InvalidParameter("a part has no standard error, so it has no inverse variance; pass weights")
    return 1.0 / square


def _shares(weights: Sequence[float], count: int) -> list[float]:
    checked = _check_weights(weights)
    if len(checked) != count:
        raise InvalidParameter(f"{count} parts need as many weights, not {len(checked)}")
    total = math.fsum(checked)
    if not total > 0.0:
        raise InvalidParameter("at least one weight must be positive")
    return [weight / total for weight in checked]


def _check_weights(weights: Sequence[float]) -> list[float]:
    given = list(weights)
    for weight in given:
        real = isinstance(weight, int | float | np.integer | np.floating) and not isinstance(weight, bool)
        if not real or not (math.isfinite(weight) and weight >= 0.0):
            raise InvalidParameter(
                f"a weight or share is a finite number from 0 upwards, not {found(weight)}"
            )
    return [float(weight) for weight in given]
