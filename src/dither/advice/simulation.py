"""Errors of estimated shapes, simulated and stored because no formula exists.

A simulation perturbs people of a stated population by the mechanism itself, estimates as a collector would by
default (`Cumulative`: by empirical Bayes), and averages the error over runs with fixed seeds. Results are
kept in the cache folder under the mechanism's fingerprint, the population, the number of people, the seeds
and the version of the estimator.

On an interval, people are drawn from twelve shapes and their mirror images in turn: which mechanism is best,
and how large an error is, depends on the shape. All mechanisms have the same people and seeds in a run, so
that differences are resolved better than errors. For quantiles a table of such simulations ships with the
package, made by tools/quantile_errors.py, and is used for the usual mechanisms. All others are simulated, and
compared with SW in the same runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np

from dither.core.domains import Interval, Line
from dither.core.reports import Reports
from dither.estimation.distributions import EstimatedDistribution
from dither.estimation.queries import EstimatedCumulative, cumulative
from dither.estimation.verbs import distribution
from dither.foundation.arrays import Floats
from dither.foundation.atomic import rename_after
from dither.foundation.numerics.roots import power_law_root
from dither.foundation.randomness import Seeded
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.numeric.base import NumberMechanism
from dither.mechanisms.numeric.sw import SW
from dither.mechanisms.optimal.queries.workload import Cumulative
from dither.mechanisms.optimal.store import folder

VERSION: Final = 5  # version of the estimator and the population: a new one makes stored results void
FINAL: Final = range(64)  # seeds of a prediction
FIRST: Final = range(
    1000, 1012
)  # other seeds for the first ranking, so that predictions are independent of it
_CLOSE: Final = 0.02  # largest relative difference from the target error at which the search ends
_LIMIT: Final = 1e12
_MOST: Final = 1 << 20  # people simulated; for more, the rate at which the error falls is extrapolated
_PLACES: Final = np.linspace(0.0, 1.0, 4097)  # on which the shapes of quantiles are tabulated
_GRID: Final = 1024  # places at which two cdfs are compared
_SHAPES: Final = 12
_BEYOND: Final = {"w1": 1.25, "ks": 1.5}  # factor between errors of other shapes and of the twelve
_QUANTILE_SPAN: Final = 2.5  # the largest error of a quantile of a single shape, in errors over all shapes, …
_GAP: Final = 0.2  # … or of a median, in lengths of the domain: between two peaks it does not fall with n

Estimated = EstimatedDistribution | EstimatedCumulative
Progress = Callable[[int], None]  # shows progress: called with the number of further runs that are done


Distance = Literal["w1", "ks"]  # distance of an estimated distribution from the truth


@dataclass(frozen=True)
class Simulated:
    """A simulated error with its standard error, and the seeds of its runs."""

    error: float
    standard_error: float
    first_seed: int
    runs: int
    misses: tuple[float, ...] = ()  # errors of the runs, for comparing mechanisms

    def is_less(self, other: Simulated) -> bool:
        """Return whether the error is less than another's by two standard errors, run by run."""
        if not self.misses and not other.misses:  # results of the table
            return other.error - self.error > 2.0 * math.hypot(self.standard_error, other.standard_error)
        count = min(len(self.misses), len(other.misses))
        gaps = np.array(other.misses[:count]) - np.array(self.misses[:count])
        return bool(count > 1 and gaps.mean() > 2.0 * gaps.std(ddof=1) / math.sqrt(count))


@dataclass(frozen=True)
class ShapeQuestion:
    """The simulated quantity: the distance of a distribution, or the error of a quantile."""

    distance: Distance | None = "w1"
    share: float | None = None

    def people(self, line: Line, n: int, run: int) -> Floats:
        """Return the people of a run: drawn from its shape; on a circle the quantiles of one population."""
        if line.circular:
            return people(line, n)
        return line.from_unit(np.interp(np.random.default_rng(run).random(n), population(run), _PLACES))

    def miss(self, shape: Estimated, line: Line, run: int = 0) -> float:
        """Return the error of one estimate for the people of a run, in the domain's units.

        For a quantile it is the squared error, relative to the population.
        """
        if self.share is not None:
            at = np.asarray(np.interp(self.share, population(run), _PLACES))
            reported: Any = shape.quantile(self.share)
            return abs(float(reported) - float(line.from_unit(at))) ** 2
        points = np.linspace(0.0, 1.0, _GRID + 1)
        true = truth(points) if line.circular else np.interp(points, _PLACES, population(run))
        gaps = _cdf(shape, line, points) - true
        if line.circular:  # a circle has no beginning
            middle = np.median(gaps) if self.distance == "w1" else (gaps.max() + gaps.min()) / 2.0
            gaps = gaps - middle
        if self.distance == "ks":
            return float(np.abs(gaps).max())
        return float(np.abs(gaps).mean()) * line.length

    def mean(self, misses: list[float]) -> tuple[float, float]:
        """Return the error over all runs and standard error; for a quantile the root mean square."""
        average = float(np.mean(misses))
        spread = float(np.std(misses, ddof=1)) / math.sqrt(len(misses))
        if self.share is None:
            return average, spread
        return math.sqrt(average), spread / (2.0 * math.sqrt(average)) if average > 0.0 else 0.0

    def span(self, found: Simulated, line: Line) -> tuple[float, float]:
        """Return the range of the errors of single shapes; it contains 90 % of other shapes.

        The range for a distribution is the runs of each shape, and a little more on each side. For a quantile
        it goes from 0, the error at a point mass, to a multiple of the error over all shapes, as measured by
        tools/predicted_ranges.py.
        """
        if self.share is not None:
            gap = 4.0 * self.share * (1.0 - self.share) * _GAP  # fewer people are on one side of other gaps
            return 0.0, max(_QUANTILE_SPAN * found.error, gap * line.length)
        if not found.misses:
            return found.error, found.error
        shapes = (found.first_seed + np.arange(len(found.misses))) % _SHAPES
        each = [float(np.mean(np.array(found.misses)[shapes == shape])) for shape in np.unique(shapes)]
        beyond = _BEYOND[self.distance or "w1"]
        return min(each) / beyond, max(each) * beyond


def people(line: Line, n: int) -> Floats:
    """Return n people of the population of predictions on a circle: Beta(4, 4).

    They are its quantiles, so that a simulated error is the one that privacy adds.
    """
    shares = (np.arange(n) + 0.5) / n
    points = np.linspace(0.0, 1.0, 8193)
    return line.from_unit(np.interp(shares, truth(points), points))


def truth(places: Floats) -> Floats:
    """Return the cdf of the population of a circle at places on [0, 1]."""
    return np.asarray(places**4 * (35.0 - 84.0 * places + 70.0 * places**2 - 20.0 * places**3))


def population(run: int) -> Floats:
    """Return the cdf of the shape that the people of a run are drawn from, at `_PLACES`.

    Twelve runs in a row have every shape once, and the next twelve its mirror image.
    """
    cdf = _shapes()[run % _SHAPES]
    return 1.0 - cdf[::-1] if (run + run // _SHAPES) % 2 else cdf


@lru_cache(maxsize=1)
def _shapes() -> tuple[Floats, ...]:
    """Return the cdfs of the twelve shapes of docs/limits.md, point masses as the cell that they lie in."""
    x = (_PLACES[1:] + _PLACES[:-1]) / 2.0

    def normal(centre: float, width: float) -> Floats:
        return np.asarray(np.exp(-(((x - centre) / width) ** 2) / 2.0))

    def lognormal(centre: float, width: float) -> Floats:
        return np.asarray(np.exp(-(((np.log(x) - centre) / width) ** 2) / 2.0) / x)

    def flat(low: float, high: float) -> Floats:
        return np.asarray(((x >= low) & (x < high)) * 1.0)

    def at(point: float) -> Floats:
        return np.asarray((np.arange(x.size) == int(point * x.size)) * 1.0)

    def mixture(*parts: tuple[float, Floats]) -> Floats:
        density = np.sum([share * part / part.sum() for share, part in parts], axis=0)
        return np.concatenate([[0.0], np.cumsum(density) / density.sum()])

    return (
        mixture((1.0, flat(0.0, 1.0))),
        mixture((1.0, x * (1.0 - x) ** 4)),
        mixture((0.5, normal(0.3, 0.07)), (0.5, normal(0.7, 0.07))),
        mixture((1.0, normal(0.5, 0.02))),
        mixture((0.8, flat(0.0, 0.5)), (0.2, flat(0.5, 1.0))),
        mixture((0.3, at(0.3)), (0.7, flat(0.0, 1.0))),
        mixture((1.0, np.exp(-x / 0.1))),
        mixture((1.0, lognormal(-1.6, 0.7))),
        mixture((0.35, normal(0.35, 0.05)), (0.4, normal(0.74, 0.07)), (0.25, flat(0.2, 1.0))),
        mixture((0.3, flat(0.0, 0.25)), (0.5, flat(0.2, 0.65)), (0.2, normal(0.65, 0.12))),
        mixture((0.45, at(0.4)), (0.2, flat(0.0, 0.4)), (0.35, normal(0.48, 0.1))),
        mixture((0.4, at(0.0)), (0.6, lognormal(-2.2, 0.8))),
    )


class ErrorTable(NamedTuple):
    """Errors of quantiles that ship with the package: for each mechanism and share a surface in ε and n."""

    shares: Floats
    surfaces: dict[str, list[list[float]]]  # the relative accuracy of the error; coefficients
    first_seed: int
    runs: int

    @staticmethod
    def basis(epsilon: float, n: float) -> Floats:
        """Return the terms of which the logarithm of a mean squared error is a linear combination."""
        e = math.log(epsilon / math.sqrt(2.0)) / math.log(32.0) * 2.0
        m = math.log(n / math.sqrt(9e7)) / math.log(1000.0) * 2.0
        return np.array([1.0, e, e**2, e**3, m, m**2, e * m, e**2 * m, e * m**2, e**2 * m**2])

    def find(self, mechanism: Any, question: ShapeQuestion, n: int) -> Simulated | None:
        """Return the error of a mechanism; None if it is not in the table.

        Beyond 300 000 people the rate at which the error falls is extrapolated.
        """
        line, share = line_of(mechanism), question.share
        surfaces = self.surfaces.get(_name(mechanism))
        if surfaces is None or share is None or line.circular:
            return None
        side = max(share, 1.0 - share)
        if n < _FEWEST or not _LEAST <= mechanism.epsilon <= _LARGEST or side > self.shares[-1] + 1e-12:
            return None
        spreads, *coefficients = np.array(surfaces).T
        most = min(n, _MANY)
        points = np.log(self.shares / (1.0 - self.shares))

        def height(people: float) -> float:
            heights = self.basis(mechanism.epsilon, people) @ np.array(coefficients)
            return float(np.interp(math.log(side / (1.0 - side)), points, heights)) / 2.0

        log_error = height(most)
        if n > most:
            log_error += (height(most) - height(most / 10)) * math.log10(n / most)
        error = math.exp(log_error) * line.length
        spread = float(np.interp(side, self.shares, spreads))
        return Simulated(error, spread * error, self.first_seed, self.runs)


_FEWEST, _MANY = 300, 300_000  # people of the table
_LEAST, _LARGEST = 0.25, 8.0  # its budgets


@lru_cache(maxsize=1)
def error_table() -> ErrorTable:
    """Return the table of quantiles, without surfaces if it is of another version."""
    data = json.loads(resources.files("dither.advice").joinpath("quantiles.json").read_text("utf-8"))
    surfaces = data["surfaces"] if data["version"] == VERSION else {}
    return ErrorTable(np.array(data["shares"]), surfaces, *data["seeds"])


def _name(mechanism: Mechanism[Any]) -> str:
    """Return the name of a mechanism in the table, if no parameter other than its loss is changed."""
    name = type(mechanism).__name__
    others = {
        field.name: getattr(mechanism, field.name)
        for field in fields(mechanism)
        if field.init and field.name not in ("domain", "epsilon")
    }
    usual = {field.name: field.default for field in fields(mechanism)}
    changed = {key: value for key, value in others.items() if key != "loss" and value != usual[key]}
    if changed:
        return ""
    return f"{name}(loss={others['loss']})" if "loss" in others else name


def tells_apart(mechanism: object, bins: int) -> bool:
    """Return whether the first two bins, and the last two, have different distributions of their reports.

    `Cumulative` always serves: its resolution inside a cell is part of its simulated error.
    """
    if isinstance(mechanism, Cumulative):
        return mechanism.domain.line is not None
    if not isinstance(mechanism, NumberMechanism) or mechanism.question.outcomes < bins:
        return False  # two values identify a mean, not a distribution
    if mechanism.domain.circular:
        return True
    support = np.linspace(*mechanism.law.support, 513)
    for first, second in ((0.0, 1.0 / bins), (1.0 - 1.0 / bins, 1.0)):
        laws = [mechanism.law.cumulative(support, np.full_like(support, x)) for x in (first, second)]
        if float(np.abs(laws[0] - laws[1]).max()) < 1e-9:
            return False
    return True


def simulate(
    mechanism: object, question: ShapeQuestion, n: int, runs: range = FINAL, progress: Progress | None = None
) -> Simulated:
    """Return the error of a mechanism; beyond 2^20 people it is extrapolated from two simulations."""
    if question.share is not None and runs in (FINAL, FIRST):
        tabulated = error_table().find(mechanism, question, n)
        if tabulated is not None:
            return tabulated
        if isinstance(mechanism, NumberMechanism) and n <= _MOST:
            line = line_of(mechanism)
            usual = SW(Interval(line.low, line.high), epsilon=mechanism.epsilon)
            tabulated = None if line.circular else error_table().find(usual, question, n)
            if tabulated is not None:
                both = (_recall(each, question, n, runs, progress) for each in (mechanism, usual))
                return _times_ratio(tabulated, *both)
    if n <= _MOST:
        return _recall(mechanism, question, n, runs, progress)
    few = runs[: len(FIRST)]
    near, far = (_recall(mechanism, question, count, few, progress) for count in (_MOST // 8, _MOST))
    fall = math.log(near.error / far.error) / math.log(8.0)
    scale = float((n / _MOST) ** -fall)
    misses = tuple(miss * scale for miss in far.misses)
    return Simulated(far.error * scale, far.standard_error * scale, few.start, len(few), misses)


def _times_ratio(tabulated: Simulated, found: Simulated, usual: Simulated) -> Simulated:
    """Return the error of a mechanism that is not in the table: the error of SW times a simulated ratio.

    Both are simulated in a few runs, with the same people. Their mean squares cover few of the shapes, so
    only their ratio is used.
    """
    own, other = np.array(found.misses), np.array(usual.misses)
    ratio = float(own.mean() / other.mean())
    off = float((own - ratio * other).std(ddof=1)) / math.sqrt(own.size) / float(own.mean()) / 2.0
    error = tabulated.error * math.sqrt(ratio)
    spread = error * math.hypot(off, tabulated.standard_error / tabulated.error)
    return Simulated(error, spread, found.first_seed, found.runs)


def people_for_error(mechanism: object, question: ShapeQuestion, target: float) -> int | None:
    """Return how many people bring the error down to a target, to a few per cent; None if no number does."""

    def ratio(n: float) -> float:
        return simulate(mechanism, question, round(n), FIRST).error / target

    # Errors fall as n^(−1/2) or a little slower, so that the search closes in from one side.
    n, left = power_law_root(ratio, 10_000.0, 2.0, close=_CLOSE, steps=11, low=1.0, high=_LIMIT)
    if left < 1.0 + _CLOSE:
        return math.ceil(n)
    enough = 10_000.0  # the simulated errors of few people are not smooth, so the number is bisected
    if ratio(enough) > 1.0:
        return None
    while enough > 2.0 and ratio(enough / 2.0) <= 1.0:
        enough /= 2.0
    for step in (0.5, 0.25, 0.125):
        if ratio(enough * 2.0**-step) <= 1.0:
            enough *= 2.0**-step
    return math.ceil(enough)


KNOWN: dict[str, Simulated] = {}


def is_known(mechanism: object, question: ShapeQuestion, n: int, runs: range) -> bool:
    """Return whether this process has simulated it."""
    return _describe(mechanism, question, n, runs)[1] in KNOWN


def _recall(
    mechanism: object, question: ShapeQuestion, n: int, runs: range, progress: Progress | None
) -> Simulated:
    """Return a result from memory or the cache folder, or simulate and keep it."""
    described, key = _describe(mechanism, question, n, runs)
    path = _path(key)
    if key in KNOWN:
        return KNOWN[key]
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        data = json.loads(path.read_text(encoding="utf-8"))
        found = Simulated(
            float(data["error"]),
            float(data["standard_error"]),
            int(data["first_seed"]),
            int(data["runs"]),
            tuple(map(float, data["misses"])),
        )
        if data["of"] == described and found.error > 0.0 and math.isfinite(found.error):
            return KNOWN.setdefault(key, found)
    # The same estimates serve every distance.
    together = (
        [question]
        if question.share is not None
        else [ShapeQuestion(distance) for distance in get_args(Distance)]
    )
    for request, result in zip(together, _run(mechanism, together, n, runs, progress), strict=True):
        _keep(_describe(mechanism, request, n, runs), result)
    return KNOWN[key]


def _describe(mechanism: Any, question: ShapeQuestion, n: int, runs: range) -> tuple[list[Any], str]:
    """Return a description of the simulation, and its digest."""
    described = [VERSION, mechanism.fingerprint, repr(question), n, runs.start, len(runs)]
    if question.share is None:
        described.append("twelve shapes")  # distributions: other people than before
        if isinstance(mechanism, Cumulative):
            described.append("free ends")  # estimated in another way than before
    return described, hashlib.sha256(json.dumps(described).encode()).hexdigest()[:32]


def _path(key: str) -> Path:
    return folder() / f"simulated-{VERSION}" / f"{key}.json"


def _keep(what: tuple[list[Any], str], found: Simulated) -> None:
    """Store a result in memory, and in the cache folder if that can be written."""
    described, key = what
    KNOWN[key] = found
    path = _path(key)
    with contextlib.suppress(OSError, RuntimeError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with rename_after(path) as part:
            part.write_text(json.dumps({"of": described, **asdict(found)}), encoding="utf-8")


def _run(
    mechanism: Any, questions: list[ShapeQuestion], n: int, runs: range, progress: Progress | None
) -> list[Simulated]:
    line = line_of(mechanism)
    misses: list[list[float]] = [[] for _ in questions]
    for run in runs:
        values = questions[0].people(line, n, run)
        shape = estimate(mechanism.perturb(values, source=Seeded(run)))
        for question, found in zip(questions, misses, strict=True):
            found.append(question.miss(shape, line, run))
        if progress is not None:
            progress(1)
    return [
        Simulated(*question.mean(found), runs.start, len(runs), tuple(found))
        for question, found in zip(questions, misses, strict=True)
    ]


def line_of(mechanism: Any) -> Line:
    """Return the interval or circle that a mechanism takes values from."""
    line: Line = mechanism.domain.line
    return line


def estimate(reports: Reports) -> Estimated:
    """Return the shape that a collector would estimate by default."""
    if "cumulative shares" in reports.question.quantities:
        return cumulative(reports, method="empirical bayes")
    return distribution(reports)


def _cdf(shape: Estimated, line: Line, points: Floats) -> Floats:
    if isinstance(shape, EstimatedDistribution) and shape.curve is not None:
        return np.asarray(shape.curve.below(points) @ shape.curve.shares)
    sums = np.concatenate([[0.0], np.cumsum(shape.probabilities)])
    return np.asarray(np.interp(points, line.to_unit(shape.edges), sums))
