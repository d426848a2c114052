"""Subset selection: a set of categories of fixed size that is likelier to contain the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from dither.errors import InvalidParameter
from dither.kernels.sets.subsets import MOST, SubsetBits
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class SubsetSelection(CategoryMechanism):
    """A set of about k/(e^ε + 1) categories, more often one that contains the answer.

    Promise:   pure ε.
    Reports:   ⌈k/8⌉ bytes of packed bits, always with the same number of ones.
    Use when:  the smallest error of all protocols here is worth a slower device; with one category to a set,
               at large ε or few categories, it is `KRR`.
    Reference: [Ye18, Sec. III]; [WangS16].
    """

    def _check(self) -> None:
        if len(self.categories) > MOST:
            raise InvalidParameter(
                f"SubsetSelection supports up to {MOST} categories, not {len(self.categories)}; use OLH"
            )

    def _kernel(self) -> SubsetBits:
        size = len(self.categories)
        chosen = max(1, round(size / (math.exp(self.epsilon) + 1.0)))  # [Ye18, eq. 5]
        return SubsetBits.largest(self.epsilon, size, chosen)
