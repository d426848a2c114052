"""Paper 002, chapter 7: the mechanisms that its figures compare, by the chapter's names and ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dither.domains import Categories, Interval
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.numeric.exponential import Exponential
from dither.mechanisms.numeric.gaussian import Calibration, Gaussian
from dither.mechanisms.numeric.laplace import Laplace
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.sw import SW
from dither.reproduction.drawing import Lines
from dither.reproduction.expectations import expected
from dither.reproduction.figure import Figure, Setting

Rows = list[dict[str, Any]]

UNIT: Final = Interval(0, 1)
PM: Final = "PM (= OGPM)"
WAVE: Final = "SW, redesigned"
_BINS: Final = (np.arange(100) / 100.0).tolist()

# What the thesis calls PM on [0, 1] is the density of OGPM, and its SW is the redesigned one. Laplace and
# Gaussian noise are clamped to [0, 1], as its Definition 13 has it.
KINDS: Final[dict[str, Callable[[float], Any]]] = {
    PM: lambda epsilon: OGPM(UNIT, epsilon=epsilon),
    WAVE: lambda epsilon: SW(UNIT, epsilon=epsilon).redesigned(),
    "k-RR": lambda epsilon: KRR(Categories(_BINS), epsilon=epsilon),
    "Exponential": lambda epsilon: Exponential(UNIT, _BINS, epsilon=epsilon),
    "Laplace": lambda epsilon: Laplace(UNIT, epsilon=epsilon).truncated(),
    "Gaussian": lambda epsilon: Gaussian(
        UNIT, epsilon=epsilon, delta=0.052, calibration=Calibration.PAC
    ).truncated(),
}
# Where code counts reports beyond [0, 1] as failures.
UNCLAMPED: Final[dict[str, Callable[[float], Any]]] = {
    "Laplace": lambda epsilon: Laplace(UNIT, epsilon=epsilon),
    "Gaussian": lambda epsilon: Gaussian(UNIT, epsilon=epsilon, delta=0.052, calibration=Calibration.PAC),
}

UTILITY: Final = Lines("ε", "utility", "mechanism")
NOTE_CLAMP: Final = (
    "As coded, reports beyond [0, 1] count as failures; as defined, and right, they are clamped to it."
)
NOTE_MODELS: Final = (
    "The classifiers are trained by the authors' recipe: a stratified split of 80 % with seed 42, and for "
    "the forest 100 trees with seed 42 (for the bank on their table in which only age and salary are "
    "scaled)."
)


def budgets(setting: Setting) -> tuple[float, ...]:
    """Return ε = 1 to 8; four of them in a quick run."""
    return (1.0, 2.0, 4.0, 8.0) if setting.quick else tuple(float(whole) for whole in range(1, 9))


def figure(
    name: str,
    title: str,
    make: Callable[[Setting], Rows],
    draw: Any = UTILITY,
    needs: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Figure:
    """Return a figure of the chapter with its expected numbers."""
    found = expected("classifiers", name)
    return Figure("002-7", name, title, make, draw, found, needs=needs, notes=notes)
