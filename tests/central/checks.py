"""A test of fit with a false-alarm rate of 1e-6, and the reference values, for the tests beside this file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from scipy.stats import chi2

from tests.support.repository import reference

ALARM = 1e-6
NORMAL = 4.9  # standard errors: two-sided 1e-6
REFERENCE: dict[str, Any] = reference("central")


def fits(draws: Iterable[Hashable], masses: Mapping[Hashable, float]) -> bool:
    """Say whether draws could come from these (unnormalised) masses; a draw without mass could not.

    Cells that expect fewer than eight draws are put together.
    """
    counts = Counter(draws)
    size, total = sum(counts.values()), math.fsum(masses.values())
    if any(masses.get(cell, 0.0) <= 0.0 for cell in counts):
        return False
    statistic, cells, rest, expected_rest = 0.0, 0, 0, 0.0
    for cell, mass in masses.items():
        expected = size * mass / total
        if expected < 8.0:
            rest, expected_rest = rest + counts[cell], expected_rest + expected
        else:
            statistic += (counts[cell] - expected) ** 2 / expected
            cells += 1
    if expected_rest >= 1.0:
        statistic += (rest - expected_rest) ** 2 / expected_rest
        cells += 1
    return bool(chi2.sf(statistic, cells - 1) > ALARM)
