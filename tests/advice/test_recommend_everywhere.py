"""Whatever `recommend` names is perturbed and estimated everywhere, or refused before ε is spent."""

from __future__ import annotations

import contextlib
import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice import goals
from dither.collection.campaign import Campaign
from dither.collection.web.answers import ReportsPart, rows
from dither.collection.web.query import Query
from dither.data.sql.engines import connect, summaries
from dither.data.sql.query import ReportTable, counting_query
from dither.errors import DitherError, NotIdentifiable
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
QUICK = [ASKED[place] for place in (0, 2, 4, 5, 6)]  # the rest is left to the long run


AREA = dt.Rectangle(dt.Interval(0, 10), dt.Interval(0, 10))
# Simulated goals and those of places: asking them alone takes seconds each.
SHAPES: list[tuple[Any, Any]] = [
    (dt.Interval(0, 100), goals.Distribution(n=1000)),
    (dt.Circle(360), goals.Distribution(n=1000)),
    (dt.Interval(0, 100), goals.Quantile(n=1000)),
    (AREA, goals.Districts(n=1000)),
]
PLACES: list[tuple[Any, Any]] = [
    (AREA, goals.Locations()),
    (dt.Disk(5), goals.Locations()),
    (AREA, goals.Maps(n=1000)),
    (AREA, goals.MeanPlace(n=1000)),
    (dt.Profile({"age": dt.Categories(3), "pet": dt.Categories(["cat", "dog"])}), goals.Tables(n=1000)),
]


def named(budgets: tuple[float, ...], asked: list[tuple[Any, Any]] = ASKED) -> dict[str, Any]:
    """Everything that is recommended at some budgets, once for each class, domain and goal."""
    found: dict[str, Any] = {}
    kinds: set[Any] = set()
    for domain, goal in asked:
        for epsilon in budgets:
            for design in dt.recommend(domain, goal, epsilon=epsilon).mechanisms:
                if (
                    domain == FOUR
                    and isinstance(goal, goals.Ranges)
                    and type(design) is not dt.optimal.Cumulative
                ):
                    continue  # the same as for frequencies
                kind = type(design), domain
                if len(budgets) == 1 and kind in kinds:
                    continue  # the quick form: once for each class and domain
                kinds.add(kind)
                where = type(getattr(design, "domain", domain)).__name__
                key = f"{type(design).__name__} on {where} for {type(goal).__name__}"
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


@pytest.mark.parametrize(
    ("budgets", "every"),
    [((1.0,), 3), pytest.param((0.1, 0.5, 1.0, 2.0, 4.0, 8.0), 1, marks=pytest.mark.slow)],
)
def test_what_is_recommended_works_everywhere(budgets: tuple[float, ...], every: int, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    seen = named(budgets, ASKED if every == 1 else QUICK)
    assert {"Cumulative on Interval for Ranges", "Cumulative on Categories for Ranges"} <= set(seen)
    assert not any(name.startswith("Sectors") for name in seen)  # no mean direction is estimated from them
    for name, design in list(seen.items())[::every]:
        works(name, design, tmp_path, pandas, sql=len(budgets) > 1)
    # The terminal, for one of each kind of answer.
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    for name in ("Podium on Interval for Mean", "Cumulative on Interval for Ranges"):
        dt.data.perturb_file(write(seen[name], path), out, {"q": seen[name]}, force=True)
        assert run("estimate", out).exit_code == 0, name
        assert run("estimate", out, "--quantile", 0.5, "--json").exit_code == 0, name


def works(name: str, design: Any, folder: Path, pandas: Any, *, sql: bool) -> None:
    """Assert that a design is perturbed and estimated: files, Python, frames, collector, and SQL if asked."""
    given = values(design.domain, 120)
    question, path, out = {"q": design}, folder / "in.csv", folder / "out.csv"
    path.write_text("q\n" + "\n".join(map(cell, given)))
    dt.data.perturb_file(path, out, question, force=True)
    summary = dt.data.summarise_file(out)["q"]
    told = dt.data.perturb(pandas.DataFrame({"q": given}), question)
    if name.startswith("Sectors"):  # for distributions of directions: it has no mean, and says what it has
        with pytest.raises(NotIdentifiable, match="distribution"):
            dt.estimate(summary)
        for part in (summary, design.perturb(given), dt.data.summarise(told, question)["q"]):
            assert dt.distribution(part, 8).n == 120, name
    else:
        assert dt.estimate(summary).n == summary.n == 120, name
        assert dt.estimate(design.perturb(given)).n == 120, name
        assert dt.data.estimate(told, question)["q"].n == 120, name
        shown = rows(Query("q"), ReportsPart(), summary)
        assert all(row["state"] == "shown" for row in shown), (name, shown[0])
    contract(question)
    if sql:
        pytest.importorskip("duckdb")
        dt.data.perturb_file(path, folder / "out.parquet", question, force=True)
        table = ReportTable.of_columns()
        with connect(f"duckdb://{folder / 'out.parquet'}", table) as engine:
            counts = engine.counts(question, table)
        assert summaries(question, counts)["q"] == dt.data.summarise_file(folder / "out.parquet")["q"], name
    else:
        counting_query(question, "duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("goal", range(len(SHAPES)))
def test_what_is_recommended_for_shapes_works_everywhere(goal: int, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    seen = named((1.0, 4.0), SHAPES[goal : goal + 1])
    assert seen
    for name, design in seen.items():
        works(name, design, tmp_path, pandas, sql=True)
        found = run("estimate", tmp_path / "out.csv", "--json", *(["--bins", 8] if "Sectors" in name else []))
        assert found.exit_code == 0, (name, found.output)


def places(domain: Any, n: int) -> Any:
    random = np.random.default_rng(7)
    if isinstance(domain, dt.Profile):
        return {
            key: [part.labels[code] for code in random.integers(0, len(part), n)]
            for key, part in zip(domain.names, domain.parts, strict=True)
        }
    return random.uniform(1.0, 3.0, (n, 2))


@pytest.mark.slow
@pytest.mark.parametrize("goal", range(len(PLACES)))
def test_what_is_recommended_for_places_works_or_is_refused(goal: int, tmp_path: Path) -> None:
    """In Python it works; where no column holds a place, it is refused before anything is drawn."""
    pandas = pytest.importorskip("pandas")
    domain, aim = PLACES[goal]
    (tmp_path / "in.csv").write_text("q\n1\n")
    for name, design in named((1.0,), [(domain, aim)]).items():
        given = places(domain, 60)
        if isinstance(design, dt.Each | dt.Sampled):  # one coordinate each
            asked = {"x": given[:, 0], "y": given[:, 1]} if isinstance(given, np.ndarray) else given
            told = design.perturb(asked)
            found = {key: dt.estimate(told[key]).n for key in told}
            assert sum(found.values()) in (60, 120), name
        elif isinstance(domain, dt.Profile):
            assert dt.stats.tables(design.perturb(given)), name
        else:
            told = design.perturb(given)
            assert np.asarray(told).shape == (60, 2), name
            if isinstance(aim, goals.Maps):
                assert dt.maps.density(told, 2).n == 60, name
        question: Any = {"q": design}
        for attempt in (
            lambda q=question: dt.data.perturb(pandas.DataFrame({"q": [1]}), q),
            lambda q=question: dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", q),
        ):
            with pytest.raises(DitherError):
                attempt()
        assert not (tmp_path / "out.csv").exists(), name
        for made in (contract, lambda q: counting_query(q, "duckdb")):
            with contextlib.suppress(DitherError):  # refused, or it can be asked and counted
                made(question)


def write(design: Any, path: Path) -> Path:
    path.write_text("q\n" + "\n".join(map(cell, values(design.domain, 400))))
    return path


def contract(questions: dict[str, Any]) -> Campaign:
    day = datetime.date(2026, 1, 1)
    terms = {"name": "x", "version": 1, "asker": "a.example", "contact": "c", "purpose": "p"}
    asked = {name: getattr(design, "question", design) for name, design in questions.items()}
    return Campaign(**terms, begins=day, ends=day, questions=asked)  # type: ignore[arg-type]


def test_the_quantile_of_an_ordered_scale_is_an_answer(tmp_path: Path) -> None:
    scale = dt.Categories(["never", "rarely", "often", "always"])
    often = dt.optimal.Cumulative(scale, epsilon=3)
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
    ):
        with pytest.raises(DitherError, match=r"question\.perturb in Python|dt\.stats\.tables"):
            attempt()
    assert not (tmp_path / "out.csv").exists()
