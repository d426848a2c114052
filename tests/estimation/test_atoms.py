"""Point masses are found where they are, and none where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.estimation.distribution_methods import EmpiricalBayes
from tools.coverage_shapes import SHAPES

UNIT = dt.Interval(0, 1)


def shape_of(mechanism, values, seed=1, **more):
    return dt.distribution(mechanism.perturb(values, source=dt.Seeded(seed)), **more)


@pytest.mark.parametrize("kind", [dt.SW, dt.Podium, dt.OGPM, dt.Hybrid])
def test_smooth_shapes_have_no_atoms(kind):
    values = np.random.default_rng(1).beta(2, 5, 20_000)
    assert shape_of(kind(UNIT, epsilon=1), values).atoms == ()


@pytest.mark.parametrize(("place", "epsilon"), [(0.0, 1), (1.0, 1), (0.3, 2)])
def test_an_atom_is_found_at_its_place(place, epsilon):
    rng = np.random.default_rng(2)
    values = np.where(rng.random(50_000) < 0.4, place, rng.random(50_000))
    shape = shape_of(dt.SW(UNIT, epsilon=epsilon), values)
    assert len(shape.atoms) == 1
    (mass,) = shape.atoms
    assert mass.place == pytest.approx(place, abs=0.004)
    assert mass.share.interval(0.999)[0] < 0.4 < mass.share.interval(0.999)[1]
    assert "point masses at" in repr(shape)


def test_an_atom_on_a_circle_is_found_across_the_beginning():
    rng = np.random.default_rng(3)
    values = np.where(rng.random(50_000) < 0.5, 359.5, 360 * rng.random(50_000))
    (mass,) = shape_of(dt.OGPM(dt.Circle(360), epsilon=3), values).atoms
    assert min(abs(mass.place - 359.5), 360 - abs(mass.place - 359.5)) < 1.0
    assert mass.share.covers(0.5, 0.999)


def test_a_five_point_scale_is_five_atoms():
    values = np.random.default_rng(4).choice([0, 0.25, 0.5, 0.75, 1], 50_000, p=[0.1, 0.2, 0.3, 0.25, 0.15])
    shape = shape_of(dt.SW(UNIT, epsilon=4), values)
    assert sorted(round(mass.place, 2) for mass in shape.atoms) == [0, 0.25, 0.5, 0.75, 1]
    assert sum(float(mass.share) for mass in shape.atoms) > 0.98


def test_declared_points_carry_all_the_mass():
    values = np.random.default_rng(5).choice(np.arange(0, 181, 5), 50_000)
    question = dt.SW(dt.Interval(0, 180, step=5), epsilon=2)
    assert question.fingerprint == dt.SW(dt.Interval(0, 180), epsilon=2).fingerprint
    shape = shape_of(question, values)
    assert shape.bins == 37
    assert shape.atoms == ()
    low, high = shape.bands(0.999)
    assert ((low <= 1 / 37) & (high >= 1 / 37)).all()
    assert shape.cdf(4.9).value == shape.cdf(0).value == pytest.approx(shape.probabilities[0])
    assert shape.quantile(0.5).value % 5 == pytest.approx(0, abs=1e-3)
    assert np.all(shape.pdf([0, 5, 7]) == 0)


def test_no_more_atoms_than_allowed():
    values = np.random.default_rng(4).choice([0, 0.5, 1], 20_000)
    question, kind = dt.SW(UNIT, epsilon=4), EmpiricalBayes
    counts = [len(shape_of(question, values, method=kind(most_atoms=most)).atoms) for most in (0, 2, 12)]
    assert counts[0] == 0
    assert counts[1] <= 2
    assert counts[2] == 3
    with pytest.raises(InvalidParameter, match="point masses"):
        EmpiricalBayes(most_atoms=-1)


@pytest.mark.parametrize("step", [0, -1, 181, "five", float("nan"), 0.001])
def test_impossible_steps_are_refused(step):
    with pytest.raises(InvalidParameter, match="step"):
        dt.Interval(0, 180, step=step)


def test_steps_on_a_circle_divide_it():
    assert dt.Circle(7, step=1).points.tolist() == [0, 1, 2, 3, 4, 5, 6]
    with pytest.raises(InvalidParameter, match="step"):
        dt.Circle(7, step=2)
    week = dt.OGPM(dt.Circle(7, step=1), epsilon=3)
    shape = shape_of(week, np.repeat([0.0, 5.0], 10_000))
    assert shape.probabilities[[0, 5]].sum() > 0.97


def _later(epsilon, runs):
    """The reports of 20 000 people, 30 % of them at 0.3 and the others spread evenly, in a later run."""
    question, rng, source = dt.SW(UNIT, epsilon=epsilon), np.random.default_rng(5), dt.Seeded(5)
    shape = SHAPES["30 % at 0.3, uniform"]
    every = [question.perturb(shape.draw(rng, 20_000), source=source) for _ in range(runs)]
    return every[-1]


def test_an_end_that_seems_to_gain_does_not_hide_an_atom_between():
    # The one-step gain of an atom at an end is too large; when an end was first, nothing else was tried.
    (mass,) = dt.distribution(_later(0.5, 5)).atoms
    assert mass.place == pytest.approx(0.3, abs=0.03)


def test_the_place_of_an_atom_is_as_uncertain_as_the_reports_leave_it():
    # Two places are equally likely here. With the bins fixed it was said to be 0.3116 ± 0.0014.
    atom, *unseen = dt.distribution(_later(1.0, 1)).curve.atoms
    assert [one.place for one in unseen] == [0.0, 1.0]  # of no share: they only count in the errors
    assert abs(atom.place - 0.3) < 3 * atom.spread
