"""Settings of a collector, its log lines, refusals and signals.

Secret files of a collector: the key that signs campaigns, the one that opens requests, the token.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import json
import logging
import os
import re
import secrets
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from dither.errors import InvalidParameter, found, unknown_name

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey


@dataclass(frozen=True)
class Settings:
    """How much a collector accepts, and whom it trusts.

    `origins` are the web origins whose pages may send (`*` for all); `proxies` are the addresses and networks
    whose `X-Forwarded-For` is believed; `relays` are those that have no limit of rate, because devices send
    through them; "unix" is a local socket. `body` is in bytes, `patience` in seconds for the head of a
    request to arrive, as many for its body, and as many for the store to take it; `rate` is reports a second
    of one address, with bursts of `burst`. One address has at most `connections` open, and `pages` that
    change by themselves. A campaign
    accepts batches for `grace` days after its last; identities of batches are kept for `retry` days.
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
    retry: int = 14
    group: int = 1024  # batches in one commit, at most
    queue: int = 1 << 16  # batches that wait for a commit, at most; then 503

    def __post_init__(self) -> None:
        for name in ("body", "burst", "connections", "pages", "grace", "retry", "group", "queue"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < (name != "grace"):
                least = int(name != "grace")
                raise InvalidParameter(f"{name} is a whole number from {least} upwards, not {found(number)}")
        for name in ("patience", "rate"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e9:
                raise InvalidParameter(f"{name} is a positive number, not {found(number)}")
        for name in ("origins", "proxies", "relays"):
            listed = getattr(self, name)
            if not isinstance(listed, list | tuple) or not all(isinstance(text, str) for text in listed):
                raise InvalidParameter(f"{name} is a list of texts, not {found(listed)}")
            object.__setattr__(self, name, tuple(listed))
        for name in ("proxies", "relays"):
            Networks(getattr(self, name), name)
        for origin in self.origins:  # one that no browser sends would never match
            if not _ORIGIN.fullmatch(origin):
                raise InvalidParameter(
                    f"origins: {origin!r}; an origin is what browsers send: scheme, host and a port that is "
                    "not the usual one, in small letters, without a path, such as https://city.example"
                )

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Return the settings of a TOML file, in which every key may be left out."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise InvalidParameter(f"the settings are not valid TOML: {error}") from None
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
    """Return an address without its zone; an IPv4 address in IPv6 is that of IPv4. None if it is none."""
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


_LOGGER: Final = logging.getLogger("dither.collection")


class LogLine(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(
            timespec="milliseconds"
        )
        facts = getattr(record, "facts", {})
        line = {"time": when, "level": record.levelname.lower(), "event": record.getMessage(), **facts}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__  # the kind alone: a message may quote what was sent
        return json.dumps(line, ensure_ascii=False)


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event with public facts."""
    _LOGGER.log(level, event, extra={"facts": facts})


class FewLines(logging.Filter):
    """Passes so many lines of one text a minute: whoever sends invalid requests does not fill the disk.

    The next line after a minute says how many were left out.
    """

    def __init__(self, most: int = 10, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most, self._clock = most, clock
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        now, text = self._clock(), str(record.msg)
        begin, count = self._seen.get(text, (now, 0))
        if now - begin >= _MINUTE:
            if count > self._most:
                record.facts = {**getattr(record, "facts", {}), "left out": count - self._most}
            begin, count = now, 0
        self._seen[text] = (begin, count + 1)
        return count < self._most


_MINUTE: Final = 60.0


def to_stderr() -> None:
    """Write logs as JSON lines to standard error, those of the server included."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLine())
    handler.addFilter(FewLines())
    for name in ("dither.collection", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "dither.collection" else logging.WARNING)


class Reason(Enum):
    """Why a batch was not accepted. The value is what answers, metrics and the page show."""

    BODY = "body"  # damaged, cut off, not canonical, or no batch at all
    FORM = "form"  # a content type that is neither JSON nor packed
    SEALED = "sealed"  # an encrypted request that cannot be opened: another key, or changed on the way
    REQUEST = "request"  # encrypted, and neither a batch nor the reading of a campaign
    SIZE = "size"  # more bytes than are allowed
    SLOW = "slow"  # the body did not arrive in time
    RATE = "rate"  # too many reports from one address
    CAMPAIGN = "campaign"  # no such campaign
    RETIRED = "retired"
    EARLY = "early"  # before the first day of the campaign
    LATE = "late"  # after its last day, and the days of grace
    FINGERPRINT = "fingerprint"  # a question that the campaign does not ask
    LABEL = "label"  # a label that the campaign does not list
    REPORT = "report"  # no device could have sent it
    MANY = "many"  # more reports to a question than one person has
    CONFLICT = "conflict"  # a known identity with other bytes

    @property
    def status(self) -> int:
        """The status code of the answer."""
        return _STATUS.get(self, 422)

    @property
    def words(self) -> str:
        """One sentence for whoever reads the answer."""
        return _WORDS[self]


_STATUS = {
    Reason.BODY: 400,
    Reason.FORM: 415,
    Reason.SEALED: 400,
    Reason.REQUEST: 400,
    Reason.SIZE: 413,
    Reason.SLOW: 408,
    Reason.RATE: 429,
    Reason.CAMPAIGN: 404,
    Reason.RETIRED: 410,
    Reason.EARLY: 403,
    Reason.LATE: 410,
    Reason.CONFLICT: 409,
}
_WORDS = {
    Reason.BODY: "the body is not a batch of version 2, or it is damaged",
    Reason.FORM: "send application/vnd.dither.batch or application/json; message/ohttp-req to the gateway",
    Reason.SEALED: "the encrypted request cannot be opened with a key of this collector",
    Reason.REQUEST: "encrypted requests are the POST of a batch and the GET of a campaign or of the list",
    Reason.SIZE: "the body has more bytes than this collector accepts; send fewer reports in a batch",
    Reason.SLOW: "the body did not arrive in time; send the same bytes again",
    Reason.RATE: "too many reports from this address; send the same bytes again later",
    Reason.CAMPAIGN: "this collector has no such campaign",
    Reason.RETIRED: "the campaign was retired; nothing is collected any more",
    Reason.EARLY: "the campaign has not begun",
    Reason.LATE: "the campaign has ended",
    Reason.FINGERPRINT: "the campaign does not ask this question",
    Reason.LABEL: "the campaign does not list this label",
    Reason.REPORT: "a report is one that no device could have sent",
    Reason.MANY: "a batch holds one report to a question; send the others in batches of their own",
    Reason.CONFLICT: "a batch of this identity and with other bytes was stored before",
}


class BatchRefused(Exception):
    """A batch is not accepted, for a reason that is counted. Nothing of it is stored."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.words)
        self.reason = reason


def on_hangup(act: Callable[[], Any]) -> None:
    """Call a function in a thread whenever SIGHUP comes, where a loop runs in the main thread."""
    loop = asyncio.get_running_loop()

    def safely() -> None:
        try:
            act()
        except Exception:  # such as a file that is not a campaign: what was published before goes on
            logging.getLogger("dither.collection").exception("reloading failed")

    try:
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, safely))
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        # Windows has no such signal; in another thread than the main one, as in tests, none is handled.
        return


PRIVATE: Final = "dither-private-key-1:"  # begins the file; what it is for follows, and 64 digits
_SIGNS, _OPENS = PRIVATE + "ed25519:", PRIVATE + "x25519:"
_LEAST_TOKEN: Final = 16  # characters


def make_key(path: Path) -> Ed25519PrivateKey:
    """Draw a key and write it to a new file that its owner alone may read."""
    return _key(_write(path, _SIGNS + secrets.token_hex(32)), path)


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the key of a file; raise InvalidParameter if it is none, or if others may read it."""
    return _key(_private(path, "a key"), path)


def make_sealing_key(path: Path) -> X25519PrivateKey:
    """Draw a key that opens encrypted requests, and write it to a new file that its owner alone may read."""
    return _sealing_key(_write(path, _OPENS + secrets.token_hex(32)), path)


def read_sealing_key(path: Path) -> X25519PrivateKey:
    """Return the key of a file; raise InvalidParameter if it is none, or if others may read it."""
    return _sealing_key(_private(path, "a sealing key"), path)


def public_part(key: Ed25519PrivateKey | X25519PrivateKey) -> str:
    """Return the public key of a private one, as 64 hexadecimal digits."""
    return key.public_key().public_bytes_raw().hex()


def read_token(path: Path) -> str:
    """Return the token of a file; raise InvalidParameter if it is short, or if others may read it."""
    token = _private(path, "a token")
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise InvalidParameter(
            f"{path}: a token has at least {_LEAST_TOKEN} printable ASCII characters; draw it at random"
        )
    return token


def refuse_private(what: str, text: object) -> None:
    """Raise InvalidParameter if a private key is given where a public one belongs."""
    if isinstance(text, str) and text.lstrip().startswith("dither-private-key"):
        raise InvalidParameter(
            f"{what} is a public key, and this is a private one: whoever reads it can act in your name. "
            "Replace it if anybody saw it; `dither serve` and `dither campaign` print the public one"
        )


def _key(text: str, path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(
        _secret(text, _SIGNS, f"{path} is not a key that signs; `dither campaign publish` makes one")
    )


def _sealing_key(text: str, path: Path) -> X25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(
        _secret(text, _OPENS, f"{path} is not a sealing key; `dither campaign sealing-key FILE` makes one")
    )


def _secret(text: str, kind: str, otherwise: str) -> bytes:
    try:
        data = bytes.fromhex(text.removeprefix(kind))
    except ValueError:
        data = b""
    if not text.startswith(kind) or len(data) != 32:
        raise InvalidParameter(otherwise)
    return data


def _write(path: Path, text: str) -> str:
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise InvalidParameter(f"{path} exists already; a key is never replaced") from None
    with os.fdopen(handle, "w") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    return text


def _private(path: Path, what: str) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path} is not {what}") from None
    except FileNotFoundError:
        raise InvalidParameter(f"there is no file {path} with {what}") from None
    if os.name == "posix" and mode & 0o077:
        raise InvalidParameter(f"{path} may be read by others; say chmod 600 {path}, if it is yours")
    return text
