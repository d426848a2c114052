"""One of three servers that pair devices without knowing the pairs.

Run by `python -m dither.protocols.pairing.shuffling`.

It reads its task from standard input and writes its shares to standard output, as JSON. MPyC keeps its state
in the process and reads the command line when it is imported, so each server is a process of its own.

All n devices are put in a secret random order, for which nobody chooses a key. Neighbours in it are partners.
The rows (device, its partner) are shuffled once more, and the first column is opened: it is in random order,
so it says nothing. The second stays shared: each server holds a share of every device's partner, and a share
alone is a random number.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Final

PRIME: Final = (1 << 31) - 1  # shares are numbers below this


def main() -> None:
    """Take part in one shuffle."""
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
    """Shuffle once, among servers that have met, and give this server's share of every device's partner."""
    field = mpc.SecFld(modulus=PRIME)
    even = n + n % 2  # where n is odd, whoever is paired with nobody tosses alone
    order = random.random_permutation(field, even)
    rows = [[order[place], order[place ^ 1]] for place in range(even)]
    random.shuffle(field, rows)
    devices = [int(one) for one in await mpc.output([row[0] for row in rows])]
    # A product is shared afresh: a device that sees all three shares learns its partner and nothing else.
    one = mpc.input(field(1), senders=0)
    shares = [int(share) for share in await mpc.gather(mpc.scalar_mul(one, [row[1] for row in rows]))]
    by_device = dict(zip(devices, shares, strict=True))
    return [by_device[device] for device in range(n)]


def _listen_only_at(mpc: Any, host: str) -> None:
    """Keep MPyC from listening on every interface, which it does by default."""
    loop = mpc._loop
    create = loop.create_server

    async def create_there(factory: Any, **options: Any) -> asyncio.Server:
        server: asyncio.Server = await create(factory, host=host, **options)
        return server

    loop.create_server = create_there


if __name__ == "__main__":
    main()
