"""A cold start of a device in Python: answer and durable queue, above a bare interpreter with sqlite3."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.signer import Signer

ROUNDS = 25
GOALS = {"milliseconds": 25.0, "megabytes": 6.0}
SOURCE = Path(__file__).parents[2] / "clients" / "python" / "src"
CAMPAIGN = """
[campaign]
name = "usage"
asker = "mytool"
contact = "mytool.example"
purpose = "Which commands are used."
begins = 2020-01-01
ends = 2120-01-01
repeat = "fresh"

[questions.command]
categories = ["build", "test", "other"]
mechanism = "KRR"
epsilon = 1
"""
BARE = "import sqlite3"
DEVICE = """
from dither_device import Telemetry
tool = Telemetry.from_campaign("campaign.json", app="mytool", address="https://telemetry.example")
tool.background = False  # the process that sends is another one
assert tool.answer("command", "build") == "drawn"
"""
LIBRARY = """
import dither as dt
from pathlib import Path
from dither.collection.published import Published
contract = Published.from_json(Path("campaign.json").read_text()).contract
with dt.Account.open("dither.collection.account") as account:
    account.answer(contract.asking("command"), "build")
"""
PEAK = """
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""


def cost(code: str, environment: dict[str, str]) -> tuple[float, float]:
    """Return milliseconds of processor time and megabytes of one process."""
    job = subprocess.Popen(
        [sys.executable, "-c", code + PEAK], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert job.stdout is not None
    peak = job.stdout.read()
    _, status, usage = os.wait4(job.pid, 0)
    job.stdout.close()
    job.returncode = os.waitstatus_to_exitcode(status)
    assert job.returncode == 0
    return 1e3 * (usage.ru_utime + usage.ru_stime), int(peak) / 1024


def main() -> None:
    """Print what an answer takes above the bare interpreter, and how many times the library takes it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        published = Signer(Path("asker.key"), make=True).publish(Campaign.from_toml(CAMPAIGN))
        Path("campaign.json").write_text(published.to_json(), encoding="utf-8")
        dt.Account.create("dither.collection.account", epsilon=1000).close()
        environment = {
            **os.environ,
            "HOME": folder,
            "PYTHONPATH": str(SOURCE),
            "DITHER_ACCOUNT": "tool.account",
        }
        for name in ("PYTHONDONTWRITEBYTECODE", "CI", "DO_NOT_TRACK", "NO_TELEMETRY", "SUDO_UID"):
            environment.pop(name, None)
        dt.Account.create("tool.account", epsilon=1000).close()
        on = (
            "from dither_device import Telemetry\n"
            "Telemetry('campaign.json', app='mytool', address='https://telemetry.example').run('on')\n"
        )
        programs = {"bare": BARE, "device": DEVICE, "library": LIBRARY}
        for code in (on, *programs.values()):  # compiled once, and the campaign verified once
            cost(code, environment)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
        for _ in range(ROUNDS):
            for name, code in programs.items():
                found[name].append(cost(code, environment))
        medians = {
            name: [statistics.median(column) for column in zip(*rows, strict=True)]
            for name, rows in found.items()
        }
    print(f"{'':12} {'bare':>8} {'device':>8} {'above':>8} {'goal':>6} {'library above':>14}")
    for at, (unit, goal) in enumerate(GOALS.items()):
        bare, device, library = (medians[name][at] for name in programs)
        above = device - bare
        print(f"{unit:12} {bare:8.1f} {device:8.1f} {above:8.1f} {goal:6.0f} {library - bare:14.1f}")


if __name__ == "__main__":
    main()
