"""Rows of people: the first ones are used, the budget is divided over them, and a person is promised it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data.people import KnownPeople
from dither.errors import InvalidParameter
from tests.support.terminal import run

ASKED = {"x": dt.KRR(dt.Categories(["a", "b"]), epsilon=3)}
IDS = [1, 2, 1, 1, 3, 1, 2]


def test_people_are_known_up_to_a_number_of_rows() -> None:
    ids = np.array(IDS, dtype=np.uint64)
    for rows, expected in (
        (1, [1, 1, 0, 0, 1, 0, 0]),
        (2, [1, 1, 1, 0, 1, 0, 1]),
        (3, [1, 1, 1, 1, 1, 0, 1]),
    ):
        whole, parts = KnownPeople(rows), KnownPeople(rows)
        assert whole.first_numbers(ids.copy()).tolist() == [bool(one) for one in expected]
        found = [parts.first_numbers(ids[at : at + 2].copy()) for at in range(0, 7, 2)]
        assert np.concatenate(found).tolist() == [bool(one) for one in expected]


@pytest.mark.parametrize("text", [False, True])
def test_a_file_divides_the_budget_over_the_rows_of_a_person(text: bool, tmp_path: Path) -> None:
    table = tmp_path / "waves.csv"
    rows = [f"{'p' if text else ''}{person},{'ab'[person % 2]}" for person in IDS]
    table.write_text("id,x\n" + "\n".join(rows) + "\n", encoding="utf-8")
    out = tmp_path / "reports.csv"
    counts = dt.data.perturb_file(table, out, ASKED, person="id", rows=3)
    assert (counts.written, counts.repeated) == (6, 1)
    question = dt.data.read(out)["x"].question
    assert question.guarantee.repeated(3).epsilon <= ASKED["x"].guarantee.epsilon * (1 + 1e-12)
    assert question.epsilon == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="person="):
        dt.data.perturb_file(table, tmp_path / "o.csv", ASKED, rows=3)
    for wrong in (0, -1, True, 1.5, 10**6):
        with pytest.raises(InvalidParameter, match="rows"):
            dt.data.perturb_file(table, tmp_path / "o.csv", ASKED, person="id", rows=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_divides_the_budget_over_the_rows_of_a_person(kind: str) -> None:
    data = {"id": IDS, "x": ["ab"[person % 2] for person in IDS]}
    module: Any = pytest.importorskip(kind)
    frame = module.table(data) if kind == "pyarrow" else module.DataFrame(data)
    for rows, left in ((1, 3), (2, 5), (3, 6)):
        made = dt.data.perturb(frame, ASKED, person="id", rows=rows)
        names = made.column_names if kind == "pyarrow" else list(made.columns)
        assert (len(made), names) == (left, ["x"])
    kept = dt.data.perturb(frame, ASKED, person="id", keep=["id"])
    column = kept.column("id").to_pylist() if kind == "pyarrow" else list(kept["id"])
    assert column == [1, 2, 3]
    assert len(dt.data.perturb(frame, ASKED)) == len(IDS)
    with pytest.raises(InvalidParameter, match="person="):
        dt.data.perturb(frame, ASKED, rows=2)
    with pytest.raises(InvalidParameter, match="column of ids"):
        dt.data.perturb(frame, ASKED, person="ID")


def test_the_terminal_promises_a_row_unless_people_are_named(tmp_path: Path) -> None:
    table = tmp_path / "waves.csv"
    table.write_text("id,x,y\n1,a,0.5\n1,b,\n2,a,7\n", encoding="utf-8")
    words = ("--column", "x", "--categories", "a,b", "--epsilon", 1, "--force")
    out = tmp_path / "reports.csv"
    assert "each row is promised ε ≤ 1" in run("perturb", table, *words, "-o", out).output
    done = run("perturb", table, *words, "--person", "id", "--rows", 3, "-o", out)
    assert "each person is promised ε ≤ 1, over at most 3 rows" in " ".join(done.output.split())
    told = json.loads(run("explain", out, "--json").stdout)  # the file says how it was made
    assert "Up to 3 rows are about you." in told["person"]
    assert "at most 74 % sure after reading all your answers" in told["person"]
    assert "All answers of a person: ε ≤ 1 for one person." in told["officer"]
    assert "device" not in " ".join(told["officer"])
    assert "a person is promised ε ≤ 1" in run("audit", out).output
    one = run("perturb", table, *words, "--person", "id", "-o", out)
    assert "each person is promised ε ≤ 1" in one.output
    assert "row" not in json.loads(run("explain", out, "--json").stdout)["person"]
    run("perturb", table, *words, "-o", out)
    rows = json.loads(run("explain", out, "--json").stdout)
    assert "This holds for one row" in rows["person"]
    assert "at most 74 % sure" in rows["person"]
    waves = json.loads(run("explain", out, "--rows", 3, "--json").stdout)
    assert "at most 96 % sure" in waves["person"]
    gaps = run(
        *("perturb", table, "--column", "y", "--interval", 0, 1, "--epsilon", 1, "--force", "-o", out),
        *("--missing", "skip", "--outside", "skip"),
    )
    assert "gaps show who did not answer, no part of the promise: y" in " ".join(gaps.output.split())
    assert "gaps show who was out of range, no part of the promise: y" in " ".join(gaps.output.split())
    told = json.loads(run("explain", out, "--json").stdout)
    for words in ("who did not answer", "who was out of range"):
        assert f"Gaps show {words}, no part of the promise: y." in told["officer"]
    assert len(dt.data.read(out)["y"]) == 1  # what the head says beside changes no reading


def test_the_sheet_of_a_file_names_the_holder_of_the_raw_values(tmp_path: Path) -> None:
    table, out = tmp_path / "people.csv", tmp_path / "reports.csv"
    table.write_text("x\na\nb\n", encoding="utf-8")
    run("perturb", table, "--column", "x", "--categories", "a,b", "--epsilon", 1, "-o", out)
    for language in ("en", "de"):
        page = tmp_path / f"{language}.md"
        assert run("explain", out, "--officer", "--language", language, "-o", page).exit_code == 0
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert "before it leaves their device" not in text
        assert "bevor sie das Gerät verlässt" not in text
        assert "holds the raw file randomises" in text or "Wer die Rohdatei hat, verändert" in text
