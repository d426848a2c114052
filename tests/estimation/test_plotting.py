"""Pictures in the house style: titles, units, filled bands, roses, bars and groups."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import dither as dt
from dither.foundation.plotting import BLUE

COMMUTE = dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=2, cells=1 << 10)
REPORTS = COMMUTE.perturb(180 * np.random.default_rng(1).beta(2, 5, 3000), source=dt.Seeded(1))
PET = dt.KRR(dt.Categories(["cat", "dog", "none"]), epsilon=3)
PETS = PET.perturb(["cat", "dog", "dog"] * 500, source=dt.Seeded(2))


def test_a_density_has_a_filled_band_a_title_and_units():
    axes = dt.distribution(REPORTS).plot()
    assert any(isinstance(one, FillBetweenPolyCollection) for one in axes.collections)
    assert axes.get_xlabel() == "minutes"
    assert axes.get_ylabel() == "density (1/minutes)"
    assert "n = 3 000" in axes.get_title()
    assert to_hex(axes.lines[0].get_color()) == BLUE
    assert not axes.spines["top"].get_visible()


def test_a_circle_is_a_rose_whose_areas_are_shares():
    wind = dt.OGPM(dt.Circle(360, unit="°"), epsilon=2, cells=1 << 10)
    shape = dt.distribution(wind.perturb([40.0] * 2000, source=dt.Seeded(3)), 12)
    axes = shape.plot()
    assert axes.name == "polar"
    bars = axes.patches[:12]
    areas = [bar.get_height() ** 2 * bar.get_width() / 2 for bar in bars]
    assert areas == pytest.approx(shape.probabilities, abs=1e-9)
    flat = Figure().add_subplot()
    assert shape.plot(ax=flat) is flat  # on given axes that are not polar it is a curve


def test_frequencies_are_bars_with_their_intervals():
    shares = dt.frequencies(PETS)
    axes = shares.plot(level=0.9)
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(np.maximum(shares.value, 0.0).tolist())
    (whiskers,) = (one for one in axes.collections if isinstance(one, LineCollection))
    ends = np.array([segment[:, 1] for segment in whiskers.get_segments()]).T
    assert ends == pytest.approx(np.clip(shares.interval(0.9), 0.0, 1.0))  # cut, with a mark
    assert [label.get_text() for label in axes.get_xticklabels()] == ["cat", "dog", "none"]
    many = dt.frequencies(dt.OUE(dt.Categories(50), epsilon=3).perturb([7] * 200, source=dt.Seeded(4)))
    assert "20 most frequent of 50" in many.plot().get_title()
    assert len(many.plot(most=5).patches) == 5


def test_groups_stand_side_by_side():
    days = np.arange(3000) % 3
    axes = dt.estimate(REPORTS, by={"day": days}).plot()
    assert axes.get_ylabel() == "estimate (minutes)"
    assert axes.get_xlabel() == "day"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2"]
    bars = dt.estimate(PETS, by=days[:1500]).plot()
    assert len(bars.patches) == 9
    assert len(bars.get_legend().get_texts()) == 3
    wind = dt.OGPM(dt.Circle(360), epsilon=2, cells=1 << 10).perturb([359.0] * 900, source=dt.Seeded(5))
    assert dt.estimate(wind, by=days[:900]).plot().lines


def test_the_truth_of_a_simulation_is_drawn_with_the_estimate():
    axes = dt.mean(REPORTS).plot(truth=51.4)
    (line,) = [one for one in axes.lines if one.get_label() == "truth"]
    assert line.get_xdata() == [51.4, 51.4]
    values = np.array([10.0, 20.0, 20.0, 30.0])
    bars = dt.distribution(REPORTS).plot(truth=values).patches
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1.0)
    with pytest.raises(dt.errors.InvalidParameter, match="leave out `truth`"):
        dt.frequencies(PETS).plot(truth=0.5)
    wind = dt.OGPM(dt.Circle(360), epsilon=2, cells=1 << 10).perturb([40.0] * 200, source=dt.Seeded(3))
    with pytest.raises(dt.errors.InvalidParameter, match="on a circle"):
        dt.distribution(wind).plot(truth=[40.0])
