"""The inputs that an audit tries, and the probability of every report under each of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Categories, Line, Region
from dither.errors import DitherError, NotIdentifiable
from dither.kernels.kernel import MOST_LISTED, CellKernel, Kernel
from dither.kernels.sets import bit_rows
from dither.kernels.sets.bits import Bits
from dither.kernels.sets.subsets import SubsetBits
from dither.privacy.exact import log_above
from dither.question import Question

_EXACT: Final = 1 << 10  # the most reports whose probabilities are compared as fractions
_MOST_BITS: Final = 8  # the longest rows of bits that are all listed
_ALL: Final = 32  # the most categories that are all tried
_DENORMAL: Final = 5e-324
_WITHIN: Final = (0.5, 0.03, 0.25, 0.77, 0.97)  # inputs inside a line, as shares of it


@final
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
            float(np.maximum(one - math.exp(epsilon) * two, 0.0).sum())
            for one in self.law
            for two in self.law
        ]
        return max(found)


def listed(question: Question) -> Listed | None:
    """Return probabilities at both ends of the domain and within it; None if reports cannot be listed."""
    kernel, domain = question.kernel, question.domain
    number = _numbering(kernel, question.layout)
    if number is None:
        return None
    values: tuple[Any, ...]
    inputs: tuple[Any, ...]
    if isinstance(domain, Line):
        values = inputs = on_line(domain)
    elif isinstance(domain, Categories):
        inputs = _codes(len(domain.labels))
        values = tuple(domain.labels[code] for code in inputs)
    elif isinstance(domain, Region) and isinstance(kernel, CellKernel):
        values = inputs = on_plane(domain)
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
    if isinstance(kernel, Bits | SubsetBits) and kernel.size <= _MOST_BITS:
        size = kernel.size
        return lambda reports: bit_rows.unpack(reports, size).reshape(-1, size) @ (1 << np.arange(size))
    return None


def _law(kernel: Kernel, inputs: tuple[Any, ...]) -> Floats:
    """Return the probability of every report for each input, in floats; from fractions where it matters."""
    if isinstance(kernel, CellKernel) and np.ndim(inputs[0]) == 0 and kernel.outcomes > _EXACT:
        reports = np.arange(kernel.outcomes)
        law = np.stack([kernel.likelihoods(reports, np.asarray(one)) for one in inputs])
        if not bool(((law.min(axis=0) <= 0.0) & (law.max(axis=0) > 0.0)).any()):
            return law
        # A difference of floats can be 0 where the fraction is not.
    return np.stack([kernel.chances(one) for one in inputs])


def _exact(kernel: Kernel, inputs: tuple[Any, ...]) -> Fraction | None:
    """Return the largest ratio in fractions, if there are few reports and all are possible."""
    if kernel.outcomes > _EXACT:
        return None
    columns = zip(*(kernel.probabilities(one) for one in inputs), strict=True)
    ends = [(max(column), min(column)) for column in columns if max(column) > 0]
    return None if any(least == 0 for _, least in ends) else max(most / least for most, least in ends)


def on_line(line: Line) -> tuple[float, ...]:
    """Return both ends of a line, values within it, and those next to its ends and to 0."""
    low, high = float(line.low), float(line.high)
    within = [float(one) for one in line.from_unit(np.array(_WITHIN))]
    near = [math.nextafter(low, high), math.nextafter(high, low), _DENORMAL, -_DENORMAL, 0.0]
    tried = dict.fromkeys([low, high, *within, *near])
    return tuple(one for one in tried if line.admits(np.array([one])))


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
