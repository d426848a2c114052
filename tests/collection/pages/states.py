"""Collectors in every state that the page knows, and a server for a real browser.

python -m tests.collection.pages.states FOLDER       writes a picture of every state
"""

from __future__ import annotations

import contextlib
import datetime
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.collection.collector import Collector
from dither.collection.live import Slot
from dither.collection.presence import EMPTY_MESSAGE, MESSAGES
from dither.collection.published import Published
from dither.collection.refusals import Reason
from dither.collection.terms import Phase, QuestionTerms
from tests.collection.collectors import make, people, send

FIRST = datetime.date(2026, 5, 4)
STATES = ("full", "days", "few", "empty", "ended", "soon", "wrong", "presence", "first", "phase")
SCALE = ["very bad", "bad", "fair", "good", "very good"]
DAYS = {
    "stars": dt.Podium(dt.Interval(1, 5, step=1), epsilon=2),
    "minutes": dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=2, cells=1 << 12),
    "satisfaction": dt.KRR(dt.Categories(SCALE), epsilon=2),
}
LIVE = "document.getElementById('live')?.textContent.startsWith('Live:')"
HOSTILE = "<script>alert(1)</script>"


def collector_in(state: str) -> tuple[Collector, Published]:
    """Return a collector in a state, and its campaign."""
    if state in ("presence", "first"):
        return _present(24 if state == "presence" else 2)
    day = {"ended": datetime.date(2026, 7, 1), "soon": datetime.date(2026, 4, 1)}.get(state)
    changes: dict[str, Any] = {}
    if state == "wrong":  # a question without a usual answer, and names that want to be tags
        questions = {HOSTILE: dt.KRR(dt.Categories([HOSTILE, "=1+1"]), epsilon=0.5)}
        changes = {"questions": questions, "name": HOSTILE, "purpose": f"{HOSTILE} & more", "labels": ()}
    if state == "days":  # twelve of them, of which two lack, and two labels that differ
        changes = {"questions": DAYS}
    if state == "phase":  # a range that is not known well enough yet
        wide = dt.Interval(0, 1440, unit="minutes").on_scale("log")
        terms = {"minutes": QuestionTerms(scale=wide.scale)}
        changes = {"questions": {"minutes": dt.SW(wide, epsilon=1)}, "phase": Phase(share=0.1), "asks": terms}
    collector, published = make(day or datetime.date(2026, 5, 15 if state == "days" else 12), **changes)
    if state == "days":
        for number in (0, 1, 2, 3, 5, 6, 7, 9, 10, 11):
            when = FIRST + datetime.timedelta(number)
            for label, middle in (("1.0", 3.2), ("1.1", 3.8)):
                rng = np.random.default_rng([number, label == "1.0"])
                stars = np.clip(rng.normal(middle, 1, 2000).round(), 1, 5)
                send(collector, published, "stars", stars, when, label, seed=number)
                minutes = np.clip(rng.gamma(4, 10, 2000), 0, 180)
                send(collector, published, "minutes", minutes, when, label, seed=number)
            answers = rng.choice(SCALE, 4000, p=[0.05, 0.1, 0.2, 0.3, 0.35])
            send(collector, published, "satisfaction", answers, when, "1.1", seed=number)
    if state in ("full", "ended"):
        for number in range(9):
            rng, when = np.random.default_rng(number), FIRST + datetime.timedelta(number)
            minutes = np.clip(people(4000, seed=number)[0] + number, 0, 180)
            send(collector, published, "minutes", minutes, when, "1.0", seed=number)
            answers = rng.choice(["firefox", "chrome", "safari", "other"], 4000, p=[0.2, 0.5, 0.2, 0.1])
            send(collector, published, "browser", answers, when, "1.1", seed=number)
        for reason, count in ((Reason.RATE, 1204), (Reason.LATE, 12), (Reason.REPORT, 3)):
            for _ in range(count):
                collector.refuse(reason, published.id)
    if state == "phase":
        values = np.random.default_rng(1).normal(44, 12, 2000).clip(0, 1440)
        line = published.contract.questions["minutes"].domain.line
        send(collector, published, "minutes", line.positions(values))
    if state == "few":
        minutes, browsers = people(60)
        send(collector, published, "minutes", minutes)
        send(collector, published, "browser", browsers)
    if state == "wrong":
        send(collector, published, HOSTILE, [HOSTILE] * 300)
    return collector, published


def _present(weeks: int) -> tuple[Collector, Published]:
    """Return a collector of presence: 80 devices are installed in each week, and a tenth of all leave."""
    starts = [FIRST + datetime.timedelta(7 * week) for week in range(-1, 30)]
    label = dt.ProjectiveResponse(dt.Categories([day.isoformat() for day in starts]), epsilon=2)
    collector, published = make(
        FIRST + datetime.timedelta(7 * weeks),
        **{"repeat": "present", "every": "week", "expects": 2000, "label_share": 0.7, "people": 20},
        **{"begins": FIRST, "ends": FIRST + datetime.timedelta(209), "questions": {"installed": label}},
        **{"labels": ("1.0 linux", "1.0 mac", "1.1 linux", "1.1 mac")},
        asks={"installed": QuestionTerms(form="installed")},
    )
    rng = np.random.default_rng(59)
    installed = np.concatenate([np.zeros(800, int), np.repeat(np.arange(1, weeks + 1), 80)])
    left = installed + rng.geometric(0.1, installed.size)
    names = np.array([day.isoformat() for day in starts])
    cells = label.perturb(names[installed], source=dt.Seeded(59)).cells
    carries, mac = rng.random(installed.size) < 0.7, rng.random(installed.size) < 0.3
    for week in range(weeks):
        day = FIRST + datetime.timedelta(7 * week)
        active = (np.maximum(installed, 1) <= week + 1) & (week + 1 < left)
        for cell in cells[active & carries]:
            layout = cells.dtype.newbyteorder("<")
            collector.live.add(Slot(published.id, "installed", day, ""), np.asarray(cell, layout).tobytes())
        newer = rng.random(installed.size) < week / 12
        for name, which in (
            ("1.0 linux", ~newer & ~mac), ("1.0 mac", ~newer & mac),
            ("1.1 linux", newer & ~mac), ("1.1 mac", newer & mac),
        ):  # fmt: skip
            count = int(np.sum(active & ~carries & which))
            collector.live.add(Slot(published.id, MESSAGES, day, name), EMPTY_MESSAGE * count)
    return collector, published


@contextlib.contextmanager
def served(collector: Collector, *, campaigns: bool = False, token: str | None = None) -> Iterator[str]:
    """Serve what a collector says on loopback, and maybe its campaigns; the value is its address.

    With a token it is also what operators ask.
    """
    import uvicorn
    from starlette.applications import Starlette

    from dither.collection.web.endpoints import routes_of
    from dither.collection.web.pages import page_handlers
    from dither.collection.web.requests import campaign_handlers, operation_handlers
    from dither.collection.writer import Writer

    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    writer = None if token is None else Writer(collector)
    handlers = page_handlers(collector) | (campaign_handlers(collector) if campaigns else {})
    handlers |= {} if writer is None else operation_handlers(writer, token)
    app = Starlette(routes=routes_of(handlers))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    app.state.stopping = server.should_exit = True
    thread.join(10)
    for end in collector.at_end:
        end()
    if writer is not None:
        writer.close()


def main() -> None:
    from tests.support.chromium import chromium

    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as browser:
        for state in STATES:
            with served(collector_in(state)[0]) as address:
                views = [("", 1100, False)]
                if state in ("full", "few", "days", "presence", "phase"):
                    views += [("-dark", 1280, True), ("-phone", 390, state == "few")]
                for name, width, dark in views:
                    browser.look(width=width, dark=dark)
                    browser.open(f"{address}/", LIVE)
                    browser.wait("!document.body.textContent.includes('being computed')", 120)
                    browser.screenshot(folder / f"{state}{name}.png")
                    print(state, name, browser.problems())


if __name__ == "__main__":
    main()
