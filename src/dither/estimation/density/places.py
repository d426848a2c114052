"""How well the place of a point mass is known, when the bins around it adapt."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.estimation.density.mode import DensityMode, climb_to_mode
from dither.estimation.density.model import DensityModel
from dither.estimation.density.weights import lengths_of_line

KNOWN: Final = 3e-4  # a spread, in lengths of the domain, below which the nearest maximum is the only one
_FARTHEST: Final = 0.06
_FACTOR: Final = 1.6  # between one distance that is tried and the next
_REFUTED: Final = 6.0  # nats of evidence below the best at which a side is left
_STEPS: Final = 3  # towards each mode


def likely_place(
    model: DensityModel,
    mode: DensityMode,
    number: int,
    place: float,
    spread: float,
    law: Callable[[float], Floats | None],
) -> tuple[float, float]:
    """Return the posterior mean and standard deviation of an atom's place, all else refitted at each place.

    `law(place)` is the law of reports from a place; None if the atom cannot be there. The evidence is looked
    at from a place and a spread that were found with the bins fixed. Reports of a window have sharp ends, so
    that the evidence may have several maxima, which are about equally high while reports are few.
    """
    gaps, evidence = [0.0], [mode.evidence]
    for side in (-1.0, 1.0):
        distance = 2.0 * spread
        while distance < _FARTHEST:
            column = law(place + side * distance)
            if column is None:
                break
            atoms = model.atoms.copy()
            atoms[:, number] = column
            found = climb_to_mode(model.with_atoms(atoms), mode.strength, mode.logs, _STEPS).evidence
            gaps.append(side * distance)
            evidence.append(found)
            if found < mode.evidence - _REFUTED:
                break
            distance *= _FACTOR
    offsets, heights = np.array(gaps), np.array(evidence)
    likely = np.exp(heights - heights.max()) * lengths_of_line(offsets)
    likely /= likely.sum()
    mean = float(likely @ offsets)
    around = float(likely @ (offsets - mean) ** 2)
    return place + mean, math.sqrt(around + spread**2)
