"""Pairing by three servers, none of which knows the pairs if no two of them collude. Each is a process."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from dither.errors import ExchangeFailed, InvalidParameter, MissingExtra
from dither.protocols.net.streams import Deadline
from dither.protocols.pairing.grouping import SHUFFLED, Pairing, check_number
from dither.protocols.pairing.shuffling import PRIME

SERVERS: Final = 3
LOOPBACK: Final = "127.0.0.1"


def shuffle_pairs(n: int, *, timeout: float = 120.0) -> Pairing:
    """Return a pairing by three servers on this machine. For studies, since one party runs all three."""
    check_number(n)
    deadline = Deadline.after(timeout)
    servers = [f"{LOOPBACK}:{port}" for port in _free_ports(SERVERS)]
    running = [begin_share(n, index, servers, b"") for index in range(SERVERS)]
    try:
        held = [end_share(process, n, deadline) for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()
    partners = [combine([shares[device] for shares in held]) for device in range(n)]
    return Pairing(tuple(who if who < n else one for one, who in enumerate(partners)), SHUFFLED)


def begin_share(n: int, index: int, servers: Sequence[str], names: bytes) -> subprocess.Popen[str]:
    """Start the process of one of the three servers; `names` must be the same for all three."""
    check_servers(index, servers)
    agreed = hashlib.sha256(names).hexdigest()
    task = json.dumps({"n": n, "index": index, "servers": list(servers), "agreed": agreed})
    process = subprocess.Popen(
        [sys.executable, "-m", "dither.protocols.pairing.shuffling"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if process.stdin is not None:
        process.stdin.write(task + "\n")
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


def end_share(process: subprocess.Popen[str], n: int, deadline: Deadline) -> list[int]:
    """Return one server's shares, one for each device; raise ExchangeFailed if its process failed."""
    try:
        out, _ = process.communicate(timeout=deadline.left)
    except (subprocess.TimeoutExpired, ExchangeFailed):
        process.kill()
        process.communicate()
        raise ExchangeFailed("the servers did not finish their shuffle in time") from None
    try:
        shares = json.loads(out)["shares"]
    except (ValueError, TypeError, KeyError):
        raise ExchangeFailed(
            "a server's part of the shuffle failed; did all three see the same devices?"
        ) from None
    if len(shares) != n:
        raise ExchangeFailed("a server gave another number of shares than there are devices")
    return [int(share) for share in shares]


def combine(shares: Sequence[object]) -> int:
    """Return the number that three shares stand for: the value at 0 of the line through them at 1, 2, 3."""
    if len(shares) != SERVERS or not all(type(share) is int and 0 <= share < PRIME for share in shares):
        raise ExchangeFailed(f"a partner comes in {SERVERS} shares below {PRIME}")
    one, two, three = (share for share in shares if isinstance(share, int))
    if (one - 2 * two + three) % PRIME:
        raise ExchangeFailed("the three shares do not fit together: they are not on one line")
    return (2 * one - two) % PRIME


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
