"""One of three servers that pair devices by secret sharing.

Run by `python -m dither.protocols.pairing.shuffling`.

It reads its task from standard input and writes its shares to standard output, as JSON. MPyC keeps its state
in the process and reads the command line when it is imported, so each server is a process of its own.

Each device has a record, its address as an integer, which all three servers know. The records are put in a
secret uniform order, for which no party chooses a sorting key. Neighbours in it are partners, and each pair
gets a random secret to which all three servers contribute. The rows (device, partner's record and role,
secret) are shuffled again, and the first column is opened. It is in random order, so it reveals nothing. The
other columns stay shared: one share alone is a uniform random number, so a single server knows neither a
device's partner nor a pair's secret. Any two servers together know both.

Only devices that all three servers have seen with the same name and record are paired.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dither.protocols.net.tls import Certificates
from dither.protocols.pairing.shares import PRIME


def main() -> None:
    """Run this server's part of one shuffle."""
    task = json.loads(sys.stdin.readline())
    sys.argv = ["shuffling", "-I", str(task["index"]), "--no-log"]
    for address in task["servers"]:
        sys.argv += ["-P", address]
    import mpyc.random
    import mpyc.runtime
    from mpyc.runtime import mpc

    replace_pickle(mpyc.runtime)
    _replace_sockets(mpc, task["servers"], task["index"], task["tls"])
    json.dump(mpc.run(_shuffle(mpc, mpyc.random, task["names"], task["records"])), sys.stdout)


async def _shuffle(mpc: Any, random: Any, names: list[str], records: list[int]) -> dict[str, Any]:
    await mpc.start()
    common = await _seen_by_all(mpc, names, records)
    if len(common) < 2:
        common = []  # nobody can be paired
    shares = await shared_places(mpc, random, [records[one] for one in common]) if common else []
    await mpc.shutdown()
    return {"common": common, "shares": shares}


async def _seen_by_all(mpc: Any, names: list[str], records: list[int]) -> list[int]:
    """Return the indices of the devices that all three servers have seen alike."""
    field = mpc.SecFld(modulus=PRIME)
    sizes = await mpc.output(mpc.input(field(len(names))))
    if len({int(size) for size in sizes}) != 1:
        raise SystemExit("the servers do not wait for the same number of devices")
    seen = [_digest(name, record) for name, record in zip(names, records, strict=True)]
    lists = [await mpc.output(one) for one in mpc.input([field(number) for number in seen])]
    everywhere = set.intersection(*({int(number) for number in one} for one in lists))
    return [index for index, number in enumerate(seen) if number in everywhere]


def _digest(name: str, record: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{name} {record}".encode()).digest()[:31], "little")


async def shared_places(mpc: Any, random: Any, records: list[int]) -> list[list[int]]:
    """Shuffle once, among connected servers; return this server's two shares for every device.

    They are shares of 2·(partner's record) + role, and of the pair's secret. If the number of devices is odd,
    the record of one device's partner is 0.
    """
    field = mpc.SecFld(modulus=PRIME)
    even = len(records) + len(records) % 2
    order = [list(row) for row in enumerate([*records, 0][:even])]
    random.shuffle(field, order)
    drawn = mpc.input([field(secrets.randbelow(PRIME)) for _ in range(even // 2)])
    keys = [one + two + three for one, two, three in zip(*drawn, strict=True)]
    rows = [[order[place][0], 2 * order[place ^ 1][1] + place % 2, keys[place // 2]] for place in range(even)]
    random.shuffle(field, rows)
    devices = [int(one) for one in await mpc.output([row[0] for row in rows])]
    # A product is shared with fresh randomness: the three shares reveal the number and nothing else.
    one = mpc.input(field(1), senders=0)
    fresh = await mpc.gather(mpc.scalar_mul(one, [cell for row in rows for cell in row[1:]]))
    shares = [int(share) for share in fresh]
    by_device = {device: shares[2 * at : 2 * at + 2] for at, device in enumerate(devices)}
    return [by_device[device] for device in range(len(records))]


def replace_pickle(runtime: Any) -> None:
    """Make MPyC's runtime read numbers where it would unpickle: a pickle of another server could run code."""
    runtime.pickle = SimpleNamespace(dumps=lambda number: str(int(number)).encode(), loads=int)


def _replace_sockets(mpc: Any, servers: list[str], index: int, tls: list[str] | None) -> None:
    """Make MPyC listen at one address, not on every interface, and inside TLS if there are certificates."""
    loop, host = mpc._loop, servers[index].rpartition(":")[0]
    create, connect = loop.create_server, loop.create_connection
    certificates = None if tls is None else Certificates(*map(Path, tls))

    async def create_there(factory: Any, **options: Any) -> asyncio.Server:
        options["ssl"] = None if certificates is None else certificates.server()
        server: asyncio.Server = await create(factory, host=host, **options)
        return server

    async def connect_safely(factory: Any, host: str, port: int, **options: Any) -> Any:
        options["ssl"] = None if certificates is None else certificates.client()
        options["server_hostname"] = None if certificates is None else host
        return await connect(factory, host, port, **options)

    loop.create_server, loop.create_connection = create_there, connect_safely


if __name__ == "__main__":
    main()
