"""Addresses of devices in 18 bytes: an IPv6 address (IPv4 mapped into it), and a port."""

from __future__ import annotations

import ipaddress
from typing import Final

from dither.errors import ExchangeFailed, InvalidParameter

Address = tuple[str, int]
ADDRESS: Final = 18  # bytes
_HOST: Final = 16
_MAPPED: Final = bytes(10) + b"\xff\xff"  # before the four bytes of an IPv4 address


def pack_address(address: Address) -> bytes:
    """Return the 18 bytes; raise InvalidParameter unless a partner could connect to this address."""
    host, port = address
    try:
        read = ipaddress.ip_address(host)
    except ValueError:
        read = None
    if read is None or read.is_unspecified or "%" in host or not 0 < port < 1 << 16:
        raise InvalidParameter(
            "a device listens at one IP address, without a zone, that its partner can reach"
        )
    packed = read.packed if len(read.packed) == _HOST else _MAPPED + read.packed
    return packed + port.to_bytes(2, "little")


def read_address(data: bytes) -> Address:
    """Return host and port; raise ExchangeFailed if nobody could listen there."""
    if len(data) != ADDRESS:
        raise ExchangeFailed("an address has 18 bytes")
    whole = ipaddress.IPv6Address(data[:_HOST])
    read = whole if whole.ipv4_mapped is None else whole.ipv4_mapped
    port = int.from_bytes(data[_HOST:], "little")
    if read.is_unspecified or not port:
        raise ExchangeFailed("an address is an IP address and a port")
    return str(read), port
