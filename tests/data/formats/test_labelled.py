"""Files of SPSS and Stata: value labels, codes, user-missing codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.data import Dialect
from dither.errors import InvalidParameter
from tests.support.terminal import run

pandas = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

ASKED = {
    "age": dt.Podium(dt.Nullable(dt.Interval(18, 100)), epsilon=8, cells=256),
    "sex": dt.KRR(dt.Categories(["male", "female"]), epsilon=20),
}
FRAME = {"age": [30.0, None, -99.0, 41.0], "sex": [1.0, 2.0, 9.0, 1.0], "town": ["Rome", "", "Nara", "Kyoto"]}
LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}}


@pytest.fixture(params=["sav", "zsav", "dta"])
def survey(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / f"survey.{request.param}"
    frame = pandas.DataFrame(FRAME)
    if request.param == "dta":
        frame["sex"] = frame["sex"].astype(object)
        frame.loc[2, "sex"] = "a"
        frame.loc[2, "age"] = None
        labels = {"sex": {1: "male", 2: "female", "a": "refused"}}
        pyreadstat.write_dta(
            frame, str(path), variable_value_labels=labels, missing_user_values={"sex": ["a"]}
        )
    else:
        missing = {"age": [-99], "sex": [9]}
        compressed = {"row_compress": False, "compress": request.param == "zsav"}
        pyreadstat.write_sav(
            frame, str(path), variable_value_labels=LABELS, missing_ranges=missing, **compressed
        )
    return path


def test_labels_codes_and_missing_codes(survey: Path, tmp_path: Path) -> None:
    fits = dt.data.check_file(survey, ASKED)
    assert (fits["age"].fit, fits["sex"].missing, fits["sex"].rows) == (4, 1, {"missing": (3,)})
    counts = dt.data.perturb_file(survey, tmp_path / "r.csv", ASKED, keep=["town"], missing="skip")
    assert (counts.written, counts.missing) == (4, 1)
    rows = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[2:]
    assert [row.split(",")[1:] for row in rows] == [["0", "Rome"], ["1", ""], ["", "Nara"], ["0", "Kyoto"]]
    numbers = {"sex": dt.KRR(dt.Categories([1, 2]), epsilon=1)}  # by their codes
    assert dt.data.check_file(survey, numbers)["sex"].fit == 3
    assert dt.data.check_file(survey, {"sex": dt.Interval(1, 2)})["sex"].fit == 3
    words = Dialect(na=["Nara"])
    assert (
        dt.data.check_file(survey, {"town": dt.Categories(["Rome", "Kyoto"])}, dialect=words)["town"].fit == 2
    )


def test_a_campaign_begins_with_the_codebook_and_no_value(survey: Path, tmp_path: Path) -> None:
    made = run("init", survey, "-o", tmp_path / "s.toml")
    assert made.exit_code == 0
    text = (tmp_path / "s.toml").read_text(encoding="utf-8")
    assert 'categories = ["male", "female"]' in text
    assert "interval = [0, 120]" in text
    assert "Rome" not in text


def test_damage_and_writing_are_refused(tmp_path: Path) -> None:
    for name in ("x.sav", "x.dta"):
        (tmp_path / name).write_bytes(b"$FL2 Rome " * 40)
        with pytest.raises(InvalidParameter, match=r"expected x\.(sav|dta) to be a valid"):
            dt.data.check_file(tmp_path / name, ASKED)
        with pytest.raises(FileNotFoundError):
            dt.data.check_file(tmp_path / f"no-{name}", ASKED)
    (tmp_path / "in.csv").write_text("sex\nmale\n")
    with pytest.raises(InvalidParameter, match=r"expected reports in \.csv"):
        dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.sav", {"sex": ASKED["sex"]})
    assert not (tmp_path / "out.sav").exists()
