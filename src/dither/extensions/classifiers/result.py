"""A case of utility and its result: the bounds, and how they were obtained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import FeatureLaw
from dither.extensions.classifiers.models.model import Model, read_parameters
from dither.extensions.classifiers.models.slice import Slice
from dither.extensions.classifiers.subject import Subject
from dither.foundation.arrays import Floats, Mask
from dither.foundation.plotting import as_per_cent, draw_rows
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EXACT: Final = 1e-6  # proven bounds closer than this are one number
_CLOSE: Final = 0.01  # proven bounds closer than this are not improved by sampling

Edge = TypeVar("Edge", float, Floats)


# How a bound on utility is obtained, from the strongest statement to the weakest.
UtilityMethod = Literal["exact", "certified", "importance sampling", "Monte Carlo"]


@dataclass(frozen=True, repr=False)
class Utility(Tabular):
    """The probability that a classifier's answer stays the same when the record is randomised.

    With probability `confidence` or more, both `lower` and `upper` bound it; with a confidence of 1 they are
    proven. `estimate` is a point estimate. `queries` is the number of calls of the classifier, `guarantee`
    the promise to the person, and `box`, if one was found, a set of reports for which the answer stays.
    """

    lower: float
    upper: float
    estimate: float
    method: UtilityMethod
    confidence: float
    queries: int
    guarantee: Guarantee | None = None
    box: FeatureBox | None = None

    @staticmethod
    def enclose(lower: float, upper: float) -> Utility:
        """Return proven bounds; they are called exact if they are closer than 10⁻⁶."""
        if upper - lower < _EXACT:
            return Utility(lower, upper, (lower + upper) / 2.0, "exact", 1.0, 0)
        return Utility(lower, upper, lower, "certified", 1.0, 0)

    @staticmethod
    def certify(lower: float, box: FeatureBox) -> Utility:
        """Return the lower bound that a box proves: the probability that the report lies in it."""
        return Utility(lower, 1.0, lower, "certified", 1.0, 0, box=box)

    def under(self, guarantee: Guarantee) -> Utility:
        """Return the same bounds with the guarantee to the person."""
        return replace(self, guarantee=guarantee)

    def with_raw_release(self, share: float) -> Utility:
        """Return the bounds for a mechanism that sends the raw record with probability `share`."""
        lower, upper, estimate = (
            with_raw_release(edge, share) for edge in (self.lower, self.upper, self.estimate)
        )
        return replace(self, lower=lower, upper=upper, estimate=estimate)

    @property
    def is_close(self) -> bool:
        """Whether the bounds are so close that sampling would not improve them."""
        return self.upper - self.lower < _CLOSE

    def records(self) -> list[Row]:
        """Return one row: the probability, its bounds, and how they were obtained."""
        return [
            {
                "value": self.estimate,
                "low": self.lower,
                "high": self.upper,
                "method": self.method,
                "confidence": self.confidence,
                "queries": self.queries,
            }
        ]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the probability with its bounds; needs the extra `plot`."""
        return draw_utilities([{"": "same answer", **self.records()[0]}], title or repr(self), ax)

    def __float__(self) -> float:
        return self.lower

    def __repr__(self) -> str:
        if self.method == "exact":
            return f"stays with probability {self.estimate:.4f} ({self.method})"
        how = f"{self.method}{confidence_text(self.confidence)}"
        return f"stays with probability ≥ {rounded_down(self.lower)} ({how})"


def draw_utilities(rows: Sequence[Row], title: str, ax: Axes | None) -> Axes:
    """Draw probabilities of the same answer with their bounds, one below the other, in per cent."""
    axes = draw_rows(rows, title=title, x="probability of the same answer", limits=(0.0, 1.0), ax=ax)
    axes.set_xlim(0.0, 1.02)
    as_per_cent(axes, "x")
    return axes


def with_raw_release(kept: Edge, share: float) -> Edge:
    """Return the utility of an `Indicator` from its mechanism's: δ + (1 − δ)·utility.

    The answer for the raw record is by definition the same.
    """
    return share + (1.0 - share) * kept


def confidence_text(confidence: float) -> str:
    """Return ", 95 % confidence" for 0.95, and nothing for a proof."""
    return "" if confidence == 1.0 else f", {100 * confidence:g} % confidence"


def rounded_down(number: float) -> str:
    """Return four decimals, rounded down, so that the number shown is still a lower bound."""
    return f"{int(number * 10_000) / 10_000:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A classifier, a record, and the classifier's answer for it. Contains private values, and shows none."""

    model: Model
    subject: Subject
    answer: Any

    @staticmethod
    def of(
        predict: object,
        x: Any,
        chosen: Sequence[str] | None,
        names: Sequence[str] | None,
        laws: Callable[[int], Sequence[FeatureLaw]] | None = None,
    ) -> Case:
        """Return the case of a record whose chosen features (all, for None) are randomised by laws."""
        model = Model.of(predict)
        subject = Subject.of(x, chosen, model.names if names is None else list(names), laws)
        wanted = getattr(model.inside, "n_features_in_", subject.row.size)
        if wanted != subject.row.size:
            raise InvalidParameter(
                f"expected a record with {wanted} features, as the model takes, got "
                f"{subject.row.size}; "
                "correct the record"
            )
        return Case.about(model, subject)

    @staticmethod
    def about(model: Model, subject: Subject) -> Case:
        """Return the case of a record; the classifier is called once."""
        return Case(model, subject, model(subject.rows(subject.values[None]))[0])

    @property
    def values(self) -> Floats:
        """The values that are randomised."""
        return self.subject.values

    @property
    def features(self) -> int:
        """The number of randomised features."""
        return len(self.subject.columns)

    def keeps(self, points: Floats) -> Mask:
        """Return for each row of randomised values whether the answer stays the same."""
        return self.model.keeps(self.subject.rows(points), self.answer)

    @cached_property
    def slice(self) -> Slice | None:
        """The classifier as a function of the randomised features, if its parameters can be read."""
        return read_parameters(self.model, self.subject, self.answer)

    def keeps_on(self, sides: Sequence[Floats]) -> Mask:
        """Return for each combination of reports whether the answer stays; the last feature changes fastest.

        The classifier is called only once for the same reports, because all budgets often have the same
        reports.
        """
        key = tuple(side.tobytes() for side in sides)
        if key not in self._kept:
            grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
            self._kept[key] = self.keeps(grid.reshape(-1, len(sides)))
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[tuple[bytes, ...], Mask]:
        return {}

    def __repr__(self) -> str:
        return f"Case({self.subject!r})"
