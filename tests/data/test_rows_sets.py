"""Sets of items in files and frames: lists, texts with separators, yes-or-no columns, the same in all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import dither as dt
from dither.data import Dialect
from dither.errors import InvalidParameter, OutsideDomain
from tests.support.terminal import run as terminal

ITEMS = ["saw", "drill", "level"]
ASKED = {"tools": dt.SetResponse(dt.Several(ITEMS, most=2), epsilon=20)}  # hardly any noise
SETS: list[list[str]] = [["saw", "drill"], [], ["level"], ["drill", "saw", "saw"]] * 50


def written(folder: Path, form: str) -> Path:
    if form == "lists":
        path = folder / "in.jsonl"
        path.write_text("".join(json.dumps({"id": n, "tools": one}) + "\n" for n, one in enumerate(SETS)))
    elif form == "texts":
        path = folder / "in.csv"
        path.write_text(
            "id,tools\n" + "".join(f"{n},{'; '.join(one) or ';'}\n" for n, one in enumerate(SETS))
        )
    elif form in ("ticks", "underscores"):
        path = folder / "in.csv"
        mark = "." if form == "ticks" else "_"
        rows = [",".join("yes" if item in one else "" for item in ITEMS) for one in SETS]
        path.write_text(
            f"id,tools{mark}saw,tools{mark}drill,tools{mark}level\n"
            + "".join(f"{n},{row}\n" for n, row in enumerate(rows))
        )
    else:
        path = folder / "in.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"tools": SETS}), path)
    return path


@pytest.mark.parametrize("form", ["lists", "texts", "ticks", "underscores", "parquet"])
def test_every_form_holds_the_same_sets(form: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    path, out = written(tmp_path, form), tmp_path / "out.csv"
    counts = dt.data.perturb_file(path, out, ASKED, source=dt.Seeded(1))
    assert counts.written == len(SETS)
    assert dt.data.check_file(path, ASKED)["tools"].fit == len(SETS)
    found = dt.frequencies(dt.data.summarise_file(out)["tools"])
    assert np.asarray(found.value) == pytest.approx([0.5, 0.5, 0.25], abs=0.15)
    assert not any(word in out.read_text().partition("\n")[2] for word in ITEMS)


def test_frames_hold_lists(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    for frame in (pyarrow.table({"tools": SETS}), polars.DataFrame({"tools": SETS, "g": ["x", "y"] * 100})):
        told = dt.data.perturb(frame, ASKED, keep=["g"] if "g" in frame.schema else [], source=dt.Seeded(1))
        assert dt.data.estimate(told, ASKED)["tools"]["saw"].value == pytest.approx(0.5, abs=0.15)
    assert dt.data.estimate(told, ASKED, by="g", minimum=10)["tools"]["x"]["level"].value > 0.2
    texts = dt.data.perturb(polars.DataFrame({"tools": ["saw;level", ";"]}), ASKED)  # as in a file
    assert dt.data.summarise(texts, ASKED)["tools"].n == 2
    for wrong in ([["saw", None]], [["hammer"]], ["saw;hammer"], [3], [None]):
        with pytest.raises(OutsideDomain) as refused:
            dt.data.perturb(polars.DataFrame({"tools": wrong}), ASKED)
        assert "hammer" not in str(refused.value)


def test_columns_of_lists_are_values_of_a_mechanism() -> None:
    """An Arrow array, chunked or not, and a Polars series, as `perturb` takes them for categories."""
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    sets = [["saw"], [], ["level", "saw"]]
    asked = ASKED["tools"]
    expected = asked.perturb(sets, source=dt.Seeded(1)).cells.tolist()
    for column in (pyarrow.array(sets), pyarrow.chunked_array([sets[:1], sets[1:]]), polars.Series(sets)):
        assert asked.perturb(column, source=dt.Seeded(1)).cells.tolist() == expected
    with pytest.raises(OutsideDomain):
        asked.perturb(pyarrow.array([["saw"], None]))


def test_unknown_items_and_separators_in_items_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("tools\nsaw;hammer\nsaw\n\n")
    with pytest.raises(OutsideDomain, match="row 1") as refused:
        dt.data.perturb_file(path, tmp_path / "out.csv", ASKED)
    assert "hammer" not in str(refused.value)
    odd: dict[str, Any] = {"tools": dt.SetResponse(dt.Several(["a;b", "c"], most=1), epsilon=1)}
    path.write_text("tools\na;b|c\n|\n")
    with pytest.raises(InvalidParameter, match="separator"):
        dt.data.perturb_file(path, tmp_path / "out.csv", odd)
    told = dt.data.perturb_file(path, tmp_path / "out.csv", odd, dialect=Dialect(items_sep="|"))
    assert told.written == 2
    for wrong in ("", ";;", "a", 3):
        with pytest.raises(InvalidParameter):
            Dialect(items_sep=wrong)  # type: ignore[arg-type]


def test_a_column_of_ticks_is_not_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "ticks")
    with pytest.raises(InvalidParameter, match="leak"):
        dt.data.perturb_file(path, tmp_path / "out.csv", ASKED, keep=["tools.saw"])
    path.write_text("saw,drill,level\nyes,perhaps,no\n")
    with pytest.raises(OutsideDomain, match="row 1"):
        dt.data.perturb_file(path, tmp_path / "out.csv", ASKED)


def test_campaigns_say_several_and_most() -> None:
    text = '[questions.tools]\nseveral = ["saw", "drill", "level"]\nmost = 2\nepsilon = 1\n'
    question = dt.Questionnaire.from_toml(text).questions["tools"]
    assert question == dt.SetResponse(dt.Several(ITEMS, most=2), epsilon=1).question
    assert (
        dt.Questionnaire.from_json(dt.Questionnaire.from_toml(text).to_json()).questions["tools"] == question
    )
    for wrong in (
        text.replace("most = 2\n", ""),
        text.replace("= 2", "= 4"),
        text + 'categories = ["a", "b"]',
    ):
        with pytest.raises(InvalidParameter, match="tools"):
            dt.Questionnaire.from_toml(wrong)


def test_an_empty_cell_is_the_empty_set_where_it_is_declared(tmp_path: Path) -> None:
    text = '[questions.tools]\nseveral = ["saw", "drill", "level"]\nmost = 2\nempty = "none"\nepsilon = 20\n'
    campaign = dt.Questionnaire.from_toml(text)
    assert campaign.questions["tools"].domain == dt.Several(ITEMS, most=2)  # devices do not know of it
    assert dt.Questionnaire.from_json(campaign.to_json()).questions["tools"].domain.empty_is_value
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("id,tools\n" + "1,saw;drill\n2,\n3,\n4,level\n" * 100)
    with pytest.raises(OutsideDomain, match="row 2"):
        dt.data.perturb_file(path, out, ASKED)
    assert dt.data.check_file(path, campaign)["tools"].fit == 400
    assert dt.data.perturb_file(path, out, campaign, source=dt.Seeded(1)).written == 400
    found = dt.frequencies(dt.data.summarise_file(out)["tools"])
    assert np.asarray(found.value) == pytest.approx([0.25, 0.25, 0.25], abs=0.1)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"tools": [["saw"], None, [], ["level"]] * 100})
    told = dt.data.perturb(frame, campaign, source=dt.Seeded(1))
    assert dt.data.estimate(told, campaign)["tools"]["saw"].n == 400
    asked = terminal("check", path, "--column", "tools", "--several", ",".join(ITEMS), "--most", 2)
    assert asked.exit_code == 1
    assert 'empty = "none"' in asked.output
    options = ("--column", "tools", "--several", ",".join(ITEMS), "--most", 2, "--empty", "none")
    assert terminal("check", path, *options).exit_code == 0
    for wrong in (text.replace('"none"', '"zero"'), text.replace("several", "categories")):
        with pytest.raises(InvalidParameter, match="tools"):
            dt.Questionnaire.from_toml(wrong)
