"""The best mechanism for a classifier at a budget, and the smallest budget that keeps enough utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.domains import finite
from dither.core.question import check_epsilon
from dither.errors import Infeasible, InvalidParameter, found
from dither.extensions.classifiers.result import Utility, draw_utilities
from dither.extensions.classifiers.subject import Randomiser
from dither.extensions.classifiers.utility import QUERIES, Curve, check_confidence, utility, utility_curve
from dither.foundation.plotting import ORANGE, as_budgets
from dither.foundation.randomness import Source
from dither.foundation.tables import Row, Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_RANGE: Final = (0.05, 20.0)  # the default range of budgets
_RATIO: Final = 1.1  # ratio of neighbouring budgets on the first curve
_PARTS: Final = 4  # parts of the gap between an insufficient and a sufficient budget


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Tabular):
    """Mechanisms in decreasing order of the lower bounds of their utility."""

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
        """Whether no other mechanism can be better: every other upper bound is below the best lower bound."""
        return all(self.utilities[0].lower >= other.upper for other in self.utilities[1:])

    def records(self) -> list[Row]:
        """Return a row for each mechanism: the probability of the same answer, and its bounds."""
        rows = zip(self.names, self.utilities, strict=True)
        return [{"mechanism": name, **found.records()[0]} for name, found in rows]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the mechanisms with the bounds of their utility, the best first; needs the extra `plot`."""
        promise = f", {self.utilities[0].guarantee}" if self.utilities[0].guarantee else ""
        about = title or f"How often the classifier answers as without noise{promise}"
        return draw_utilities(self.records(), about, ax)

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.utilities, strict=True)
        return "\n".join(f"{name:{width}}  {found!r}" for name, found in rows)


def best_mechanism(
    predict: object,
    x: object,
    candidates: Mapping[str, Randomiser] | Sequence[Randomiser],
    *,
    epsilon: float,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Ranking:
    """Rank mechanisms by the lower bound of their utility, each at the same budget.

    All bounds hold at once with the stated confidence, so choosing among them needs no further correction.

    >>> import dither as dt
    >>> unit, steep = dt.Interval(0, 1), dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> kinds = [dt.OGPM(unit, epsilon=1), dt.Laplace(unit, epsilon=1).truncated()]
    >>> best_mechanism(steep, [0.8, 0.5], kinds, epsilon=2)
    OGPM     stays with probability 0.7977 (exact)
    Laplace  stays with probability 0.6959 (exact)
    """
    named = dict(candidates) if isinstance(candidates, Mapping) else _name_by_class(candidates)
    if not named:
        raise InvalidParameter("expected at least one mechanism in candidates; pass one")
    omega = check_confidence(confidence) / len(named)
    found = []
    for name, candidate in named.items():
        mechanism = candidate.at(check_epsilon(epsilon))
        found_utility = utility(
            predict, x, mechanism, confidence=1.0 - omega, queries=queries, names=names, source=source
        )
        found.append((name, mechanism, found_utility))
    found.sort(key=lambda row: -row[2].lower)
    labels, mechanisms, utilities = zip(*found, strict=True)
    return Ranking(labels, mechanisms, utilities, confidence)


@dataclass(frozen=True, eq=False, repr=False)
class SufficientBudget(Tabular):
    """A budget with enough utility, its lower bound of the utility, and the curve of all budgets.

    `not_enough` is the next smaller examined budget that is not sufficient, or 0.
    """

    epsilon: float
    lower: float
    mechanism: Any
    curve: Curve
    not_enough: float

    def records(self) -> list[Row]:
        """Return one row: the budget, the bound that it keeps, and the next smaller one that does not."""
        return [{"epsilon": self.epsilon, "low": self.lower, "not enough": self.not_enough}]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the curve and the budget on it; needs the extra `plot`."""
        ax = self.curve.plot(title=title or repr(self), ax=ax)
        ax.axvline(self.epsilon, color=ORANGE, linewidth=1.2, linestyle="--")
        ax.plot([self.epsilon], [self.lower], "o", color=ORANGE, label=f"ε = {self.epsilon:.3g}")
        as_budgets(ax)
        ax.legend(frameon=False, fontsize=9)
        return ax

    def __float__(self) -> float:
        return self.epsilon

    def __repr__(self) -> str:
        return f"ε = {self.epsilon:.4g}: stays with probability ≥ {self.lower:.4g} ({self.curve.method})"


def epsilon_for_utility(
    predict: object,
    x: object,
    mechanism: Randomiser,
    *,
    at_least: float,
    between: tuple[float, float] = _RANGE,
    tolerance: float = 1e-4,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> SufficientBudget:
    """Return the smallest budget found that keeps the answer with probability `at_least`.

    It is the first sufficient budget on a curve whose lower edge holds at all budgets at once. If the curve
    is exact, more budgets are examined until an insufficient one is within the relative `tolerance`. Utility
    need not grow with the budget: a larger budget may be insufficient, and a smaller budget that was not
    examined may be sufficient. (The lattice of noise depends on ε, so utility varies by the probability of a
    cell.)

    >>> import dither as dt
    >>> wide = dt.classifiers.LinearClassifier([[0.0], [1.0], [-1.0]], [0.0, -0.8, 0.2])
    >>> epsilon_for_utility(wide, [0.5], dt.OGPM(dt.Interval(0, 1), epsilon=1), at_least=0.8)
    ε = 1.386: stays with probability ≥ 0.8 (exact)
    """
    if not 0.0 < at_least < 1.0:
        raise InvalidParameter(
            f"expected at_least to be a probability between 0 and 1, got {found(at_least)}"
        )
    if not 1e-9 <= finite("tolerance", tolerance) < 1.0:
        raise InvalidParameter(
            f"expected tolerance to be a share of ε from 1e-9 to 1, got {found(tolerance)}"
        )
    low, high = (check_epsilon(end) for end in between)
    if low >= high:
        raise InvalidParameter(
            f"expected between to be a lower and a higher budget, in this order, got {low} and {high}"
        )
    curve = utility_curve(
        predict,
        x,
        mechanism,
        np.geomspace(low, high, math.ceil(math.log(high / low) / math.log(_RATIO)) + 1).tolist(),
        confidence=confidence,
        queries=queries,
        names=names,
        source=source,
    )
    sufficient = np.flatnonzero(curve.lower >= at_least)
    if not sufficient.size:
        raise Infeasible(
            f"up to ε = {high:g} the highest lower bound is {curve.lower.max():.3g}; ask for less, allow a "
            "larger budget, or use more queries"
        )
    first = int(sufficient[0])
    under = float(curve.epsilons[first - 1]) if first else 0.0
    epsilon, lower = float(curve.epsilons[first]), float(curve.lower[first])
    while first and curve.method == "exact" and epsilon > (1.0 + tolerance) * under:
        for look in np.geomspace(under, epsilon, _PARTS + 1)[1:-1].tolist():
            reached = utility(predict, x, mechanism.at(look), method="exact", names=names).lower
            if reached >= at_least:
                epsilon, lower = look, reached
                break
            under = look
    return SufficientBudget(epsilon, lower, mechanism.at(epsilon), curve, under)


def _name_by_class(candidates: Sequence[Any]) -> dict[str, Any]:
    """Return mechanisms under the names of their classes, with numbers if they share a class."""
    named: dict[str, Any] = {}
    for candidate in candidates:
        plain = name = type(candidate).__name__
        count = 2
        while name in named:
            name, count = f"{plain} {count}", count + 1
        named[name] = candidate
    return named
