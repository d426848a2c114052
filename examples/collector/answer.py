"""A person's device in Python: it reads the campaign, says what is promised, answers and sends.

python answer.py http://127.0.0.1:8000/v1/campaigns/4014…          the address that `dither serve` prints
"""

from __future__ import annotations

import sys
from pathlib import Path

import dither as dt
from dither.collection import Client

account = Path("me.account")
if not account.exists():
    dt.Account.create(account, epsilon=4).close()

with dt.Account.open(account) as me:
    client = Client(sys.argv[1], me)  # key="…" pins the asker's key
    print(client.promise)
    print(client.dry_run("minutes"))
    client.answer("minutes", 25)
    client.answer("travel", "bus")
    print(client.send())
    print(me.left)
