"""The repaired box and the region are bounds that hold as often as they say; the published box is none."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import dither as dt
from dither.errors import InvalidParameter

pytest.importorskip("sklearn")

from dither_papers.classifiers.boxes import BoxMethod, box_utility
from tests.extensions.classifiers.settings import HALF, SETTINGS, UNIT, Setting, black_box
from tests.extensions.classifiers.test_utility_validity import (
    FALSE_ALARM,
    LONG,
    MONTE_CARLO,
    OMEGA,
    QUICK,
    each_setting,
    too_often,
    wrong,
)

VALID = [partial(box_utility, method=method) for method in (BoxMethod.REPAIRED, BoxMethod.REGION)]
PUBLISHED = partial(box_utility, method=BoxMethod.PUBLISHED)
each_bound = pytest.mark.parametrize("bound", VALID, ids=["repaired", "region"])


@pytest.mark.some("region-*", "repaired-[!f]*")
@each_setting
@each_bound
def test_the_bound_holds(setting: Setting, bound: Any) -> None:
    assert not too_often(wrong(setting, QUICK, 300, bound), QUICK)


@pytest.mark.slow
@each_setting
@each_bound
def test_the_bound_holds_at_length(setting: Setting, bound: Any) -> None:
    failures = wrong(setting, LONG, 1000, bound)
    print(f"{setting.name}, {bound.keywords['method'].value}: wrong in {failures} of {LONG} runs")
    assert failures <= OMEGA * LONG


@each_bound
def test_the_bound_is_below_the_exact_utility(bound: Any) -> None:
    steep = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    for epsilon in (1.0, 3.0):
        mechanism = dt.OGPM(UNIT, epsilon=epsilon)
        found = bound(steep, [0.8, 0.5], mechanism, queries=1000, confidence=1 - 1e-6, source=dt.Seeded(1))
        assert found.is_bound
        assert found.lower <= dt.classifiers.utility(steep, [0.8, 0.5], mechanism).lower


def test_the_published_box_is_rejected() -> None:
    """The broken twin: it claims .99 where the truth is .036, in every run; the repaired one does not."""
    setting = SETTINGS[-1]
    fine = dt.OGPM(UNIT, epsilon=8)
    truth = 1.0 - float(dt.classifiers.concentration(fine, (0.5 - 1.02 * HALF, 0.5 + 1.02 * HALF), 0.5)) ** 2
    assert truth == pytest.approx(0.036, abs=5e-4)
    for run in range(5):
        published, repaired, sampled = (
            bound(black_box(setting.predict), setting.x, fine, confidence=confidence, source=dt.Seeded(run))
            for bound, confidence in (
                (PUBLISHED, 0.95),
                (VALID[0], 1 - FALSE_ALARM),
                (MONTE_CARLO, 1 - FALSE_ALARM),
            )
        )
        assert published.lower == pytest.approx(0.99, abs=1e-9)
        assert not published.is_bound
        assert "not a bound" in repr(published)
        assert repaired.lower <= truth
        assert sampled.lower <= truth <= sampled.upper
    assert too_often(wrong(setting, 20, 10, PUBLISHED), 20)


def test_a_sampled_bound_has_no_confidence_of_one() -> None:
    with pytest.raises(InvalidParameter, match="confidence below 1"):
        PUBLISHED(SETTINGS[0].predict, SETTINGS[0].x, SETTINGS[0].mechanism, confidence=1)
