"""How often intervals of combinations and of pairs of questions hold the truth, and tests keep their level.

python -m tools.coverage_groups        measures all and rewrites the table in docs/coverage.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.errors import NotIdentifiable
from tests.support.repository import ROOT
from tools.coverage import EPSILONS, write

UNIT, YES, THREE, FOUR = dt.Interval(0, 1), dt.Categories(2), dt.Categories(3), dt.Categories(4)
Rng = np.random.Generator
Source = dt.Seeded
JOINT = np.array([[0.2, 0.05, 0.05, 0.1], [0.05, 0.15, 0.05, 0.05], [0.02, 0.08, 0.15, 0.05]])


@dataclass(frozen=True)
class Combination:
    """A case: `run` draws people, and returns whether the interval holds the truth (or a test accepts it).

    It returns None where the reports cannot answer; such runs are not counted.
    """

    name: str
    n: int
    run: Callable[[Rng, Source, float, int], Any]

    def covered(self, epsilon: float, repetitions: int, seed: int) -> tuple[float, float]:
        """Return the share of answers that hold the truth, and the share of runs with an answer."""
        rng, source = np.random.default_rng(seed), dt.Seeded(seed)
        found = [self.run(rng, source, epsilon, self.n) for _ in range(repetitions)]
        answers = [float(answer) for answer in found if answer is not None]
        return float(np.mean(answers)), len(answers) / repetitions


def podium(epsilon: float) -> Any:
    return _made(dt.Podium, UNIT, epsilon, cells=1 << 12)


def _made(kind: Any, domain: Any, epsilon: float, **more: Any) -> Any:
    key = kind, id(domain), epsilon
    if key not in _MADE:
        _MADE[key] = kind(domain, epsilon=epsilon, **more)
    return _MADE[key]


_MADE: dict[Any, Any] = {}


def skewed(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    return podium(epsilon).perturb(rng.beta(2, 5, n), source=source)


def rare(rng: Rng, source: Source, epsilon: float, n: int, share: float) -> Any:
    return _made(dt.KRR, YES, epsilon).perturb((rng.random(n) < share).astype(int), source=source)


def difference_of_means(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    other = podium(epsilon).perturb((rng.random(n // 2) < 0.05) * 1.0, source=source)
    gap = dt.mean(skewed(rng, source, epsilon, n)) - dt.mean(other)
    return gap.covers(2 / 7 - 0.05)


def ratio_of_means(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    other = podium(epsilon).perturb(rng.beta(5, 2, n), source=source)
    return (dt.mean(skewed(rng, source, epsilon, n)) / dt.mean(other)).covers(0.4)


def difference_of_shares(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    sizes = ((n, 0.05), (2 * n, 0.1))
    a, b = (dt.frequencies(rare(rng, source, epsilon, size, share))[1] for size, share in sizes)
    return (a - b).covers(-0.05)


def ratio_of_shares(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    a, b = (dt.frequencies(rare(rng, source, epsilon, n, share))[1] for share in (0.2, 0.5))
    return (a / b).covers(0.4)


def all_differences(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    reports = podium(epsilon).perturb(rng.beta(2, 5, 5 * n), source=source)
    table = dt.stats.difference(dt.estimate(reports, by=np.arange(5 * n) % 5))
    return all(row["low"] <= 0.0 <= row["high"] for row in table)


def holm(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    groups = {place: dt.mean(skewed(rng, source, epsilon, n)) for place in range(5)}
    return min(row["p"] for row in dt.stats.difference(groups)) > 0.05


def other_budgets(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    parts = [skewed(rng, source, epsilon, n), skewed(rng, source, 2 * epsilon, n // 2)]
    return dt.stats.combine(parts).covers(2 / 7)


def rare_budgets(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    parts = [rare(rng, source, epsilon, n, 0.05), rare(rng, source, 2 * epsilon, n // 2, 0.05)]
    return dt.stats.combine(parts)[1].covers(0.05)


def strata(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    old = podium(epsilon).perturb(rng.beta(5, 2, n // 4), source=source)
    groups = {"young": dt.mean(skewed(rng, source, epsilon, n)), "old": dt.mean(old)}
    return dt.stats.post_stratified(groups, {"young": 0.4, "old": 0.6}).covers(0.4 * 2 / 7 + 0.6 * 5 / 7)


def weighted(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    values = rng.random(4 * n)
    chance = 0.1 + 0.3 * values
    asked = rng.random(4 * n) < chance
    reports = podium(epsilon).perturb(values[asked], source=source)
    return dt.mean(reports, weights=1 / chance[asked]).covers(0.5)


def table(kind: Any) -> Callable[[Rng, Source, float, int], Any]:
    def run(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
        pairs = rng.choice(12, n, p=JOINT.reshape(-1) / JOINT.sum())
        first = _made(kind, THREE, epsilon).perturb(pairs // 4, source=source)
        second = _made(kind, FOUR, epsilon).perturb(pairs % 4, source=source)
        return np.mean(dt.stats.crosstab(first, second).covers(JOINT / JOINT.sum()))

    return run


def independence(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    first = _made(dt.OUE, THREE, epsilon).perturb(rng.choice(3, n, p=[0.5, 0.3, 0.2]), source=source)
    second = _made(dt.OUE, FOUR, epsilon).perturb(rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), source=source)
    return dt.stats.crosstab(first, second).independence().p_value > 0.05


def same_shares(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    groups = [
        _made(dt.OUE, FOUR, epsilon).perturb(rng.choice(4, size, p=[0.4, 0.3, 0.2, 0.1]), source=source)
        for size in (n, n // 2)
    ]
    return dt.stats.same_distribution(*groups).p_value > 0.05


def same_numbers(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    groups = [skewed(rng, source, epsilon, size) for size in (n, n // 2)]
    return dt.stats.same_distribution(*groups).p_value > 0.05


def expected_numbers(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    reports = podium(epsilon).perturb(rng.random(n), source=source)
    return dt.stats.goodness_of_fit(reports, (np.arange(200) + 0.5) / 200).p_value > 0.05


def two(rng: Rng, source: Source, epsilon: float, n: int) -> tuple[Any, Any]:
    """Two numbers with slope 0.6, intercept 0.1 and covariance 0.6·Var(Beta(0.7, 0.7))."""
    x = rng.beta(0.7, 0.7, n)
    y = 0.1 + 0.6 * x + rng.uniform(0.0, 0.2, n)
    return podium(epsilon).perturb(x, source=source), podium(epsilon).perturb(y, source=source)


SPREAD = 1 / 9.6
TRUE = 0.6 * SPREAD / np.sqrt(SPREAD * (0.36 * SPREAD + 0.04 / 12))


def covariance(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    return dt.stats.covariance(*two(rng, source, epsilon, n)).covers(0.6 * SPREAD)


def correlation(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    try:
        return dt.stats.correlation(*two(rng, source, epsilon, n)).covers(TRUE)
    except NotIdentifiable:
        return None


def slope(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    try:
        return dt.stats.regression(*two(rng, source, epsilon, n)).slope.covers(0.6)
    except NotIdentifiable:
        return None


def on_the_line(rng: Rng, source: Source, epsilon: float, n: int) -> Any:
    try:
        return dt.stats.regression(*two(rng, source, epsilon, n)).at(0.8).covers(0.2 + 0.6 * 0.8)
    except NotIdentifiable:
        return None


CASES = [
    Combination("difference of two means, Podium", 200, difference_of_means),
    Combination("ratio of two means, Podium", 2000, ratio_of_means),
    Combination("difference of shares of 5 % and 10 %, KRR", 200, difference_of_shares),
    Combination("ratio of shares of 20 % and 50 %, KRR", 2000, ratio_of_shares),
    Combination("all 10 differences of 5 groups at once (Bonferroni), Podium", 200, all_differences),
    Combination("no false rejection among 10 differences (Holm), Podium", 200, holm),
    Combination("mean from ε and 2ε by inverse variance, Podium", 400, other_budgets),
    Combination("share of 5 % from ε and 2ε by inverse variance, KRR", 400, rare_budgets),
    Combination("post-stratified mean, Podium", 400, strata),
    Combination("weighted mean, chances of 10 to 40 %, Podium", 400, weighted),
    Combination("cells of a 3 × 4 table, KRR", 2000, table(dt.KRR)),
    Combination("cells of a 3 × 4 table, OUE", 2000, table(dt.OUE)),
    Combination("covariance, Podium", 2000, covariance),
    Combination("correlation, Podium", 2000, correlation),
    Combination("slope of a regression, Podium", 2000, slope),
    Combination("a point on the line of a regression, Podium", 2000, on_the_line),
    Combination("independence is accepted at 5 %, OUE 3 × 4", 2000, independence),
    Combination("equal shares are accepted at 5 %, OUE", 1000, same_shares),
    Combination("equal distributions are accepted at 5 % (KS), Podium", 1000, same_numbers),
    Combination("a true distribution is accepted at 5 % (KS), Podium", 1000, expected_numbers),
]


def measure(repetitions: int, seed: int = 1) -> str:
    """Measure every case and give the table in Markdown; lines are printed as they come."""
    lines = ["| case | n | ε = 0.5 | ε = 1 | ε = 4 |", "|---|---|---|---|---|"]
    for case in CASES:
        cells = []
        for epsilon in EPSILONS:
            share, answered = case.covered(epsilon, repetitions, seed)
            some = "" if answered == 1.0 else f" ({100 * answered:.0f} % answered)"
            cells.append(f"{100 * share:.1f} %{some}")
        lines.append(f"| {case.name} | {case.n} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "coverage.md")
    options = parser.parse_args()
    write(options.page, measure(options.repetitions), "coverage of groups")
