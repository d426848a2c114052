"""Ranges of numbers: the edges of a scale, and values clipped to an interval on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from dither.core.domains.calendar import Calendar
from dither.errors import InvalidParameter, found
from dither.foundation.digits import plain

_PARTS: Final = 32  # parts of a scale
_LEAST: Final = 1000  # a logarithmic scale from 0 to an end below 32 begins at this part of the end


@dataclass(frozen=True)
class Clipping:
    """The ends to which values are moved on purpose, and the share of people outside with its interval.

    `outside` is the share, and the low and high end of its 95 % interval; empty if it is not known. An
    estimate of such values says so, because it is not an estimate of people's own values. An estimate from
    several numbers says so for each: `name` is the first clipped number, and `further` are the others.
    """

    low: float
    high: float
    outside: tuple[float, ...] = ()
    quantity: str = ""  # the estimated quantity, such as "mean"
    name: str = ""  # the name of the number, if several numbers are clipped
    unit: str = ""  # a `Calendar` shows the ends as dates
    further: tuple[Clipping, ...] = ()

    @staticmethod
    def of_numbers(known: Mapping[str, Clipping | None], quantity: str = "") -> Clipping | None:
        """Return how several numbers, by name, are clipped; None if no number is clipped."""
        named = [replace(each, name=name, quantity="") for name, each in known.items() if each is not None]
        return replace(named[0], quantity=quantity, further=tuple(named[1:])) if named else None

    @property
    def values(self) -> str:
        """The estimated quantity in words: (mean of) values clipped to [10, 100]."""
        of = f"{self.quantity} of " if self.quantity else ""
        own = f"{of}{self.name or 'values'} clipped to {show_range(self.low, self.high, self.unit)}"
        return " and ".join([own, *(each.values for each in self.further)])

    @property
    def beyond(self) -> str:
        """The share outside in words, its interval first; empty if it is not known."""
        if not self.outside:
            return ""
        share, low, high = (f"{100.0 * part:.2g}" for part in self.outside)
        return f"{low} – {high} % outside (estimate {share} %)"

    def __str__(self) -> str:
        own = ", ".join(filter(None, (replace(self, further=()).values, self.beyond)))
        return "; ".join([own, *map(str, self.further)])

    def columns(self) -> dict[str, object]:
        """Return the columns of each row of an estimate after its value."""
        shares = {} if self.further else outside_columns(self)
        return {"of": self.values, **shares}


def show_range(low: float, high: float, unit: str = "") -> str:
    """Return an interval as text: [10, 100], or two dates."""
    show = unit.text if isinstance(unit, Calendar) else plain
    return f"[{show(low)}, {show(high)}]"


def of_values(clipping: Clipping | None) -> str:
    """Return " of values clipped to [10, 100]"; an empty text if none are clipped."""
    return "" if clipping is None else f" of {clipping.values}"


def outside_columns(clipping: Clipping | None) -> dict[str, object]:
    """Return the share of people outside and its interval, as columns; empty if no values are clipped."""
    if clipping is None:
        return {}
    names, known = ("outside", "outside low", "outside high"), clipping.outside or (None, None, None)
    return dict(zip(names, known, strict=True))


def check_outside(outside: object) -> tuple[float, ...]:
    """Return a share with its interval; raise InvalidParameter unless 0 ≤ low ≤ share ≤ high ≤ 1."""
    parts = tuple(outside) if isinstance(outside, list | tuple) else (None,)
    if not parts:
        return ()
    numbers = all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts)
    if not numbers or len(parts) != 3 or not 0.0 <= parts[1] <= parts[0] <= parts[2] <= 1.0:
        raise InvalidParameter("expected outside= as a share and its interval: 0 ≤ low ≤ share ≤ high ≤ 1")
    return tuple(map(float, parts))


def clipping_of(low: float, high: float, clipped_from: object, unit: str = "") -> Clipping | None:
    """Return the clipping that `clipped_from` declares: by bounds, a wider interval or a share outside."""
    if clipped_from is None:
        return None
    outside = clipped_from if isinstance(clipped_from, list | tuple) else ()
    if clipped_from is True:
        return Clipping(low, high, unit=unit)
    wide = getattr(clipped_from, "shown", None)
    if wide is not None:  # an interval
        if wide.circular or low < wide.low or high > wide.high:
            raise InvalidParameter(
                f"expected clipped_from= to contain {show_range(low, high, unit)}, got {clipped_from!r}"
            )
    elif hasattr(clipped_from, "share_outside"):  # a result of `dt.bounds`
        outside = clipped_from.share_outside(low, high)
    elif not outside:
        raise InvalidParameter(
            "expected clipped_from to be what dt.bounds returned, the interval that values come from, or "
            "the share "
            f"outside with its interval, such as (0.01, 0.004, 0.02), got {found(clipped_from)}"
        )
    return Clipping(low, high, check_outside(outside), unit=unit)


def scale_edges(table: Mapping[str, object]) -> tuple[float, ...]:
    """Return the edges of the scale of an interval: those that are listed, or 33 of "log" or "linear".

    >>> scale_edges({"interval": [0, 64], "scale": "linear"})[:3]
    (0.0, 2.0, 4.0)
    """
    given, ends = table["scale"], table.get("interval")
    if isinstance(given, list):
        return tuple(given)
    listed = ends if isinstance(ends, list) and len(ends) == 2 else []
    pair = [end for end in listed if isinstance(end, int | float) and not isinstance(end, bool)]
    if given not in ("log", "linear") or len(pair) != 2 or not pair[0] < pair[1]:
        raise InvalidParameter(
            'expected scale = "log" or "linear" together with interval = [low, high], or a list of edges'
        )
    low, high = map(float, pair)
    if given == "linear":
        return (*(low + (high - low) * part / _PARTS for part in range(_PARTS)), high)
    if low >= 0:
        return _logarithmic(low, high, _PARTS)
    if high <= 0:
        return tuple(-edge for edge in reversed(_logarithmic(-high, -low, _PARTS)))
    half = _PARTS // 2
    below, above = _logarithmic(0.0, -low, half), _logarithmic(0.0, high, half)
    return (*(-edge for edge in reversed(below[1:])), *above)


def _logarithmic(low: float, high: float, parts: int) -> tuple[float, ...]:
    """Return edges with equal ratios; from 0, the first part ends at 1, or at a small part of `high`."""
    least, steps = low, parts
    if low == 0:
        least, steps = (1.0 if high >= _PARTS else high / _LEAST), parts - 1
    between = (float(f"{least * (high / least) ** (part / steps):.12g}") for part in range(1, steps))
    return (*((0.0,) if low == 0 else ()), least, *between, high)


def check_scale(scale: object, low: float, high: float, step: float | None) -> tuple[float, ...]:
    """Return the edges of a scale; raise InvalidParameter if they do not fit the interval.

    The interval is one of positions, from 0 to the number of parts, or one of values, from edge to edge.
    """
    edges = tuple(scale) if isinstance(scale, list | tuple) else (None,)
    if not edges:
        return ()
    numbers = all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in edges)
    if not numbers or len(edges) < 3 or any(after <= before for before, after in pairwise(edges)):
        raise InvalidParameter("expected at least 3 edges of a scale, each larger than the one before")
    if (low, high) not in ((0, len(edges) - 1), (edges[0], edges[-1])) or step is not None:
        raise InvalidParameter(
            "expected an interval from 0 to the number of parts of its scale, without a step"
        )
    return tuple(map(float, edges))


def name_of_scale(edges: tuple[float, ...]) -> str:
    """Return "linear" if the parts of a scale have equal lengths, and else "log"."""
    lengths = [after - before for before, after in pairwise(edges)]
    return "linear" if max(lengths) - min(lengths) <= 1e-9 * max(lengths) else "log"
