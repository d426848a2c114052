"""`dt.compare`: all mechanisms for a domain in a table, with errors relative to the smallest possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.advice.catalogue import Candidate, on_a_line, on_categories, on_sets, solved_candidates
from dither.advice.curves import along_budgets, draw_curves, error_curve, frequency_curve
from dither.advice.vectors import on_vectors, squared_error
from dither.core.domains import Categories, Domain, Line, Profile, Vectors
from dither.core.question import check_epsilon
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.losses import CRITERIA, Criterion, Loss, Power, as_power, squared
from dither.foundation.numerics.quadrature import integrate
from dither.foundation.plotting import draw_rows, panels_or_new
from dither.foundation.tables import ResultTable, Row, show_column
from dither.mechanisms.analysis.analysis import Analysis
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.frequency.several import least_item_variance
from dither.mechanisms.marginals import Marginals
from dither.mechanisms.matrix import Matrix
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal.mechanism import Optimal
from dither.mechanisms.optimal.problem import Problem, known_optimum, least_frequency_variance
from dither.mechanisms.optimal.vectors import InBall

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.advice.goals.numbers import Goal
    from dither.advice.simulation import Progress


_INPUTS: Final = 2048  # evenly spaced inputs: the error of a solved mechanism is their average
_UNBIASED: Final = 1e-6  # a bias below this share of the domain's length counts as 0
TIE: Final = 1e-9  # errors this close to each other, relatively, are equal
EQUAL: Final = "= marks equal errors"
OVERLAP: Final = "= marks errors whose ranges overlap: the shape of the values matters more than the choice"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ResultTable):
    """The result of `dt.compare`: a table of mechanisms, the best first, with a `plot` method.

    `relative …` columns divide an error by the smallest possible one, or by the smallest found.
    """

    domain: Domain
    epsilon: float
    candidates: tuple[Candidate, ...]
    losses: tuple[Power, ...]
    goal: tuple[str, ...] = ()  # the columns of the errors that are predicted for a goal

    def plot(
        self, *, loss: Loss | None = None, count: int = 6, ax: Sequence[Axes] | None = None
    ) -> Sequence[Axes]:
        """Draw the best mechanisms in two panels: error against the value, and worst error against ε.

        `ax` is a pair of axes, such as `plt.subplots(1, 2)[1]`; the pair is returned. On categories the left
        panel shows the variance against the frequency. For a goal, and where errors do not depend on the
        value, bars are the errors of the table, a panel for each of them. Needs the extra `plot`.
        """
        drawn = [
            candidate
            for candidate in self.candidates
            if isinstance(candidate.mechanism, Analysis | CategoryMechanism)
        ]
        if self.goal or not drawn or (len(drawn) < len(self.candidates) and not self.losses):
            return self._draw_goal(self.goal or (self.columns[1],), count, ax)
        best = drawn[:count]
        if self.domain.listed is not None:
            here = [(candidate.name, frequency_curve(candidate)) for candidate in best]
            there = [
                (candidate.name, along_budgets(candidate, lambda made: made.question.variance(0.0)))
                for candidate in best
            ]
            return draw_curves(here, there, ("frequency", "variance of one report"), ax=ax)
        judged = self.losses[0] if loss is None else as_power(loss)
        here = [(candidate.name, error_curve(candidate, judged)) for candidate in best]
        there = [
            (candidate.name, along_budgets(candidate, lambda made: error_of(made, judged, "worst")))
            for candidate in best
        ]
        return draw_curves(here, there, ("value", f"{judged!r} error"), ax=ax)

    def _draw_goal(self, columns: Sequence[str], count: int, ax: Sequence[Axes] | None) -> Sequence[Axes]:
        """Draw bars of the errors in some columns, the best mechanisms first."""
        panels = panels_or_new(ax, len(columns))
        goal, _, where = self.title.split(";")[0].rpartition("ε = ")
        about = f"{goal.partition(' (')[0].rstrip(', ')}\nε = {where}".strip()
        for panel, column in zip(panels, columns, strict=True):
            named = column if column != "error" else "predicted error"
            title = about if panel is panels[0] else named
            draw_rows(self.rows[: 2 * count], title=title, x=named, bars=column, ax=panel)
        for panel in panels[1:]:  # the rows are the same as in the first panel
            panel.set_yticklabels([])
        return panels

    def narrow(self, columns: Sequence[str], top: int | None = None) -> Comparison:
        """Return the table with some columns, and their relative errors, with only the first `top` rows."""
        wanted = {"mechanism", *columns, *(f"relative {name}" for name in columns)}
        rows = tuple({name: row[name] for name in row if name in wanted} for row in self.rows[:top])
        return replace(self, rows=rows, candidates=self.candidates[:top])

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        # A relative error is printed in brackets after its error: this halves the width of the table.
        plain = [name for name in self.columns if not name.startswith("relative ")]
        columns = []
        for name in plain:
            column = show_column([row[name] for row in self.rows])
            for index, row in enumerate(self.rows):
                ratio = row.get(f"relative {name}")
                tie = name == plain[1] and sum(tied(row, other, name) for other in self.rows) > 1
                column[index] += "=" * tie + ("" if ratio is None else f" (×{ratio:.2f})")
            columns.append(column)
        return plain, [list(line) for line in zip(*columns, strict=True)]

    @property
    def tie(self) -> str:
        """What `=` marks where the table is printed: `EQUAL`, `OVERLAP`, or an empty text without ties."""
        if not any(line[1].partition(" (")[0].endswith("=") for line in self._cells()[1]):
            return ""
        return OVERLAP if f"{self.columns[1]} from" in self.columns else EQUAL


def compare(
    domain: Domain,
    *,
    epsilon: float,
    losses: Sequence[Loss] = ("absolute", "squared"),
    goal: Goal | None = None,
    also: Sequence[Mechanism[Any]] = (),
    progress: Progress | None = None,
) -> Comparison:
    """Return a table of every mechanism for this domain at this budget.

    On an interval or a circle its columns are the worst and average error under each loss, the largest bias,
    the largest variance and the bytes of a report; on categories, the variance that one report adds to a
    frequency. The rows are sorted by the worst error under the first loss, or by the average variance; with a
    `goal`, such as `dt.goals.Mean(n=1000)`, by the error predicted for it, in a column of its own;
    `dt.goals.Distribution(n=1000)` has two, W1 and KS, simulated and stored. `also` are mechanisms of your
    own to be compared, on the same domain. `progress` is called with the number of simulations that are done.

    >>> from dither.core.domains import Interval
    >>> compare(Interval(0, 1), epsilon=1)["OGPM(loss=absolute)"]["worst absolute"]
    0.3775406687981454
    """
    budget = check_epsilon(epsilon)
    if goal is not None and goal.apart:
        if also:
            raise InvalidParameter(f"expected no `also` for {goal!r}; leave it out")
        return _compare_apart(domain, budget, goal)
    if domain.listed is domain:
        mine = own_candidates(also, domain, (CategoryMechanism, Matrix))
        return _for_goal(_compare_protocols(domain, budget, mine), goal, progress)
    if domain.sets and domain.listed is not None:
        if also:
            raise InvalidParameter("expected no `also` for sets of items; leave it out")
        return _for_goal(_compare_sets(domain, len(domain.listed), budget), goal, progress)
    if (together := _TOGETHER.get(type(domain))) is not None:
        if also or goal is not None:
            raise InvalidParameter(
                "expected no `goal` and no `also` for tables of attributes and for vectors; leave them out"
            )
        return together(domain, budget)
    if not isinstance(domain, Line):
        raise InvalidParameter(
            "expected an Interval, a Circle, Categories, Several or Vectors to compare mechanisms on, got "
            f"{type(domain).__name__}; for places use dt.recommend(area, dt.goals.Locations(), epsilon=…), "
            'and for routes goal=dt.goals.CompletePaths((paths, "source"))'
        )
    if not losses:
        raise InvalidParameter("expected at least one loss, got none; pass one, such as losses=['absolute']")
    own = own_candidates(also, domain, Analysis)
    judged = tuple(as_power(loss) for loss in losses)
    return _for_goal(_compare_numbers(domain, budget, judged, own), goal, progress)


def own_candidates(
    also: Sequence[Mechanism[Any]], domain: Domain, kind: type | tuple[type, ...]
) -> list[Candidate]:
    """Return the caller's own mechanisms as candidates; raise InvalidParameter if they cannot be compared."""
    found: list[Candidate] = []
    for mechanism in also:
        if not isinstance(mechanism, kind) or getattr(mechanism, "domain", None) != domain:
            raise InvalidParameter(
                f"expected mechanisms on {domain} with known errors in `also`, such as dt.Podium, got "
                f"{type(mechanism).__name__}"
            )
        taken = [candidate.name for candidate in found]
        name = f"{type(mechanism).__name__} (yours)"
        found.append(Candidate(name if name not in taken else f"{name} {len(found) + 1}", mechanism))
    return found


def _for_goal(table: Comparison, goal: Goal | None, progress: Progress | None) -> Comparison:
    """Return the table sorted by the predicted error for a goal; unsuitable mechanisms come last."""
    if goal is None:
        return table
    goal.check(table.domain)
    beside = goal.beside(table.domain, table.epsilon)
    candidates = [*table.candidates, *beside]
    every = [
        *table.rows,
        *({"mechanism": candidate.name, "bytes": candidate.mechanism.report_bytes} for candidate in beside),
    ]
    how, columns = goal.columns(candidates, progress)
    errors = [next(iter(row.values())) for row in columns]
    order = sorted(range(len(errors)), key=lambda index: (errors[index] is None, errors[index] or 0.0))
    rows = []
    for index in order:
        given = {**dict.fromkeys(table.rows[0]), **every[index]}  # single values have no errors by `beside`
        name, *rest = given.items()
        rows.append(dict([name, *columns[index].items(), *rest]))
    title = f"{goal}{f' ({how})' if how else ''}, {table.title}"
    return replace(
        table,
        title=title,
        rows=tuple(rows),
        candidates=tuple(candidates[index] for index in order),
        goal=tuple(columns[0]),
    )


def _compare_numbers(
    domain: Line, epsilon: float, losses: tuple[Power, ...], own: list[Candidate]
) -> Comparison:
    optima = solved_candidates(domain, epsilon, losses, unbiased=True)
    candidates = [*optima, *on_a_line(domain, epsilon, losses), *own]
    measured = sorted(
        ((candidate, _measure(candidate.mechanism, losses)) for candidate in candidates),
        key=lambda pair: next(iter(pair[1].values())),
    )
    bounds = {candidate.mechanism.problem: candidate.mechanism.certificate.bound for candidate in optima}
    best, proven = {}, True
    for name, loss, criterion in _errors(losses):
        least = known_optimum(domain, epsilon, loss, criterion)
        if least is None:
            least = bounds.get(Problem(epsilon, loss, criterion)) if bounds else None
        proven &= least is not None
        best[name] = min(row[name] for _, row in measured) if least is None else least
    straight = [row["variance"] for _, row in measured if row["bias"] <= _UNBIASED * domain.length]
    smallest = min(straight, default=None)
    if bounds:
        smallest = bounds.get(Problem(epsilon, squared, "worst", unbiased=True), smallest)
    rows = tuple(_row(candidate, row, best, smallest, domain) for candidate, row in measured)
    known_best = "the best possible" if proven else "the best possible or the best found"
    title = f"ε = {epsilon:g} on {domain}; in brackets, relative to {known_best}"
    return Comparison(title, rows, domain, epsilon, tuple(candidate for candidate, _ in measured), losses)


def _errors(losses: Iterable[Power]) -> list[tuple[str, Power, Criterion]]:
    return [(f"{criterion} {loss!r}", loss, criterion) for loss in losses for criterion in CRITERIA]


def _measure(mechanism: Analysis, losses: tuple[Power, ...]) -> dict[str, float]:
    row = {name: error_of(mechanism, loss, criterion) for name, loss, criterion in _errors(losses)}
    row["bias"] = largest(mechanism, lambda x: np.abs(np.asarray(mechanism.bias(x))))
    row["variance"] = largest(mechanism, lambda x: np.asarray(mechanism.variance(x)))
    return row


def _row(
    candidate: Candidate,
    measured: dict[str, float],
    best: dict[str, float],
    unbiased: float | None,
    domain: Line,
) -> Row:
    row: dict[str, Any] = {"mechanism": candidate.name, **measured, "bytes": candidate.mechanism.report_bytes}
    for name, least in best.items():
        row[f"relative {name}"] = measured[name] / least
    straight = measured["bias"] <= _UNBIASED * domain.length and unbiased is not None
    row["relative variance"] = measured["variance"] / unbiased if straight and unbiased else None
    return row


def _compare_protocols(domain: Categories, epsilon: float, own: list[Candidate]) -> Comparison:
    every = [*on_categories(domain, epsilon), *own]
    candidates = sorted(every, key=lambda candidate: average_variance(candidate.mechanism))
    least = least_frequency_variance(len(domain), epsilon)
    rows = tuple(
        {
            "mechanism": candidate.name,
            "average variance": average_variance(candidate.mechanism),
            "variance if rare": candidate.mechanism.question.variance(0.0),
            "variance if all": candidate.mechanism.question.variance(1.0),
            "bytes": candidate.mechanism.report_bytes,
            "relative average variance": average_variance(candidate.mechanism) / least,
        }
        for candidate in candidates
    )
    title = (
        f"ε = {epsilon:g} on {domain}; what one report adds to the variance of a frequency; "
        "in brackets, relative to the best possible"
    )
    return Comparison(title, rows, domain, epsilon, tuple(candidates), ())


def _compare_sets(domain: Domain, items: int, epsilon: float) -> Comparison:
    """Compare the mechanism with a report on one random item, and with a proved lower bound."""
    candidates = on_sets(domain, epsilon)
    share = domain.most / items
    least = least_item_variance(items, domain.most, epsilon)
    # Randomized response, where one person in k answers for an item.
    lies = math.exp(epsilon) / math.expm1(epsilon) ** 2
    measured: list[tuple[str, float, float, int]] = [
        (
            tried.name,
            tried.mechanism.variance(share),
            tried.mechanism.variance(0.0),
            tried.mechanism.report_bytes,
        )
        for tried in candidates
    ]
    single = items * lies + (items - 1) * share * (1.0 - share)
    measured.append(("RR of one item at random", single, items * lies, 4))
    rows = tuple(
        {
            "mechanism": name,
            "average variance": average,
            "variance if rare": rare,
            "bytes": size,
            "relative average variance": average / least if least > 0.0 else None,
        }
        for name, average, rare, size in measured
    )
    title = (
        f"ε = {epsilon:g} on {domain}; what one report adds to the variance of an item's share, if all sets "
        f"of {domain.most} are alike; in brackets, relative to a lower bound for every mechanism"
    )
    return Comparison(title, rows, domain, epsilon, tuple(candidates), ())


def _compare_tables(domain: Profile, epsilon: float) -> Comparison:
    candidates = [
        Candidate(f"Marginals(way={way})", Marginals(domain, epsilon=epsilon, way=way)) for way in (1, 2)
    ]
    rows = tuple(
        {
            "mechanism": candidate.name,
            "average variance": candidate.mechanism.average_variance,
            "functions": len(candidate.mechanism.question.kernel.functions),
            "bytes": candidate.mechanism.report_bytes,
            "relative average variance": candidate.mechanism.average_variance / candidate.mechanism.bound,
        }
        for candidate in candidates
    )
    title = (
        f"ε = {epsilon:g} on {domain}; what one report adds to the variance of all cells of all tables; "
        "in brackets, relative to a lower bound for every mechanism"
    )
    return Comparison(title, rows, domain, epsilon, tuple(candidates), ())


def _compare_vectors(domain: Vectors, epsilon: float) -> Comparison:
    candidates = sorted(on_vectors(domain, epsilon), key=squared_error)
    least = InBall(domain, epsilon=epsilon).bound if domain.dimension > 1 else None
    rows = tuple(
        {
            "mechanism": candidate.name,
            "squared error": squared_error(candidate),
            "bytes": candidate.mechanism.report_bytes,
            **({} if least is None else {"relative squared error": squared_error(candidate) / least}),
        }
        for candidate in candidates
    )
    title = (
        f"ε = {epsilon:g} on {domain}; what one report adds to the squared length of the error of a mean; "
        "in brackets, relative to a lower bound for every mechanism without bias"
    )
    return Comparison(title, rows, domain, epsilon, tuple(candidates), ())


# Domains of many numbers or attributes, whose mechanisms are compared by one error.
_TOGETHER: Final[dict[type[Domain], Callable[..., Comparison]]] = {
    Profile: _compare_tables,
    Vectors: _compare_vectors,
}


def _compare_apart(domain: Domain, epsilon: float, goal: Goal) -> Comparison:
    """Return the mechanisms that a goal proposes, with its errors relative to a lower bound of all."""
    goal.check(domain)
    candidates = goal.candidates(domain, epsilon)
    ranking = goal.rank(goal.errors(candidates))
    least = goal.least_error(candidates)
    rows = tuple(
        {
            "mechanism": candidate.name,
            "error": error,
            **({"promise": f"one {candidate.mechanism.guarantee.unit}"} if goal.units else {}),
            "bytes": candidate.mechanism.report_bytes,
            **({} if least is None else {"relative error": error / least}),
        }
        for candidate, error in ranking
    )
    relative = "" if least is None else "; in brackets, relative to a lower bound for every mechanism"
    title = f"{goal}, ε = {epsilon:g} on {domain}{relative}"
    return Comparison(title, rows, domain, epsilon, tuple(held for held, _ in ranking), (), ("error",))


def equal(left: object, right: object) -> bool:
    """Return whether two errors differ by rounding only."""
    return isinstance(left, float) and isinstance(right, float) and abs(left - right) <= TIE * abs(left)


def tied(row: Row, other: Row, name: str) -> bool:
    """Return whether two predictions are a tie: their ranges overlap, or errors without ranges are equal.

    `name` is the column of the error. The ends of a range are in the columns "from" and "to", after the name
    of the error if a table has several errors.
    """
    (low, high), (least, most) = (
        [each.get(f"{name} {end}", each.get(end)) for end in ("from", "to")] for each in (row, other)
    )
    if low is None or least is None:
        return low is least and equal(row[name], other[name])
    return bool(low <= most and least <= high)


def error_of(mechanism: Any, loss: Power, criterion: Criterion) -> float:
    """Return the worst or average error of a mechanism on a line; a solved one's own error is certified."""
    if isinstance(mechanism, Optimal):
        if (mechanism.problem.loss, mechanism.criterion) == (loss, criterion):
            return mechanism.certificate.error
        if criterion == "average":  # its error has a kink at each of its many thresholds
            return mean_over(mechanism, lambda x: np.asarray(mechanism.error(loss.loss, x)))
    worst = criterion == "worst"
    return float(mechanism.worst_error(loss.loss) if worst else mechanism.average_error(loss.loss))


def average_variance(protocol: Any) -> float:
    """Return n times the variance that privacy adds to a frequency, averaged over the categories.

    It is (p(1−p) + (k−1)·q(1−q)) / (k·(p−q)²), whatever the frequencies are: they sum to 1 [Wang17, Thm 2].
    Frequencies of items sum to the mean size of a set, here the largest size.
    """
    domain = protocol.domain
    return float(protocol.question.variance(domain.most / len(domain)))


def largest(mechanism: Analysis, function: Callable[[Floats], Floats]) -> float:
    """Return the maximum of a function of the input over 2049 inputs and the kinks of the distribution."""
    grid = np.unique(np.clip([*np.linspace(0.0, 1.0, 2049), *mechanism.law.kinks], 0.0, 1.0))
    return float(np.max(function(mechanism.line.from_unit(grid))))


def mean_over(mechanism: Analysis, function: Callable[[Floats], Floats]) -> float:
    """Return the mean of a function of the input over a uniform distribution of inputs."""
    line = mechanism.line
    if isinstance(mechanism, Optimal):
        return float(np.mean(function(line.from_unit((np.arange(_INPUTS) + 0.5) / _INPUTS))))
    return integrate(lambda unit: function(line.from_unit(unit)), 0.0, 1.0, (0.5, *mechanism.law.kinks))
