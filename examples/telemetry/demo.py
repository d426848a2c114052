"""Telemetry of a small tool from end to end on this machine: people run it, and a collector counts them.

python examples/telemetry/demo.py [PEOPLE]

It signs the campaign for today alone, starts `dither serve` on loopback, lets three people run tally.py as a
program of its own, with consent, and others answer in this process, each with their own folder. Then it
prints what `dither estimate` reads from the collector, beside the truth.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CLIENT = HERE.parents[1] / "clients" / "python" / "src"
if CLIENT.exists():  # run from the repository; otherwise dither-device is installed
    sys.path.insert(0, str(CLIENT))

from dither_device import Telemetry  # noqa: E402

COMMANDS = {"lines": 0.2, "words": 0.5, "top": 0.3}


def main() -> None:
    """Run the demonstration with so many people."""
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 300)


def run(people: int, least: int = 100) -> dict[str, Any]:
    """Publish, collect, answer, estimate; return the answers of the collector.

    No answer is shown for fewer than `least` reports.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        key = publish(place, least)
        server, campaign, page = start(place)
        collector = campaign.partition("/v1/")[0]
        try:
            for number in range(3):
                print(f"Person {number + 1} runs the program:", run_tool(place, number, collector))
            print(f"The page of the answers: {page}\n")
            truth = answer_for(place, people, key, collector)
            wait_for(collector, 3 * 3 + 3 * people)
            estimate = [sys.executable, "-m", "dither", "estimate", campaign]
            print(subprocess.run(estimate, capture_output=True, text=True, check=True).stdout)
            shares = {name: f"{count / people:.3f}" for name, count in truth.items()}
            print(f"The truth, which nobody sent: {shares}")
            with urllib.request.urlopen(f"{campaign}/answers.json") as answers:
                told: dict[str, Any] = json.loads(answers.read())
            return told
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=40)


def publish(place: Path, least: int) -> str:
    """Sign the campaign, for today alone so that everybody answers now; return the asker's public key."""
    today = datetime.datetime.now(datetime.UTC).date()
    text = (HERE / "campaign.toml").read_text(encoding="utf-8")
    changes = {"2026-01-01": today, "2026-03-31": today, "days = 30": "days = 1"}
    for old, new in {**changes, "people = 100": f"people = {least}"}.items():
        text = text.replace(old, str(new))
    (place / "campaign.toml").write_text(text, encoding="utf-8")
    key = str(place / "asker.key")
    words = ["campaign", "publish", str(place / "campaign.toml"), "--key", key, "--new-key"]
    done = subprocess.run(
        [sys.executable, "-m", "dither", *words, "-o", str(place / "campaign.json"), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return str(json.loads(done.stdout)["key"])


def start(place: Path) -> tuple[subprocess.Popen[str], str, str]:
    """Start the collector on a free port; return it with the addresses of the campaign and of its page."""
    words = [
        "serve",
        str(place / "campaign.json"),
        "--key",
        str(place / "asker.key"),
        "--port",
        "0",
        "--json",
    ]
    limits = HERE.parent / "collector" / "limits.toml"  # all people have the address of this machine
    server = subprocess.Popen(
        [sys.executable, "-m", "dither", *words, "--settings", str(limits)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    places = json.loads(server.stdout.readline() if server.stdout else "{}")
    campaign = places["campaigns"][0]
    return server, campaign, campaign.replace("/v1/campaigns/", "/campaigns/")


def run_tool(place: Path, number: int, collector: str) -> str:
    """Run tally.py with a home of its own: consent first, then a command. Return what it printed."""
    home = place / f"home-{number}"
    home.mkdir()
    environment = {
        **{"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CLIENT), "LANG": "C.UTF-8"},
        **{"TALLY_CAMPAIGN": str(place / "campaign.json"), "TALLY_COLLECTOR": collector},
    }
    told = ""
    for words in (["telemetry", "on"], ["words", str(HERE / "tally.py")]):
        command = [sys.executable, str(HERE / "tally.py"), *words]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return told.strip()


def answer_for(place: Path, people: int, key: str, collector: str) -> Counter[str]:
    """Let people answer in this process, each with their own folder and account; return the true counts."""
    drawn, truth = random.Random(5), Counter[str]()
    for number in range(people):
        tool = Telemetry.from_campaign(
            place / "campaign.json",
            app="tally",
            version="1.0",
            address=collector,
            key=key,
            folder=place / f"person-{number}",
            background=False,
        )
        tool.run("on")
        command = drawn.choices(list(COMMANDS), COMMANDS.values())[0]
        truth[command] += 1
        tool.answer("command", command)
        tool.answer("kilobytes", drawn.expovariate(1 / 200))
        tool.answer("options", ["--ignore-case"] if drawn.random() < 0.4 else [])
        tool.send()
    return truth


def wait_for(collector: str, reports: int) -> None:
    """Wait until the collector has so many reports: three people's are sent by processes of their own."""
    for _ in range(300):
        with urllib.request.urlopen(collector + "/health") as answer:
            if json.loads(answer.read())["reports"] >= reports:
                return
        time.sleep(0.1)
    raise SystemExit("some reports did not arrive")


if __name__ == "__main__":
    main()
