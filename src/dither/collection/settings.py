"""Settings of a collector: its limits, and the addresses that it trusts."""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, Self

from dither.errors import InvalidParameter, found, unknown_name


@dataclass(frozen=True)
class Settings:
    """Limits of a collector, and the addresses that it trusts.

    `origins` are the web origins whose pages may send (`*` for all); `proxies` are the addresses and networks
    whose `X-Forwarded-For` is believed; `relays` are those that have no limit of rate, because devices send
    through them; "unix" is a local socket. `body` is in bytes, `patience` in seconds for each of
    three steps: the head of a request, its body, and the store. `rate` is reports a second of one address,
    with bursts of `burst`. One address has at most `connections` open, and `pages` that change by themselves.
    A campaign accepts batches for `grace` days after its last.
    """

    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    relays: tuple[str, ...] = ()
    body: int = 1 << 20
    patience: float = 10.0
    rate: float = 20.0
    burst: int = 200
    connections: int = 100
    pages: int = 20
    grace: int = 2
    group: int = 1024  # batches in one commit, at most
    queue: int = 1 << 16  # batches that wait for a commit, at most; then 503

    def __post_init__(self) -> None:
        for name in ("body", "burst", "connections", "pages", "grace", "group", "queue"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < (name != "grace"):
                least = int(name != "grace")
                raise InvalidParameter(
                    f"expected {name} to be an integer of at least {least}, got {found(number)}"
                )
        for name in ("patience", "rate"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e9:
                raise InvalidParameter(f"expected {name} to be a positive number, got {found(number)}")
        for name in ("origins", "proxies", "relays"):
            listed = getattr(self, name)
            if not isinstance(listed, list | tuple) or not all(isinstance(text, str) for text in listed):
                raise InvalidParameter(f"expected {name} to be a list of texts, got {found(listed)}")
            object.__setattr__(self, name, tuple(listed))
        for name in ("proxies", "relays"):
            Networks(getattr(self, name), name)
        for origin in self.origins:  # one that no browser sends would never match
            if not _ORIGIN.fullmatch(origin):
                raise InvalidParameter(
                    "expected an origin as browsers send it, scheme, host and any unusual port in lower "
                    f"case without a path, such as https://city.example, got {origin!r} in origins"
                )

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Return the settings of a TOML file; every key is optional."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise InvalidParameter(
                f"expected the settings to be valid TOML: {error}; correct the file"
            ) from None
        known = [field.name for field in fields(cls)]
        for key in table:
            if key not in known:
                raise unknown_name("setting", key, known)
        return cls(**table)


_ORIGIN: Final = re.compile(
    r"\*|null|(?!https://[^/]*:443$|http://[^/]*:80$)[a-z][a-z0-9+.-]*://[^/?#@\sA-Z]+", re.ASCII
)


class Networks:
    """Addresses and networks that an operator names, such as 203.0.113.7, 10.0.0.0/8 or unix."""

    def __init__(self, names: Iterable[str], what: str = "networks") -> None:
        self._names = {name for name in names if name == "unix"}
        self._networks = [_network(name, what) for name in names if name != "unix"]

    def __contains__(self, address: str) -> bool:
        if not self._networks or address in self._names:
            return address in self._names
        found = _address(address)
        return found is not None and any(found in network for network in self._networks)


def _network(name: str, what: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(name)
    except ValueError as error:
        words = f"{what}: {name!r} is neither an address nor a network such as 10.0.0.0/8, nor unix ({error})"
        raise InvalidParameter(words) from None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address without its zone; an IPv4 address in IPv6 becomes IPv4. None for other texts."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return found if mapped is None else mapped


def limited_as(address: str) -> str:
    """Return the name under which an address is limited: itself, or the first 64 bits of one of IPv6."""
    found = _address(address) if ":" in address else None
    if found is None:
        return address
    return str(found if found.version == 4 else ipaddress.ip_network((found, 64), strict=False))
