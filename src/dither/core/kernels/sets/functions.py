"""One of several public functions of a row of codes, drawn independently of the row, and its value.

The draw of the function does not depend on the row, so the privacy loss comes only from the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Categories, Domain
from dither.core.domains.records import Profile
from dither.core.kernels.blocks import FEW, split_rows
from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.counting import EachFunction
from dither.core.kernels.kernel import (
    MOST_LISTED,
    Kernel,
    check_no_codebook,
    on,
    pure_certify,
    pure_promise,
    read_kernel,
)
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import Codec, Data, Fields, list_of, whole
from dither.foundation.numerics.finite_fields import tables
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket

TOTAL: Final = 1 << 32  # sum of the weights of the functions
MOST_FUNCTIONS: Final = 1 << 14
MOST_VALUES: Final = 1 << 21  # entries of all tables together


@dataclass(frozen=True)
class TableFunction:
    """A function of some attributes: `values` lists its values by their codes, the last attribute fastest."""

    attributes: tuple[int, ...]
    values: tuple[int, ...]
    weight: int  # in units of 2^−32: the probability that the function is drawn
    draw: int  # which of the kernel's draws reports its value


def _write_function(function: TableFunction) -> list[object]:
    return [list(function.attributes), list(function.values), function.weight, function.draw]


def _read_function(data: Sequence[Sequence[object]]) -> TableFunction:
    attributes, values, weight, draw = data
    return TableFunction(tuple(map(whole, attributes)), tuple(map(whole, values)), whole(weight), whole(draw))


def _read_draw(data: Data) -> CodeKernel:
    draw = read_kernel(data, Categories(2))
    if not isinstance(draw, CodeKernel):
        raise MalformedReport("expected categories for the draw of a function's value")
    return draw


@dataclass(frozen=True)
class TableReading:
    """How tables of `way` attributes follow from the functions: directly, or from the lines of a field.

    `order` is the number of elements of the field. It is 0 if combinations of attributes are reported
    directly; if these have more than `way` attributes, the tables are their margins.
    """

    way: int
    order: int


@dataclass(frozen=True)
class FunctionsKernel(Kernel):
    """A report is the number of a function and a report of its value, padded with zeros."""

    promise, certify = pure_promise, pure_certify

    sizes: tuple[int, ...]
    functions: tuple[TableFunction, ...]
    draws: tuple[CodeKernel, ...]

    kind: ClassVar[str] = "questions"
    fields = Fields(
        sizes=on(
            Profile, "expected several attributes for functions of a row, got {}", lambda table: table.sizes
        ),
        draws=list_of(Codec(lambda draw: draw.device(), _read_draw)),
        functions=list_of(Codec(_write_function, _read_function)).member("questions"),
    )

    def __post_init__(self) -> None:
        if not 1 <= len(self.functions) <= MOST_FUNCTIONS or not self.draws:
            raise InvalidParameter(f"expected 1 to {MOST_FUNCTIONS} functions, and a draw for each")
        if sum(function.weight for function in self.functions) != TOTAL:
            raise InvalidParameter("expected weights of the functions that sum to 2^32")
        if sum(len(function.values) for function in self.functions) > MOST_VALUES:
            raise InvalidParameter("expected smaller tables of the functions; choose fewer attributes")
        for function in self.functions:
            positions = function.attributes
            known = bool(positions) and all(0 <= index < len(self.sizes) for index in positions)
            if not known or len(set(positions)) != len(positions) or function.weight < 1:
                raise InvalidParameter(
                    "expected different attributes in each function, and a positive weight"
                )
            if len(function.values) != int(np.prod([self.sizes[index] for index in positions])):
                raise InvalidParameter(
                    "expected a value of the function for every combination of its attributes"
                )
            if not 0 <= function.draw < len(self.draws):
                raise InvalidParameter("expected a draw for every function")
            if min(function.values) < 0 or max(function.values) >= self._inputs(function.draw):
                raise InvalidParameter("expected values of the function that are inputs of its draw")

    def _inputs(self, draw: int) -> int:
        kernel = self.draws[draw]
        window = getattr(kernel, "window", None)
        return int(window.cells if window is not None else getattr(kernel, "size", kernel.outcomes))

    @cached_property
    def _columns(self) -> int:
        return max(draw.layout.shape[0] if draw.layout.shape else 1 for draw in self.draws)

    @property
    def layout(self) -> np.dtype[Any]:
        largest = max(len(self.functions), *(self._largest(draw) for draw in self.draws)) - 1
        return np.dtype((np.min_scalar_type(largest), (1 + self._columns,)))

    @staticmethod
    def _largest(draw: CodeKernel) -> int:
        return int(getattr(draw, "size", 0)) or draw.outcomes

    @property
    def outcomes(self) -> int:
        return sum(self.draws[function.draw].outcomes for function in self.functions)

    @cached_property
    def blanket(self) -> Blanket | None:  # type: ignore[override]
        """The loss atoms of the draws, weighted by their use. The requested function is public."""
        weights = [0] * len(self.draws)
        for function in self.functions:
            weights[function.draw] += function.weight
        return Blanket.of_parts(
            [
                (Fraction(weight, TOTAL), draw.blanket)
                for weight, draw in zip(weights, self.draws, strict=True)
            ]
        )

    @cached_property
    def ends(self) -> Integers:
        """The cumulative weights of the functions, in units of 2^−32."""
        return np.array(list(accumulate(function.weight for function in self.functions)), dtype=np.int64)

    @cached_property
    def _tables(self) -> list[Integers]:
        return [np.array(function.values, dtype=np.int64) for function in self.functions]

    def answer(self, place: int, rows: Array) -> Integers:
        """Return the values of a function for rows of codes."""
        function = self.functions[place]
        flat = np.zeros(rows.shape[:-1], dtype=np.int64)
        for attribute in function.attributes:
            flat = flat * self.sizes[attribute] + rows[..., attribute]
        return np.asarray(self._tables[place][flat])

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        rows = inputs.reshape(-1, len(self.sizes))
        few = len(rows) < FEW
        drawn = self.draw_singly(rows, source) if few else split_rows(self._rows, rows, source, threads)
        return drawn.reshape(*inputs.shape[:-1], 1 + self._columns)

    def _rows(self, rows: Array, source: Source) -> Array:
        words = np.empty(len(rows), dtype="<u4")
        if words.size:
            source.fill(words.data)
        request = np.searchsorted(self.ends, words.astype(np.int64), side="right")
        out = np.zeros((len(rows), 1 + self._columns), dtype=self.layout.base)
        out[:, 0] = request
        order = np.argsort(request, kind="stable")
        cuts = np.searchsorted(request[order], np.arange(len(self.functions) + 1))
        for index, function in enumerate(self.functions):
            people = order[cuts[index] : cuts[index + 1]]
            if people.size:
                outputs = self.draws[function.draw].draw(self.answer(index, rows[people]), source)
                outputs = outputs.reshape(people.size, -1)
                out[people, 1 : 1 + outputs.shape[1]] = outputs
        return out

    def draw_one(self, value: Any, source: Source) -> tuple[int, ...]:
        word = int.from_bytes(source.take(4), "little")
        index = int(np.searchsorted(self.ends, word, side="right"))
        code = int(self.answer(index, np.asarray(value)))
        outputs = self.draws[self.functions[index].draw].draw_one(code, source)
        row = [index, *(outputs if isinstance(outputs, tuple) else (outputs,))]
        return tuple(row + [0] * (1 + self._columns - len(row)))

    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every report, first for the first function."""
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter(
                "expected at most 2^16 reports to list exact probabilities; choose fewer attributes"
            )
        found: list[Fraction] = []
        for index, function in enumerate(self.functions):
            code = int(self.answer(index, np.asarray(value)))
            chance = Fraction(function.weight, TOTAL)
            found += [chance * p for p in self.draws[function.draw].probabilities(code)]
        return found

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        out = np.empty(np.broadcast_shapes(reports.shape[:-1], np.shape(inputs)[:-1]))
        flat_reports = np.broadcast_to(reports, (*out.shape, reports.shape[-1])).reshape(
            -1, reports.shape[-1]
        )
        flat_inputs = np.broadcast_to(inputs, (*out.shape, len(self.sizes))).reshape(-1, len(self.sizes))
        flat = out.reshape(-1)
        for at, (report, row) in enumerate(zip(flat_reports, flat_inputs, strict=True)):
            function = self.functions[int(report[0])]
            draw = self.draws[function.draw]
            inner = report[1 : 1 + draw.layout.shape[0]] if draw.layout.shape else report[1]
            code = self.answer(int(report[0]), row)
            flat[at] = function.weight / TOTAL * float(draw.likelihoods(np.asarray(inner), np.asarray(code)))
        return flat.reshape(out.shape)

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Profile) and domain.sizes == self.sizes

    def counting(self, domain: Domain) -> EachFunction:
        shapes = [draw.layout.shape for draw in self.reporting]
        return EachFunction(
            tuple(draw.counting(domain) for draw in self.reporting),
            tuple(shape[0] if shape else 0 for shape in shapes),
            1 + self._columns,
        )

    @property
    def reporting(self) -> tuple[CodeKernel, ...]:
        """The kernel that reports the value of each function."""
        return tuple(self.draws[function.draw] for function in self.functions)

    def decode(self, reports: Array, domain: Domain, book: TableReading) -> Array:
        """Return the reports unchanged: a function and its value."""
        return reports

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> TableReading:
        check_no_codebook(self, data)
        return self.reading()

    def write_codebook(self, book: TableReading) -> None:
        """Return None, because the codebook follows from the functions."""

    def reading(self) -> TableReading:
        """Return how tables follow from the functions; raise MalformedReport if they do not.

        A pair of attributes is reported directly, within all combinations of three or more attributes, or by
        the lines x + a·y, a = 1 … q − 1, over a field of q elements, and each single attribute.
        """
        way = max(len(function.attributes) for function in self.functions)
        outputs = [(function.attributes, function.values) for function in self.functions]
        alone = [((index,), tuple(range(size))) for index, size in enumerate(self.sizes)]
        if outputs == _direct(self.sizes, way):
            return TableReading(min(way, 2), 0)
        pairs = len(outputs) - len(alone)
        order = 1 + pairs // max(len(list(combinations(self.sizes, 2))), 1)
        if way != 2 or order < max(self.sizes) or outputs != alone + lines(self.sizes, order):
            raise MalformedReport(
                "expected functions whose tables this version can decode; read the question with a "
                "newer dither"
            )
        return TableReading(2, order)

    @property
    def ratio(self) -> Fraction:
        return max(self.draws[function.draw].ratio for function in self.functions)

    @property
    def evidence(self) -> str:
        return (
            f"{len(self.functions)} functions, drawn without the row; the largest: {self.draws[0].evidence}"
        )

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return raw.reshape(0, 1 + self._columns).astype(self.layout.base)
        if raw.ndim < 1 or raw.shape[-1] != 1 + self._columns:
            raise MalformedReport(f"expected a report to be a row of {1 + self._columns} numbers")
        rows = raw.reshape(-1, 1 + self._columns)
        if not (int(rows[:, 0].min()) >= 0 and int(rows[:, 0].max()) < len(self.functions)):
            raise MalformedReport(
                f"expected a report that begins with the number of a function below {len(self.functions)}"
            )
        for index in np.unique(rows[:, 0]).tolist():
            inner = rows[rows[:, 0] == index, 1:]
            draw = self.draws[self.functions[index].draw]
            width = draw.layout.shape[0] if draw.layout.shape else 1
            if inner[:, width:].any():
                raise MalformedReport("expected 0 in the numbers after the value")
            draw.check(inner[:, :width] if draw.layout.shape else inner[:, 0])
        return raw.astype(self.layout.base, copy=False)


def _direct(sizes: tuple[int, ...], way: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the functions that are the combinations of `way` attributes themselves."""
    every = combinations(range(len(sizes)), way)
    return [
        (positions, tuple(range(int(np.prod([sizes[index] for index in positions]))))) for positions in every
    ]


def lines(sizes: tuple[int, ...], order: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the functions x + a·y, a = 1 … q − 1, of every pair of attributes, over a field of q."""
    sums, products = tables(order)
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for first, second in combinations(range(len(sizes)), 2):
        for factor in range(1, order):
            outputs = sums[: sizes[first], products[factor, : sizes[second]]]
            found.append(((first, second), tuple(outputs.reshape(-1).tolist())))
    return found
