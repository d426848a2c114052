"""Write tables of docs/limits.md: of one value, of one place and of a mean.

python -m tools.limits          computes those of values and means, and measures places that are not recorded
python -m tools.limits places   makes the tables of places from the record alone
python -m tools.limits questions   computes the table of all questions of a campaign

tests/docs/test_limits.py computes the table of frequencies again, and compares those of distributions, of
ranges and of tables with the runs that tools/benchmarks/ and docs/frequencies_sums.md record.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.advice.ask import default_mechanism
from dither.advice.catalogue import default_protocol
from dither.advice.compare import average_variance
from dither.estimation.frequency import read
from dither.estimation.linear import length_factor
from dither.estimation.reading import least_variance_reading, optional_reading
from dither.foundation.losses import absolute
from dither.mechanisms.marginals import table_of_pairs
from dither.mechanisms.optimal.problem import known_optimum, least_frequency_variance
from dither.mechanisms.optimal.queries.moments import FINE
from dither.mechanisms.places.planning import best_split
from tools.coverage import write

RECORDED = Path(__file__).parent / "recorded" / "places.json"
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
PLACE_BUDGETS = (1, 2, 4, 8)
SPOTS = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]])  # a corner, the middle of an edge, the centre


def _with_best_share(design: dt.TraCSD) -> dt.TraCSD:
    return replace(design, split=best_split(design))


BEST, SOLVED, BOTH = "best possible", '`Optimal`, `purpose="places"`', "`Optimal`, for places and maps"
EVEN, SHARED = '`Optimal`, `purpose="worst"`', "`TraCSD`, the best share"
OTHERS: dict[str, Any] = {
    "`TraCSC`": lambda epsilon: dt.TraCSC(SQUARE, epsilon=epsilon),
    "`TraCSC`, read at medians": lambda epsilon: dt.TraCSC(SQUARE, epsilon=epsilon).read("median"),
    "`TraCSD`": lambda epsilon: dt.TraCSD(SQUARE, epsilon=epsilon),
    SHARED: lambda epsilon: _with_best_share(dt.TraCSD(SQUARE, epsilon=epsilon)),
    "`PlanarStaircase`": lambda epsilon: dt.PlanarStaircase(SQUARE, epsilon=epsilon),
    "`PlanarLaplace`": lambda epsilon: dt.PlanarLaplace(SQUARE, epsilon=epsilon),
    "`Gridding`": lambda epsilon: dt.rivals.Gridding(SQUARE, epsilon=epsilon),
}
PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
FREQUENCIES = PAGE.with_name("frequencies.md")
UNIT = dt.Interval(0, 1)
BUDGETS = (0.5, 1, 2, 4)


def value_row(epsilon: float) -> list[float]:
    """Return ε, the bound, and the worst expected distance of one report of each mechanism."""
    solved = dt.Optimal(UNIT, epsilon=epsilon, loss="absolute").certificate
    made: list[Any] = [dt.OGPM(UNIT, epsilon=epsilon)]
    made += [kind(UNIT, epsilon=epsilon).truncated() for kind in (dt.SW, dt.PM, dt.Laplace)]
    return [
        epsilon,
        solved.bound,
        solved.error,
        *(float(mechanism.worst_error("absolute")) for mechanism in made),
    ]


def mean_row(epsilon: float) -> list[float]:
    """Return ε, the bound, and the worst variance of what `dt.mean` averages, for each mechanism."""
    solved = dt.Optimal(UNIT, epsilon=epsilon, unbiased=True).certificate
    kinds = (dt.Hybrid, dt.Podium, dt.PM, dt.SW, dt.Duchi, dt.Laplace)
    return [epsilon, solved.bound, solved.error, *(worst(kind(UNIT, epsilon=epsilon)) for kind in kinds)]


def worst(mechanism: Any) -> float:
    """Return the largest variance of the number by which `dt.mean` reads a report."""
    question, inputs = mechanism.question, np.linspace(0.0, 1.0, 129)
    operator = question.likelihood(inputs, question.outcomes)
    reading = least_variance_reading(question)
    assert reading is not None
    gaps = reading.values - 0.5
    return float((operator.backward(gaps**2) - (inputs - 0.5) ** 2).max())


SHAPES: dict[str, Any] = {
    "Zipf, exponent 1.1": lambda rank: rank**-1.1,
    "Zipf, exponent 0.6": lambda rank: rank**-0.6,
    "geometric, 0.98": lambda rank: 0.98**rank,
    "12 alike, others 0": lambda rank: 1.0 * (rank <= 12),
    "all alike": np.ones_like,
}
SIZES = (100, 1_000, 10_000, 100_000)
PROJECTED = ((1, 20_000), (1, 1_000_000), (4, 100_000))  # ε and n


def projected_ratio(shape: Any, k: int, epsilon: float, n: int, runs: int) -> float:
    """Return the squared error of posterior means ÷ that of the projection on the simplex, by OUE."""
    truth = shape(np.arange(1.0, k + 1.0))
    truth = truth / truth.sum()
    made = dt.OUE(dt.Categories(k), epsilon=epsilon)
    rng, (own, other) = np.random.default_rng(1), map(float, made.question.kernel.rates)
    errors = np.zeros(2)
    for _ in range(runs):
        people = rng.multinomial(n, truth)
        supports = rng.binomial(people, own) + rng.binomial(n - people, other)
        found = read(supports, n, made.question.kernel, range(k), made.guarantee)
        for at, made_possible in enumerate((found.projected(), found.projected("simplex"))):
            errors[at] += float(((np.asarray(made_possible.value) - truth) ** 2).sum())
    return float(errors[0] / errors[1])


def projected_table() -> str:
    """Return the table of `projected()`: a row for each shape, ε and n; a column for each k."""
    lines = [
        'Sum of squared errors of the posterior means ÷ sum of squared errors of `"simplex"`,',
        "simulated with `OUE`, 20 runs (3 from 10 000 categories on), by `python -m tools.limits`.",
        "",
        "| shares | ε | n | " + " | ".join(f"k = {k:,}".replace(",", " ") for k in SIZES) + " |",
        "|---|---|---|" + "---|" * len(SIZES),
    ]
    for name, shape in SHAPES.items():
        for epsilon, n in PROJECTED:
            ratios = (projected_ratio(shape, k, epsilon, n, 20 if k <= 1000 else 3) for k in SIZES)
            cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
            lines.append(f"| {name} | {epsilon} | {n:,} | {cells} |".replace(",000", " 000"))
    return "\n".join(lines)


PROFILES = ((2, 2, 2), (2, 3, 10), (2, 2, 2, 30), (3, 3, 3, 3), (5, 5, 5, 5), (2, 2, 2, 2, 2, 2))


def profile_table() -> str:
    """Return the table of `Marginals` of few small attributes: gain over pairs, and ratio to the bound."""
    budgets = (2, 3, 4, 6, 8)
    lines = [
        "| attributes | " + " | ".join(f"ε = {epsilon}" for epsilon in budgets) + " |",
        "|---|" + "---|" * len(budgets),
    ]
    for sizes in PROFILES:
        cells = []
        for epsilon in budgets:
            asked_of = dt.Profile({f"{at}": dt.Categories(k) for at, k in enumerate(sizes)})
            survey = dt.Marginals(asked_of, epsilon=epsilon)
            asked = max(len(places) for places, _ in survey.plan.functions)
            kind = "lines" if survey.plan.field else f"{asked} together"
            gain = table_of_pairs(sizes, epsilon, 2).variance / survey.average_variance
            cells.append(f"{gain:.2f}, {survey.average_variance / survey.bound:.2f} ({kind})")
        lines.append(f"| {', '.join(map(str, sizes))} | {' | '.join(cells)} |")
    return "\n".join(lines)


SETS = ((20, 3), (100, 10), (1_000, 5), (1_000, 20), (10_000, 5), (100_000, 10))
LISTS = (100, 1_000, 10_000, 31_622, 100_000)
LIST_BUDGETS = (0.5, 1, 2, 4, 5, 6, 7, 8)


def set_table() -> str:
    """Return what the default of a question about sets has: variance ÷ bound, report and bytes."""
    lines = ["| items, of a person | " + " | ".join(f"ε = {epsilon}" for epsilon in BUDGETS) + " |"]
    lines.append("|---|" + "---|" * len(BUDGETS))
    for items, most in SETS:
        made = [dt.SetResponse(dt.Several(items, most=most), epsilon=epsilon) for epsilon in BUDGETS]
        cells = (f"{1 + one.gap:.2f} ({one.report}, {one.report_bytes})" for one in made)
        lines.append(f"| {items:,}, {most} | {' | '.join(cells)} |".replace(",000", " 000"))
    return "\n".join(lines)


def list_table() -> str:
    """Return what the default of a question with a list of answers has: variance ÷ bound."""
    lines = ["| answers | " + " | ".join(f"ε = {epsilon}" for epsilon in LIST_BUDGETS) + " |"]
    lines.append("|---|" + "---|" * len(LIST_BUDGETS))
    for k in LISTS:
        cells = []
        for epsilon in LIST_BUDGETS:
            made: Any = default_protocol(dt.Categories(k), float(epsilon))
            cells.append(f"{made.variance(1 / k) / least_frequency_variance(k, float(epsilon)):.3f}")
        lines.append(f"| {k} | {' | '.join(cells)} |")
    return "\n".join(lines)


def moment_table() -> str:
    """Return the predicted errors of a covariance of two numbers, and ratios of variances to the bound."""
    fine = f"`JointMoments(pieces={FINE[2]})`"
    lines = [f"| ε | `JointMoments` | {fine} | `Each` of `Podium` |", "|---|---|---|---|"]
    two = dt.Box({"x": UNIT, "y": UNIT})
    goal = dt.goals.Covariance(n=20_000)
    for epsilon in (0.5, 1, 2, 4, 8):
        cells = []
        for pieces in (None, FINE[2]):
            solved = dt.optimal.JointMoments(two, epsilon=epsilon, pieces=pieces)
            cells.append(f"{goal.error(solved):.5f}, {solved.weighted_variance / solved.bound:.3f}")
        each = dt.Each({name: dt.Podium(UNIT, epsilon=epsilon / 2) for name in "xy"})
        lines.append(f"| {epsilon} | {' | '.join(cells)} | {goal.error(each):.5f} |")
    return "\n".join(lines)


Ratio = Callable[[float], "float | None"]
_GOOD = 1.05  # the goal: at most 5 % more error than the smallest possible


def _mean_ratio(epsilon: float) -> float:
    """Return the error of the recommended mean ÷ the bound."""
    solved = dt.Optimal(UNIT, epsilon=epsilon, unbiased=True).certificate
    return float((solved.error / solved.bound) ** 0.5)


def _default_mean_ratio(epsilon: float) -> float:
    """Return the error of the mean of a campaign that names no mechanism ÷ the bound."""
    bound = dt.Optimal(UNIT, epsilon=epsilon, unbiased=True).certificate.bound
    kind, more = default_mechanism(UNIT, epsilon)
    return float((worst(kind(UNIT, epsilon=epsilon, **more)) / bound) ** 0.5)


def _optional_ratio(epsilon: float) -> float:
    """Return the error of the mean of those who answered ÷ the bound, for a mean anywhere in the domain.

    Values u are spread evenly from −1 to 1, and a third of the people do not answer. With r = 1 for an
    answer, the error of Σ r·u / Σ r is that of r·(u − mean). Averaged over means spread evenly, it is the
    variance of r·u plus a third of that of r: a workload of two queries.
    """
    kind, more = default_mechanism(dt.Nullable(UNIT), epsilon)
    kernel = kind(dt.Nullable(UNIT), epsilon=epsilon, **more).question.kernel
    reading = optional_reading(kernel)
    assert reading is not None
    u = np.append(np.linspace(-1.0, 1.0, 17), np.full(8, np.nan))
    answered = 1.0 - np.isnan(u)
    queries = np.array([np.where(answered, u, 0.0), 3.0**-0.5 * answered])
    table = np.array([2.0 * reading.values - reading.answered, 3.0**-0.5 * reading.answered])
    laws = np.array([kernel.likelihoods(np.arange(kernel.outcomes), (x + 1.0) / 2.0) for x in u])
    variance = float((laws @ table.T**2 - queries.T**2).sum(axis=1).mean())
    return float((variance / dt.optimal.Workload.of(queries, epsilon, target=0.01).bound) ** 0.5)


def _value_ratio(epsilon: float) -> float:
    solved = dt.Optimal(UNIT, epsilon=epsilon, loss="absolute").certificate
    return float(solved.error / solved.bound)


def _frequency_ratio(k: int) -> Ratio:
    def ratio(epsilon: float) -> float:
        made = default_protocol(dt.Categories(k), epsilon)
        return float((average_variance(made) / least_frequency_variance(k, epsilon)) ** 0.5)

    return ratio


def _tables_ratio(*sizes: int) -> Ratio:
    def ratio(epsilon: float) -> float:
        survey = dt.Marginals(
            dt.Profile({f"{at}": dt.Categories(k) for at, k in enumerate(sizes)}), epsilon=epsilon
        )
        return float((survey.average_variance / survey.bound) ** 0.5)

    return ratio


def _moments_ratio(numbers: int) -> Ratio:
    def ratio(epsilon: float) -> float:
        domain: Any = UNIT if numbers == 1 else dt.Box(dict.fromkeys("abcd"[:numbers], UNIT))
        made = dt.optimal.JointMoments(domain, epsilon=epsilon, pieces=FINE.get(numbers))
        return float((made.weighted_variance / made.bound) ** 0.5)

    return ratio


def _cumulative_ratio(cells: int) -> Ratio:
    def ratio(epsilon: float) -> float:
        return float((1.0 + dt.optimal.Cumulative(UNIT, epsilon=epsilon, cells=cells).gap) ** 0.5)

    return ratio


def _place_ratio(epsilon: float) -> float | None:
    kept = places()
    best, solved = (kept.get(f"{name}, ε = {epsilon:g}") for name in (BEST, SOLVED))
    return None if best is None or solved is None else solved[0] / best[0]


def _direction_ratio(epsilon: float) -> float | None:
    turn = dt.Circle(360)
    least = known_optimum(turn, epsilon, absolute, "worst")
    return None if least is None else float(dt.OGPM(turn, epsilon=epsilon).worst_error("absolute")) / least


def direction_bound(epsilon: float) -> float:
    """Return the least variance of one report's vector, for a mean direction: docs/theory.md."""
    width, lift = np.linspace(0.0, 1.0, 10_001), np.expm1(epsilon)
    longest = float((lift * np.sin(np.pi * width) / np.pi / (1.0 + lift * width)).max())
    return 1.0 / longest**2 - 1.0


def _mean_direction_ratio(loss: Any) -> Ratio:
    """Return the error of a mean vector ÷ the bound, for people spread evenly."""

    def ratio(epsilon: float) -> float:
        longest = length_factor(dt.OGPM(dt.Circle(360), epsilon=epsilon, loss=loss).question)
        return float(((1.0 / longest**2 - 1.0) / direction_bound(epsilon)) ** 0.5)

    return ratio


def _sets_ratio(epsilon: float) -> float:
    return float((1.0 + dt.SetResponse(dt.Several(1_000, most=5), epsilon=epsilon).gap) ** 0.5)


def _unknown(epsilon: float) -> None:
    """Return None: no bound is known."""


# The question, by which mechanism it is asked, the ratio at an ε, and why it is above the goal where it is.
QUESTIONS: tuple[tuple[str, str, Ratio, str], ...] = (
    ("one value", "`Optimal`", _value_ratio, ""),
    ("a mean, recommended", "`Optimal(unbiased=True)`", _mean_ratio, ""),
    (
        "a mean, by default",
        "the default",
        _default_mean_ratio,
        "",
    ),
    (
        "the mean and variance of a number",
        f"`JointMoments(pieces={FINE[1]})`",
        _moments_ratio(1),
        "drawing a spline adds variance that does not fall with ε; the bound is for 20 values",
    ),
    (
        "moments of two numbers",
        f"`JointMoments(pieces={FINE[2]})`",
        _moments_ratio(2),
        "as above, 8 × 8 splines and 25 points",
    ),
    (
        "moments of three numbers",
        f"`JointMoments(pieces={FINE[3]})`",
        _moments_ratio(3),
        "as above, 4 splines a number and 27 points",
    ),
    (
        "moments of four numbers",
        "`JointMoments`",
        _moments_ratio(4),
        "3 splines a number. Too many inputs (81) to try every column: the bound is by multipliers or pairs",
    ),
    *(
        (f"frequencies; k = {k:,}".replace(",", " "), "the default", _frequency_ratio(k), why)
        for k, why in (
            (2, ""),
            (8, ""),
            (64, ""),
            (1024, ""),
            (16_384, ""),
            (100_000, ""),
        )
    ),
    (
        "cumulative shares, 32 cells",
        "`Cumulative`",
        _cumulative_ratio(32),
        "ε = 8: the bound is by parts of 24 cells, which ignore the other 8",
    ),
    ("cumulative shares, 128 cells", "`Cumulative`", _cumulative_ratio(128), ""),
    ("tables of 2, 2, 2", "`Marginals`", _tables_ratio(2, 2, 2), ""),
    (
        "tables of five attributes, 8 each",
        "`Marginals`",
        _tables_ratio(8, 8, 8, 8, 8),
        "bound of each table alone",
    ),
    (
        "tables of 3, 3, 3, 3",
        "`Marginals`",
        _tables_ratio(3, 3, 3, 3),
        "bound of each table separately, 81 cells",
    ),
    ("a place", '`Optimal`, `purpose="places"`', _place_ratio, ""),
    ("a direction, one value", "`OGPM`", _direction_ratio, ""),
    ("the mean direction", "`OGPM`", _mean_direction_ratio("absolute"), "the width is for single directions"),
    ("a mean direction, for squared errors", '`OGPM(loss="squared")`', _mean_direction_ratio("squared"), ""),
    (
        "sets of 5 of 1 000 items",
        "`SetResponse`",
        _sets_ratio,
        "the bound is probably not reached: searches found no better report, see Sets",
    ),
    (
        "the mean of an optional number",
        "the default",
        _optional_ratio,
        'ε = 0.5: the columns of the bound join values with "no answer", and windows do not. ε = 8: the '
        "bound is for 17 values",
    ),
    *(
        (question, by, _unknown, f"no bound is known{why}")
        for question, by, why in (
            ("a quantile", "`SW`", ": the least error depends on how smooth a distribution is assumed to be"),
            ("a distribution", "`SW`", ", for the same reason"),
            ("common texts", "`PEM`", ": the one of frequencies is for a known list"),
            ("a trip", "`TraCSD`", ""),
            ("a map", "`Optimal`", ", for the same reason as for a distribution"),
            ("kept answers that change", "`KeptChange`", ""),
        )
    ),
)


QUESTION_BUDGETS = (0.5, 1.0, 2.0, 4.0, 8.0)


def question_row(question: str, by: str, ratio: Ratio, why: str) -> str:
    """Return the row of a question: its error ÷ the smallest possible, and why that is above the goal."""
    found = [ratio(epsilon) for epsilon in QUESTION_BUDGETS]
    cells = " | ".join(
        "–" if value is None else f"{value:.3g}" if value >= 10 else f"{value:.3f}" for value in found
    )
    above = why if any(value is None or value > _GOOD for value in found) else ""
    return f"| {question} | {by} | {cells} | {above} |"


def question_table() -> str:
    """Return the table of every question that a campaign can ask: its error ÷ the smallest possible."""
    budgets = " | ".join(f"ε = {epsilon:g}" for epsilon in QUESTION_BUDGETS)
    lines = [f"| question | by | {budgets} | why above 1.05 |", "|---|---|" + "---|" * 6]
    for row in QUESTIONS:
        lines.append(question_row(*row))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def place_errors(name: str, epsilon: float) -> list[float]:
    """Return the mean error of people spread evenly, and those of the three spots."""
    if name == "the centre, without asking":
        return [(2**0.5 + np.log(1.0 + 2**0.5)) / 6.0]
    if name in (BEST, SOLVED, BOTH, EVEN):
        purpose: Any = {SOLVED: "places", EVEN: "worst", BEST: "places"}.get(name, "both")
        solver: Any = dt.Optimal
        made = solver(SQUARE, epsilon=epsilon, purpose=purpose)
        return [made.bound] if name == BEST else [made.average_error(), *made.error(SPOTS)]
    rng, source = np.random.default_rng(1), dt.Seeded(1)
    mechanism = OTHERS[name](epsilon)
    found = []
    for places in (rng.random((20_000, 2)), *(np.repeat(spot[None], 4000, axis=0) for spot in SPOTS)):
        told = mechanism.perturb(places[:, None, :], source=source).values[:, 0]  # paths of one location
        found.append(float(np.linalg.norm(told - places, axis=1).mean()))
    return found


def places() -> dict[str, list[float]]:
    """Return what was computed and measured for each mechanism and ε."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def record_places() -> None:
    """Compute and measure what is not recorded."""
    kept = places()
    for name in (BEST, SOLVED, BOTH, EVEN, *OTHERS, "the centre, without asking"):
        for epsilon in PLACE_BUDGETS:
            key = f"{name}, ε = {epsilon}"
            if key not in kept:
                kept[key] = [float(f"{error:.5g}") for error in place_errors(name, epsilon)]
                print(key, kept[key], flush=True)
                lines = (
                    f"{json.dumps(cell, ensure_ascii=False)}: {json.dumps(row)}" for cell, row in kept.items()
                )
                RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def place_tables() -> tuple[str, str]:
    """Return the two tables of places, from the record."""
    kept = places()
    head = ["| ε | 1 | 2 | 4 | 8 |", "|---|---|---|---|---|"]
    means, spots = head.copy(), head.copy()
    for name in (BEST, SOLVED, BOTH, *OTHERS, "the centre, without asking"):
        digits = ".4f" if name in (BEST, SOLVED, BOTH) else ".3f"
        cells = (format(kept[f"{name}, ε = {epsilon}"][0], digits) for epsilon in PLACE_BUDGETS)
        means.append(f"| {name} | {' | '.join(cells)} |")
    for name in (SOLVED, EVEN, "`TraCSC`", SHARED, "`PlanarStaircase`"):
        rows = (kept[f"{name}, ε = {epsilon}"][1:] for epsilon in PLACE_BUDGETS)
        spots.append(f"| {name} | {' | '.join(', '.join(f'{e:.2f}' for e in row) for row in rows)} |")
    return "\n".join(means), "\n".join(spots)


def with_rows(page: str, name: str, rows: list[list[float]], digits: str) -> str:
    """Return the page with other numbers in the table between the marks of a name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.split(begin)
    table, after = rest.split(end)
    lines = [
        "| " + " | ".join([f"{row[0]:g}", *(format(cell, digits) for cell in row[1:])]) + " |" for row in rows
    ]
    head, _, tail = re.split(r"((?:^\| [0-9].*\n)+)", table, maxsplit=1, flags=re.M)
    return before + begin + head + "\n".join(lines) + "\n" + tail + end + after


if __name__ == "__main__":
    if sys.argv[1:] == ["questions"]:
        write(PAGE, question_table(), "questions")
        sys.exit()
    if sys.argv[1:] != ["places"]:
        record_places()
    for table, mark in zip(place_tables(), ("places", "who pays"), strict=True):
        write(PAGE, table, mark)
    if sys.argv[1:] == ["places"]:
        sys.exit()
    write(PAGE, set_table(), "sets")
    write(PAGE, list_table(), "lists")
    write(PAGE, question_table(), "questions")
    write(FREQUENCIES, projected_table(), "posterior")
    write(PAGE.with_name("frequencies_sums.md"), profile_table(), "profiles")
    write(PAGE.with_name("groups_pairs.md"), moment_table(), "moments")
    text = PAGE.read_text(encoding="utf-8")
    text = with_rows(text, "values", [value_row(epsilon) for epsilon in BUDGETS], ".4f")
    text = with_rows(text, "means", [mean_row(epsilon) for epsilon in BUDGETS], "#.4g")
    PAGE.write_text(text, encoding="utf-8")
