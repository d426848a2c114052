"""Limits on the connections of a collector: their number and time, and the bytes of heads and trailers."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from enum import Enum, auto
from typing import Any, Final

from dither.collection.settings import Networks, Settings, limited_as

HEAD: Final = (
    1 << 16
)  # largest number of bytes of a head, of trailers, and of requests that wait for earlier answers
FIELDS: Final = 256  # largest number of header fields: in memory, many short ones take 30 times their bytes
_PIECE: Final = 1 << 12  # bytes of a chunked body that are parsed before they are counted
_END: Final = b"\r\n\r\n"
_OFFERS: Final = re.compile(rb"^upgrade:[^\n]*\n", re.IGNORECASE | re.MULTILINE)


class Connections:
    """The number of open connections of every address, up to a limit. Proxies and relays are not counted."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.connections
        self._free = Networks((*settings.proxies, *settings.relays))
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a connection; return whether it is within the limit. `leave` must follow in either case."""
        name = limited_as(address)
        self._open[name] += 1
        return self._open[name] <= self._most or address in self._free

    def leave(self, address: str) -> None:
        """Stop counting a connection."""
        name = limited_as(address)
        self._open[name] -= 1
        if self._open[name] <= 0:
            del self._open[name]


class _Part(Enum):
    """The part of a request that the next byte belongs to."""

    HEAD = auto()
    BODY = auto()  # a body of a stated length
    CHUNKS = auto()  # a chunked body and its trailers
    NONE = auto()  # the request is complete; the next one waits for its answer


def protocol(settings: Settings) -> Any:
    """Return uvicorn's HTTP protocol with limits on bytes, time and connections.

    - A head has at most 64 KiB and 256 fields, and so have the trailers of a chunked body; trailers are not
      kept. The bytes are counted as they arrive; above the limit the connection is closed.
    - A head has `patience` seconds from its first byte, the remainder of the request twice that time. An
    early answer does not change this deadline. A client that reads nothing for `patience` seconds is
    disconnected. - Requests on one connection are parsed one after the other, each after the previous one was
    answered. - The header `Upgrade` is removed: `httptools` drops the body of a request that has it, and the
    HTTP client of Java sends it with every request, to offer HTTP/2.
    """
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    connections, patience = Connections(settings), settings.patience

    class Limited(HttpToolsProtocol):
        """The HTTP protocol of one connection, with the limits."""

        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            self._address = "unix"
            self._timer: asyncio.TimerHandle | None = None
            self._held = bytearray()  # received and not yet parsed
            self._part = _Part.NONE
            self._counted = 0  # bytes of this head, or since the last byte of a chunked body
            self._left = 0  # bytes of a body of stated length that are still to come
            self._late = 0  # bytes of a chunked body that came after the answer
            self._before = b""  # the last bytes that were parsed of a chunked body
            self._deaf = False  # True if further input is dropped
            self._deadline: float | None = None
            self._unread = (0, 0.0)  # size of the write buffer, and since when

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            peer = transport.get_extra_info("peername")
            self._address = str(peer[0]) if isinstance(peer, tuple) and peer else "unix"
            if not connections.enter(self._address):
                transport.abort()
                return
            self._deadline = self.loop.time() + patience
            self._timer = self.loop.call_later(patience, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.leave(self._address)
            if self._timer is not None:
                self._timer.cancel()
            self._deaf = True
            self._held.clear()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._deaf:
                return
            partial = bool(self._held) and self._part is _Part.HEAD
            self._held += data
            if not partial or b"\n" in data or self._counted + len(self._held) > HEAD:
                self._parse()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._held:
                self.loop.call_soon(self._parse)

        def _parse(self) -> None:
            """Pass the received bytes to the parser, up to the end of the first unanswered request."""
            while self._held and not self._deaf and not self.transport.is_closing():
                if self._part is _Part.NONE and not self._begin():
                    return
                if self._part is _Part.HEAD:
                    piece = self._head()
                elif self._part is _Part.BODY:
                    piece = self._take(self._left)
                    self._left -= len(piece)
                else:
                    piece = self._chunks()
                if piece is None:
                    return
                super().data_received(piece)
                if self._part is _Part.CHUNKS and self._counted > HEAD:
                    self._abort()

        def _begin(self) -> bool:
            """Begin the next request; return False if it has to wait for an answer."""
            if self.cycle is None or self.cycle.response_complete:
                self._part, self._counted = _Part.HEAD, 0
                self._deadline = self.loop.time() + patience
                return True
            if len(self._held) > HEAD:  # too many bytes: close after the present answer
                self.cycle.keep_alive, self._deaf = False, True
                self._held.clear()
            else:
                self.flow.pause_reading()
            return False

        def _take(self, size: int) -> bytes:
            piece = bytes(self._held[:size])
            del self._held[:size]
            return piece

        def _head(self) -> bytes | None:
            """Return the complete lines of a head without `Upgrade` headers, up to its end; or None."""
            held = self._held
            if held.startswith(b"\r\n"):
                size = 2
            else:
                found = held.find(_END)
                size = found + len(_END) if found >= 0 else held.rfind(b"\n") + 1
            if self._counted + (size or len(held)) > HEAD:
                self._abort()
                return None
            if not size and held[:1].isalpha():
                return None
            self._counted += size
            # Bytes that do not begin with a letter are not HTTP: the parser rejects them without one.
            return _OFFERS.sub(b"", self._take(size)) if size else self._take(len(held))

        def _chunks(self) -> bytes | None:
            """Return a piece of a chunked body, up to a possible end of the request."""
            if self.cycle.response_complete:
                self._late += len(self._held)
                if self._late > settings.body + HEAD:  # parsing costs time, and the result is not needed
                    self._deaf = True
                    self._held.clear()
                    return None
            found = (self._before + self._held[:_PIECE]).find(_END)
            size = _PIECE if found < 0 else found + len(_END) - len(self._before)
            piece = self._take(size)
            self._before = b"" if found >= 0 else (self._before + piece)[-3:]
            self._counted += len(piece)
            return piece

        def on_header(self, name: bytes, value: bytes) -> None:
            if self._part is _Part.CHUNKS:
                return  # trailers are not used
            if len(self.headers) >= FIELDS:
                raise ValueError("too many header fields")
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._part, self._counted, self._late, self._before = _Part.CHUNKS, 0, 0, b""
            for name, value in self.headers:
                if name == b"content-length":
                    self._part, self._left = _Part.BODY, int(value)
            self._deadline = self.loop.time() + 2 * patience
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._counted = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._part, self._deadline = _Part.NONE, None
            super().on_message_complete()

        def _abort(self) -> None:
            self._deaf = True
            self._held.clear()
            self.transport.abort()

        def _look(self) -> None:
            """Close the connection after its deadline or if its client no longer reads; else check later."""
            now, size = self.loop.time(), self.transport.get_write_buffer_size()
            if not size or size != self._unread[0]:
                self._unread = (size, now)
            if size and now - self._unread[1] >= 0.999 * patience:
                self._abort()
                return
            left = patience if self._deadline is None else self._deadline - now
            if left <= 0.001 * patience:
                self._abort() if size else self.transport.close()
                return
            self._timer = self.loop.call_later(min(left, patience), self._look)

    return Limited
