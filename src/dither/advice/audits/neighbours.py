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

from dither.core.domains import Domain, Plane
from dither.core.kernels.kernel import MOST_LISTED, CellKernel, Kernel
from dither.core.kernels.packing import unpack_rows
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.items import ItemSets
from dither.core.kernels.sets.subsets import SubsetBits
from dither.core.question import Question
from dither.errors import InvalidParameter, NotIdentifiable
from dither.foundation.arrays import Array, Floats, Integers
from dither.privacy.exact import log_above

_EXACT: Final = 1 << 10  # largest number of reports whose probabilities are compared as fractions
_MOST_BITS: Final = 8  # largest length of rows of bits that are all listed


@dataclass(frozen=True, eq=False, repr=False)
class Listed:
    """Some inputs of a question, and the probabilities of all reports under each of them.

    `values` are inputs of `perturb`, `inputs` the same inputs for the kernel, and `law` has a row of
    probabilities for each input. `number` returns the index of reports in such a row.
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
    values = tuple(domain.examples(few=True))
    if not values:
        return None
    inputs = tuple(_input(domain, value) for value in values)
    try:
        return Listed(values, inputs, _law(kernel, inputs), number, _exact(kernel, inputs))
    except NotIdentifiable:  # the report depends on a complete path
        return None


def _input(domain: Domain, value: object) -> object:
    """Return a value as a kernel takes it: a number of Python, or a row of numbers."""
    checked = domain.check([value])[0]
    return checked if np.ndim(checked) else checked.item()


def _numbering(kernel: Kernel, layout: np.dtype[Any]) -> Callable[[Array], Integers] | None:
    if isinstance(kernel, CellKernel) and kernel.outcomes <= MOST_LISTED:
        last = bool(layout.shape)  # on a path the cell follows the mark
        return lambda reports: np.asarray((reports[..., -1] if last else reports).reshape(-1), dtype=np.int64)
    if isinstance(kernel, ItemSets) and kernel.outcomes <= _EXACT:
        return kernel.numbers
    if isinstance(kernel, Bits | SubsetBits) and kernel.size <= _MOST_BITS:
        size = kernel.size
        return lambda reports: unpack_rows(reports, size).reshape(-1, size) @ (1 << np.arange(size))
    return None


def _law(kernel: Kernel, inputs: tuple[Any, ...]) -> Floats:
    """Return the probability of every report for each input, in floats, from fractions where necessary."""
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


@dataclass(frozen=True, init=False, eq=False)
class Neighbours:
    """Pairs of neighbouring inputs: values of a person, or data sets that differ in one record.

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
            raise InvalidParameter("expected at least one pair of inputs, got none")
        object.__setattr__(self, "pairs", kept)

    @classmethod
    def of(cls, inputs: object) -> Self:
        """Return all pairs of the inputs that are tried, from a domain or from a list of inputs.

        For a domain, the inputs are its ends, neighbouring floats and special values, in this order. In a
        list, any two inputs are neighbours.
        """
        if isinstance(inputs, cls):
            return inputs
        if isinstance(inputs, Domain):
            return cls(_spread(inputs.examples()))
        if isinstance(inputs, Sequence | np.ndarray | set | frozenset) and not isinstance(
            inputs, str | bytes
        ):
            kept = list(inputs)
            if len(kept) < 2:
                raise InvalidParameter("expected at least two inputs to compare")
            return cls(_spread(kept))
        raise InvalidParameter(
            f"expected a domain, a list of inputs or Neighbours, got {type(inputs).__name__}"
        )

    @classmethod
    def replacing(cls, data: Sequence[Any], domain: Domain) -> Self:
        """Return data sets that differ in their first record: a value of the domain."""
        return cls.of([[value, *list(data)[1:]] for value in domain.examples()])

    @classmethod
    def adding(cls, data: Sequence[Any], domain: Domain) -> Self:
        """Return pairs of a data set and the same data set with one more record at its end."""
        return cls([(list(data), [*data, value]) for value in domain.examples()])

    @classmethod
    def paths(cls, area: Plane, length: int) -> Self:
        """Return pairs of paths of `length` locations, each an array of shape (length, 2)."""
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InvalidParameter("expected the length of a path to be at least 1")
        points = [np.asarray(position, dtype=np.float64) for position in area.examples()]
        still = [np.tile(position, (length, 1)) for position in points]
        moved = still[0].copy()
        moved[-1] = points[-1]
        return cls.of([*still, moved] if length > 1 else still)

    @cached_property
    def inputs(self) -> list[Any]:
        """All inputs, each once."""
        return _unique([value for pair in self.pairs for value in pair])

    @cached_property
    def places(self) -> Integers:
        """The pairs as indices in `inputs`, in both orders."""
        known = _Distinct(self.inputs)
        both = [(known.place(a), known.place(b)) for a, b in self.pairs]
        return np.array([order for a, b in both for order in ((a, b), (b, a))], dtype=np.int64)

    def pack(self, which: Integers) -> object:
        """Return inputs as a randomiser takes them: an array where they are alike, else a list."""
        packed = self._packed
        return [self.inputs[index] for index in which.tolist()] if packed is None else packed[which]

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


def _spread(inputs: list[Any]) -> list[tuple[Any, Any]]:
    """Return all pairs, beginning with early inputs."""
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
        """Return the index of an input; a new input is added at the end."""
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
