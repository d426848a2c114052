"""Pictures: every mechanism can be drawn, and the drawing shows its law."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dither as dt
from tests.cases import EVERY, Case, names

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_every_mechanism_can_be_drawn(case: Case, tmp_path: Path) -> None:
    mechanism = case(1.0)
    axes = mechanism.plot(mechanism.line.from_unit(np.array([0.1, 0.6])))
    file = tmp_path / "law.png"
    axes.figure.savefig(file)
    assert file.stat().st_size > 1000
    assert len(axes.get_legend().get_texts()) == 2


def test_the_drawing_shows_the_density() -> None:
    mechanism = dt.OGPM(dt.Interval(0, 1), epsilon=2)
    (line, *_rest) = mechanism.plot(0.5).get_lines()
    assert line.get_ydata().max() == pytest.approx(np.e)
    with pytest.raises(dt.errors.OutsideDomain):
        mechanism.plot(2.0)
