"""Frequencies of categories by one estimator for every pure protocol, and their sums."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.kernels.codes import SupportKernel
from dither.core.kernels.counting import EachReport, ValuesBelow
from dither.core.kernels.sets.items import ItemSets
from dither.core.kernels.sets.projective import ProjectiveKernel
from dither.core.kernels.sets.subsets import ChosenSets
from dither.core.kernels.window.kernel import ResponseKernel
from dither.core.question import CategoryQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, choose, found, unknown_name
from dither.estimation.estimate import Estimate, LabelledEstimate, joint_level
from dither.estimation.frequency_interval import ScoreInterval, ThinnedInterval, score_means
from dither.estimation.frequency_posterior import Narrowed, Supports
from dither.estimation.intervals import (
    StudentInterval,
    VarianceInterval,
)
from dither.estimation.method import category_question
from dither.estimation.projections import PROJECTIONS, ProjectionName, simplex
from dither.estimation.ratios import QuotientInterval
from dither.estimation.rounding import OF_ANSWERS, SHARE, show, show_interval, thousands
from dither.estimation.weights import Weights, as_weights, check_weighted, influences, student
from dither.foundation.arrays import Floats, Integers
from dither.foundation.tables import percent, show_label
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.estimation.matrices import MatrixCounts, ReadingInterval

LEAST: Final = 32  # least number of categories for an estimate of their distribution
_BLOCK: Final = 1 << 21  # largest number of array elements in a block
_LISTED: Final = 1 << 24  # largest number of supports that are listed at once
_LONG: Final = 1 << 35  # polynomial evaluations that take most of a minute
_EVALUATION: Final = 1.2e-9  # seconds of one core per evaluation, measured with 6 coefficients
_LEAN: Final = 3.0  # number of reports with the same weight as the variance of weighted reports


_COUNTED: Final = 1.0  # least expected number of reports for an absent category if a posterior is computed


class TopCategories(NamedTuple):
    """The categories that are certainly among the most frequent ones, and those that may be."""

    surely: tuple[Hashable, ...]
    possibly: tuple[Hashable, ...]
    level: float


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedFrequencies(LabelledEstimate):
    """The unbiased frequency of every category, by label. Frequencies may be negative, see `projected`.

    >>> import dither as dt
    >>> browser = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=8)
    >>> reports = browser.reports([0] * 200 + [1] * 600 + [2] * 200)
    >>> dt.frequencies(reports)["chrome"]
    0.60 ± 0.03 (95 %, n = 1 000)

    For sets of items, `sizes` are the shares of people with at least 1, 2, … items, up to the largest number
    that a person reports: `sizes[most]` is the share with `most` or more. Reports do not contain further
    items.
    """

    confidence: ScoreInterval | ReadingInterval = field(kw_only=True)
    sizes: EstimatedFrequencies | None = field(default=None, kw_only=True)
    apart: bool = field(default=False, kw_only=True)  # True if a person may have any number of the categories
    # The reports, if they were given instead of counts: they correlate estimates of the same people.
    sent: WeightedReports | None = field(default=None, kw_only=True, repr=False)
    # The source for sums of categories: the counts, the reports with their weights, or the kernel.
    told: Counts | WeightedReports | MatrixCounts | SupportKernel | None = field(
        default=None, kw_only=True, repr=False
    )
    # Shares of reports that support candidates that were examined but not listed.
    unlisted: Floats | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if np.shape(self.value) != (len(self.labels),):
            raise InvalidParameter(f"expected one frequency for each of {len(self.labels)} labels")

    def _influence_of(self, at: int) -> Callable[[], Floats] | None:
        numbers = np.zeros(len(self.labels))
        numbers[at] = 1.0
        return self._influence(numbers)

    def _influence(self, numbers: Floats) -> Callable[[], Floats] | None:
        """Return a function for each person's influence on Σ number·frequency; None without the reports."""
        reported = (
            self.sent if self.told is None or isinstance(self.told, Counts | SupportKernel) else self.told
        )
        shared = any(self.confidence.shared)  # pairs of people share noise, so their reports are correlated
        return None if reported is None or shared else partial(reported.influence, numbers)

    def sum(self, categories: Iterable[Hashable]) -> Estimate:
        """Estimate the share of people whose answer is one of several, such as the top two of a scale.

        The error contains the covariance of the frequencies. Projected frequencies have the error of the
        unbiased ones. For sets of items the sum is the average number of these items per person.
        """
        chosen = [categories] if isinstance(categories, str) else list(categories)
        return self._combine(dict.fromkeys(chosen, 1.0), share=len(set(chosen)) == len(chosen))

    def score(self, points: Mapping[Any, float]) -> Estimate:
        """Estimate the mean number of points, given the points of each answer; other answers count 0.

        For `dt.Nullable` categories it is the mean of those who answered. With points for `None`, a missing
        answer counts with these points, and the mean is over all people.

        `f.score({"bad": 1, "fair": 2, "good": 3})` is the mean of a scale, and
        `f.score({"yes": 1, "no": -1})` the difference of two answers of the same people.

        >>> import dither as dt
        >>> mood = dt.KRR(dt.Categories(["bad", "fair", "good"]), epsilon=4)
        >>> told = mood.reports([0] * 200 + [1] * 300 + [2] * 500)
        >>> dt.frequencies(told).score({"bad": 1, "fair": 2, "good": 3})
        2.32 ± 0.05 (95 %, n = 1 000)
        """
        if not isinstance(points, Mapping) or not points:
            raise InvalidParameter(
                f"expected points to be a mapping from answers to numbers, got {found(points)}"
            )
        for number in points.values():
            real = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
            if not real or not np.isfinite(number):
                raise InvalidParameter(
                    f"expected the points of an answer to be a finite number, got {found(number)}"
                )
        if None in self.labels and None not in points:
            return self._score_of_answers(points)
        return self._combine(points, share=False)

    def of_answered(self) -> LabelledEstimate:
        """Estimate the frequency of each category among the people who answered a `dt.Nullable` question."""
        if None not in self.labels:
            raise InvalidParameter(
                "expected a question with missing answers, but everybody answers this question; use the "
                "frequencies as they are"
            )
        labels = [label for label in self.labels if label is not None]
        parts = [self._score_of_answers({label: 1.0}) for label in labels]
        quotients = [cast("QuotientInterval", part.confidence) for part in parts]
        top = np.array([part.top for part in quotients])
        bottom, second = quotients[0].bottom, quotients[0].spread[2]
        first, both = (np.array([part.spread[side] for part in quotients]) for side in (0, 1))
        spread = first, both, np.full(top.size, second)
        interval = QuotientInterval(top, np.full(top.size, bottom), spread, self.n)
        return LabelledEstimate.of(
            interval,
            self.guarantee,
            labels=labels,
            origin=self if self.origin is None else self.origin,
            people=self.people,
            each=lambda at: parts[at].moved_by,
            limits=SHARE,
            remark=parts[0].remark,
        )

    def _score_of_answers(self, points: Mapping[Any, float]) -> Estimate:
        """Return the mean of points of those who answered: a ratio of two sums, by Fieller."""
        there = {label: 1.0 for label in self.labels if label is not None}
        top, bottom = self._combine(points, share=False), self._combine(there, share=False)
        plus = {label: points.get(label, 0.0) + 1.0 for label in there}
        first, second, both = (
            float(part.standard_error) ** 2 for part in (top, bottom, self._combine(plus, share=False))
        )
        above, below = float(top.value), float(bottom.value)
        if not below > 0.0:
            raise NotIdentifiable(
                "too few people answered to estimate their mean; dt.stats.response_rate estimates how many "
                "answered"
            )
        interval = QuotientInterval(above, below, (first, (both - first - second) / 2.0, second), self.n)
        numbers = np.array(
            [points.get(label, 0.0) - above / below * there.get(label, 0.0) for label in self.labels]
        )
        influence = self._influence(numbers / below)
        ends = [float(points.get(label, 0.0)) for label in there]
        return Estimate.of(
            interval,
            self.guarantee,
            origin=top.origin,
            people=self.people,
            influence=influence,
            limits=(min(ends), max(ends)),
            remark=self.remark + OF_ANSWERS,
        )

    def _combine(self, points: Mapping[Any, float], *, share: bool) -> Estimate:
        indices = {label: index for index, label in enumerate(self.labels)}
        numbers = np.zeros(len(indices))
        for label, number in points.items():
            if label not in indices:
                raise unknown_name("category", label, map(str, self.labels))
            numbers[indices[label]] = float(number)
        interval: object
        if self.told is None or (self.apart and isinstance(self.told, Counts | SupportKernel)):
            raise InvalidParameter(
                "expected the reports for a sum of items, because a summary does not contain the items that "
                "were reported together; pass the reports to dt.frequencies(reports)"
            )
        if isinstance(self.told, Counts | SupportKernel):
            interval = _sum_interval(self.told, np.asarray(self.confidence.share), numbers, self.n, share)
        else:
            interval = self.told.average(numbers)
            if self.confidence.beyond is not None and isinstance(self.told, WeightedReports):
                most = category_question(self.told.reports.question).domain.most
                interval = ThinnedInterval.of(interval, self.confidence.beyond, numbers, most)
        origin = self if self.origin is None else self.origin
        ends = float(numbers.min()), float(numbers.max())
        limits = (-math.inf, math.inf) if self.apart else ends  # a person has several items of sets
        return Estimate.of(
            interval,
            self.guarantee,
            origin=origin,
            people=self.people,
            influence=self._influence(numbers),
            limits=limits,
            remark=self.remark,
            thinned=self.thinned,
        )

    def largest(self, count: int = 10) -> list[tuple[Hashable, Estimate]]:
        """Return the most frequent categories and their frequencies, the largest first."""
        order = np.argsort(-np.asarray(self.value), kind="stable")[:count]
        return [(self.labels[int(at)], self[self.labels[int(at)]]) for at in order]

    def top(self, count: int, level: float = 0.95) -> TopCategories:
        """Return the categories that are certainly, or possibly, among the `count` most frequent ones.

        Both statements hold together with probability `level`: each category has an interval at the level
        1 − (1 − level)/k (Bonferroni), and is above another one if their intervals do not overlap.
        """
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= len(self.labels):
            raise InvalidParameter(
                f"expected count to be an integer from 1 to {len(self.labels)}, got {found(count)}"
            )
        low, high = (np.asarray(end) for end in self.interval(joint_level(level, len(self.labels))))
        order = np.argsort(-np.asarray(self.value), kind="stable")
        # The numbers of categories that may be above a category, and that certainly are.
        maybe = high.size - np.searchsorted(np.sort(high), low, side="left") - 1
        surely = low.size - np.searchsorted(np.sort(low), high, side="right")
        names = [self.labels[int(at)] for at in order]
        return TopCategories(
            tuple(name for name, at in zip(names, order, strict=True) if maybe[at] < count),
            tuple(name for name, at in zip(names, order, strict=True) if surely[at] < count),
            level,
        )

    def projected(self, method: ProjectionName = "posterior") -> Self:
        """Return frequencies that are not negative and sum to one: posterior means, or a projection by name.

        "posterior" is the posterior mean of each frequency, projected on the simplex. Its prior is a
        distribution of frequencies that is estimated from all categories. Its sum of squared errors is the
        smallest if many categories are rare or alike. No interval is claimed. With fewer than 32 categories,
        or if fewer than one report is expected to support an absent category, it is "simplex".

        "simplex" and "norm sub" move unbiased frequencies to the nearest possible ones, and never increase
        the sum of squared errors. Standard errors are taken from the unbiased frequencies. From 32 categories
        on, the intervals of categories below three standard errors use that most categories are alike: they
        hold in 95 % of the categories on average, and are several times narrower if most frequencies are near
        0. Others are the unbiased ones, clipped.

        Items of sets and texts found by `heavy_hitters` need not sum to one, because a person may have any
        number of items, and other texts exist. Each frequency stays between 0 and 1.
        """
        project = choose("projection", method, PROJECTIONS)
        values = np.asarray(self.value, dtype=np.float64)
        narrowed = self.confidence.narrowed
        if narrowed is None:
            narrowed = self._posterior()
        part = self.apart or self.unlisted is not None
        means = method == "posterior" and narrowed is not None
        if means and narrowed is not None:
            values = narrowed.mean[: values.size]
        interval = replace(self.confidence, possible=True, narrowed=narrowed, claimed=not means)
        value = np.clip(values, 0.0, 1.0) if part else project(values)
        return replace(self, value=value, confidence=interval)

    def _posterior(self) -> Narrowed | None:
        """Return the posterior of each frequency, unlisted candidates last; None for too few categories."""
        own = self.confidence
        shares, errors = (np.asarray(part, dtype=np.float64) for part in (own.share, own.error))
        if self.unlisted is not None:
            mean = np.clip(self.unlisted, own.other, own.other + own.gap)
            shares = np.concatenate([shares, self.unlisted])
            errors = np.concatenate([errors, np.sqrt(mean * (1.0 - mean) / self.n) / own.gap])
        if shares.size < LEAST or self.n * own.other < _COUNTED:
            return None
        return Narrowed.of(Supports(shares, errors, own.other, own.gap))

    def __repr__(self) -> str:
        if not self.confidence.claimed:
            least = float(np.median(np.asarray(self.standard_error))) if len(self) else 1.0
            listed = zip(self.labels[:8], np.asarray(self.value)[:8].tolist(), strict=False)
            means = [f"{show_label(label)}: {show(value, least).split(' ')[0]}" for label, value in listed]
            more = ", …" if len(self) > 8 else ""
            end = f"n = {thousands(self.n)}{self.remark}"
            return f"{{{', '.join(means)}{more}}} (posterior means, no interval is claimed, {end})"
        ends = np.stack([np.asarray(part) for part in (self.value, *self.interval())], axis=-1)[:8].tolist()
        shown = [
            f"{show_label(label)}: {_show(three, self.confidence.beyond is not None)}"
            for label, three in zip(self.labels[:8], ends, strict=False)
        ]
        more = ", …" if len(self) > 8 else ""
        step = ", projected" if self.confidence.possible else ""
        if self.sizes is not None and self.confidence.beyond is None:  # otherwise the remark contains it
            most = self.sizes.labels[-1]
            full = self.sizes[most]
            step += f", {most} or more: {show(float(full.value), float(full.half_width()))}"
        return f"{{{', '.join(shown)}{more}}} (95 %, n = {thousands(self.n)}{self.remark}{step})"


def _show(ends: Sequence[float], at_least: bool = False) -> str:
    """Return a share as value ± half of its interval, or with its ends if one is beyond 0 or 1."""
    if at_least:
        return show_interval(ends[0], ends[1], ends[2], SHARE, at_least=True)
    if ends[1] < 0.0 or ends[2] > 1.0:
        return show_interval(ends[0], ends[1], ends[2], SHARE)
    return show(ends[0], (ends[2] - ends[1]) / 2.0)


@dataclass(frozen=True, eq=False)
class WeightedReports:
    """Reports with the weights of their people, for averages of any number per category."""

    reports: Reports
    weights: Weights | None

    def average(self, numbers: Floats) -> StudentInterval:
        """Return the weighted mean of Σ number·indicator over the categories, with its interval."""
        return student(*self._average(numbers), self.weights)

    def influence(self, numbers: Floats) -> Floats:
        """Return each person's influence on that mean."""
        return self._average(numbers)[1]

    def _average(self, numbers: Floats) -> tuple[float, Floats]:
        question = category_question(self.reports.question)
        counted = np.flatnonzero(numbers)
        reported = np.zeros(len(self.reports))
        for rows, held in _support(self.reports, counted):
            reported[rows] = held @ numbers[counted]
        reported = (reported - question.q * float(numbers.sum())) / question.gap
        return influences(reported, self.weights)


def _support(reports: Reports, codes: Integers) -> Iterator[tuple[slice, Floats]]:
    """Yield, in blocks, which of the given categories each report supports."""
    question = category_question(reports.question)
    size = len(question.categories)
    flat = reports.cells.reshape(-1, *question.layout.shape)
    step = max(_BLOCK // max(codes.size if question.domain.sets else size, 1), 1)
    for begin in range(0, len(flat), step):
        cells = flat[begin : begin + step]
        if question.one_category:
            held = cells[:, None] == codes
        elif isinstance(question.kernel, ItemSets):
            held = question.kernel.support_of(cells, codes)
        else:
            held = question.kernel.support(cells, size)[:, codes]
        yield slice(begin, begin + step), np.asarray(held, dtype=np.float64)


def weighted_frequencies(given: Reports | Counts, weights: object) -> EstimatedFrequencies:
    """Return frequencies of people with weights.

    The interval is the score interval for the effective number of equally weighted people, which follows from
    the variance of the weighted share [Korn98]. If few reports support a category, or few do not, the number
    is shrunk towards Kish's effective number.
    """
    reports = check_weighted(given)
    question = category_question(reports.question)
    checked = as_weights(weights, len(reports))
    size, n = len(question.categories), len(reports)
    share, spread = np.zeros(size), np.zeros(size)
    for code in range(size) if checked.margins else ():
        held = np.concatenate([part[:, 0] for _, part in _support(reports, np.array([code]))])
        share[code], moved = influences(held, checked)
        spread[code] = float((moved**2).sum()) / n**2
    if not checked.margins:
        sums, squares, shares = np.zeros(size), np.zeros(size), checked.shares
        for rows, held in _support(reports, np.arange(size)):
            sums += shares[rows] @ held
            squares += shares[rows] ** 2 @ held
        share = sums / n
        spread = (squares * (1.0 - 2.0 * share) + share**2 * float((shares**2).sum())) / n**2
    plain = share * (1.0 - share) / checked.effective
    events = checked.effective * share * (1.0 - share)
    factor = (events * np.divide(spread, plain, out=np.ones(size), where=plain > 0.0) + _LEAN) / (
        events + _LEAN
    )
    equal = checked.effective / np.maximum(factor, 1e-3)
    mean = np.clip(share, question.q, question.p)
    error = np.sqrt(mean * (1.0 - mean) / equal) / question.gap
    interval = ScoreInterval(share, question.q, question.gap, equal, error, weighted=True)
    found = EstimatedFrequencies(
        (share - question.q) / question.gap,
        error,
        n,
        question.guarantee,
        labels=question.categories.labels,
        confidence=interval,
        remark=f", design effect {checked.design_effect:.2f}",
        apart=isinstance(question.kernel, ItemSets),
        told=WeightedReports(reports, checked),
        limits=SHARE,
    )
    # The sizes of the sets ignore the weights, because they only show whether sets were thinned.
    if not found.apart:
        return found
    sizes = cast("EstimatedFrequencies", supported_frequencies(reports, question.categories.labels[:1]).sizes)
    return _as_lower_bounds(found, sizes, size)


def pair_rates(kernel: SupportKernel) -> tuple[float, float]:
    """Return the probability of supporting a person's own category and another one, and two other ones.

    For designs and for hashing the second is an average over the categories.
    """
    p, q = (float(rate) for rate in kernel.rates)
    size, chosen = 0, 0
    if isinstance(kernel, ChosenSets):
        size, chosen = kernel.size, kernel.chosen
    elif isinstance(kernel, ProjectiveKernel):
        size, chosen = kernel.geometry.points, kernel.geometry.block
    elif isinstance(kernel, ResponseKernel):
        size, chosen = kernel.outcomes, 1
    if not chosen:
        return p * q, q * q
    # The set contains `chosen` − 1 other categories if it contains the person's own, otherwise `chosen`.
    held = p * (chosen - 1) * (chosen - 2) + (1.0 - p) * chosen * (chosen - 1)
    return p * (chosen - 1) / (size - 1), held / ((size - 1) * (size - 2)) if size > 2 else 0.0


def _sum_interval(
    reported: Counts | SupportKernel, share: Floats, numbers: Floats, n: int, one_share: bool
) -> VarianceInterval | StudentInterval:
    """Return Σ number·frequency with its interval, from counts.

    Given a person's category v, the variance of Σ number·support follows from the probabilities of supports
    and of pairs of supports. It depends only on the number of v.
    """
    question: Any = reported.question if isinstance(reported, Counts) else None
    kernel: Any = reported if question is None else question.kernel
    q, gap = float(kernel.rates[1]), float(kernel.rates[0] - kernel.rates[1])
    value = float(((share - q) / gap) @ numbers)
    listed = question is not None and isinstance(question.counting, EachReport) and not one_share
    # A large table of reports by supported categories is avoided, because the noise is known by pairs.
    if listed and (question.one_category or question.counting.outcomes * share.size <= _LISTED):
        counts, codes = cast("Counts", reported).counts, np.arange(question.counting.outcomes)
        if question.one_category:
            read = (numbers - q * numbers.sum()) / gap
        else:
            read = (np.asarray(kernel.support(codes, share.size)) @ numbers - q * numbers.sum()) / gap
        gaps = read - value
        second = float(counts @ gaps**2) / max(n - 1, 1)
        skew = float(counts @ gaps**3) / n / second if second > 0.0 else 0.0
        return StudentInterval(value, float(np.sqrt(second / n)), n, skew)
    noise = sum_noise(kernel, numbers)
    if one_share:
        inside, outside = (
            float(noise[numbers == side].mean()) if (numbers == side).any() else 0.0 for side in (1.0, 0.0)
        )
        return VarianceInterval(value, n, (outside / n, (inside - outside + 1.0) / n, 1.0 / n))
    shares = simplex((share - q) / gap) if share.size > 1 else np.ones(1)
    centre = float(shares @ numbers)
    spread = float(shares @ (noise + (numbers - centre) ** 2))
    return StudentInterval(value, float(np.sqrt(spread / n)), n)


def sum_noise(kernel: SupportKernel, numbers: Floats) -> Floats:
    """Return the variance of Σ number·indicator for a person of each category."""
    p, q = (float(rate) for rate in kernel.rates)
    gap = float(kernel.rates[0] - kernel.rates[1])
    own, both = pair_rates(kernel)
    rest, squares = numbers.sum() - numbers, (numbers**2).sum() - numbers**2
    pairs = (rest**2 - squares) * (both - q * q) + 2.0 * numbers * rest * (own - p * q)
    return np.asarray((numbers**2 * p * (1.0 - p) + squares * q * (1.0 - q) + pairs) / gap**2)


@name_result
def supported_frequencies(
    reports: Reports | Counts, items: Sequence[Hashable] | None = None
) -> EstimatedFrequencies:
    """Return the frequencies of categories or items from the number of reports that support each.

    With `items`, reports are counted only for these items of sets and for sizes.
    """
    if items is not None:
        return _chosen_items(reports, items)
    _warn_of_long_counts(reports)
    summary = summarise(reports)
    question = category_question(summary.question)
    supports = question.supports(summary.counts)
    made = read(supports, summary.n, question.kernel, question.categories.labels, question.guarantee)
    if isinstance(reports, Reports) and len(reports) == summary.n:
        made = replace(made, sent=WeightedReports(reports, None))
    if isinstance(question.kernel, ItemSets):
        reported = WeightedReports(reports, None) if isinstance(reports, Reports) else None
        sizes = _sizes(summary.counts[supports.size :], summary.n, question)
        sizes = replace(sizes, people=summary.people)
        return _as_lower_bounds(replace(made, apart=True, sizes=sizes, told=reported), sizes, supports.size)
    return made if made.told is None else replace(made, told=summary)


def _warn_of_long_counts(reports: Reports | Counts) -> None:
    """Warn before a count of polynomials that takes most of a minute, and name the remedy."""
    if not isinstance(reports, Reports) or not isinstance(reports.question.counting, ValuesBelow):
        return
    evaluations = len(reports) * reports.question.counting.size
    if evaluations >= _LONG:
        warnings.warn(
            f"{thousands(len(reports))} reports are evaluated at {thousands(reports.question.counting.size)} "
            f"elements: about {thousands(round(evaluations * _EVALUATION))} s of one core. "
            "items=[…] counts only the items that it names",
            stacklevel=6,  # points at the line that calls dt.frequencies
        )


def _chosen_items(reports: Reports | Counts, items: Sequence[Hashable]) -> EstimatedFrequencies:
    question = category_question(reports.question if isinstance(reports, Reports | Counts) else None)
    kernel = question.kernel
    if not isinstance(kernel, ItemSets):
        raise InvalidParameter(
            f"expected reports of sets of items for items=, got reports of {question.name}; leave items out"
        )
    codes = question.categories.check(items)
    if not codes.size or np.unique(codes).size < codes.size:
        raise InvalidParameter("expected items= to be one or more different items")
    elements = np.concatenate([codes, np.arange(kernel.items, kernel.size)])
    n = reports.n if isinstance(reports, Counts) else len(reports)
    if isinstance(reports, Counts):
        counts = reports.counts[elements]
    else:
        flat = reports.cells.reshape(-1, *question.layout.shape)
        counts = kernel.count_of(flat, elements)
    labels = tuple(question.categories.labels[code] for code in codes.tolist())
    made = read(counts[: codes.size], n, kernel, labels, question.guarantee)
    sizes = replace(_sizes(counts[codes.size :], n, question), people=reports.people)
    return _as_lower_bounds(replace(made, apart=True, sizes=sizes, told=None), sizes, kernel.items)


def _as_lower_bounds(
    found: EstimatedFrequencies, sizes: EstimatedFrequencies, items: int
) -> EstimatedFrequencies:
    """Return the shares of items, as lower bounds if some people certainly have `most` items or more.

    A device removes random items from a larger set, so that its report has the form of a report of `most`
    items. So the share of an item may be larger by up to the share of these people.
    """
    most = len(sizes.labels)
    full = cast(ScoreInterval, sizes.confidence.pick(most - 1))
    if most >= items or not full.interval(0.95)[0] > 0.0:
        return found
    return replace(
        found,
        confidence=replace(cast(ScoreInterval, found.confidence), beyond=full),
        remark=found.remark + thinned_remark(sizes),
        thinned=float(sizes[most].value),
    )


def thinned_remark(sizes: EstimatedFrequencies) -> str:
    """Return a text with the share of people whose sets may have been thinned by a device."""
    most = len(sizes.labels)
    items = "an item" if most == 1 else f"{most} items"
    return f", {percent(float(sizes[most].value))} have {items} or more, and report {most}"


def sizes_of_sets(reports: Reports | Counts) -> EstimatedFrequencies:
    """Return the shares of people who have at least 1, 2, … items of a set."""
    if not isinstance(reports.question.kernel, ItemSets):
        raise NotIdentifiable(
            "expected reports of sets of items, such as dt.SetResponse's, to estimate sizes"
        )
    first = category_question(reports.question).categories.labels[0]  # the other items are not counted
    sizes = cast("EstimatedFrequencies", supported_frequencies(reports, [first]).sizes)
    return replace(sizes, labels=tuple(f"{label} or more" for label in sizes.labels))


def _sizes(dummies: Integers, n: int, question: CategoryQuestion) -> EstimatedFrequencies:
    """Return the shares of people with at least 1, 2, … items, from the shares of dummy items.

    Dummy items complete sets with fewer than `most` items. The first dummy is in all such sets, the second in
    the sets that lack at least two items, and so on. A report omits a dummy with probability 1 − p if the set
    contains it, and otherwise with probability 1 − q.
    """
    p, q = question.p, question.q
    share = 1.0 - dummies[::-1] / n
    mean = np.clip(share, 1.0 - p, 1.0 - q)
    error = np.sqrt(mean * (1.0 - mean) / n) / question.gap
    interval = ScoreInterval(share, 1.0 - p, question.gap, n, error)
    value = (share - (1.0 - p)) / question.gap
    labels = tuple(range(1, dummies.size + 1))
    return EstimatedFrequencies(
        value, error, n, question.guarantee, labels=labels, confidence=interval, apart=True, limits=SHARE
    )


def read(
    supports: Integers,
    n: int,
    kernel: SupportKernel,
    labels: Sequence[Hashable],
    guarantee: Guarantee,
) -> EstimatedFrequencies:
    """Return the frequencies for the numbers of supporting reports among n."""
    if n == 0:
        raise NotIdentifiable("expected at least one report to estimate frequencies, got 0")
    if supports.size and not (supports.min() >= 0 and supports.max() <= n):
        raise MalformedReport(
            "expected at most as many reports for a category as reports in all, got more; check the summary"
        )
    own, other = kernel.rates
    p, q, gap = float(own), float(other), float(own - other)
    share = supports / n
    shared = kernel.shared_variance(n)
    mean = share
    if any(shared):  # the error depends strongly on the frequency, so use the middle of the score interval
        mean = np.add(*score_means(share, n, 2.0, shared)) / 2.0
    # The expected share always lies between q and p, so no error is 0 by chance.
    mean = np.clip(mean, q, p)
    error = np.sqrt((mean * (1.0 - mean) + np.polyval(shared[::-1], mean)) / n) / gap
    interval = ScoreInterval(share, q, gap, n, error, shared=shared)
    reported = None if any(shared) else kernel
    return EstimatedFrequencies(
        (share - q) / gap,
        error,
        n,
        guarantee,
        labels=labels,
        confidence=interval,
        told=reported,
        limits=SHARE,
    )
