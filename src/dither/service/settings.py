"""The settings of a collector: limits, origins, proxies. All have defaults that suit a small machine."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self, final

from dither.errors import InvalidParameter, found, unknown_name


@final
@dataclass(frozen=True)
class Settings:
    """How much a collector accepts, and whom it trusts.

    `origins` are the web origins whose pages may send (`*` for all); `proxies` are the addresses whose
    `X-Forwarded-For` is believed; `relays` are addresses that have no limit of rate, because devices send
    through them. `body` is in bytes, `patience` in seconds for a body to arrive, and as
    many for the store to take it; `rate` is reports a second of one address, with bursts of `burst`. A
    campaign accepts batches for `grace` days after its last; identities of batches are kept for `retry` days.
    """

    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    relays: tuple[str, ...] = ()
    body: int = 1 << 20
    patience: float = 10.0
    rate: float = 20.0
    burst: int = 200
    grace: int = 2
    retry: int = 14
    group: int = 1024  # batches in one commit, at most
    queue: int = 1 << 16  # batches that wait for a commit, at most; then 503

    def __post_init__(self) -> None:
        for name in ("body", "burst", "grace", "retry", "group", "queue"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < (name != "grace"):
                raise InvalidParameter(f"{name} is a whole number from 1 upwards, not {found(number)}")
        for name in ("patience", "rate"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e9:
                raise InvalidParameter(f"{name} is a positive number, not {found(number)}")
        for name in ("origins", "proxies", "relays"):
            listed = getattr(self, name)
            if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
                raise InvalidParameter(f"{name} is a list of texts, not {found(listed)}")
            object.__setattr__(self, name, tuple(listed))

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Return the settings of a TOML file, in which every key may be left out."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise InvalidParameter(f"the settings are not valid TOML: {error}") from None
        known = [one.name for one in fields(cls)]
        for key in table:
            if key not in known:
                raise unknown_name("setting", key, known)
        return cls(**table)
