"""Domains admit what they say, refuse the rest, and never repeat a value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither.core.domains import CodedLabels
from dither.errors import DitherError, InvalidParameter, OutsideDomain
from tests.support.cases.numbers import EVERY, Case, names

SECRET = 123456.789


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, SECRET])
@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_outside_values_are_refused_and_not_named(case: Case, bad: float) -> None:
    mechanism = case(1.0)
    inside = float(mechanism.line.from_unit(np.asarray(0.5)))
    for values in (bad, [inside, bad], np.array([inside] * 40_000 + [bad]), np.float64(bad)):
        with pytest.raises(OutsideDomain) as caught:
            mechanism.perturb(values)
        assert "123456" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert "clip" in str(caught.value)


@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_every_shape_and_kind_of_number(case: Case) -> None:
    mechanism = case(1.0)
    low, high = math.ceil(mechanism.line.low), math.floor(mechanism.line.high)
    shaped = np.linspace(low, high, 24).reshape(2, 3, 4)
    kinds = [
        low,
        float(high),
        np.float32(high),
        np.int16(low),
        [low, high],
        np.array([low, high], dtype=np.uint8 if low >= 0 else np.int8)
        if high < 128
        else np.array([low, high]),
        shaped[1, 2],
        shaped.astype(np.float32)[:, 0, 0],
        shaped[1, ::2, 1][::-1],
        np.array([]),
        [],
        np.linspace(low, high, 100, dtype=np.float16),
    ]
    for several in ([[low], [high]], shaped, shaped[0], shaped.T[:1], np.empty((0, 3))):
        with pytest.raises(InvalidParameter, match="expected one value per person"):
            mechanism.perturb(several)
    for values in kinds:
        reports = mechanism.perturb(values, source=dt.Seeded(1))
        assert reports.cells.shape == np.shape(values)
        assert reports.values.shape == np.shape(values)


def test_what_is_not_a_number_gets_a_clear_error() -> None:
    mechanism = dt.PM(dt.Interval(0, 1), epsilon=1)
    masked = np.ma.masked_array([0.5, 0.5], mask=[True, False])
    for values, word in (
        (masked, "masked"),
        (["a"], "numbers"),
        ([object()], "numbers"),
        ([0.1, [0.1, 0.2]], "regular"),
        ([0.1, None], r"dt\.Nullable"),
        (0.5 + 0j, "numbers"),
        (None, "numbers"),
        ([True, False], "numbers"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "numbers"),
    ):
        with pytest.raises(OutsideDomain, match=word):
            mechanism.perturb(values)


@pytest.mark.parametrize(
    "make",
    [
        lambda: dt.Interval(1, 1),
        lambda: dt.Interval(2, 1),
        lambda: dt.Interval(0, math.inf),
        lambda: dt.Interval(math.nan, 1),
        lambda: dt.Interval("0", 1),
        lambda: dt.Interval(-1e308, 1e308),
        lambda: dt.Circle(0),
        lambda: dt.Circle(-1),
        lambda: dt.Circle(True),
        lambda: dt.Categories(1),
        lambda: dt.Categories("abc"),
        lambda: dt.Categories(["a", "a"]),
        lambda: dt.Categories([]),
        lambda: dt.Disk(0),
        lambda: dt.Disk(1, (math.nan, 0)),
        lambda: dt.Rectangle(1, 2),
        lambda: dt.Sphere(-1),
        lambda: dt.PM(dt.Circle(1), epsilon=1),
        lambda: dt.PM("interval", epsilon=1),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=0),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=-1),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=math.nan),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=math.inf),
        lambda: dt.PM(dt.Interval(0, 1), epsilon="1"),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=True),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=1e-9),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=100),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=1, cells=100),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=1, cells=1),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=1, cells=2.0),
        lambda: dt.PM(dt.Interval(0, 1), epsilon=1, cells=1 << 33),
        lambda: dt.OGPM(dt.Interval(0, 1), epsilon=1, loss="absolut"),
        lambda: dt.OGPM(dt.Interval(0, 1), epsilon=1, loss=0),
        lambda: dt.OGPM(dt.Interval(0, 1), epsilon=1, loss=math.nan),
    ],
)
def test_what_cannot_be_built(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert isinstance(caught.value, DitherError)
    assert isinstance(caught.value, ValueError)


def test_epsilon_is_a_keyword() -> None:
    with pytest.raises(InvalidParameter, match=r"by name: PM\(domain, epsilon=…\)"):
        dt.PM(dt.Interval(0, 1), 1.0)  # type: ignore[misc]
    assert dt.PM(dt.Interval(0, 1), epsilon=np.float32(1)).epsilon == 1.0
    assert dt.PM(dt.Interval(0, 1), epsilon=2).epsilon == 2.0


def test_clip_is_the_explicit_alternative() -> None:
    assert dt.Interval(0, 1).clip([-5, 0.5, math.inf]).tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(OutsideDomain):
        dt.Interval(0, 1).clip([math.nan])
    disk = dt.Disk(2, (1, 1))
    assert np.allclose(disk.clip([[1, 5], [1, 1]]), [[1, 3], [1, 1]])
    square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 2))
    assert square.clip([[-1, 3]]).tolist() == [[0, 2]]
    assert dt.Sphere().clip([[190.0, 95.0]]).tolist() == [[-170.0, 90.0]]


def test_the_ends_of_a_circle_are_one_place() -> None:
    mechanism = dt.OGPM(dt.Circle(360), epsilon=2, cells=64)
    assert mechanism.probabilities(0.0) == mechanism.probabilities(360.0)
    with pytest.raises(OutsideDomain):
        mechanism.perturb(360.5)
    assert dt.Circle(360).wrap([-1e-20, 360, 725]).tolist() == [0.0, 0.0, 5.0]
    assert float(dt.Circle(360).distance(np.asarray(359.0), np.asarray(1.0))) == 2.0


@given(st.floats(-1e9, 1e9), st.floats(0.001, 1e6))
def test_wrapping_lands_inside(value: float, period: float) -> None:
    wrapped = dt.Circle(period).wrap([value])
    assert 0 <= wrapped[0] < period


def test_categories() -> None:
    browsers = dt.Categories(["firefox", "chrome", "other"])
    assert browsers.check(["chrome", "firefox"]).tolist() == [1, 0]
    assert browsers.decode(np.array([2, 0])).tolist() == ["other", "firefox"]
    with pytest.raises(OutsideDomain) as caught:
        browsers.check(["a secret browser"])
    assert "secret" not in str(caught.value)
    assert dt.Categories(4).check([3, 0]).tolist() == [3, 0]
    for bad in ([4], [-1], [0.5]):
        with pytest.raises(OutsideDomain):
            dt.Categories(4).check(bad)
    mixed = dt.Categories([1, "one", None])
    assert mixed.decode(mixed.check([None, 1])).tolist() == [None, 1]


def test_places_outside_are_refused() -> None:
    square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    for domain in (square, dt.Disk(1)):
        assert domain.check([[0.5, 0.5]]).shape == (1, 2)
        assert domain.check(np.empty((0, 2))).shape == (0, 2)
        for bad in ([[2.0, 2.0]], [[math.nan, 0]], [0.1, 0.2, 0.3], 0.5):
            with pytest.raises(OutsideDomain):
                domain.check(bad)
    assert square.centre == (0.5, 0.5)


@given(st.floats(-1e12, 1e12), st.floats(1e-3, 1e9), st.floats(0, 1))
def test_any_interval_works(low: float, length: float, share: float) -> None:
    if not low < low + length:
        return
    domain = dt.Interval(low, low + length)
    x = min(max(low + share * domain.length, domain.low), domain.high)
    mechanism = dt.Podium(domain, epsilon=1, cells=64)
    assert sum(mechanism.probabilities(x)) == 1
    assert 0 <= int(mechanism.perturb(x, source=dt.Seeded(1)).cells) < 64


def test_nothing_is_half_done() -> None:
    mechanism = dt.PM(dt.Interval(0, 1), epsilon=1)
    with pytest.raises(InvalidParameter):
        mechanism.perturb([0.5], source=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        mechanism.perturb(np.full(100_000, 0.5), threads=0)
    with pytest.raises(AttributeError):
        mechanism.epsilon = 2.0  # type: ignore[misc]


def test_coded_labels_are_the_labels() -> None:
    mixed = dt.Categories([1, "one", None, 2.5])
    labels = ["one", 2.5, 1, None, "secret", ["unhashable"]]  # the last two are no categories
    places = np.random.default_rng(1).integers(0, 4, 1000)
    plain = [labels[place] for place in places]
    coded = CodedLabels(places, labels)
    assert np.array_equal(mixed.check(coded), mixed.check(plain))  # labels that nobody chose do not matter
    half = np.arange(1000) % 2 == 0
    assert np.array_equal(mixed.check(coded[half]), mixed.check(plain[::2]))
    assert len(coded[half]) == 500
    assert np.asarray(coded).tolist() == plain
    assert mixed.check(CodedLabels(places[:0], labels)).size == 0
    for wrong in (4, 5):
        with pytest.raises(OutsideDomain) as caught:
            mixed.check(CodedLabels(np.array([0, wrong]), labels))
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


def test_every_mechanism_of_labels_takes_coded_ones() -> None:
    domain = dt.Categories(["a", "b", "c"])
    coded = CodedLabels(np.arange(300) % 3, ["c", "a", "b"])
    memoised = dt.Memoised(dt.KRR(domain, epsilon=1), key=bytes(range(32)), name="letter")
    assert np.array_equal(memoised.perturb(coded).cells, memoised.perturb(["c", "a", "b"] * 100).cells)
    for mechanism in (dt.KRR(domain, epsilon=1), dt.OUE(domain, epsilon=1), dt.OLH(domain, epsilon=1)):
        drawn = mechanism.perturb(coded, source=dt.Seeded(3)).cells
        assert np.array_equal(drawn, mechanism.perturb(["c", "a", "b"] * 100, source=dt.Seeded(3)).cells)
