"""Bins of a domain: equal or unequal, given or chosen by the error of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.domains import Line
from dither.errors import InvalidParameter, found
from dither.estimation.density.curve import DensityCurve

Bins = int | Sequence[float] | Floats | None  # how many equal ones, or their edges, or a choice by the error

MOST_BINS: Final = 1 << 16
DEFAULT: Final = 64  # of methods that do not choose
_CHOICES: Final = (8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 100, 128)


def edges_of(line: Line, bins: Bins) -> Floats:
    """Return the ends of bins; raise InvalidParameter unless they are increasing and span the domain."""
    if bins is None:
        bins = DEFAULT
    if isinstance(bins, bool | str | bytes):
        raise _wrong_bins(bins)
    if isinstance(bins, int | np.integer):
        if not 1 <= bins <= MOST_BINS:
            raise _wrong_bins(bins)
        return line.from_unit(np.arange(int(bins) + 1) / int(bins))
    try:
        edges = np.array(bins, dtype=np.float64)
    except (TypeError, ValueError):
        raise _wrong_bins(bins) from None
    if edges.ndim != 1 or not 2 <= edges.size <= MOST_BINS + 1 or not np.all(np.diff(edges) > 0.0):
        raise _wrong_bins(bins)
    close = 1e-9 * line.length
    if abs(edges[0] - line.low) > close or abs(edges[-1] - line.high) > close:
        raise InvalidParameter(f"edges of bins begin and end with the domain, {line}")
    edges[0], edges[-1] = line.low, line.high
    return edges


def count_of(line: Line, bins: Bins) -> int:
    """Return how many bins there are."""
    return edges_of(line, bins).size - 1


def chosen_bins(curve: DensityCurve) -> Floats:
    """Return the ends of the fewest equal bins that cost less accuracy than the estimate has.

    Within a bin the density is shown as constant. What that costs, as a mean square over the domain, is less
    than the mean variance of the density. Declared points have a bin each.
    """
    if curve.points is not None:
        if curve.points.size == 1:
            return edges_of(curve.line, 1)
        middles = (curve.points[1:] + curve.points[:-1]) / 2.0
        return curve.line.from_unit(np.concatenate([[0.0], middles, [1.0]]))
    heights = curve.shares[: curve.bins]
    noise = float(np.diagonal(curve.posterior.covariance)[: curve.bins].sum())
    centres = (np.arange(curve.bins) + 0.5) / curve.bins
    for count in _CHOICES:
        cell = np.minimum((centres * count).astype(np.int64), count - 1)
        means = np.bincount(cell, heights, count) / np.maximum(np.bincount(cell, minlength=count), 1)
        if float(np.square(heights - means[cell]).sum()) <= noise:
            break
    return edges_of(curve.line, count)


def _wrong_bins(bins: object) -> InvalidParameter:
    given = found(bins) if isinstance(bins, int | float | str) else type(bins).__name__
    return InvalidParameter(
        "bins are a whole number from 1 to 2^16, or increasing edges from the lowest to the highest value, "
        f"not {given}"
    )
