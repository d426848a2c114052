"""A record is decided by itself: one odd record never changes how another one counts."""

from __future__ import annotations

import datetime
import json
import math
import random
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither import central
from dither.central.records import number
from dither.domains import Interval
from dither.errors import InvalidParameter

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
def test_what_is_no_number(record: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(number(record))
        assert central.tally([record], DOMAIN, cells=CELLS).secret() == (CELLS // 2, 1)


@pytest.mark.parametrize("scalar", [np.array, Tensor, np.float64, float])
def test_one_missing_record_does_not_move_the_others(scalar: Callable[[float], Any]) -> None:
    """400 scalars of an array library and one None: the sum moved by 399 where 1 is allowed."""
    many = [scalar(1.0) for _ in range(CELLS)]
    unit = Interval(0, 1)
    before, _ = central.tally(many, unit, cells=2).secret()
    after, _ = central.tally([*many, None], unit, cells=2).secret()
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
        total, count = central.tally(form([record for record, _ in some]), DOMAIN, cells=CELLS).secret()
        assert (total, count) == (expected, len(some))
        where = rng.randrange(len(some))
        old, some[where] = some[where], rng.choice(pool)
        changed, _ = central.tally(form([record for record, _ in some]), DOMAIN, cells=CELLS).secret()
        assert changed - total == place(some[where][1]) - place(old[1])


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "g", "i1", "i8", "u8", "?"])
def test_the_fast_path_counts_as_records_one_by_one_do(kind: str) -> None:
    array = (np.random.default_rng(3).random(999) * 120).astype(kind)
    fast = central.tally(array, DOMAIN).secret()
    for slow in (list(array), array.tolist()):
        assert central.tally(slow, DOMAIN).secret() == fast


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
