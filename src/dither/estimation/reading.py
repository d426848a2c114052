"""The numbers that a mean averages: an unbiased number for each report, with the least known variance.

A kernel has numbers that are affine in the report. Other numbers have the same mean for every value and a
smaller variance. They replace the affine numbers if that lowers the average variance over the domain by 1 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np

from dither.core.combinator import Combinator
from dither.core.kernels.kernel import MOST_LISTED, UnbiasedReading
from dither.core.kernels.window.codebook import JoinedDecoder
from dither.core.kernels.window.kernel import OptionalKernel
from dither.core.kernels.window.start import LineStart
from dither.core.question import NumberQuestion, as_question
from dither.estimation.method import category_question, has_numbers
from dither.foundation.arrays import Floats

if TYPE_CHECKING:
    from dither.core.kernels.kernel import LineKernel
    from dither.core.kernels.lattice.kernel import LatticeKernel
    from dither.core.kernels.window.codebook import Decoder
    from dither.core.kernels.window.kernel import MixtureKernel, SlidingKernel

_COMPARED: Final = 129  # number of inputs at which the variances of two decodings are compared
_WORTH: Final = 0.01  # least gain for a decoding that is not affine
_known: WeakKeyDictionary[NumberQuestion, UnbiasedReading | None] = WeakKeyDictionary()


def least_variance_reading(question: NumberQuestion) -> UnbiasedReading | None:
    """Return the numbers that decode reports with the value as mean, or None if they do not exist.

    They have the least known variance, averaged over the domain.
    """
    if question not in _known:
        _known[question] = _reading(question.kernel, question.book)
    return _known[question]


def _reading(kernel: LineKernel, book: Decoder) -> UnbiasedReading | None:
    affine = kernel.unbiased_reading(book)
    less = _LESS.get(kernel.kind)
    return affine if affine is None or less is None else less(kernel, book, affine)


def _of_window(kernel: SlidingKernel, book: Decoder, affine: UnbiasedReading) -> UnbiasedReading:
    start = kernel.start
    if not isinstance(start, LineStart) or kernel.rest or kernel.outcomes > MOST_LISTED:
        return affine  # numbers of a codebook that makes them unbiased, or too many reports to list
    return _better(kernel, affine, _least_variance(kernel, affine.values))


def _least_variance(kernel: SlidingKernel | OptionalKernel, values: Floats) -> Floats:
    """Return numbers with the means of `values` for all inputs, and the least variance on average.

    From one start to the next a window loses its first cell and gains the cell after its last. So the means
    of all starts change alike iff the numbers of all cells in reach with the same residue mod K change alike.
    Cells that no window reaches are a group of their own, and so are the last K cells of an optional number.
    Let D be the average distribution of cells, and A the distributions for the first start and for no answer.
    The sum of D·φ² is least for A·φ = A·v if φ is the deviation of v from its mean in each group by D, plus
    μ·ΣA/ΣD. The equations A·φ = A·v give μ.
    """
    window, start = kernel.window, cast(LineStart, kernel.start)
    ends = start.aim(np.array([kernel.line.low, kernel.line.high]))
    first, last = int(ends[0]) >> start.fraction, -(-int(ends[1]) >> start.fraction)
    cells, width, share = np.arange(window.cells), window.width, window.contrast
    earliest, latest = np.maximum(cells - width + 1, first), np.minimum(cells, last)
    covering = latest - earliest + 1.0 - (earliest == first) / 2.0 - (latest == last) / 2.0
    often = np.where(latest >= earliest, covering, 0.0) / max(last - first, 1)
    reached = (cells >= first) & (cells < last + width)
    group = np.where(reached, (cells - first) % width, width)
    inputs = [(cells >= first) & (cells < first + width)]
    if isinstance(kernel, OptionalKernel):
        missing = cells >= kernel.room
        group[missing] = width + 1
        inputs.append(missing)
        often = ANSWERING * often + (1.0 - ANSWERING) * missing
    average = (1.0 - share) / window.cells + share / width * often
    laws = (1.0 - share) / window.cells + share / width * np.array(inputs, dtype=np.float64)
    weight = np.maximum(np.bincount(group, average, width + 2), 1e-300)  # every cell may be in reach
    base = np.where(group == width, 0.0, values)
    base = base - (np.bincount(group, average * base, width + 2) / weight)[group]
    sums = np.array([np.bincount(group, law, width + 2) for law in laws])
    multipliers = np.linalg.solve(sums / weight @ sums.T, laws @ (values - base))
    return np.asarray(base + (multipliers @ sums / weight)[group])


ANSWERING: Final = 2.0 / 3.0  # share of people with an answer for whom the variances are averaged


class OptionalReading(NamedTuple):
    """Three numbers for each report of an optional number, with the least variance on average.

    Their means are x − low, (x − low)² and 1 for a value x, and 0 for no answer.
    """

    values: Floats
    squares: Floats
    answered: Floats


@lru_cache(maxsize=16)
def optional_reading(kernel: OptionalKernel) -> OptionalReading | None:
    """Return the decoding of an optional number, or None if the mean start is not affine in the value."""
    values = kernel.number_reading()
    if values is None:
        return None
    plain = values, _square_reading(kernel), kernel.answer_reading()
    return OptionalReading(*(_least_variance(kernel, numbers) for numbers in plain))


def _square_reading(kernel: OptionalKernel) -> Floats:
    """Return a number for each report whose mean is (x − low)² for a value x, and 0 for no answer.

    The mean square of the cell over a window is quadratic in the window's start. So three values and "no
    answer" determine a quadratic function of the cell, and the number for the last K cells.
    """
    line, cells = kernel.line, np.arange(kernel.outcomes)
    position = np.where(cells < kernel.room, cells / kernel.room, 0.0)
    parts = np.stack([cells < kernel.room, position, position**2, cells >= kernel.room]).astype(np.float64)
    inputs = np.array([line.low, (line.low + line.high) / 2.0, line.high, math.nan])
    laws = np.stack([kernel.likelihoods(cells, np.asarray(value)) for value in inputs])
    wanted = np.append((inputs[:3] - line.low) ** 2, 0.0)
    return np.asarray(np.linalg.solve(laws @ parts.T, wanted) @ parts)


def _of_mixture(kernel: MixtureKernel, book: Decoder, affine: UnbiasedReading) -> UnbiasedReading:
    """Return the decodings of both windows, one after the other."""
    parts = book.parts if isinstance(book, JoinedDecoder) else (book, book)
    own = [_reading(window, part) for window, part in zip((kernel.first, kernel.second), parts, strict=True)]
    values = [reading.values for reading in own if reading is not None]
    return affine if len(values) < 2 else _better(kernel, affine, np.concatenate(values))


def _of_noise(kernel: LatticeKernel[Any], book: Decoder, affine: UnbiasedReading) -> UnbiasedReading:
    """Return the numbers, averaged over reports with the same information about the value.

    Examples are reports beyond the domain with proportional probabilities under all inputs. Averaging keeps
    the mean, and does not increase the variance for any value (Rao-Blackwell).
    """
    lattice: Any = kernel.lattice
    alike, steps = getattr(lattice, "alike", None), affine.values
    if alike is None:
        return affine
    inputs = kernel.steps(np.arange(lattice.steps + 1) - lattice.first)
    middle = lattice.chances((lattice.steps // 2) << lattice.between)
    merged = (np.bincount(alike, middle * steps) / np.bincount(alike, middle))[alike]
    centre = inputs[lattice.steps // 2]
    if float(middle @ (merged - centre) ** 2) > (1.0 - _WORTH) * float(middle @ (steps - centre) ** 2):
        return affine
    rounded = 0.5 / kernel.start.scale
    return UnbiasedReading(merged, bias=rounded + float(np.abs(lattice.means(merged) - inputs).max()))


# The search for unbiased numbers with less variance, by the kind of kernel.
_LESS: Final[dict[str, Callable[[Any, Decoder, UnbiasedReading], UnbiasedReading]]] = {
    "sliding": _of_window,
    "mixture": _of_mixture,
    "lattice": _of_noise,
}


def _better(kernel: LineKernel, plain: UnbiasedReading, values: Floats) -> UnbiasedReading:
    """Return the decoding by other unbiased numbers if they are better, otherwise the plain decoding.

    They are better if the variance of a report, averaged over the domain, is at least 1 % smaller, and its
    maximum is not larger.
    """
    inputs = np.linspace(kernel.line.low, kernel.line.high, _COMPARED)
    operator = kernel.likelihood(inputs, kernel.outcomes)
    middle = (kernel.line.low + kernel.line.high) / 2.0
    old, new = (
        operator.backward((numbers - middle) ** 2) - (inputs - middle) ** 2
        for numbers in (plain.values, values)
    )
    if mean_of_ends(new) > (1.0 - _WORTH) * mean_of_ends(old) or new.max() > old.max():
        return plain
    return replace(plain, values=values)


def mean_of_ends(numbers: Floats) -> float:
    """Return the mean over an interval of a function at equal steps from end to end (trapezium rule)."""
    return float((numbers[1:] + numbers[:-1]).mean() / 2.0)


def reach_of_one(target: object) -> float | None:
    """Return n times the largest effect of one of n reports on a mean or a frequency; None without a bound.

    It is the distance between the least and the greatest decoded number of a report: for a mean by its
    unbiased decoding, for a frequency 1/(p − q).
    """
    if isinstance(target, Combinator):  # not derived for several questions together
        return None
    question = as_question(target)
    if getattr(question.book, "shares", False):  # a table of probabilities
        return float(np.ptp(question.book.table, axis=1).max())
    if "frequencies" in question.quantities:
        return 1.0 / category_question(question).gap
    reading = least_variance_reading(question) if has_numbers(question) else None
    if reading is None:
        return None
    low, high = reading.span
    return high - low
