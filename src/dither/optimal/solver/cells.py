"""Codebooks from a base measure: many cells share each of a few numbers, symmetric about the middle."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dither.arrays import Floats, Integers
from dither.kernels.window.codebook import Runs
from dither.kernels.window.integers import Sliding
from dither.optimal.problem import Problem

CELLS: Final = 1 << 16
_PARTS: Final = 4  # pieces into which an atom is divided when it is spread
_REACH: Final = 1.0 + 2.0**-29  # so that the knots of a start table reach the domain's end despite rounding


def spread(places: Floats, masses: Floats, share: float) -> tuple[Floats, Floats]:
    """Return atoms divided into parts that cover `share` of the gap to their neighbours; the outermost stay.

    A program on a grid of outputs returns atoms where the optimal measure has a density.
    """
    kept = np.flatnonzero(masses > 1e-12)
    widths = share * np.gradient(places)[kept]
    widths[[0, -1]] = 0.0
    offsets = (np.arange(_PARTS) + 0.5) / _PARTS - 0.5
    parts = (places[kept, None] + widths[:, None] * offsets).reshape(-1)
    order = np.argsort(parts, kind="stable")
    return parts[order], np.repeat(masses[kept] / _PARTS, _PARTS)[order]


def codebook(places: Floats, masses: Floats, cells: int = CELLS) -> Runs:
    """Return a codebook that divides its cells among the atoms of a symmetric measure."""
    upper = places >= 0.0
    values, half = places[upper], masses[upper].copy()
    half[values == 0.0] /= 2.0  # the other half of an atom in the middle belongs to the lower side
    values, same = np.unique(values, return_inverse=True)
    total = np.cumsum(np.bincount(same, weights=half).astype(np.float64))
    ends = np.rint(total / total[-1] * (cells // 2)).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    return mirrored(values[counts > 0], counts[counts > 0])


def mirrored(values: Floats, counts: Integers) -> Runs:
    """Return the whole codebook from its upper half."""
    return Runs(np.concatenate([-values[::-1], values]), np.concatenate([counts[::-1], counts]))


def halved(book: Runs) -> tuple[Floats, Integers]:
    """Return the upper half of a symmetric codebook."""
    middle = book.values.size // 2
    return book.values[middle:], book.counts[middle:]


def grouped(book: Runs, groups: int) -> Runs:
    """Return a codebook of about 2·groups numbers: neighbours become their mean, large atoms stay."""
    values, counts = halved(book)
    target = max(book.cells // 2 // groups, 1)
    # A new group begins where a run's middle crosses a multiple of the target; a large atom is a group.
    large = counts >= target
    bins = (np.cumsum(counts) - counts / 2.0) // target
    fresh = np.diff(bins, prepend=-1.0) != 0.0
    fresh |= large
    fresh[1:] |= large[:-1]
    begins = np.flatnonzero(fresh)
    sums = np.add.reduceat(counts, begins)
    means = np.add.reduceat(values * counts, begins) / sums
    return mirrored(means, sums)


def reaching(problem: Problem, book: Runs, width: int) -> Runs:
    """Return the codebook scaled so that the mean reports of an unbiased mechanism cover the domain."""
    window = Sliding.largest(problem.epsilon, book.cells, width)
    # The codebook is symmetric with mean 0, so only the window contributes to the mean report.
    ends = np.cumsum(book.counts[::-1])
    kept = np.diff(np.minimum(ends, width), prepend=0)
    mean = math.fsum(kept * book.values[::-1]) / width * window.contrast
    return Runs(book.values * (0.5 * _REACH / mean), book.counts)


def fitting_width(problem: Problem, total: float, cells: int = CELLS) -> int:
    """Return the width of the window whose mass is 1 − `total`, the mass of the base measure."""
    width = round(cells * (1.0 / total - 1.0) / problem.lift)
    return min(max(width, 1), cells - 1)


def reduced(book: Runs, width: int) -> tuple[Runs, int]:
    """Return the same law on fewer cells: all counts divided by their largest common power of two."""
    common = math.gcd(width, *book.counts.tolist())
    shift = (common & -common).bit_length() - 1
    return Runs(book.values, book.counts >> shift), width >> shift
