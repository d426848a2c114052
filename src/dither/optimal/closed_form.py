"""Optima that are known in closed form: nothing is solved here.

    on a circle, any power of the distance       `OGPM`: the optimum over all mechanisms, worst and average
    on an interval, worst squared error, small ε `TwoPoint`: the optimum over all mechanisms
    on an interval, error at one public value    `Focused`: the best with two levels, the same for every input
    on categories, frequencies                   `SubsetSelection`: the optimum, unbiased
    on an interval, unbiased, worst variance     `Podium`: the best with two levels

The proofs are in docs/theory.md.
"""

from __future__ import annotations

import math
from typing import Final

from dither.domains import Circle, Line
from dither.losses import Criterion, Power, squared
from dither.mechanisms.numeric.ogpm import best_width

TWO_POINTS_UP_TO: Final = math.log(3.0 + 2.0 * math.sqrt(2.0))  # ≈ 1.7627; above it more values are better


def known_optimum(domain: Line, epsilon: float, loss: Power, criterion: Criterion) -> float | None:
    """Return the smallest error of any ε-LDP mechanism, in the domain's units; None without a formula."""
    if isinstance(domain, Circle):  # the error is the same at every angle: worst case and average agree
        return float((domain.length / 2.0 * best_width(epsilon, loss)) ** loss.exponent)
    if loss == squared and criterion is Criterion.WORST and epsilon <= TWO_POINTS_UP_TO:
        return float((domain.length / 2.0 / math.cosh(epsilon / 2.0)) ** 2)
    return None


def least_frequency_variance(categories: int, epsilon: float) -> float:
    """Return the smallest average variance that one report of any ε-LDP mechanism adds to a frequency.

    It is that of subset selection with the best size of the sets [Pan26], in sets of w out of k.
    """
    ratio = math.exp(epsilon)
    middle = int(categories / (ratio + 1.0))
    found = []
    for chosen in range(max(1, middle - 1), min(categories - 1, middle + 2) + 1):
        total = chosen * ratio + categories - chosen
        own, lie = chosen * ratio / total, (categories - chosen) / total  # without cancellation at large ε
        other = (own * (chosen - 1) + lie * chosen) / (categories - 1)
        gap = chosen * (categories - chosen) * (ratio - 1.0) / ((categories - 1) * total)
        noise = own * lie + (categories - 1) * other * (1.0 - other)
        found.append(noise / (categories * gap**2))
    return min(found)
