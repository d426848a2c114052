"""Several numbers of a person in one report near the true record: `dt.Optimal` on a Box."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Final, cast

import numpy as np

from dither.core.domains import Box
from dither.core.domains.plane import SIDE
from dither.core.kernels.places.nearest import BoxKernel, Grid, Points, Selector
from dither.core.question import PlainQuestion, Question
from dither.errors import InvalidParameter, OutsideDomain, check_choice
from dither.foundation.arrays import Floats
from dither.foundation.numerics import codebooks
from dither.foundation.numerics.codebooks import FittedBook
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal.anywhere import PublicMap, Purpose, map_share, merge_points, public_map

_PEOPLE: Final = 2_000  # records that represent the population
_FEWER: Final = 300  # records and points for choosing the number of likelier points
_POINTS: Final = 700  # approximate number of points of a uniform grid
_COUNTS: Final = (
    2,
    3,
    4,
    6,
    8,
    12,
    16,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
)  # numbers of fitted points, one of them likelier
_SHARES: Final = tuple(0.5 * 0.7**step for step in range(14))  # candidates for K/N
_BEST: Final = 3  # number of fits that are improved
_SAME: Final = 1e-3
_DIGITS: Final = 5
_GRAIN: Final = 8


@dataclass(frozen=True)
class InBox(Mechanism[PlainQuestion]):
    """Several numbers at once, reported as a public point; the points nearest to the record are likelier.

    Promise:   pure ε for the complete record, for any distances.
    Reports:   the number of a point, decoded as the geometric median of the people who may have sent it.
    Use when:  single records matter, or the joint distribution of the numbers (`dt.distribution`), most of
    all if public records resemble the people's (`prior`). Not for means: `Sampled` is better.
    Reference: derived in docs/anywhere.md; subset selection takes any K of N [Ye18].

    >>> from dither.core.domains import Interval
    >>> body = Box({"age": Interval(18, 100), "bmi": Interval(10, 60), "sleep": Interval(0, 24)})
    >>> round(InBox(body, epsilon=4, purpose="places").average_error(), 2)
    0.29
    """

    domain: Box

    _: KW_ONLY
    purpose: Purpose = "both"
    prior: tuple[Any, str] | PublicMap | None = None

    _called = "Optimal"
    _takes = (Box,)

    def _check(self) -> None:
        check_choice("purpose", self.purpose, Purpose)
        if self.prior is not None:
            object.__setattr__(self, "prior", self._public(self.prior))

    def _public(self, prior: object) -> PublicMap:
        """Return public records.

        Raise InvalidParameter if they are outside the box or their source is not named.
        """
        if isinstance(prior, tuple) and len(prior) == 2:
            try:
                prior = self.domain.check(prior[0]), prior[1]
            except OutsideDomain as error:
                raise InvalidParameter(f"the records of the prior must lie in the box; {error}") from None
        return public_map(prior, len(self.domain.sides))

    @cached_property
    def people(self) -> tuple[Floats, Floats]:
        """Records that represent the population, with sides scaled to [0, 1], and their weights."""
        return self._stand_ins(self.prior)

    def _stand_ins(self, prior: Any) -> tuple[Floats, Floats]:
        if prior is None:
            records = codebooks.cover(_PEOPLE, len(self.domain.sides))
        else:
            records = self.domain.to_unit(prior.places)
            if len(records) > _PEOPLE:  # equally spaced in the order of the first number
                order = records[np.lexsort(records.T[::-1])]
                records = order[np.linspace(0, len(order) - 1, _PEOPLE).astype(np.int64)]
        return records, np.full(len(records), 1.0 / len(records))

    # --- the design

    @cached_property
    def fitted(self) -> tuple[Selector, int]:
        """The points as devices know them, and the number of likelier points."""
        axes = len(self.domain.sides)
        if self.purpose in ("both", "map"):
            per = max(2, round(_POINTS ** (1.0 / axes)))
            grid = Grid(self.domain.ends, (1,) * axes, _GRAIN, (per,) * axes, SIDE)
            share = self._best_share(codebooks.cover(_FEWER, axes))
            if self.purpose == "map":
                share *= map_share(self.epsilon)
            return grid, max(1, round(share * len(grid.points)))
        best = self._fit_worst() if self.purpose == "worst" else self._best_fit()
        positions = self.domain.from_unit(np.clip(best.points, 0.0, 1.0))
        return Points.of(positions, self.domain.ends, (1,) * axes, _GRAIN), best.width

    def _best_share(self, points: Floats) -> float:
        """Return the share of likelier points with the least error if reports are decoded as medians."""
        records, _ = self.people
        some = records[:: -(-len(records) // _FEWER)]
        order = np.argsort(codebooks.distances(some, points), axis=1)

        def error(share: float) -> float:
            width = max(1, round(share * len(points)))
            law = np.full((len(some), len(points)), 1.0)
            np.put_along_axis(law, order[:, :width], math.exp(self.epsilon), axis=1)
            law /= law.sum(axis=1, keepdims=True)
            read = codebooks.medians(law.T, some, steps=12)
            return float((law * codebooks.distances(some, read)).sum(axis=1).mean())

        return min(_SHARES, key=error)

    def _best_fit(self) -> FittedBook:
        """Return fitted points: the smallest of the best of a few numbers of points."""
        records, weights = self.people
        odds = math.exp(self.epsilon)
        some = records[:: -(-len(records) // _FEWER)]
        even = np.full(len(some), 1.0 / len(some))
        tried = [codebooks.fit(some, even, odds, self._start(count), 1, 20) for count in _COUNTS]
        tried.sort(key=lambda fit: fit.error)
        counts = [len(fit.points) for fit in tried[:_BEST]]
        sizes = [(count, 1) for count in counts] + [(3 * counts[0], 3)] * (counts[0] < 100)
        fits = [codebooks.fit(records, weights, odds, self._start(n), k) for n, k in sizes]
        least = min(fit.error for fit in fits)
        good = [fit for fit in fits if fit.error <= least * (1.0 + _SAME)]
        return merge_points(min(good, key=lambda fit: len(fit.points)))

    def _start(self, count: int) -> Floats:
        records, _ = self.people
        if self.prior is None:
            return codebooks.spread(count, np.array([[0.0, 1.0]] * records.shape[1]))
        at = (np.arange(count) + 0.5) / count * len(records)
        return records[at.astype(np.int64)] + 1e-6 * codebooks.cover(count, records.shape[1])

    def _fit_worst(self) -> FittedBook:
        axes = len(self.domain.sides)
        corners = np.array(list(product((0.0, 1.0), repeat=axes)))
        people = np.concatenate([corners, codebooks.cover(600, axes)])
        fits = [
            codebooks.fit_worst(people, math.exp(self.epsilon), self._start(count), width, 60)
            for count, width in ((1 << axes, 1), (96, 8), (96, 2))
        ]
        return min(fits, key=lambda fit: fit.error)

    def _kernel(self) -> BoxKernel:
        selector, width = self.fitted
        return BoxKernel.largest(self.epsilon, selector, width)

    def _codebook(self, kernel: BoxKernel) -> Floats:
        """Return the decoded record of each number: the median of the people who may have sent it."""
        if self.purpose == "worst":
            return kernel.selector.places()  # medians would favour crowded regions
        return self._medians(kernel, *self.people)

    def _medians(self, kernel: BoxKernel, records: Floats, weights: Floats) -> Floats:
        laws = kernel.laws(self.domain.from_unit(records))
        read = np.round(codebooks.medians(laws.T * weights, records, steps=30), _DIGITS)
        return self.domain.clip(self.domain.from_unit(read))

    def read_for(self, prior: tuple[Any, str] | PublicMap | None) -> Question:
        """Return the question decoded at the medians of other people; devices draw as before."""
        people = self._stand_ins(None if prior is None else self._public(prior))
        return replace(
            self.question, book=self._medians(cast(BoxKernel, self.question.kernel), *people), made_by=None
        )

    # --- errors, with every side of length 1

    def error(self, records: object) -> Floats:
        """Return the mean distance between each record and its report, with sides of length 1."""
        checked = self.domain.check(records).reshape(-1, len(self.domain.sides))
        apart = codebooks.distances(self.domain.to_unit(checked), self.domain.to_unit(self.question.book))
        laws = cast(BoxKernel, self.question.kernel).laws(checked)
        return np.asarray((laws * apart).sum(axis=1))

    @cached_property
    def bound(self) -> float:
        """A lower bound on every ε-LDP mechanism's average error for the same people, with sides of length 1.

        It is numerical: the dual is solved for the records that represent the population, and reports are
        searched by descent from thousands of points. This needs scipy and takes seconds.
        """
        records, weights = self.people
        odds, (selector, width) = math.exp(self.epsilon), self.fitted
        squares = 4.0 * (records.T - 0.5) ** 2
        pairs = [first * second for first, second in combinations(squares, 2)]
        basis = np.array([np.ones(len(records)), *squares, *squares**2, *squares**3, *pairs])
        begin = codebooks.first_radii(records, self.domain.to_unit(selector.places()), width, basis)
        outputs = np.concatenate([records, codebooks.cover(2 * _PEOPLE, records.shape[1])])
        best = -math.inf
        for _ in range(3):
            found = codebooks.lower_bound(records, weights, odds, begin, basis, outputs)
            lowest = codebooks.lowest_outputs(records, weights, odds, found.radii, outputs)
            outputs, begin = np.concatenate([outputs, lowest]), found.radii
            best = max(best, codebooks.dual_value(records, weights, odds, found.radii, outputs))
        return best

    @property
    def gap(self) -> float:
        """The relative excess of the average error over the bound; numerical, and at least 0."""
        return max(self.average_error() / self.bound - 1.0, 0.0)

    def average_error(self) -> float:
        """Return the mean distance between a record and its report, for evenly spread people or the prior's.

        The points were fitted to the prior's people, but not to the evenly spread records.
        """
        if self.prior is None:
            records = codebooks.cover(3 * _PEOPLE, len(self.domain.sides))[_PEOPLE:]
        else:
            records = self.domain.to_unit(public_map(self.prior, len(self.domain.sides)).places)
        return float(self.error(self.domain.from_unit(records)).mean())

    def worst_error(self) -> float:
        """Return the largest mean distance over the corners of the box and the people of the prior."""
        corners = np.array(list(product(*self.domain.ends)))
        return float(max(self.error(corners).max(), self.error(self.domain.from_unit(self.people[0])).max()))
