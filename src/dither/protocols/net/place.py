"""What a device is told about its pair, in bytes: its role, its partner's address, and the pair's secret.

    from a dealer              role 1 · address 18 · secret 32; zeros after the role of a device that is alone
    from each of three servers  share of role and address 32 · share of the secret 32

Sizes are in bytes, and integers are little endian. Role and address are one integer below 2^146: its lowest
bit is the role, and the rest is 0 for a device that is alone, else 2·address + 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, final

from dither.errors import ExchangeFailed
from dither.protocols.exchange import Role
from dither.protocols.net.addresses import ADDRESS, Address, pack_address, read_address
from dither.protocols.pairing.shares import NUMBER, combine

SECRET: Final = 32  # bytes
DEALT_SIZE: Final = 1 + ADDRESS + SECRET
SHARED_SIZE: Final = 2 * NUMBER
_ALONE: Final = 2  # in place of a role


@final
@dataclass(frozen=True)
class DevicePair:
    """A device's pair: its own role, its partner's address, and the secret that only the two have."""

    role: Role
    partner: Address
    secret: bytes = field(repr=False)

    @property
    def tag(self) -> str:
        """Text that is the same for both partners and reveals nothing about the secret."""
        return hashlib.sha256(b"dither pair tag" + self.secret).hexdigest()[:16]


def pack_dealt(pair: DevicePair | None) -> bytes:
    """Return the body of a dealer's PLACE; None is for the device that stays alone."""
    if pair is None:
        return bytes([_ALONE]) + bytes(ADDRESS + SECRET)
    return bytes([pair.role]) + pack_address(pair.partner) + pair.secret


def read_dealt(body: bytes) -> DevicePair | None:
    """Return the pair that a dealer's PLACE tells, or None if this device stays alone."""
    if len(body) != DEALT_SIZE or body[0] > _ALONE:
        raise ExchangeFailed("a dealer tells a role, an address and a secret")
    if body[0] == _ALONE:
        return None
    return DevicePair(Role(body[0]), read_address(body[1 : 1 + ADDRESS]), body[1 + ADDRESS :])


def read_shared(bodies: Sequence[bytes]) -> DevicePair | None:
    """Return the pair that three servers' PLACEs tell together, or None if this device stays alone."""
    if any(len(body) != SHARED_SIZE for body in bodies):
        raise ExchangeFailed("a server tells two shares")
    numbers = [
        combine([int.from_bytes(body[start : start + NUMBER], "little") for body in bodies])
        for start in (0, NUMBER)
    ]
    place, secret = numbers
    record, role = place >> 1, Role(place & 1)
    if record == 0:
        return None
    if not record & 1 or record >> 1 >= 1 << 8 * ADDRESS:
        raise ExchangeFailed("the three servers tell no address")
    return DevicePair(
        role, read_address((record >> 1).to_bytes(ADDRESS, "little")), secret.to_bytes(NUMBER, "little")
    )


def address_record(address: bytes) -> int:
    """Return the integer that stands for a device's packed address in the servers' shuffle."""
    return 2 * int.from_bytes(address, "little") + 1
