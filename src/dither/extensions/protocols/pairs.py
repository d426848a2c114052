"""Pairing by three servers; no single server knows the pairs."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from dither.errors import ExchangeFailed, InvalidParameter, MissingExtra
from dither.extensions.protocols.exchange import Deadline
from dither.extensions.protocols.messages import Certificates
from dither.extensions.protocols.pairing import Pairing, check_number

SERVERS: Final = 3
# The prime of secp256k1. A share contains an address or a secret. A random bit needs a square root, which is
# a single power because the prime is 3 modulo 4.
PRIME: Final = (1 << 256) - (1 << 32) - 977
NUMBER: Final = 32  # bytes of a number


def combine(shares: Sequence[object]) -> int:
    """Return the number that three shares determine; raise ExchangeFailed if they are not on one line."""
    if len(shares) != SERVERS or not all(type(share) is int and 0 <= share < PRIME for share in shares):
        raise ExchangeFailed(f"a number comes in {SERVERS} shares, each below the prime")
    first, second, third = (share for share in shares if isinstance(share, int))
    if (first - 2 * second + third) % PRIME:
        raise ExchangeFailed("the three shares do not fit together: they are not on one line")
    return (2 * first - second) % PRIME


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
        common = []  # too few devices to pair
    shares = await shared_places(mpc, random, [records[number] for number in common]) if common else []
    await mpc.shutdown()
    return {"common": common, "shares": shares}


async def _seen_by_all(mpc: Any, names: list[str], records: list[int]) -> list[int]:
    """Return the indices of the devices with the same name and record at all three servers."""
    field = mpc.SecFld(modulus=PRIME)
    sizes = await mpc.output(mpc.input(field(len(names))))
    if len({int(size) for size in sizes}) != 1:
        raise SystemExit(
            "expected the same number of devices at all servers; start them again with the same --people"
        )
    seen = [_digest(name, record) for name, record in zip(names, records, strict=True)]
    lists = [await mpc.output(listed) for listed in mpc.input([field(number) for number in seen])]
    everywhere = set.intersection(*({int(number) for number in shares} for shares in lists))
    return [index for index, number in enumerate(seen) if number in everywhere]


def _digest(name: str, record: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{name} {record}".encode()).digest()[:31], "little")


async def shared_places(mpc: Any, random: Any, records: list[int]) -> list[list[int]]:
    """Shuffle once, among connected servers; return this server's two shares for every device.

    The shares are of 2·(partner's record) + role and of the pair's secret. If the number of devices is odd,
    the record of one device's partner is 0.
    """
    field = mpc.SecFld(modulus=PRIME)
    even = len(records) + len(records) % 2
    order = [list(row) for row in enumerate([*records, 0][:even])]
    random.shuffle(field, order)
    drawn = mpc.input([field(secrets.randbelow(PRIME)) for _ in range(even // 2)])
    keys = [first + second + third for first, second, third in zip(*drawn, strict=True)]
    rows = [[order[index][0], 2 * order[index ^ 1][1] + index % 2, keys[index // 2]] for index in range(even)]
    random.shuffle(field, rows)
    devices = [int(device) for device in await mpc.output([row[0] for row in rows])]
    # A product has fresh random shares: the three shares reveal the number and nothing else.
    unit = mpc.input(field(1), senders=0)
    fresh = await mpc.gather(mpc.scalar_mul(unit, [cell for row in rows for cell in row[1:]]))
    shares = [int(share) for share in fresh]
    by_device = {device: shares[2 * at : 2 * at + 2] for at, device in enumerate(devices)}
    return [by_device[device] for device in range(len(records))]


def replace_pickle(runtime: Any) -> None:
    """Make MPyC's runtime parse numbers instead of pickles: another server's pickle could run code."""
    runtime.pickle = SimpleNamespace(dumps=lambda number: str(int(number)).encode(), loads=int)


def _replace_sockets(mpc: Any, servers: list[str], index: int, tls: list[str] | None) -> None:
    """Make MPyC listen at one address, not on every interface, with TLS if there are certificates."""
    loop, host = mpc._loop, servers[index].rpartition(":")[0]
    create, connect = loop.create_server, loop.create_connection
    certificates = None if tls is None else Certificates(*map(Path, tls))

    async def create_there(factory: object, **options: object) -> asyncio.Server:
        options["ssl"] = None if certificates is None else certificates.server()
        server: asyncio.Server = await create(factory, host=host, **options)
        return server

    async def connect_safely(factory: object, host: str, port: int, **options: object) -> object:
        options["ssl"] = None if certificates is None else certificates.client()
        options["server_hostname"] = None if certificates is None else host
        return await connect(factory, host, port, **options)

    loop.create_server, loop.create_connection = create_there, connect_safely


if __name__ == "__main__":
    main()


LOOPBACK: Final = "127.0.0.1"
Shares = dict[int, tuple[int, int]]  # index of the device → shares of its slot and of its pair's secret


def shuffle_pairs(n: int, *, timeout: float = 120.0) -> Pairing:
    """Return a pairing by three servers on this machine; only for studies, since one party runs all three."""
    check_number(n)
    deadline = Deadline.after(timeout)
    servers = [f"{LOOPBACK}:{port}" for port in free_ports(SERVERS)]
    names, records = [str(device) for device in range(n)], list(range(1, n + 1))
    running = [begin_share(names, records, index, servers) for index in range(SERVERS)]
    try:
        held = [end_share(process, n, deadline) for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()
    partners = [combine([shares[device][0] for shares in held]) // 2 - 1 for device in range(n)]
    return Pairing(tuple(who if who >= 0 else device for device, who in enumerate(partners)), "shuffled")


def begin_share(
    names: Sequence[str],
    records: Sequence[int],
    index: int,
    servers: Sequence[str],
    tls: Certificates | None = None,
) -> subprocess.Popen[str]:
    """Start the process of one of the three servers. It pairs devices with these names and records."""
    check_servers(index, servers)
    files = None if tls is None else [str(file) for file in (tls.certificate, tls.key, tls.authority)]
    task = {
        "names": list(names),
        "records": list(records),
        "index": index,
        "servers": list(servers),
        "tls": files,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "dither.extensions.protocols.pairs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if process.stdin is not None:
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
    return process


def check_servers(index: int, servers: Sequence[str]) -> None:
    """Raise InvalidParameter unless these are three different addresses, MissingExtra without mpyc."""
    if find_spec("mpyc") is None:
        raise MissingExtra("pairing by three servers", "servers")
    if len(set(servers)) != SERVERS or len(servers) != SERVERS or not 0 <= index < SERVERS:
        raise InvalidParameter("expected three servers with different addresses and an index from 0 to 2")
    for address in servers:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise InvalidParameter("expected the address of a server as HOST:PORT")


def end_share(process: subprocess.Popen[str], n: int, deadline: Deadline) -> Shares:
    """Return one server's shares for the devices that all servers saw; raise ExchangeFailed otherwise."""
    try:
        out, _ = process.communicate(timeout=deadline.left)
    except (subprocess.TimeoutExpired, ExchangeFailed):
        process.kill()
        process.communicate()
        raise ExchangeFailed("the servers did not finish their shuffle in time") from None
    try:
        data = json.loads(out)
        shares = {
            int(number): (int(a), int(b))
            for number, (a, b) in zip(data["common"], data["shares"], strict=True)
        }
    except (ValueError, TypeError, KeyError):
        raise ExchangeFailed(
            "a server's part of the shuffle failed; did all three see the same devices?"
        ) from None
    if not all(0 <= share < n for share in shares) or not all(
        0 <= share < PRIME for both in shares.values() for share in both
    ):
        raise ExchangeFailed("a server gave invalid shares, or shares for devices that did not enrol")
    return shares


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nothing listens now."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports
