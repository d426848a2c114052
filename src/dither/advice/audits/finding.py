"""The result of an audit: the finding with its evidence and running times, and its picture."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.advice.audits.black_box.calls import Calls
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.numerics.binomial import binomial_above, binomial_below
from dither.foundation.plotting import BLUE, ORANGE, as_per_cent, axes_or_new, draw_rows, dress_axes
from dither.foundation.tables import Row, Tabular
from dither.privacy import Bound, Guarantee, Nothing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.foundation.arrays import Mask


@dataclass(frozen=True, eq=False)
class Evidence(Tabular):
    """An event, its frequency under each of two inputs, and the ε that follows.

    With probability at least `confidence` all bounds of an audit hold together. `omega` is the share of
    1 − confidence that is used for each of the two bounds of this event.
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
    shares: tuple[Floats, Floats] | None = field(default=None, repr=False)  # shares of both inputs, by bin
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
            raise InvalidParameter(
                "expected evidence with a randomiser to repeat, got evidence without one; run the audit again"
            )
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

    def records(self) -> list[Row]:
        """Return a row for each bin: its share of the reports of both inputs, and whether it is the event's.

        Without bins, as after `repeat`, the only row is the event.
        """
        if self.shares is None or self.chosen is None:
            first, second = (hits / trials for hits, trials in zip(self.hits, self.trials, strict=True))
            return [{"bin": self.event, "first": first, "second": second, "event": True}]
        columns = (self.bins, *(side.tolist() for side in self.shares), self.chosen.tolist())
        return [
            dict(zip(("bin", "first", "second", "event"), row, strict=True))
            for row in zip(*columns, strict=True)
        ]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the frequency of each bin under both inputs, and mark the bins of the event."""
        return plot_evidence(self, title=title, ax=ax)

    def __str__(self) -> str:
        return (
            f"input {show_input(self.first)} against {show_input(self.second)}: {self.event}\n"
            f"  {self.hits[0]} of {self.trials[0]} against {self.hits[1]} of {self.trials[1]}: "
            f"p ≥ {self.least:.4g}, q ≤ {self.most:.4g}, so ε ≥ {self.epsilon:.4g} "
            f"(confidence {100 * self.confidence:g} %)"
        )


def show_input(value: object) -> str:
    """Return an input as text. The audit chose it, so it is not a person's value."""
    text = repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


_VALUES: Final = 64  # values of one call
_CALLS: Final = 400  # calls of each input
_PATIENCE: Final = 2.0  # the time limit, in seconds
_KEPT: Final = 0.9  # the share of shortest calls that is used; longer ones are interruptions [Reparaz17]
_THRESHOLD: Final = 4.5  # threshold of |t| [Reparaz17]


@dataclass(frozen=True)
class Timing(Tabular):
    """The durations of calls with two inputs, compared by Welch's t-test: not a part of ε, nor a proof."""

    first: Any
    second: Any
    t: float
    nanoseconds: tuple[float, float]  # mean time of one value
    calls: int

    @property
    def differs(self) -> bool:
        """Whether |t| is above 4.5, dudect's threshold."""
        return abs(self.t) > _THRESHOLD

    def records(self) -> list[Row]:
        """Return a row for each input: the mean duration of one value, in nanoseconds."""
        inputs = (show_input(self.first), show_input(self.second))
        return [{"input": text, "ns": time} for text, time in zip(inputs, self.nanoseconds, strict=True)]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the mean duration of both inputs; needs the extra `plot`."""
        about = title or f"|t| = {abs(self.t):.1f} over {self.calls} calls each"
        return draw_rows(self.records(), title=about, x="nanoseconds a value", bars="ns", ax=ax)

    def __str__(self) -> str:
        verdict = "differs" if self.differs else "does not differ"
        first, second = self.nanoseconds
        return (
            f"time (no part of ε): {verdict} between {show_input(self.first)} and {show_input(self.second)}, "
            f"{first:.0f} and {second:.0f} ns a value, |t| = {abs(self.t):.1f} over {self.calls} calls each"
        )


def time_calls(calls: Calls, rng: np.random.Generator) -> Timing | None:
    """Return the comparison of the first pair of inputs; None if a call takes too long or fails."""
    a, b = (int(position) for position in calls.neighbours.places[0])
    values = [calls.neighbours.pack(np.full(_VALUES, position)) for position in (a, b)]
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
    first, second = (np.array([time for time in side if time <= limit], dtype=np.float64) for side in taken)
    means = (float(first.mean()) / _VALUES, float(second.mean()) / _VALUES)
    inputs = calls.neighbours.inputs
    return Timing(inputs[a], inputs[b], _welch(first, second), means, min(map(len, taken)))


def _welch(first: Floats, second: Floats) -> float:
    if min(len(first), len(second)) < 2:
        return math.inf
    error = math.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    return float(first.mean() - second.mean()) / error if error > 0.0 else 0.0


@dataclass(frozen=True)
class Finding(Tabular):
    """The claim, the finding, the verdict, and the method of the check.

    `assumptions` belong to the guarantee; `accepted` are the ones that the caller accepts. `problems` says
    where the draw code contradicts its integers. `unassumed` is the largest loss over pairs of inputs without
    the assumptions, or None if pairs were not compared. `parts` are the findings about the parts of a
    combinator, or the questions of a campaign.

    Where a randomiser was sampled, `bound` is a lower bound on its loss, and `evidence` contains the two
    inputs and the event that prove it; `evidence.repeat` draws both inputs anew, and an audit with the same
    `seed` makes the same choices. `coverage` lists the parts of reports that were not examined or were
    compared as text. The audit claims nothing about them. `notes` and `timing` do not count for the verdict.
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
    coverage: tuple[str, ...] = ()

    @property
    def realised(self) -> float:
        """The ε that the sampled integers spend; infinite without a bound."""
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
        """Whether the privacy loss is within the claim, if all assumptions are true."""
        spent = self.realised <= self.claimed and self.realised_delta <= self.claimed_delta
        return spent and not self.problems and all(part.holds for part in self.parts)

    @property
    def ok(self) -> bool:
        """Whether the privacy loss is within the claim, and all assumptions were accepted."""
        return self.holds and not self.unaccepted

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the evidence of samples, both inputs by bin, or the privacy loss that an exact audit found."""
        if self.evidence is None:
            return plot_claims(self, title=title, ax=ax)
        return self.evidence.plot(title=title, ax=ax)

    def records(self) -> list[Row]:
        """Return a row for the mechanism and for each part: the claim, the loss, the verdict."""
        rows = [self, *(self.parts if len(self.parts) > 1 else ())]
        return [
            {
                "mechanism": finding.mechanism,
                "claimed": finding.claimed,
                "realised": finding.realised,
                "holds": finding.ok,
                "how": finding.how,
            }
            for finding in rows
        ]

    def _sampling_lines(self) -> list[str]:
        verdict = "is not refuted" if self.ok else "DOES NOT HOLD"
        if self.ok and self.coverage:
            verdict += " in the examined parts"
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
        lines = self._exact() if self.seed is None else self._sampling_lines()
        lines += [f"  {line}" for part in self.parts for line in str(part).splitlines()]
        lines += [f"looked at: {sentence}" for sentence in self.coverage]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, str(self.timing)] if self.timing is not None else lines)

    def _exact(self) -> list[str]:
        verdict = "holds" if self.ok else "DOES NOT HOLD"
        if self.holds:
            left = f"{self.claimed - self.realised:.1e} unspent"
        else:
            left = "; ".join(self.problems) or "more than the claim"
        lines = [
            f"{self.mechanism}: ε = {self.claimed:g} {verdict}; realised {self.bound}, {left} ({self.how})"
        ]
        if self.unaccepted:
            loss = "" if self.unassumed is None else f"; without that the loss is {self.unassumed:.3g}"
            lines.append(f"not accepted: that {'; '.join(self.unaccepted)}{loss}")
        return lines


_TICKS = 12
_EVENT = "#f3e3d3"


def plot_claims(finding: Finding, *, title: str, ax: Axes | None) -> Axes:
    """Draw the spent ε as bars, with a mark at the claimed ε."""
    rows = finding.records()
    about = title or f"{finding.mechanism}: the claim {'holds' if finding.ok else 'DOES NOT HOLD'}"
    most = 1.25 * max(row["claimed"] for row in rows)
    shown = [{"part": row["mechanism"], "ε": min(row["realised"], most)} for row in rows]
    ax = draw_rows(shown, title=about, x="bar: ε that is spent; line: ε that was claimed", bars="ε", ax=ax)
    positions = np.arange(len(rows))[::-1]
    ax.vlines(
        [row["claimed"] for row in rows], positions - 0.45, positions + 0.45, color=ORANGE, linewidth=2.5
    )
    return ax


def plot_evidence(evidence: Evidence, *, title: str, ax: Axes | None) -> Axes:
    """Draw the frequencies of both inputs by bin, and mark the bins of the event."""
    if evidence.shares is None or evidence.chosen is None:
        raise InvalidParameter(
            "expected evidence with frequencies to draw, got evidence without them; draw evidence of a "
            "black-box audit"
        )
    ax = axes_or_new(ax)
    first, second = evidence.shares
    seen = np.flatnonzero((first > 0) | (second > 0))
    positions = np.arange(len(seen))
    for position in positions[evidence.chosen[seen]]:
        ax.axvspan(position - 0.5, position + 0.5, color=_EVENT, linewidth=0)
    edges = np.append(positions, len(seen)) - 0.5
    ax.stairs(first[seen], edges, color=ORANGE, label=f"input {show_input(evidence.first)}", linewidth=1.5)
    ax.stairs(second[seen], edges, color=BLUE, label=f"input {show_input(evidence.second)}", linewidth=1.5)
    every = -(-len(seen) // _TICKS)
    ax.set_xticks(positions[::every], [evidence.bins[at] for at in seen[::every]], fontsize=8)
    ax.legend(frameon=False, fontsize=8)
    about = title or f"ε ≥ {evidence.epsilon:.3g} with confidence {100 * evidence.confidence:g} %"
    as_per_cent(ax, "y")
    return dress_axes(
        ax, title=about, x="bins of the reports; the event's bins are shaded", y="share of the reports"
    )
