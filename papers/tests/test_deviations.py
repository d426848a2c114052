"""Every number of docs/deviations.md is computed here, expected of a figure, or quoted from a paper.

An item is found by the first words of its text. `COMPUTED` has a function for it that returns numbers, and
`FIGURES` the figures whose expected numbers it takes. `QUOTED` are numbers that a paper or the authors'
tables print, and the parameters of an item, as they are written on the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.numerics.roots import smallest_float
from dither.mechanisms.numeric.ogpm import OGPMU
from dither_papers import Setting, figures
from dither_papers.reproduce import deviations
from dither_papers.tracs.coded import CORNER
from dither_papers.tracs.measuring import SQUARE, average_error, random_paths
from dither_papers.tracs.published import PUBLISHED as CURVES
from tests.support.repository import DATA, ROOT

UNIT, CENTRED = dt.Interval(0, 1), dt.Interval(-0.5, 0.5)
QUICK = Setting(quick=True, data=DATA if DATA.is_dir() else None)


def numbers(words: str) -> Iterator[str]:
    """Yield the numbers of an item that have decimals or are percentages."""
    words = re.sub(
        r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\[(?=[A-Z])[^\]]*\]|"
        r"(?:Figures?|Lemma|Sec\.) [\dD.]+b?(?:(?:,| and) [\dD.]+)*",
        "",
        words,
    )
    for token in re.findall(r"(?<![\w.,])\d+(?: \d{3})*(?:\.\d+)?(?: %)?", words):
        if "." in token or "%" in token:
            yield token


def items() -> list[str]:
    return [words for section in deviations().values() for _, words in section]


def shows(token: str, value: float) -> bool:
    """Return whether a number, rounded or cut off, is written as this token."""
    plain = token.removesuffix(" %").replace(" ", "")
    digits = len(plain.partition(".")[2])
    scaled = abs(value) * (100.0 if token.endswith("%") else 1.0)
    return abs(scaled - float(plain)) <= 0.51 * 10.0**-digits


def normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


# --- what is computed ---------------------------------------------------------------------------------------


def squares() -> list[float]:
    return [
        dt.OGPM(UNIT, epsilon=epsilon).worst_error("squared")
        / dt.OGPM(UNIT, epsilon=epsilon, loss="squared").worst_error("squared")
        - 1.0
        for epsilon in (4, 8)
    ]


def naive_bounded() -> list[float]:
    mass = {x: 0.5 * (2.0 - math.exp(-2.0 * x) - math.exp(-2.0 * (1.0 - x))) for x in (0.0, 0.5)}
    return [math.log(math.exp(1.0) * mass[0.5] / mass[0.0])]  # at the report 0, b = Δ/ε = 1/2


def crossing(better: Callable[[float], bool], low: float, high: float) -> float:
    """Return the smallest ε from which on `better` is False, to four digits."""
    return smallest_float(lambda epsilon: not better(epsilon), low, high, steps=16)


def worst(kind: Any, epsilon: float) -> float:
    return float(kind(epsilon).worst_error("absolute"))


def ogpm(epsilon: float) -> Any:
    return dt.OGPM(UNIT, epsilon=epsilon)


def t_pm(epsilon: float) -> Any:
    return dt.PM(UNIT, epsilon=epsilon).truncated()


def t_sw(epsilon: float) -> Any:
    return dt.SW(UNIT, epsilon=epsilon).truncated()


def truncated() -> list[float]:
    found = [worst(kind, epsilon) for kind in (ogpm, t_sw) for epsilon in (1.0, 2.0)]
    found += [worst(kind, 4.0) for kind in (ogpm, t_pm)]
    found.append(crossing(lambda epsilon: worst(t_sw, epsilon) < worst(ogpm, epsilon), 3.0, 4.0))
    return [*found, crossing(lambda epsilon: worst(t_sw, epsilon) < worst(t_pm, epsilon), 2.0, 3.5)]


def laplace_at_the_ends() -> list[float]:
    def error(epsilon: float) -> float:
        return float(dt.Laplace(UNIT, epsilon=epsilon).truncated().error("absolute", 0.0))

    equal = crossing(lambda epsilon: error(epsilon) < ogpm(epsilon).error("absolute", 0.0), 3.0, 5.0)
    return [equal, error(1.0), float(ogpm(1.0).error("absolute", 0.0))]


def one_run_of_means() -> list[float]:
    """Return the average error of OGPM-U's mean over the authors' data at ε = 1: √(2/π) standard errors."""
    from pyarrow import parquet

    walk = (
        parquet.read_table(DATA / "motionsense_dws1_sub1-3.parquet").column("userAcceleration.x").to_numpy()
    )
    values = (walk - walk.min()) / (walk.max() - walk.min())
    variance = float(np.mean(OGPMU(UNIT, epsilon=1).variance(values)))
    return [math.sqrt(2.0 / math.pi * variance / values.size)]


def podium(epsilon: float) -> float:
    return float(dt.Podium(CENTRED, epsilon=epsilon).worst_error("squared"))


def podium_and_rivals() -> list[float]:
    found = [1.0 - podium(1.0) / 2.0]  # Laplace has 2/ε²
    for kind, low, high in ((dt.Duchi, 1.0, 1.5), (dt.Hybrid, 2.0, 2.6)):
        found.append(
            crossing(
                lambda epsilon, kind=kind: (
                    kind(CENTRED, epsilon=epsilon).worst_error("squared") < podium(epsilon)
                ),
                low,
                high,
            )
        )
    return found


def podium_at_zero() -> list[float]:
    shape = dt.Podium(CENTRED, epsilon=1.0).shape().width
    t = (1.0 - shape) / shape  # e^s
    printed = (1 + t + math.e + 1 / t) * (1 + 1 / t) * (1 + t) / (12.0 * math.expm1(1.0) ** 2)
    return [printed, float(dt.Podium(CENTRED, epsilon=1.0).variance(0.0))]


def podium_limits() -> list[float]:
    made = dt.Podium(CENTRED, epsilon=50.0)
    largest, centre = podium(50.0), float(made.variance(0.0))
    third = dt.Podium(CENTRED, epsilon=50.0, approximate=True).worst_error("squared")
    staircase = float(dt.Staircase(CENTRED, epsilon=50.0, loss="squared").variance(0.0))
    return [third / largest, centre / largest, centre / staircase, largest / staircase]


def naive_gamma() -> list[float]:
    b = math.exp(-1e-6)
    return [-b / (1 - b) + (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3) / (2 ** (1 / 3) * (1 - b) ** 2)]


def naive_wave() -> list[float]:
    epsilon = 1e-8
    e = math.exp(epsilon)
    return [(epsilon * e - e + 1.0) / (2.0 * e * (e - 1.0 - epsilon))]


def planar_mass() -> list[float]:
    b, gamma = math.exp(-1.0), 0.6975328256  # the best γ at ε = 1
    inner, ring = b + (1 - b) * gamma, (1 - b) * (b + (1 - b) * gamma**2)
    return [(2 * b * inner + ring) / (b * inner + ring)]


def focused() -> list[float]:
    return [float(dt.optimal.Focused(UNIT, epsilon=1, focus=x).pdf(x, x)) for x in (0.0, 0.1, 0.2)]


def shared_coins() -> list[float]:
    few = dt.JRR(dt.Categories(2), p=Fraction(7, 10), rho=1 - 1 / Fraction(7, 10), n=6)
    many = dt.JRR.heuristic(dt.Categories(2), epsilon=0.01, n=10_000)
    return [
        few.theorem_3(2),
        few.accounting("hidden", colluders=2).epsilon,
        dt.JRR.heuristic(dt.Categories(2), epsilon=0.01, n=200).theorem_3(100),
        many.accounting("informed", delta=1e-6).epsilon,
    ]


def heuristic() -> list[float]:
    return [dt.JRR.heuristic(dt.Categories(2), epsilon=1.0, n=10_000).theorem_3(1700)]


def stuck_at_the_corner() -> list[float]:
    paths = random_paths(SQUARE, 200_000, 1, dt.Seeded(1))
    reported = dt.TraCSD(SQUARE, epsilon=2, start=CORNER).perturb(paths, source=dt.Seeded(2)).values
    return [float((np.abs(reported) < 1e-6).all(axis=-1).mean())]


def seldom_lies() -> list[float]:
    budget = 2.0 * math.pi / (math.pi + 1.0)
    return [budget, math.log(6.0 * (4.0 + math.exp(budget)))]


def mean_of(curve: tuple[float, ...]) -> float:
    return math.fsum(curve) / len(curve)


def expected_curve(name: str, version: str, mechanism: str) -> list[float]:
    where = {"version": version, "mechanism": mechanism}
    (figure,) = figures("tracs", name)
    return [number.value for number in figure.expected if where.items() <= dict(number.where).items()]


def waves() -> list[float]:
    walk = expected_curve("figure 6.4a", "right", "TraCS-D from the corner")
    wave = expected_curve("figure D.5", "right", "TraCS-D (R-SW)")
    return [mean_of(tuple(walk)) / mean_of(tuple(wave))]


def staircase_response() -> list[float]:
    from dither_papers.tracs.rivals import chosen, points_of

    points = points_of(chosen(QUICK, "chi"))
    return [
        make(SQUARE, points, epsilon=2).guarantee.epsilon
        for make in (dt.rivals.LSRR.as_published, dt.rivals.LSRR.as_meant)
    ]


def references() -> list[float]:
    paths = random_paths(SQUARE, 2_000, 100, dt.Seeded(1))
    found = [1.0 / (math.pi + 1.0) / 2.0]
    for kind in ("fixed", "last"):
        for epsilon in (2, 4, 8):
            walk = dt.TraCSD(SQUARE, epsilon=epsilon, **({} if kind == "last" else {"reference": "fixed"}))
            found.append(average_error(paths, walk.perturb(paths, source=dt.Seeded(2))))
    return found


def tokyo() -> list[float]:
    curves = CURVES["fig6.7_tky"]
    return [mean_of(curves[name]) / mean_of(curves["strawman"]) for name in ("TraCS-D", "TraCS-C")]


def chicago() -> list[float]:
    from dither_papers.tracs.rivals import chosen

    town = chosen(QUICK, "chi")
    return [*town.corner, *(town.corner + town.degrees)]


def at_the_end() -> list[float]:
    printed = 1.0 - math.exp(-1.0) * (1.0 - 2 * 0.05)
    return [printed, float(dt.classifiers.concentration(ogpm(2.0), (-0.05, 0.05), 0.0))]


def indicator() -> list[float]:
    return [0.9 * math.e / (1.0 + math.e) + 0.1]


def sigma() -> list[float]:
    log = math.log(2.0 / 0.1)
    printed = math.sqrt(0.5) * (math.sqrt(log + 1.0) + math.sqrt(log))
    exact = smallest_float(lambda s: normal_cdf(0.5 / s - s) <= 0.1, 0.5, 4.0, steps=20)
    analytic = smallest_float(
        lambda s: normal_cdf(0.5 / s - s) - math.e * normal_cdf(-0.5 / s - s) <= 0.1, 0.5, 4.0, steps=20
    )
    return [printed, exact, analytic]


def examples() -> list[float]:
    grids = ([step / 100 for step in range(100)], [step / 100 for step in range(101)])
    reports = [dt.KRR(dt.Categories(grid), epsilon=2) for grid in grids]

    def near(epsilon: float) -> float:
        return float(dt.classifiers.concentration(dt.Laplace(UNIT, epsilon=epsilon), (0.2, 0.8), 0.5))

    return [
        float(dt.classifiers.concentration(ogpm(2.0), (0.2, 0.8), 0.5)),
        near(2.0),
        smallest_float(lambda epsilon: near(epsilon) >= 0.8, 4.0, 6.0, steps=16),
        2.0 * math.log(2.0),  # the window of width 0.6·… is [0.2, 0.8] when 1/(1 + e^(ε/2)) ≤ 1/3
        *(float(dt.classifiers.concentration(kind, (0.2, 0.8), 0.5)) for kind in reports),
    ]


def exponential() -> list[float]:
    points = [step / 100 for step in range(101)]
    full, half = (
        dt.Exponential(UNIT, points, epsilon=2, as_published=printed).worst_error("absolute")
        for printed in (False, True)
    )
    from dither_papers.classifiers.data import Person
    from dither_papers.classifiers.people import PLANES

    kept = [
        dt.classifiers.utility(
            PLANES[Person.STROKE],
            Person.STROKE.values,
            dt.Exponential(UNIT, points, epsilon=epsilon, as_published=printed),
        ).estimate
        for printed in (False, True)
        for epsilon in (1, 2, 4, 8)
    ]
    return [full, half, *kept]


def near_the_value() -> list[float]:
    grid = np.linspace(0.0, 1.0, 401).tolist()
    kinds = (ogpm(2.0), dt.SW(UNIT, epsilon=2).redesigned())
    found = [math.exp(2) / (math.exp(2) + 4)]
    return found + [
        min(float(dt.classifiers.concentration(kind, (x - 0.1, x + 0.1), x)) for x in grid) for kind in kinds
    ]


def two_answers() -> list[float]:
    """Return the regression's utility on 100 stroke records: 2-RR by dither, the tie the other way, OGPM."""
    from dither_papers.classifiers.data import trained

    own = trained(QUICK, "stroke").linear
    rows = own.first(100)
    found: list[float] = []
    for kind in (partial(dt.classifiers.best_for, 0.25), partial(dt.OGPM, UNIT)):
        for epsilon in (1, 2, 4, 8):
            each = own.each(kind(epsilon=epsilon))
            found.append(dt.classifiers.over_records(own.model, rows, each, names=own.names).average.estimate)
    # Without the library: the four records that 2-RR can report, and the values moved to 0.25 or 0.75.
    values, answers = rows[:, own.columns], own.model.predict(rows)
    upper = values > 0.5
    for epsilon in (1, 2, 4, 8):
        truth = 1.0 / (1.0 + math.exp(-epsilon))
        kept = np.zeros(len(rows))
        for report in ((0, 0), (0, 1), (1, 0), (1, 1)):
            reported = rows.copy()
            reported[:, own.columns] = 0.25 + 0.5 * np.array(report)
            chance = np.where(upper == np.array(report, dtype=bool), truth, 1.0 - truth).prod(axis=1)
            kept += chance * (own.model.predict(reported) == answers)
        found.append(float(kept.mean()))
    print([round(number, 4) for number in found])
    return found


def best_shares() -> list[float]:
    return [dt.maps.best_split(dt.TraCSD(SQUARE, epsilon=epsilon)) for epsilon in (4, 10)]


COMPUTED: dict[str, Callable[[], list[float]]] = {
    "**OGPM for squared error": squares,
    "**OGPM does not distinguish": lambda: [ogpm(1.0).shape().width],
    "**The printed bounded Laplace": naive_bounded,
    "**Truncated PM and SW": truncated,
    "**T-Laplace is below": laplace_at_the_ends,
    "Its abstract's": podium_and_rivals,
    "**Lines 2 and 3": podium_at_zero,
    '**"Asymptotically equivalent': lambda: podium_limits()[-1:],
    "**The rows 40 and 50": podium_limits,
    "The printed variance-optimal": naive_gamma,
    "**SW's b cancels": naive_wave,
    "**The printed constant of the 2-D": planar_mass,
    '**"Does not leak': focused,
    "**Theorem 3 is not": shared_coins,
    "**The published heuristic": heuristic,
    '**"With probability 99 %': lambda: [2.0 * normal_cdf(1.0) - 1.0],
    "**k-RR lies": seldom_lies,
    "**The redesigned SW inside": waves,
    "**The first reference": stuck_at_the_corner,
    "**Averages are over": lambda: [1.0 / 10.0],
    '**"TraCS-D is 96.8': tokyo,
    "**Concentration is": at_the_end,
    "**Theorem 17": indicator,
    "**Theorem 18": sigma,
    "**Numbers of the examples": examples,
    "**The exponential mechanism of": exponential,
    "**TraCS-D takes 0.06": lambda: [0.06 / 100.9],
    '**"Θ(e^': references,
}
WITH_DATA: dict[str, Callable[[], list[float]]] = {
    "**Figure 17a": one_run_of_means,
    "**L-SRR**": staircase_response,
    "**The box of Chicago": chicago,
}
SLOW: dict[str, Callable[[], list[float]]] = {
    "**The heuristic split": best_shares,
    '**"PM is generally': lambda: near_the_value() + two_answers(),
}
LOOSE = {'**"Θ(e^': 0.02, "**The first reference": 0.01, "**The heuristic split": 0.02}  # simulated
FIGURES: dict[str, tuple[tuple[str, str], ...]] = {
    "**The printed conditional distribution": (("add_remove", "figure 4"),),
    '**"Outperforms on small': (("add_remove", "figure 5a"),),
    "**The polar split": (("ogpm", "figure 7"),),
    '**"Optimal up to 17 %': (("jrr", "figure 4.2"),),
    '**"Better at all': (("jrr", "figure 4.3"), ("jrr", "figure 4.5")),
    "**The first reference": (("tracs", "figure 6.7"),),
    "**Errors of directions": (("tracs", "figure 6.6"),),
    "**ATP**": (("tracs", "figure 6.8a"),),
    "**Grids called": (("tracs", "figure 6.8a"),),
    "**At equal ε NGram": (("tracs", "figure 6.9"),),
    "**Planar Laplace with": (("tracs", "figure 6.4b"),),
    "**Laplace and Gaussian reports": (("classifiers", "figure 7.5"),),
    "**Example 15": (("classifiers", "figure 7.2"),),
}
TESTS = {  # numbers that another test checks, in the same words
    "**The published bound": ("papers/tests/test_boxes.py", "0.036 0.99"),
    "**Utility need not grow": ("papers/tests/test_case_studies.py", "0.277 0.056"),
    "**At equal ε NGram": ("papers/tests/test_tracs.py", "0.0802 0.0752 0.0702 0.0922 0.0769 0.0632 5.2"),
}
QUOTED = {  # printed in the papers or in the authors' tables, and parameters
    "**At x = 0": "89.9 %",
    "**Figure 17a": "0.0038",
    "**Table I is not": "1.6",
    "Its abstract's": "70 %",
    "**The printed conditional distribution": "0.5 0.75 0.9 0.99",
    '**"Outperforms on small': "0.01",
    '**"Does not leak': "0.1 0.2",
    "**The polar split": "1.32 5.69",
    "**The bilinear programs": "0.07",
    "**Theorem 3 is not": "0.7 0.01",
    "**The published heuristic": "17 %",
    "**Doubles leave": "2.8",
    '**"Optimal up to 17 %': "17 % 0.1 10 % 0.9 0.01",
    '**"With probability 99 %': "99 %",
    '**"Better at all': "0.001 1.90 1.68 1.77 1.22 0.748 0.733 0.667",
    "**The redesigned SW inside": "52.6 %",
    '**"TraCS-D is 96.8': "96.8 %",
    "**The box of Chicago": "87.9 87.5",
    "**Concentration is": "0.05",
    "**The published bound": "0.0003",
    "**Searches test many": "100 %",  # the facts' certificate_validity: 67 to 100 %
    "**Theorem 17": "0.1",
    "**Theorem 18": "0.1",
    "**Example 15": "0.215",
    "**Numbers of the examples": "0.3 0.86 0.46 0.8 5.2 1.8 0.63 0.99",
    '**The "randomly selected': "1.56",
    "**The square of radius": "0.2 0.5 0.3 0.7 0.4 0.6",
    '**"PM is generally': "0.1",
    "**TraCS-D takes 0.06": "0.05 % 0.06 100.9",
}


NUMBERED = [words for words in items() if any(numbers(words))]


def key_of(words: str) -> str:
    """Return the beginning of an item under which the tables have it."""
    tables = (COMPUTED, WITH_DATA, SLOW, FIGURES, TESTS, QUOTED)
    found = {key for table in tables for key in table if words.startswith(key)}
    assert len(found) == 1, f"no test computes the numbers of: {words[:80]}"
    return found.pop()


@cache
def figure_numbers(paper: str, name: str) -> tuple[float, ...]:
    """Return the numbers that are expected of a figure, and the published curves behind it."""
    (figure,) = figures(paper, name)
    begin = name.replace("figure ", "fig")
    curves = [
        curve
        for key in CURVES
        if paper == "tracs" and key.startswith(begin)
        for curve in CURVES[key].values()
    ]
    return (*(number.value for number in figure.expected), *(value for curve in curves for value in curve))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=[pytest.mark.slow] if words.startswith(tuple(SLOW)) else [])
        for words in NUMBERED
    ],
    ids=lambda words: " ".join(re.findall(r"\w+", words)[:4]),
)
@pytest.mark.some(every=3)
def test_every_number_is_computed(words: str) -> None:
    key = key_of(words)
    if key in (*WITH_DATA, *SLOW) and not DATA.is_dir():
        pytest.skip("the papers' data are not here")
    made = [value for table in (COMPUTED, WITH_DATA, SLOW) if key in table for value in table[key]()]
    loose = LOOSE.get(key, 0.0)

    def is_shown(token: str, value: float) -> bool:
        return shows(token, value) or (
            loose > 0.0 and "%" not in token and math.isclose(float(token), value, rel_tol=loose)
        )

    wrong = [value for value in made if not any(is_shown(token, value) for token in numbers(words))]
    assert wrong == [], words
    known = [value for paper, name in FIGURES.get(key, ()) for value in figure_numbers(paper, name)]
    known += [float(value) for value in TESTS.get(key, ("", ""))[1].split()]
    quoted = re.findall(r"[\d.]+(?: %)?", QUOTED.get(key, ""))
    missing = [
        token
        for token in numbers(words)
        if token not in quoted
        and not any(is_shown(token, value) for value in made)
        and not any(shows(token, value) for value in known)
    ]
    assert missing == [], words


def test_the_tables_are_about_items_of_the_page() -> None:
    for table in (COMPUTED, WITH_DATA, SLOW, LOOSE, FIGURES, TESTS, QUOTED):
        for key in table:
            assert sum(words.startswith(key) for words in NUMBERED) == 1, key
    for file, found in TESTS.values():
        text = (ROOT / file).read_text(encoding="utf-8")
        assert all(
            re.search(rf"(?<![\d.])0?{re.escape(number.lstrip('0'))}(?!\d)", text) for number in found.split()
        )
