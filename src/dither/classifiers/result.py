"""What is known about a classifier's utility, and how it is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from dither.classifiers.proofs.box import Box
from dither.privacy import Guarantee


class Method(Enum):
    """How a bound was found, from the strongest statement to the weakest."""

    EXACT = "exact"
    CERTIFIED = "certified"
    IMPORTANCE = "importance sampling"
    MONTE_CARLO = "Monte Carlo"
    REPAIRED = "repaired box"
    REGION = "uniform region"
    PUBLISHED = "published box, not a bound"

    def __repr__(self) -> str:
        return f"Method.{self.name}"


@final
@dataclass(frozen=True, repr=False)
class Utility:
    """How likely a classifier's answer stays the same when the record is randomised: at least `lower`.

    Both `lower` and `upper` are right with probability `confidence` at least; a confidence of 1 is a proof.
    `estimate` is the best guess. `queries` is how often the classifier was asked, `guarantee` what the person
    is promised, and `box`, where one was found, holds randomised values for which the answer stays.
    """

    lower: float
    upper: float
    estimate: float
    method: Method
    confidence: float
    queries: int
    guarantee: Guarantee | None = None
    box: Box | None = None

    @staticmethod
    def proof(lower: float, upper: float, method: Method, box: Box | None = None) -> Utility:
        """Give what is proven: no query was needed, and no confidence is less than full."""
        estimate = (lower + upper) / 2.0 if method is Method.EXACT else lower
        return Utility(lower, upper, estimate, method, 1.0, 0, box=box)

    def under(self, guarantee: Guarantee) -> Utility:
        """Give the same, with what the person is promised."""
        return replace(self, guarantee=guarantee)

    @property
    def is_bound(self) -> bool:
        """Whether `lower` is a lower bound at all: false for the box as published."""
        return self.method is not Method.PUBLISHED

    def __float__(self) -> float:
        return self.lower

    def __repr__(self) -> str:
        if not self.is_bound:
            return f"{self.lower:.3f} ({self.method.value})"
        sure = "" if self.confidence == 1.0 else f", {100 * self.confidence:g} % confidence"
        if self.method is Method.EXACT:
            return f"stays with probability {self.estimate:.4f} ({self.method.value})"
        return f"stays with probability ≥ {rounded_down(self.lower)} ({self.method.value}{sure})"


def rounded_down(number: float) -> str:
    """Show four digits, rounded down, so that the shown bound is a bound."""
    return f"{int(number * 10_000) / 10_000:.4f}"
