"""Estimates in notebooks: HTML that escapes, formats, items, frames and units."""

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

COMMUTE = dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=2, cells=1 << 10)
REPORTS = COMMUTE.perturb(180 * np.random.default_rng(1).beta(2, 5, 3000), source=dt.Seeded(1))
PET = dt.KRR(dt.Categories(["<b>cat</b>", "dog"]), epsilon=2)
PETS = PET.perturb(["dog"] * 300, source=dt.Seeded(2))


def test_an_estimate_is_formatted_with_its_error():
    mean = dt.mean(REPORTS)
    half = mean.half_width()
    assert f"{mean:.2f}" == f"{mean.value:.2f} ± {half:.2f} minutes"
    assert f"{mean}" == repr(mean)
    share = dt.frequencies(PETS)
    assert f"{share['dog']:.1%}" == f"{share['dog'].value:.1%} ± {share['dog'].half_width():.1%}"
    assert f"{share:.1f}".startswith("[")
    with pytest.raises(ValueError, match="format"):
        f"{mean:nonsense}"


def test_html_shows_intervals_and_escapes_labels():
    for shown in (
        dt.mean(REPORTS),
        dt.frequencies(PETS),
        dt.distribution(REPORTS, 4),
        dt.crosstab(PETS, PET.perturb(["dog"] * 300)),
    ):
        text = shown._repr_html_()
        assert "<table>" in text
        assert "<b>cat" not in text
    assert "&lt;b&gt;cat" in dt.frequencies(PETS)._repr_html_()
    assert "in minutes" in dt.mean(REPORTS)._repr_html_()
    assert "ε ≤ 2" in COMMUTE.guarantee._repr_html_()
    assert "<table>" in dt.estimate(REPORTS, by=[0, 1, 2] * 1000)._repr_html_()


def test_frames_and_items_hold_the_same_numbers():
    mean, shares, shape = dt.mean(REPORTS), dt.frequencies(PETS), dt.distribution(REPORTS, 4)
    row = mean.to_frame().iloc[0]
    assert (row["value"], row["low"], row["high"]) == (mean.value, *mean.interval())
    assert [label for label, _ in shares.items()] == list(shares.labels)
    assert dict(shares.items())["dog"].value == shares["dog"].value
    assert shares.to_frame()["answer"].tolist() == list(shares.labels)
    assert shape.to_frame()["value"].to_numpy() == pytest.approx(shape.probabilities)
    (first, last), share = next(shape.items())
    assert (first, last) == (0.0, 45.0)
    assert share.value == pytest.approx(shape.probabilities[0])
    assert dt.distribution(REPORTS, 4, method=dt.likelihood).to_frame().shape == (4, 3)


def test_a_unit_is_shown_and_nothing_else():
    plain = dt.SW(dt.Interval(0, 180), epsilon=2, cells=1 << 10)
    assert COMMUTE.domain == plain.domain
    assert COMMUTE.device_text == plain.device_text
    assert COMMUTE.fingerprint == plain.fingerprint
    assert dt.to_json(COMMUTE) == dt.to_json(plain)
    assert repr(COMMUTE.domain) == "Interval(0, 180, unit='minutes')"
    assert repr(dt.Circle(360, unit="°")) == "Circle(360, unit='°')"
    for shown in (
        dt.mean(REPORTS),
        dt.quantile(REPORTS, 0.5),
        dt.distribution(REPORTS).mode(),
        2 * dt.mean(REPORTS),
    ):
        assert " minutes (95 %" in repr(shown)
    assert dt.mean(REPORTS.read_by(plain)).value == dt.mean(REPORTS).value
    for unit in (5, "a\nb", "x" * 41, None):
        with pytest.raises(InvalidParameter, match="a unit is a text"):
            dt.Interval(0, 1, unit=unit)
