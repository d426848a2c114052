"""`dither sql` and `dither estimate duckdb://…`: from a campaign to counts in a database and to estimates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from tests.support import report_tables as tables
from tests.support.terminal import run

duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")

CAMPAIGN = """
[campaign]
name = "survey"

[questions.minutes]
interval = [0, 1]
epsilon = 4
mechanism = "Podium"

[questions.choice]
categories = 3
epsilon = 4
mechanism = "OUE"
"""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "campaign.toml"
    path.write_text(CAMPAIGN)
    return path


@pytest.fixture
def base(tmp_path: Path, survey: Path) -> str:
    questions = dt.Questionnaire.read(survey).questions
    rows = tables.rows_of({name: tables.drawn(one, 900, 3) for name, one in questions.items()})
    path = tmp_path / "it's reports.db"
    with duckdb.connect(str(path)) as connection:
        connection.register(
            "loaded", pyarrow.Table.from_pylist(rows + tables.copies(rows) + tables.refused(rows))
        )
        connection.execute("CREATE TABLE reports AS SELECT * FROM loaded")
    return f"duckdb://{path}"


def test_means_of_positions_on_a_scale_are_left_out_and_refused_alone(tmp_path: Path) -> None:
    path = tmp_path / "wide.toml"
    text = CAMPAIGN.replace("[0, 1]", '[0, 1440]\nscale = "log"')
    path.write_text(text)
    some = run("sql", path, "--dialect", "duckdb", "--estimate", "--json")
    assert some.exit_code == 0
    assert list(json.loads(some.stdout)["left_out"]) == ["minutes"]
    assert "left out: question 'minutes': expected numbers with a mean, got positions" in some.stderr
    path.write_text(text.partition("[questions.choice]")[0])
    refused = run("sql", path, "--dialect", "duckdb", "--estimate")
    assert refused.exit_code == 2
    assert "positions on a scale" in refused.output
    assert "dither estimate --folded" in refused.output


def test_a_question_that_no_query_counts_stops_no_other(base: str, survey: Path, tmp_path: Path) -> None:
    path, alone = tmp_path / "places.toml", tmp_path / "place.toml"
    place = "[questions.home]\nrectangle = [[0, 1], [0, 1]]\nepsilon = 4\n"
    path.write_text(f"{place}{CAMPAIGN}")
    alone.write_text(place)
    words = "left out: question 'home': expected reports that a query can count, got rows of TraCSC"
    made = run("sql", path, "--dialect", "duckdb")
    assert made.exit_code == 0
    assert words in made.stderr
    assert made.stdout == run("sql", survey, "--dialect", "duckdb").stdout
    found = run("estimate", base, "--question", path, "--json")
    assert words in found.stderr
    assert json.loads(found.stdout) == json.loads(
        run("estimate", base, "--question", survey, "--json").stdout
    )
    for wrong in (
        run("estimate", base, "--question", path, "--column", "home"),
        run("estimate", base, "--question", alone),
        run("sql", alone, "--dialect", "duckdb"),
    ):
        assert wrong.exit_code == 2
        assert "belong together" in wrong.output


def test_the_query_is_what_estimate_runs(base: str, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "counts.sql"
    assert run("sql", survey, "--dialect", "duckdb", "-o", out).exit_code == 0
    assert out.read_text() == run("sql", survey, "--dialect", "duckdb").output.removesuffix("\n")
    with duckdb.connect(base.removeprefix("duckdb://")) as connection:
        counts = connection.sql(out.read_text()).to_arrow_table()
    minutes = dt.Questionnaire.read(survey).questions["minutes"]
    expected = dt.mean(dt.Counts.from_counts(minutes, counts))
    answer = run("estimate", base, "--question", survey, "--json")
    assert answer.exit_code == 0, answer.output
    shown = json.loads(answer.stdout)
    assert shown["minutes"][0]["value"] == float(expected)
    assert shown["choice"][0]["n"] == 900
    assert "minutes: left out: 7 malformed, 2 of another fingerprint" in answer.stderr


def test_by_day_and_label(base: str, survey: Path) -> None:
    by_day = json.loads(run("estimate", base, "--question", survey, "--by", "day", "--json").stdout)
    assert [row["n"] for row in by_day["minutes"]] == [300, 300, 300]
    by_label = json.loads(run("estimate", base, "--question", survey, "--by", "label", "--json").stdout)
    assert {row["label"] for row in by_label["minutes"]} == set(tables.LABELS)
    assert "label" in run("estimate", base, "--question", survey, "--by", "lable").output


def test_a_script_that_folds(base: str, survey: Path) -> None:
    whole = run("estimate", base, "--question", survey).stdout
    script = run("sql", survey, "--dialect", "duckdb", "--fold", "counts", "--day", tables.MONDAY).output
    with duckdb.connect(base.removeprefix("duckdb://")) as connection:
        connection.execute(script)
    assert run("estimate", base, "--question", survey, "--folded", "counts").stdout == whole
    left = json.loads(run("estimate", base, "--question", survey, "--json").stdout)
    assert left["minutes"][0]["n"] == 600
    assert "--day" in run("sql", survey, "--dialect", "duckdb", "--fold", "counts").output


def test_a_specification_and_renamed_columns(tmp_path: Path) -> None:
    krr = dt.KRR(dt.Categories(3), epsilon=2)
    (tmp_path / "krr.json").write_text(krr.to_json())
    reports = krr.perturb(np.arange(300) % 3, source=dt.Seeded(1))
    pyarrow.parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"answer": reports.cells, "asked": ["choice"] * 300})
    pyarrow.parquet.write_table(table, tmp_path / "part.parquet")
    absent = [
        word for name in ("day", "label", "fingerprint", "report_hex") for word in ("--map", f"{name}=")
    ]
    names = ["--map", "report=answer", "--map", "question=asked", "--unique", *absent]
    asked = ("--question", tmp_path / "krr.json", "--column", "choice")
    answer = run("estimate", f"duckdb://{tmp_path}/*.parquet", *asked, *names, "--json")
    assert answer.exit_code == 0, answer.output
    assert run("estimate", f"duckdb://{tmp_path}", *asked, *names, "--json").stdout == answer.stdout
    expected = dt.frequencies(reports)
    assert json.loads(answer.stdout)["choice"][0]["value"] == np.asarray(expected.value).tolist()
    text = run("sql", tmp_path / "krr.json", "--column", "choice", "--dialect", "spark", *names).output
    assert "`asked` = 'choice'" in text
    assert "`answer`" in text


def test_mistakes(base: str, survey: Path, tmp_path: Path) -> None:
    cases = [
        (("estimate", base), "--question"),
        (("estimate", base, "reports.csv", "--question", survey), "got both"),
        (("estimate", base, "--question", survey, "--table", "nowhere"), "nowhere"),
        (("estimate", "duckdb://none.db", "--question", survey), "none.db"),
        (("estimate", base, "--question", survey, "--map", "day"), "COLUMN=NAME"),
        (("estimate", "reports.csv", "--since", "2026-11-02"), "with a database or a collector"),
        (("estimate", "reports.csv", "--wide"), "expected a database"),
        (("estimate", "reports.csv", "--map", "label=city"), "expected a database"),
        (("estimate", base, "--question", survey, "--token-file", survey), "of a collector"),
        (("estimate", tmp_path), "is a folder"),
        (("sql", survey, "--dialect", "oracle"), "duckdb"),
        (("sql", survey, "--dialect", "duckdb", "--retries", "2"), "--since"),
        (("sql", survey, "--dialect", "duckdb", "--fold", "c", "--since", "2026-11-02"), "one --day"),
        (("sql", survey, "--dialect", "duckdb", "--map", "dya=x"), "day"),
        (("sql", tmp_path / "none.toml", "--dialect", "duckdb"), "none.toml"),
    ]
    for words, told in cases:
        answer = run(*words)
        assert answer.exit_code == 2, words
        assert told in answer.output, words
        assert "Traceback" not in answer.output
    (tmp_path / "bad.json").write_bytes(b"\xff")
    assert "UTF-8" in run("sql", tmp_path / "bad.json", "--dialect", "duckdb").output


def test_two_versions_of_a_question_are_estimated_together(survey: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.toml"
    second.write_text(CAMPAIGN.replace("epsilon = 4", "epsilon = 2"))
    versions = [dt.Questionnaire.read(path).questions for path in (survey, second)]
    rows, summaries = [], []
    for seed, questions in enumerate(versions):
        reports = {name: tables.drawn(one, 900, seed) for name, one in questions.items()}
        summaries.append({name: dt.Counts.of(some) for name, some in reports.items()})
        rows += [{**row, "batch": f"{seed}{row['batch']}"} for row in tables.rows_of(reports)]
    path = tmp_path / "reports.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("loaded", pyarrow.Table.from_pylist(rows))
        connection.execute("CREATE TABLE reports AS SELECT * FROM loaded")
    words = ("estimate", f"duckdb://{path}", "--question", survey, "--question", second)
    done = run(*words, "--json")
    told = json.loads(done.output)
    for name in ("minutes", "choice"):
        expected = dt.stats.combine([summary[name] for summary in summaries])
        assert np.allclose(told[name][0]["value"], np.asarray(expected.value), rtol=1e-12)
        assert told[name][0]["n"] == 1800
    shown = run(*words)
    assert "left out" not in shown.output
    assert "each version weighs by its precision" in shown.output
    assert "means or frequencies of several" in run(*words, "--bins", "8").output
    base = ("estimate", f"duckdb://{path}", "--column", "minutes", "--by", "day", "--minimum", "2", "--json")
    told = json.loads(run(*base, "--question", survey, "--question", second).output)["minutes"]
    ones = [json.loads(run(*base, "--question", one).output)["minutes"] for one in (survey, second)]
    assert sum(row["n"] for row in told) == 1800
    for row, *parts in zip(told, *ones, strict=True):  # between the versions, and narrower than both
        assert row["n"] == sum(part["n"] for part in parts)
        assert min(part["value"] for part in parts) <= row["value"] <= max(part["value"] for part in parts)
        assert all(row["high"] - row["low"] <= part["high"] - part["low"] + 1e-9 for part in parts)
    assert "2 versions, each weighs by its precision; 3 groups by day" in run(*words, "--by", "day").output
    assert "other" not in run(*words, "--column", "none").output.partition("question")[0]
    one = run("estimate", f"duckdb://{path}", "--question", survey)
    assert "900 of another fingerprint" in one.output


def test_a_list_that_grew_is_estimated_from_the_versions_that_offer_each_answer(tmp_path: Path) -> None:
    campaigns, rows, summaries = [], [], []
    for number, (answers, interval) in enumerate(((["a", "b"], [0, 10]), (["a", "b", "new"], [0, 20]))):
        path = tmp_path / f"version-{number}.toml"
        path.write_text(
            f"[questions.pick]\ncategories = {json.dumps(answers)}\nepsilon = 3\nmechanism = 'KRR'\n"
            f"[questions.minutes]\ninterval = {interval}\nepsilon = 3\nmechanism = 'Podium'\n"
        )
        campaigns.append(path)
        questions = dt.Questionnaire.read(path).questions
        picked = np.random.default_rng(number).choice(answers, 900)
        reports = {
            "pick": questions["pick"].perturb(picked, source=dt.Seeded(number)),
            "minutes": tables.drawn(questions["minutes"], 900, number),
        }
        summaries.append({name: dt.Counts.of(some) for name, some in reports.items()})
        rows += [{**row, "batch": f"{number}{row['batch']}"} for row in tables.rows_of(reports)]
    path = tmp_path / "reports.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("loaded", pyarrow.Table.from_pylist(rows))
        connection.execute("CREATE TABLE reports AS SELECT * FROM loaded")
    words = ("estimate", f"duckdb://{path}", "--question", campaigns[0], "--question", campaigns[1])
    told = json.loads(run(*words, "--json").output)
    found = {row["answer"]: row for row in told["pick"][0]["rows"]}
    assert [row["versions"] for row in found.values()] == [2, 2, 1]
    old, new = (dt.frequencies(summary["pick"]) for summary in summaries)
    for answer in "ab":
        parts = old[answer], new[answer]
        assert min(map(float, parts)) <= found[answer]["value"] <= max(map(float, parts))
        assert found[answer]["n"] == 1800
        expected = dt.stats.combine(list(parts))
        assert found[answer]["value"] == pytest.approx(float(expected), rel=1e-12)
    assert found["new"]["value"] == pytest.approx(float(new["new"]), rel=1e-12)
    assert found["new"]["n"] == 900
    # The other question is on another interval: it is printed by version, and stops nothing.
    assert [entry["answer"] for entry in told["minutes"]] == [
        "version 1",
        "version 2",
        "answer of all versions",
    ]
    assert "parts on the same domain" in told["minutes"][2]["problem"]
    assert told["minutes"][0]["value"] == pytest.approx(float(dt.mean(summaries[0]["minutes"])), rel=1e-12)
    shown = run(*words).output
    assert "2 lists of answers; each share is among the people who were offered the answer" in shown
    assert "version 2: " in shown


@pytest.mark.slow
def test_wide_files_at_the_terminal(tmp_path: Path) -> None:
    path = tables.wide_file(tmp_path / "wide.parquet")
    words = ("--question", path, "--wide", "--map", "day=on", "--json")
    told = json.loads(run("estimate", f"duckdb://{path}", *words).output)
    assert told["window"] == json.loads(run("estimate", path, "--json").output)["window"]
    since = json.loads(run("estimate", f"duckdb://{path}", *words, "--since", "2026-11-03").output)
    assert 0 < since["window"][0]["n"] < told["window"][0]["n"]
    text = run("sql", path, "--dialect", "databricks", "--wide", "--table", "a.b", "--map", "day=on").output
    assert "`a`.`b`" in text
    assert "lower(hex(s.`bits`))" in text
    assert "batch" not in text
    assert (
        "expected day or since"
        in run("sql", path, "--dialect", "duckdb", "--day", "2026-11-02", "--since", "2026-11-02").output
    )


def test_estimates_in_sql_are_those_of_estimate(base: str, survey: Path, tmp_path: Path) -> None:
    out, book = tmp_path / "answers.sql", tmp_path / "book.csv"
    sql_of = ("sql", survey, "--dialect", "duckdb", "--estimate")
    assert "UNION ALL SELECT" in run(*sql_of).output  # the codebook of three answers
    made = run(*sql_of, "--by", "week", "--codebook", book, "-o", out, "--json")
    assert json.loads(made.output)["codebook"] == str(book)
    told = run("estimate", base, "--question", survey, "--by", "week", "--json")
    expected = [row["value"] for name in ("choice", "minutes") for row in json.loads(told.output)[name]]
    with duckdb.connect(base.removeprefix("duckdb://")) as connection:
        connection.execute(f"CREATE TABLE book AS SELECT * FROM read_csv('{book}')")
        rows = connection.execute(out.read_text()).fetchall()
    assert [row[4] for row in rows] == pytest.approx(expected, abs=1e-9)
    assert {row[0].weekday() for row in rows} == {0}
    for words, options in {
        "with --estimate": ["--by", "day"],
        ".sql or .csv": ["--estimate", "--codebook", tmp_path / "book.txt"],
        "use --since": ["--estimate", "--day", "2026-11-02"],
    }.items():
        wrong = run("sql", survey, "--dialect", "duckdb", *options)
        assert wrong.exit_code == 2
        assert words in wrong.output


def test_a_table_of_counts_without_reports_is_estimated(base: str, survey: Path) -> None:
    path, before = base.removeprefix("duckdb://"), run("estimate", base, "--question", survey, "--json")
    query = run("sql", survey, "--dialect", "duckdb").output
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE counts AS {query}")
        connection.execute("DROP TABLE reports")
    after = run("estimate", base, "--question", survey, "--folded", "counts", "--json")
    assert json.loads(after.stdout) == json.loads(before.stdout)
    missing = run("estimate", base, "--question", survey, "--folded", "counts", "--table", "other")
    assert missing.exit_code == 2
    assert "other" in missing.output
