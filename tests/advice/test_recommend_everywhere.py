"""Whatever `recommend` names is perturbed and estimated everywhere, or refused before ε is spent."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice import goals
from dither.data.sql.query import counting_query
from dither.errors import DitherError
from dither.service.contract import Contract
from dither.service.web.answers import Query, ReportsPart, rows
from tests.support.terminal import run

FOUR = dt.Categories(["a", "b", "c", "d"])
ASKED: list[tuple[Any, Any]] = [
    (dt.Interval(0, 100), goals.Mean(n=1000)),
    (dt.Circle(360), goals.Mean(n=1000)),
    (FOUR, goals.Frequencies(n=1000)),
    (dt.Categories(60), goals.Frequencies(n=1000)),
    (dt.Several(["a", "b", "c", "d"], most=2), goals.Frequencies(n=1000)),
    (dt.Interval(0, 100), goals.Ranges(n=1000)),
    (FOUR, goals.Ranges(n=1000)),
    (dt.Interval(0, 100), goals.SingleValues()),
]


def named(budgets: tuple[float, ...]) -> dict[str, Any]:
    """Everything that is recommended at some budgets, once for each class, domain and goal."""
    found: dict[str, Any] = {}
    for domain, goal in ASKED:
        for epsilon in budgets:
            for design in dt.recommend(domain, goal, epsilon=epsilon).mechanisms:
                if domain == FOUR and isinstance(goal, goals.Ranges) and type(design) is not dt.Cumulative:
                    continue  # the same as for frequencies
                key = f"{type(design).__name__} on {type(design.domain).__name__} for {type(goal).__name__}"
                found.setdefault(key, design)
    return found


def values(domain: Any, n: int) -> list[Any]:
    random = np.random.default_rng(7)
    if isinstance(domain, dt.Several):
        return [[domain.labels[code] for code in range(i % 3)] for i in range(n)]
    if isinstance(domain, dt.Categories):
        return [domain.labels[code] for code in random.integers(0, len(domain), n)]
    return [float(x) for x in random.uniform(domain.low, domain.high, n).round(2)]


def cell(value: Any) -> str:
    return ";".join(value) or ";" if isinstance(value, list) else str(value)


@pytest.mark.parametrize("budgets", [(1.0,), pytest.param((0.1, 0.5, 2.0, 4.0, 8.0), marks=pytest.mark.slow)])
def test_what_is_recommended_works_everywhere(budgets: tuple[float, ...], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    seen = named(budgets)
    assert {"Cumulative on Interval for Ranges", "Cumulative on Categories for Ranges"} <= set(seen)
    assert not any(name.startswith("Sectors") for name in seen)  # no mean direction is estimated from them
    for name, design in seen.items():
        given = values(design.domain, 120)
        question, path, out = {"q": design}, tmp_path / "in.csv", tmp_path / "out.csv"
        path.write_text("q\n" + "\n".join(map(cell, given)))
        dt.data.perturb_file(path, out, question, force=True)
        summary = dt.data.summarise_file(out)["q"]
        assert dt.estimate(summary).n == summary.n == 120, name
        assert dt.estimate(design.perturb(given)).n == 120, name
        told = dt.data.perturb(pandas.DataFrame({"q": given}), question)
        assert dt.data.estimate(told, question)["q"].n == 120, name
        shown = rows(Query("q"), ReportsPart(), summary)
        assert all(row["state"] == "shown" for row in shown), (name, shown[0])
        counting_query(question, "duckdb")
        contract(question)
    # The terminal, for one of each kind of answer.
    for name in ("Podium on Interval for Mean", "Cumulative on Interval for Ranges"):
        dt.data.perturb_file(write(seen[name], path), out, {"q": seen[name]}, force=True)
        assert run("estimate", out).exit_code == 0, name
        assert run("estimate", out, "--quantile", 0.5, "--json").exit_code == 0, name


def write(design: Any, path: Path) -> Path:
    path.write_text("q\n" + "\n".join(map(cell, values(design.domain, 400))))
    return path


def contract(questions: dict[str, Any]) -> Contract:
    day = datetime.date(2026, 1, 1)
    terms = {"name": "x", "version": 1, "asker": "a.example", "contact": "c", "purpose": "p"}
    asked = {name: getattr(design, "question", design) for name, design in questions.items()}
    return Contract(**terms, begins=day, ends=day, questions=asked)  # type: ignore[arg-type]


def test_the_quantile_of_an_ordered_scale_is_an_answer(tmp_path: Path) -> None:
    scale = dt.Categories(["never", "rarely", "often", "always"])
    often = dt.Cumulative(scale, epsilon=3)
    given = ["never"] * 200 + ["rarely"] * 300 + ["often"] * 400 + ["always"] * 100
    found = dt.cumulative(often.perturb(given * 4, source=dt.Seeded(1)))
    median = found.quantile(0.7)
    assert median.value == "often"
    assert median.ends[0] in ("rarely", "often")
    assert repr(median).startswith("often")
    assert found.names[0] == "up to never"
    (tmp_path / "in.csv").write_text("q\n" + "\n".join(given))
    dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", {"q": often})
    printed = run("estimate", tmp_path / "out.csv", "--quantile", 0.7)
    assert "quantile 0.7: often" in printed.output
    assert "up to rarely" in printed.output


def test_what_has_no_column_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    marginals = dt.Marginals({"age": dt.Categories(3), "pet": dt.Categories(["cat", "dog"])}, epsilon=1)
    (tmp_path / "in.csv").write_text("age\n1\n")
    for attempt in (
        lambda: dt.data.perturb(pandas.DataFrame({"age": [1]}), {"age": marginals}),
        lambda: dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", {"age": marginals}),
        lambda: contract({"age": marginals}),
    ):
        with pytest.raises(DitherError, match=r"question\.perturb in Python|dt\.tables"):
            attempt()
    assert not (tmp_path / "out.csv").exists()
