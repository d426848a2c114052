"""Reports: what devices send, together with the mechanism that decodes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Array
from dither.errors import InvalidParameter, Mismatch
from dither.privacy import Guarantee, Pure, Unit

if TYPE_CHECKING:
    from dither.mechanisms.base import Mechanism


@final
@dataclass(frozen=True, eq=False)
class Reports:
    """Integers that devices sent, and the mechanism that decodes them.

    Use `mechanism.reports(raw)` for data from outside; this constructor does not check them.
    """

    mechanism: Mechanism[Any]
    cells: Array

    @property
    def values(self) -> Array:
        """The decoded reports."""
        return self.mechanism.decode(self.cells)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who sent all of these reports: every value in them spends the budget.

        Each location is charged, and the result is a guarantee for trajectories.
        """
        once = self.mechanism.guarantee
        if once.unit is Unit.TRAJECTORY:
            count = int(np.count_nonzero(self.cells[..., 0]))  # the number of paths: marks of beginnings
        else:
            count = self.cells.size // math.prod(self.mechanism.layout.shape)
        if count == 0:
            return replace(once, bound=Pure(0.0))
        if once.unit is not Unit.LOCATION:
            return once.repeated(count)
        return replace(once.repeated(count), unit=Unit.TRAJECTORY)

    def read_by(self, mechanism: Mechanism[Any]) -> Reports:
        """Return the same reports with another decoding; raise Mismatch if the fingerprints differ."""
        if mechanism.fingerprint != self.mechanism.fingerprint:
            raise Mismatch(
                f"these reports of {_name(self.mechanism)} were made by another mechanism than "
                f"{_name(mechanism)}, or with other parameters"
            )
        return Reports(mechanism, self.cells)

    @staticmethod
    def concatenate(parts: list[Reports]) -> Reports:
        """Return reports of one mechanism concatenated along the first axis.

        Raise Mismatch if they are of different mechanisms, or have different codebooks.
        """
        if not parts:
            raise InvalidParameter("the list of reports to concatenate is empty")
        first = parts[0].mechanism
        for part in parts[1:]:
            check_codebooks(first, part.mechanism)
        return Reports(first, np.concatenate([part.read_by(first).cells for part in parts]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, index: Any) -> Reports:
        return Reports(self.mechanism, np.asarray(self.cells[index]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reports):
            return NotImplemented
        same = self.mechanism.fingerprint == other.mechanism.fingerprint
        return same and np.array_equal(self.cells, other.cells)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        count = f"{self.mechanism.counting.answers(self.cells):,}".replace(",", " ")
        return f"Reports({count} of {_name(self.mechanism)}, {self.cells.dtype.name})"


def check_codebooks(first: Mechanism[Any], second: Mechanism[Any]) -> None:
    """Raise Mismatch if two mechanisms have equal fingerprints but different codebooks."""
    if first is second or first.fingerprint != second.fingerprint:
        return  # `read_by` raises for different mechanisms
    if first.codebook() != second.codebook():
        raise Mismatch(
            f"these reports of {_name(first)} have different codebooks; choose one with "
            "reports.read_by(mechanism)"
        )


def _name(mechanism: Mechanism[Any]) -> str:
    return f"{type(mechanism).__name__} on {mechanism.domain}"
