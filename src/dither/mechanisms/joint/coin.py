"""The coin of one device, which decides whether it reports the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from dither.errors import InvalidParameter
from dither.randomness import SYSTEM, Source
from dither.reports import Reports

if TYPE_CHECKING:
    from dither.mechanisms.joint.joint import Joint


@final
@dataclass(frozen=True)
class Coin:
    """The coin of one device, for one answer. Keep it secret: it reveals whether the report is true."""

    mechanism: Joint
    truthful: tuple[bool, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.truthful) != self.mechanism.kernel.each or not all(
            type(one) is bool for one in self.truthful
        ):
            raise InvalidParameter(f"a coin of this mechanism must be {self.mechanism.kernel.each} booleans")

    def apply(self, value: object, *, source: Source | None = None) -> Reports:
        """Return the report of one answer; `source` selects the lie if there are several."""
        codes = self.mechanism.categories.check([value])
        if codes.shape != (1,):
            raise InvalidParameter("a coin is for one answer")
        randomness = SYSTEM if source is None else source
        cells = np.empty(1, dtype=self.mechanism.layout)
        cells[:] = self.mechanism.kernel.tell(codes, np.array([self.truthful]), randomness)
        return Reports(self.mechanism.question, cells)
