"""Pairs of inputs that an audit compares, and the exact probabilities of their reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Final, Self

import numpy as np

from dither.core.domains import (
    Box,
    Categories,
    Domain,
    Interval,
    Line,
    Optional,
    Places,
    Plane,
    Profile,
    Region,
    Several,
    Text,
)
from dither.core.kernels.counting import unpack_rows
from dither.core.kernels.kernel import MOST_LISTED, CellKernel, Kernel
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.several import SetKernel
from dither.core.kernels.sets.subsets import SubsetBits
from dither.core.question import Question
from dither.errors import DitherError, InvalidParameter, NotIdentifiable
from dither.foundation.arrays import Array, Floats, Integers
from dither.privacy.guarantee import log_above

_EXACT: Final = 1 << 10  # the most reports whose probabilities are compared as fractions
_MOST_BITS: Final = 8  # the longest rows of bits that are all listed
_ALL: Final = 32  # the most categories whose probabilities are all compared
_DENORMAL: Final = 5e-324
_WITHIN: Final = (0.5, 0.03, 0.25, 0.77, 0.97)  # inputs inside a line, as shares of it


@dataclass(frozen=True, eq=False, repr=False)
class Listed:
    """Some inputs of a question, and the probabilities of all reports under each of them.

    `values` is what `perturb` takes, `inputs` what the kernel takes, `law` a row of probabilities for each.
    `number` returns the place of reports in such a row.
    """

    values: tuple[Any, ...]
    inputs: tuple[Any, ...]
    law: Floats
    number: Callable[[Array], Integers]
    exact: Fraction | None  # the largest ratio of two probabilities of one report; None if not in fractions

    @property
    def loss(self) -> float:
        """The largest ln(greatest / least probability of one report) over these inputs."""
        if self.exact is not None:
            return log_above(self.exact)
        most, least = self.law.max(axis=0), self.law.min(axis=0)
        if bool((least[most > 0.0] == 0.0).any()):
            return math.inf
        return float(np.log(most[most > 0.0] / least[most > 0.0]).max())

    def delta(self, epsilon: float) -> float:
        """Return the largest Σ max(0, p − e^ε·p′) over pairs of these inputs: the δ that ε leaves."""
        found = [
            float(np.maximum(row - math.exp(epsilon) * other, 0.0).sum())
            for row in self.law
            for other in self.law
        ]
        return max(found)


def list_probabilities(question: Question) -> Listed | None:
    """Return probabilities at both ends of the domain and within it; None if reports cannot be listed."""
    kernel, domain = question.kernel, question.domain
    number = _numbering(kernel, question.layout)
    if number is None:
        return None
    values: tuple[Any, ...]
    inputs: tuple[Any, ...]
    if isinstance(domain, Places):
        domain = domain.categories
    if isinstance(domain, Line):
        values = inputs = on_line(domain)
    elif isinstance(domain, Optional):
        values, inputs = (None, *on_line(domain.of)), (math.nan, *on_line(domain.of))
    elif isinstance(domain, Categories):
        inputs = _codes(len(domain.labels))
        values = tuple(domain.labels[code] for code in inputs)
    elif isinstance(domain, Several):
        values = tuple(candidates(domain))
        inputs = tuple(domain.check([value])[0] for value in values)
    elif isinstance(domain, Region) and isinstance(kernel, CellKernel):
        values = inputs = on_plane(domain)
    elif isinstance(domain, Box):
        values = inputs = tuple(candidates(domain))
    else:
        return None
    try:
        return Listed(values, inputs, _law(kernel, inputs), number, _exact(kernel, inputs))
    except NotIdentifiable:  # a report that depends on a whole path
        return None


def _numbering(kernel: Kernel, layout: np.dtype[Any]) -> Callable[[Array], Integers] | None:
    if isinstance(kernel, CellKernel) and kernel.outcomes <= MOST_LISTED:
        last = bool(layout.shape)  # of a path: the cell stands after the mark
        return lambda reports: np.asarray((reports[..., -1] if last else reports).reshape(-1), dtype=np.int64)
    if isinstance(kernel, SetKernel) and kernel.outcomes <= _EXACT:
        sets = {row: at for at, row in enumerate(combinations(range(kernel.size), kernel.chosen))}
        elements, chosen = kernel.elements, kernel.chosen
        return lambda reports: np.array(
            [sets[tuple(row)] for row in elements(reports).reshape(-1, chosen).tolist()]
        )
    if isinstance(kernel, Bits | SubsetBits) and kernel.size <= _MOST_BITS:
        size = kernel.size
        return lambda reports: unpack_rows(reports, size).reshape(-1, size) @ (1 << np.arange(size))
    return None


def _law(kernel: Kernel, inputs: tuple[Any, ...]) -> Floats:
    """Return the probability of every report for each input, in floats; from fractions where it matters."""
    if isinstance(kernel, CellKernel) and np.ndim(inputs[0]) == 0 and kernel.outcomes > _EXACT:
        reports = np.arange(kernel.outcomes)
        law = np.stack([kernel.likelihoods(reports, np.asarray(value)) for value in inputs])
        if not bool(((law.min(axis=0) <= 0.0) & (law.max(axis=0) > 0.0)).any()):
            return law
        # A difference of floats can be 0 where the fraction is not.
    return np.stack([kernel.chances(value) for value in inputs])


def _exact(kernel: Kernel, inputs: tuple[Any, ...]) -> Fraction | None:
    """Return the largest ratio in fractions, if there are few reports and all are possible."""
    if kernel.outcomes > _EXACT:
        return None
    columns = zip(*(kernel.probabilities(value) for value in inputs), strict=True)
    ends = [(max(column), min(column)) for column in columns if max(column) > 0]
    return None if any(least == 0 for _, least in ends) else max(most / least for most, least in ends)


def on_line(line: Line) -> tuple[float, ...]:
    """Return both ends of a line, values within it, and those next to its ends and to 0."""
    low, high = float(line.low), float(line.high)
    within = [float(value) for value in line.from_unit(np.array(_WITHIN))]
    near = [math.nextafter(low, high), math.nextafter(high, low), _DENORMAL, -_DENORMAL, 0.0]
    tried = dict.fromkeys([low, high, *within, *near])
    return tuple(value for value in tried if line.admits(np.array([value])))


def _codes(count: int) -> tuple[int, ...]:
    return tuple(range(count)) if count <= _ALL else (0, count - 1, 1, count // 2)


def on_plane(area: Region) -> tuple[Floats, ...]:
    """Return the corners of the area's box that are places of the area, and its centre."""
    box = area.box
    corners = [(x, y) for x in (box.x.low, box.x.high) for y in (box.y.low, box.y.high)]
    places = [np.array(place, dtype=np.float64) for place in (*corners, area.centre)]
    return tuple(place for place in places if _inside(area, place))


def _inside(area: Region, place: Floats) -> bool:
    try:
        area.check(place)
    except DitherError:
        return False
    return True


_MOST_CODES: Final = 300  # categories that are all tried
_MOST_ATTRIBUTES: Final = 6
_LETTERS: Final = "azé"


@dataclass(frozen=True, init=False, eq=False)
class Neighbours:
    """Pairs of inputs that a promise is about: values of a person, or data sets with one record changed.

    The first pairs are tried first.

    >>> from dither.core.domains import Interval
    >>> Neighbours.of(Interval(0, 1)).pairs[0]
    (0.0, 1.0)
    >>> Neighbours.replacing([0.2, 0.4], Interval(0, 1)).pairs[0]
    ([0.0, 0.4], [1.0, 0.4])
    """

    pairs: tuple[tuple[Any, Any], ...]

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        kept = tuple((first, second) for first, second in pairs)
        if not kept:
            raise InvalidParameter("an audit needs at least one pair of inputs")
        object.__setattr__(self, "pairs", kept)

    @classmethod
    def of(cls, inputs: object) -> Self:
        """Return all pairs of the inputs that are tried: of a domain, or of a list of inputs.

        Of a domain these are its ends, neighbouring floats and special values first. Of a list any two inputs
        are neighbours.
        """
        if isinstance(inputs, cls):
            return inputs
        if isinstance(inputs, Domain):
            return cls(_spread(candidates(inputs)))
        if isinstance(inputs, Sequence | np.ndarray | set | frozenset) and not isinstance(
            inputs, str | bytes
        ):
            kept = list(inputs)
            if len(kept) < 2:
                raise InvalidParameter("an audit needs at least two inputs")
            return cls(_spread(kept))
        raise InvalidParameter(
            f"a domain, a list of inputs or Neighbours was expected, not {type(inputs).__name__}"
        )

    @classmethod
    def replacing(cls, data: Sequence[Any], domain: Domain) -> Self:
        """Return data sets that differ in their first record, which runs over values of the domain."""
        return cls.of([[value, *list(data)[1:]] for value in candidates(domain)])

    @classmethod
    def adding(cls, data: Sequence[Any], domain: Domain) -> Self:
        """Return pairs of a data set and the same with one record more, at its end."""
        return cls([(list(data), [*data, value]) for value in candidates(domain)])

    @classmethod
    def paths(cls, area: Plane, length: int) -> Self:
        """Return pairs of paths of `length` locations, each an array of shape (length, 2)."""
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InvalidParameter("a path has at least one location")
        places = [np.asarray(place, dtype=np.float64) for place in candidates(area)]
        still = [np.tile(place, (length, 1)) for place in places]
        moved = still[0].copy()
        moved[-1] = places[-1]
        return cls.of([*still, moved] if length > 1 else still)

    @cached_property
    def inputs(self) -> list[Any]:
        """All inputs, each once."""
        return _unique([value for pair in self.pairs for value in pair])

    @cached_property
    def places(self) -> Integers:
        """The pairs as places in `inputs`, in both orders."""
        known = _Distinct(self.inputs)
        both = [(known.place(a), known.place(b)) for a, b in self.pairs]
        return np.array([order for a, b in both for order in ((a, b), (b, a))], dtype=np.int64)

    def pack(self, which: Integers) -> Any:
        """Return inputs as a randomiser takes them: an array where they are alike, else a list."""
        packed = self._packed
        return [self.inputs[place] for place in which.tolist()] if packed is None else packed[which]

    @cached_property
    def _packed(self) -> Array | None:
        inputs = self.inputs
        if all(isinstance(value, str) for value in inputs):
            return np.array(inputs, dtype=object)
        if all(isinstance(value, np.ndarray) for value in inputs):
            alike = len({value.shape for value in inputs}) == 1
            return np.stack(inputs) if alike else None
        kinds = {type(value) for value in inputs}
        return np.array(inputs) if len(kinds) == 1 and kinds <= {int, float, bool} else None


def candidates(domain: Domain) -> list[Any]:
    """Return the inputs of a domain that an audit tries, those that detect the most errors first."""
    if isinstance(domain, Places):
        domain = domain.categories
    if isinstance(domain, Line):
        ugly = float(domain.from_unit(np.array(1 / 3)))  # a value whose last bits are not zero
        low, high, *others = on_line(domain)
        period = [] if isinstance(domain, Interval) else [float(domain.from_unit(np.array(0.5)))]
        return _unique([low, high, *period, ugly, math.nextafter(ugly, high), *others])
    if isinstance(domain, Optional):
        return [None, *candidates(domain.of)]
    if isinstance(domain, Categories):
        count = len(domain)
        codes = dict.fromkeys([0, count - 1, *range(1, min(count, _MOST_CODES))])
        return [domain.labels[code] for code in codes]
    if isinstance(domain, Several):
        labels = list(domain.labels)
        disjoint = labels[: domain.most], labels[-domain.most :]  # full sets, as different as they can be
        return _unique([[], *disjoint, labels[:1], labels[-1:], labels[: domain.most + 1]])
    if isinstance(domain, Profile):
        return _records(domain)
    if isinstance(domain, Box):  # opposite corners, the middle, and one number changed
        half = np.full(len(domain.sides), 0.5)
        corners = [0.0 * half, 2.0 * half, half, np.eye(len(half))[0]]
        return [domain.from_unit(record) for record in corners]
    if isinstance(domain, Text):
        letters = _LETTERS if domain.alphabet is None else domain.alphabet
        long = letters[0] * domain.length
        return _unique([letters[0], letters[-1 if domain.alphabet else 1], long, ""])
    if isinstance(domain, Region):
        places = list(on_plane(domain))
        if len(places) < 3:  # a disk has no corners: both ends of its box's middle line
            x, y = domain.box.x, float(domain.centre[1])
            places = [np.array([x.low, y]), np.array([x.high, y]), *places]
        return places
    if isinstance(domain, Plane):
        box = domain.box
        ends = [(box.x.low, box.y.low), (box.x.low, box.y.high), domain.centre]
        return [np.asarray(place, dtype=np.float64) for place in ends]
    raise InvalidParameter(f"no inputs are known for {domain}; pass a list of them instead of the domain")


def _records(domain: Profile) -> list[dict[str, Any]]:
    """Return records: the first and the last category of all attributes, then of one attribute at a time."""
    ends = [(part.labels[0], part.labels[-1]) for part in domain.parts]
    first, last = (dict(zip(domain.names, side, strict=True)) for side in zip(*ends, strict=True))
    changed = [{**first, name: last[name]} for name in domain.names[:_MOST_ATTRIBUTES]]
    return [first, last, *changed]


def _spread(inputs: list[Any]) -> list[tuple[Any, Any]]:
    """Return all pairs, those of early inputs first."""
    kept = _unique(inputs)
    pairs = sorted(combinations(range(len(kept)), 2), key=lambda pair: (sum(pair), pair))
    return [(kept[first], kept[second]) for first, second in pairs]


class _Distinct:
    """Inputs, each once, in the order in which they came. Numbers and texts are found by their hash."""

    def __init__(self, inputs: Iterable[Any]) -> None:
        self.kept: list[Any] = []
        self._places: dict[Any, int] = {}
        for value in inputs:
            self.place(value)

    def place(self, value: Any) -> int:
        """Return the place of an input; a new one is added at the end."""
        end = len(self.kept)
        if isinstance(value, str | int) or (isinstance(value, float) and not math.isnan(value)):
            found = self._places.setdefault((type(value), value), end)
        else:
            found = next((at for at, other in enumerate(self.kept) if alike(value, other)), end)
        if found == end:
            self.kept.append(value)
        return found


def _unique(inputs: Iterable[Any]) -> list[Any]:
    return _Distinct(inputs).kept


def alike(value: Any, other: Any) -> bool:
    """Return whether two inputs or reports are the same, NaN being the same as NaN."""
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        return (
            type(value) is type(other) and value.shape == other.shape and value.tobytes() == other.tobytes()
        )
    if isinstance(value, float) and isinstance(other, float) and math.isnan(value):
        return math.isnan(other)
    return type(value) is type(other) and bool(value == other)


def as_numbers(inputs: list[Any]) -> Floats | None:
    """Return inputs as rows of numbers, one row each; None if they are not numbers of one shape."""
    try:
        rows = np.array(inputs, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows.reshape(len(inputs), -1) if rows.dtype.kind == "f" else None
