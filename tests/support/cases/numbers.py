"""One table: every mechanism of numbers, on every kind of domain it takes. Every law runs over it.

A new mechanism is one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dither as dt
from dither.foundation.losses import as_power

UNIT = dt.Interval(0, 1)
WIDE = dt.Interval(-3, 7)
DEGREES = dt.Circle(360)


@dataclass(frozen=True)
class Case:
    """A mechanism as a function of its budget, so that laws can choose ε and the number of cells."""

    name: str
    make: Callable[..., Any]
    unbiased: bool = False
    window: bool = True

    def __call__(self, epsilon: float = 1.0, **more: Any) -> Any:
        return self.make(epsilon=epsilon, **more)


def _shown(name: str, value: Any) -> Any:
    return as_power(value) if name == "loss" else value  # as the stored cases are named: power(0.5)


def _case(kind: Any, domain: Any, *, unbiased: bool = False, after: str = "", **fixed: Any) -> Case:
    def make(**more: Any) -> Any:
        made = kind(domain, **fixed, **more)
        return getattr(made, after)() if after else made

    label = ", ".join([str(domain), *(f"{name}={_shown(name, value)}" for name, value in fixed.items())])
    return Case(f"{kind.__name__}({label}){'.' + after if after else ''}", make, unbiased)


WINDOWS = [
    _case(dt.OGPM, UNIT),
    _case(dt.OGPM, WIDE),
    _case(dt.OGPM, UNIT, loss="squared"),
    _case(dt.OGPM, UNIT, loss=0.5),
    _case(dt.OGPM, DEGREES),
    _case(dt.OGPM, DEGREES, loss="squared"),
    _case(dt.PM, UNIT, unbiased=True),
    _case(dt.PM, WIDE, unbiased=True),
    _case(dt.PM, UNIT, after="compressed"),
    _case(dt.PM, WIDE, after="truncated"),
    _case(dt.SW, UNIT),
    _case(dt.SW, WIDE),
    _case(dt.SW, UNIT, after="compressed"),
    _case(dt.SW, WIDE, after="truncated"),
    _case(dt.SW, WIDE, after="redesigned"),
    _case(dt.SW, DEGREES, after="redesigned"),
    _case(dt.Podium, UNIT, unbiased=True),
    _case(dt.Podium, WIDE, unbiased=True),
    _case(dt.Podium, UNIT, unbiased=True, approximate=True),
    _case(dt.optimal.Focused, UNIT, focus=0.2),
    _case(dt.optimal.Focused, WIDE, focus=6.5, loss="squared"),
    _case(dt.rivals.OGPMU, UNIT, unbiased=True),
    _case(dt.rivals.OGPMU, WIDE, unbiased=True),
]
FIXED = [  # two cells, always
    _case(dt.Duchi, UNIT, unbiased=True),
    _case(dt.Duchi, WIDE, unbiased=True),
    _case(dt.optimal.TwoPoint, WIDE),
]
MIXED = [_case(dt.Hybrid, UNIT, unbiased=True), _case(dt.Hybrid, WIDE, unbiased=True)]
NUMERIC = WINDOWS + FIXED + MIXED
LATTICES = [  # noise with tails: laws about pure windows do not apply, those about reports and questions do
    _case(dt.Laplace, UNIT, unbiased=True),
    _case(dt.Laplace, WIDE, after="truncated"),
    _case(dt.Staircase, WIDE, unbiased=True, loss="squared"),
    _case(dt.Gaussian, UNIT, unbiased=True, delta=1e-6),
    _case(dt.BoundedLaplace, UNIT),
    _case(dt.BoundedLaplace, WIDE, sensitivity=2.5),
    _case(dt.rivals.Purkayastha, DEGREES),
    _case(dt.Exponential, UNIT, points=(0, 0.25, 0.5, 1)),
]
EVERY = NUMERIC + LATTICES


def names(cases: list[Case]) -> list[str]:
    return [case.name for case in cases]
