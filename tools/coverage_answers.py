"""The cells behind the claims about tests and intervals, each with what it has to reach.

python -m tools.coverage_answers               measures the cells that are not recorded, and makes the page
python -m tools.coverage_answers tables …      measures the sections that are named again
python -m tools.coverage_answers page          makes the tables of docs/coverage_few.md from the record alone
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

import dither as dt
from dither.estimation.estimate import Estimate
from dither.estimation.over_time import smooth_days
from tests.support.repository import ROOT
from tools.coverage import write

RECORDED: Final = ROOT / "tools" / "recorded" / "coverage_answers.json"
Rng = np.random.Generator


@dataclass(frozen=True)
class Cell:
    """A setting, and a function that runs it once and returns whether (or which share of) intervals hold."""

    section: str
    name: str
    run: Callable[[Rng, dt.Seeded], Any]
    least: float = 0.93
    most: float = 0.98
    repetitions: int = 400

    def measure(self, repetitions: int | None = None, seed: int = 1) -> tuple[float, float]:
        """Return the share that held over seeded repetitions, and its standard error."""
        rng, source = np.random.default_rng(seed), dt.Seeded(seed)
        many = self.repetitions if repetitions is None else repetitions
        held = np.array([np.mean(np.asarray(self.run(rng, source), dtype=float)) for _ in range(many)])
        floor = self.least * (1.0 - self.least) / many if set(np.unique(held)) <= {0.0, 1.0} else 0.0
        return float(held.mean()), float(np.sqrt(max(held.var() / many, floor)))


def zipf(size: int) -> np.ndarray:
    shares = 1.0 / np.arange(1.0, size + 1) ** 1.5
    return np.asarray(shares / shares.sum())


def fitting(kind: Any, size: int, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    shares, asked = zipf(size), kind(dt.Categories(size), epsilon=epsilon)
    expected = dict(enumerate(shares))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        reports = asked.perturb(rng.choice(size, n, p=shares), source=source)
        return dt.stats.goodness_of_fit(reports, expected).p_value > 0.05

    return run


def equal(kind: Any, size: int, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    shares, asked = zipf(size), kind(dt.Categories(size), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        groups = [asked.perturb(rng.choice(size, m, p=shares), source=source) for m in (n, n // 2)]
        return dt.stats.same_distribution(*groups).p_value > 0.05

    return run


_PROTOCOLS: Final = (
    dt.KRR, dt.OUE, dt.OLH, dt.HadamardResponse, dt.SubsetSelection, dt.ProjectiveResponse,
)  # fmt: skip
_SIZES: Final = ((2, 100), (24, 200), (50, 1000), (200, 100))


def _tests() -> list[Cell]:
    cells = []
    for what, made in (("as expected", fitting), ("two equal groups", equal)):
        for size, n in _SIZES:
            for epsilon in (0.3, 2.5, 8.0):
                for kind in _PROTOCOLS:
                    name = f"{what}, {kind.__name__}, k = {size}, n = {n}, ε = {epsilon:g}"
                    cells.append(Cell("tests", name, made(kind, size, n, epsilon), 0.93, 0.97, 200))
    return cells


def pairs(rows: int, columns: int) -> np.ndarray:
    """Return the shares of pairs of answers that depend on each other; the rarest has about 1 in 1 000."""
    each = [1.0 / np.arange(1.0, size + 1) ** 1.2 for size in (rows, columns)]
    shares = np.outer(*each) * (1.0 + 0.5 * np.cos(np.add.outer(np.arange(rows), 2.0 * np.arange(columns))))
    return np.asarray(shares / shares.sum())


def crossed(kind: Any, n: int, epsilon: float, *, rarest: bool) -> Callable[[Rng, dt.Seeded], Any]:
    shares: Any = pairs(8, 6)
    sides = [kind(dt.Categories(size), epsilon=epsilon) for size in shares.shape]

    def run(rng: Rng, source: dt.Seeded) -> Any:
        drawn = rng.choice(shares.size, n, p=shares.reshape(-1))
        first, second = (
            side.perturb(answers, source=source)
            for side, answers in zip(sides, (drawn // 6, drawn % 6), strict=True)
        )
        held = dt.stats.crosstab(first, second).covers(shares)
        return held[np.unravel_index(shares.argmin(), shares.shape)] if rarest else held

    return run


_NAMED: Final = {"a": 6, "b": 5, "c": 4}


def marginals(
    n: int, epsilon: float, *, rarest: bool, named: dict[str, int] = _NAMED
) -> Callable[[Rng, dt.Seeded], Any]:
    domains: Any = {name: dt.Categories(size) for name, size in named.items()}
    asked = dt.Marginals(domains, epsilon=epsilon)
    laws = [[zipf(size) ** power for size in named.values()] for power in (0.7, 1.0)]
    laws = [[law / law.sum() for law in each] for each in laws]
    truth: dict[Any, Any] = {
        (first, second): sum(np.outer(each[i], each[j]) for each in laws) / 2.0
        for i, first in enumerate(named)
        for j, second in enumerate(named)
        if i < j
    }
    least = min(truth, key=lambda key: float(truth[key].min()))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        group = rng.integers(0, 2, n)
        rows = {
            name: np.where(group, *(rng.choice(size, n, p=laws[side][at]) for side in (1, 0)))
            for at, (name, size) in enumerate(named.items())
        }
        found = dt.stats.tables(asked.perturb(rows, source=source))
        if rarest:
            held = found[least].covers(truth[least])
            return held[np.unravel_index(truth[least].argmin(), held.shape)]
        return np.concatenate([np.ravel(found[key].covers(truth[key])) for key in truth])

    return run


def _tables() -> list[Cell]:
    cells = []
    for which, rarest in (("all cells", False), ("the rarest cell", True)):
        # With a few expected reports and hardly any noise, what can be covered is no finer than the counts.
        for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
            most = 1.0 if rarest and epsilon > 2.0 else 0.98
            for kind in (dt.KRR, dt.OUE, dt.ProjectiveResponse):
                for n in (150, 500):
                    name = f"{which} of 8 × 6, {kind.__name__}, n = {n}, ε = {epsilon:g}"
                    run = crossed(kind, n, epsilon, rarest=rarest)
                    cells.append(Cell("tables", name, run, 0.93, most))
            for n in (200, 1000):
                name = f"{which} of Marginals 6, 5, 4, n = {n}, ε = {epsilon:g}"
                cells.append(Cell("tables", name, marginals(n, epsilon, rarest=rarest), 0.93, most))
    for sizes, epsilon in (((2, 2, 2), 4.0), ((2, 2, 2), 8.0), ((3, 3, 3, 3), 4.0), ((2, 3, 10), 6.0)):
        # Three attributes, or the complete profile, are one category.
        few = {f"{at}": size for at, size in enumerate(sizes)}
        for n in (200, 1000):
            name = f"all cells of Marginals {', '.join(map(str, sizes))}, n = {n}, ε = {epsilon:g}"
            run = marginals(n, epsilon, rarest=False, named=few)
            cells.append(Cell("tables", name, run, 0.93, 1.0 if epsilon >= 6.0 else 0.98))
    return cells


def sawtooth(rng: Rng, n: int) -> np.ndarray:
    return np.asarray((rng.integers(0, 4, n) + np.sqrt(rng.random(n))) / 4.0)


def heaps(rng: Rng, n: int) -> np.ndarray:
    values = rng.beta(2, 3, n)
    return np.where(rng.random(n) < 0.8, np.round(values, 1), values)


def three_normals(rng: Rng, n: int) -> np.ndarray:
    return np.clip(np.array([0.2, 0.5, 0.8])[rng.integers(0, 3, n)] + 0.05 * rng.standard_normal(n), 0.0, 1.0)


# The median of the sawtooth is where its density is 0. Numbers with four digits were simulated.
_HARD: Final[dict[str, tuple[Any, dict[float, float]]]] = {
    "sawtooth": (sawtooth, {0.1: 0.25 * 0.4**0.5, 0.5: 0.5, 0.9: 0.75 + 0.25 * 0.6**0.5}),
    "heaps": (heaps, {0.1: 0.1111, 0.5: 0.4, 0.9: 0.7}),
    "three normals": (three_normals, {0.1: 0.1738, 0.5: 0.5, 0.9: 0.8262}),
}


def hard_quantile(name: str, share: float, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    draw, truth = _HARD[name]
    asked = dt.SW(dt.Interval(0, 1), epsilon=epsilon)
    return lambda rng, source: dt.quantile(asked.perturb(draw(rng, n), source=source), share).covers(
        truth[share]
    )


def clipped_tail(place: float, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked, truth = dt.SW(dt.Interval(0, 180), epsilon=epsilon), float(np.exp(-place / 36.0))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        shape = dt.distribution(asked.perturb(np.minimum(rng.exponential(36.0, n), 180.0), source=source))
        return [shape.tail(place).covers(truth), shape.cdf(place).covers(1.0 - truth)]

    return run


def thin_tail(lowest: float, n: int, epsilon: float, *, bins: bool) -> Callable[[Rng, dt.Seeded], Any]:
    """97 % of the people are close to 0.3, and 3 % are spread evenly from `lowest` to 1."""
    asked, edges = dt.SW(dt.Interval(0, 1), epsilon=epsilon), np.linspace(0.0, 1.0, 33)
    normal = np.array([0.5 * (1.0 + math.erf((edge - 0.3) / 0.02 / math.sqrt(2.0))) for edge in edges])
    truth = 0.97 * normal + 0.03 * np.clip((edges - lowest) / (1.0 - lowest), 0.0, 1.0)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        most, rest = 0.3 + 0.02 * rng.standard_normal(n), lowest + (1.0 - lowest) * rng.random(n)
        values = np.where(rng.random(n) < 0.97, np.clip(most, 0.0, 1.0), rest)
        shape = dt.distribution(asked.perturb(values, source=source), 32)
        if not bins:
            return shape.tail(0.5).covers(1.0 - truth[16])
        low, high = shape.bands()
        return (low <= np.diff(truth) + 1e-12) & (np.diff(truth) <= high + 1e-12)

    return run


def _shapes() -> list[Cell]:
    cells = []
    for n, epsilon in ((3000, 4.0), (20_000, 1.0), (20_000, 4.0)):
        for lowest in (0.0, 0.5):
            for bins in (False, True):
                what = "32 bins" if bins else "tail above 0.5"
                label = f"{what}, 97 % near 0.3 and 3 % above {lowest:g}, SW, n = {n}, ε = {epsilon:g}"
                run = thin_tail(lowest, n, epsilon, bins=bins)
                cells.append(Cell("shapes", label, run, 0.92, 1.0, 200))
    for n, epsilon in ((10_000, 1.0), (3000, 2.0), (30_000, 2.0)):
        for place in (120.0, 145.0, 170.0):
            label = (
                f"tail and cdf at {place:g} of an exponential clipped at 180, SW, n = {n}, ε = {epsilon:g}"
            )
            cells.append(Cell("shapes", label, clipped_tail(place, n, epsilon), 0.9, 1.0, 40))
    for n, epsilon in ((30_000, 0.5), (10_000, 1.0), (3000, 2.0)):
        for name, (_, truth) in _HARD.items():
            for share in truth:
                run = hard_quantile(name, share, n, epsilon)
                label = f"quantile {share:g} of the {name}, SW, n = {n}, ε = {epsilon:g}"
                # Heaps and teeth are narrower than what the interval says that it takes for smooth.
                least = {"sawtooth": 0.6, "heaps": 0.75}.get(name, 0.9)
                cells.append(Cell("shapes", label, run, least, 1.0, 24))
    return cells


_YEAR: Final = np.arange(365)
_DAY_ERROR: Final = 0.0635  # of a day's mean with 100 000 people a year, one report each, at ε = 1
_COURSES: Final[dict[str, Callable[[Rng], np.ndarray]]] = {
    "nothing changes": lambda rng: np.full(365, 0.4),
    "a season": lambda rng: 0.4 + 0.08 * np.sin(2.0 * np.pi * _YEAR / 365.0),
    "a jump": lambda rng: 0.35 + 0.1 * (_YEAR > 180),
    "weekends": lambda rng: 0.4 + 0.03 * np.isin(_YEAR % 7, [5, 6]),
    "a season and weekends": lambda rng: (
        0.4 + 0.05 * np.sin(2.0 * np.pi * _YEAR / 365.0) + 0.04 * np.isin(_YEAR % 7, [5, 6])
    ),
    "a random walk": lambda rng: 0.4 + np.cumsum(rng.normal(0.0, 0.006, 365)),
}


def smooth_year(
    course: Callable[[Rng], np.ndarray], beside: tuple[int, ...] = ()
) -> Callable[[Rng, dt.Seeded], Any]:
    """Return which days hold; with `beside`, those within ten days of jumps alone."""
    wanted = np.any([np.abs(_YEAR + 0.5 - day) < 10 for day in beside], axis=0) if beside else _YEAR >= 0

    def run(rng: Rng, source: dt.Seeded) -> Any:
        truth = course(rng)
        seen = truth + _DAY_ERROR * rng.standard_normal(365)
        found = smooth_days(seen, np.full(365, _DAY_ERROR**2), 1.0)
        return (np.abs(found.values - truth) <= 1.96 * found.errors)[wanted]

    return run


def _jump(size: float) -> Callable[[Rng], np.ndarray]:
    return lambda rng: np.asarray(0.35 + size * (_YEAR > 180))


def _days() -> list[Cell]:
    # Where nothing moves, steps that are too small to be seen are not refuted, and are covered as well.
    cells = [
        Cell("days", f"the day itself, {name}", smooth_year(course), 0.93, 1.0, 60)
        for name, course in _COURSES.items()
    ]
    for size, least in (
        (0.1, 0.5),
        (0.2, 0.93),
        (0.3, 0.93),
    ):  # intervals print the condition of a small jump
        run = smooth_year(_jump(size), (181,))
        name = f"days within 10 of a jump by {size / _DAY_ERROR:.1f} errors of a day"
        cells.append(Cell("days", name, run, least, 1.0, 60))
    return cells


def variance(kind: Any, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = kind(dt.Interval(0, 1), epsilon=epsilon)
    return lambda rng, source: dt.variance(asked.perturb(rng.beta(2, 5, n), source=source)).covers(10 / 392)


def projected(kind: Any, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    shares, asked = zipf(37), kind(dt.Categories(37), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        found = dt.frequencies(asked.perturb(rng.choice(37, n, p=shares), source=source)).projected()
        low, high = found.interval()
        return (low <= shares) & (shares <= high)

    return run


def absent(kind: Any, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = kind(dt.Categories(12), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        low, high = dt.frequencies(asked.perturb(rng.integers(0, 6, n), source=source)).interval()
        return (low[6:] <= 0.0) & (high[6:] >= 0.0)

    return run


def looked_at(epsilon: float, looks: int) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.Podium(dt.Interval(0, 1), epsilon=epsilon)
    sizes = np.unique(np.geomspace(30, 3000, looks).astype(int))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        reports = asked.perturb(rng.beta(0.3, 6, 3000), source=source)
        found = (dt.mean(reports[:size]).over_looks(looks) for size in sizes)
        return all(part.covers(0.3 / 6.3) for part in found)

    return run


def rare_extremes(n: int, *, any_time: bool) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.Podium(dt.Interval(0, 1), epsilon=8)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        found = dt.mean(asked.perturb((rng.random(n) < 0.02) * 1.0, source=source))
        if any_time:
            return found.at_any_time().covers(0.02)
        return found.covers(0.02) or "at_any_time" in found.condition  # it holds, or says that it may not

    return run


def arcsine(n: int, epsilon: float, what: str) -> Callable[[Rng, dt.Seeded], Any]:
    """Return which edges hold, all of them or the outermost, or which of three quantiles."""
    asked = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        values = np.sin(np.pi / 2.0 * rng.random(n)) ** 2
        found = dt.cumulative(asked.perturb(values, source=source), method="empirical bayes")
        if what == "quantiles":
            shares = (0.05, 0.5, 0.95)
            quantiles = [cast("Estimate", found.quantile(q)) for q in shares]
            return [
                estimate.covers(math.sin(math.pi / 2.0 * q) ** 2)
                for q, estimate in zip(shares, quantiles, strict=True)
            ]
        truth = 2.0 / np.pi * np.arcsin(np.sqrt(np.asarray(found.edges)[1:-1]))
        low, high = (np.asarray(end)[: truth.size] for end in found.interval())
        held = (low <= truth) & (truth <= high)
        return held[[0, -1]] if what == "outermost edges" else held

    return run


def heaped(n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=epsilon)
    drawn = np.sort(heaps(np.random.default_rng(5), 4_000_000))
    truth = np.searchsorted(drawn, np.asarray(asked.edges)[1:-1]) / drawn.size

    def run(rng: Rng, source: dt.Seeded) -> Any:
        found = dt.cumulative(asked.perturb(heaps(rng, n), source=source), method="empirical bayes")
        low, high = (np.asarray(end)[: truth.size] for end in found.interval())
        return (low <= truth) & (truth <= high)

    return run


def variance_of_stars(epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked, stars = dt.Optimal(dt.Interval(0, 1), epsilon=epsilon), np.linspace(0.0, 1.0, 5)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        reports = asked.perturb(rng.choice(stars, 80, p=[0.1, 0.1, 0.2, 0.3, 0.3]), source=source)
        return dt.variance(reports, method="likelihood").covers(0.1025)

    return run


def _smaller() -> list[Cell]:
    cells = [
        Cell("smaller", f"variance, {kind.__name__}, n = {n}, ε = {epsilon:g}", variance(kind, n, epsilon))
        for kind in (dt.Podium, dt.Laplace)
        for n, epsilon in ((1000, 0.1), (10_000, 0.1), (1000, 0.3))
    ]
    for kind in (dt.KRR, dt.OUE):
        run = projected(kind, 300, 8.0)
        cells.append(
            Cell("smaller", f"projected, {kind.__name__}, k = 37, n = 300, ε = 8", run, 0.92, 0.98, 200)
        )
        # With 0.1 expected reports a category is covered in 90 % or in more than 99 %, and nothing between.
        run = absent(kind, 300, 8.0)
        cells.append(Cell("smaller", f"absent categories, {kind.__name__}, n = 300, ε = 8", run, 0.92, 1.0))
    cells.append(Cell("smaller", "40 looks from n = 30, Podium, ε = 6", looked_at(6.0, 40), 0.92, 1.0, 200))
    for n, epsilon in ((30_000, 0.5), (10_000, 1.0), (3000, 1.5)):
        # Intervals of quantiles are complete cells.
        for what, most in (("all edges", 0.98), ("outermost edges", 0.98), ("quantiles", 1.0)):
            name = f"Cumulative on the arcsine, empirical Bayes, {what}, n = {n}, ε = {epsilon:g}"
            cells.append(Cell("smaller", name, arcsine(n, epsilon, what), 0.92, most))
    for n, epsilon in ((10_000, 1.0), (3000, 2.0)):
        name = f"Cumulative on heaps, empirical Bayes, all edges, n = {n}, ε = {epsilon:g}"
        cells.append(Cell("smaller", name, heaped(n, epsilon), 0.92, 0.98))
    for epsilon in (2.0, 8.0):  # profile likelihood over all distributions
        name = f"variance of five stars, Optimal, likelihood, n = 80, ε = {epsilon:g}"
        cells.append(Cell("smaller", name, variance_of_stars(epsilon), 0.92, 1.0, 100))
    for any_time, what in ((False, "holds, or says that it may not"), (True, "at any time")):
        name = f"mean with 2 % at the top, {what}, Podium, n = 50, ε = 8"
        cells.append(Cell("smaller", name, rare_extremes(50, any_time=any_time), 0.92, 1.0))
    return cells


_THREE: Final = np.array([0.45, 0.4, 0.15])


def two_calls(n: int, epsilon: float, *, ratio: bool) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.KRR(dt.Categories(3), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        told = asked.perturb(rng.choice(3, n, p=_THREE), source=source)
        first, second = dt.frequencies(told)[0], dt.frequencies(told)
        if ratio:
            return (first / second.sum([0, 1])).covers(0.45 / 0.85)
        return (first - second[1]).covers(0.05)

    return run


def paired(n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    one = dt.Podium(dt.Interval(0, 1), epsilon=epsilon)
    both = dt.Each(before=one, after=one)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        before = 0.9 * rng.beta(0.5, 0.5, n)
        told = both.perturb({"before": before, "after": before + 0.1 * rng.random(n)}, source=source)
        return (dt.mean(told["after"]) - dt.mean(told["before"])).covers(0.05)

    return run


def several_rows(rows: int, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    """All rows of people with the same value in each of their rows, whose ids are known."""
    asked = dt.Podium(dt.Interval(0, 1), epsilon=epsilon)
    ids = np.tile(np.arange(n), rows)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        told = asked.perturb(np.tile(rng.beta(0.5, 0.5, n), rows), source=source)
        return dt.estimate(told, person=ids).covers(0.5)

    return run


def waves(n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    """Two waves in long form; 30 % of the people are in the first only."""
    asked = dt.Podium(dt.Interval(0, 1), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        before, there = 0.9 * rng.beta(0.5, 0.5, n), np.flatnonzero(rng.random(n) < 0.7)
        told = asked.perturb(np.concatenate([before, before[there] + 0.1]), source=source)
        wave = np.repeat([1, 2], [n, there.size])
        found = dt.estimate(told, by=wave, person=np.concatenate([np.arange(n), there]))
        return (found[2] - found[1]).covers(0.1)

    return run


def two_cells(n: int, epsilon: float, *, private: bool) -> Callable[[Rng, dt.Seeded], Any]:
    """The difference of two cells of a table, or of a share in two private groups."""
    both = dt.Each(
        pet=dt.KRR(dt.Categories(2), epsilon=epsilon), home=dt.KRR(dt.Categories(2), epsilon=epsilon)
    )

    def run(rng: Rng, source: dt.Seeded) -> Any:
        home = (rng.random(n) < 0.4).astype(int)
        pet = (rng.random(n) < np.where(home, 0.3, 0.6)).astype(int)
        told = both.perturb({"pet": pet, "home": home}, source=source)
        if private:
            groups = dt.estimate(told["pet"], by=told["home"], minimum=2)
            return (groups[0][1] - groups[1][1]).covers(0.3)
        table = dt.stats.crosstab(told["pet"], told["home"])
        return (table[1, 0] - table[0, 0]).covers(0.36 - 0.24)

    return run


def half_at_zero(share: float, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=epsilon, cells=16)
    truth = max((share - 0.55) / 0.45, 0.0)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        values = np.where(rng.random(1500) < 0.55, 0.0, rng.random(1500))
        found: Any = dt.cumulative(asked.perturb(values, source=source)).quantile(share)
        return found.covers(truth)

    return run


def thinned(most: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.SetResponse(dt.Several(8, most=most), epsilon=epsilon)
    rates: Any = np.array([0.9, 0.8, 0.7, 0.5, 0.3, 0.1, 0.05, 0.02])
    return lambda rng, source: dt.frequencies(
        asked.perturb(rng.random((600, 8)) < rates, source=source)
    ).covers(rates)


def of_many_items(what: str, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    """Return runs of polynomials about 2 000 items: shares of items, of sizes, or of both of two items."""
    asked = dt.SetResponse(dt.Several(2000, most=4), epsilon=epsilon, report="polynomial", pairs=True)
    rates = np.array([0.6, 0.3, 0.05, 0.0])
    chances = np.array([1.0])  # of so many of the items
    for rate in rates:
        chances = np.convolve(chances, [1.0 - rate, rate])

    def run(rng: Rng, source: dt.Seeded) -> Any:
        have = np.zeros((800, 2000), dtype=np.bool_)
        have[:, :4] = rng.random((800, 4)) < rates
        reports = asked.perturb(have, source=source)
        if what == "pairs":
            return dt.stats.joint_frequency(reports, 0, 1).covers(0.18)
        found: Any = dt.frequencies(reports, items=[0, 1, 2, 3])
        if what == "sizes":
            return found.sizes.covers(np.cumsum(chances[::-1])[::-1][1:])
        return found.covers(rates)

    return run


def silent_score(n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    domain: Any = dt.Nullable(dt.Categories(["bad", "fair", "good"]))
    asked = dt.KRR(domain, epsilon=epsilon)
    answers = np.array(["bad", "fair", "good", None])

    def run(rng: Rng, source: dt.Seeded) -> Any:
        told = asked.perturb(rng.choice(answers, n, p=[0.1, 0.2, 0.4, 0.3]).tolist(), source=source)
        return dt.frequencies(told).score({"bad": 1, "fair": 2, "good": 3}).covers(1.7 / 0.7)

    return run


def heavy(n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.Podium(dt.Interval(0, 1), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        told = asked.perturb(rng.beta(2, 5, n), source=source)
        return dt.mean(told, weights=np.exp(2.0 * rng.standard_normal(n))).covers(2 / 7)

    return run


def _optional_pair(n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], dict[str, Any]]:
    """Return a function that draws people with two optional numbers and an answer, and their reports.

    Who has a large x answers less often (50 % instead of 90 %), so that those who answered are others than
    all people. y = 0.2 + 0.5·x + noise, and "high" is x above 0.5 with a chance of 80 %.
    """
    number = dt.Podium(dt.Nullable(dt.Interval(0, 1)), epsilon=epsilon)
    answer = dt.KRR(dt.Categories(["low", "high"]), epsilon=epsilon)

    def draw(rng: Rng, source: dt.Seeded) -> dict[str, Any]:
        x = rng.beta(2, 2, n)
        y = np.clip(0.2 + 0.5 * x + 0.2 * (rng.random(n) - 0.5), 0.0, 1.0)
        high = np.where(rng.random(n) < 0.8, x > 0.5, x <= 0.5)
        masks = rng.random(n) >= np.where(x > 0.5, 0.5, 0.9), rng.random(n) >= 0.8
        told = [
            number.perturb(np.ma.MaskedArray(values, mask), source=source)
            for values, mask in zip((x, y), masks, strict=True)
        ]
        group = answer.perturb(np.where(high, "high", "low").tolist(), source=source)
        return {"x": told[0], "y": told[1], "group": group}

    return draw


# Of those who answered x: with the weights 0.9 below 0.5 and 0.5 above; integrals of Beta(2, 2).
_BELOW, _ABOVE = 0.5, 0.5  # the shares below and above 0.5
_MEAN_BELOW, _MEAN_ABOVE = 0.3125, 0.6875
_SQUARE_BELOW, _SQUARE_ABOVE = 0.1125, 0.4875
_ANSWERED: Final = 0.9 * _BELOW + 0.5 * _ABOVE
_MEAN: Final = (0.9 * _BELOW * _MEAN_BELOW + 0.5 * _ABOVE * _MEAN_ABOVE) / _ANSWERED
_SPREAD: Final = (0.9 * _BELOW * _SQUARE_BELOW + 0.5 * _ABOVE * _SQUARE_ABOVE) / _ANSWERED - _MEAN**2
_HIGH: Final = (0.18 * _BELOW * _MEAN_BELOW + 0.4 * _ABOVE * _MEAN_ABOVE) / (0.18 * _BELOW + 0.4 * _ABOVE)
_TRUE_CORRELATION: Final = 0.5 * _SPREAD / np.sqrt(_SPREAD * (0.25 * _SPREAD + 0.04 / 12.0))


def optional(what: str, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    draw = _optional_pair(n, epsilon)
    answers: dict[str, Callable[[dict[str, Any]], Any]] = {
        "mean by a private category": lambda told: dt.estimate(told["x"], by=told["group"])["high"].covers(
            _HIGH
        ),
        "covariance": lambda told: dt.stats.covariance(told["x"], told["y"]).covers(0.5 * _SPREAD),
        "correlation": lambda told: dt.stats.correlation(told["x"], told["y"]).covers(_TRUE_CORRELATION),
        "slope": lambda told: dt.stats.regression(told["x"], told["y"]).slope.covers(0.5),
        "a point on the line": lambda told: dt.stats.regression(told["x"], told["y"]).at(0.4).covers(0.4),
        "equal groups are accepted": lambda told: (
            dt.stats.same_distribution(told["y"][: n // 3], told["y"][n // 3 :]).p_value > 0.05
        ),
        "a true distribution is accepted": lambda told: (
            dt.stats.goodness_of_fit(told["x"], _EXPECTED).p_value > 0.05
        ),
    }
    return lambda rng, source: answers[what](draw(rng, source))


def _expected_x() -> np.ndarray:
    """Return 400 quantiles of the x of those who answered."""
    places = np.linspace(0.0, 1.0, 4001)
    middle = (places[1:] + places[:-1]) / 2.0
    density = middle * (1.0 - middle) * np.where(middle > 0.5, 0.5, 0.9)
    cdf = np.concatenate([[0.0], np.cumsum(density) / density.sum()])
    return np.asarray(np.interp((np.arange(400) + 0.5) / 400, cdf, places))


_EXPECTED: Final = _expected_x()
_SILENT: Final = (
    "mean by a private category", "covariance", "correlation", "slope", "a point on the line",
    "equal groups are accepted", "a true distribution is accepted",
)  # fmt: skip


def _silent() -> list[Cell]:
    cells = []
    for n, epsilon in ((6000, 2.0), (1000, 6.0)):
        for what in _SILENT:
            name = f"{what}, of two optional numbers, Podium, n = {n}, ε = {epsilon:g}"
            # A correlation has the interval of every variance that fits where one is not clear of 0.
            most = 1.0 if what == "correlation" else 0.98
            cells.append(Cell("silent", name, optional(what, n, epsilon), 0.92, most))
    return cells


def cancelling(sides: bool, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    """Directions that nearly cancel: 55 % and 45 % opposite each other, or two halves 160° apart."""
    asked = dt.OGPM(dt.Circle(360), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        first = rng.random(n) < (0.5 if sides else 0.55)
        middles = (np.where(first, -80.0, 80.0), 5.0) if sides else (np.where(first, 0.0, 180.0), 20.0)
        angles = 100.0 + middles[0] + middles[1] * rng.standard_normal(n)
        return dt.mean(asked.perturb(angles % 360.0, source=source)).covers(100.0)

    return run


def joint_coins(share: float, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    asked = dt.JRR.heuristic(dt.Categories(["no", "yes"]), epsilon=epsilon, n=n)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        told = asked.perturb(np.where(rng.random(n) < share, "yes", "no"), source=source)
        return dt.frequencies(told)["yes"].covers(share)

    return run


def _few_pairs_and_circles() -> list[Cell]:
    cells = []
    for n, epsilon in ((100, 1.0), (100, 4.0), (400, 8.0), (3000, 1.0)):
        for sides, what in ((False, "55 % against 45 %"), (True, "two halves 160° apart")):
            name = f"mean direction, {what}, OGPM, n = {n}, ε = {epsilon:g}"
            cells.append(Cell("smaller", name, cancelling(sides, n, epsilon), 0.92, 0.98, 1000))
    for n in (30, 31):
        for share, epsilon in ((0.1, 1.0), (0.5, 1.0), (0.1, 4.0), (0.5, 4.0)):
            name = f"share of {100 * share:g} %, JRR, n = {n}, ε = {epsilon:g}"
            # Counts of so few people are integers, and so is what can be covered.
            cells.append(Cell("smaller", name, joint_coins(share, n, epsilon), 0.92, 0.99, 2000))
    return cells


def _repeated() -> list[Cell]:
    cells = []
    for rows in (2, 5):
        for epsilon in (1.0, 8.0):
            name = f"mean of {rows} rows of a person, ids known, Podium, 300 people, ε = {epsilon:g} each"
            cells.append(Cell("people", name, several_rows(rows, 300, epsilon)))
    for epsilon in (1.0, 8.0):
        name = f"waves in long form, 30 % leave, Podium, 400 people, ε = {epsilon:g} each"
        cells.append(Cell("people", name, waves(400, epsilon)))
        for private, what in ((False, "two cells of a 2 × 2 table"), (True, "a share in two private groups")):
            name = f"difference of {what}, KRR, n = 1000, ε = {epsilon:g} each"
            cells.append(Cell("people", name, two_cells(1000, epsilon, private=private), 0.93, 0.985))
    return cells


def _people() -> list[Cell]:
    cells = []
    for n, epsilon in ((300, 1.0), (300, 4.0), (3000, 1.0)):
        at = f"KRR, k = 3, n = {n}, ε = {epsilon:g}"
        cells.append(Cell("people", f"two answers by two calls, {at}", two_calls(n, epsilon, ratio=False)))
        # The ratio's interval is unbounded, and holds, where the divisor may be 0.
        run = two_calls(n, epsilon, ratio=True)
        cells.append(Cell("people", f"one answer of two, {at}", run, 0.93, 1.0))
    for n, epsilon in ((400, 1.0), (400, 8.0)):
        name = f"before and after, Each of two Podium, n = {n}, ε = {epsilon:g} each"
        cells.append(Cell("people", name, paired(n, epsilon)))
    for epsilon in (1.0, 3.0):
        for share in (0.3, 0.5, 0.9):  # whole cells, so more than 95 %
            name = f"quantile {share:g} of Cumulative, 55 % at 0, n = 1500, ε = {epsilon:g}"
            cells.append(Cell("people", name, half_at_zero(share, epsilon), 0.93, 1.0, 200))
        for most in (2, 4):  # upper ends reach as far as thinned sets may
            name = f"items of sets of which {most} are told, n = 600, ε = {epsilon:g}"
            cells.append(Cell("people", name, thinned(most, epsilon), 0.93, 1.0, 200))
    for epsilon in (0.5, 2.0):
        for what in ("items", "sizes", "pairs"):
            name = f"{what} of sets of 4 of 2 000 items by polynomials, n = 800, ε = {epsilon:g}"
            cells.append(Cell("people", name, of_many_items(what, epsilon)))
    for n, epsilon in ((2000, 1.0), (400, 4.0)):
        name = f"score of who answered, KRR, 70 % answered, n = {n}, ε = {epsilon:g}"
        cells.append(Cell("people", name, silent_score(n, epsilon)))
    for n, epsilon in ((400, 4.0), (1500, 2.0), (1500, 8.0)):
        name = f"mean, log-normal weights of σ = 2, Podium, n = {n}, ε = {epsilon:g}"
        cells.append(Cell("people", name, heavy(n, epsilon), 0.92, 0.98))
    return cells


def moment(quantity: str, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    """A quantity of x and y = 0.55x + 0.45z, for even and independent x and z, by one report about both."""
    unit = dt.Interval(0, 1)
    asked = dt.optimal.JointMoments(dt.Box({"x": unit, "y": unit}), epsilon=epsilon)
    spread = (0.55**2 + 0.45**2) / 12.0

    def run(rng: Rng, source: dt.Seeded) -> Any:
        x = rng.random(n)
        reports = asked.perturb({"x": x, "y": 0.55 * x + 0.45 * rng.random(n)}, source=source)
        if quantity == "mean":
            return dt.estimate(reports)["mean of y"].covers(0.5)
        if quantity == "variance":
            return dt.estimate(reports)["variance of y"].covers(spread)
        if quantity == "covariance":
            return dt.stats.covariance(reports).covers(0.55 / 12.0)
        if quantity == "correlation":
            return dt.stats.correlation(reports).covers(0.55 / 12.0 / math.sqrt(spread / 12.0))
        return dt.stats.regression(reports, "y")["x"].covers(0.55)

    return run


def _moments() -> list[Cell]:
    return [
        Cell(
            "moments",
            f"{quantity} by JointMoments, n = {n}, ε = {epsilon:g}",
            moment(quantity, n, epsilon),
            repetitions=1200,
            # The interval of a correlation is wide enough for two approximations.
            most=1.0 if quantity == "correlation" else 0.98,
        )
        for epsilon, n in ((1.0, 40_000), (2.0, 10_000), (4.0, 1_000), (8.0, 200))
        for quantity in ("mean", "variance", "covariance", "correlation", "slope")
    ]


def cells() -> list[Cell]:
    """Return every cell."""
    return [
        *_days(),
        *_smaller(),
        *_few_pairs_and_circles(),
        *_tables(),
        *_shapes(),
        *_tests(),
        *_repeated(),
        *_people(),
        *_silent(),
        *_moments(),
    ]


def find(name: str) -> Cell:
    """Return the cell of a name."""
    return next(cell for cell in cells() if cell.name == name)


def recorded() -> dict[str, Any]:
    """Return what was recorded: for each cell its share, standard error and number of repetitions."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def record(cells: list[Cell], sections: list[str]) -> None:
    """Measure the cells of some sections, or those that are not recorded, and write them as they come."""
    for cell in cells:
        if cell.section not in sections if sections else cell.name in recorded():
            continue
        share, error = cell.measure()
        kept = {**recorded(), cell.name: [round(share, 4), round(error, 4), cell.repetitions]}
        RECORDED.parent.mkdir(exist_ok=True)
        lines = (f"{json.dumps(name, ensure_ascii=False)}: {numbers}" for name, numbers in kept.items())
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(f"{cell.section} · {cell.name}: {100 * share:.1f} ± {100 * error:.1f} %", flush=True)


_TITLES: Final = {
    "tests": "a true hypothesis is accepted at 5 %",
    "tables": "cells of cross-tables and of `Marginals`",
    "shapes": "quantiles of hard shapes, tails of clipped values",
    "days": 'the day itself, by `smoothing="auto"`',
    "silent": "two numbers that may be missing, of those who answered",
    "people": "the same people, thinned sets, silence, heavy weights",
    "moments": "two numbers in one report",
    "smaller": "variances, many categories, many looks, rare extremes",
}


def page(cells: list[Cell], section: str, title: str) -> str:
    """Return the table of a section from the record, in Markdown, with what each cell has to reach."""
    kept = recorded()
    lines = [f"| {title} | held | required | runs |", "|---|---|---|---|"]
    for cell in cells:
        if cell.section == section and cell.name in kept:
            share, error, runs = kept[cell.name]
            asked = f"{100 * cell.least:.0f} – {100 * cell.most:.0f} %"
            lines.append(f"| {cell.name} | {100 * share:.1f} ± {100 * error:.1f} % | {asked} | {runs} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        record(cells(), sys.argv[1:])
    for section, title in _TITLES.items():
        write(ROOT / "docs" / "coverage_few.md", page(cells(), section, title), f"answers, {section}")
