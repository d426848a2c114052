"""The picture on a mechanism's page: first what reports look like, then the error at each ε."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from narrow import make_narrow

import dither as dt
from dither.advice.compare import average_variance
from dither.core.kernels.channel import LinearReading
from dither.foundation.plotting import BLUE, ORANGE, dress_axes
from dither.mechanisms.analysis.analysis import Analysis
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.joint.coins import rho_range
from dither.mechanisms.joint.joint import Joint
from dither.mechanisms.mechanism import Mechanism, QueryMechanism
from dither.mechanisms.optimal.problem import least_frequency_variance

EPSILONS = np.geomspace(0.1, 8.0, 25)
FEW_EPSILONS = np.geomspace(0.25, 8.0, 9)
TRUTH, INK, GREY = ORANGE, BLUE, "#9aa3ab"  # the best possible stands back


def draw(mechanism: Mechanism, picture: Path) -> None:
    """Draw a mechanism into a file, and for phones into another one, NAME-portrait."""
    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    if isinstance(mechanism, Analysis):
        _law(mechanism, left, right)
    elif isinstance(mechanism, Joint):
        _support(mechanism, left)
        _correlation(mechanism, right)
    elif isinstance(mechanism, CategoryMechanism):
        _support(mechanism, left)
        _frequency_error(mechanism, 1, right)
    elif isinstance(mechanism, dt.SetResponse):
        _items(mechanism, left, right)
    elif isinstance(mechanism, dt.Marginals):
        _function(mechanism, left)
        _table_error(mechanism, right)
    elif isinstance(mechanism, QueryMechanism):
        _columns(mechanism, left)
        _answers(mechanism, right)
    elif isinstance(mechanism, dt.PEM):
        _support(dt.OLH(dt.Categories(8), epsilon=mechanism.epsilon), left)
        left.set_xlabel("prefix")
        oracle = dt.OLH(dt.Categories(1024), epsilon=mechanism.epsilon)
        _frequency_error(oracle, len(mechanism.question.kernel.ends), right)
    else:
        _places(mechanism, left, right)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110)
    make_narrow(figure)
    figure.savefig(picture.with_stem(f"{picture.stem}-portrait"), dpi=110)


def caption(mechanism: Mechanism) -> str:
    """Say what the picture shows."""
    if isinstance(mechanism, Analysis):
        return (
            "First: the report for two values (dotted). Second: the worst expected error at each ε; "
            "grey is the smallest that any mechanism can have."
        )
    if isinstance(mechanism, Joint):
        return (
            "First: how often a report supports each answer when the true one is orange. "
            "Second: the error of a frequency, times √n, at each correlation ρ; dots are the example."
        )
    if isinstance(mechanism, CategoryMechanism | dt.PEM):
        return (
            "First: how often a report supports each answer when the true one is orange. "
            "Second: the error of a frequency, averaged over the answers, times √n, at each ε; grey is the "
            "smallest that any mechanism can have."
        )
    if isinstance(mechanism, dt.SetResponse):
        return (
            "First: how often a report supports each item if the orange ones are true. Second: the error "
            "of an item's share, times √n, at each ε, if sets are full; grey is a lower bound for every one."
        )
    if isinstance(mechanism, dt.Marginals):
        return (
            "First: one question about a pair of attributes, its value in colours. Second: the error of all "
            "cells of all tables together, times √n, at each ε; grey is the lower bound for every mechanism."
        )
    if isinstance(mechanism, QueryMechanism):
        return (
            "First: where each report (a column) is likelier than its least, by the input (a row). "
            "Second: the error of each answer, times √n; grey is the same answer from k-RR."
        )
    return (
        "First: a thousand reports of the orange place. Second: the mean distance between a place and its "
        "report at each ε, for places spread evenly, simulated; grey is a report that ignores the place."
    )


def _law(mechanism: Any, left: Any, right: Any) -> None:
    mechanism.plot(mechanism.line.from_unit(np.array([0.1, 0.6])), ax=left)
    dress_axes(left, title=f"Distribution of the report for two values, ε = {mechanism.epsilon:.3g}")
    for loss, style in (("absolute", "-"), ("squared", "--")):
        best = _best(mechanism.domain, loss)
        if isinstance(mechanism, dt.Matrix):  # its weights have one ε
            right.loglog([mechanism.epsilon], [mechanism.worst_error(loss)], "o", color=INK, label=loss)
        else:
            worst = [mechanism.at(float(epsilon)).worst_error(loss) for epsilon in EPSILONS]
            right.loglog(EPSILONS, worst, style, color=INK, label=loss)
        right.loglog(FEW_EPSILONS, best, style, color=GREY, linewidth=1, label=f"{loss}, best possible")
    right.set_xlabel("ε")
    right.legend(frameon=False, fontsize=8)
    dress_axes(right, title="Error of one report, worst value", y="expected error, in the domain's units")


@cache
def _best(domain: dt.Interval | dt.Circle, loss: Any) -> list[float]:
    """Return the smallest worst error that any mechanism can have, certified, at a few ε."""
    return [
        dt.Optimal(domain, epsilon=float(epsilon), loss=loss).certificate.bound for epsilon in FEW_EPSILONS
    ]


def _support(protocol: CategoryMechanism, axes: Any) -> None:
    size = len(protocol.categories)
    truth = min(2, size - 1)
    heights = [float(protocol.p) if code == truth else protocol.q for code in range(size)]
    axes.bar(range(size), heights, color=[TRUTH if code == truth else INK for code in range(size)])
    axes.set_xlabel("category")
    axes.set_xticks(range(size))
    dress_axes(axes, title="How often a report supports each category, ε = 1", y="probability")


def _items(mechanism: dt.SetResponse, left: Any, right: Any) -> None:
    size, most = len(mechanism.domain), mechanism.domain.most
    has, lacks = map(float, mechanism.rates)
    left.bar(
        range(size), [has] * most + [lacks] * (size - most), color=[TRUTH] * most + [INK] * (size - most)
    )
    left.set_xlabel("item")
    left.set_xticks(range(size))
    dress_axes(left, title="How often a report tells each item, ε = 1", y="probability")
    made = [dt.SetResponse(mechanism.domain, epsilon=float(epsilon)) for epsilon in EPSILONS]
    noise = [math.sqrt(each.variance(most / size)) for each in made]
    right.loglog(EPSILONS, noise, color=INK, linewidth=2, label="this mechanism")
    right.loglog(
        EPSILONS, [math.sqrt(each.bound) for each in made], color=GREY, linewidth=1, label="lower bound"
    )
    right.set_xlabel("ε")
    right.legend(frameon=False, fontsize=8)
    dress_axes(right, title="Error of an estimated share", y="standard error × √n")


def _frequency_error(protocol: CategoryMechanism, levels: int, axes: Any) -> None:
    domain = protocol.categories if len(protocol.categories) <= 1024 else dt.Categories(1024)
    least = [
        math.sqrt(levels * least_frequency_variance(len(domain), float(epsilon))) for epsilon in EPSILONS
    ]
    axes.loglog(EPSILONS, _noise(protocol, levels), color=INK, linewidth=2, label="this mechanism")
    axes.loglog(EPSILONS, least, color=GREY, linewidth=1, label="best possible")
    axes.set_xlabel("ε")
    axes.legend(frameon=False, fontsize=8)
    dress_axes(axes, title="Error of an estimated frequency", y="standard error × √n")


def _noise(protocol: CategoryMechanism, levels: int) -> list[float]:
    found = []
    for epsilon in EPSILONS:
        try:
            found.append(math.sqrt(levels * average_variance(protocol.at(float(epsilon)))))
        except dt.errors.InvalidParameter:  # a budget that this mechanism does not take
            found.append(math.nan)
    return found


def _function(mechanism: Any, axes: Any) -> None:
    last = mechanism.question.kernel.functions[-1]
    shape = [mechanism.domain.sizes[place] for place in last.attributes]
    axes.imshow(np.reshape(last.values, shape), cmap="Blues", interpolation="nearest")
    names = [mechanism.domain.names[place] for place in last.attributes]
    axes.set_ylabel(names[0])
    axes.set_xlabel(names[-1])
    dress_axes(axes, title="The value of one function, ε = 1")


def _table_error(mechanism: Any, axes: Any) -> None:
    others = [mechanism.at(float(epsilon)) for epsilon in FEW_EPSILONS]
    ours, least = (
        [math.sqrt(design.average_variance) for design in others],
        [math.sqrt(design.bound) for design in others],
    )
    axes.loglog(FEW_EPSILONS, ours, color=INK, linewidth=2, label="this mechanism")
    axes.loglog(FEW_EPSILONS, least, color=GREY, linewidth=1, label="lower bound")
    axes.set_xlabel("ε")
    axes.legend(frameon=False, fontsize=8)
    dress_axes(axes, title="Error of all cells together", y="standard error × √n")


def _columns(mechanism: QueryMechanism, axes: Any) -> None:
    table = mechanism.question.book.channel
    axes.imshow(table / table.min(axis=0), aspect="auto", cmap="Blues", interpolation="nearest")
    axes.set_xlabel("report")
    axes.set_ylabel("input")
    dress_axes(axes, title="Which inputs make a report likelier, ε = 1")


def _answers(mechanism: QueryMechanism, axes: Any) -> None:
    told = dt.KRR(dt.Categories(len(mechanism.question.book.channel)), epsilon=mechanism.epsilon)
    rows = np.array([told.question.kernel.chances(code) for code in range(len(told.categories))])
    rival = LinearReading(rows, mechanism.matrix).single_variances
    ours = mechanism.question.book.single_variances
    axes.plot(np.sqrt(np.maximum(ours, 0.0)), color=INK, linewidth=2, label="this mechanism")
    axes.plot(np.sqrt(np.maximum(rival, 0.0)), color=GREY, linewidth=1, label="k-RR")
    axes.legend(frameon=False, fontsize=8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("answer")
    dress_axes(axes, title="Error of each answer", y="standard error × √n")


def _correlation(joint: Any, axes: Any) -> None:
    low, high = (float(end) for end in rho_range(joint.p, joint.symbols))
    more = {"hashed_to": joint.hashed_to} if isinstance(joint, dt.jrr.JointOLH) else {}
    correlations = np.linspace(low, high, 41)
    kind = type(joint)
    others = [kind(joint.domain, p=joint.p, rho=float(rho), n=joint.n, **more) for rho in correlations]
    for share, style in ((0.5, "--"), (0.9, "-")):
        errors = [math.sqrt(other.variance(share)) for other in others]
        axes.plot(correlations, errors, style, color=INK, label=f"frequency {share:g}")
        axes.plot([float(joint.rho)], [math.sqrt(joint.variance(share))], "o", color=TRUTH)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    axes.set_xlabel("correlation ρ of two people's coins")
    dress_axes(axes, title="Error of an estimated frequency", y="standard error × √n")


def _places(mechanism: Any, left: Any, right: Any) -> None:
    domain, source = mechanism.domain, dt.Seeded(7)
    disk = isinstance(domain, dt.Disk)
    place = np.array([0.4, 0.3]) if disk else np.array([0.3, 0.35])
    reported = _told(mechanism, np.repeat(place[None, :], 1000, axis=0), source)
    spots, times = np.unique(reported, axis=0, return_counts=True)
    left.scatter(*spots.T, s=6.0 * np.minimum(times, 60), color=INK, alpha=0.3, linewidths=0)
    left.plot(*place, "o", color=TRUTH)
    left.set_aspect("equal")
    dress_axes(left, title="A thousand reports of one place, ε = 1")
    drawn = np.random.default_rng(7).uniform(-1.0 if disk else 0.0, 1.0, (4000, 2))
    places = drawn[np.hypot(*drawn.T) <= 1.0][:600] if disk else drawn[:600]
    errors = [
        np.hypot(*(_told(mechanism.at(float(epsilon)), places, source) - places).T).mean()
        for epsilon in FEW_EPSILONS
    ]
    right.semilogx(FEW_EPSILONS, errors, color=INK, linewidth=2, label="this mechanism")
    right.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["¼", "½", "1", "2", "4", "8"])
    right.set_xticks([], minor=True)
    blind = np.hypot(*(places - places[::-1]).T).mean()
    right.axhline(blind, color=GREY, linewidth=1, label="a report that ignores the place")
    right.legend(frameon=False, fontsize=8, loc="lower left")
    right.set_ylim(bottom=0)
    right.set_xlabel("ε")
    dress_axes(right, title="Mean distance of a report from the truth", y="distance, in the area's units")


def _told(mechanism: Any, places: Any, source: dt.Seeded) -> Any:
    """Perturb places as paths of one place each, which no report before them can help."""
    asked = places if isinstance(mechanism, dt.Polar) else dt.Paths(places, np.arange(len(places) + 1))
    told = mechanism.perturb(asked, source=source).values
    return np.asarray(getattr(told, "points", told), dtype=float)
