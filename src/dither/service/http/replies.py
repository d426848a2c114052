"""Short answers, without a framework's objects: the intake is the hot path of a collector."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final

from dither.service.refusal import Reason

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

_ALWAYS: Final = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_RETRY: Final = {408: b"1", 429: b"10", 503: b"5"}  # seconds after which to try again, by status


async def reply(send: Send, status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send an answer in JSON."""
    given = [*_ALWAYS, (b"content-length", b"%d" % len(body)), *headers]
    if status in _RETRY:
        given.append((b"retry-after", _RETRY[status]))
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body})


def refusal_body(reason: Reason) -> bytes:
    """Return the answer to a batch that is refused."""
    return json.dumps({"refused": reason.value, "words": reason.words}).encode()


def header(scope: Mapping[str, Any], name: bytes) -> bytes | None:
    """Return a header of a request by its lower-case name; None if there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def content_type(scope: Mapping[str, Any]) -> str:
    """Return the content type of a request in lower case, without parameters; "" if there is none."""
    given = header(scope, b"content-type") or b""
    return given.partition(b";")[0].strip().lower().decode("latin-1")


def cors(scope: Mapping[str, Any], origins: tuple[str, ...]) -> Headers:
    """Return the headers that let a page of an allowed origin read the answer."""
    origin = header(scope, b"origin")
    if origin is None or not origins:
        return []
    if "*" in origins:
        return [(b"access-control-allow-origin", b"*")]
    if origin.decode("latin-1") in origins:
        return [(b"access-control-allow-origin", origin), (b"vary", b"origin")]
    return [(b"vary", b"origin")]
