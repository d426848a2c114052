"""One of three servers that shuffle many times in a row, for the test of their law: a process of its own."""

from __future__ import annotations

import json
import sys
from typing import Any

from dither.extensions.protocols.pairs import shared_places


def main() -> None:
    task = json.loads(sys.stdin.readline())
    sys.argv = ["shuffling", "-I", str(task["index"]), "--no-log"]
    for address in task["servers"]:
        sys.argv += ["-P", address]
    import mpyc.random
    from mpyc.runtime import mpc

    async def all_shuffles() -> Any:
        await mpc.start()
        records = list(range(1, task["n"] + 1))
        shares = [await shared_places(mpc, mpyc.random, records) for _ in range(task["times"])]
        await mpc.shutdown()
        return shares

    json.dump(mpc.run(all_shuffles()), sys.stdout)


if __name__ == "__main__":
    main()
