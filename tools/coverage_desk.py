"""The cells of an analyst's intervals: weights, private groups, shares within rows, regressions, no answers.

python -m tools.coverage_desk               measures the cells that are not recorded, and makes the page
python -m tools.coverage_desk weights …     measures the sections that are named again
python -m tools.coverage_desk page          makes the tables of docs/coverage.md from the record alone
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

import dither as dt
from dither.estimation.person_numbers import indicators
from dither.estimation.significance import same_among_private
from tests.support.repository import ROOT
from tools.coverage import write
from tools.coverage_answers import Cell, Rng, page, record

Run = Callable[[Rng, dt.Seeded], Any]
UNIT: Final = dt.Interval(0, 1)
FOUR: Final = dt.Categories(4)
EPSILONS: Final = (0.5, 2.0, 8.0)
# Four answers of two groups; both are as large in the population, and the second answers four times as often.
ANSWERS: Final = np.array([[0.1, 0.2, 0.3, 0.4], [0.55, 0.3, 0.1, 0.05]])
MEAN: Final = (2 / 7 + 1 / 2) / 2.0


class People(NamedTuple):
    """People of a sample: public columns, private values, and the weights of the design."""

    group: np.ndarray
    sex: np.ndarray
    answers: np.ndarray
    values: np.ndarray
    weights: np.ndarray

    def rake(self) -> Any:
        """Return weights by both public columns."""
        totals: Any = {"group": {0: 0.5, 1: 0.5}, "sex": {0: 0.5, 1: 0.5}}
        return dt.stats.rake({"group": self.group.tolist(), "sex": self.sex.tolist()}, totals)


def sample(rng: Rng, n: int) -> People:
    """Draw people of two groups of chances 1 : 4 and two sexes of chances 2 : 3, who answer differently.

    Values are Beta(2, 5) in the first group and Beta(2, 2) in the second.
    """
    group, sex = rng.choice(2, n, p=[0.2, 0.8]), rng.choice(2, n, p=[0.4, 0.6])
    answers = (rng.random(n)[:, None] > ANSWERS.cumsum(axis=1)[group]).sum(axis=1)
    weights = np.array([2.5, 0.625])[group] * np.array([1.25, 1 / 1.2])[sex]
    return People(group, sex, np.minimum(answers, 3), rng.beta(2, 5 - 3 * group), weights)


def below(x: Any) -> Any:
    """Return the share of the population below x: half Beta(2, 5), half Beta(2, 2)."""
    return (1.0 - (1.0 - x) ** 6 - 6.0 * x * (1.0 - x) ** 5 + 3.0 * x**2 - 2.0 * x**3) / 2.0


def true_quantile(share: float, cdf: Callable[[float], float] = below) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if cdf(middle) < share else (low, middle)
    return low


def weighing(people: People, raked: bool) -> Any:
    return people.rake() if raked else people.weights


def weighted_mean(kind: Any, n: int, epsilon: float, *, raked: bool) -> Run:
    asked = kind(UNIT, epsilon=epsilon, cells=1 << 12)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        people = sample(rng, n)
        told = asked.perturb(people.values, source=source)
        return dt.mean(told, weights=weighing(people, raked)).covers(MEAN)

    return run


def tilted_mean(n: int, epsilon: float) -> Run:
    """Weights exp(0.6·z), which vary from person to person and go with the value."""
    asked = dt.Podium(UNIT, epsilon=epsilon, cells=1 << 12)
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)
    truth = float((1.0 / (1.0 + np.exp(-(nodes + 0.6)))) @ shares / shares.sum())

    def run(rng: Rng, source: dt.Seeded) -> Any:
        z = rng.standard_normal(n)
        told = asked.perturb(1.0 / (1.0 + np.exp(-z)), source=source)
        return dt.mean(told, weights=np.exp(0.6 * z)).covers(truth)

    return run


def weighted_frequencies(kind: Any, n: int, epsilon: float, *, raked: bool) -> Run:
    asked = kind(dt.Categories(4), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        people = sample(rng, n)
        told = asked.perturb(people.answers, source=source)
        return dt.frequencies(told, weights=weighing(people, raked)).covers(ANSWERS.mean(axis=0))

    return run


def weighted_sum(n: int, epsilon: float, *, raked: bool) -> Run:
    asked = dt.KRR(dt.Categories(4), epsilon=epsilon)
    truth = float(ANSWERS.mean(axis=0)[:2].sum())

    def run(rng: Rng, source: dt.Seeded) -> Any:
        people = sample(rng, n)
        told = asked.perturb(people.answers, source=source)
        return dt.frequencies(told, weights=weighing(people, raked)).sum([0, 1]).covers(truth)

    return run


def weighted_quantile(share: float, n: int, epsilon: float, method: Any, *, raked: bool) -> Run:
    asked, truth = dt.SW(UNIT, epsilon=epsilon, cells=1 << 10), true_quantile(share)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        people = sample(rng, n)
        told = asked.perturb(people.values, source=source)
        return dt.quantile(told, share, method=method, weights=weighing(people, raked)).covers(truth)

    return run


def weighted_bands(n: int, epsilon: float, *, raked: bool) -> Run:
    asked, truth = dt.SW(UNIT, epsilon=epsilon, cells=1 << 10), np.diff(below(np.linspace(0, 1, 17)))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        people = sample(rng, n)
        told = asked.perturb(people.values, source=source)
        low, high = dt.distribution(told, 16, weights=weighing(people, raked)).bands()
        return (low <= truth) & (truth <= high)

    return run


def _weights() -> list[Cell]:
    cells = []
    for raked, what in ((False, "weights of the design"), (True, "raked weights")):
        for epsilon in EPSILONS:
            at = f"{what}, n = 300, ε = {epsilon:g}"
            for kind in (dt.Podium, dt.SW):
                run = weighted_mean(kind, 300, epsilon, raked=raked)
                cells.append(_cell("weights", f"mean, {kind.__name__}, {at}", run))
            for asked in (dt.KRR, dt.OUE):
                run = weighted_frequencies(asked, 300, epsilon, raked=raked)
                cells.append(_cell("weights", f"frequencies of 4, {asked.__name__}, {at}", run))
            run = weighted_sum(300, epsilon, raked=raked)
            cells.append(_cell("weights", f"sum of two answers, KRR, {at}", run))
        for n, epsilon in ((6000, 1.0), (1500, 4.0)):
            at = f"SW, {what}, n = {n}, ε = {epsilon:g}"
            for share in (0.5, 0.9):
                run = weighted_quantile(share, n, epsilon, "empirical bayes", raked=raked)
                name = f'quantile {share:g}, "empirical bayes", {at}'
                cells.append(_cell("weights", name, run, most=1.0, repetitions=200))
            # By default a quantile assumes nothing about the shape, and is wider than a smooth shape needs;
            # what is read off a smooth shape holds in 94 to 100 % without weights, too.
            run = weighted_quantile(0.5, n, epsilon, None, raked=raked)
            cells.append(_cell("weights", f"quantile 0.5, {at}", run, most=1.0, repetitions=100))
            run = weighted_bands(n, epsilon, raked=raked)
            cells.append(_cell("weights", f"bands of 16 bins, {at}", run, most=1.0, repetitions=100))
    for epsilon in EPSILONS:
        name = f"mean, Podium, weights exp(0.6·normal) that go with the value, n = 300, ε = {epsilon:g}"
        cells.append(_cell("weights", name, tilted_mean(300, epsilon)))
    return cells


def _cell(section: str, name: str, run: Run, *, most: float = 0.97, repetitions: int = 800) -> Cell:
    return Cell(section, name, run, 0.93, most, repetitions)


# Of three private groups: how large they are, their values Beta(a, b), and how they answer a second question.
SIZES: Final = np.array([0.5, 0.3, 0.2])
SHAPES: Final = np.array([[2.0, 5.0], [2.0, 2.0], [5.0, 2.0]])
SECOND: Final = np.array([[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]])


def private_means(n: int, epsilon: float, what: str) -> Run:
    """Means by a private category of three answers, their differences, or the means by weight."""
    number = dt.Podium(UNIT, epsilon=epsilon, cells=1 << 12)
    category = dt.KRR(dt.Categories(3), epsilon=epsilon)
    truth = SHAPES[:, 0] / SHAPES.sum(axis=1)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        group = rng.choice(3, n, p=SIZES)
        values = rng.beta(*SHAPES[group].T)
        weights = None
        if what == "weighted":  # people whose weight is 3 have the same values
            weights = np.where(rng.random(n) < 0.3, 3.0, 1.0)
        reports, by = number.perturb(values, source=source), category.perturb(group, source=source)
        found = dt.estimate(reports, by=by, minimum=2, weights=weights)
        if what == "difference":
            return (found[1] - found[0]).covers(truth[1] - truth[0])
        if what == "ratio":
            return (found[1] / found[0]).covers(truth[1] / truth[0])
        return [part.covers(truth[int(str(label))]) for label, part in found.items()]

    return run


def private_frequencies(n: int, epsilon: float) -> Run:
    first, second = (dt.KRR(dt.Categories(size), epsilon=epsilon) for size in (3, 2))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        group = rng.choice(3, n, p=SIZES)
        answer = (rng.random(n) > SECOND[group, 0]).astype(int)
        reports = second.perturb(answer, source=source)
        found = dt.estimate(reports, by=first.perturb(group, source=source), minimum=2)
        return [part.covers(SECOND[int(str(label))]) for label, part in found.items()]

    return run


def same_groups(n: int, epsilon: float, *, number: bool) -> Run:
    """Whether the test accepts that the first two of three private groups are alike, which they are."""
    category = dt.KRR(dt.Categories(3), epsilon=epsilon)
    asked: Any = dt.Podium(UNIT, epsilon=epsilon, cells=1 << 12) if number else dt.KRR(FOUR, epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        group = rng.choice(3, n, p=SIZES)
        other = group == 2
        values = rng.beta(2, np.where(other, 2, 5)) if number else rng.choice(4, n) * (1 - other)
        told = asked.perturb(values, source=source)
        read = indicators(category.perturb(group, source=source))
        return same_among_private(told, read[:, 0], read[:, 1]).p_value > 0.05

    return run


def within(kind: Any, n: int, epsilon: float, side: str, *, weighted: bool = False) -> Run:
    asked = [kind(dt.Categories(size), epsilon=epsilon) for size in (3, 2)]
    joint: Any = SIZES[:, None] * SECOND
    truth = SECOND if side == "rows" else joint / joint.sum(axis=0)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        pairs = rng.choice(6, n, p=joint.reshape(-1))
        weights = None
        if weighted:  # half of those with the first answer were left out, and count twice
            kept = (pairs >= 2) | (rng.random(n) < 0.5)
            pairs = pairs[kept]
            weights = np.where(pairs < 2, 2.0, 1.0)
        told = [one.perturb(part, source=source) for one, part in zip(asked, divmod(pairs, 2), strict=True)]
        table = dt.stats.crosstab(told[0], told[1], weights=weights)
        return getattr(table, f"within_{side}")().covers(truth)

    return run


def _groups() -> list[Cell]:
    cells = []
    for n, epsilon in ((8000, 0.5), (1500, 2.0), (400, 8.0)):
        at = f"n = {n}, ε = {epsilon:g}"
        for what, name in (
            ("means", "means by a private category"),
            ("weighted", "means by a private category, weighted"),
            ("difference", "difference of two such means"),
            ("ratio", "ratio of two such means"),
        ):
            cells.append(_cell("groups", f"{name}, Podium, KRR, {at}", private_means(n, epsilon, what)))
        cells.append(
            _cell("groups", f"frequencies by a private category, KRR, {at}", private_frequencies(n, epsilon))
        )
        for number, what in ((True, "numbers, Podium"), (False, "answers, KRR")):
            name = f"equal {what}, of two private groups are accepted at 5 %, {at}"
            cells.append(_cell("groups", name, same_groups(n, epsilon, number=number)))
        for side in ("rows", "columns"):
            for kind in (dt.KRR, dt.OUE):
                name = f"shares of {side} of 3 × 2, {kind.__name__}, {at}"
                cells.append(_cell("groups", name, within(kind, n, epsilon, side)))
            name = f"shares of {side} of 3 × 2, weighted, KRR, {at}"
            cells.append(_cell("groups", name, within(dt.KRR, n, epsilon, side, weighted=True)))
    return cells


def linear(n: int, epsilon: float, *, answer: str) -> Run:
    """A private number on a private number, a private category and a public number, which are correlated."""
    number = dt.Podium(UNIT, epsilon=epsilon, cells=1 << 12)
    category = dt.KRR(dt.Categories(2), epsilon=epsilon)
    slopes = {"x": 0.4, "c: 1": 0.2, "z": -0.1}

    def run(rng: Rng, source: dt.Seeded) -> Any:
        z, c = rng.uniform(0, 1, n), rng.integers(0, 2, n)
        x = rng.beta(0.7, 0.7, n) * 0.8 + 0.2 * z
        y = 0.2 + 0.4 * x + 0.2 * c - 0.1 * z + rng.uniform(0, 0.3, n) - 0.05
        told = [one.perturb(part, source=source) for one, part in ((number, x), (category, c), (number, y))]
        fit = dt.stats.regression({"x": told[0], "c": told[1], "z": z}, told[2])
        if answer == "at":
            return fit.at({"x": 0.8, "c": 1, "z": 0.5}).covers(0.3 + 0.32 + 0.2 - 0.05)
        return fit[answer].covers(slopes[answer])

    return run


def logistic(n: int, epsilon: float, *, answer: str) -> Run:
    """A private yes-or-no answer on a public number and a private category."""
    two = dt.KRR(dt.Categories(2), epsilon=epsilon)
    slopes = {"z": 0.8, "c: 1": 1.0}

    def run(rng: Rng, source: dt.Seeded) -> Any:
        z = rng.standard_normal(n)
        c = (rng.random(n) < 1.0 / (1.0 + np.exp(-0.5 * z))).astype(int)
        chance = 1.0 / (1.0 + np.exp(0.5 - 0.8 * z - 1.0 * c))
        y = (rng.random(n) < chance).astype(int)
        by, told = (two.perturb(part, source=source) for part in (c, y))
        fit = dt.stats.regression({"z": z, "c": by}, told)
        if answer == "at":
            return fit.at({"z": 1.0, "c": 0}).covers(1.0 / (1.0 + np.exp(0.5 - 0.8)))
        return fit[answer].covers(slopes[answer])

    return run


def over_years(n: int, epsilon: float, *, answer: str) -> Run:
    """A private number y on calendar years and a private number x, whose slope differs between two groups."""
    asked, two = dt.Podium(UNIT, epsilon=epsilon), dt.KRR(dt.Categories(2), epsilon=epsilon)
    spread = 0.3**2 / 12.0  # of what the regressors leave

    def run(rng: Rng, source: dt.Seeded) -> Any:
        year, group, x = 2015 + rng.integers(0, 10, n), rng.integers(0, 2, n), rng.beta(0.7, 0.7, n)
        rest = 0.3 * rng.random(n)
        if answer == "logistic":
            yes = (rng.random(n) < 1.0 / (1.0 + np.exp(-0.3 * (year - 2019.5)))).astype(int)
            return dt.stats.regression({"year": year}, two.perturb(yes, source=source))["year"].covers(0.3)
        if answer in ("year", "R²", "intercept"):
            fit = dt.stats.regression(
                {"year": year}, asked.perturb(0.05 * (year - 2015) + rest, source=source)
            )
            drawn = 0.05**2 * 99.0 / 12.0
            if answer == "R²":
                return fit.r_squared.covers(drawn / (drawn + spread))
            return fit[answer].covers({"year": 0.05, "intercept": 0.15 - 0.05 * 2015}[answer])
        y = 0.1 + (0.2 + 0.4 * group) * x + rest
        told = asked.perturb(x, source=source)
        if answer == "public":
            return dt.stats.regression({"x": told, "group": group}, y)["x"].covers(0.4)
        data = {"y": asked.perturb(y, source=source), "x": told, "group": group}
        return dt.stats.regression("y ~ x * C(group)", data)["x × group: 1"].covers(0.4)

    return run


def _over_years() -> list[Cell]:
    cells = []
    for n in (100, 1000, 10_000):
        for epsilon in (1.0, 4.0):
            at = f"n = {n}, ε = {epsilon:g}"
            for answer, name in (
                ("year", "slope of calendar years"),
                ("intercept", "intercept at the year 0"),
                ("R²", "R² of calendar years"),
                ("logistic", "logistic slope of calendar years, KRR"),
                ("interaction", "interaction of a private number with a public group"),
                ("public", "slope of a private number, public response"),
            ):
                if answer in ("interaction", "public", "R²") and n * epsilon**2 < 10_000:
                    continue  # so few reports do not tell the variance of a private number from 0
                # Fieller's interval of a share near 0 is wide. 100 reports at ε = 1 are as 21 answers without
                # noise, which the interval of a log-odds says.
                most = 1.0 if answer == "R²" else 0.98
                few = answer == "logistic" and n * epsilon**2 < 1000
                run = over_years(n, epsilon, answer=answer)
                least, many = (0.88, 1200) if few else (0.92, 400)
                cells.append(Cell("regressions", f"{name}, {at}", run, least, most, many))
    return cells


def _regressions() -> list[Cell]:
    cells = _over_years()
    for n, epsilon in ((6000, 1.0), (1500, 2.0), (300, 8.0)):
        at = f"n = {n}, ε = {epsilon:g}"
        for answer, name in (
            ("x", "slope of a private number beside two regressors"),
            ("c: 1", "coefficient of a private category beside two regressors"),
            ("z", "slope of a public number beside two regressors"),
            ("at", "a point on the plane of three regressors"),
        ):
            run = linear(n, epsilon, answer=answer)
            cells.append(_cell("regressions", f"{name}, {at}", run, repetitions=400 if n > 1500 else 800))
    for n, epsilon in ((6000, 1.0), (1500, 2.0), (300, 8.0)):
        at = f"KRR, n = {n}, ε = {epsilon:g}"
        for answer, name in (
            ("z", "logistic slope of a public number"),
            ("c: 1", "log-odds of a private category"),
            ("at", "a probability of a logistic regression"),
        ):
            run = logistic(n, epsilon, answer=answer)
            cells.append(_cell("regressions", f"{name}, {at}", run, repetitions=200 if n > 1500 else 400))
    return cells


def optional(what: str, n: int, epsilon: float, share: float, kind: Any = dt.Podium, **options: Any) -> Run:
    """Values are Beta(2, 5); who has a large one answers as often as others."""
    asked = kind(dt.Nullable(UNIT), epsilon=epsilon, cells=1 << 10)
    truth = {"mean": 2 / 7, "variance": 10 / 392, "quantile": 0.26444998329566005}
    places = np.linspace(0, 1, 17)
    shares = np.diff(1.0 - (1.0 - places) ** 6 - 6.0 * places * (1.0 - places) ** 5)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        values = np.ma.MaskedArray(rng.beta(2, 5, n), rng.random(n) >= share)
        told = asked.perturb(values, source=source)
        if what == "answered":
            return dt.stats.response_rate(told).covers(share)
        if what == "bands":
            low, high = dt.distribution(told, 16).bands()
            return (low <= shares) & (shares <= high)
        more = () if what != "quantile" else (0.5,)
        return getattr(dt, what)(told, *more, **options).covers(truth[what])

    return run


def _optional() -> list[Cell]:
    cells = []
    for n, epsilon in ((8000, 0.5), (1500, 2.0), (400, 8.0)):
        for share in (0.8, 0.3):
            at = f"Podium, {100 * share:.0f} % answered, n = {n}, ε = {epsilon:g}"
            for what, name in (("answered", "share who answered"), ("mean", "mean of who answered")):
                cells.append(_cell("optional", f"{name}, {at}", optional(what, n, epsilon, share)))
            run = optional("variance", n, epsilon, share)
            cells.append(Cell("optional", f"variance of who answered, {at}", run, 0.92, 0.98, 800))
    for n in (100, 1200):
        run = optional("variance", n, 8.0, 0.3)
        name = f"variance of who answered, Podium, 30 % answered, n = {n}, ε = 8"
        cells.append(Cell("optional", name, run, 0.92, 0.98, 800))
    for n, epsilon in ((12_000, 1.0), (1500, 4.0)):
        for share in (0.8, 0.3):
            at = f"SW, {100 * share:.0f} % answered, n = {n}, ε = {epsilon:g}"
            smooth: Any = {"kind": dt.SW, "method": "empirical bayes"}
            run = optional("quantile", n, epsilon, share, **smooth)
            name = f'median of who answered, "empirical bayes", {at}'
            cells.append(_cell("optional", name, run, most=1.0, repetitions=200))
            run = optional("bands", n, epsilon, share, dt.SW)
            name = f"bands of 16 bins of who answered, {at}"
            cells.append(_cell("optional", name, run, most=1.0, repetitions=100))
    return cells


ARMS: Final = {"none": 2.0, "half": 3.0, "full": 4.0}  # values of an arm are Beta(a, 5)


def experiment(n: int, epsilon: float, what: str) -> Run:
    """Three arms of n people, asked by Podium: own contrasts, a test of all, a difference at any time."""
    asked = dt.Podium(UNIT, epsilon=epsilon, cells=1 << 12)
    own: dict[str, dict[Any, float]] = {
        "any": {"none": -1.0, "half": 0.5, "full": 0.5},
        "more": {"half": -1.0, "full": 1.0},
    }
    true = {name: a / (a + 5.0) for name, a in ARMS.items()}

    def run(rng: Rng, source: dt.Seeded) -> Any:
        if what == "waves":  # a row for each person and wave, in any order
            order = rng.permutation(2 * n)
            ids, after = order % n, order >= n
            values = 0.9 * rng.beta(0.5, 0.5, n)[ids] + 0.1 * after
            groups = dt.estimate(asked.perturb(values, source=source), by=after, person=ids, minimum=2)
            return (groups[True] - groups[False]).covers(0.1)
        if what == "weighted":  # one half was asked a third as often, and has other values
            old = rng.random(2 * n) < 0.5
            kept = ~old | (rng.random(2 * n) < 1 / 3)
            values, heavy = rng.beta(np.where(old, 5, 2), 3), np.where(old, 3.0, 1.0)
            parts = [np.flatnonzero(kept[:n]), n + np.flatnonzero(kept[n:])]
            told = [asked.perturb(values[part], source=source) for part in parts]
            weights = heavy[parts[0]], heavy[parts[1]]
            return dt.stats.same_distribution(*told, weights=weights).p_value > 0.05
        alike = what == "equal"
        arms = {
            name: dt.mean(asked.perturb(rng.beta(2.0 if alike else a, 5.0, n), source=source))
            for name, a in ARMS.items()
        }
        if alike:
            return dt.stats.equal_groups(arms).p_value > 0.05
        if what == "any time":
            return (arms["full"] - arms["none"]).at_any_time().covers(true["full"] - true["none"])
        found = dt.stats.contrasts(arms, own)
        truth = {name: sum(w * true[arm] for arm, w in parts.items()) for name, parts in own.items()}
        return all(row["low"] <= truth[row["contrast"]] <= row["high"] for row in found)

    return run


def _experiments() -> list[Cell]:
    cells = []
    for n in (100, 1000, 10_000):
        for epsilon in (1.0, 4.0):
            for what, name, most in (
                ("contrasts", "two own contrasts of three arms at once", 1.0),  # Bonferroni
                ("equal", "three equal arms are accepted at 5 % (Welch)", 0.98),
                ("any time", "difference of two arms, at any time", 1.0),  # at one of all looks
                ("waves", "difference of two waves in long form", 0.98),
                ("weighted", "equal distributions of weighted groups are accepted at 5 %", 0.98),
            ):
                at = f"{name}, Podium, n = {n}, ε = {epsilon:g}"
                many = 400 if n < 10_000 else 200
                cells.append(Cell("experiments", at, experiment(n, epsilon, what), 0.92, most, many))
    return cells


def cells() -> list[Cell]:
    """Return every cell."""
    return [*_weights(), *_groups(), *_regressions(), *_experiments(), *_optional()]


TITLES: Final = {
    "weights": "weighted people",
    "groups": "private groups, and shares within rows and columns",
    "regressions": "regressions on several regressors",
    "experiments": "contrasts, waves and tests of several groups",
    "optional": "numbers that may be missing",
}


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        record(cells(), sys.argv[1:])
    for section, title in TITLES.items():
        write(ROOT / "docs" / "coverage.md", page(cells(), section, title), f"desk, {section}")
