"""One request to a collector and its complete answer, also if the collector is broken or hostile.

docs/wire.md says which addresses a device may use, how long and how large an answer may be, and which answers
acknowledge a batch.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

from dither.core.wire import loads
from dither.errors import DitherError, InvalidParameter, MalformedReport, found

TIMEOUT: Final = 10.0  # seconds of each wait
WAITS: Final = 3  # the whole exchange takes at most as many timeouts: 30 seconds
MOST_ANSWER: Final = 1 << 16  # bytes of an answer to a batch
MOST_CAMPAIGN: Final = 1 << 22  # bytes of a campaign, or of a list of campaigns
_MOST_HEAD: Final = 1 << 16  # bytes of the head of an answer, and of what frames its content
_ADDRESS: Final = re.compile(
    r"(https://[^\s\\/?#@]+"
    r"|http://(localhost|\[::1\]|127(\.(25[0-5]|(2[0-4]|1[0-9]|[1-9])?[0-9])){3})(:[0-9]+)?)"
    r"(/[^\s\\?#]*)?",
    re.IGNORECASE,
)
_CONFLICT: Final = 409
_FOR_GOOD: Final = (400, 410, 413, 415, 422)


class Unreachable(DitherError, ConnectionError):
    """A collector does not answer, or answers something else than what was asked for."""


class HttpAnswer(NamedTuple):
    """The answer to a request."""

    status: int
    form: str  # the content type
    content: bytes
    retry_after: str


class Verdict(NamedTuple):
    """What becomes of a batch after an answer, and the collector's word for a refusal, or an empty text."""

    fate: Literal["acknowledged", "dropped", "kept"]
    word: str


def check_address(address: object) -> SplitResult:
    """Return the parts of an address; raise InvalidParameter unless it is https, or of this machine."""
    if not isinstance(address, str):
        raise InvalidParameter(f"an address is a text such as https://…/v1/campaigns/…, not {found(address)}")
    try:
        parts = urlsplit(address.rstrip("/"))
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if usable and _ADDRESS.fullmatch(address):
        return parts
    if usable and parts.scheme == "http" and _ADDRESS.fullmatch(re.sub("^http:", "https:", address)):
        raise InvalidParameter(f"{parts.hostname} is not this machine: use https, so that nobody reads along")
    raise InvalidParameter(
        f"expected an address such as https://…/v1/campaigns/…, got {found(address)}; leave out names of "
        "users, queries and fragments"
    )


def exchange(
    to: SplitResult,
    method: str,
    path: str,
    body: bytes = b"",
    fields: Mapping[str, str] | None = None,
    *,
    timeout: float = TIMEOUT,
    most: int = MOST_ANSWER,
) -> HttpAnswer:
    """Send a request and return its answer; no redirect is followed and no cookie kept.

    `timeout` is the limit of each wait, in seconds. Raise Unreachable if the answer is not complete after
    three timeouts, has more than `most` bytes, or is not HTTP.
    """
    wire = None
    place = f"{to.scheme}://{to.netloc}"
    try:
        wire = _Wire(to, timeout, most + _MOST_HEAD)
        secure = to.scheme == "https"
        link = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(
            to.hostname or "", to.port
        )
        link.sock = wire
        link.request(method, path or "/", body or None, dict(fields or {}))
        answer = link.getresponse()
        form, later = answer.getheader("content-type", ""), answer.getheader("retry-after", "")
        content = answer.read(most + 1)  # without a number, as much memory is taken as the answer states
        if len(content) <= most and answer.length:
            raise http.client.IncompleteRead(content)
    except TimeoutError:
        raise Unreachable(f"{place} did not answer completely within {WAITS * timeout:g} s") from None
    except _TooLong:
        raise Unreachable(f"{place} answers with more than {most} bytes") from None
    except OSError as error:
        raise Unreachable(f"{place} does not answer: {error.strerror or error}") from None
    except (http.client.HTTPException, ValueError) as error:
        words = str(error) if type(error) is http.client.HTTPException else type(error).__name__
        raise Unreachable(f"{place} does not answer as a web server does ({words})") from None
    finally:
        if wire is not None:
            wire.disconnect()
    if len(content) > most:
        raise Unreachable(f"{place} answers with more than {most} bytes")
    return HttpAnswer(answer.status, form, content, later)


def judge(batch: str, status: int, content: bytes) -> Verdict:
    """Return what becomes of a batch after an answer to it; `batch` is its identity, as hexadecimal text.

    A 2xx acknowledges it only by its name: a portal, a proxy or another page may answer 200, too. A conflict
    means that these reports are stored, sent before under another label: nobody else knows the identity. It
    is dropped only if the collector has a word for it.
    """
    try:
        said = loads(content.decode(), "an answer", MOST_ANSWER)
    except (MalformedReport, UnicodeDecodeError):
        said = None
    if not isinstance(said, dict):
        return Verdict("kept", "")
    refused = said.get("refused")
    word = refused if isinstance(refused, str) else ""
    if said.get("batch") == batch if 200 <= status < 300 else status == _CONFLICT and word == "conflict":
        return Verdict("acknowledged", word)
    return Verdict("dropped" if status in _FOR_GOOD and word not in ("", "sealed") else "kept", word)


class _TooLong(Exception):
    """More bytes came than were expected."""


class _Wire(io.RawIOBase):
    """A connection with a deadline for all that happens on it, and a limit of the bytes that are read.

    It has what `http.client` uses of a socket: `sendall`, `makefile` and `close`. The latter is called before
    an answer is read, and `disconnect` at the end.
    """

    def __init__(self, to: SplitResult, timeout: float, most: int) -> None:
        """Connect, and do what TLS needs."""
        self._timeout, self._left = timeout, most
        self._deadline = time.monotonic() + WAITS * timeout
        host = to.hostname or ""
        port = to.port or (443 if to.scheme == "https" else 80)
        failed: OSError = OSError("it has no address")
        for family, kind, protocol, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            self._socket = socket.socket(family, kind, protocol)
            try:
                self._socket.settimeout(self._wait())
                self._socket.connect(place)
                if to.scheme == "https":
                    self._socket.settimeout(self._wait())
                    safe = ssl.create_default_context()
                    self._socket = safe.wrap_socket(self._socket, server_hostname=host)
                return
            except OSError as error:
                self._socket.close()
                failed = error
        raise failed

    def _wait(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, self._timeout)

    def sendall(self, data: bytes) -> None:
        """Send bytes, within one wait."""
        self._socket.settimeout(self._wait())
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the stream from which an answer is read."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read what has arrived; raise TimeoutError at the deadline."""
        self._socket.settimeout(self._wait())
        size = self._socket.recv_into(buffer)
        self._left -= size
        if self._left < 0:
            raise _TooLong
        return size

    def close(self) -> None:
        """Leave the connection open."""

    def disconnect(self) -> None:
        """Close the connection."""
        self._socket.close()
