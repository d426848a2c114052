"""The distance that a record may move before the answer changes: one radius, or each side separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dither.core.domains import Interval
from dither.errors import InvalidParameter, found
from dither.extensions.classifiers.boxes import (
    STEPS,
    FeatureBox,
    boxes_by_radius,
    farthest,
    grow_box,
    sides_by_length,
)
from dither.extensions.classifiers.monte_carlo import UniformTest, binomial_above
from dither.extensions.classifiers.result import Case, confidence_text
from dither.foundation.arrays import Floats
from dither.foundation.numerics.roots import smallest_positive_integer
from dither.foundation.plotting import BLUE, axes_or_new, dress_axes, set_height
from dither.foundation.randomness import SYSTEM, Source
from dither.foundation.tables import Row, Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Domains = Interval | Mapping[str, Interval]

_FINE: Final = 40  # halvings of a bisection whose every step is a proof


@dataclass(frozen=True, repr=False)
class Robustness(Tabular):
    """A box around a record in which the answer stays; `radius` is set if all sides are equally far away.

    Either proven (`confidence` 1, `tau` 0), or tested: at most a share `tau` of the box's points changes the
    answer. A test is wrong with probability at most 1 − `confidence`, over all boxes that were tested on the
    way. It says nothing about reports, because they are not uniform.
    """

    box: FeatureBox
    tau: float
    confidence: float
    queries: int
    radius: float | None = None

    @property
    def proven(self) -> bool:
        """Whether the answer is proven to be the same everywhere in the box."""
        return self.tau == 0.0

    def records(self) -> list[Row]:
        """Return a row for each feature that may move: the lowest and the highest value in the box."""
        sides = enumerate(zip(self.box.low, self.box.high, strict=True), 1)
        return [{"feature": number, "low": low, "high": high} for number, (low, high) in sides]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw how far each feature may move, one below the other; needs the extra `plot`."""
        ax = axes_or_new(ax)
        positions = np.arange(len(self.box))[::-1]
        low, high = self.box.corners
        ax.barh(positions, high - low, left=low, height=0.5, color=BLUE, alpha=0.75)
        ax.set_yticks(positions, [f"feature {number + 1}" for number in range(len(self.box))])
        ax.margins(x=0.1)
        set_height(ax, max(0.35 * len(self.box) + 1.2, 1.7))
        about = title or "Where the classifier answers as for the record"
        how = "proven" if self.proven else f"but for {100 * self.tau:g} % of the box"
        return dress_axes(ax, title=about, x=f"values that the features may have together ({how})")

    def __repr__(self) -> str:
        what = f"{self.box}" if self.radius is None else f"radius {self.radius:.4g}: {self.box}"
        how = "proven" if self.proven else f"but for {self.tau:g} of it{confidence_text(self.confidence)}"
        return f"{what} ({how})"


def radius(
    predict: object,
    x: object,
    domain: Domains,
    *,
    tau: float = 0.01,
    confidence: float = 0.95,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Robustness:
    """Return the largest distance found that all features may move at once without changing the answer.

    The distance is a share of each domain's length, and the box does not leave the domain. `domain` is an
    interval for all features, or intervals by name for those that may move. Proven for linear models,
    k-means, QDA, naive Bayes, forests and small ReLU networks; tested for others, see `Robustness`.

    >>> import dither as dt
    >>> steep = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> radius(steep, [0.8, 0.5], dt.Interval(0, 1))
    radius 0.2273: [0.5727, 1] × [0.2727, 0.7273] (proven)
    """
    case, low, high = _setting(predict, x, domain, names)
    about = boxes_by_radius(case.values, low, high)
    if case.slice is not None:
        found = case.slice.radius(case.values, high - low, low, high)
        if found is None:
            proves = case.slice.proves
            found = farthest(lambda distance: proves(about(distance)), _FINE)
        found = min(found, 1.0)
        return Robustness(about(found), 0.0, 1.0, 0, found)
    test = _test(case, tau, confidence, STEPS + 1, source)
    found = farthest(lambda distance: test(about(distance)))
    return Robustness(about(found), tau, confidence, test.queries, found)


def euclidean_radius(
    predict: object, x: object, *, features: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> float:
    """Return the Euclidean distance from x to the nearest record with another answer, to about ten digits.

    Known in closed form for linear models and k-means (planes), and for QDA and Gaussian naive Bayes
    (quadrics, one equation in one unknown). `features` names the features that may move, by default all.

    >>> import dither as dt
    >>> steep = dt.classifiers.LinearClassifier([[3.0, 4.0]], [-3.0])
    >>> euclidean_radius(steep, [1.0, 1.0])
    0.8
    """
    case = Case.of(predict, x, features, names)
    found = None if case.slice is None else case.slice.euclidean(case.values)
    if found is None:
        raise InvalidParameter(
            "expected a classifier with a known closed form; use dt.classifiers.radius to test or prove a box"
        )
    return found


def hyperrectangle(
    predict: object,
    x: object,
    domain: Domains,
    *,
    tau: float = 0.01,
    confidence: float = 0.95,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Robustness:
    """Return a large box about x in which the answer stays; each side is moved as far as it can be.

    The parameters are the same as for `radius`.

    >>> import dither as dt
    >>> steep = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> hyperrectangle(steep, [0.8, 0.5], dt.Interval(0, 1))
    [0.6002, 1] × [0, 1] (proven)
    """
    case, low, high = _setting(predict, x, domain, names)
    shape = sides_by_length(case.values, low, high)
    if case.slice is not None:
        return Robustness(grow_box(shape, case.features, case.slice.proves, _volume), 0.0, 1.0, 0)
    test = _test(case, tau, confidence, (STEPS + 1) * (2 * case.features + 1), source)
    box = grow_box(shape, case.features, test, _volume, first_only=True)
    return Robustness(box, tau, confidence, test.queries)


def trials_for(omega: float, tau: float) -> int:
    """Return the number of trials that prove a share below τ at confidence 1 − ω if up to τ/2 of them fail.

    >>> trials_for(0.05, 0.01)
    1049
    """
    return smallest_positive_integer(
        lambda trials: binomial_above(int(trials * tau / 2.0), trials, omega) <= tau
    )


def _test(case: Case, tau: float, confidence: float, looks: int, source: Source | None) -> UniformTest:
    """Return a test that a share below τ changes the answer; `looks` tests hold at once (union bound)."""
    if not 0.0 < tau < 1.0 or not 0.5 <= confidence < 1.0:
        raise InvalidParameter(
            "expected tau between 0 and 1 and the confidence of a test from 0.5 to below 1, got "
            f"{found(tau)} and {found(confidence)}"
        )
    omega = (1.0 - confidence) / looks
    size = trials_for(omega, tau)
    stream = SYSTEM if source is None else source
    return UniformTest(case, size, lambda changed: binomial_above(changed, size, omega) <= tau, stream)


def _setting(
    predict: object, x: object, domain: Domains, names: Sequence[str] | None
) -> tuple[Case, Floats, Floats]:
    """Return the case, and the low and high ends of the domain of each feature that may move."""
    case = Case.of(predict, x, list(domain) if isinstance(domain, Mapping) else None, names)
    lines = list(domain.values()) if isinstance(domain, Mapping) else [domain] * case.features
    if not lines or not all(isinstance(line, Interval) for line in lines):
        raise InvalidParameter(
            "expected domain to be dt.Interval(low, high), or one interval for each feature by name, got "
            f"{found(domain)}"
        )
    for line, value in zip(lines, case.values, strict=True):
        line.check(value)
    return case, np.array([line.low for line in lines]), np.array([line.high for line in lines])


def _volume(box: FeatureBox) -> float:
    low, high = box.corners
    return float(np.prod(high - low))
