"""Tallies: exact, mergeable, and silent about what they hold.

A record is decided by itself: one odd record never changes how another one counts.
"""

from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither.core.domains import Circle, Interval
from dither.errors import InvalidParameter, MalformedReport, Mismatch
from dither.extensions import central
from dither.extensions.central.tally import RecordGrid, number, records

UNIT = Interval(0, 1)


def places(values: object, domain: Interval = UNIT, cells: int = 10) -> tuple[int, int]:
    return central.Tally.of(values, domain, cells=cells).secret()


def test_sum_is_exact() -> None:
    """Ten tenths are one, and a large array sums as its integers do."""
    assert places([0.1] * 10) == (10, 10)
    values = np.random.default_rng(1).random(100_001)
    total, count = central.Tally.of(values, UNIT).secret()
    assert count == 100_001
    assert total == sum(round(Fraction(value) * 2**32) for value in values.tolist())


def test_places_stay_on_the_grid() -> None:
    """No rounding error leaves 0 … cells: the one fact about floats that privacy needs."""
    generator = np.random.default_rng(2)
    for _ in range(300):
        low = float(generator.normal() * 10.0 ** generator.integers(-12, 12))
        high = low + float(abs(generator.normal()) * 10.0 ** generator.integers(-12, 12)) + abs(low) * 1e-14
        if not low < high:
            continue
        domain = Interval(low, high)
        for cells in (1, 7, 1 << 20, 1 << 32, 1 << 36):
            grid = RecordGrid(domain, cells)
            ends = np.array([np.nextafter(high, low), np.nextafter(low, high), low, high])
            for value in ends:
                assert 0 <= grid.total(np.array([value])) <= cells
            assert grid.total(ends[2:]) == cells
            assert grid.at(Fraction(0)) == low
            assert grid.at(Fraction(1)) == high


def test_public_rule_for_odd_records() -> None:
    """Outside counts as the nearer end, no number as the middle: nothing raises and nothing warns."""
    nan, inf = float("nan"), float("inf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert places([-5, 0, 0.34, 1, 7]) == (0 + 0 + 3 + 10 + 10, 5)
        assert places([inf, -inf, nan]) == (10 + 0 + 5, 3)
        assert places([1.0, None]) == (15, 2)
        assert places([1.0, "word", "0.3", b"0.3"]) == (10 + 5 + 3 + 3, 4)
        assert places([1.0, [0.5, 0.5]]) == (15, 2)
        assert places([[0.5, 0.5]]) == (5, 1)
        assert places([1, 2j]) == (15, 2)
        assert places([10**400, -(10**400)]) == (10, 2)
        assert places([Fraction(3, 10), Decimal("0.3"), Decimal("sNaN"), True]) == (3 + 3 + 5 + 10, 4)
        assert places(np.ma.masked_array([0.2, 0.9], mask=[False, True])) == (2 + 5, 2)
        assert places(np.array([np.longdouble("1e4000"), np.longdouble(0.2)])) == (12, 2)
        assert places(np.array([0.2, 0.4], dtype=np.float32)) == (6, 2)
        assert places(np.array([True, False])) == (10, 2)
        assert places(np.array([0.5, None], dtype=object)) == (10, 2)
        assert places(range(3), Interval(0, 2), 2) == (3, 3)
        assert places(value for value in (0.1, 0.2)) == (3, 2)
        assert places([]) == (0, 0)
        assert places(np.array([1e30, -1e30]), Interval(-1e30, 0.5e30), 3) == (3, 2)


def test_a_record_counts_the_same_whatever_the_others_are() -> None:
    """The place of a record depends on that record alone, whatever way its neighbours made the array go."""
    odd: list[object] = [None, "x", 2j, [1], 10**400]
    for value in (0.3, 1, True, np.float32(0.7), np.int64(0), 2**70, -0.0, float("nan")):
        alone = places([value])[0]
        for neighbour in odd:
            assert places([value, neighbour])[0] - places([neighbour])[0] == alone


def test_structure_is_refused_by_kind_alone() -> None:
    for values in (
        3.0,
        None,
        "0.5",
        {"a": 1},
        np.zeros((2, 2)),
        np.array(["2020"], dtype="M8[Y]"),
        np.array(1.0),
    ):
        with pytest.raises(InvalidParameter):
            central.Tally.of(values, UNIT)
    for domain in (Circle(360), (0, 1), None):
        with pytest.raises(InvalidParameter, match="Interval"):
            central.Tally.of([0.5], domain)  # type: ignore[arg-type]
    for cells in (0, -1, 1.5, True, 1 << 37):
        with pytest.raises(InvalidParameter, match="cells"):
            central.Tally.of([0.5], UNIT, cells=cells)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="too short"):
        central.Tally.of([0.5], Interval(0, 1e-300))


def test_merging() -> None:
    values = np.random.default_rng(3).random(1000)
    parts = [central.Tally.of(values[begin : begin + 100], UNIT) for begin in range(0, 1000, 100)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    assert whole.secret() == central.Tally.of(values, UNIT).secret()
    for other in (central.Tally.of([0.5], Interval(0, 2)), central.Tally.of([0.5], UNIT, cells=10)):
        with pytest.raises(Mismatch):
            whole + other
    with pytest.raises(TypeError):
        whole + 1  # type: ignore[operator]


def test_between_machines() -> None:
    tally = central.Tally.of([0.25, 0.75, 0.1], Interval(-0.1, 1.3))
    again = central.Tally.from_secret_bytes(tally.secret_bytes())
    assert again.secret() == tally.secret()
    assert again.grid == tally.grid
    bad = [
        b"",
        b"[]",
        b"\xff",
        b'["dither secret tally","0x0p+0","0x1p+0",10,11,1]',
        b'["x","0x0p+0","0x1p+0",10,1,1]',
    ]
    bad += [
        b'["dither secret tally","0x0p+0","0x1p+0",10,1.5,1]',
        b'["dither secret tally","0x1p+0","0x0p+0",10,1,1]',
    ]
    bad += [b'["dither secret tally","0x0p+0","0x1p+0",10,-1,1]', b"null"]
    for secret in bad:
        with pytest.raises(MalformedReport):
            central.Tally.from_secret_bytes(secret)


def test_a_tally_is_hidden_in_repr_pickle_and_comparison() -> None:
    first, second = central.Tally.of([0.123] * 41, UNIT), central.Tally.of([0.9] * 7, UNIT)
    assert repr(first) == str(first) == f"{first}" == repr(second) == "Tally on [0, 1] (secret)"
    assert repr([first]) == "[Tally on [0, 1] (secret)]"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="secret"):
            pickle.dumps(first, protocol)
    assert copy.copy(first) is copy.deepcopy(first) is first
    assert not hasattr(first, "__dict__")
    assert first != central.Tally.of([0.123] * 41, UNIT)  # not even by comparison
    with pytest.raises(AttributeError):
        first.grid = RecordGrid(UNIT)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del first.grid
    with pytest.raises(MalformedReport) as caught:
        central.Tally(RecordGrid(UNIT, 10), 99, 7)
    assert "99" not in str(caught.value)


def test_records_of_frames() -> None:
    class Column:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.array([1.0, np.nan])

    assert records(Column()).size == 2
    assert places(Column()) == (15, 2)


NAN, CELLS = float("nan"), 400
DOMAIN = Interval(0, CELLS)


class Tensor:
    """A scalar of another array library, such as torch.tensor(3.0)."""

    def __init__(self, value: Any, shape: tuple[int, ...] = ()) -> None:
        self.value, self.shape = value, shape

    def item(self) -> Any:
        return self.value

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.asarray(self.value)

    def __float__(self) -> float:
        return float(self.value)


class Failing(float):
    """A number that cannot be read."""

    def __float__(self) -> float:
        raise RuntimeError("987654.321")


# Each record with the number that it must count as.
NUMBERS: list[tuple[Any, float]] = [
    (3.5, 3.5),
    (7, 7.0),
    (True, 1.0),
    (np.float32(0.1), float(np.float32(0.1))),
    (np.int64(9), 9.0),
    (np.bool_(True), 1.0),
    (np.array(4.25), 4.25),
    (np.array(6), 6.0),
    (np.array("8"), 8.0),
    (np.array(5.5, dtype=object), 5.5),
    (np.ma.array(2.0), 2.0),
    (Tensor(11.0), 11.0),
    (Tensor(True), 1.0),
    (Decimal("12.5"), 12.5),
    (Fraction(1, 4), 0.25),
    ("13.5", 13.5),
    (b"14", 14.0),
    (np.str_("15"), 15.0),
    (float("inf"), math.inf),
    (2**1023, 2.0**1023),
    (2**1024 - 1, math.inf),
    (10**400, math.inf),
    (-(10**400), -math.inf),
    (json.loads("1" + "0" * 400), math.inf),
    (np.array(10**400, dtype=object), math.inf),
    (Fraction(-(10**400)), -math.inf),
    (np.longdouble("1e4000"), math.inf),
]
ODD: list[Any] = [
    None,
    "word",
    b"\xff",
    2j,
    np.complex128(2j),
    [1.0],
    [1.0, 2.0],
    (),
    {"a": 1},
    np.array([1.0]),
    np.zeros((2, 2)),
    np.timedelta64(3, "s"),
    np.timedelta64(3, "ns"),
    np.timedelta64("NaT"),
    np.array(np.timedelta64(3, "ns")),
    np.datetime64("2020-01-01", "ns"),
    datetime.timedelta(1),
    datetime.date(2020, 1, 1),
    np.ma.masked,
    np.array(None, dtype=object),
    np.array([1.0], dtype=object).view(np.ndarray),
    Decimal("sNaN"),
    NAN,
    Tensor(2j),
    Tensor(None),
    Tensor([1.0], (1,)),
    Failing(3.0),
    object(),
]


def place(value: float) -> int:
    """The slow reference: one record's own contribution to the sum."""
    if math.isnan(value):
        return CELLS // 2
    return round(Fraction(min(max(value, 0.0), float(CELLS))))


@pytest.mark.parametrize(("record", "value"), NUMBERS)
def test_numbers(record: Any, value: float) -> None:
    assert number(record) == value


@pytest.mark.parametrize("record", ODD)
def test_values_that_are_not_numbers(record: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(number(record))
        assert central.Tally.of([record], DOMAIN, cells=CELLS).secret() == (CELLS // 2, 1)


@pytest.mark.parametrize("scalar", [np.array, Tensor, np.float64, float])
def test_one_missing_record_does_not_move_the_others(scalar: Callable[[float], Any]) -> None:
    """400 scalars of an array library and one None: the sum moved by 399 where 1 is allowed."""
    many = [scalar(1.0) for _ in range(CELLS)]
    unit = Interval(0, 1)
    before, _ = central.Tally.of(many, unit, cells=2).secret()
    after, _ = central.Tally.of([*many, None], unit, cells=2).secret()
    assert (before, after) == (2 * CELLS, 2 * CELLS + 1)


def as_objects(items: list[Any]) -> Any:
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array


@pytest.mark.parametrize("form", [list, tuple, iter, as_objects])
def test_a_sum_is_the_sum_of_its_records(form: Callable[[list[Any]], Any]) -> None:
    """The law: for mixed lists the tally is the reference's, so one changed record changes its part alone."""
    rng = random.Random(7)
    pool = [*NUMBERS, *((odd, NAN) for odd in ODD)]
    for _ in range(200):
        some = rng.choices(pool, k=rng.randrange(1, 12))
        expected = sum(place(value) for _, value in some)
        total, count = central.Tally.of(form([record for record, _ in some]), DOMAIN, cells=CELLS).secret()
        assert (total, count) == (expected, len(some))
        where = rng.randrange(len(some))
        old, some[where] = some[where], rng.choice(pool)
        changed, _ = central.Tally.of(form([record for record, _ in some]), DOMAIN, cells=CELLS).secret()
        assert changed - total == place(some[where][1]) - place(old[1])


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "g", "i1", "i8", "u8", "?"])
def test_the_fast_path_counts_as_records_one_by_one_do(kind: str) -> None:
    array = (np.random.default_rng(3).random(999) * 120).astype(kind)
    fast = central.Tally.of(array, DOMAIN).secret()
    for slow in (list(array), array.tolist()):
        assert central.Tally.of(slow, DOMAIN).secret() == fast


def test_learned_bounds_read_the_same_records() -> None:
    many: list[Any] = [np.array(1000.0) for _ in range(3000)]
    for data in (many, [*many, None]):
        answer = central.mean(data, central.LearnedBounds(), epsilon=8.0)
        assert abs(float(answer) - 1000) < 100


def test_a_masked_array_of_another_kind_is_refused_by_its_kind() -> None:
    for kind in ("m8[s]", "M8[s]", "c16"):
        array = np.ma.array(np.zeros(2, dtype=kind), mask=[True, False])
        for given in (array, np.asarray(array)):
            with pytest.raises(InvalidParameter, match="kind"):
                central.count(given, epsilon=1.0)
