"""The picture of what an audit found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dither.audits.evidence import Evidence, shown
from dither.errors import InvalidParameter
from dither.plotting import BLUE, ORANGE, axes_or_new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICKS = 12
_EVENT = "#f3e3d3"


def plot_evidence(evidence: Evidence, *, ax: Axes | None = None) -> Axes:
    """Draw the frequencies of both inputs by bin, and mark the bins of the event."""
    if evidence.shares is None or evidence.chosen is None:
        raise InvalidParameter("this evidence has no frequencies to draw")
    ax = axes_or_new(ax)
    first, second = evidence.shares
    seen = np.flatnonzero((first > 0) | (second > 0))
    places = np.arange(len(seen))
    for place in places[evidence.chosen[seen]]:
        ax.axvspan(place - 0.5, place + 0.5, color=_EVENT, linewidth=0)
    edges = np.append(places, len(seen)) - 0.5
    ax.stairs(first[seen], edges, color=ORANGE, label=f"input {shown(evidence.first)}", linewidth=1.5)
    ax.stairs(second[seen], edges, color=BLUE, label=f"input {shown(evidence.second)}", linewidth=1.5)
    every = -(-len(seen) // _TICKS)
    ax.set_xticks(places[::every], [evidence.bins[at] for at in seen[::every]], fontsize=8)
    ax.legend(frameon=False, fontsize=8)
    title = f"ε ≥ {evidence.epsilon:.3g} with confidence {100 * evidence.confidence:g} %"
    return styled(
        ax, title=title, x="bins of the reports; those of the event are shaded", y="share of the reports"
    )
