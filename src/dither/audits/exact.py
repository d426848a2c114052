"""The exact audit: what a mechanism really spends, recomputed from the integers that are sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from dither.errors import InvalidParameter
from dither.mechanisms.base import Mechanism
from dither.privacy import Bound, Nothing


@final
@dataclass(frozen=True)
class Finding:
    """What was claimed, what was found, whether it holds, and how that is known."""

    mechanism: str
    claimed: float
    bound: Bound
    how: str
    claimed_delta: float = 0.0

    @property
    def realised(self) -> float:
        """The ε that the sampled integers spend; infinite where there is no bound."""
        return math.inf if isinstance(self.bound, Nothing) else self.bound.epsilon

    @property
    def realised_delta(self) -> float:
        """The δ that the sampled integers spend."""
        if isinstance(self.bound, Nothing):
            return 1.0
        return float(getattr(self.bound, "delta", 0.0))

    @property
    def ok(self) -> bool:
        """Whether no more is spent than was asked for."""
        return self.realised <= self.claimed and self.realised_delta <= self.claimed_delta

    def __str__(self) -> str:
        verdict = "holds" if self.ok else "DOES NOT HOLD"
        unspent = self.claimed - self.realised
        left = f"{unspent:.1e} unspent" if self.ok else "more than was asked for"
        return f"{self.mechanism}: ε = {self.claimed:g} {verdict}; realised {self.bound}, {left} ({self.how})"


def audit(mechanism: Mechanism[Any]) -> Finding:
    """Recompute a mechanism's privacy from its integers, over every pair of inputs its grid can tell apart.

    >>> from dither.domains import Interval
    >>> from dither import PM
    >>> audit(PM(Interval(0, 1), epsilon=1)).ok
    True
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"a mechanism was expected, not {type(mechanism).__name__}")
    bound, how = mechanism.realised()
    delta = float(getattr(mechanism, "delta", 0.0))
    name = f"{type(mechanism).__name__} on {mechanism.domain}"
    return Finding(name, mechanism.epsilon, bound, how, delta)
