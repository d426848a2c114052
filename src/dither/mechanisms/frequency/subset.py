"""Subset selection: a set of categories, as bits or as a list of numbers."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any, Final, Literal

from dither.core.kernels.sets.subsets import MOST, MOST_CHOSEN, MOST_SIZE, IndexSets, SubsetBits
from dither.errors import InvalidParameter, check_choice
from dither.mechanisms.frequency.base import CategoryMechanism

ReportKind = Literal["bits", "indices"]
_NEARLY_CHOSEN: Final = 12  # up to this optimal size, eight numbers are nearly as good


@dataclass(frozen=True)
class SubsetSelection(CategoryMechanism):
    """A set of about k/(e^ε + 1) categories; sets that contain the answer are likelier.

    Promise:   pure ε.
    Reports:   ⌈k/8⌉ bytes of packed bits, always with the same number of ones; with `report="indices"` two to
               eight numbers of categories in ascending order, one or two bytes each.
    Use when:  the smallest error of all protocols is worth a slower device. With one category per set (large
               ε or few categories) it is `KRR`.
    Reference: subset selection, the k-subset mechanism (SS) [Ye18, Sec. III]; [WangS16].
    """

    _: KW_ONLY
    report: InitVar[ReportKind] = "bits"

    _draws = ("subset",)

    def __new__(cls, *args: Any, report: str = "bits", **more: Any) -> Any:
        """Return the mechanism whose reports are bits, or lists of numbers: `SubsetIndices`."""
        check_choice("report", report, ReportKind)
        return super().__new__(cls, *args) if report == "bits" else SubsetIndices(*args, **more)

    def __post_init__(self, report: str) -> None:
        super().__post_init__()

    def _check(self) -> None:
        if len(self.categories) > MOST:
            raise InvalidParameter(
                f"expected at most {MOST} categories for SubsetSelection, got {len(self.categories)}; use OLH"
            )

    def _kernel(self) -> SubsetBits:
        size = len(self.categories)
        chosen = max(1, round(size / (math.exp(self.epsilon) + 1.0)))  # [Ye18, eq. 5]
        return SubsetBits.largest(self.epsilon, size, chosen)


@dataclass(frozen=True)
class SubsetIndices(CategoryMechanism):
    """`SubsetSelection(report="indices")`, under its name in device texts.

    A report lists the numbers of about k/(e^ε + 1) categories; lists with the answer are likelier.

    Promise:   pure ε.
    Reports:   two to eight numbers of categories in ascending order, one or two bytes each.
    Use when:  k/(e^ε + 1) is between 1.5 and 12: the smallest possible error, in short reports, or up to 2 %
               more from 9 on. Below, use `KRR`; above, `ProjectiveResponse` has nearly the same error.
    Reference: [Ye18, Sec. III]; [WangS16]; optimal by [Pan26]. It has the distribution of `SubsetSelection`.
    """

    _draws = ("indices",)

    def _check(self) -> None:
        if not 3 <= len(self.categories) <= MOST_SIZE:
            raise InvalidParameter(f"expected 3 to {MOST_SIZE} categories for sets of numbers")

    def _kernel(self) -> IndexSets:
        size = len(self.categories)
        chosen = round(size / (math.exp(self.epsilon) + 1.0))  # [Ye18, eq. 5]
        # Eight numbers instead of twelve have at most 4 % more variance.
        chosen = min(chosen, MOST_CHOSEN) if chosen <= _NEARLY_CHOSEN else chosen
        if not 2 <= chosen <= MOST_CHOSEN:
            better = "KRR" if chosen < 2 else "ProjectiveResponse"
            raise InvalidParameter(
                f"expected a set of 2 to {_NEARLY_CHOSEN} elements, got {chosen} with {size} categories and "
                f"ε = {self.epsilon:g}; use dt.{better}"
            )
        return IndexSets.largest(self.epsilon, size, chosen)
