"""Reports: the only thing that leaves a device, together with the mechanism that made them."""

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
    """What devices sent: small integers, and the mechanism that says what they stand for.

    `mechanism.reports(raw)` is the way in from outside; this constructor trusts its caller.
    """

    mechanism: Mechanism[Any]
    cells: Array

    @property
    def values(self) -> Array:
        """What the reports stand for, decoded."""
        return self.mechanism.decode(self.cells)

    @property
    def guarantee(self) -> Guarantee:
        """What a person who sent all of these reports is promised: every value in them spends its budget.

        Locations are charged one by one, and are promised together as trajectories.
        """
        once = self.mechanism.guarantee
        if once.unit is Unit.TRAJECTORY:
            count = int(np.count_nonzero(self.cells[..., 0]))  # marks of the beginnings of paths
        else:
            count = self.cells.size // math.prod(self.mechanism.layout.shape)
        if count == 0:
            return replace(once, bound=Pure(0.0))
        if once.unit is not Unit.LOCATION:
            return once.repeated(count)
        return replace(once.repeated(count), unit=Unit.TRAJECTORY)

    def read_by(self, mechanism: Mechanism[Any]) -> Reports:
        """Give the same reports decoded another way; the other mechanism must send the same reports."""
        if mechanism.fingerprint != self.mechanism.fingerprint:
            raise Mismatch(f"these reports were made by another mechanism than {_name(mechanism)}")
        return Reports(mechanism, self.cells)

    @staticmethod
    def concatenate(parts: list[Reports]) -> Reports:
        """Put reports of one mechanism together, along the first axis.

        Raise Mismatch if they were made by different mechanisms, or are read by different codebooks.
        """
        if not parts:
            raise InvalidParameter("there is nothing to concatenate")
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
    """Raise Mismatch if equal reports of two mechanisms would be read as different values."""
    if first is second or first.fingerprint != second.fingerprint:
        return  # other mechanisms are refused where their reports are read
    if first.codebook() != second.codebook():
        raise Mismatch(
            f"these reports of {_name(first)} are read by different codebooks; choose one, "
            "with read_by(mechanism)"
        )


def _name(mechanism: Mechanism[Any]) -> str:
    return f"{type(mechanism).__name__} on {mechanism.domain}"
