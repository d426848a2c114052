"""Pictures of estimates. matplotlib is imported at the first call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dither.core.domains.calendar import Calendar
from dither.errors import InvalidParameter
from dither.estimation.rounding import SHARE, show_interval, thousands
from dither.foundation.plotting import (
    BLUE,
    COLOURS,
    GREY,
    MARKS,
    ORANGE,
    as_per_cent,
    axes_or_new,
    draw_intervals,
    draw_rows,
    dress_axes,
    polar_axes,
    set_height,
    start_at_zero,
)
from dither.foundation.tables import show_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.estimation.curve import DensityCurve
    from dither.estimation.distributions import EstimatedDistribution
    from dither.estimation.estimate import Estimate
    from dither.estimation.families import FittedFamily
    from dither.estimation.groups import GroupedEstimates
    from dither.estimation.over_time import EstimatedDays
    from dither.estimation.quantiles import EstimatedQuantiles
    from dither.estimation.queries import EstimatedAnswer, EstimatedCumulative
    from dither.estimation.regression import EstimatedRegression
    from dither.estimation.significance import Significance
    from dither.foundation.arrays import Floats
    from dither.foundation.tables import Row

_PLACES: Final = 512
_LINE: Final = 41  # points of a line; each needs a fit
_CELLS: Final = 400  # largest number of cells of a table with printed numbers


def draw_distribution(
    shown: EstimatedDistribution, *, level: float | None, title: str = "", ax: Axes | None
) -> Axes:
    """Draw the density, its bands and its point masses on `ax`, and return the axes."""
    head = _head(title, shown)
    if shown.line.circular and (ax is None or hasattr(ax, "set_theta_zero_location")):
        return _rose(shown, level, head, ax)
    ax = axes_or_new(ax)
    widths = np.diff(shown.edges)
    curve = shown.curve
    if curve is None:
        ax.stairs(shown.probabilities / widths, shown.edges, color=BLUE, label=f"estimate ({shown.method!r})")
    elif curve.points is not None:
        _points(shown, curve, curve.points, level, ax)
    else:
        points = shown.line.from_unit(np.linspace(0.0, 1.0, _PLACES + 1))
        if level is not None:
            low, high = _density_bands(shown, curve, level)
            middles = shown.line.from_unit((np.arange(low.size) + 0.5) / low.size)
            label = f"{100 * level:g} % band, on average over all points"
            ax.fill_between(middles, low, high, color=BLUE, alpha=0.2, linewidth=0.0, label=label)
        ax.plot(points, shown.pdf(points), color=BLUE, linewidth=1.8, label="estimated density")
        _masses(shown, ax)
    margin = (
        0.015 * shown.line.length if curve is not None and (shown.atoms or curve.points is not None) else 0.0
    )
    ax.set_xlim(float(shown.edges[0]) - margin, float(shown.edges[-1]) + margin)
    start_at_zero(ax)
    if curve is None or curve.points is None:
        unit = shown.line.unit.span if isinstance(shown.line.unit, Calendar) else shown.line.unit
        ax.set_ylabel("density" + (f" (1/{unit})" if unit else ""))
    ax.legend(frameon=False, fontsize="small")
    if isinstance(shown.line.unit, Calendar):
        _name_dates(ax, shown.line.unit)
        return dress_axes(ax, title=head)
    return dress_axes(ax, title=head, x=shown.line.unit or str(shown.line))


def draw_bands(shown: EstimatedDistribution, level: float, ax: Axes, *, strict: bool) -> None:
    """Add the intervals of the bins themselves, as steps."""
    low, high = shown.bands(level, strict=strict)
    widths = np.diff(shown.edges)
    label = f"{100 * level:g} % interval of each bin" + (" (strict)" if strict else "")
    ax.stairs(
        high / widths, shown.edges, baseline=low / widths, fill=True, color=BLUE, alpha=0.2, label=label
    )


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
        ax.plot([mass.place, mass.place], [0.0, height], color=ORANGE, linewidth=2.2, marker=None)
        ax.plot([mass.place], [height], color=ORANGE, marker="o", markersize=5, clip_on=False)
        ax.annotate(
            f"{100 * float(mass.share):.2g} % at {mass.shown}",
            (mass.place, height),
            xytext=(6, -3),
            textcoords="offset points",
            color=ORANGE,
            fontsize="small",
        )


def _points(
    shown: EstimatedDistribution, curve: DensityCurve, points: Floats, level: float | None, ax: Axes
) -> None:
    """Draw the share of each declared point, with its interval."""
    positions = shown.line.from_unit(points)
    shares = curve.shares
    width = 0.8 * float(np.diff(positions).min()) if positions.size > 1 else shown.line.length / 10.0
    ax.bar(positions, shares, width=width, color=BLUE, alpha=0.75, label="estimated share")
    if level is not None:
        low, high = curve.bands(np.eye(shares.size), level, simultaneous=False)
        label = f"{100 * level:g} % interval: holds in {100 * level:g} % of points on average"
        lengths = np.maximum([shares - low, high - shares], 0.0)
        ax.errorbar(positions, shares, yerr=lengths, fmt="none", color="black", linewidth=0.9, label=label)
    ax.set_ylabel("share of people")
    as_per_cent(ax, "y")


def draw_estimate(shown: Estimate, *, level: float, most: int, title: str, ax: Axes | None) -> Axes:
    """Draw an estimate by its type: a table, coefficients, frequencies, numbers or a number."""
    from dither.estimation.pairs import EstimatedTable
    from dither.estimation.queries import EstimatedCumulative
    from dither.estimation.regression import EstimatedRegression

    head = _head(title, shown)
    if isinstance(shown, EstimatedTable):
        whose = {"people": "all people", "rows": "each row", "columns": "each column"}[shown.whose]
        return draw_table(shown, (shown.rows, shown.columns), level, head, whose=whose, ax=ax)
    rows = shown.numbers(level)
    if isinstance(shown, EstimatedRegression):
        if shown.line_ends is not None:
            return draw_line(shown, shown.line_ends, level=level, title=head, ax=ax)
        what = "coefficient" if shown.answer is None else f"log-odds of {shown.answer}"
        return draw_rows(rows[1:], title=head, x=f"{what}, {100 * level:g} % intervals", zero=True, ax=ax)
    # A mean on [0, 1] is not a share.
    share = shown.limits is SHARE or (bool(shown.labels) and shown.limits == SHARE)
    if isinstance(shown, EstimatedCumulative):
        return _draw_cumulative(shown, level, head, ax)
    if share and len(shown.labels) > 1:
        return _draw_shares(shown, rows, level, most, head, ax)
    unit = f" ({shown.unit})" if shown._in_unit() else ""
    of = "" if shown.clipping is None else f" of {shown.clipping.values}"
    axes = draw_rows(
        rows, title=head, x=f"estimate{of}{unit}, {100 * level:g} % interval", limits=shown.limits, ax=ax
    )
    _name_dates(axes, shown.unit)
    if share:
        as_per_cent(axes, "x")
    return axes


def draw_truth(shown: Estimate, truth: float, ax: Axes) -> None:
    """Draw the true number as a dotted line, or raise InvalidParameter if the estimate is not one number."""
    if shown.labels or np.ndim(shown.value):
        raise InvalidParameter("expected an estimate of one number, got several; leave out `truth`")
    ax.axvline(truth, color="black", linestyle=":", label="truth")


def draw_quantiles(shown: EstimatedQuantiles, *, title: str, ax: Axes | None) -> Axes:
    """Draw each quantile with its interval, the lowest share below."""
    rows = [{"quantile": f"{row['quantile']:g} of the people", **_but(row)} for row in shown.numbers()]
    first = shown[0]
    of = "" if first.clipping is None else f" of {first.clipping.values}"
    unit = f" ({first.unit})" if first._in_unit() else ""
    head = _head(title, shown)
    x = f"quantile{of}{unit}, 95 % intervals{first.condition}"
    axes = draw_rows(rows[::-1], title=head, x=x, limits=first.limits, ax=ax)
    _name_dates(axes, first.unit)
    return axes


def _but(row: Row) -> dict[str, Any]:
    """Return the columns of a row other than its share."""
    return {name: cell for name, cell in row.items() if name != "quantile"}


def _draw_cumulative(shown: EstimatedCumulative, level: float, head: str, ax: Axes | None) -> Axes:
    """Draw cumulative shares as steps over a scale, or as a line over numbers, with their band."""
    ax = axes_or_new(ax)
    columns = (shown.value, *shown.interval(level))
    value, low, high = (np.clip(np.asarray(part, dtype=np.float64), 0.0, 1.0) for part in columns)
    if shown.labels:
        labels = [str(show_label(label)) for label in shown.labels]
        draw_intervals(ax, np.arange(len(labels)), shown.records(level), SHARE, upright=True)
        ax.step(range(len(labels)), value, where="mid", color=BLUE, alpha=0.5)
        _name_ticks(ax, labels)
    else:
        ax.fill_between(shown.edges[1:], low, high, color=BLUE, alpha=0.2, linewidth=0.0)
        ax.plot(shown.edges[1:], value, color=BLUE, linewidth=1.8)
    ax.set_ylim(0.0, 1.02)
    as_per_cent(ax, "y")
    return dress_axes(ax, title=head, x=shown.unit, y=f"people up to here, {100 * level:g} % intervals")


def _draw_shares(
    shown: Estimate, rows: Sequence[Row], level: float, most: int, head: str, ax: Axes | None
) -> Axes:
    """Draw a bar with its interval for each of the most frequent categories."""
    ax = axes_or_new(ax)
    many = len(rows) > most
    order = np.sort(np.argsort(-np.asarray(shown.value), kind="stable")[:most]) if many else range(len(rows))
    kept = [rows[int(at)] for at in order]
    labels = [str(row["answer"]) for row in kept]
    _bars(ax, np.arange(len(labels)), kept, 0.7, BLUE)
    _name_ticks(ax, labels)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    as_per_cent(ax, "y")
    some = f"the {most} most frequent of {len(rows)}; " if many else ""
    what = "posterior means, no intervals" if rows[0]["low"] is None else f"{100 * level:g} % intervals"
    return dress_axes(ax, title=f"{some}{head}", y=f"share of people, {what}")


def draw_table(
    shown: Estimate,
    answers: Sequence[Sequence[Any]],
    level: float,
    head: str,
    *,
    whose: str = "all people",
    ax: Axes | None,
) -> Axes:
    """Draw a matrix of shares as shades, with each share in per cent and its interval in its cell.

    `answers` are the labels of its rows and of its columns.
    """
    ax = axes_or_new(ax)
    value = np.asarray(shown.value, dtype=np.float64)
    low, high = (np.asarray(end, dtype=np.float64) for end in shown.interval(level))
    seen = np.clip(np.nan_to_num(value), 0.0, 1.0)
    top = max(float(seen.max()), 1e-9)
    ax.imshow(seen, cmap="Blues", vmin=0.0, vmax=top, aspect="auto")
    if value.size <= _CELLS:
        for (i, j), share in np.ndenumerate(value):
            ends = [100.0 * float(end) for end in (share, low[i, j], high[i, j])]
            text = show_interval(ends[0], ends[1], ends[2], (0.0, 100.0)).replace(" (", "\n(")
            dark = "white" if seen[i, j] > 0.6 * top else "#22303c"
            ax.text(j, i, text, ha="center", va="center", fontsize=9, color=dark)
    rows, columns = ([str(show_label(label)) for label in side] for side in answers)
    _name_ticks(ax, columns)
    ax.set_yticks(range(len(rows)), rows)
    return dress_axes(ax, title=f"{head}\nper cent of {whose}, {100 * level:g} % intervals")


def draw_groups(shown: GroupedEstimates, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw the groups side by side with their intervals: points of numbers, bars of frequencies."""
    ax = axes_or_new(ax)
    groups = list(shown.estimates)
    names = [" · ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in groups]
    first = shown.estimates[groups[0]]
    name = title or shown.about
    head = f"{name}\n{shown.title}" if name else shown.title
    if first.labels:
        width = 0.8 / len(groups)
        for index, group in enumerate(groups):
            part = shown.estimates[group]
            at = np.asarray(np.arange(len(first.labels)) + (index - (len(groups) - 1) / 2.0) * width)
            colour = COLOURS[index % len(COLOURS)]
            _bars(ax, at, part.records(shown.level), 0.9 * width, colour, names[index])
        labels = [str(show_label(label)) for label in first.labels]
        _name_ticks(ax, labels)
        ax.axhline(0.0, color=GREY, linewidth=0.8)
        aside: Any = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        ax.legend(frameon=False, fontsize="small", title=", ".join(shown.by), **aside)
        as_per_cent(ax, "y")
        return dress_axes(ax, title=head, y="share of people")
    rows = []
    for part in shown.estimates.values():
        low, high = part.interval(shown.level)
        if part.circular:
            half = part.half_width(shown.level)
            low, high = float(part.value) - half, float(part.value) + half
        rows.append({"value": float(part.value), "low": float(low), "high": float(high)})
    draw_intervals(ax, np.arange(len(rows)), rows, shown.limits, upright=True)
    _name_ticks(ax, names)
    ax.margins(x=0.1)
    unit = f" ({first.unit})" if first._in_unit() else ""
    _name_dates(ax, first.unit, "y")
    by = "" if shown.by == ("group",) else ", ".join(shown.by)
    clipped = "" if first.clipping is None else f" of {first.clipping.values}"
    return dress_axes(ax, title=head, x=by, y=f"estimate{clipped}{unit}")


def _bars(
    ax: Axes, positions: Any, rows: Sequence[Row], width: float, colour: str, label: str | None = None
) -> None:
    """Draw bars with their intervals, cut at 0 and 1."""
    values = [min(max(float(row["value"]), 0.0), 1.0) for row in rows]
    ax.bar(positions, values, width=width, color=colour, alpha=0.75, label=label)
    if rows[0]["low"] is not None:
        draw_intervals(ax, positions, rows, SHARE, upright=True, colour="black", point="none")


def _rose(shown: EstimatedDistribution, level: float | None, head: str, ax: Axes | None) -> Axes:
    """Draw the shares of bins as sectors, whose areas are the shares; zero points up, clockwise."""
    axes = polar_axes(ax)
    turn = 2.0 * np.pi / shown.line.length
    widths = np.diff(shown.edges) * turn
    middles = (shown.edges[:-1] + shown.edges[1:]) / 2.0 * turn

    def radius(shares: Floats) -> Floats:
        return np.asarray(np.sqrt(2.0 * np.maximum(shares, 0.0) / widths))

    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    shares = shown.probabilities
    axes.bar(middles, radius(shares), width=widths, color=BLUE, alpha=0.45, edgecolor=BLUE, linewidth=0.8)
    if level is not None:
        low, high = (radius(end) for end in shown.bands(level))
        axes.bar(middles, high - low, bottom=low, width=widths, color=ORANGE, alpha=0.25, linewidth=0.0)
    axes.set_yticklabels([])
    marks = np.arange(8) / 8.0
    unit = shown.line.unit
    places = [shown.line.length * mark for mark in marks]
    if isinstance(unit, Calendar):
        names = list(map(unit.text, places))
    else:
        names = [f"{place:.4g}" + f" {unit}" * bool(unit) for place in places]
    axes.set_xticks(2.0 * np.pi * marks, names)
    band = "" if level is None else f"; orange: {100 * level:g} % intervals"
    return dress_axes(axes, title=f"{head}\nareas are shares of people{band}")


def draw_days(shown: EstimatedDays, *, title: str, ax: Axes | None) -> Axes:
    """Draw a line with its band over the days, one for each answer; a band that is cut has marks there."""
    ax = axes_or_new(ax)
    rows = shown.numbers()
    answers = list(dict.fromkeys(row.get("answer") for row in rows))
    low, high = shown.limits
    _name_dates(ax, shown.unit, "y")
    for answer, colour, mark in zip(answers[:_LINES], cycle(COLOURS), cycle(MARKS), strict=False):
        own = [row for row in rows if row.get("answer") == answer]
        days, *ends = (np.array([row[name] for row in own]) for name in ("day", "value", "low", "high"))
        value, least, most = (np.clip(end, low, high) for end in ends)
        name = str(show_label(answer))
        ax.plot(days, value, color=colour, linewidth=1.6, marker=mark, markersize=4, label=name)
        ax.fill_between(days, least, most, color=colour, alpha=0.2, linewidth=0.0)
        for end, limit, cut, cut_mark in (
            (ends[1], low, ends[1] < low, "v"),
            (ends[2], high, ends[2] > high, "^"),
        ):
            if cut.any():
                ax.plot(
                    days[cut],
                    np.full_like(end[cut], limit),
                    cut_mark,
                    color=colour,
                    markersize=4,
                    clip_on=False,
                )
    if len(answers) > 1:
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    locator: Any = ax.xaxis.get_major_locator()
    locator.set_params(integer=True)  # days are integers
    if answers[0] is not None:
        as_per_cent(ax, "y")
    unit = "" if isinstance(shown.unit, Calendar) else shown.unit
    what = "share of people" if answers[0] is not None else f"estimate{unit and f' ({unit})'}"
    return dress_axes(ax, title=_head(title, shown), x="day", y=f"{what}, 95 % intervals")


def draw_test(shown: Significance, *, title: str, ax: Axes | None) -> Axes:
    """Draw the p-value on a scale of powers of ten, with the usual levels of a test."""
    ax = axes_or_new(ax)
    least = 1e-6  # a smaller p-value is drawn here, with an arrow
    p = min(max(shown.p_value, 1.5 * least), 1.0)
    for level, colour in zip(_LEVELS, ("#fbe9dd", "#f6cdb3", "#eda77d"), strict=True):
        ax.axvspan(least, level, color=colour, linewidth=0)
    for level in _LEVELS:
        ax.text(level, 1.0, f"{100 * level:g} %", ha="center", va="bottom", fontsize=8, color=GREY)
    ax.plot([p], [0.4], "<" if shown.p_value < least else "o", color=BLUE, markersize=9)
    side: Any = {"ha": "right", "xytext": (-9, 0)} if p > 0.1 else {"ha": "left", "xytext": (9, 0)}
    ax.annotate(f"p = {shown.p_value:.2g}", (p, 0.4), textcoords="offset points", va="center", **side)
    ax.set(xscale="log", xlim=(least, 1.3), ylim=(0, 1), yticks=[])
    set_height(ax, 2.2)
    x = f"p-value ({shown.method}); shaded: the hypothesis is rejected at 5 %, 1 %, 0.1 %"
    names = filter(None, (title or shown.about, shown.hypothesis))
    return dress_axes(ax, title="\n".join([*names, " "]), x=x)  # the empty line leaves room for the levels


def draw_answer(shown: EstimatedAnswer, *, title: str, ax: Axes | None) -> Axes:
    """Draw an answer on its scale, and the first and the last possible answer."""
    ax = axes_or_new(ax)
    labels = [str(show_label(label)) for label in shown.scale]
    at, low, high = (shown.scale.index(label) for label in (shown.value, *shown.ends))
    draw_intervals(ax, [0], [{"value": at, "low": low, "high": high}], (0, len(labels) - 1), upright=False)
    _name_ticks(ax, labels)
    ax.set(yticks=[], ylim=(-1, 1), xlim=(-0.5, len(labels) - 0.5))
    set_height(ax, 1.8)
    return dress_axes(ax, title=_head(title, shown), x="95 % interval")


_LEVELS: Final = (0.05, 0.01, 0.001)
_LINES: Final = 8  # largest number of lines in a picture of days


def _head(title: str, shown: Any) -> str:
    """Return the title of a picture: the question's name, the number of people and the guarantee."""
    name = title or shown.about
    clipped = getattr(shown, "clipping", None)
    of = "" if clipped is None else f"{clipped}\n"
    return f"{name}\n" * bool(name) + of + f"n = {thousands(shown.n)}, {shown.guarantee}"


def _name_dates(ax: Axes, unit: str, axis: Literal["x", "y"] = "x") -> None:
    """Write dates and times along an axis if its numbers are dates or times."""
    if isinstance(unit, Calendar):
        side = ax.xaxis if axis == "x" else ax.yaxis
        side.set_major_formatter(lambda number, _: unit.text(number))
        ax.tick_params(axis=axis, labelrotation=20 if axis == "x" else 0)


def _name_ticks(ax: Axes, labels: list[str]) -> None:
    """Put labels below the axis: on several lines if they are long, slanted if that is not enough."""
    room = max(_LETTERS // len(labels), 1)
    lines = [wrap(label, room) or [""] for label in labels]
    fits = max(map(len, lines)) <= 3 and max(len(line) for label in lines for line in label) <= room
    style: dict[str, Any] = {} if fits and room >= 6 else {"rotation": 30, "ha": "right"}
    shown = labels if style else ["\n".join(parts) for parts in lines]
    ax.set_xticks(range(len(labels)), shown, **style)


_LETTERS: Final = 66  # largest total length of labels below an axis, in letters


def draw_family(fitted: FittedFamily, free: EstimatedDistribution, title: str, ax: Axes | None) -> Axes:
    """Draw a fitted family over the estimate that assumes no family on `ax`, and return the axes."""
    ax = draw_distribution(free, level=0.95 if free.curve is not None else None, title=title, ax=ax)
    if fitted.family == "poisson":
        ax.plot(fitted.points, fitted.probabilities, "o", color=ORANGE, markersize=3.5, label="poisson")
    else:
        heights = fitted.probabilities / (fitted.points[1] - fitted.points[0])
        ax.plot(fitted.points, heights, color=ORANGE, linewidth=1.8, label=fitted.family)
    verdict = f"p = {fitted.goodness.p_value:.2g}" + ("" if fitted.fits else ", refused")
    ax.legend(frameon=False, fontsize="small", title=f"goodness of fit: {verdict}")
    return ax


def draw_line(
    shown: EstimatedRegression, ends: tuple[float, float], *, level: float, title: str, ax: Axes | None
) -> Axes:
    """Draw the prediction of a regression between two values of its regressor, with the band of intervals."""
    ax = axes_or_new(ax)
    points = np.linspace(*ends, _LINE)
    found = [shown.at(float(position)) for position in points]
    low, high = np.array([part.interval(level) for part in found]).T
    ax.plot(points, [float(part.value) for part in found], color=BLUE)
    ax.fill_between(points, low, high, color=BLUE, alpha=0.2, linewidth=0)
    unit = found[0].unit
    y = "prediction" + (f", {unit}" if unit else "") if shown.answer is None else f"share of {shown.answer}"
    dress_axes(ax, title=title, x=shown.design.variables[0], y=y)
    return ax
