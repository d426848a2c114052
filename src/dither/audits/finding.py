"""`Finding`: the result of an audit, compared with what was claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from dither.privacy import Bound, Guarantee, Nothing


@final
@dataclass(frozen=True)
class Finding:
    """What was claimed, what was found, whether the claim holds, and how that was checked.

    `assumptions` are those of the guarantee; `accepted` are those that the caller accepts. `problems` says
    where the draw code contradicts its integers. `unassumed` is the largest loss over pairs of inputs without
    the assumptions; None where pairs were not compared. `parts` are the findings about the parts of a
    combinator, or the questions of a campaign.
    """

    mechanism: str
    claimed: float
    bound: Bound
    how: str
    claimed_delta: float = 0.0
    assumptions: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    unassumed: float | None = None
    parts: tuple[Finding, ...] = ()

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
    def unaccepted(self) -> tuple[str, ...]:
        """The assumptions of the guarantee that the caller did not accept."""
        return Guarantee(self.bound, assumes=self.assumptions).unaccepted(self.accepted)

    @property
    def holds(self) -> bool:
        """Whether no more is spent than was claimed, if everything that is assumed is true."""
        spent = self.realised <= self.claimed and self.realised_delta <= self.claimed_delta
        return spent and not self.problems and all(part.holds for part in self.parts)

    @property
    def ok(self) -> bool:
        """Whether no more is spent than was claimed, and nothing is assumed that was not accepted."""
        return self.holds and not self.unaccepted

    def __str__(self) -> str:
        verdict = "holds" if self.ok else "DOES NOT HOLD"
        if self.holds:
            left = f"{self.claimed - self.realised:.1e} unspent"
        else:
            left = "; ".join(self.problems) or "more than was asked for"
        lines = [
            f"{self.mechanism}: ε = {self.claimed:g} {verdict}; realised {self.bound}, {left} ({self.how})"
        ]
        if self.unaccepted:
            loss = "" if self.unassumed is None else f"; without that the loss is {self.unassumed:.3g}"
            lines.append(f"not accepted: that {'; '.join(self.unaccepted)}{loss}")
        lines += [f"  {line}" for part in self.parts for line in str(part).splitlines()]
        return "\n".join(lines)
