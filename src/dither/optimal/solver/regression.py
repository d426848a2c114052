"""The papers' two experiments on solved programs: whether one more piece helps, and which formula fits.

They are numerical evidence; the proof is in docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import final

import numpy as np

from dither.arrays import Floats
from dither.domains import Interval
from dither.errors import InvalidParameter, MissingExtra, found
from dither.losses import Power
from dither.optimal.solver.bilinear import UNIT, place, solve
from dither.randomness import SYSTEM, Source

Form = Callable[..., Floats]  # form(epsilons, *parameters)


@final
@dataclass(frozen=True)
class Trial:
    """One budget and one value, and the smallest error at that value with m pieces and with m + 1."""

    epsilon: float
    at: float
    fewer: float
    more: float


def one_more_piece(
    pieces: int,
    loss: Power,
    *,
    trials: int,
    epsilons: tuple[float, float] = (0.1, 8.0),
    codomain: Interval = UNIT,
    source: Source | None = None,
    gap: float = 1e-5,
) -> list[Trial]:
    """Compare m pieces with m + 1 at random budgets and values [OGPM25, Sec. 3.2.2].

    For each, the levels are solved at the lower end and then placed about the value.
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InvalidParameter(f"the number of trials is a whole number of at least 1, not {found(trials)}")
    words = (SYSTEM if source is None else source).words(2 * trials).reshape(trials, 2) / 2.0**64
    outcomes = []
    for share, position in words.tolist():
        epsilon = epsilons[0] + (epsilons[1] - epsilons[0]) * share
        value = codomain.low + codomain.length * position
        errors = [
            place(
                solve(epsilon, loss, pieces=count, codomain=codomain, gap=gap).merged().levels,
                loss,
                at=value,
                codomain=codomain,
                gap=gap,
            ).error
            for count in (pieces, pieces + 1)
        ]
        outcomes.append(Trial(epsilon, value, *errors))
    return outcomes


@final
@dataclass(frozen=True)
class FittedForm:
    """The parameters of a formula that fit best, and the largest deviation that remains."""

    parameters: tuple[float, ...]
    deviation: float


def exponential(epsilons: Floats, rate: float, offset: float) -> Floats:
    """Return exp(rate·ε) + offset: the form the paper suggests for a level [OGPM25, Ex. 3.5]."""
    return np.asarray(np.exp(rate * epsilons) + offset, dtype=np.float64)


def fit(
    epsilons: Sequence[float],
    levels: Sequence[float],
    form: Form = exponential,
    start: Sequence[float] = (1.0, 0.0),
) -> FittedForm:
    """Return the best fit of a formula to solved levels by least squares. Needs the extra `optimal`."""
    try:
        optimize = import_module("scipy.optimize")
    except ImportError:
        raise MissingExtra("the regression of a closed form", "optimal") from None
    budgets, solved = np.asarray(epsilons, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    if budgets.ndim != 1 or budgets.shape != solved.shape or budgets.size < len(start):
        raise InvalidParameter(
            f"a fit needs one level for each ε, and at least {len(start)}, the number of parameters"
        )
    parameters, _ = optimize.curve_fit(form, budgets, solved, p0=list(start))
    deviation = float(np.abs(form(budgets, *parameters) - solved).max())
    return FittedForm(tuple(float(parameter) for parameter in parameters), deviation)
