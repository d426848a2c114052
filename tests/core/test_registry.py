"""Names: of the designs, and of those that have each draw.

Parameters of designs as JSON-compatible data, and back.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import dither as dt
from dither.core import registry
from dither.core.registry import plain, read, read_parameters, writable
from dither.errors import InvalidParameter, MalformedReport
from tests.golden.devices import CASES


def test_every_design_is_listed_with_its_draws() -> None:
    drawn: dict[str, set[str]] = {}
    for make in CASES.values():
        made = make()
        if registry.is_design(type(made)):
            drawn.setdefault(made.question.name, set()).add(registry.draw_of(made.question.kernel.device()))
    assert set(drawn) == set(registry.names())
    for name, kinds in drawn.items():
        for kind in kinds:
            registry.check_name(name, kind, known=True)
    listed = {(name, kind) for name, design in registry.names().items() for kind in design._draws}
    shown = {(name, kind) for name, kinds in drawn.items() for kind in kinds}
    assert shown <= listed
    assert {name: registry._stated_draws(name) for name in drawn} == {
        name: design._draws for name, design in registry.names().items()
    }  # what is read from the source without an import is what the classes have
    assert {name for name, kind in listed - shown if kind != "optional"} == set()  # a window, and "no answer"


def test_a_design_under_a_false_name() -> None:
    for known in (True, False):
        with pytest.raises(MalformedReport, match="'KRR'"):
            registry.check_name("KRR", "sliding", known=known)
    registry.check_name("Own", "sliding", known=False)
    with pytest.raises(MalformedReport, match="'Own'"):
        registry.check_name("Own", "sliding", known=True)


def test_only_other_packages_register_themselves() -> None:
    assert registry.design("Podium") is dt.Podium
    assert "Podium" not in registry._OWN


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.5,
        "a",
        (1.0, 2.0),
        Fraction(-3, 4),
        "squared",
        "location",
        UNIT := dt.Interval(0, 1),
    ],
    ids=repr,
)
def test_there_and_back(value: Any) -> None:
    assert read(plain(value)) == value


def test_the_class_of_a_part() -> None:
    made = read(plain(partial(dt.SW, redesign=True)))
    assert (made.func, made.keywords) == (dt.SW, {"redesign": True})
    assert read(plain(dt.OGPM)) is dt.OGPM


def test_what_cannot_be_written_is_kept_as_its_error() -> None:
    written = writable(dt.TraCSC, {"inner": lambda line, epsilon: None, "cells": 4})
    assert written["cells"] == 4
    assert isinstance(written["inner"], InvalidParameter)
    area = dt.Rectangle(UNIT, UNIT)
    own = dt.TraCSC(
        area, epsilon=1, inner=lambda line, epsilon, cells: dt.OGPM(line, epsilon=epsilon, cells=cells)
    )
    assert own.perturb([[0.1, 0.2]]).values.shape == (1, 2)
    with pytest.raises(InvalidParameter, match="can be written as JSON"):
        own.to_json()


def test_parameters_have_the_types_of_their_class() -> None:
    assert read_parameters(dt.PM, {"epsilon": 1.0, "cells": 64}) == {"epsilon": 1.0, "cells": 64}
    for wrong in ({"cells": 64.0}, {"cells": True}, {"epsilon": "1"}, {"sells": 64}, {"decoding": "OWN"}):
        with pytest.raises(MalformedReport):
            read_parameters(dt.PM, wrong)
