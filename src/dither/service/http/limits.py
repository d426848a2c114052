"""Rate limits by address, without keeping an address: in memory, under a salted hash whose salt changes."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, final

_ROTATION: Final = 600.0  # seconds after which nobody can tell that an address came again
_MOST: Final = 1 << 20  # addresses that are distinguished


@final
class RateLimits:
    """A bucket of tokens for each address, one a report: `burst` at first, refilled at `rate` a second.

    How many reports a batch holds is known once it was read. So a request is allowed while a token is left,
    and charged for one; the rest is charged later and may leave a debt, which keeps the next ones waiting.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._forget()

    def _forget(self) -> None:
        self._salt = os.urandom(16)
        self._until = self._clock() + _ROTATION
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def allow(self, address: str) -> bool:
        """Return whether a request of an address may be answered, and charge it for one report."""
        name, tokens, now = self._bucket(address)
        allowed = tokens >= 1.0
        self._buckets[name] = (tokens - allowed, now)
        return allowed

    def charge(self, address: str, reports: int) -> None:
        """Charge an address for further reports, whatever is left."""
        name, tokens, now = self._bucket(address)
        self._buckets[name] = (tokens - reports, now)

    def _bucket(self, address: str) -> tuple[bytes, float, float]:
        """Return the name of an address, the tokens it has now, and the time."""
        now = self._clock()
        if now >= self._until or len(self._buckets) >= _MOST:
            self._forget()
        name = hashlib.blake2b(address.encode(), key=self._salt, digest_size=8).digest()
        tokens, before = self._buckets.get(name, (self._burst, now))
        return name, min(self._burst, tokens + (now - before) * self._rate), now


def client_address(scope: Mapping[str, Any], proxies: frozenset[str]) -> str:
    """Return the address that a request came from; a named proxy is believed about whom it forwards for.

    Of several forwarded addresses the last counts that is not a named proxy's: those before it are the
    word of whoever sent the request. "unix" is the name of a proxy on a local socket. Addresses of IPv6
    count by their first 64 bits.
    """
    peer = scope.get("client")
    address = str(peer[0]) if peer else "unix"
    if address in proxies:
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                forwarded = [one.strip() for one in value.decode("latin-1").split(",")]
                address = next((one for one in reversed(forwarded) if one not in proxies), address)
    return limited_as(address)


def limited_as(address: str) -> str:
    """Return the name under which an address is limited: itself, or the first 64 bits of one of IPv6."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    except ValueError:
        return address
