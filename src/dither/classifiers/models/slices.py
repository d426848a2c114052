"""A classifier as a function of the randomised features alone: what can be proven about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from dither.arrays import Floats
from dither.classifiers.feature_law import Marginal
from dither.classifiers.proofs.box import Box

Enclosure = tuple[float, float]


class Slice(ABC):
    """A classifier whose parameters are known, all features but the randomised ones held fixed.

    It speaks about one answer: `own`, the number of the record's class.
    """

    own: int

    @property
    @abstractmethod
    def features(self) -> int:
        """How many features are randomised."""

    @abstractmethod
    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        """Give bounds between which the probability of the same answer certainly lies, if they are tight."""

    @abstractmethod
    def proves(self, box: Box) -> bool:
        """Say whether the answer is certainly the same in all of a box; False may mean "not known"."""

    def radius(self, centre: Floats, scale: Floats, low: Floats, high: Floats) -> float | None:
        """Give the largest t such that the answer stays within t·scale of a centre, cut off at low and high.

        None where no closed form is known; then `proves` is asked about many boxes.
        """
        return None
