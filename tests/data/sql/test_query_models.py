"""The examples for a warehouse: models of dbt and a Grafana board return the estimates of dither."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data import sql
from tests.data.sql.test_engines import CREATE
from tests.data.sql.test_estimates import Rows, check, expected
from tests.extras.environments import environment
from tests.support import report_tables as tables
from tests.support.repository import ROOT

duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")

FOLDER = ROOT / "examples" / "warehouse"
QUESTIONS = {
    "minutes": dt.Duchi(dt.Interval(0, 100), epsilon=2),
    "travel": dt.KRR(dt.Categories(["bus", "car", "bike", "walk", "it's {{ }}"]), epsilon=2),
}
BY = ("day", "label")
CAMPAIGN = """\
[campaign]
name = "commute"
asker = "city.example"
contact = "a@city.example"
purpose = "plan buses"
begins = 2026-05-01
ends = 2026-05-31

[questions.minutes]
mechanism = "Duchi"
interval = [0, 100]
epsilon = 2

[questions.travel]
mechanism = "KRR"
categories = ["bus", "car", "bike", "walk", "it's {{ }}"]
epsilon = 2
"""


def stored() -> tuple[Rows, dict[str, dt.Reports]]:
    rng = np.random.default_rng(1)
    travel = QUESTIONS["travel"].domain.labels
    values = {"minutes": rng.uniform(5, 60, 2_000), "travel": [travel[k] for k in rng.integers(0, 5, 2_000)]}
    reports = {name: asked.perturb(values[name], source=dt.Seeded(7)) for name, asked in QUESTIONS.items()}
    rows = tables.rows_of(reports)
    return rows + tables.copies(rows), reports


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a copy of the project with the models of a campaign."""
    folder = tmp_path / "dbt"
    shutil.copytree(FOLDER / "dbt", folder, ignore=shutil.ignore_patterns("target", "logs", "seeds", "*.db"))
    (tmp_path / "campaign.toml").write_text(CAMPAIGN, encoding="utf-8")
    command = [sys.executable, str(FOLDER / "write_models.py"), "campaign.toml", "--project", str(folder)]
    subprocess.run([*command, "--retries", "2"], cwd=tmp_path, check=True)
    return folder


def rendered(model: str, first: str) -> str:
    """Return the SQL of a model as dbt's templates make it, with the first day to count."""
    text = re.sub(r"\{\{ config\(.*?\) \}\}\n|-- depends_on.*\n", "", model)
    text = re.sub(
        r"\{% endraw %\}\{\{ first_day\((\d+)\) \}\}\{% raw %\}", rf"({first} - INTERVAL '\1 days')", text
    )
    return text.replace("{% raw %}", "").replace("{% endraw %}", "")


def load(path: Path, rows: Rows) -> None:
    with duckdb.connect(str(path)) as base:
        base.execute(CREATE.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        base.register("loaded", pyarrow.Table.from_pylist(rows))
        base.execute("INSERT INTO reports BY NAME SELECT * FROM loaded")


def answers(path: Path) -> Rows:
    with duckdb.connect(str(path)) as base:
        found = base.execute("SELECT * FROM answers")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def halves(rows: Rows) -> tuple[Rows, Rows]:
    """Return the rows of the first days, and those of the last day and later, which the second run reads."""
    days = sorted({row["day"] for row in rows})
    middle = days[len(days) // 2]
    return [row for row in rows if row["day"] <= middle], [row for row in rows if row["day"] > middle]


def wanted(rows: Rows, reports: dict[str, dt.Reports]) -> dict[tuple[Any, ...], tuple[float, ...]]:
    enough = expected(QUESTIONS, rows, reports, BY)
    return {key: found for key, found in enough.items() if found[-1] >= 100}


def test_models_return_the_estimates_and_grow_by_new_days(project: Path, tmp_path: Path) -> None:
    rows, reports = stored()
    counts, model = (
        (project / "models" / f"{name}.sql").read_text("utf-8") for name in ("counts", "answers")
    )
    assert "first_day(0)" in counts
    assert "first_day(2)" in counts
    path = tmp_path / "reports.db"
    for number, some in enumerate(halves(rows)):
        load(path, some)
        with duckdb.connect(str(path)) as base:
            if number == 0:
                base.execute(f"CREATE TABLE counts AS {rendered(counts, 'DATE ' + repr('1970-01-03'))}")
                base.execute(f"CREATE TABLE codebook AS FROM '{project / 'seeds' / 'codebook.csv'}'")
                base.execute(f"CREATE VIEW answers AS {rendered(model, '')}")
                continue
            (last,) = base.execute("SELECT MAX(day) FROM counts").fetchone()
            base.execute(f"CREATE TABLE fresh AS {rendered(counts, f'DATE {str(last)!r}')}")
            base.execute("DELETE FROM counts WHERE day IN (SELECT day FROM fresh)")
            base.execute("INSERT INTO counts BY NAME FROM fresh")
    check(answers(path), wanted(rows, reports), BY)


@pytest.mark.slow
def test_dbt_runs_the_project(project: Path, tmp_path: Path) -> None:
    rows, reports = stored()
    python = environment(tmp_path / "venv", "dbt-core>=1.10,<1.11", "dbt-duckdb<1.10", "dbt-adapters<1.20")
    path = tmp_path / "reports.db"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables = {**clean, "REPORTS": str(path), "DO_NOT_TRACK": "1"}
    for number, some in enumerate(halves(rows)):
        load(path, some)
        for verb in ("seed", "run", "test") if number == 0 else ("run", "test"):
            done = subprocess.run(
                [str(python.parent / "dbt"), verb],
                cwd=project,
                env=variables,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout[-3000:]
    check(answers(path), wanted(rows, reports), BY)


def test_the_board_of_answers_runs_in_postgresql(postgresql: str) -> None:
    """Every query of the board is executed, with Grafana's variables replaced as Grafana does."""
    import psycopg

    rows, _ = stored()
    board = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
    made = sql.estimate_query(QUESTIONS, "postgresql", by=BY, codebook="codebook")
    begins, ends = min(row["day"] for row in rows), max(row["day"] for row in rows)
    values = {"question": "'travel'", "label": "'no label'", "answer": "'bus'"}

    def spoken(text: str) -> str:
        text = text.replace("$__timeFilter(day)", f"day BETWEEN '{begins}' AND '{ends + timedelta(days=1)}'")
        return re.sub(r"\$\{(\w+):sqlstring\}", lambda found: values[found[1]], text)

    with psycopg.connect(postgresql) as base, base.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS reports, codebook CASCADE")
        cursor.execute(CREATE)
        with cursor.copy("COPY reports FROM STDIN") as stream:
            for row in tables.values(rows):
                stream.write_row(row)
        cursor.execute(made.codebook.script("postgresql"))
        cursor.execute(f"CREATE VIEW answers AS {made.text.rstrip().rstrip(';')}")
        found = {}
        for variable in board["templating"]["list"][1:]:
            cursor.execute(spoken(variable["query"]))
            found[variable["name"]] = [row[0] for row in cursor.fetchall()]
        assert found["question"] == ["minutes", "travel"]
        assert found["answer"] == ["bus", "car", "bike", "walk", "it's {{ }}"]
        values["label"] = ", ".join("'" + label.replace("'", "''") + "'" for label in found["label"])
        panels = [panel for panel in board["panels"] if panel["type"] != "row"]
        for panel in panels:
            assert panel["description"].endswith(".")
            cursor.execute(spoken(panel["targets"][0]["rawSql"]))
            assert cursor.fetchall(), panel["title"]
        # Grafana adds the values of a text column to the names of series: the band was never drawn.
        cursor.execute(spoken(panels[0]["targets"][0]["rawSql"]))
        assert [column.name for column in cursor.description or ()] == ["time", "value", "low", "high"]
        base.rollback()
    high, low = panels[0]["fieldConfig"]["overrides"]
    assert (high["matcher"]["options"], low["matcher"]["options"]) == ("high", "low")
    assert {"id": "custom.fillBelowTo", "value": "low"} in high["properties"]
    assert panels[0]["fieldConfig"]["defaults"]["custom"]["insertNulls"] > 24 * 60 * 60 * 1000  # gaps
    rows_of_panels = [panel for panel in board["panels"] if panel["type"] == "row"]
    assert [row.get("repeat") for row in rows_of_panels] == ["label", None]
