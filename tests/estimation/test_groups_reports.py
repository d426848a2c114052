"""Randomised reports are no labels, and single values are no measurements: both are said."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core import reports as module
from dither.errors import InvalidParameter

AGE, SEX = dt.Podium(dt.Interval(0, 100), epsilon=1), dt.KRR(dt.Categories(["f", "m"]), epsilon=1)


def test_reports_are_no_labels() -> None:
    """Groups by randomised answers as labels estimate 41 and 59 where the truth is 30 and 70."""
    ages = AGE.perturb(np.repeat([30.0, 70.0], 5000), source=dt.Seeded(1))
    sexes = SEX.perturb(np.repeat(["f", "m"], 5000), source=dt.Seeded(2))
    wrong = dt.estimate(ages, by=np.asarray(["f", "m"])[sexes.cells])
    assert not wrong["f"].covers(30, 1 - 1e-6)
    for by in (sexes, {"sex": sexes}):
        groups = dt.estimate(ages, by=by)
        assert groups["f"].covers(30, 1 - 1e-6)
        assert groups["m"].covers(70, 1 - 1e-6)
        assert not groups["f"].covers(41, 1 - 1e-6)
        gap = groups["m"] - groups["f"]
        assert gap.covers(40, 1 - 1e-6)
        assert gap.n == 10_000
        assert (groups["m"] / groups["f"]).covers(7 / 3, 1 - 1e-6)
        assert dt.stats.difference(groups)[0]["p"] < 1e-6


def test_private_groups_within_public_ones_and_of_categories() -> None:
    rng = np.random.default_rng(3)
    city, code = rng.choice(["Kyoto", "Nara"], 20_000), rng.choice(2, 20_000)
    age = np.where(city == "Nara", 20.0, 50.0) + 20.0 * code
    sexes = SEX.perturb(np.array(["f", "m"])[code].tolist(), source=dt.Seeded(2))
    ages = AGE.perturb(age, source=dt.Seeded(1))
    groups = dt.estimate(ages, by={"city": city, "sex": sexes})
    assert groups.by == ("city", "sex")
    for place, sex, truth in (("Kyoto", "f", 50), ("Kyoto", "m", 70), ("Nara", "f", 20), ("Nara", "m", 40)):
        assert groups[place, sex].covers(truth, 1 - 1e-6)
    pets = dt.KRR(dt.Categories(["cat", "dog"]), epsilon=3)
    told = pets.perturb(
        np.where(rng.random(20_000) < 0.2 + 0.5 * code, "dog", "cat").tolist(), source=dt.Seeded(4)
    )
    shares = dt.estimate(told, by=sexes)
    assert shares["f"]["dog"].covers(0.2, 1 - 1e-6)
    assert shares["m"]["dog"].covers(0.7, 1 - 1e-6)
    assert [row["answer"] for row in shares] == ["cat", "dog", "cat", "dog"]
    with pytest.raises(InvalidParameter, match="groups by one private column"):
        dt.estimate(ages, by={"a": sexes, "b": told})
    with pytest.raises(InvalidParameter, match="no quantity for groups by a private category"):
        dt.estimate(ages, by=sexes, quantity=dt.mean)
    with pytest.raises(InvalidParameter, match="same reports twice"):
        dt.estimate(sexes, by=sexes)


@pytest.mark.filterwarnings("default::dither.core.reports.DecodedValues")
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
    told = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1).perturb([0.2] * 50, source=dt.Seeded(1))
    assert dt.estimate(told).n == 50  # the cumulative shares
    for call in (dt.mean, lambda reports: dt.quantile(reports, 0.5)):
        with pytest.raises(InvalidParameter, match=r"dt\.cumulative\(reports\)"):
            call(told)


def test_people_without_an_answer_are_called_so() -> None:
    """A category of no answer was called a group without a label, or None."""
    answered: Any = dt.KRR(dt.Nullable(dt.Categories(["a", "b"])), epsilon=3)
    told = answered.perturb(["a", "b", None] * 100, source=dt.Seeded(1))
    other = dt.KRR(dt.Categories(["c", "d"]), epsilon=3).perturb(["c", "d", "d"] * 100, source=dt.Seeded(2))
    by_public = dt.estimate(told, by=["x", "y", "y"] * 100)
    by_private = dt.estimate(other, by=told)
    gaps = dt.stats.difference(by_public)
    table = dt.stats.crosstab(other, told)
    for shown in (by_public, by_private, gaps, table):
        assert "no answer" in str(shown)
        assert "no label" not in str(shown)
        assert "None" not in str(shown)
    assert [row["group"] for row in by_private][-1] == "no answer"
    assert table.records()[2]["second"] == "no answer"
    assert by_private[None]["c"].n == 300
    arms = {name: by_public[name]["a"] for name in ("x", "y")}
    assert "Contrast of groups" in str(dt.stats.contrasts(arms, {"gap": {"x": -1, "y": 1}}))
