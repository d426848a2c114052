"""Write the models of a dbt project for a campaign: counts that grow by new days, and answers.

python write_models.py campaign.toml --dialect duckdb
"""

from __future__ import annotations

import argparse
from datetime import date, timedelta
from pathlib import Path

from dither.collection import Campaign, Published
from dither.data import sql

DAY = date(2000, 2, 1)  # stands for the first day to count; the macro `first_day` replaces it
INCREMENTAL = (
    "{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='day') }}\n"
)
VIEW = "{{ config(materialized='view') }}\n-- depends_on: {{ ref('counts') }}, {{ ref('codebook') }}\n"


def read(file: Path) -> Campaign:
    """Return a campaign in TOML, or a signed one."""
    return Campaign.read(file) if file.suffix == ".toml" else Published.from_json(file.read_bytes()).contract


def raw(text: str) -> str:
    """Return SQL that dbt's templates leave as it is."""
    if "{%" in text:
        raise SystemExit("a question or an answer contains '{%', which dbt would take for a template")
    return "{% raw %}" + text + "{% endraw %}"


def counts(campaign: Campaign, dialect: str, table: str, retries: int) -> str:
    """Return the model that counts the reports of the days that are new."""
    asked = sql.counting_query(
        campaign.questions, dialect, sql.ReportTable(table), since=DAY, retries=retries
    )
    text = raw(asked)
    for back in {0, retries}:
        literal = f"DATE '{DAY - timedelta(days=back)}'"
        text = text.replace(literal, "{% endraw %}{{ first_day(" + str(back) + ") }}{% raw %}")
    return INCREMENTAL + text


def main() -> None:
    """Read the command line, and write two models and a seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--dialect", choices=("duckdb", "postgresql"), default="duckdb")
    parser.add_argument("--table", default="reports", help="the table of reports")
    parser.add_argument("--retries", type=int, default=14, help="days for which devices repeat a batch")
    parser.add_argument("--project", type=Path, default=Path(__file__).parent / "dbt")
    given = parser.parse_args()
    campaign = read(given.campaign)
    answers = sql.estimate_query(
        campaign.questions, given.dialect, by=("day", "label"), folded="counts", codebook="codebook"
    )
    for reason in answers.left_out.values():
        print(f"left out: {reason}")
    for folder in ("models", "seeds"):
        (given.project / folder).mkdir(exist_ok=True)
    model = given.project / "models"
    (model / "counts.sql").write_text(counts(campaign, given.dialect, given.table, given.retries), "utf-8")
    (model / "answers.sql").write_text(VIEW + raw(answers.text), "utf-8")
    answers.codebook.write(given.project / "seeds" / "codebook.csv", given.dialect, ".csv")


if __name__ == "__main__":
    main()
