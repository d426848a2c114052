"""One request and its complete answer, also of a hostile server; docs/wire.md has the rules."""

from __future__ import annotations

import io
import re
import socket
import time
from http.client import HTTPConnection, HTTPSConnection

from dither_device.text import Malformed, need, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 1 << 16  # bytes of an answer
_MOST_HEAD = 1 << 16  # bytes of its head, and of the frames of its content
WAITS = 3  # the complete exchange takes at most this number of timeouts
_CONFLICT = 409
_FOR_GOOD = (400, 410, 413, 415, 422)  # statuses of batches that a collector will never take
_NOT_FINAL = ("", "sealed", "label")  # nobody's word; the request; a mistake of the app
_LOCAL = r"localhost|\[::1\]|127(\.(25[0-5]|(2[0-4]|1[0-9]|[1-9])?[0-9])){3}"
_ADDRESS = re.compile(
    rf"(?P<scheme>https)://(?P<host>[^\s\\/?#@]+)(?P<path>/[^\s\\?#]*)?"
    rf"|(?P<plain>http)://(?P<near>({_LOCAL})(:[0-9]+)?)(?P<way>/[^\s\\?#]*)?",
    re.IGNORECASE,
)


def split_address(address: object) -> tuple[str, str, str]:
    """Return scheme, host with port, and path; raise Malformed unless it is https, or this machine."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None:
        raise Malformed("address", "use one such as https://telemetry.example, so that nobody reads along")
    scheme = (found["scheme"] or found["plain"]).lower()
    host = found["host"] or found["near"]
    _split_port(scheme, host)
    return scheme, host, (found["path"] or found["way"] or "").rstrip("/")


def _split_port(scheme: str, host: str) -> tuple[str, int]:
    name, colon, digits = host.rpartition(":")
    if not colon or "]" in digits:
        name, digits = host, "443" if scheme == "https" else "80"
    fine = name and digits.isascii() and digits.isdecimal() and 0 < int(digits) < 1 << 16
    need(fine, "address", "a host, and perhaps a colon and a port")
    return name.strip("[]"), int(digits)


def exchange(
    address: str,
    method: str,
    body: bytes,
    form: str,
    timeout: float = 10.0,
    most: int = MOST,
    *,
    query: str = "",
    more: Mapping[str, str] | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """Return status, fields and body of an answer; no redirect is followed, no cookie kept.

    `query` follows the path after a question mark; `more` are further header fields. `timeout`, in seconds,
    holds for each wait, and three times as long for the complete exchange. Raise an OSError, an HTTPException
    or Malformed without a complete answer of at most `most` bytes.
    """
    scheme, host, path = split_address(address)
    name, port = _split_port(scheme, host)
    wire = _Wire(scheme, name, port, timeout, most + _MOST_HEAD)
    try:
        link = (HTTPSConnection if scheme == "https" else HTTPConnection)(name, port)
        link.sock = wire
        fields = {"user-agent": "dither-device", **({"content-type": form} if form else {}), **(more or {})}
        link.request(method, (path or "/") + (f"?{query}" if query else ""), body or None, fields)
        answer = link.getresponse()
        reported = {field.lower(): value for field, value in answer.getheaders()}
        content = answer.read(most + 1)  # without a number, as much memory is taken as the answer states
        need(len(content) > most or not answer.length, "text", "the answer was cut off")
    finally:
        wire.disconnect()
    need(len(content) <= most, "size", "the answer is too long")
    return answer.status, reported, content


def judge(batch: str, status: int, content: bytes) -> tuple[str, str]:
    """Return the fate of a batch after an answer, and the collector's word for a refusal, or "".

    A 2xx that names the batch, or a conflict (stored under another label), is "acknowledged". A refusal in
    the collector's own words is "dropped"; any other answer is "kept".
    """
    said, word = _read(content)
    if said.get("batch") == batch if 200 <= status < 300 else status == _CONFLICT and word == "conflict":
        return "acknowledged", word
    return "dropped" if status in _FOR_GOOD and word not in _NOT_FINAL else "kept", word


def judge_withdrawal(batch: str, status: int, content: bytes) -> tuple[bool, str]:
    """Return whether the collector withdrew a batch, and its word for a refusal, or ""."""
    said, word = _read(content)
    return 200 <= status < 300 and said.get("withdrawn") == batch, word


def _read(content: bytes) -> tuple[dict[str, object], str]:
    """Return the object of an answer, or an empty one, and the collector's word for a refusal, or ""."""
    try:
        said = parse(content.decode(), MOST)
    except (Malformed, UnicodeDecodeError):
        said = None
    if not isinstance(said, dict):
        return {}, ""
    refused = said.get("refused")
    return said, refused if isinstance(refused, str) else ""


class _Wire(io.RawIOBase):
    """A connection with a deadline for all that happens on it, and a limit of the bytes that are read.

    It has the methods of a socket that `http.client` uses: `sendall`, `makefile` and `close`. The latter is
    called before an answer is read, and `disconnect` at the end.
    """

    def __init__(self, scheme: str, host: str, port: int, timeout: float, most: int) -> None:
        """Connect, with the handshake of TLS if needed."""
        self._timeout, self._left = timeout, most
        self._deadline = time.monotonic() + WAITS * timeout
        failed: Exception = OSError("it has no address")
        for family, kind, protocol, _, position in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            self._socket = socket.socket(family, kind, protocol)
            try:
                self._socket.settimeout(self._wait())
                self._socket.connect(position)
                if scheme == "https":
                    from ssl import create_default_context

                    self._socket.settimeout(self._wait())
                    self._socket = create_default_context().wrap_socket(self._socket, server_hostname=host)
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
        """Read available bytes; raise TimeoutError at the deadline, Malformed above the limit of bytes."""
        self._socket.settimeout(self._wait())
        size = self._socket.recv_into(buffer)
        self._left -= size
        need(self._left >= 0, "size", "the answer is too long")
        return size

    def close(self) -> None:
        """Leave the connection open."""

    def disconnect(self) -> None:
        """Close the connection."""
        self._socket.close()
