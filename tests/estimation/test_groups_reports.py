"""Randomised reports are no labels, and single values are no measurements: both are said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dither as dt
from dither import reports as module
from dither.errors import InvalidParameter

AGE, SEX = dt.Podium(dt.Interval(0, 100), epsilon=1), dt.RR(dt.Categories(["f", "m"]), epsilon=1)


def test_reports_are_no_labels() -> None:
    """Groups by randomised answers estimate 41 and 59 where the truth is 30 and 70."""
    ages = AGE.perturb(np.repeat([30.0, 70.0], 100), source=dt.Seeded(1))
    sexes = SEX.perturb(np.repeat(["f", "m"], 100), source=dt.Seeded(2))
    for by in (sexes, {"sex": sexes}):
        with pytest.raises(InvalidParameter, match=r"randomised reports of RR.*dt\.crosstab"):
            dt.estimate(ages, by=by)


@pytest.mark.filterwarnings("default::dither.reports.DecodedValues")
def test_single_values_carry_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_warned", [])
    ages = AGE.perturb([30.0, 70.0], source=dt.Seeded(1))
    with pytest.warns(module.DecodedValues, match="attenuated") as said:
        _ = (ages.values, np.asarray(ages))
    assert len(said) == 1
    monkeypatch.setattr(module, "_warned", [])
    city = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = dt.TraCSD(city, epsilon=2).perturb([[[0.5, 0.5]]], source=dt.Seeded(1)).values  # places are shown
        _ = dt.mean(ages)


def test_reports_of_cumulative_say_what_to_call() -> None:
    told = dt.Cumulative(dt.Interval(0, 1), epsilon=1).perturb([0.2] * 50, source=dt.Seeded(1))
    assert dt.estimate(told).value == pytest.approx(dt.cumulative(told).value)
    for call in (dt.mean, lambda reports: dt.quantile(reports, 0.5)):
        with pytest.raises(InvalidParameter, match=r"dt\.cumulative\(reports\)"):
            call(told)
