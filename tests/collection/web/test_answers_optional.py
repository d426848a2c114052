"""A collector whose questions may be left out: the mean of those who answered, and cumulative shares."""

from __future__ import annotations

from typing import Any

import pytest

import dither as dt
from tests.collection.collectors import MONDAY, TERMS, Asked, make, send

pytest.importorskip("starlette")
pytest.importorskip("httpx")
from starlette.applications import Starlette

from dither.collection.web.answers import answer_handlers
from dither.collection.web.endpoints import routes_of
from dither.collection.web.pages import page_handlers
from dither.collection.web.words import question_words

INCOME = dt.Podium(dt.Nullable(dt.Interval(0, 100, unit="€")), epsilon=4)
MOOD = dt.KRR(dt.Nullable(dt.Categories(["good", "bad"])), epsilon=4)
SCALE = dt.optimal.Cumulative(dt.Categories(["never", "often", "always"]), epsilon=4)


def test_answers_of_questions_that_may_be_left_out() -> None:
    asked = {"income": INCOME.question, "mood": MOOD.question, "scale": SCALE.question}
    questions: dict[str, Any] = {**dict(TERMS["questions"]), **asked}
    collector, published = make(questions=questions)
    sent = {
        "income": send(collector, published, "income", [30.0, None] * 500, MONDAY, "1.0"),
        "mood": send(collector, published, "mood", ["good", None] * 500, MONDAY, "1.0"),
        "scale": send(collector, published, "scale", ["never", "often"] * 500, MONDAY, "1.0"),
    }
    client = Asked(Starlette(routes=routes_of(answer_handlers(collector))))
    base = f"/v1/campaigns/{published.id}/answers.json"
    rows = {name: client.get(base, params={"question": name}).json()["rows"] for name in sent}
    (income,) = rows["income"]
    assert income["quantity"] == "mean"
    assert income["reason"] == "of those who answered"
    assert income["value"] == pytest.approx(float(dt.mean(sent["income"])))
    assert income["low"] < 30 < income["high"]
    assert [row["answer"] for row in rows["mood"]] == ["good", "bad", "no answer"]
    assert [row["answer"] for row in rows["scale"]] == ["up to never", "up to often", "up to always"]
    assert {row["quantity"] for row in rows["scale"]} == {"cumulative share"}
    page = Asked(Starlette(routes=routes_of(page_handlers(collector)))).get(f"/campaigns/{published.id}").text
    assert "no answer" in page
    assert "mean, of those who answered, of" in page
    assert "or no answer" in question_words(INCOME.question)
    assert "one of 2 answers, or no answer" in question_words(MOOD.question)
