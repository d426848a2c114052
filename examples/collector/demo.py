"""The collector from end to end on this machine: 100 000 devices answer, and the page becomes a picture.

python examples/collector/demo.py [--keep] [FOLDER]

It starts `dither serve` on loopback with a new store in a temporary folder, lets devices answer (250 of them
run the JavaScript client in Node, the others are drawn here and sent 100 devices to a batch, as a gateway
would: the campaign allows it with one more term), compares the answers with the truth, and stops the
collector. With --keep the collector runs until you press Ctrl-C, and its addresses are printed.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import dither as dt
from dither.collection.published import Published
from dither.core.batch import BatchBody

HERE = Path(__file__).parent
DEVICES, IN_NODE, TOGETHER = 100_000, 250, 100
TRAVEL = {"bus": 0.30, "car": 0.45, "bicycle": 0.15, "on foot": 0.10}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def main() -> None:
    """Run the demonstration; the picture goes to the folder that was named, or to demo-output."""
    folders = [word for word in sys.argv[1:] if word != "--keep"]
    run(Path(folders[0] if folders else "demo-output"), keep="--keep" in sys.argv[1:])


def run(folder: Path, *, keep: bool = False) -> None:
    """Start a collector, let devices answer, compare with the truth, write the page; stop unless `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        server, page, campaign = start(Path(place))
        try:
            print("A collector is running on this machine.\n")
            node = in_node(campaign)
            truth, sent = in_python(campaign, DEVICES - (IN_NODE if node else 0))
            counted = int(node.communicate()[0] or 0) // 2 if node else 0
            print(
                f"{sent} devices answered here, and {counted} by the JavaScript client.\n"
                if node
                else f"{sent} devices answered here; there is no Node, so none by the JavaScript client.\n"
            )
            compare(campaign, truth)
            print(picture(page, folder))
            if keep:
                wait(page, campaign)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=40)
    print(f"The collector has stopped. All of it took {time.monotonic() - began:.0f} seconds.")


def wait(page: str, campaign: str) -> None:
    """Print the addresses of a collector that keeps running, and return when Ctrl-C is pressed."""
    print(f"\nThe collector keeps running; Ctrl-C stops it.\n\n  page      {page}\n  campaign  {campaign}\n")
    try:
        signal.pause()
    except KeyboardInterrupt:
        print()


def start(place: Path) -> tuple[subprocess.Popen[str], str, str]:
    """Start the collector on a free port; return it with the addresses of its page and its campaign."""
    terms = (HERE / "campaign.toml").read_text(encoding="utf-8")
    file = place / "campaign.toml"
    gateway = f"reports_a_batch = {TOGETHER}\nlabels = "
    file.write_text(terms.replace("labels = ", gateway), encoding="utf-8")
    command = [sys.executable, "-m", "dither", "serve", str(file), "--new-key", "--port", "0"]
    options = ["--store", str(place / "store.sqlite"), "--settings", str(HERE / "limits.toml")]
    server = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    addresses: dict[str, str] = {}
    while "client" not in addresses:
        line = server.stdout.readline() if server.stdout else ""
        if not line:
            raise SystemExit(
                "the collector did not start; run `dither serve examples/collector/campaign.toml --new-key`"
            )
        name, _, address = line.partition(" ")
        addresses[name] = address.strip()
    for _ in range(100):
        try:
            urllib.request.urlopen(addresses["campaign"], timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    return server, addresses["page"], addresses["campaign"]


def in_node(campaign: str) -> subprocess.Popen[str] | None:
    """Start devices that run the JavaScript client; None where there is no Node."""
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if node is None:
        return None
    return subprocess.Popen(
        [node, str(HERE / "devices.mjs"), campaign, str(IN_NODE), "7"], stdout=subprocess.PIPE, text=True
    )


def in_python(campaign: str, devices: int) -> tuple[dict[str, float], int]:
    """Draw the reports of devices and send them; return the truth, and how many were acknowledged."""
    with urllib.request.urlopen(campaign) as answer:
        contract = Published.from_json(answer.read()).contract
    rng = np.random.default_rng(2026)
    minutes = 180 * rng.beta(2, 5, devices)
    travel = rng.choice(list(TRAVEL), devices, p=list(TRAVEL.values()))
    drawn = {
        mechanism.fingerprint: mechanism.perturb(values)
        for (name, mechanism), values in zip(contract.questions.items(), (minutes, travel), strict=True)
    }
    raw = {name: as_bytes(reports) for name, reports in drawn.items()}
    parts = urlsplit(campaign)
    link = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    acknowledged = 0
    for first in range(0, devices, TOGETHER):
        some = [(name, one) for name, all_of in raw.items() for one in all_of[first : first + TOGETHER]]
        body = BatchBody.of(os.urandom(16).hex(), some, "phone").to_bytes()
        link.request("POST", f"{parts.path}/batches", body, {"content-type": "application/vnd.dither.batch"})
        answer = link.getresponse()
        answer.read()
        acknowledged += (answer.status == 200) * len(some) // 2
    link.close()
    shares = {f"travel, {name}": float(np.mean(travel == name)) for name in TRAVEL}
    return {"minutes": float(minutes.mean()), **shares}, acknowledged


def as_bytes(reports: dt.Reports) -> list[bytes]:
    """Return every report as the bytes that a device sends."""
    size = reports.question.report_bytes
    data = np.ascontiguousarray(reports.cells).astype(reports.cells.dtype.newbyteorder("<")).tobytes()
    return [data[at : at + size] for at in range(0, len(data), size)]


def compare(campaign: str, truth: dict[str, float]) -> None:
    """Print the collector's estimates next to the truth."""
    print(f"  {'':16} {'truth':>8} {'estimate':>10}  95 % interval, at any time")
    with urllib.request.urlopen(f"{campaign}/answers.json") as answer:
        rows = json.load(answer)["rows"]
    for row in rows:
        name = row["question"] if row["answer"] is None else f"{row['question']}, {row['answer']}"
        print(f"  {name:16} {truth[name]:8.3f} {row['value']:10.3f}  {row['low']:.3f} – {row['high']:.3f}")
    print()


def complete(page: str) -> bytes:
    """Return the page once all of it is computed, after at most a minute: distributions follow the means."""
    for _ in range(120):
        with urllib.request.urlopen(page) as answer:
            content: bytes = answer.read()
        if b"being computed" not in content:
            break
        time.sleep(0.5)
    return content


def picture(page: str, folder: Path) -> str:
    """Write the page as a picture, or as HTML where there is no browser; return a sentence about it."""
    content = complete(page)
    browser = next((found for found in map(shutil.which, BROWSERS) if found), None)
    file = folder / "collector.png"
    if browser is not None:
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1100,1600",
        ]
        with tempfile.TemporaryDirectory() as profile:
            command = [browser, *options, f"--user-data-dir={profile}"]
            try:
                subprocess.run(
                    [*command, f"--screenshot={file.resolve()}", page],
                    capture_output=True,
                    timeout=40,
                    check=True,
                )
                return f"The page is in {file}."
            except (OSError, subprocess.SubprocessError):
                pass
    file = folder / "collector.html"
    file.write_bytes(content)
    return f"The page is in {file}; where Chromium is installed it is a picture."


if __name__ == "__main__":
    main()
