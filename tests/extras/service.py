import datetime
import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import dither as dt
from dither.collection import Client

dither = [sys.executable, "-I", "-m", "dither"]
sealing = subprocess.run(
    [*dither, "campaign", "sealing-key", "sealing.key"], stdout=subprocess.PIPE, text=True, check=True
)
today = datetime.date.today()
Path("campaign.toml").write_text(
    f"""
[campaign]
name = "commute"
version = 1
{sealing.stdout}asker = "City of X"
contact = "data@x.example"
purpose = "to plan buses"
begins = {today - datetime.timedelta(1)}
ends = {today + datetime.timedelta(9)}
people = 2
repeat = "fresh"

[questions.minutes]
interval = [0, 180]
epsilon = 1
""",
    encoding="utf-8",
)
words = [
    *dither,
    "serve",
    "campaign.toml",
    "--port",
    "0",
    "--json",
    "--new-key",
    "--sealing-key",
    "sealing.key",
]
with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
    try:
        assert server.stdout is not None
        (address,) = json.loads(server.stdout.readline())["campaigns"]
        with dt.Account.create("person.account", epsilon=3, policy=dt.privacy.Policy(epsilon=1.1)) as account:
            client = Client(address, account)
            for minutes in (30.0, 60.0):
                client.answer("minutes", minutes)
            assert client.contract.sealing_key is not None  # what is sent is encrypted
            assert client.send().reports == 2
        with urllib.request.urlopen(f"{address}/answers.json") as answer:
            (row,) = json.load(answer)["rows"]
        assert row["n"] == 2, row
    finally:
        server.terminate()
assert server.returncode in (0, -signal.SIGTERM)
