"""A classifier as a function of only the randomised features, and the proofs from its parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import Marginal
from dither.foundation.arrays import Floats, Mask

Enclosure = tuple[float, float]
Keeps = Callable[[Floats], Mask]  # for each row of randomised values, whether the classifier keeps its answer


class Slice(ABC):
    """A classifier with known parameters in which only the randomised features vary.

    It examines one answer: `own`, the number of the record's class.
    """

    own: int

    @property
    @abstractmethod
    def features(self) -> int:
        """The number of randomised features."""

    @abstractmethod
    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        """Return proven bounds on the probability of the same answer; None if no tight ones are known."""

    @abstractmethod
    def proves(self, box: FeatureBox) -> bool:
        """Return whether the answer is proven to be the same in all of a box; False may mean "not known"."""

    def radius(self, centre: Floats, scale: Floats, low: Floats, high: Floats) -> float | None:
        """Return the largest t for which the answer stays within t·scale of a centre, between low and high.

        None without a closed form; `proves` is then called for many boxes.
        """
        return None

    def euclidean(self, centre: Floats) -> float | None:
        """Return the Euclidean distance from a centre to another answer; None without a closed form."""
        return None


class SliceableClassifier(ABC):
    """A classifier that knows its own parameters."""

    @abstractmethod
    def slice(self, row: Floats, columns: Sequence[int], keeps: Keeps) -> Slice:
        """Return the classifier as a function of some features of a row.

        `keeps` calls the classifier itself, for points at which rounding decides.
        """
