"""The audit of the code that draws: frequencies, bad input, and words at the borders of decisions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import numpy as np

from dither.advice.audits.neighbours import Listed
from dither.core.kernels.directions import DirectionsKernel
from dither.core.kernels.kernel import MOST_LISTED, CellKernel
from dither.core.kernels.packing import unpack_rows
from dither.core.kernels.places.planar import PlanarNoiseKernel
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.prefix import HashedResponse, PrefixKernel
from dither.core.question import Question
from dither.errors import OutsideDomain
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.randomness import Seeded, Source

SCRIPTS: Final = tuple(  # words at the ends of their range, and about the middle of it
    pattern * (size // 4)
    for size in (4, 8, 16, 64)
    for pattern in (bytes(4), b"\xff" * 4, b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\xfe" + b"\xff" * 3)
)


class ScriptEnded(Exception):
    """The draw needs more bytes than the script has; `missing` is their number."""

    def __init__(self, missing: int) -> None:
        super().__init__("the script has no more bytes")
        self.missing = missing


class BoundaryWords(Source):
    """The given bytes first, then a seeded source's bytes, so that every rejection loop ends.

    With `strict`, ScriptEnded is raised instead of going on. `taken` counts the bytes that were drawn.
    """

    def __init__(self, script: bytes, *, strict: bool = False) -> None:
        self._script, self._rest, self._strict, self.taken = script, Seeded(1), strict, 0

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def take(self, size: int) -> bytes:
        if self._strict and size > len(self._script):
            raise ScriptEnded(size - len(self._script))
        self.taken += size
        chosen, self._script = self._script[:size], self._script[size:]
        return chosen + self._rest.take(size - len(chosen))

    def spawn(self) -> Source:
        return self._rest.spawn()

    @property
    def private(self) -> bool:
        return False


ARRAYS: Final = "arrays are drawn with other probabilities than the integers say"
SINGLES: Final = "single values are drawn with other probabilities than the integers say"
PATHS: Final = "locations of paths are drawn with other probabilities than their parts say"
BOUNDARY: Final = "at a boundary of the random words a report is drawn that another input never has"
NOT_FINITE: Final = "a value that is not finite is answered, not refused"

MANY: Final = 1 << 14  # reports drawn by arrays at each of a few inputs
_VECTORS: Final = 1 << 11  # draws of a vector, each of which is compared with all directions
ONES: Final = 1 << 10  # reports drawn one by one
_FEW: Final = 64  # values of an array long enough for the draw code of arrays
_GROUPS: Final = 8
_ALARM: Final = 1e-9  # an upper bound on the probability that one comparison rejects a correct sampler


def can_compare(question: Question, known: Listed | None) -> bool:
    """Return whether the draw code can be compared with probabilities."""
    return _comparison(question, known) is not None


def contradictions(question: Question, known: Listed | None) -> Iterator[str]:
    """Yield each contradiction between the draw code and its integers; nothing for a correct sampler."""
    if question.domain.line is not None and question.alone:
        yield from _not_finite(question)
    yield from _comparison(question, known) or ()


def _comparison(question: Question, known: Listed | None) -> Iterator[str] | None:
    """Return the comparison for a kernel's draws, as an iterator not yet started, or None."""
    kernel = question.kernel
    if not question.alone:
        return None
    if known is not None:
        return chain(_boundary(question, known), _frequencies(question, known))
    if isinstance(kernel, HashedResponse | PrefixKernel | DirectionsKernel):
        return _compare_seeded(question, kernel)
    if isinstance(kernel, Bits):
        return _bits(question, kernel)
    if isinstance(kernel, PlanarNoiseKernel) and kernel.fine:
        return _planar(question, kernel)
    return None


def pair_contradictions(question: Question) -> Iterator[str]:
    """Yield each contradiction between paths of one location and the probabilities of its two parts."""
    point = np.asarray(question.domain.centre, dtype=np.float64)
    cells = question.perturb(np.tile(point, (MANY, 1, 1)), source=Seeded(3)).cells.reshape(MANY, -1)[:, 1:]
    numbers = question.kernel.numbers(question.domain.check(point)).tolist()
    for axis, (part, number) in enumerate(zip(question.kernel.parts, numbers, strict=True)):
        if part.outcomes <= MOST_LISTED:
            law = part.likelihoods(np.arange(part.outcomes), np.asarray(number))
            if not _agree(cells[:, axis].astype(np.int64), law):
                yield PATHS


def _not_finite(question: Question) -> Iterator[str]:
    for value in (math.nan, math.inf, -math.inf):
        for count in (1, _FEW):
            try:
                question.perturb(np.full(count, value), source=Seeded(2))
            except OutsideDomain:
                continue
            except (ArithmeticError, ValueError):
                pass  # an error in the draw code means that it accepted the value
            yield NOT_FINITE
            return


def _boundary(question: Question, known: Listed) -> Iterator[str]:
    impossible = known.law.min(axis=0) <= 0.0  # under one of the inputs
    for index in (0, 1 % len(known.values)):
        for script in SCRIPTS:
            drawn = known.number(_perturb(question, known.values[index], _FEW, BoundaryWords(script)))
            single = _ones(question, known, index, 1, BoundaryWords(script))
            for cells in (drawn, single):
                if cells.size and (int(cells.max()) >= impossible.size or impossible[cells].any()):
                    yield BOUNDARY
                    return


def _frequencies(question: Question, known: Listed) -> Iterator[str]:
    source = Seeded(3)
    for index in range(min(3, len(known.values))):
        law = known.law[index]
        many = known.number(_perturb(question, known.values[index], MANY, source))
        if not _agree(many, law):
            yield ARRAYS
        if not _agree(_ones(question, known, index, ONES, source), law):
            yield SINGLES


def _compare_seeded(
    question: Question, kernel: HashedResponse | PrefixKernel | DirectionsKernel
) -> Iterator[str]:
    """Compare the frequency of reports that support their input, given their seeds, with its probability."""
    value = question.domain.examples()[0]
    own = question.domain.check([value])[0]
    law = kernel.probabilities(own)
    each, count = float(max(law)), MANY if not question.domain.shape else _VECTORS
    chance = float(max(law) * law.count(max(law)))
    reports = _perturb(question, value, count, Seeded(3))
    reported = kernel.likelihoods(reports, np.broadcast_to(own, (count, *np.shape(own))))
    if not _likely(int(np.count_nonzero(reported >= each * (1 - 1e-9))), count, chance, 1):
        yield ARRAYS


def _bits(question: Question, kernel: Bits) -> Iterator[str]:
    """Compare how often the input's own bit and another bit are set with their probabilities."""
    rows = unpack_rows(_perturb(question, question.domain.labels[0], MANY, Seeded(3)), kernel.size)
    for bit, rate in zip((0, kernel.size - 1), kernel.rates, strict=True):
        if not _likely(int(np.count_nonzero(rows[:, bit])), MANY, float(rate), 2):
            yield ARRAYS


def _planar(question: Question, kernel: PlanarNoiseKernel) -> Iterator[str]:
    """Compare distances of reports from two locations, and their quadrants, with the noise."""
    for value in question.domain.examples(few=True)[-2:]:
        cells = _perturb(question, value, MANY, Seeded(3)).reshape(MANY, -1)[:, -2:].astype(np.int64)
        gap = cells - kernel.points(value)
        within = kernel.within(np.hypot(gap[:, 0], gap[:, 1]))
        group = np.minimum((within * _GROUPS).astype(np.int64), _GROUPS - 1)
        quarter = 2 * (gap[:, 0] > 0) + (gap[:, 1] > 0)
        if not (_agree(group, np.full(_GROUPS, 1 / _GROUPS)) and _agree(quarter, np.full(4, 1 / 4))):
            yield ARRAYS


def _perturb(question: Question, value: Any, count: int, source: Source) -> Array:
    """Return the reports of one value, drawn as an array; a place is drawn as paths of one location each."""
    shape = question.domain.shape
    numbers = bool(shape) or isinstance(value, int | float)
    values = np.empty((count, *shape), dtype=np.result_type(value) if numbers else object)
    if numbers:
        values[...] = value
    else:  # one by one: numpy would take apart a list of items
        for index in range(count):
            values[index] = value
    return question.perturb(values, source=source).cells


def _ones(question: Question, known: Listed, index: int, count: int, source: Source) -> Integers:
    """Return the reports of one input, drawn one by one in plain integers, or nothing if reports are rows."""
    kernel, value = question.kernel, known.inputs[index]
    if not isinstance(kernel, CellKernel) or np.ndim(value):
        return np.zeros(0, dtype=np.int64)
    return np.array([kernel.draw_one(value, source) for _ in range(count)], dtype=np.int64)


def _agree(drawn: Integers, law: Floats) -> bool:
    """Return whether the frequencies of reports agree with their probabilities, in groups of reports.

    Reports are divided into about equally likely groups in two ways: by their numbers, and from the likeliest
    to the least likely.
    """
    if not drawn.size:
        return True
    if int(drawn.max()) >= law.size:
        return False
    counts = np.bincount(drawn, minlength=law.size)
    for order in (np.arange(law.size), np.argsort(-law, kind="stable")):
        below = np.cumsum(law[order]) - law[order]
        group = np.minimum((below * _GROUPS).astype(np.int64), _GROUPS - 1)
        mass = np.bincount(group, weights=law[order], minlength=_GROUPS)
        seen = np.bincount(group, weights=counts[order], minlength=_GROUPS)
        for often, chance in zip(seen.tolist(), mass.tolist(), strict=True):
            if not _likely(int(often), drawn.size, chance, 2 * _GROUPS):
                return False
    return True


def _likely(often: int, count: int, chance: float, tests: int) -> bool:
    """Return whether `often` out of `count` is plausible at a probability, by Chernoff's bound."""
    share = often / count
    chance = min(max(chance, 0.0), 1.0)
    if (chance == 0.0 and often) or (chance == 1.0 and often < count):
        return chance == 1.0 and often > count - 1
    gap = _term(share, chance) + _term(1.0 - share, 1.0 - chance)
    return count * gap <= math.log(2.0 * tests / _ALARM)


def _term(share: float, chance: float) -> float:
    return share * math.log(share / chance) if share > 0.0 and chance > 0.0 else 0.0
