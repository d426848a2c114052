"""Subset selection with short reports: the numbers of a few categories instead of a bit for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from dither.errors import InvalidParameter
from dither.kernels.sets.indices import MOST_CHOSEN, MOST_SIZE, IndexSets
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class SubsetIndices(CategoryMechanism):
    """The numbers of about k/(e^ε + 1) categories, more often with the answer among them.

    Promise:   pure ε.
    Reports:   two to eight numbers of categories in ascending order, one or two bytes each.
    Use when:  k/(e^ε + 1) is between 1.5 and 8: the smallest possible error, in short reports. Below, use
               `KRR`; above, `ProjectiveResponse` has nearly the same error.
    Reference: [Ye18, Sec. III]; [WangS16]; optimal by [Pan26]. The distribution is that of `SubsetSelection`.
    """

    def _check(self) -> None:
        if not 3 <= len(self.categories) <= MOST_SIZE:
            raise InvalidParameter(f"SubsetIndices takes 3 to {MOST_SIZE} categories")

    def _kernel(self) -> IndexSets:
        size = len(self.categories)
        chosen = round(size / (math.exp(self.epsilon) + 1.0))  # [Ye18, eq. 5]
        if not 2 <= chosen <= MOST_CHOSEN:
            better = "KRR" if chosen < 2 else "ProjectiveResponse"
            raise InvalidParameter(
                f"with {size} categories and ε = {self.epsilon:g} a set would have {chosen} elements, not 2 "
                f"to {MOST_CHOSEN}; use dt.{better}"
            )
        return IndexSets.largest(self.epsilon, size, chosen)
