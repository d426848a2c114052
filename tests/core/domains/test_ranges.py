"""Scales and clipping: what is declared of an interval, how it travels, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.questionnaire import Questionnaire
from dither.errors import InvalidParameter, OutsideDomain

WIDE = dt.Interval(0, 1440, unit="minutes").on_scale("log")
TOML = """
[questions.wide]
interval = [-1000, 1000]
scale = "log"
unit = "euros"
epsilon = 1

[questions.narrow]
interval = [10, 100]
clipped = true
outside = [0.012, 0.004, 0.02]
epsilon = 1
"""


def test_positions_and_values_are_inverse_on_both_sides_of_zero() -> None:
    values = np.array([-1000.0, -30.0, -0.5, 0.0, 1.0, 17.0, 1000.0])
    for low, high, scale in ((-1000, 1000, "log"), (-1000, 1000, "linear"), (-1000, 2000, "log")):
        line = dt.Interval(low, high).on_scale(scale)
        found = line.positions(values)
        assert (np.diff(found) > 0.0).all()
        np.testing.assert_allclose(line.shown.from_unit(found / line.high), values, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(line.shown.to_unit(values) * line.high, found, rtol=1e-12)
    assert WIDE.positions([-5, 5000]).tolist() == [0.0, 32.0]
    assert (WIDE.shown.low, WIDE.shown.high, WIDE.shown.parts, WIDE.parts) == (0.0, 1440.0, 32, 1)


@pytest.mark.parametrize("line", [WIDE, dt.Interval(-4, 4, unit="m").on_scale("linear")])
def test_a_repr_is_an_expression(line: dt.Interval) -> None:
    made = eval(repr(line), {"Interval": dt.Interval})
    assert made == line
    assert made.scale == line.scale
    clipped = dt.Interval(10, 100, unit="m", clipped_from=(0.012, 0.004, 0.02))
    for each in (clipped, dt.Interval(10, 100, clipped_from=dt.Interval(0, 1440))):
        assert eval(repr(each), {"Interval": dt.Interval}).clipping == each.clipping


def test_a_clipped_interval_moves_values_and_says_so() -> None:
    domain = dt.Interval(10, 100, clipped_from=WIDE)
    asked = dt.Podium(domain, epsilon=50)
    found = np.asarray(asked.perturb([0.0, 44.0, 1440.0], source=dt.Seeded(1)))
    np.testing.assert_allclose(found, [10, 44, 100], atol=1.0)
    with pytest.raises(OutsideDomain):
        asked.perturb([np.nan])
    with pytest.raises(OutsideDomain):
        dt.Podium(dt.Interval(10, 100), epsilon=50).perturb([0.0])
    assert domain.words() == "a number; one below 10 counts as 10, one above 100 as 100"
    assert asked.question.fingerprint == dt.Podium(dt.Interval(10, 100), epsilon=50).question.fingerprint


def test_declarations_travel_in_the_head_of_a_file() -> None:
    asked = Questionnaire.from_json(Questionnaire.from_toml(TOML).to_json())
    wide, narrow = (asked.questions[name].domain for name in ("wide", "narrow"))
    assert wide.scale[0] == -1000.0
    assert wide.scale[16] == 0.0
    assert wide.unit == "euros"
    assert asked.questions["wide"].name == "SW"  # a distribution is asked for, not a mean
    assert narrow.clipping.outside == (0.012, 0.004, 0.02)
    assert asked.questions["narrow"].domain == dt.Interval(10, 100)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dt.Interval(10, 100, clipped_from=dt.Interval(20, 1440)), "to contain \\[10, 100\\]"),
        (lambda: dt.Interval(10, 100, clipped_from=dt.Circle(360)), "to contain \\[10, 100\\]"),
        (lambda: dt.Interval(10, 100, clipped_from="wide"), "what dt.bounds returned"),
        (lambda: dt.Interval(10, 100, clipped_from=(0.1, 0.2, 0.3)), "0 ≤ low ≤ share ≤ high ≤ 1"),
        (lambda: dt.Interval(10, 100, clipped_from=(0.1, 0.0, True)), "0 ≤ low ≤ share ≤ high ≤ 1"),
        (lambda: dt.Interval(0, 2, scale=[0, 1, 1]), "larger than the one before"),
        (lambda: dt.Interval(0, 2, scale=[0, 1]), "at least 3 edges"),
        (lambda: dt.Interval(0, 3, scale=[0, 1, 10]), "from 0 to the number of parts of its scale"),
        (lambda: dt.Interval(0, 2, scale=[0, 1, 10], step=1), "without a step"),
        (lambda: dt.Interval(0, 1440).on_scale("sqrt"), '"log" or "linear"'),
        (lambda: dt.Circle(360).read_as(clipped_from=True), "expected an interval"),
        (lambda: Questionnaire.from_toml(TOML.replace("clipped = true\n", "")), "outside only with clipped"),
        (lambda: Questionnaire.from_toml(TOML.replace("clipped = true", "clipped = 1")), "true or false"),
    ],
)
def test_what_makes_no_range_is_refused(call: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        call()


def test_files_are_read_by_the_values_of_a_scale(tmp_path: Any) -> None:
    (tmp_path / "in.csv").write_text("wide,narrow\n-900,5\n0,44\n17,2000\n", encoding="utf-8")
    asked = Questionnaire.from_toml(TOML.replace("epsilon = 1", "epsilon = 12"))
    counts = dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", asked, source=dt.Seeded(1))
    assert counts.clipped == 2  # on purpose: no option is needed
    reports = dt.data.read(tmp_path / "out.csv")["wide"]
    places = reports.question.domain.shown.from_unit(np.clip(np.asarray(reports) / 32.0, 0.0, 1.0))
    np.testing.assert_allclose(places, [-900, 0, 17], atol=120.0)
    (tmp_path / "far.csv").write_text("wide,narrow\n-1001,5\n", encoding="utf-8")
    with pytest.raises(OutsideDomain, match="1"):
        dt.data.perturb_file(tmp_path / "far.csv", tmp_path / "far-out.csv", asked, source=dt.Seeded(1))
