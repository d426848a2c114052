"""The audit trusts nothing: it accepts what is right and refuses every broken twin of the museum."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dither as dt
from dither import results
from dither.advice.audits import sampler
from dither.advice.audits.sampler import BoundaryWords
from dither.core.kernels.lattice.plane import PlanarNoise
from dither.errors import InvalidParameter
from dither.privacy import Approximate, Nothing, Pure
from tests.golden.devices import CASES
from tests.support.broken import numbers as broken

UNIT = dt.Interval(0, 1)
CITY = dt.Rectangle(UNIT, UNIT)
POINTS = [(0.1, 0.1), (0.9, 0.2), (0.5, 0.8)]
KEY = bytes(range(32))
NEAR = dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=0.05)

RIGHT = [
    dt.PM(UNIT, epsilon=1),
    dt.OGPM(dt.Circle(360), epsilon=8),
    dt.Hybrid(UNIT, epsilon=1),
    dt.Laplace(dt.Interval(-3, 7), epsilon=1),
    dt.Gaussian(UNIT, epsilon=1, delta=1e-6),
    dt.BoundedLaplace(UNIT, epsilon=1),
    dt.Exponential(UNIT, [0, 0.5, 1], epsilon=1),
    dt.KRR(dt.Categories(["a", 1, None]), epsilon=1),
    dt.OUE(dt.Categories(6), epsilon=1),
    dt.OUE(dt.Categories(200), epsilon=1),
    dt.SubsetSelection(dt.Categories(7), epsilon=1),
    dt.HadamardResponse(dt.Categories(40), epsilon=50),
    dt.OLH(dt.Categories(1000), epsilon=1),
    dt.PEM(dt.Text(4), epsilon=1),
    dt.TraCSC(CITY, epsilon=1),
    dt.TraCSD(CITY, epsilon=1, unit="trajectory"),
    dt.rivals.NGram(CITY, POINTS, epsilon=1),
    dt.Polar(dt.Disk(1), epsilon=1),
    dt.PlanarLaplace(CITY, epsilon=1),
    broken.Honest(UNIT, epsilon=1),
]


@pytest.mark.some(every=3)
@pytest.mark.parametrize("mechanism", RIGHT, ids=lambda one: type(one).__name__)
def test_what_is_right_is_accepted(mechanism: Any) -> None:
    finding = dt.audit(mechanism)
    assert finding.ok, str(finding)
    assert finding.problems == ()
    assert finding.unassumed is None or finding.realised >= finding.unassumed - 1e-9 or finding.claimed_delta


@pytest.mark.some(every=6)
@pytest.mark.parametrize("name", CASES)
def test_every_mechanism_is_audited(name: str) -> None:
    mechanism = CASES[name]()
    finding = dt.audit(mechanism, assume=mechanism.guarantee.assumes)
    if isinstance(mechanism.guarantee.bound, Nothing):  # NGram and ATP as published
        assert not finding.holds
    else:
        assert finding.problems == ()
        assert finding.ok


def test_a_ratio_that_lies_is_found_out() -> None:
    liar = broken.LyingRatio(UNIT, epsilon=1)
    assert liar.guarantee.epsilon <= 1.0  # what it says about itself
    finding = dt.audit(liar)
    assert not finding.ok
    assert finding.realised == pytest.approx(2.0, rel=1e-9)
    assert "differ by more" in finding.problems[0]
    small = dt.audit(broken.LyingRatio(UNIT, epsilon=1, cells=64))
    assert small.realised == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (broken.HonestHalfTheTime, sampler.ARRAYS),
        (broken.OneByOne, sampler.SINGLES),
    ],
)
def test_draw_code_that_is_wrong_is_found_out(kind: Any, problem: str) -> None:
    mechanism = kind(UNIT, epsilon=1)
    assert mechanism.guarantee == dt.OGPM(UNIT, epsilon=1).guarantee  # the integers are right
    finding = dt.audit(mechanism)
    assert not finding.ok
    assert finding.problems == (problem,)
    assert problem in str(finding)


def test_a_boundary_word_that_gives_an_input_away_is_found_out() -> None:
    finding = dt.audit(broken.WordZero(UNIT, epsilon=1, cells=1 << 11))
    assert sampler.BOUNDARY in finding.problems
    assert finding.realised == math.inf


def test_categories_told_too_often_are_found_out() -> None:
    assert dt.audit(broken.OffByABit(dt.Categories(8), epsilon=1)).problems == (sampler.ARRAYS,)
    assert dt.audit(dt.KRR(dt.Categories(8), epsilon=1)).ok


def test_paths_that_are_not_drawn_by_their_parts_are_found_out() -> None:
    finding = dt.audit(broken.RawPath(CITY, epsilon=1))
    assert finding.problems == (sampler.PATHS,)
    assert not finding.ok


@pytest.mark.parametrize("change", [lambda steps: steps * 9 // 10, abs, lambda steps: 0 * steps])
def test_planar_noise_that_is_too_small_is_found_out(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = PlanarNoise.draw
    monkeypatch.setattr(PlanarNoise, "draw", lambda *given: change(draw(*given)))
    assert dt.audit(dt.PlanarLaplace(CITY, epsilon=1)).problems == (sampler.ARRAYS,)


def test_the_draws_of_planar_noise_are_compared() -> None:
    for area in (CITY, dt.Disk(1)):
        assert "not compared" not in str(dt.audit(dt.PlanarLaplace(area, epsilon=1)))
    assert "not compared" in str(dt.audit(dt.PlanarLaplace(CITY, epsilon=1, cells=64)))  # a coarse lattice


def test_numbers_that_are_not_finite_are_refused() -> None:
    assert sampler.NOT_FINITE in dt.audit(dt.PM(broken.AnyNumber(0, 1), epsilon=1)).problems


def test_a_weight_that_is_rounded_up_is_found_out() -> None:
    assert not dt.audit(broken.RoundedUp(UNIT, epsilon=1)).ok


def test_assumptions_are_findings() -> None:
    finding = dt.audit(NEAR)
    assert finding.holds
    assert not finding.ok
    assert finding.assumptions == finding.unaccepted == NEAR.guarantee.assumes
    assert finding.unassumed is not None
    assert finding.unassumed > 10.0  # over the whole domain
    assert "not accepted: that two values differ by at most 0.05" in str(finding)
    accepted = dt.audit(NEAR, assume=NEAR.guarantee.assumes)
    assert accepted.ok
    assert accepted.assumptions == NEAR.guarantee.assumes
    assert dt.audit(NEAR, assume=NEAR.guarantee.assumes[0]).ok
    assert not dt.audit(NEAR, assume=["the sky is blue"]).ok


def test_that_the_length_of_a_path_is_public_needs_no_acceptance() -> None:
    finding = dt.audit(dt.TraCSC(CITY, epsilon=1, unit="trajectory"))
    assert finding.assumptions
    assert finding.ok


def test_combinators() -> None:
    pm, krr = dt.PM(UNIT, epsilon=1), dt.KRR(dt.Categories(4), epsilon=0.5)
    each = dt.audit(dt.Each(a=pm, b=krr))
    assert each.ok
    assert each.realised == dt.Each(a=pm, b=krr).guarantee.epsilon
    assert [part.mechanism.split()[0] for part in each.parts] == ["PM", "KRR"]
    assert dt.audit(dt.Sampled(a=pm, b=krr)).realised == pm.guarantee.epsilon
    device = dt.Memoised(pm, KEY, name="a")
    assert not dt.audit(device).ok
    assert dt.audit(device, assume=device.guarantee.assumes).ok
    with pytest.warns(dt.classifiers.RawRelease):
        indicator = dt.classifiers.Indicator(pm, delta=0.01, allow_raw_release=True)
    found = dt.audit(indicator)
    assert found.ok
    assert isinstance(found.bound, Approximate)


@pytest.mark.parametrize("name", ["each", "sampled", "memoised", "campaign"])
def test_one_broken_part_breaks_the_whole(name: str) -> None:
    bad, good = broken.LyingRatio(UNIT, epsilon=1), dt.PM(UNIT, epsilon=1)
    wholes: dict[str, Any] = {
        "each": lambda part: dt.Each(a=good, b=part),
        "sampled": lambda part: dt.Sampled(a=good, b=part),
        "memoised": lambda part: dt.Memoised(part, KEY, name="a"),
        "campaign": lambda part: dt.Questionnaire({"a": good, "b": part}),
    }
    broken_whole, whole = wholes[name](bad), wholes[name](good)
    finding = dt.audit(broken_whole, assume=broken_whole.guarantee.assumes)
    assert not finding.ok
    assert finding.realised > finding.claimed + 0.9
    assert dt.audit(whole, assume=whole.guarantee.assumes).ok


def test_assumptions_of_a_part_are_those_of_the_whole() -> None:
    for whole in (dt.Each(a=NEAR), dt.Questionnaire({"a": NEAR})):
        assert not dt.audit(whole).ok
        assert dt.audit(whole, assume=NEAR.guarantee.assumes).ok


def test_what_promises_nothing_is_not_ok() -> None:
    finding = dt.audit(dt.rivals.NGram.as_published(CITY, POINTS, epsilon=1, reach=0.1))
    assert isinstance(finding.bound, Nothing)
    assert not finding.ok


def test_only_what_is_asked_with_is_audited() -> None:
    for wrong in (1.0, None, "PM", {}):
        with pytest.raises(InvalidParameter):
            dt.audit(wrong)


def test_old_fields_of_a_finding() -> None:
    finding = results.Finding("PM", 1.0, Pure(0.5), "by hand")
    assert finding.ok
    assert finding.realised == 0.5
    assert finding.claimed_delta == finding.realised_delta == 0.0
    assert not results.Finding("PM", 0.4, Pure(0.5), "by hand").ok


def test_boundary_words_end() -> None:
    source = BoundaryWords(b"\xff" * 8)
    assert source.take(8) == b"\xff" * 8
    assert source.take(8) != b"\xff" * 8
    assert not source.private
