"""Which mechanism keeps the answer best, and which budget is enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.classifiers.curve import Curve, utility_curve
from dither.classifiers.indicator import Indicator
from dither.classifiers.result import Method, Utility
from dither.classifiers.subject import Randomiser
from dither.classifiers.utility import QUERIES, check_confidence, utility
from dither.domains import finite
from dither.errors import Infeasible, InvalidParameter
from dither.mechanisms.base import check_epsilon
from dither.randomness import Source

_RANGE: Final = (0.05, 20.0)  # budgets that are looked at unless others are asked for
_STEP: Final = 1.1  # from one budget to the next, at first
_PARTS: Final = 4  # into which the gap between a budget that is enough and one that is not is divided


@final
@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Mechanisms by how much of the utility they certainly keep, the best first."""

    names: tuple[str, ...]
    mechanisms: tuple[Any, ...]
    utilities: tuple[Utility, ...]
    confidence: float

    @property
    def best(self) -> Any:
        """The mechanism with the highest lower bound."""
        return self.mechanisms[0]

    @property
    def decided(self) -> bool:
        """Whether no other one can be better: the best's lower bound is above every other's upper bound."""
        return all(self.utilities[0].lower >= other.upper for other in self.utilities[1:])

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.utilities, strict=True)
        return "\n".join(f"{name:{width}}  {found!r}" for name, found in rows)


def best_mechanism(
    predict: object,
    x: Any,
    candidates: Mapping[str, Randomiser | Indicator] | Sequence[Randomiser | Indicator],
    *,
    epsilon: float,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Ranking:
    """Rank mechanisms by the utility that they certainly keep, each at the same budget.

    With the stated confidence all bounds hold at once, so the choice among them costs nothing more.

    >>> import dither as dt
    >>> unit, steep = dt.Interval(0, 1), dt.classifiers.Linear([[10.0, 1.0]], [-6.0])
    >>> kinds = [dt.OGPM(unit, epsilon=1), dt.Laplace(unit, epsilon=1).truncated()]
    >>> best_mechanism(steep, [0.8, 0.5], kinds, epsilon=2)
    OGPM     stays with probability 0.7977 (exact)
    Laplace  stays with probability 0.6959 (exact)
    """
    named = dict(candidates) if isinstance(candidates, Mapping) else _named(candidates)
    if not named:
        raise InvalidParameter("name at least one mechanism")
    omega = check_confidence(confidence) / len(named)
    found = []
    for name, candidate in named.items():
        mechanism = candidate.at(check_epsilon(epsilon))
        one = utility(
            predict, x, mechanism, confidence=1.0 - omega, queries=queries, names=names, source=source
        )
        found.append((name, mechanism, one))
    found.sort(key=lambda row: -row[2].lower)
    labels, mechanisms, utilities = zip(*found, strict=True)
    return Ranking(labels, mechanisms, utilities, confidence)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Enough:
    """A budget that is enough, the utility it keeps, and the curve that it was read off.

    `not_enough` is the next smaller budget that was looked at, which does not do; 0 if none was looked at.
    """

    epsilon: float
    lower: float
    mechanism: Any
    curve: Curve
    not_enough: float

    def __float__(self) -> float:
        return self.epsilon

    def __repr__(self) -> str:
        return (
            f"ε = {self.epsilon:.4g}: stays with probability ≥ {self.lower:.4g} ({self.curve.method.value})"
        )


def epsilon_for_utility(
    predict: object,
    x: Any,
    mechanism: Randomiser | Indicator,
    *,
    at_least: float,
    between: tuple[float, float] = _RANGE,
    tolerance: float = 1e-4,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Enough:
    """Give the smallest budget found that keeps the answer with probability `at_least`.

    Read off a curve whose whole lower edge holds at once. Where the curve is exact, more budgets are looked
    at until one that is not enough is nearer than a share `tolerance`. Utility need not grow with the budget:
    a larger one is not certainly enough, and between the budgets looked at a smaller one may be. (With noise
    on a lattice, which is laid anew for every ε, utility goes up and down by about the width of a cell.)

    >>> import dither as dt
    >>> wide = dt.classifiers.Linear([[0.0], [1.0], [-1.0]], [0.0, -0.8, 0.2])
    >>> epsilon_for_utility(wide, [0.5], dt.OGPM(dt.Interval(0, 1), epsilon=1), at_least=0.8)
    ε = 1.386: stays with probability ≥ 0.8 (exact)
    """
    if not 0.0 < at_least < 1.0:
        raise InvalidParameter("at_least is a probability between 0 and 1")
    if not 1e-9 <= finite("tolerance", tolerance) < 1.0:
        raise InvalidParameter("the tolerance is a share of the budget, from 1e-9 to 1")
    low, high = (check_epsilon(end) for end in between)
    if low >= high:
        raise InvalidParameter("budgets are looked for between a lower and a higher one")
    curve = utility_curve(
        predict,
        x,
        mechanism,
        np.geomspace(low, high, math.ceil(math.log(high / low) / math.log(_STEP)) + 1).tolist(),
        confidence=confidence,
        queries=queries,
        names=names,
        source=source,
    )
    enough = np.flatnonzero(curve.lower >= at_least)
    if not enough.size:
        raise Infeasible(
            f"up to ε = {high:g} no more than {curve.lower.max():.3g} is certain; ask for less, allow a "
            "larger budget, or ask the classifier more often"
        )
    first = int(enough[0])
    under = float(curve.epsilons[first - 1]) if first else 0.0
    epsilon, lower = float(curve.epsilons[first]), float(curve.lower[first])
    while first and curve.method is Method.EXACT and epsilon > (1.0 + tolerance) * under:
        for look in np.geomspace(under, epsilon, _PARTS + 1)[1:-1].tolist():
            found = utility(predict, x, mechanism.at(look), method=Method.EXACT, names=names).lower
            if found >= at_least:
                epsilon, lower = look, found
                break
            under = look
    return Enough(epsilon, lower, mechanism.at(epsilon), curve, under)


def _named(candidates: Sequence[Any]) -> dict[str, Any]:
    """Call mechanisms by their kinds, and number those of one kind."""
    named: dict[str, Any] = {}
    for candidate in candidates:
        plain = name = type(candidate).__name__
        count = 2
        while name in named:
            name, count = f"{plain} {count}", count + 1
        named[name] = candidate
    return named
