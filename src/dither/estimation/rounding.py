"""Numbers as text, rounded to their error; intervals within the limits of a quantity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dither.foundation.tables import decimals, percent, show_end

if TYPE_CHECKING:
    from dither.estimation.estimate import Estimate


def show(value: float, half: float) -> str:
    """Return a value as text, rounded to one digit of its half-width, two if that begins with 1."""
    if not (math.isfinite(value) and math.isfinite(half)) or half <= 0:
        return f"{value:g} ± {half:g}"
    precision = decimals(half)
    if precision > 12 or precision < -12:
        return f"{value:.3g} ± {half:.1g}"
    digits = max(precision, 0)
    rounded = round(float(value), precision) + 0.0  # adding 0.0 avoids −0.00
    return f"{rounded:.{digits}f} ± {round(float(half), precision):.{digits}f}"


_EVEN: Final = 0.1  # relative difference of an interval's sides; below it, ± is used
Limits = tuple[float, float]
ANYWHERE: Final[Limits] = (-math.inf, math.inf)
SHARE: Final[Limits] = (0.0, 1.0)
OF_ANSWERS: Final = ", of those who answered"  # a remark after the number of all reports
AT_LEAST: Final = "≥"  # the mark of a lower bound


def show_interval(
    value: float, low: float, high: float, limits: Limits = ANYWHERE, *, at_least: bool = False
) -> str:
    """Return a value with its interval: 63 ± 15, or 63 (59 – 89) if the sides differ by more than 10 %.

    An end beyond the limits is shown as the limit with a mark: 0.02 (‹0 – 0.05). With `at_least` the value
    is a lower bound, and only the lower end is shown: ≥ 0.59.
    """
    if at_least:
        least = max(low, limits[0])
        precision = max(decimals(value - low), 0) if 0.0 < value - low < 1e12 else 2
        return f"≥ {least:.{precision}f}"
    below, above = value - low, high - value
    half = (high - low) / 2.0
    if low < limits[0] or high > limits[1]:
        ends = [min(max(end, limits[0]), limits[1]) for end in (low, high)]
        width = (ends[1] - ends[0]) / 2.0 or half
        precision = max(decimals(width), 0) if 0.0 < width < 1e12 else 2
        shown = [show_end(end, limits) or f"{end:.{precision}f}" for end in (low, high)]
        number = f"{round(value, precision) + 0.0:.{precision}f}" if math.isfinite(value) else "?"
        return f"{number} ({shown[0]} – {shown[1]})"
    even = abs(below - above) <= _EVEN * max(abs(below), abs(above))
    if even or not all(map(math.isfinite, (value, low, high))) or half <= 0:
        return show(value, half)
    precision = decimals(max(min(below, above), half / 5.0))  # decimals of the shorter side
    if precision > 12 or precision < -12:
        return f"{value:.3g} ({low:.3g} – {high:.3g})"
    digits = max(precision, 0)
    value, low, high = (round(float(number), precision) + 0.0 for number in (value, low, high))
    return f"{value:.{digits}f} ({low:.{digits}f} – {high:.{digits}f})"


def thousands(count: int) -> str:
    """Return an integer as text in groups of three digits, as in 40 000."""
    return f"{count:,}".replace(",", " ")


def thinned_share(parts: Sequence[Estimate]) -> float | None:
    """Return the largest share of thinned sets of some estimates; None if none was thinned."""
    return max((part.thinned for part in parts if part.thinned is not None), default=None)


def remark_of(parts: Sequence[Estimate]) -> str:
    """Return which people some estimates describe, and the share of thinned sets, as a printed text."""
    remark = OF_ANSWERS if any(OF_ANSWERS in part.remark for part in parts) else ""
    share = thinned_share(parts)
    return remark if share is None else f"{remark}, up to {percent(share)} of the sets are thinned"
