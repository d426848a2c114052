"""`Evidence`: two inputs and an event that prove how much a randomiser spends at least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter
from dither.numerics.beta import binomial_above, binomial_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.arrays import Mask


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """An event, how often it happened under each of two inputs, and the ε that follows from it.

    With probability at least `confidence` all of an audit's bounds hold together; `omega` is the share of
    1 − confidence that each of the two bounds of this event was given.
    """

    first: Any
    second: Any
    event: str
    hits: tuple[int, int]
    trials: tuple[int, int]
    omega: float
    delta: float = 0.0
    confidence: float = 0.99
    contains: Callable[[Any], Mask] | None = field(default=None, repr=False)
    again: Callable[[int], tuple[int, int]] | None = field(default=None, repr=False)
    shares: tuple[Floats, Floats] | None = field(default=None, repr=False)  # of both inputs, by bin
    chosen: Mask | None = field(default=None, repr=False)  # the bins of the event
    bins: tuple[str, ...] = field(default=(), repr=False)  # their names, for a picture

    @property
    def least(self) -> float:
        """The lower bound on the probability of the event under the first input."""
        return binomial_below(self.hits[0], self.trials[0], self.omega)

    @property
    def most(self) -> float:
        """The upper bound on the probability of the event under the second input."""
        return binomial_above(self.hits[1], self.trials[1], self.omega)

    @property
    def epsilon(self) -> float:
        """The lower bound on ε: ln((p − δ)/q) with p and q at the ends of their bounds; at least 0."""
        left = self.least - self.delta
        return max(0.0, math.log(left / self.most)) if left > 0.0 else 0.0

    def repeat(self, samples: int = 10_000) -> Evidence:
        """Return the same event on fresh reports of the same inputs, at the same level."""
        if self.again is None:
            raise InvalidParameter("this evidence cannot be repeated: it has no randomiser")
        hits = self.again(samples)
        return Evidence(
            self.first,
            self.second,
            self.event,
            hits,
            (samples, samples),
            self.omega,
            self.delta,
            self.confidence,
            self.contains,
            self.again,
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw how often each bin was reported under both inputs, the bins of the event marked."""
        from dither.audits.plotting import plot_evidence

        return plot_evidence(self, ax=ax)

    def __str__(self) -> str:
        return (
            f"input {shown(self.first)} against {shown(self.second)}: {self.event}\n"
            f"  {self.hits[0]} of {self.trials[0]} against {self.hits[1]} of {self.trials[1]}: "
            f"p ≥ {self.least:.4g}, q ≤ {self.most:.4g}, so ε ≥ {self.epsilon:.4g} "
            f"(confidence {100 * self.confidence:g} %)"
        )


def shown(value: Any) -> str:
    """Return an input as text. The audit chose it, so it is not a person's value."""
    text = repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
