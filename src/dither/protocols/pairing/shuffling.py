"""One of three servers that pair devices by secret sharing.

Run by `python -m dither.protocols.pairing.shuffling`.

It reads its task from standard input and writes its shares to standard output, as JSON. MPyC keeps its state
in the process and reads the command line when it is imported, so each server is a process of its own.

The n devices are put in a secret uniform order, for which no party chooses a sorting key. Neighbours in it
are partners. The rows (device, partner) are shuffled again, and the first column is opened. It is in random
order, so it reveals nothing. The second column stays shared: each server holds a share of every device's
partner, and one share alone is a uniform random number.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Final

PRIME: Final = (1 << 31) - 1  # shares are integers below this


def main() -> None:
    """Run this server's part of one shuffle."""
    task = json.loads(sys.stdin.readline())
    sys.argv = ["shuffling", "-I", str(task["index"]), "--no-log"]
    for address in task["servers"]:
        sys.argv += ["-P", address]
    import mpyc.random
    from mpyc.runtime import mpc

    _listen_only_at(mpc, task["servers"][task["index"]].rpartition(":")[0])
    shares = mpc.run(_shuffle(mpc, mpyc.random, task["n"], bytes.fromhex(task["agreed"])))
    json.dump({"shares": shares}, sys.stdout)


async def _shuffle(mpc: Any, random: Any, n: int, agreed: bytes) -> list[int]:
    await mpc.start()
    lists = await mpc.transfer(agreed)
    if len(set(lists)) != 1:
        raise SystemExit("the servers do not see the same devices")
    shares = await shared_partners(mpc, random, n)
    await mpc.shutdown()
    return shares


async def shared_partners(mpc: Any, random: Any, n: int) -> list[int]:
    """Shuffle once, among connected servers, and return this server's share of every device's partner."""
    field = mpc.SecFld(modulus=PRIME)
    even = n + n % 2  # if n is odd, the device paired with index n tosses alone
    order = random.random_permutation(field, even)
    rows = [[order[place], order[place ^ 1]] for place in range(even)]
    random.shuffle(field, rows)
    devices = [int(one) for one in await mpc.output([row[0] for row in rows])]
    # A product is shared with fresh randomness: the three shares reveal the partner and nothing else.
    one = mpc.input(field(1), senders=0)
    shares = [int(share) for share in await mpc.gather(mpc.scalar_mul(one, [row[1] for row in rows]))]
    by_device = dict(zip(devices, shares, strict=True))
    return [by_device[device] for device in range(n)]


def _listen_only_at(mpc: Any, host: str) -> None:
    """Make MPyC listen at one address. By default it listens on every interface."""
    loop = mpc._loop
    create = loop.create_server

    async def create_there(factory: Any, **options: Any) -> asyncio.Server:
        server: asyncio.Server = await create(factory, host=host, **options)
        return server

    loop.create_server = create_there


if __name__ == "__main__":
    main()
