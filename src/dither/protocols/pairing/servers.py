"""Pairing by three servers, none of which knows the pairs if no two of them collude. Each is a process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from dither.errors import ExchangeFailed, InvalidParameter, MissingExtra
from dither.protocols.net.streams import Deadline
from dither.protocols.net.tls import Certificates
from dither.protocols.pairing.grouping import SHUFFLED, Pairing, check_number
from dither.protocols.pairing.shares import PRIME, SERVERS, combine

LOOPBACK: Final = "127.0.0.1"
Shares = dict[int, tuple[int, int]]  # by the index of the device: of its place, and of its pair's secret


def shuffle_pairs(n: int, *, timeout: float = 120.0) -> Pairing:
    """Return a pairing by three servers on this machine. For studies, since one party runs all three."""
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
    return Pairing(tuple(who if who >= 0 else one for one, who in enumerate(partners)), SHUFFLED)


def begin_share(
    names: Sequence[str],
    records: Sequence[int],
    index: int,
    servers: Sequence[str],
    tls: Certificates | None = None,
) -> subprocess.Popen[str]:
    """Start the process of one of the three servers, which pairs devices with these names and records."""
    check_servers(index, servers)
    files = None if tls is None else [str(one) for one in (tls.certificate, tls.key, tls.authority)]
    task = {
        "names": list(names),
        "records": list(records),
        "index": index,
        "servers": list(servers),
        "tls": files,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "dither.protocols.pairing.shuffling"],
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
        raise MissingExtra("pairing by three servers", "protocols")
    if len(set(servers)) != SERVERS or len(servers) != SERVERS or not 0 <= index < SERVERS:
        raise InvalidParameter("three servers shuffle, each with its own address and an index from 0 to 2")
    for address in servers:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise InvalidParameter("the address of a server has the form HOST:PORT")


def end_share(process: subprocess.Popen[str], n: int, deadline: Deadline) -> Shares:
    """Return one server's shares for the devices that all servers saw; raise ExchangeFailed otherwise."""
    try:
        out, _ = process.communicate(timeout=deadline.left)
    except (subprocess.TimeoutExpired, ExchangeFailed):
        process.kill()
        process.communicate()
        raise ExchangeFailed("the servers did not finish their shuffle in time") from None
    try:
        told = json.loads(out)
        shares = {
            int(one): (int(a), int(b)) for one, (a, b) in zip(told["common"], told["shares"], strict=True)
        }
    except (ValueError, TypeError, KeyError):
        raise ExchangeFailed(
            "a server's part of the shuffle failed; did all three see the same devices?"
        ) from None
    if not all(0 <= one < n for one in shares) or not all(
        0 <= share < PRIME for both in shares.values() for share in both
    ):
        raise ExchangeFailed("a server gave shares that are none, or for devices that did not enrol")
    return shares


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nothing listens now."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
