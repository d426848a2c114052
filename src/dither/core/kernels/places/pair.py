"""Two numbers, each reported by its own kernel: coordinates, or a distance and a direction from a centre."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import (
    Circle,
    Disk,
    Domain,
    Line,
    Parallelogram,
    Paths,
    Rectangle,
    Sphere,
    read_domain,
)
from dither.core.kernels.blocks import FEW
from dither.core.kernels.counting import CoarseGrid, EachColumn
from dither.core.kernels.kernel import Kernel, LineKernel, Promise, check_ratio, on, read_kernel
from dither.core.kernels.places.place import PlaceKernel, PlaceLikelihood, Rows, Separable, over_cells
from dither.core.kernels.transition import Product
from dither.core.kernels.window.codebook import Decoder
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import Data, Fields, Member, real
from dither.foundation.randomness import Source
from dither.privacy import Guarantee, Pure
from dither.privacy.exact import divide
from dither.privacy.guarantee import assumptions_of

Crossed = Rectangle | Parallelogram | Sphere  # the range of each coordinate does not depend on the other

_COUNTED: Final = 256  # cells of a coordinate that a summary distinguishes
_GROUPS: Final = 128  # groups of reports for each coordinate, in maps
_INNER: Final = 4  # points along a bin of a coordinate at which the likelihood is evaluated


@dataclass(frozen=True)
class PairDecoder:
    """The decoders of the two numbers, and the budget of each where the codebook states it."""

    parts: tuple[Decoder, Decoder]
    split: tuple[float, float] | None = None


@dataclass(frozen=True)
class PairKernel(Kernel):
    """A report is one cell of each kernel; the two are drawn independently, so their privacy losses add.

    `draw` and `draw_one` take the two numbers of a place.
    """

    first: LineKernel
    second: LineKernel

    @property
    def parts(self) -> tuple[LineKernel, LineKernel]:
        """The two kernels."""
        return self.first, self.second

    def inputs(self, values: Array) -> Array:
        return self.numbers(values)

    @abstractmethod
    def numbers(self, places: Floats, references: Floats | None = None) -> Floats:
        """Return the two numbers of each place, relative to its reference if there is one."""

    def check_lines(self, *lines: Line) -> None:
        """Raise InvalidParameter unless the two kernels are on these lines."""
        for part, line in zip(self.parts, lines, strict=True):
            if not part.line.has_values_of(line):
                raise InvalidParameter(
                    f"expected one kernel of the pair on {lines[0]} and the other on {lines[1]}"
                )

    @property
    def layout(self) -> np.dtype[Any]:
        cell = np.min_scalar_type(max(part.outcomes for part in self.parts) - 1)
        return np.dtype((cell, (2,)))

    @property
    def outcomes(self) -> int:
        return self.first.outcomes * self.second.outcomes

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        rows = inputs.reshape(-1, 2)
        if len(rows) < FEW:
            for axis, part in enumerate(self.parts):
                if len(rows) and not part.line.admits(rows[:, axis]):
                    part.line.refuse()
            return self.draw_singly(rows.tolist(), source).reshape(inputs.shape)
        reports = np.empty(inputs.shape, dtype=self.layout.base)
        for axis, part in enumerate(self.parts):
            reports[..., axis] = part.draw(inputs[..., axis], source, threads=threads)
        return reports

    def draw_one(self, value: tuple[float, float], source: Source) -> tuple[int, int]:
        return self.first.draw_one(value[0], source), self.second.draw_one(value[1], source)

    def probabilities(self, value: tuple[float, float]) -> list[Fraction]:
        """Return the exact probability of every pair of cells, in lexicographic order."""
        first, second = self.first.probabilities(value[0]), self.second.probabilities(value[1])
        return [p * q for p in first for q in second]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        first, second = (
            part.likelihoods(reports[..., axis], inputs[..., axis]) for axis, part in enumerate(self.parts)
        )
        return np.asarray(first * second)

    def product(self, cells: Array, numbers: list[Floats]) -> Floats:
        """Return the probability of pairs of cells for pairs of numbers, after broadcasting."""
        first, second = (
            part.likelihoods(cells[:, axis, None], numbers[axis]) for axis, part in enumerate(self.parts)
        )
        return np.asarray(first * second)

    @property
    def ratio(self) -> Fraction:
        return self.first.ratio * self.second.ratio

    @property
    def evidence(self) -> str:
        return f"{self.first.evidence}; and {self.second.evidence}; the two add"

    def shares(
        self, epsilon: float, stated: Mapping[str, Any], book: PairDecoder | None = None
    ) -> tuple[float, float]:
        """Return the budget of each number: from the codebook or the stated split, else ε for each."""
        if book is not None and book.split is not None:
            return book.split
        return divide(epsilon, real(stated["split"])) if "split" in stated else (epsilon, epsilon)

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return the sum of the two bounds. A bound (ε, δ) is computed with the stated shares."""
        terms = [terms_of_part(stated, axis) for axis in (0, 1)]
        if not any(terms):
            return Promise(Pure(self.epsilon), self.evidence)
        shares = self.shares(epsilon, stated)
        promises = [
            part.promise(share, own) for part, share, own in zip(self.parts, shares, terms, strict=True)
        ]
        first, second = (Guarantee(promise.bound, assumes=promise.assumes) for promise in promises)
        pure = all(isinstance(promise.bound, Pure) for promise in promises)
        bound = Pure(self.epsilon) if pure else first.compose(second).bound
        return Promise(bound, self.evidence, assumptions_of((first, second)))

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        terms = [terms_of_part(stated, axis) for axis in (0, 1)]
        if not any(terms):
            check_ratio(self, epsilon)
            return
        for part, share, own in zip(self.parts, self.shares(epsilon, stated), terms, strict=True):
            part.certify(share, own)

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=self.layout.base)
        if raw.ndim == 0 or raw.shape[-1] != 2:
            raise MalformedReport(
                "expected each report to be a pair of cells: an array whose last axis has length 2"
            )
        columns = [part.check(raw[..., axis]) for axis, part in enumerate(self.parts)]
        return np.stack(columns, axis=-1).astype(self.layout.base, copy=False)

    def read_books(self, data: object, stated: Mapping[str, Any]) -> tuple[Decoder, Decoder]:
        """Return the codebooks of the two numbers; raise MalformedReport if the data describe none."""
        if not isinstance(data, list) or len(data) != 2:
            raise MalformedReport("expected two codebooks for a pair of numbers")
        first, second = (
            part.read_codebook(book, terms_of_part(stated, axis))
            for axis, (part, book) in enumerate(zip(self.parts, data, strict=True))
        )
        return first, second

    def write_books(self, book: PairDecoder) -> list[Any]:
        """Return the codebooks of the two numbers as JSON-compatible data."""
        return [part.write_codebook(own) for part, own in zip(self.parts, book.parts, strict=True)]


def terms_of_part(stated: Mapping[str, Any], axis: int) -> Mapping[str, Any]:
    """Return the stated parameters of one part of a pair: the arguments of its mechanism."""
    maker = stated.get("inner", stated.get(("direction", "distance")[axis]))
    terms = maker.get("with") if isinstance(maker, Mapping) else None
    return terms if isinstance(terms, Mapping) else {}


def _write_part(name: str, pair: PairKernel) -> Data:
    part: LineKernel = getattr(pair, name)
    return {name: {**part.device(), "domain": part.line.device()}}


def _read_part(name: str, data: Data, known: Data) -> Data:
    part = read_kernel(data[name], read_domain(data[name]["domain"]))
    if not isinstance(part, LineKernel):
        raise MalformedReport(f"expected the {name} kernel of a pair to be one of an interval or a circle")
    return {name: part}


ON_LINE: Final = Member(_write_part, _read_part)  # a kernel with its own interval or circle


@dataclass(frozen=True)
class AxesKernel(PairKernel, PlaceKernel):
    """The two coordinates of a place along the axes of an area."""

    area: Crossed

    kind: ClassVar[str] = "pair"
    fields = Fields(
        area=on(Crossed, "expected an area with axes for two coordinates, got {}"),
        first=ON_LINE,
        second=ON_LINE,
    )

    def __post_init__(self) -> None:
        self.check_lines(*self.area.axes)

    def fits(self, domain: Domain) -> bool:
        return domain == self.area

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> PairDecoder:
        return PairDecoder(self.read_books(data, stated))

    def write_codebook(self, book: PairDecoder) -> object:
        return self.write_books(book)

    def numbers(self, places: Floats, references: Floats | None = None) -> Floats:
        return self.area.to_axes(places)

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        return self.draw(self.numbers(paths.points), source, threads=threads)

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: PairDecoder) -> Floats:
        coordinates = np.empty(cells.shape)
        for axis, (part, line) in enumerate(zip(book.parts, self.area.axes, strict=True)):
            np.clip(part(cells[:, axis]), line.low, line.high, out=coordinates[:, axis])
        return self.area.from_axes(coordinates)

    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        return _Axes(self, cells)

    def separable(self, shape: tuple[int, int]) -> Separable | None:
        """Return the likelihood on a grid over the domain; None if its sides are not the axes."""
        if not isinstance(self.area, Rectangle | Sphere):
            return None
        matrices = []
        for part, line, bins in zip(self.parts, self.area.axes, shape, strict=True):
            x = line.from_unit((np.arange(bins * _INNER) + 0.5) / (bins * _INNER))
            matrices.append(part.likelihood(x, max(_GROUPS, bins)).spread(_INNER).dense())
        rows = [len(matrix) for matrix in matrices]

        def groups(reports: Array) -> Integers:
            first, second = (
                reports[:, axis + 1].astype(np.int64) * rows[axis] // part.outcomes
                for axis, part in enumerate(self.parts)
            )
            return np.asarray(first * rows[1] + second)

        return Separable(Product(*matrices), groups)

    def counting(self, domain: Domain) -> CoarseGrid:
        first, second = (part.outcomes for part in self.parts)
        return CoarseGrid(3, (first, second), (min(first, _COUNTED), min(second, _COUNTED)))


@dataclass(frozen=True, eq=False)
class _Axes(PlaceLikelihood):
    kernel: AxesKernel
    cells: Floats

    def of(self, reports: Array) -> Rows:
        axes = self.kernel.numbers(self.cells.reshape(-1, 2))
        numbers = [axes[None, :, axis] for axis in (0, 1)]

        def rows(chosen: Integers) -> Floats:
            return over_cells(self.kernel.product(reports[chosen, 1:], numbers), chosen, self.cells)

        return rows


@dataclass(frozen=True)
class PolarKernel(PairKernel):
    """The distance of a place from the centre of a disk, and its direction."""

    disk: Disk

    kind: ClassVar[str] = "polar"
    fields = Fields(
        disk=on(Disk, "expected a disk for a distance and a direction, got {}"), first=ON_LINE, second=ON_LINE
    )

    def __post_init__(self) -> None:
        first, second = (part.line for part in self.parts)
        if first.low != 0.0 or first.high != self.disk.radius or isinstance(first, Circle):
            raise InvalidParameter(
                "expected the distance from the centre to be a number from 0 to the radius"
            )
        if not isinstance(second, Circle) or second.period != Circle().period:
            raise InvalidParameter("expected the direction from the centre to be an angle in radians")

    def fits(self, domain: Domain) -> bool:
        return domain == self.disk

    def numbers(self, places: Floats, references: Floats | None = None) -> Floats:
        offset = places - np.asarray(self.disk.centre)
        # The disk accepts places that rounding puts just outside; the interval of distances does not.
        radius = np.minimum(np.hypot(offset[..., 0], offset[..., 1]), self.disk.radius)
        angle = Circle().wrap(np.arctan2(offset[..., 1], offset[..., 0]))
        return np.stack([radius, angle], axis=-1)

    def counting(self, domain: Domain) -> EachColumn:
        """Return counts of the distances and of the directions: there are too many pairs to count."""
        return EachColumn((self.first.outcomes, self.second.outcomes))

    def decode(self, reports: Array, domain: Domain, book: PairDecoder) -> Floats:
        """Return the decoded places of reports."""
        distance, direction = (part(reports[..., axis]) for axis, part in enumerate(book.parts))
        turned = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
        return np.asarray(self.disk.centre + distance[..., None] * turned, dtype=np.float64)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> PairDecoder:
        if not isinstance(data, dict) or set(data) != {"split", "parts"} or len(data["split"]) != 2:
            raise MalformedReport(
                "expected a split and two parts in the codebook of a distance and a direction"
            )
        first, second = (real(budget) for budget in data["split"])
        if Fraction(first) + Fraction(second) > Fraction(real(stated["epsilon"])):
            raise MalformedReport(
                f"expected parts of the split that add up to at most ε = {stated['epsilon']:g}"
            )
        return PairDecoder(self.read_books(data["parts"], stated), (first, second))

    def write_codebook(self, book: PairDecoder) -> object:
        return {"split": list(book.split or ()), "parts": self.write_books(book)}
