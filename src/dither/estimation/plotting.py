"""The picture of an estimated distribution. matplotlib is loaded when called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dither.mechanisms.plotting import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.arrays import Floats
    from dither.estimation.density.curve import DensityCurve
    from dither.estimation.likelihood.distribution import EstimatedDistribution

_BLUE, _RED = "#2f6db3", "#c2452d"
_PLACES: Final = 512


def draw_distribution(shown: EstimatedDistribution, *, level: float | None, ax: Axes | None) -> Axes:
    """Draw the density, its bands and its point masses on `ax`, and return the axes."""
    ax = axes_or_new(ax)
    widths = np.diff(shown.edges)
    curve = shown.curve
    if curve is None:
        ax.stairs(
            shown.probabilities / widths, shown.edges, color=_BLUE, label=f"estimate ({shown.method!r})"
        )
    elif curve.points is not None:
        _points(shown, curve, curve.points, level, ax)
    else:
        places = shown.line.from_unit(np.linspace(0.0, 1.0, _PLACES + 1))
        if level is not None:
            low, high = _density_bands(shown, curve, level)
            middles = shown.line.from_unit((np.arange(low.size) + 0.5) / low.size)
            label = f"{100 * level:g} % band: holds in {100 * level:g} % of places on average"
            ax.fill_between(middles, low, high, color=_BLUE, alpha=0.2, linewidth=0.0, label=label)
        ax.plot(places, shown.pdf(places), color=_BLUE, linewidth=1.8, label="estimated density")
        _masses(shown, ax)
    margin = (
        0.015 * shown.line.length if curve is not None and (shown.atoms or curve.points is not None) else 0.0
    )
    ax.set_xlim(float(shown.edges[0]) - margin, float(shown.edges[-1]) + margin)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(str(shown.line))
    if curve is None or curve.points is None:
        ax.set_ylabel("density")
    if curve is not None:
        ax.legend(frameon=False, fontsize="small")
    return ax


def draw_bands(shown: EstimatedDistribution, level: float, ax: Axes, *, strict: bool) -> None:
    """Add the intervals of the bins themselves, as steps."""
    low, high = shown.bands(level, strict=strict)
    widths = np.diff(shown.edges)
    label = f"{100 * level:g} % interval of each bin" + (" (strict)" if strict else "")
    ax.stairs(high / widths, shown.edges, baseline=low / widths, fill=True, alpha=0.25, label=label)


def _density_bands(shown: EstimatedDistribution, curve: DensityCurve, level: float) -> tuple[Floats, Floats]:
    """Return the band of the density in each of the curve's own bins, without point masses."""
    parts = np.eye(curve.shares.size)[: curve.bins]
    low, high = curve.bands(parts, level, simultaneous=False)
    scale = curve.bins / shown.line.length
    return low * scale, high * scale


def _masses(shown: EstimatedDistribution, ax: Axes) -> None:
    """Draw a vertical line for each point mass, as high as its share of the tallest."""
    if not shown.atoms:
        return
    top = float(ax.get_ylim()[1])
    largest = float(shown.atoms[0].share)
    for mass in shown.atoms:
        height = 0.92 * top * float(mass.share) / largest
        ax.plot([mass.place, mass.place], [0.0, height], color=_RED, linewidth=2.2, marker=None)
        ax.plot([mass.place], [height], color=_RED, marker="o", markersize=5, clip_on=False)
        ax.annotate(
            f"{100 * float(mass.share):.2g} % at {mass.place:.4g}",
            (mass.place, height),
            xytext=(6, -3),
            textcoords="offset points",
            color=_RED,
            fontsize="small",
        )
    ax.set_ylim(top=top)


def _points(
    shown: EstimatedDistribution, curve: DensityCurve, points: Floats, level: float | None, ax: Axes
) -> None:
    """Draw the share of each declared point, with its interval."""
    places = shown.line.from_unit(points)
    shares = curve.shares
    width = 0.8 * float(np.diff(places).min()) if places.size > 1 else shown.line.length / 10.0
    ax.bar(places, shares, width=width, color=_BLUE, alpha=0.75, label="estimated share")
    if level is not None:
        low, high = curve.bands(np.eye(shares.size), level, simultaneous=False)
        label = f"{100 * level:g} % interval: holds in {100 * level:g} % of points on average"
        lengths = np.maximum([shares - low, high - shares], 0.0)
        ax.errorbar(places, shares, yerr=lengths, fmt="none", color="black", linewidth=0.9, label=label)
    ax.set_ylabel("share of people")
