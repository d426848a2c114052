"""How a record is randomised: by one mechanism, by several, with an indicator; and what is refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import Indicator, LinearClassifier, RawRelease
from dither.extensions.classifiers.subject import Randomisation
from tests.extensions.classifiers.settings import UNIT, far_off

OGPM = dt.OGPM(UNIT, epsilon=1)
STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])


@pytest.fixture
def indicator() -> Indicator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawRelease)
        return Indicator(OGPM, delta=0.1, allow_raw_release=True)


@pytest.mark.parametrize(
    "mechanism",
    [
        dt.JRR(dt.Categories([0.0, 1.0]), p=0.8, rho=0, n=20_000),  # trials would depend on each other
        dt.OUE(dt.Categories([0.0, 1.0]), epsilon=1),
        dt.KRR(dt.Categories([0.0, math.inf]), epsilon=1),
        dt.Sampled(a=OGPM),
        OGPM.sampled,  # a law alone promises nothing
        "ogpm",
    ],
    ids=["JRR", "OUE", "infinite", "Sampled", "law", "text"],
)
def test_what_does_not_randomise_a_record_is_refused(mechanism: Any) -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        Randomisation.of(mechanism)


def test_an_indicator_is_not_taken_for_a_feature_nor_for_a_data_set(indicator: Indicator) -> None:
    with pytest.raises(dt.errors.InvalidParameter, match="got Indicator"):
        dt.classifiers.utility(STEEP, [0.8, 0.5], dt.Each({"a": indicator, "b": OGPM}))
    for refuse in (
        lambda: dt.classifiers.over_records(STEEP, [[0.8, 0.5]], indicator),
        lambda: dt.classifiers.report(STEEP, [0.8, 0.5], {"raw": indicator}),
    ):
        with pytest.raises(dt.errors.InvalidParameter, match="expected no Indicator here"):
            refuse()


def test_an_indicator_takes_single_numbers_alone() -> None:
    for wrong in (dt.OUE(dt.Categories(3), epsilon=1), dt.Sampled(a=OGPM), OGPM.sampled):
        with pytest.raises(dt.errors.InvalidParameter, match="for an Indicator"):
            Indicator(wrong, delta=0.1, allow_raw_release=True)


def test_one_coin_for_a_record_of_two_features(indicator: Indicator) -> None:
    found = Randomisation.of(indicator).guarantee(2)
    assert found.epsilon == pytest.approx(2 * OGPM.guarantee.epsilon)
    assert found.delta == indicator.guarantee.delta
    sent = indicator.perturb(np.full((20_000, 2), 0.3), source=dt.Seeded(1))
    raw = sent == 0.3
    assert (raw[:, 0] == raw[:, 1]).all()
    assert not far_off(raw[:, 0].mean(), 0.1, 20_000)
