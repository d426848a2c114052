"""Estimate the share of people who have both of two items of a set."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from dither.core.kernels.sets.items import ItemSets
from dither.core.question import CategoryQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import supported_frequencies, thinned_remark
from dither.estimation.frequency_interval import ThinnedInterval
from dither.estimation.intervals import VarianceInterval
from dither.estimation.method import category_question
from dither.estimation.rounding import SHARE
from dither.foundation.arrays import Integers


def both_items(reports: Reports, first: Hashable, second: Hashable) -> Estimate:
    """Return the share of people who have both of two items, from the number of reports that contain both.

    It is a lower bound where people have more items than they report.
    """
    kernel = reports.question.kernel if isinstance(reports, Reports) else None
    if not isinstance(kernel, ItemSets):
        made = reports.question.name if isinstance(reports, Reports) else type(reports).__name__
        raise InvalidParameter(
            f"expected reports of dt.SetResponse (they contain items together), got {made}"
        )
    if kernel.no_pairs:
        raise NotIdentifiable(
            f"expected reports that contain pairs of items, but {kernel.no_pairs}; ask by dt.SetResponse(…, "
            "pairs=True)"
        )
    question = category_question(reports.question)
    codes = question.categories.check([first, second])
    if codes[0] == codes[1]:
        raise InvalidParameter("expected two different items, got the same item twice")
    n = len(reports)
    if n == 0:
        raise NotIdentifiable("expected at least one report, got 0")
    counted = kernel.support_of(reports.cells.reshape(-1, *question.layout.shape), codes).sum(axis=1)
    plain = _both(np.bincount(counted, minlength=3), n, question)
    items = supported_frequencies(reports, [first, second])
    if items.confidence.beyond is None or items.sizes is None:
        return Estimate.of(plain, question.guarantee, limits=SHARE)
    return Estimate.of(
        ThinnedInterval(plain, items.confidence.beyond, up=1.0),
        question.guarantee,
        limits=SHARE,
        remark=thinned_remark(items.sizes),
        thinned=items.thinned,
    )


def _both(counted: Integers, n: int, question: CategoryQuestion) -> VarianceInterval:
    """Return the share of people with both items, from the numbers of reports with 0, 1 and 2 of them.

    If a person has j of the items, both are reported with probability r_j, and one with probability s_j −
    2r_j. Here s_j is the sum of the two rates. Both averages are linear in the share f and in the items' own
    shares.
    """
    kernel: Any = question.kernel
    both = np.array([float(rate) for rate in kernel.pair_rates])
    bend = float(kernel.pair_rates[2] - 2 * kernel.pair_rates[1] + kernel.pair_rates[0])
    if bend == 0.0:
        raise NotIdentifiable(
            "expected reports that contain pairs of items, but these do not; ask by dt.SetResponse(…, "
            "pairs=True)"
        )
    sums = np.array([2.0 * question.q, question.p + question.q, 2.0 * question.p])
    single = (counted[1] + 2.0 * counted[2]) / n
    slope = (both[1] - both[0]) / question.gap
    # `numbers` decode a report with 0, 1 or 2 of the items.
    numbers = (np.array([0.0, 0.0, 1.0]) - both[0] - slope * (np.arange(3.0) - 2.0 * question.q)) / bend
    value = float(numbers @ counted) / n
    chances = np.stack([1.0 - sums + both, sums - 2.0 * both, both], axis=1)
    squares = chances @ numbers**2
    shares = float(np.clip((single - 2.0 * question.q) / question.gap, 0.0, 2.0))
    constant = (squares[0] + (squares[1] - squares[0]) * shares) / n
    linear = (squares[2] - 2.0 * squares[1] + squares[0]) / n
    return VarianceInterval(value, n, (constant, linear, 1.0 / n))
