"""A server that answers batches as a hostile or broken collector might, or a page in its place."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dither.core.batch import BatchBody
from tests.collection.campaigns import published

FATES = ("acknowledged", "dropped", "kept")
_REASONS = {200: "OK", 301: "Moved", 409: "Conflict"}
_PAGES = ("", "{}", "null", "[]", "<html>Sign in</html>", '{"error":"no"}', "[" * 3000, '{"batch":1}', "{")
_WORDS = ("body", "size", "form", "fingerprint", "report", "many", "retired", "late")
_LATER = ("early", "campaign", "slow", "rate", "sealed", "")
_FOR_GOOD = (400, 410, 413, 415, 422)
_STATUSES = (200, 201, 202, 204, 206, 226, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 408, 409)
_MORE = (410, 413, 415, 418, 422, 429, 451, 500, 502, 503, 504, 511, 599)
_ODD = (b"", b"\0", b"hello\r\n\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n")


def write(status: int, content: str, fields: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Return an answer as HTTP/1.1 writes it."""
    head = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Other')}"]
    head += [f"{name}: {value}" for name, value in fields]
    data = content.encode()
    head += [f"content-length: {len(data)}", "connection: close"]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + data


def response(number: int, batch: str, other: str = "http://127.0.0.1:1/") -> tuple[bytes, str | None]:
    """Return hostile answer number so-and-so to a batch, and what must become of the batch.

    The latter is None if the bytes were changed at random, so that libraries may read different things.
    """
    picked = random.Random(f"hostile {number}")
    named, kind = json.dumps({"batch": batch}), picked.randrange(9)
    stranger = json.dumps({"batch": picked.randbytes(16).hex()})
    status = picked.choice((*_STATUSES, *_MORE))
    after = picked.choice(["1", "-1", "1e9", "soon", "9" * 30, "nan"])
    fields = (("location", other), ("retry-after", after))
    if kind == 0:
        return write(picked.choice((200, 201, 202)), named, fields), "acknowledged"
    if kind == 1:
        return write(409, json.dumps({"refused": "conflict", "words": "x"})), "acknowledged"
    if kind == 2:
        refusal = json.dumps({"refused": picked.choice(_WORDS), "words": "x" * picked.randrange(99)})
        return write(picked.choice(_FOR_GOOD), refusal, fields), "dropped"
    if kind == 3:
        later = json.dumps({"refused": picked.choice(_LATER)})
        return write(picked.choice((403, 404, 408, 429, 503)), later), "kept"
    if kind == 4:
        return write(status, picked.choice((*_PAGES, stranger)), fields), "kept"
    if kind == 5:
        return write(picked.choice((301, 302, 303, 307, 308)), named, fields), "kept"
    if kind == 6:  # too long, or with too many fields
        many = tuple((f"x-{at}", "y" * 40) for at in range(picked.choice((150, 1500, 3000))))
        page = (" " * picked.choice((1 << 16, 1 << 17)) + named, ())
        return write(200, *page) if picked.random() < 0.5 else write(200, "{}", many), "kept"
    if kind == 7:
        cut = write(200, named)
        late = len(cut) - 1 - picked.randrange(len(named))
        end = picked.choice((picked.randrange(len(cut)), late))
        return picked.choice((*_ODD, cut[:end])), "kept"
    content = picked.choice((named, '{"refused":"conflict"}'))
    changed = bytearray(write(picked.choice((200, 409, 422)), content, fields))
    for _ in range(picked.randrange(1, 9)):
        at = picked.randrange(len(changed))
        if picked.random() < 0.5:
            changed[at] = picked.randrange(256)
        elif picked.random() < 0.5:
            changed[at:at] = picked.randbytes(picked.randrange(5))
        else:
            del changed[at : at + picked.randrange(5)]
    return bytes(changed), None


def plausible(fate: str, answer: bytes, batch: str) -> bool:
    """Return whether bytes that were changed at random may have such an effect: nothing comes of nothing."""
    if fate == "acknowledged":
        return batch.encode() in answer or b"conflict" in answer
    return fate == "kept" or b"refused" in answer


@dataclass
class Hostile:
    """What a server was sent: by the first part of the path, the identity of the batch."""

    port: int
    batches: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


# A connection, the first part of the path and the identity of the batch; or the last part, and nothing.
Act = Callable[[socket.socket, str, str], None]


def _batch_of(body: bytes) -> str:
    return BatchBody.from_bytes(body).id if body[:1] != b"{" else str(json.loads(body).get("batch", ""))


@contextmanager
def serving(act: Act) -> Iterator[Hostile]:
    """A server on this machine that reads each request, does as it is told and closes the connection."""

    def take(link: socket.socket) -> None:
        with link, contextlib.suppress(OSError, ValueError):
            link.settimeout(30)
            request = b""
            while b"\r\n\r\n" not in request:
                request += _more(link)
            head, _, body = request.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            while len(body) < length:
                body += _more(link)
            parts = head.split(b" ")[1].decode().split("/")
            batch = _batch_of(body) if body else ""
            made.batches[parts[1]] = batch
            act(link, parts[1] if batch else parts[-1], batch)
            link.shutdown(socket.SHUT_WR)
            while link.recv(1 << 16):  # a reset would take the answer away
                pass

    def listen() -> None:
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=take, args=(link,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        made = Hostile(server.getsockname()[1])
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown(socket.SHUT_RDWR)  # closing alone does not wake a thread that accepts


def _more(link: socket.socket) -> bytes:
    part = link.recv(1 << 16)
    if not part:
        raise ValueError("cut off")
    return part


def _fuzzing(link: socket.socket, first: str, batch: str) -> None:
    """Answer with the hostile answer whose number is the first part of the path."""
    link.sendall(response(int(first), batch)[0])


def flood(head: bytes, part: bytes) -> Act:
    """Return what writes a head, and then parts without an end, as fast as they are taken."""

    def act(link: socket.socket, first: str, batch: str) -> None:
        link.sendall(head)
        while True:
            link.sendall(part)

    return act


def drip(head: bytes, part: bytes) -> Act:
    """Return what writes a head, and then a part every 10 milliseconds without an end."""

    def act(link: socket.socket, first: str, batch: str) -> None:
        link.sendall(head)
        waits = threading.Event()
        while not waits.wait(0.01):
            link.sendall(part)

    return act


_OK = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _OK + b"transfer-encoding: chunked\r\n\r\n"
ENDLESS: dict[str, tuple[bytes, bytes]] = {
    "a body": (_OK + b"\r\n", b" " * (1 << 16)),
    "a body of stated length": (_OK + b"content-length: 99999999999\r\n\r\n", b" " * (1 << 16)),
    "one field": (_OK + b"x: ", b"y" * (1 << 16)),
    "fields": (_OK, b"x: y\r\n" * 1000),
    "a status line": (b"HTTP/1.1 200 ", b"O" * (1 << 16)),
    "informational answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "chunks": (_CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n"),
    "a chunk of stated length": (_CHUNKED + b"fffffffffff\r\n", b" " * (1 << 16)),
    "an extension of a chunk": (_CHUNKED + b"1;", b"x" * (1 << 16)),
    "trailers": (_CHUNKED + b"2\r\n{}\r\n0\r\n", b"x: y\r\n" * 1000),
}


# A client is a function of the server, the number of requests and the seconds of each wait. It sends one
# report that waits to /n/batches for each number n, and returns what became of the batch.
Fates = Callable[[Hostile, int, float], list[str]]
SIGNED = published()
SOON, LATE = 0.05, 10.0  # seconds of each wait; three are the deadline


def _campaign_or(act: Act) -> Act:
    """Answer what is read with the campaign, and batches as told."""

    def both(link: socket.socket, first: str, batch: str) -> None:
        if batch:
            act(link, first, batch)
        else:
            link.sendall(write(404 if first == "list" else 200, SIGNED.to_json()))

    return both


def check_hostile(fates: Fates, many: int) -> None:
    """Send to a server with as many hostile answers."""
    with serving(_campaign_or(_fuzzing)) as server:
        found = fates(server, many, LATE)
    assert len(found) == many
    wrong, expected = [], Counter[str]()
    for number, fate in enumerate(found):
        batch = server.batches[str(number)]
        answer, right = response(number, batch)
        expected[right or "changed"] += 1
        if fate != right if right else not plausible(fate, answer, batch):
            wrong.append((number, fate, right, answer[:300]))
    assert wrong == []
    assert all(expected[fate] >= 4 for fate in (*FATES, "changed"))


def check_endless(fates: Fates) -> None:
    """Send to servers that write without an end, as fast as they can and byte after byte."""
    kinds = [(make, *parts) for make in (flood, drip) for parts in ENDLESS.values()]

    def act(link: socket.socket, first: str, batch: str) -> None:
        make, head, part = kinds[int(first)]
        make(head, part if make is flood else part[:1])(link, first, batch)

    with serving(_campaign_or(act)) as server:
        assert fates(server, len(kinds), SOON) == ["kept"] * len(kinds)


def check_redirects(fates: Fates) -> None:
    """Send to a server that sends everything on to one that acknowledges."""

    def moved(link: socket.socket, first: str, batch: str) -> None:
        there = f"{other.address}/{first}/batches"
        link.sendall(write((301, 302, 303, 307, 308)[int(first)], "", (("location", there),)))

    def named(link: socket.socket, first: str, batch: str) -> None:
        link.sendall(write(200, json.dumps({"batch": batch})))

    with serving(named) as other, serving(_campaign_or(moved)) as server:
        assert fates(server, 5, LATE) == ["kept"] * 5
        assert other.batches == {}
