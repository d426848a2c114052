"""The window kernels: sliding, in sectors, randomized response, and a mixture of two."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain, Line
from dither.core.kernels.blocks import FEW, Sampler, in_threads
from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.kernel import (
    A_LINE,
    MOST_LISTED,
    STRAIGHT,
    CellKernel,
    Kernel,
    LineKernel,
    UnbiasedReading,
    affine_reading,
    pure_certify,
    pure_promise,
)
from dither.core.kernels.transition import Dense, Stacked, Windows
from dither.core.kernels.window.codebook import Decoder, JoinedDecoder, Single, check_size, read_decoder
from dither.core.kernels.window.integers import Blocks, Sliding
from dither.core.kernels.window.start import LINE_START, LineStart, StartRule
from dither.core.kernels.window.start_table import KnotStart, StepStart
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats
from dither.foundation.canonical import WHOLE, Fields, Member, from_domain, inline, one_of
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket


class SlidingSampler:
    """A sampler with buffers for blocks of up to `size` values; one per thread."""

    def __init__(self, window: Sliding, start: StartRule, size: int) -> None:
        self._lottery = window.lottery
        self._starts = start.sampler(window, size)
        word, cell, coin = self._lottery.dtype, window.dtype, self._starts.coins
        ends = np.cumsum([word.itemsize, cell.itemsize, coin.itemsize if coin else 0])
        self._random = np.empty(int(ends[-1]) * size, dtype=np.uint8)
        self._words = self._random[: ends[0] * size].view(word)
        self._uniform = self._random[ends[0] * size : ends[1] * size].view(cell)
        self._coins = self._random[ends[1] * size :].view(coin or np.uint8)
        self._drawn = np.empty(size, dtype=np.bool_)
        spare = window.cells != 1 << (8 * cell.itemsize)
        self._mask = cell.type(window.cells - 1) if spare else None

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        """Write a cell for each value of a block."""
        count = block.size
        if count == self._words.size:
            source.fill(self._random.data)
        else:
            for part in (self._words, self._uniform, self._coins):
                source.fill(part[:count].data)
        ticket, drawn = self._words[:count], self._drawn[:count]
        self._lottery.draw(ticket, drawn, source)
        start, uniform = self._starts(block, self._coins[:count]), self._uniform[:count]
        # cell = uniform + drawn·(start + ticket − uniform); unsigned overflow cancels
        np.copyto(cell, ticket, casting="unsafe")
        start += cell
        start -= uniform
        start *= drawn
        np.add(start, uniform, out=cell)
        if self._mask is not None:
            cell &= self._mask


COUNTED: Final = 20  # leading bits of a cell that counts and likelihoods distinguish


class WindowKernel(Kernel):
    """A kernel with two probabilities, H inside of a window and L outside: ε = ln(H/L)."""

    promise, certify = pure_promise, pure_certify

    window: Sliding | Blocks

    @property
    def ratio(self) -> Fraction:
        return self.window.ratio

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The least probabilities, L for every cell, and two windows with the smallest overlap."""
        return window_blanket(self.window)


def window_blanket(window: Sliding | Blocks) -> Blanket:
    """Return the least probabilities, L for every cell, and two windows with the smallest overlap."""
    return Blanket.of_sets(window.ratio, Fraction(window.width, window.cells))


@dataclass(frozen=True)
class SlidingKernel(WindowKernel, LineKernel):
    """A window that starts where the start rule says, and wraps around."""

    line: Line
    window: Sliding
    start: StartRule

    kind: ClassVar[str] = "sliding"
    fields = Fields(
        line=A_LINE,
        window=inline(Sliding),
        start=one_of(
            LineStart, StepStart, KnotStart, wrong="the kind of a start rule must be line, steps or knots"
        ),
    )

    def __post_init__(self) -> None:
        if not self.start.fits(self.line, self.window):
            raise InvalidParameter(
                "expected a start rule whose starts fit the sampler's integers; choose fewer cells"
            )

    @property
    def outcomes(self) -> int:
        return self.window.cells

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Single:
        return check_size(read_decoder(data), self.outcomes)

    @property
    def rest(self) -> int:  # type: ignore[override]
        """The number of trailing bits of a cell that counts ignore."""
        return max(self.window.cells.bit_length() - 1 - COUNTED, 0)

    def sampler(self, size: int) -> Sampler:
        return SlidingSampler(self.window, self.start, size)

    def draw_one(self, value: float, source: Source) -> int:
        start = self.start.draw_one(value, source) & (self.window.cells - 1)
        return self.window.draw_one(start, source)

    def _probabilities(self, value: float) -> list[Fraction]:
        return self.window.mix(self.start.starts(value))

    def likelihood(self, inputs: Array, rows: int) -> Windows:
        """Return P(report | input), with cells grouped into `rows` rows, rounded up to a power of two."""
        rows = min(1 << (rows - 1).bit_length(), self.window.cells >> self.rest)
        group = self.window.cells // rows
        starts = self.start.aim(inputs) / (group << self.start.fraction)
        circular = self.line.circular
        return Windows(
            starts % rows if circular else starts,
            self.window.width / group,
            rows,
            self.window.contrast,
            circular,
        )

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        window, fraction = self.window, self.start.fraction
        outputs, aims = reports.astype(np.int64), self.start.aim(inputs)
        starts, up = aims >> fraction, (aims & ((1 << fraction) - 1)) / (1 << fraction)  # rounded at random
        inside = (1.0 - up) * ((outputs - starts) % window.cells < window.width)
        inside += up * ((outputs - starts - 1) % window.cells < window.width)
        low, high = window.outside / window.total, window.inside / window.total
        return np.asarray(low + (high - low) * inside)

    @property
    def window_share(self) -> float:  # type: ignore[override]
        """The share of all reports that the window covers."""
        return self.window.share

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return numbers whose mean is the value, for the cells, if the start is affine in the value.

        The mean cell is (1−κ)(N−1)/2 + κ(start + (K−1)/2). A start that was chosen for a codebook may make
        the decoded reports unbiased instead.
        """
        window, start = self.window, self.start
        if isinstance(start, KnotStart):
            values = book(np.arange(window.cells))
            bias = self._bias(start, values)
            return UnbiasedReading(values, bias=bias) if bias <= STRAIGHT * self.line.length else None
        if not isinstance(start, LineStart) or not start.affine(self.line):
            return None
        base = (1.0 - window.contrast) * (window.cells - 1) / 2.0 + window.contrast * (window.width - 1) / 2.0
        unit = (1 << start.fraction) / start.scale  # length of the domain for one cell of the start
        # `origin` includes half a unit, so that rounding down rounds to the nearest.
        values = start.origin + 0.5 / start.scale + unit * (self.middles() - base) / window.contrast
        half, cut = ((1 << self.rest) - 1) / 2.0, unit / window.contrast if self.rest else 0.0
        return UnbiasedReading(np.asarray(values), cut, half, 0.5 / start.scale)

    def _bias(self, start: KnotStart, values: Floats) -> float:
        """Return the largest distance of the mean of a number per cell from the value.

        A value is rounded to a position, and a position at random to a knot: the mean is affine between
        knots, so that it is farthest at one of them.
        """
        window = self.window
        sums = np.cumsum(np.concatenate([[0.0], values, values[: window.width]]))
        starts, rest = np.divmod(start.entries.astype(np.int64), 1 << start.fraction)
        up = rest / (1 << start.fraction)
        inside = [sums[index + window.width] - sums[index] for index in (starts, starts + (up > 0.0))]
        means = (1.0 - window.contrast) * float(values.mean()) + window.contrast / window.width * (
            (1.0 - up) * inside[0] + up * inside[1]
        )
        # `origin` is half a position below the domain, so that rounding down rounds to the nearest.
        knots = start.origin + (np.arange(means.size) * float(1 << start.fraction) + 0.5) / start.scale
        return float(np.abs(means - knots).max()) + 0.5 / start.scale

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with N = {window.cells}, K = {window.width}, d = {window.step} of 2^{window.bits}"


@dataclass(frozen=True)
class SectorKernel(WindowKernel, LineKernel):
    """Equal blocks of cells; the block of the input is likelier, and the cell within a block is uniform."""

    line: Line
    window: Blocks
    start: LineStart

    kind: ClassVar[str] = "sectors"
    fields = Fields(line=A_LINE, window=inline(Blocks), start=LINE_START)

    def __post_init__(self) -> None:
        if self.start.fraction:
            raise InvalidParameter("expected a start rule of sectors without random rounding")
        if not self.start.fits(self.line, self.window):
            raise InvalidParameter(
                "expected a start rule whose starts fit the sampler's integers; choose fewer cells"
            )

    @property
    def outcomes(self) -> int:
        return self.window.cells

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Single:
        return check_size(read_decoder(data), self.outcomes)

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        return affine_reading(self, book)

    def _aims(self, values: Array) -> Array:
        return self.start.aim(values) % self.window.cells  # on a circle the period is the same angle as 0

    def sampler(self, size: int) -> Sampler:
        def draw(block: Array, cells: Array, source: Source) -> None:
            cells[:] = self.window.draw(self._aims(block), source)

        return draw

    def draw_one(self, value: float, source: Source) -> int:
        return self.window.draw_one(self.start.aim_one(value) % self.window.cells, source)

    def _probabilities(self, value: float) -> list[Fraction]:
        aim = self.start.aim_one(value) % self.window.cells
        return self.window.probabilities(aim - aim % self.window.width)

    def chances(self, value: Any) -> Floats:
        return self.likelihoods(np.arange(self.outcomes), np.asarray(value, dtype=np.float64))

    def likelihood(self, inputs: Array, rows: int) -> Dense:
        """Return P(block | input): cells of one block are equally likely, so only the block counts."""
        window = self.window
        groups = np.arange(0, window.cells, window.width)
        inputs = np.asarray(inputs, dtype=np.float64)
        return Dense(window.width * self.likelihoods(groups[:, None], inputs[None, :]), groups)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        window = self.window
        inside = reports.astype(np.int64) // window.width == self._aims(inputs) // window.width
        return np.where(inside, window.inside / window.total, window.outside / window.total)

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with {window.blocks} sectors and d = {window.step} of 2^{window.bits}"


@dataclass(frozen=True)
class ResponseKernel(CodeKernel, CellKernel):
    """A report is a category: the input's own with weight H, each other one with weight L."""

    window: Blocks

    kind: ClassVar[str] = "response"
    one_category: ClassVar[bool] = True
    fields = Fields(window=inline(Blocks))

    @property
    def outcomes(self) -> int:
        return self.window.cells

    @property
    def ratio(self) -> Fraction:
        return self.window.ratio

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The blanket of the window."""
        return window_blanket(self.window)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        window = self.window
        return Fraction(window.inside, window.total), Fraction(window.outside, window.total)

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        reports[:] = self.window.draw(codes, source)

    def draw_one(self, value: int, source: Source) -> int:
        return self.window.draw_one(value, source)

    def probabilities(self, value: int) -> list[Fraction]:
        return self.window.probabilities(value)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own, other = (float(rate) for rate in self.rates)
        return np.where(reports == inputs, own, other)

    def holds(self, categories: int) -> bool:
        return self.window.cells == categories and self.window.width == 1

    def support(self, reports: Array, categories: int) -> Array:
        return np.asarray(reports[..., None] == np.arange(categories))

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with k = {window.cells}, L = {window.step} of 2^{window.bits}"


def _line_of_optional(domain: Domain) -> Line:
    if not domain.optional or domain.line is None:
        raise MalformedReport(f"expected an optional number for this kernel, got {type(domain).__name__}")
    return domain.line


@dataclass(frozen=True)
class OptionalKernel(WindowKernel, CellKernel):
    """A window among the first N − K cells for a number, and the last K cells for "no answer".

    Every input has K cells, so ε follows from the same integers. Inputs are numbers, NaN for no answer. On a
    circle windows wrap around the first N − K cells.
    """

    line: Line
    window: Sliding
    start: LineStart

    kind: ClassVar[str] = "optional"
    fields = Fields(line=from_domain(_line_of_optional), window=inline(Sliding), start=LINE_START)

    def __post_init__(self) -> None:
        if 2 * self.window.width > self.window.cells or self.window.cells > MOST_LISTED:
            raise InvalidParameter(
                f"expected 2·K = {2 * self.window.width} to {MOST_LISTED} cells for a number that "
                f"may be missing, got {self.window.cells}"
            )
        if not self.start.fits(self.line, self.window):
            raise InvalidParameter(
                "expected a start rule whose starts fit the sampler's integers; choose fewer cells"
            )

    @property
    def outcomes(self) -> int:
        return self.window.cells

    @property
    def room(self) -> int:
        """The number of cells that represent numbers, N − K."""
        return self.window.cells - self.window.width

    def fits(self, domain: Domain) -> bool:
        line = domain.line if domain.optional else None
        return line is not None and self.line.has_values_of(line)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        values = inputs.reshape(-1)
        if values.size < FEW:
            cells = self.draw_singly(values.tolist(), source)
        else:
            cells = in_threads(lambda size: self._write, values, self.layout, source, threads)
        return cells.reshape(inputs.shape)

    def _write(self, block: Array, cells: Array, source: Source) -> None:
        """Draw a cell for each number of a block; all steps are also executed for missing answers."""
        missing = np.isnan(block)
        words = np.empty(block.size, dtype=self.window.lottery.dtype)
        drawn = np.empty(block.size, dtype=np.bool_)
        source.fill(words.data)
        self.window.lottery.draw(words, drawn, source)
        random = source.words(block.size)
        uniform = (random & np.uint64(self.window.cells - 1)).astype(np.int64)
        coins = (random >> np.uint64(63 - self.start.fraction) >> np.uint64(1)).astype(np.int64)
        aims = self.start.aim(np.where(missing, self.line.low, block))
        ticket = words.astype(np.int64) * drawn
        inside = (((aims + coins) >> self.start.fraction) + ticket) % self.room
        inside += missing * (self.room + ticket - inside)
        cells[:] = uniform + drawn * (inside - uniform)

    def draw_one(self, value: float, source: Source) -> int:
        missing = math.isnan(value)  # Proved: optional_private (proofs/Window.v).
        start = self.start.draw_one((value, self.line.low)[missing], source)
        drawn, ticket, uniform = self.window.lottery.draw_one(source, self.window.cells.bit_length() - 1)
        ticket *= drawn
        return (uniform, ((start + ticket) % self.room, self.room + ticket)[missing])[drawn]

    def probabilities(self, value: Any) -> list[Fraction]:
        if math.isnan(value):
            return self.window.probabilities(self.room)
        return self.window.mix(self.start.starts(float(value)), self.room)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        window, fraction, missing = self.window, self.start.fraction, np.isnan(inputs)
        outputs, aims = reports.astype(np.int64), self.start.aim(np.where(missing, self.line.low, inputs))
        starts, up = aims >> fraction, (aims & ((1 << fraction) - 1)) / (1 << fraction)
        inside = (1.0 - up) * ((outputs - starts) % self.room < window.width)
        inside += up * ((outputs - starts - 1) % self.room < window.width)
        inside = np.where(missing, outputs >= self.room, np.where(outputs < self.room, inside, 0.0))
        low, high = window.outside / window.total, window.inside / window.total
        return np.asarray(low + (high - low) * inside)

    def decode(self, reports: Array, domain: Domain, book: Decoder) -> Floats:
        """Return the decoded numbers of reports, NaN for "no answer"."""
        numbers = np.asarray(book(np.minimum(reports, self.room - 1)), dtype=np.float64)
        return np.where(reports < self.room, numbers, np.nan)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Single:
        return check_size(read_decoder(data), self.room)

    def write_codebook(self, book: Decoder) -> object:
        return book.plain()

    def answer_reading(self) -> Floats:
        """Return a number for each report whose mean is 1 if the person answered, and 0 if not."""
        window = self.window
        mean = (
            1.0 - window.contrast
        ) * window.share  # probability that a person who answered is in the last K cells
        outputs = np.arange(window.cells) >= self.room
        return np.asarray(1.0 - (outputs - mean) / window.contrast)

    def number_reading(self) -> Floats | None:
        """Return a number for each report whose mean is x − low for a value x, and 0 for no answer.

        None if the mean start is not affine in the value. With unknown a and g for the last K cells, the
        numbers a + unit·cell/κ have both means if (1 − κ)·average + κ·g = 0, and the mean of `low` is also 0.
        """
        window, start = self.window, self.start
        if self.line.circular or not start.affine(self.line):
            return None
        unit, kept = (1 << start.fraction) / start.scale, window.contrast
        cells = np.arange(window.cells, dtype=np.float64)
        # The start of the value x is (x − origin)·scale, less half a unit, in units of 2^−fraction cells.
        first = ((self.line.low - start.origin) * start.scale - 0.5) / (1 << start.fraction)
        values = (
            unit / kept * (cells - first - (window.width - 1) / 2.0)
        )  # the mean of a window at `low` is 0
        # Adding a to numbers and g to the rest: a = g, and (1 − κ)·(average + a) + κ·a = 0.
        values[self.room :] = 0.0
        return np.asarray(values - (1.0 - kept) * values.mean())

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with N = {window.cells}, K = {window.width}, d = {window.step} of 2^{window.bits}"


COIN: Final = 1 << 32


_SLIDING: Final = Member(
    lambda name, kernel: {name: getattr(kernel, name).device()},
    lambda name, data, known: {name: SlidingKernel.from_device(data[name], known["domain"])},
)


@dataclass(frozen=True)
class MixtureKernel(LineKernel):
    """With probability heads/2^32 a cell of the first window, otherwise N₁ + a cell of the second."""

    promise, certify = pure_promise, pure_certify

    first: SlidingKernel
    second: SlidingKernel
    heads: int

    kind: ClassVar[str] = "mixture"
    fields = Fields(first=_SLIDING, second=_SLIDING, heads=WHOLE)

    def __post_init__(self) -> None:
        if not 0 <= self.heads < COIN:
            raise InvalidParameter(f"heads must be an integer from 0 to 2^32 − 1, not {found(self.heads)}")

    @property
    def line(self) -> Line:  # type: ignore[override]
        """The domain of the inputs."""
        return self.first.line

    @property
    def outcomes(self) -> int:
        return self.first.outcomes + self.second.outcomes

    @property
    def blanket(self) -> Blanket | None:  # type: ignore[override]
        """The loss atoms of both windows: a report reveals its window."""
        return Blanket.of_parts([(self.coin, self.first.blanket), (1 - self.coin, self.second.blanket)])

    @property
    def coin(self) -> Fraction:
        """The probability of the first window."""
        return Fraction(self.heads, COIN)

    @property
    def window_share(self) -> float:  # type: ignore[override]
        """The share of all reports that the first window covers."""
        return self.first.window_share

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> JoinedDecoder:
        if not isinstance(data, list) or len(data) != 2:
            raise MalformedReport("expected two codebooks for a mixture of two windows")
        cells = self.first.outcomes, self.second.outcomes
        return JoinedDecoder(
            (check_size(read_decoder(data[0]), cells[0]), check_size(read_decoder(data[1]), cells[1])), cells
        )

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return the decodings of both windows, one after the other: the mean of each is the value."""
        parts = book.parts if isinstance(book, JoinedDecoder) else (book, book)
        windows = tuple(zip((self.first, self.second), parts, strict=True))
        readings = [window.unbiased_reading(part) for window, part in windows]
        own = [reading for reading in readings if reading is not None]
        if len(own) < 2:
            return affine_reading(self, book)
        values = np.concatenate([reading.values for reading in own])
        return UnbiasedReading(values, bias=max(reading.bias for reading in own))

    def sampler(self, size: int) -> _MixtureSampler:
        return _MixtureSampler(self, size)

    def draw_one(self, value: float, source: Source) -> int:
        if source.bits(32) < self.heads:
            return self.first.draw_one(value, source)
        return self.first.outcomes + self.second.draw_one(value, source)

    def _probabilities(self, value: float) -> list[Fraction]:
        first, second = self.first.probabilities(value), self.second.probabilities(value)
        return [self.coin * p for p in first] + [(1 - self.coin) * p for p in second]

    def likelihood(self, inputs: Array, rows: int) -> Stacked:
        """Return P(report | input), with the cells of each window grouped into about `rows` rows."""
        coin = float(self.coin)
        parts = self.first.likelihood(inputs, rows), self.second.likelihood(inputs, rows)
        return Stacked((coin, 1.0 - coin), parts, (self.first.outcomes, self.second.outcomes))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        cells, coin = reports.astype(np.int64), float(self.coin)
        own = cells < self.first.outcomes
        first = self.first.likelihoods(np.where(own, cells, 0), inputs)
        second = self.second.likelihoods(np.where(own, 0, cells - self.first.outcomes), inputs)
        return np.where(own, coin * first, (1.0 - coin) * second)

    @property
    def ratio(self) -> Fraction:
        return max(self.first.ratio, self.second.ratio)

    @property
    def evidence(self) -> str:
        return f"{self.first.evidence}; {self.second.evidence}; the coin cancels"


class _MixtureSampler:
    """Draws from both windows for every value and keeps one, so that no branch depends on the coin."""

    def __init__(self, mixture: MixtureKernel, size: int) -> None:
        self._cut = mixture.first.outcomes
        self._chosen = np.uint32(mixture.heads)
        self._first, self._second = mixture.first.sampler(size), mixture.second.sampler(size)
        self._cells = np.empty(size, dtype=mixture.first.layout)
        self._others = np.empty(size, dtype=mixture.second.layout)
        self._coins = np.empty(size, dtype=np.uint32)
        self._heads = np.empty(size, dtype=np.bool_)

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        count = block.size
        own, other, heads = self._cells[:count], self._others[:count], self._heads[:count]
        coins = self._coins[:count]
        self._first(block, own, source)
        self._second(block, other, source)
        source.fill(coins.data)
        np.less(coins, self._chosen, out=heads)
        # cell = other + heads·(own − other); unsigned overflow cancels
        tail = np.add(other, cell.dtype.type(self._cut), dtype=cell.dtype)
        np.subtract(own, tail, out=cell, dtype=cell.dtype)
        cell *= heads
        cell += tail
