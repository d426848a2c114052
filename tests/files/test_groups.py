"""Files of reports by group: the same answers as from arrays, in CSV and Parquet, at the terminal too."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dither as dt
from dither.cli.main import main
from dither.errors import InvalidParameter, Mismatch

QUESTIONS = {"minutes": dt.Hybrid(dt.Interval(0, 180), epsilon=2)}


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    values, cities, days = (
        180 * rng.beta(2, 5, 900),
        rng.choice(["Kyoto", "Nara"], 900),
        rng.integers(1, 3, 900),
    )
    raw = tmp_path / "raw.csv"
    rows = zip(values.tolist(), cities, days, strict=True)
    raw.write_text("minutes,city,day\n" + "".join(f"{value},{city},{day}\n" for value, city, day in rows))
    made = []
    for number, name in enumerate(("a.csv", "b.parquet")):
        out = tmp_path / name
        dt.files.perturb_file(raw, out, QUESTIONS, keep=["city", "day"], source=dt.Seeded(number))
        made.append(out)
    return made


def test_files_are_counted_by_group(files):
    counts = dt.files.group_files(files, ["city"])
    table = counts["minutes"].estimates(dt.estimate)
    alone = [dt.files.group_files([one], ["city"])["minutes"].estimates(dt.estimate) for one in files]
    assert sum(row["n"] for row in table) == 1800
    assert table["Nara"].n == sum(one["Nara"].n for one in alone)
    pooled = sum(one["Nara"].value * one["Nara"].n for one in alone) / table["Nara"].n
    assert table["Nara"].value == pytest.approx(pooled)


def test_the_terminal_prints_a_table(files):
    shown = CliRunner().invoke(
        main, ["estimate", str(files[0]), "--by", "city", "--by", "day", "--minimum", "50"]
    )
    assert shown.exit_code == 0, shown.output
    assert "4 groups by city, day" in shown.output
    assert shown.output.count("Kyoto") == 2
    plain = CliRunner().invoke(main, ["estimate", str(files[0]), "--by", "city", "--json"])
    table = dt.files.group_files([files[0]], ["city"])["minutes"].estimates(dt.estimate)
    assert json.loads(plain.output) == {"minutes": [dict(row) for row in table]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "citi"], "did you mean city"),
        (["--by", "minutes"], "is a question"),
        (["--by", "city", "--by", "city"], "none twice"),
        (["--by", "city", "--minimum", "9000"], "smaller minimum"),
        (["--by", "city", "--minimum", "1"], "minimum"),
        (["--by", "city", "--bins", "4"], "leave out --bins"),
        (["--by", "city", "--column", "minute"], "did you mean minutes"),
    ],
)
def test_bad_options_are_refused_in_words(files, options, said):
    shown = CliRunner().invoke(main, ["estimate", str(files[0]), *options])
    assert shown.exit_code != 0
    assert said in shown.output + str(shown.exception)


def test_files_of_other_questions_are_refused(files, tmp_path):
    raw, other = tmp_path / "raw.csv", tmp_path / "other.csv"
    dt.files.perturb_file(raw, other, {"minutes": QUESTIONS["minutes"].at(1)}, keep=["city"])
    with pytest.raises(Mismatch, match=r"other\.csv does not have the same questions"):
        dt.files.group_files([files[0], other], ["city"])
    with pytest.raises(InvalidParameter, match="no file"):
        dt.files.group_files([], ["city"])
