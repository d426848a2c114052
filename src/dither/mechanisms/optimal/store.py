"""Solved designs: shipped, cached on this machine, or interpolated between shipped ones."""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
import zipfile
from dataclasses import replace
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np

from dither.core.kernels.window.codebook import Runs
from dither.foundation.arrays import Floats
from dither.foundation.atomic import rename_after
from dither.foundation.numerics.roots import argmax
from dither.mechanisms.optimal.design import FORMAT, Design
from dither.mechanisms.optimal.problem import Problem
from dither.mechanisms.optimal.solver.certificate import (
    CELLS,
    MeasuredCodebook,
    Prices,
    codebook,
    group,
    lower_bound,
    mirror,
    reduce_cells,
    upper_half,
)

SHIPPED: Final = "designs.zip"
VARIABLE: Final = "DITHER_CACHE"


@lru_cache(maxsize=64)
def find(problem: Problem, *, fresh: bool = False) -> Design:
    """Return the design of a problem.

    A shipped design is used if it exists. Between two shipped ε of the same kind a design is interpolated.
    With `fresh`, and for other losses, it is solved, which takes seconds and needs scipy. Interpolated and
    solved designs are kept in the cache folder.
    """
    if not fresh:
        shipped = _shipped_design(problem)
        if shipped is not None:
            return shipped
    name = f"{'fresh-' if fresh else ''}{problem.name}"
    kept = _recall(name, problem)
    if kept is not None:
        return kept
    beside = None if fresh else _beside(problem)
    if beside is not None:
        made = interpolate(problem, *beside)
    else:
        from dither.mechanisms.optimal.solver.solve_design import solve_design

        made = solve_design(problem)
    _remember(name, made)
    return made


def ready(problem: Problem) -> bool:
    """Return whether a design is available without solving: shipped, between two shipped ones, or cached."""
    known = budgets(problem.kind)
    return bool(known and known[0] <= problem.epsilon <= known[-1]) or _path(problem.name).exists()


def whence(problem: Problem, *, fresh: bool = False) -> str:
    """Return the origin of the design that `find` returns, as a phrase such as "solved before"."""
    if fresh:
        return "solved before" if _path(f"fresh-{problem.name}").exists() else "solved now"
    known = budgets(problem.kind)
    if problem.epsilon in known:
        return "shipped"
    if ready(problem):
        return "between two shipped ones" if known else "solved before"
    return "solved now"


@cache
def budgets(kind: str) -> tuple[float, ...]:
    """Return the ε for which designs of a kind are shipped, in order."""
    names = [name for name in _archive().namelist() if name.startswith(f"{kind}-")]
    return tuple(sorted(float(name.removeprefix(f"{kind}-")) for name in names))


@cache
def _archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(
        io.BytesIO(resources.files("dither.mechanisms.optimal").joinpath(SHIPPED).read_bytes())
    )


@lru_cache(maxsize=64)
def _shipped_design(problem: Problem) -> Design | None:
    if problem.epsilon not in budgets(problem.kind):
        return None
    return Design.from_bytes(_archive().read(problem.name), problem)


def _beside(problem: Problem) -> tuple[Design, Design] | None:
    """Return the shipped designs just below and just above a problem's ε."""
    known = budgets(problem.kind)
    below = [epsilon for epsilon in known if epsilon < problem.epsilon]
    above = [epsilon for epsilon in known if epsilon > problem.epsilon]
    if not below or not above:
        return None
    found = [
        _shipped_design(Problem(epsilon, problem.loss, problem.criterion, problem.unbiased))
        for epsilon in (below[-1], above[0])
    ]
    return (found[0], found[1]) if found[0] and found[1] else None


def folder() -> Path:
    """Return the cache folder: the environment variable DITHER_CACHE, or the user's own cache folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "")
        return (Path(home) if home else Path.home() / "AppData" / "Local") / "dither" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dither"
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if home else Path.home() / ".cache") / "dither"


def _path(name: str) -> Path:
    return folder() / f"design-{FORMAT}" / name


def _recall(name: str, problem: Problem) -> Design | None:
    """Return a design from the cache, or None if it is missing or the file is damaged."""
    try:
        return Design.from_bytes(_path(name).read_bytes(), problem)
    except (OSError, RuntimeError):
        return None


def _remember(name: str, design: Design) -> None:
    """Write a design to the cache atomically. A folder without write access is ignored."""
    path = _path(name)
    with contextlib.suppress(OSError, RuntimeError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with rename_after(path) as part:
            part.write_bytes(design.to_bytes())


_SCALES: Final = (0.9, 0.95, 1.0, 1.05)  # scales that are tried for the numbers of a restricted codebook


def restrict(design: Design, outputs: int) -> Design:
    """Return a design with `count` cells and one number per cell. Its bound is still for all mechanisms.

    The numbers are the means of the best measure on intervals of equal mass, or an even grid, scaled. The
    candidate with the least sampled error is used.
    """
    half, masses = outputs // 2, design.counts / design.counts.sum()
    ends = np.arange(half + 1) / half
    sums = np.interp(ends, np.cumsum([0.0, *masses]), np.cumsum([0.0, *(masses * design.values)]))
    means, even, ones = np.diff(sums) * half, (ends[1:] + ends[:-1]) / 4.0, np.ones(half, dtype=np.int64)
    share = design.width / design.cells * outputs
    widths = range(max(1, math.floor(share) - 1), min(outputs - 1, math.ceil(share) + 1) + 1)
    tried = [
        MeasuredCodebook.of(design.problem, mirror(values * scale, ones), width)
        for width in widths
        for values in (means, even)
        for scale in ((1.0,) if design.problem.unbiased else _SCALES)  # unbiased: a fixed scale
    ]
    best = min(tried, key=lambda candidate: candidate.error)
    return Design(design.problem, *upper_half(best.book), best.width, design.prices)


_MOST: Final = 512  # largest number of distinct numbers in each half of a mixed codebook
_STEP: Final = 0.02  # relative change of the width in one step
_SECTIONS: Final = 6


def interpolate(problem: Problem, below: Design, above: Design) -> Design:
    """Return a design for an ε between the ε of two designs of the same kind."""
    share = (problem.epsilon - below.problem.epsilon) / (above.problem.epsilon - below.problem.epsilon)
    if problem.criterion == "average" and not problem.unbiased:
        from dither.mechanisms.optimal.solver.solve_design import best_codebook, codebook_cells

        best = MeasuredCodebook.of(problem, *codebook_cells(best_codebook(problem)))
    else:
        best = _best(problem, below, above, share)
    book, width = (best.book, best.width) if problem.unbiased else reduce_cells(best.book, best.width)
    return Design(problem, *upper_half(book), width, _prices(problem, below, above, share))


def _best(problem: Problem, below: Design, above: Design, share: float) -> MeasuredCodebook:
    """Return the better of two mixtures, of the cells' numbers or of the measures, with a fitted width."""
    weights = 1.0 - share, share
    wholes = [_expand(problem, design) for design in (below, above)]
    width = sum(weight * complete[1] for weight, complete in zip(weights, wholes, strict=True))
    numbers = sum(weight * complete[0] for weight, complete in zip(weights, wholes, strict=True))
    positions = np.concatenate([complete[0] for complete in wholes])
    order = np.argsort(positions, kind="stable")
    measure = codebook(positions[order], np.repeat(weights, CELLS)[order])
    books = _runs(np.asarray(numbers)), measure
    return min((_adjust(problem, book, width) for book in books), key=lambda candidate: candidate.error)


def _adjust(problem: Problem, book: Runs, width: float) -> MeasuredCodebook:
    """Return the best of three widths and of the minimum of the parabola through their errors."""

    def measure(factor: float) -> MeasuredCodebook:
        return MeasuredCodebook.of(problem, book, min(max(round(width * factor), 1), CELLS - 1))

    tried = [measure(1.0 + step) for step in (-_STEP, 0.0, _STEP)]
    left, middle, right = (candidate.error for candidate in tried)
    bend = left - 2.0 * middle + right
    if bend > 0.0:
        least = np.clip((left - right) / (2.0 * bend), -2.0, 2.0)
        tried.append(measure(1.0 + _STEP * float(least)))
    return min(tried, key=lambda candidate: candidate.error)


def _expand(problem: Problem, design: Design) -> tuple[Floats, int]:
    """Return the number of each of 2^16 cells, scaled for another ε, and the width in these cells."""
    repeat = CELLS // design.cells
    return np.repeat(design.book.listed, repeat) * _factor(problem, design), design.width * repeat


def _factor(problem: Problem, design: Design) -> float:
    """Return the factor that scales the reports of an unbiased design to another ε."""
    if not problem.unbiased:
        return 1.0
    return math.tanh(design.problem.epsilon / 2.0) / math.tanh(problem.epsilon / 2.0)


def _runs(values: Floats) -> Runs:
    upper, counts = np.unique(values[CELLS // 2 :], return_counts=True)
    book = mirror(upper, counts.astype(np.int64))
    return book if upper.size <= _MOST else group(book, _MOST)


def _prices(problem: Problem, below: Design, above: Design, share: float) -> Prices:
    """Return a mixture of the prices of two designs.

    The bound is concave in the share. For an unbiased problem the prices at the end of the domain are large
    and nearly cancel; the best share then differs from the share of ε, and a search finds it.
    """
    if not problem.unbiased:
        return mixture(problem, below.prices, above.prices, share)
    first, second = (_stretch(problem, design) for design in (below, above))

    def bound(weight: float) -> float:
        return lower_bound(problem, mixture(problem, first, second, weight))

    best = argmax(bound, max(share - 0.25, 0.0), min(share + 0.25, 1.0), sections=_SECTIONS)
    return mixture(problem, first, second, best)


def _stretch(problem: Problem, design: Design) -> Prices:
    """Return the dual variables of an unbiased design, scaled as its reports are."""
    factor = _factor(problem, design)
    prices = design.prices
    return replace(prices, masses=prices.masses * factor**2, slopes=prices.slopes * factor)


def mixture(problem: Problem, first: Prices, second: Prices, share: float) -> Prices:
    """Return (1 − share)·first + share·second on common inputs."""
    if problem.criterion == "worst":
        inputs = max(first.inputs, second.inputs, key=len)
        first, second = _move(first, inputs), _move(second, inputs)
    else:
        inputs = np.union1d(first.inputs, second.inputs)
        first, second = _recut(first, inputs), _recut(second, inputs)
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in ("masses", "weights", "slopes")}
    return Prices(inputs, **{name: (1.0 - share) * near + share * far for name, (near, far) in pairs.items()})


def _move(prices: Prices, inputs: Floats) -> Prices:
    """Return the prices on another grid.

    The price of a point is divided between its two neighbours in the grid.
    """
    index = np.clip(np.searchsorted(inputs, prices.inputs, side="right") - 1, 0, inputs.size - 2)
    above = (prices.inputs - inputs[index]) / (inputs[index + 1] - inputs[index])

    def move(numbers: Floats) -> Floats:
        if not numbers.size:
            return numbers
        lower = np.bincount(index, (1.0 - above) * numbers, inputs.size)
        return np.asarray(lower + np.bincount(index + 1, above * numbers, inputs.size), dtype=np.float64)

    return Prices(inputs, move(prices.masses), move(prices.weights), move(prices.slopes))


def _recut(prices: Prices, edges: Floats) -> Prices:
    """Return the prices on finer cells.

    A cell's price is divided by length, and a price at ½ is unchanged.
    """
    cells = prices.inputs.size - 1
    home = np.searchsorted(prices.inputs, (edges[1:] + edges[:-1]) / 2.0) - 1
    share = np.diff(edges) / np.diff(prices.inputs)[home]

    def recut(numbers: Floats) -> Floats:
        return np.append(numbers[:cells][home] * share, numbers[cells:]) if numbers.size else numbers

    return Prices(edges, recut(prices.masses), prices.weights, recut(prices.slopes))
