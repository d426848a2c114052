"""What a collector's page, its files and the terminal say about presence."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.live import Slot
from dither.collection.presence import EMPTY_MESSAGE, MESSAGES
from tests.collection.collectors import MONDAY, Asked, make
from tests.support import terminal

pytest.importorskip("starlette")
pytest.importorskip("httpx")
from starlette.applications import Starlette

from dither.collection.web.endpoints import routes_of
from dither.collection.web.pages import page_handlers

WEEKS = [(MONDAY + timedelta(7 * place)).isoformat() for place in range(-1, 13)]


@pytest.fixture(scope="module")
def served() -> Iterator[Any]:
    """A collector whose devices come every week: 60 were there before, 30 are installed in each week."""
    asked = dt.KRR(dt.Categories(WEEKS), epsilon=8)
    collector, published = make(
        MONDAY + timedelta(84),
        repeat="present",
        every="week",
        expects=2000,
        label_share=0.5,
        people=20,
        labels=("1.0",),
        begins=MONDAY,
        ends=MONDAY + timedelta(363),
        questions={"since": asked},
    )
    cells = asked.perturb(np.repeat(WEEKS[:13], [60] + [30] * 12)).cells.astype(np.uint8)
    for week in range(12):
        day = MONDAY + timedelta(7 * week)
        for cell in cells[: 60 + 30 * (week + 1)]:
            collector.live.add(Slot(published.id, "since", day, ""), bytes([cell]))
        for _ in range(50 + week):
            collector.live.add(Slot(published.id, MESSAGES, day, "1.0"), EMPTY_MESSAGE)
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    yield client, published.id
    for end in collector.at_end:
        end()


def test_actives_are_exact_and_the_curve_is_that_of_the_devices(served: Any) -> None:
    client, campaign = served
    base = f"/v1/campaigns/{campaign}/presence"
    rows = list(csv.DictReader(io.StringIO(client.get(f"{base}.csv").text)))
    assert [int(row["devices"]) for row in rows] == [60 + 30 * week + 49 + week for week in range(1, 13)]
    curve = list(csv.DictReader(io.StringIO(client.get(f"{base}.csv?table=retention").text)))
    assert float(curve[0]["value"]) == pytest.approx(1.0, abs=0.05)  # nobody leaves
    assert client.get(f"{base}.csv?table=cohorts").text.startswith("installed,week,after,value")
    assert client.get(f"{base}.csv?table=people").status_code == 400
    assert client.get(f"{base}.xml").status_code == 400
    assert client.get(f"/v1/campaigns/{'0' * 64}/presence.json").status_code == 404
    assert client.get(f"/campaigns/{campaign}/officer").status_code == 200


def test_the_page_has_the_curve_and_the_triangle(served: Any) -> None:
    client, campaign = served
    page = client.get(f"/campaigns/{campaign}").text
    titles = re.findall(r'<h2 id="presence-[a-z]+">([^<]*)', page)
    assert titles == [
        "Devices in use",
        "Devices that come back",
        "Public labels in use",
        "Devices by installation",
    ]
    shown = plain_text(page)
    for words in (
        "481 devices in the week of 2026-07-20, 31 more than in the one before.",
        "are in use 4 weeks after the installation 95 % interval:",
        "Shares in the week of 2026-07-20, of the devices that carry public labels",
        "Estimated devices by weeks since the installation",
        "Each number is an estimate from randomised labels, ± ",
        "That a device is in use in a period is seen: noise does not hide it.",
    ):
        assert words in shown, words
    assert 'data-says="Live: numbers change when a week is over."' in page
    curve = client.get(f"/v1/campaigns/{campaign}/presence.csv?table=retention").text.splitlines()[1:]
    assert page.count('class="curve"') == len(curve) - 1 > 5  # the lines between the numbers
    assert "of them are counted when enough others have come" not in page  # the number that waits
    assert "All answers" not in page


def plain_text(page: str) -> str:
    """Return the words of a page, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).replace("\u202f", " ").split())


def test_a_campaign_without_a_label_promises_no_epsilon() -> None:
    collector, _ = make(
        MONDAY,
        **{"repeat": "present", "every": "week", "expects": 9, "people": 20, "questions": {}, "labels": ()},
    )
    page = Asked(Starlette(routes=routes_of(page_handlers(collector)))).get("/").text
    shown = plain_text(page)
    assert "What is promised to a person No question is asked. That a device is in use" in shown
    assert "ε" not in shown
    assert "No week with enough devices is over yet." in shown
    for end in collector.at_end:
        end()


def test_the_terminal_estimates_retention_from_a_file(served: Any, tmp_path: Path) -> None:
    client, campaign = served
    (tmp_path / "presence.json").write_text(client.get(f"/v1/campaigns/{campaign}/presence.json").text)
    told = terminal.run("estimate", str(tmp_path / "presence.json"), "--retention")
    assert "Devices by week, counted exactly" in told.output
    assert "Share of devices that are active again" in told.output
    data = json.loads(
        terminal.run("estimate", str(tmp_path / "presence.json"), "--retention", "--json").output
    )
    assert data["retention"][0]["after"] == 1
    twice = terminal.run("estimate", *[str(tmp_path / "presence.json")] * 2, "--retention", "--json").output
    added = [row["devices"] for row in json.loads(twice)["actives"]]
    assert added == [2 * row["devices"] for row in data["actives"]]
    (tmp_path / "other.json").write_text("{}")
    assert terminal.run("estimate", str(tmp_path / "other.json"), "--retention").exit_code == 2
