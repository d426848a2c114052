"""Whether the time of a call depends on the value: a two-sample test, reported apart from ε."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.audits.black_box.calls import Calls
from dither.audits.evidence import shown

_VALUES: Final = 64  # of one call
_CALLS: Final = 400  # of each input
_PATIENCE: Final = 2.0  # the time limit, in seconds
_KEPT: Final = 0.9  # the longest calls are left out: interruptions, not the code [Reparaz17]
_THRESHOLD: Final = 4.5  # of |t| [Reparaz17]


@final
@dataclass(frozen=True)
class Timing:
    """The durations of calls with two inputs, compared by Welch's t-test: no part of ε, and not a proof."""

    first: Any
    second: Any
    t: float
    nanoseconds: tuple[float, float]  # of one value, mean
    calls: int

    @property
    def differs(self) -> bool:
        """Whether |t| is above 4.5, dudect's threshold."""
        return abs(self.t) > _THRESHOLD

    def __str__(self) -> str:
        verdict = "differs" if self.differs else "does not differ"
        one, two = self.nanoseconds
        return (
            f"time (no part of ε): {verdict} between {shown(self.first)} and {shown(self.second)}, "
            f"{one:.0f} and {two:.0f} ns a value, |t| = {abs(self.t):.1f} over {self.calls} calls each"
        )


def timed(calls: Calls, rng: np.random.Generator) -> Timing | None:
    """Return the comparison of the first pair of inputs; None if a call takes too long or fails."""
    a, b = (int(place) for place in calls.neighbours.places[0])
    values = [calls.neighbours.pack(np.full(_VALUES, place)) for place in (a, b)]
    taken: tuple[list[int], list[int]] = ([], [])
    order = rng.permutation(np.resize([0, 1], 2 * _CALLS)).tolist()
    begin = time.monotonic()
    try:
        for which in (0, 1):
            calls.call(values[which])
        for which in order:
            start = time.perf_counter_ns()
            calls.call(values[which])
            taken[which].append(time.perf_counter_ns() - start)
            if time.monotonic() - begin > _PATIENCE:
                break
    except Exception:
        return None
    if min(map(len, taken)) < 20:
        return None
    # One threshold for both inputs, because a separate one for each would hide a difference.
    limit = float(np.quantile(np.concatenate(taken), _KEPT))
    first, second = (np.array([one for one in side if one <= limit], dtype=np.float64) for side in taken)
    means = (float(first.mean()) / _VALUES, float(second.mean()) / _VALUES)
    inputs = calls.neighbours.inputs
    return Timing(inputs[a], inputs[b], _welch(first, second), means, min(map(len, taken)))


def _welch(first: Floats, second: Floats) -> float:
    if min(len(first), len(second)) < 2:
        return math.inf
    error = math.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    return float(first.mean() - second.mean()) / error if error > 0.0 else 0.0
