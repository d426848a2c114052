"""The messages of one exchange with fixed randomness.

`python -m tests.extensions.protocols.golden` writes them anew.

Run it only when the version of the protocol changes: another implementation is held to the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path

import dither as dt
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.messages import VERSION
from tests.support.sources import Shake

FILE = Path(__file__).parent / f"exchange-{VERSION}.json"


def exchange() -> dict[str, list[object]]:
    """Return the messages of both devices, in the order in which they are sent, and the coins of each."""
    terms = Terms(dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2), bits=4)
    vars(terms)["digest"] = bytes(range(32))  # how a question is hashed is not what is tested here
    options = {"context": b"pair", "secret": bytes(range(32, 64))}
    first, second = (Exchange(terms, role, 3, source=Shake(role.name), **options) for role in Role)
    second.start()
    messages, turn = [first.start()], 0
    while messages[-1]:
        messages.append((second, first)[turn % 2].receive(messages[-1]))
        turn += 1
    coins = [[coin.truthful[0] for coin in side.coins()] for side in (first, second)]
    return {"messages": [message.hex() for message in messages[:-1]], "coins": list(coins)}


if __name__ == "__main__":
    FILE.write_text(json.dumps(exchange(), indent=1) + "\n", encoding="utf-8")
