"""The problem that an optimal mechanism solves, and the designs that have a closed form."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.window.integers import Sliding
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats
from dither.foundation.losses import Criterion, Power, absolute, check_criterion, squared
from dither.foundation.numerics.quadrature import between
from dither.foundation.numerics.roots import increasing_root
from dither.mechanisms.numeric.ogpm import best_width

LEAST, MOST = 0.05, 8.0
_CHECKED: Final = (1 << 12) + 1  # distances at which a loss that is a function is checked


@dataclass(frozen=True, eq=False)
class Given:
    """A loss that is a user's function of the difference between report and truth, in units of the domain.

    It must be even, not negative, and not decreasing with the distance. It is checked at 4097 points, and the
    certificate assumes that it does not decrease between them either.
    """

    function: Callable[[Floats], Any]
    reach: float  # the length of the domain

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidParameter(
                "expected a loss to be 'absolute', 'squared', a power of the distance or a function of y − x"
            )
        distances = np.linspace(0.0, 1.0, _CHECKED)
        try:
            values, mirrored = self(distances), self(-distances)
        except (TypeError, ValueError, IndexError, AttributeError):
            raise InvalidParameter(
                "expected a loss that takes an array of differences and returns an array"
            ) from None
        if values.shape != distances.shape or not np.isfinite(values).all() or values[0] < 0.0:
            raise InvalidParameter(
                "expected a loss to be a finite number from 0 upwards for every difference"
            )
        if not np.array_equal(values, mirrored):
            raise InvalidParameter("a loss must be the same for y − x and x − y")
        if (np.diff(values) < 0.0).any():
            raise InvalidParameter("a loss must not decrease as the report moves away from the truth")
        if not values[-1] > 0.0:
            raise InvalidParameter("a loss must be above 0 at the largest distance")

    def __call__(self, difference: Floats) -> Floats:
        """Return the loss of a report that differs from the truth by `difference` lengths of the domain."""
        return np.asarray(self.function(self.reach * np.asarray(difference)), dtype=np.float64)

    @property
    def digest(self) -> str:
        """A hash of the function's values at the checked points.

        Losses with the same hash are treated as equal.
        """
        values = self(np.linspace(0.0, 1.0, _CHECKED))
        return hashlib.sha256(values.tobytes()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"function [{self.digest}]"


AnyLoss = Power | Given


@dataclass(frozen=True)
class Problem:
    """The problem of finding the ε-LDP mechanism with the smallest error, in the worst case or on average.

    With `unbiased` the mean report is the value, for every value, and the error is the variance.
    """

    epsilon: float
    loss: AnyLoss = absolute
    criterion: Criterion = "worst"
    unbiased: bool = False

    def __post_init__(self) -> None:
        if not LEAST <= self.epsilon <= MOST:
            raise InvalidParameter(
                f"expected ε from {LEAST:g} to {MOST:g} for a solved mechanism, got {found(self.epsilon)}"
            )
        check_criterion(self.criterion)
        if self.unbiased and self.loss != squared:
            raise InvalidParameter(
                "expected loss='squared' for an unbiased mechanism, because it minimises the variance, got "
                f"{self.loss!r}"
            )

    @property
    def ratio(self) -> float:
        """A float that is at least e^ε."""
        return math.nextafter(math.exp(self.epsilon) * (1.0 + 2.0**-50), math.inf)

    @property
    def lift(self) -> float:
        """Return e^ε − 1: the excess probability of a cell inside the window, relative to a cell outside."""
        return math.expm1(self.epsilon)

    @property
    def convex(self) -> bool:
        """Whether the loss is known to be convex in the report."""
        return isinstance(self.loss, Power) and self.loss.exponent >= 1.0

    @property
    def kind(self) -> str:
        """The name of the problem without ε; problems that differ only in ε share it."""
        loss = repr(self.loss) if isinstance(self.loss, Power) else self.loss.digest
        return f"{self.criterion}-{'unbiased' if self.unbiased else loss}"

    @property
    def name(self) -> str:
        """The name of the problem with ε; different problems have different names."""
        return f"{self.kind}-{self.epsilon!r}"


TWO_POINTS_UP_TO: Final = math.log(3.0 + 2.0 * math.sqrt(2.0))  # ≈ 1.7627; above it more values are better


def known_optimum(domain: Line, epsilon: float, loss: Power, criterion: Criterion) -> float | None:
    """Return the smallest error of any ε-LDP mechanism in the domain's units, or None without a formula."""
    if domain.circular:  # the error is the same at every angle: worst case and average agree
        return float((domain.length / 2.0 * best_width(epsilon, loss)) ** loss.exponent)
    if loss == squared and criterion == "worst" and epsilon <= TWO_POINTS_UP_TO:
        return float((domain.length / 2.0 / math.cosh(epsilon / 2.0)) ** 2)
    return None


def least_frequency_variance(categories: int, epsilon: float) -> float:
    """Return the smallest average variance that one report of any ε-LDP mechanism adds to a frequency.

    Subset selection with the best size of the sets attains it [Pan26]: sets of w out of k.
    """
    ratio = math.exp(epsilon)
    middle = int(categories / (ratio + 1.0))
    found = []
    for chosen in range(max(1, middle - 1), min(categories - 1, middle + 2) + 1):
        total = chosen * ratio + categories - chosen
        own, lie = chosen * ratio / total, (categories - chosen) / total  # avoids cancellation at large ε
        other = (own * (chosen - 1) + lie * chosen) / (categories - 1)
        gap = chosen * (categories - chosen) * (ratio - 1.0) / ((categories - 1) * total)
        noise = own * lie + (categories - 1) * other * (1.0 - other)
        found.append(noise / (categories * gap**2))
    return min(found)


_STEPS: Final = 1 << 14
_TINY: Final = 2.0**-40


def best_width_on_circle(problem: Problem) -> float:
    """Return the share of the circle for which the loss at the window's edge is the mean loss of all reports.

    Widening the window helps as long as the loss at its edge is below the mean; the error then is ℓ(s/2).
    """
    if isinstance(problem.loss, Power):
        return best_width(problem.epsilon, problem.loss)

    def excess(width: float) -> float:
        edge = float(problem.loss(np.asarray(width / 2.0)))
        return (
            edge * (1.0 + problem.lift * width) - everything - problem.lift * _mass_on_circle(problem, width)
        )

    everything = _mass_on_circle(problem, 1.0)
    return increasing_root(excess, 0.0, 1.0)


def _mass_on_circle(problem: Problem, width: float) -> float:
    return 2.0 * float(between(problem.loss, np.linspace(0.0, width / 2.0, 65)))


def error_on_circle(problem: Problem, window: Sliding) -> float:
    """Return the largest error of the cells that are sampled, rounded up.

    An input is up to half a cell away from the middle of its window; that range is divided finely, and the
    loss is evaluated at the farther end of each part.
    """
    parts = 16
    away = (np.arange(parts) + 0.5) / parts - 0.5
    middles = np.arange(window.cells) - (window.width - 1) / 2.0
    worst = 0.0
    for offset in away:
        turned = (middles - offset) / window.cells
        distance = np.minimum(np.abs(turned - np.round(turned)) + 0.5 / (parts * window.cells), 0.5)
        loss = problem.loss(distance)
        inside = loss[: window.width].mean()
        worst = max(worst, window.rest * loss.mean() + window.contrast * inside)
    return float(worst) * (1.0 + _TINY)


def bound_on_circle(problem: Problem) -> float:
    """Return a lower bound on the error of every ε-LDP mechanism, worst or average.

    With a uniform base one price is enough: μ + min(0, D), D = ∫ φ(ℓ(δ) − μ) dδ, φ(c) = min(c, E·c). It is
    best where D = 0: μ is the loss at the edge of the best window.
    """
    if isinstance(problem.loss, Power):
        return float(problem.loss(np.asarray(best_width_on_circle(problem) / 2.0))) * (1.0 - _TINY)
    least = problem.loss(np.arange(_STEPS) / (2.0 * _STEPS))  # at the end of each step nearer to 0

    def deficit(price: float) -> float:
        cost = least - price
        return -float(np.where(cost < 0.0, problem.ratio * cost, cost).mean())

    price = increasing_root(deficit, 0.0, float(problem.loss(np.asarray(0.5))))
    return price - max(deficit(price), 0.0) - _TINY * price
