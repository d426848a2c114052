"""The grouping of people into pairs, and its assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dither.errors import InvalidParameter, found
from dither.foundation.randomness import SYSTEM, Source

Grouping = Literal["dealt", "shuffled"]  # how pairs are drawn
ASSUMES: Final[dict[Grouping, tuple[str, ...]]] = {  # assumptions of each way to draw pairs
    "dealt": ("whoever pairs the devices draws at random, and keeps the pairs from the collector",),
    "shuffled": (
        "no two of the three servers that pair the devices put together what they hold",
        "the three servers follow their protocol",
    ),
}


@dataclass(frozen=True)
class Pairing:
    """The partner of each of n devices. If n is odd, one device is its own partner and tosses by itself.

    >>> Pairing((2, 1, 0)).pairs, Pairing((2, 1, 0)).alone
    (((0, 2),), (1,))
    """

    partners: tuple[int, ...]
    grouping: Grouping = "dealt"

    def __post_init__(self) -> None:
        size = len(self.partners)
        fits = all(type(partner) is int and 0 <= partner < size for partner in self.partners)
        if not fits or any(self.partners[other] != device for device, other in enumerate(self.partners)):
            raise InvalidParameter(
                "expected partner[partner[i]] == i for each device i; use deal_pairs for a valid pairing"
            )
        if len(self.alone) != size % 2:
            raise InvalidParameter(
                "expected one device without a partner for an odd number of devices, none for an even "
                "number; use deal_pairs for a valid pairing"
            )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs, the smaller index first."""
        return tuple((device, other) for device, other in enumerate(self.partners) if device < other)

    @property
    def alone(self) -> tuple[int, ...]:
        """The device without a partner, or an empty tuple."""
        return tuple(device for device, other in enumerate(self.partners) if device == other)


def deal_pairs(n: int, *, source: Source | None = None) -> Pairing:
    """Return a uniform random pairing of n devices. The caller, a trusted dealer, knows the pairs."""
    check_number(n)
    order = (SYSTEM if source is None else source).permutation(n).tolist()
    return Pairing(from_order(order))


def from_order(order: Sequence[int]) -> tuple[int, ...]:
    """Return the partner of each device if neighbours in this order are paired."""
    partners = list(range(len(order)))
    for first, second in zip(order[::2], order[1::2], strict=False):
        partners[first], partners[second] = second, first
    return tuple(partners)


def check_number(n: object) -> None:
    """Raise InvalidParameter unless n is an integer of at least 2."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise InvalidParameter(
            f"expected the number of devices to be an integer of at least 2, got {found(n)}"
        )
