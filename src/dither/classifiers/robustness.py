"""How far a record may move before the answer changes: in every direction alike, or side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.proofs.box import Box
from dither.classifiers.proofs.box_search import STEPS, by_length, farthest, grown
from dither.classifiers.proofs.confidence import binomial_above
from dither.classifiers.proofs.monte_carlo import uniform
from dither.domains import Interval
from dither.errors import InvalidParameter
from dither.numerics.bisection import smallest_positive_integer
from dither.randomness import SYSTEM, Source

Domains = Interval | Mapping[str, Interval]

_FINE: Final = 40  # halvings of a search whose every step is a proof


@final
@dataclass(frozen=True, repr=False)
class Robustness:
    """A box about a record in which the answer stays; `radius` where all sides are equally far away.

    Proven (`confidence` 1, `tau` 0), or: at most a share `tau` of the box's points changes the answer, which
    is wrong with probability at most 1 − `confidence`, all looks at other boxes accounted for. That says
    nothing about reports, which are not spread evenly.
    """

    box: Box
    tau: float
    confidence: float
    queries: int
    radius: float | None = None

    @property
    def proven(self) -> bool:
        """Whether the answer certainly stays in all of the box."""
        return self.tau == 0.0

    def __repr__(self) -> str:
        what = f"{self.box}" if self.radius is None else f"radius {self.radius:.4g}: {self.box}"
        how = (
            "proven" if self.proven else f"but for {self.tau:g} of it, {100 * self.confidence:g} % confidence"
        )
        return f"{what} ({how})"


def radius(
    predict: object,
    x: Any,
    domain: Domains,
    *,
    tau: float = 0.01,
    confidence: float = 0.95,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Robustness:
    """Give the largest distance found that every feature may move at once without changing the answer.

    Distances are shares of the domain's length; a box is cut off at the domain. `domain` is an interval for
    all features, or intervals by name for those that may move. Proven for linear models, forests and small
    ReLU networks; for others tested, see `Robustness`.

    >>> import dither as dt
    >>> steep = dt.classifiers.Linear([[10.0, 1.0]], [-6.0])
    >>> radius(steep, [0.8, 0.5], dt.Interval(0, 1))
    radius 0.2273: [0.5727, 1] × [0.2727, 0.7273] (proven)
    """
    case, low, high = _setting(predict, x, domain, names)
    scale = high - low

    def about(distance: float) -> Box:
        return Box(
            np.maximum(case.values - distance * scale, low), np.minimum(case.values + distance * scale, high)
        )

    if case.slice is not None:
        found = case.slice.radius(case.values, scale, low, high)
        if found is None:
            prove = case.slice.proves
            found = farthest(lambda distance: prove(about(distance)), _FINE)
        found = min(found, 1.0)
        return Robustness(about(found), 0.0, 1.0, 0, found)
    test = _Test(case, tau, confidence, STEPS + 1, SYSTEM if source is None else source)
    found = farthest(lambda distance: test(about(distance)))
    return Robustness(about(found), tau, confidence, test.asked, found)


def hyperrectangle(
    predict: object,
    x: Any,
    domain: Domains,
    *,
    tau: float = 0.01,
    confidence: float = 0.95,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Robustness:
    """Give a box about x, as large as was found, in which the answer stays: each side goes as far as it can.

    >>> import dither as dt
    >>> steep = dt.classifiers.Linear([[10.0, 1.0]], [-6.0])
    >>> hyperrectangle(steep, [0.8, 0.5], dt.Interval(0, 1))
    [0.6002, 1] × [0, 1] (proven)
    """
    case, low, high = _setting(predict, x, domain, names)
    shape = by_length(case.values, low, high)
    features = len(case.subject.columns)
    if case.slice is not None:
        return Robustness(grown(shape, features, case.slice.proves, _volume), 0.0, 1.0, 0)
    looks = (STEPS + 1) * (2 * features + 1)
    test = _Test(case, tau, confidence, looks, SYSTEM if source is None else source)
    box = grown(shape, features, test, _volume, first_only=True)
    return Robustness(box, tau, confidence, test.asked)


def trials_for(omega: float, tau: float) -> int:
    """Return how many trials show a share below τ at confidence 1 − ω if up to τ/2 of them fail.

    >>> trials_for(0.05, 0.01)
    1049
    """
    return smallest_positive_integer(
        lambda trials: binomial_above(int(trials * tau / 2.0), trials, omega) <= tau
    )


@final
class _Test:
    """Looks at boxes through evenly spread points; all looks together are wrong with probability ω."""

    def __init__(self, case: Case, tau: float, confidence: float, looks: int, source: Source) -> None:
        if not 0.0 < tau < 1.0 or not 0.5 <= confidence < 1.0:
            raise InvalidParameter("τ is between 0 and 1, and a tested box has a confidence below 1")
        self._case, self._tau, self._source = case, tau, source
        self._omega = (1.0 - confidence) / looks
        self._size = trials_for(self._omega, tau)
        self.asked = 0

    def __call__(self, box: Box) -> bool:
        self.asked += self._size
        lost = int((~self._case.keeps(uniform(*box.corners, self._size, self._source))).sum())
        return binomial_above(lost, self._size, self._omega) <= self._tau


def _setting(
    predict: object, x: Any, domain: Domains, names: Sequence[str] | None
) -> tuple[Case, Floats, Floats]:
    named = isinstance(domain, Mapping)
    case = Case.of(predict, x, list(domain) if isinstance(domain, Mapping) else None, names)
    features = len(case.subject.columns)
    lines = list(domain.values()) if isinstance(domain, Mapping) else [domain] * features
    if not lines or not all(isinstance(line, Interval) for line in lines):
        raise InvalidParameter("a domain is dt.Interval(low, high), or one for each feature by name")
    for line, value in zip(lines, case.values, strict=True):
        line.check(value)
    assert named or len(lines) == features
    return case, np.array([line.low for line in lines]), np.array([line.high for line in lines])


def _volume(box: Box) -> float:
    low, high = box.corners
    return float(np.prod(high - low))
