"""A collector whose question is a set of items: answers of all items, and the page that shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from tests.collection.collectors import MONDAY, TERMS, TUESDAY, Asked, make, send

pytest.importorskip("starlette")
pytest.importorskip("httpx")
from starlette.applications import Starlette

from dither.collection.web.answers import answer_handlers
from dither.collection.web.endpoints import routes_of
from dither.collection.web.pages import page_handlers
from dither.collection.web.words import question_words

ITEMS = ["saw", "drill", "level", "lathe"]
QUESTION = dt.SetResponse(dt.Several(ITEMS, most=2), epsilon=2)


def test_items_of_days_and_labels_are_those_of_summaries() -> None:
    questions: dict[str, Any] = {**dict(TERMS["questions"]), "tools": QUESTION.question}
    collector, published = make(questions=questions)
    sets = [["saw", "drill"], ["saw"], [], ["level", "saw", "drill"]] * 250
    sent = [
        send(collector, published, "tools", sets, MONDAY, "1.0"),
        send(collector, published, "tools", sets, TUESDAY, "1.1", seed=2),
    ]
    client = Asked(Starlette(routes=routes_of(answer_handlers(collector))))
    base = f"/v1/campaigns/{published.id}/answers.json"
    rows = client.get(base, params={"question": "tools"}).json()["rows"]
    assert [row["answer"] for row in rows] == ITEMS
    assert {row["quantity"] for row in rows} == {"frequency"}
    expected = dt.frequencies(dt.Counts.gather(sent))
    assert [row["value"] for row in rows] == np.asarray(expected.value).tolist()
    assert all(row["reason"].startswith("a lower bound: devices may have thinned ") for row in rows)
    sizes = client.get(base, params={"question": "tools", "what": "sizes"}).json()["rows"]
    assert [row["answer"] for row in sizes] == ["1 or more", "2 or more"]
    assert [row["value"] for row in sizes] == np.asarray(expected.sizes.value).tolist()
    other = next(name for name in questions if name != "tools")
    send(collector, published, other, [40.0] * 500, MONDAY, "1.0")
    refused = client.get(base, params={"question": other, "what": "sizes"}).json()["rows"]
    assert [("sets of items" in row["reason"], row["value"]) for row in refused] == [(True, None)]
    page = Asked(Starlette(routes=routes_of(page_handlers(collector)))).get(f"/campaigns/{published.id}").text
    assert "2 or more items: " in page
    assert "saw: ≥" in page
    days = client.get(base, params={"question": "tools", "by": "day"}).json()["rows"]
    assert len({row["day"] for row in days}) == 2
    assert "a set of up to 2 of 4 items" in question_words(QUESTION.question)
