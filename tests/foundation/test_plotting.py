"""Pictures: every mechanism can be drawn, and the drawing shows its law."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.estimation import maps
from dither.foundation.plotting import axes_or_new, start_at_zero
from tests.support.cases.numbers import EVERY, Case, names

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.mark.some(every=9)
@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_every_mechanism_can_be_drawn(case: Case, tmp_path: Path) -> None:
    mechanism = case(1.0)
    axes = mechanism.plot(mechanism.line.from_unit(np.array([0.1, 0.6])))
    file = tmp_path / "law.png"
    axes.figure.savefig(file)
    assert file.stat().st_size > 1000
    assert len(axes.get_legend().get_texts()) == 2


AGE = dt.SW(dt.Interval(0, 1), epsilon=1)
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
PLACES = np.random.default_rng(1).uniform(size=(40, 3, 2))


@cache
def _map() -> results.DensityMap:
    return maps.density(dt.TraCSC(SQUARE, epsilon=2).perturb(PLACES, source=dt.Seeded(1)), 3, 3)


# Everything public that draws, with the number of its panels.
DRAWINGS: dict[str, tuple[Callable[..., Any], int]] = {
    "mechanism": (lambda **more: AGE.plot(0.5, **more), 1),
    "distribution": (
        lambda **more: dt.distribution(AGE.perturb([0.5] * 99, source=dt.Seeded(1)), 4).plot(**more),
        1,
    ),
    "map": (lambda **more: _map().plot(**more), 1),
    "paths": (lambda **more: maps.draw_before_and_after(PLACES[:2], PLACES[2:4], **more), 1),
    "comparison": (lambda **more: dt.compare(dt.Categories(4), epsilon=1).plot(count=2, **more), 2),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize(("draw", "panels"), DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_is_on_the_axes_that_are_given_and_returns_them(
    draw: Callable[..., Any], panels: int
) -> None:
    figure = Figure()
    ax: Any = figure.subplots() if panels == 1 else figure.subplots(1, panels)
    assert draw(ax=ax) is ax
    assert all(one.has_data() for one in np.atleast_1d(ax))
    new = np.atleast_1d(np.asarray(draw(), dtype=object))
    assert new.size == panels
    assert all(one.figure is not figure for one in new)


def test_the_drawing_shows_the_density() -> None:
    mechanism = dt.OGPM(dt.Interval(0, 1), epsilon=2)
    (line, *_rest) = mechanism.plot(0.5).get_lines()
    assert line.get_ydata().max() == pytest.approx(np.e)
    with pytest.raises(dt.errors.OutsideDomain):
        mechanism.plot(2.0)


def test_an_axis_that_starts_at_zero_grows_with_what_is_added() -> None:
    pytest.importorskip("matplotlib")
    axes = axes_or_new(None)
    axes.plot([0.0, 1.0], [0.5, 1.0])
    start_at_zero(axes)
    assert axes.get_ylim()[0] == 0.0
    axes.plot([0.0, 1.0], [0.5, 9.0])
    low, high = axes.get_ylim()
    assert low == 0.0
    assert high > 9.0
