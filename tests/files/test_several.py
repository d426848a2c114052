"""Several files of reports are counted together, if they answer the same questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.errors import Mismatch

MINUTES = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}


def written(path: Path, values: range, questions: dict[str, dt.Podium] = MINUTES) -> Path:
    raw = path.with_name(f"raw {path.stem}.csv")
    raw.write_text("minutes\n" + "\n".join(map(str, values)) + "\n", encoding="utf-8")
    dt.files.perturb_file(raw, path, questions)
    return path


def test_two_files_are_the_sum_of_each(tmp_path: Path) -> None:
    one, two = written(tmp_path / "a.csv", range(50)), written(tmp_path / "b.jsonl", range(30))
    together = dt.files.summarise_files([one, str(two)])["minutes"]
    apart = dt.files.summarise_file(one)["minutes"] + dt.files.summarise_file(two)["minutes"]
    assert together.n == 80
    assert np.array_equal(together.counts, apart.counts)


def test_files_of_other_questions_are_refused(tmp_path: Path) -> None:
    one = written(tmp_path / "a.csv", range(5))
    other = written(tmp_path / "b.csv", range(5), {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=2)})
    with pytest.raises(Mismatch, match=r"b\.csv"):
        dt.files.summarise_files([one, other])
