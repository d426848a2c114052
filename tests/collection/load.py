"""A load of batches over sockets: keep-alive connections that know what was acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from dither.collection.campaign import Campaign
from dither.core.batch import PACKED, BatchBody


@dataclass
class Told:
    """What a load found out: batches by identity, and how long each answer took."""

    acknowledged: dict[str, bytes] = field(default_factory=dict)
    doubtful: dict[str, bytes] = field(default_factory=dict)  # sent, and no answer came
    statuses: dict[int, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def batches(contract: Campaign, seed: int, reports: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield batches without end: their identities and packed bodies."""
    random = np.random.default_rng(seed)
    minutes, browser = contract.questions["minutes"], contract.questions["browser"]
    while True:
        data = random.bytes(16 + 2 * reports)
        pairs = [(minutes.fingerprint, data[at : at + 2]) for at in range(16, len(data), 2)]
        if data[0] % 4 == 0:  # some have two parts
            pairs.append((browser.fingerprint, bytes([data[1] % 4])))
        yield data[:16].hex(), BatchBody.of(data[:16].hex(), pairs, ("", "1.0")[data[2] % 2]).to_bytes()


def request(path: str, body: bytes, form: str = PACKED) -> bytes:
    """Return the bytes of a request."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {form}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return the status and the body of the next answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
    return int(head[9:12]), await reader.readexactly(size)


async def _connection(
    port: int, path: str, source: Iterator[tuple[str, bytes]], told: Told, until: float, form: str
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.monotonic() < until:
            one = next(source, None)
            if one is None:
                return
            name, body = one
            told.doubtful[name] = body
            began = time.perf_counter()
            writer.write(request(path, body, form))
            status, _ = await answer(reader)
            told.seconds.append(time.perf_counter() - began)
            told.statuses[status] = told.statuses.get(status, 0) + 1
            if status == 200:
                told.acknowledged[name] = told.doubtful.pop(name)
    finally:
        writer.close()


async def send(
    port: int,
    path: str,
    source: Iterable[tuple[str, bytes]],
    connections: int = 16,
    seconds: float = 3600.0,
    told: Told | None = None,
    form: str = PACKED,
) -> Told:
    """Send batches until there are no more, the time is over, or the collector is gone."""
    told, shared = Told() if told is None else told, iter(source)
    until = time.monotonic() + seconds
    links = [_connection(port, path, shared, told, until, form) for _ in range(connections)]
    await asyncio.gather(*links, return_exceptions=True)
    return told
