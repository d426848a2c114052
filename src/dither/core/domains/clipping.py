"""Values that are moved to the ends of an interval on purpose, and the share of people outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dither.errors import InvalidParameter, found
from dither.foundation.digits import plain


@dataclass(frozen=True)
class Clipping:
    """The ends to which values are moved on purpose, and the share of people outside with its interval.

    `outside` is the share, and the low and high end of its 95 % interval; empty if it is not known. An
    estimate of such values is named: it is not that of the people's own values.
    """

    low: float
    high: float
    outside: tuple[float, ...] = ()
    quantity: str = ""  # that is estimated, such as "mean"

    @property
    def values(self) -> str:
        """What is estimated: (mean of) values clipped to [10, 100]."""
        of = f"{self.quantity} of " if self.quantity else ""
        return f"{of}values clipped to [{plain(self.low)}, {plain(self.high)}]"

    @property
    def beyond(self) -> str:
        """The share outside in words, its interval first; empty if it is not known."""
        if not self.outside:
            return ""
        share, low, high = (f"{100.0 * part:.2g}" for part in self.outside)
        return f"{low} – {high} % outside (estimate {share} %)"

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.values, self.beyond)))

    def columns(self) -> dict[str, Any]:
        """Return the columns that each row of an estimate has beside its value."""
        names = ("outside", "outside low", "outside high")
        known = self.outside or (None, None, None)
        return {"of": self.values, **dict(zip(names, known, strict=True))}


def check_outside(outside: object) -> tuple[float, ...]:
    """Return a share with its interval; raise InvalidParameter unless 0 ≤ low ≤ share ≤ high ≤ 1."""
    parts = tuple(outside) if isinstance(outside, list | tuple) else (None,)
    if not parts:
        return ()
    numbers = all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts)
    if not numbers or len(parts) != 3 or not 0.0 <= parts[1] <= parts[0] <= parts[2] <= 1.0:
        raise InvalidParameter("outside are a share and its interval: 0 ≤ low ≤ share ≤ high ≤ 1")
    return tuple(map(float, parts))


def clipping_of(low: float, high: float, clipped_from: object) -> Clipping | None:
    """Return what `clipped_from` declares: bounds that were found, a wider interval, or a share outside."""
    if clipped_from is None:
        return None
    outside = clipped_from if isinstance(clipped_from, list | tuple) else ()
    wide = getattr(clipped_from, "shown", None)
    if wide is not None:  # an interval
        if wide.circular or low < wide.low or high > wide.high:
            raise InvalidParameter(f"clipped_from={clipped_from!r} does not contain [{low:g}, {high:g}]")
    elif hasattr(clipped_from, "share_outside"):  # what `dt.bounds` returns
        outside = clipped_from.share_outside(low, high)
    elif not outside:
        raise InvalidParameter(
            "clipped_from is what dt.bounds returned, the interval that values come from, or the share "
            f"outside with its interval, such as (0.01, 0.004, 0.02), not {found(clipped_from)}"
        )
    return Clipping(low, high, check_outside(outside))
