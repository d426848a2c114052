"""`Finding`: the result of an audit, compared with what was claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from dither.audits.evidence import Evidence
from dither.audits.timing import Timing
from dither.errors import InvalidParameter
from dither.privacy import Bound, Guarantee, Nothing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@final
@dataclass(frozen=True)
class Finding:
    """What was claimed, what was found, whether the claim holds, and how that was checked.

    `assumptions` are those of the guarantee; `accepted` are those that the caller accepts. `problems` says
    where the draw code contradicts its integers. `unassumed` is the largest loss over pairs of inputs without
    the assumptions; None where pairs were not compared. `parts` are the findings about the parts of a
    combinator, or the questions of a campaign.

    Where a randomiser was sampled, `bound` is a lower bound on what it spends, and `evidence` says which two
    inputs and which event prove it; `evidence.repeat` draws both inputs anew, and an audit with the same
    `seed` makes the same choices. `notes` and `timing` are told apart and are no part of the verdict.
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
    evidence: Evidence | None = None
    notes: tuple[str, ...] = ()
    timing: Timing | None = None
    seed: int | None = None

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

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the evidence: how often each bin was reported under both inputs."""
        if self.evidence is None:
            raise InvalidParameter("only a finding from samples has a picture; an exact one has a bound")
        return self.evidence.plot(ax=ax)

    def _sampled(self) -> list[str]:
        verdict = "is not refuted" if self.ok else "DOES NOT HOLD"
        left = f"at least {self.realised:.4g} is spent"
        lines = [f"{self.mechanism}: ε = {self.claimed:g} {verdict}; {left} ({self.how})"]
        if self.evidence is None:
            return lines
        again = f"evidence.repeat(10_000), or --repeat 10000 of dither audit; the audit's seed is {self.seed}"
        return [
            *lines,
            f"  {self.evidence}",
            *([] if self.ok else [f"  to repeat on fresh reports: {again}"]),
        ]

    def __str__(self) -> str:
        lines = self._exact() if self.evidence is None else self._sampled()
        lines += [f"  {line}" for part in self.parts for line in str(part).splitlines()]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, str(self.timing)] if self.timing is not None else lines)

    def _exact(self) -> list[str]:
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
        return lines
