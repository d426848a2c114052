"""`dt.recommend`, `dt.epsilon_for`, `dt.people_for`: choose a mechanism, a budget or a number of people."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, cast

from dither.advice.catalogue import Candidate
from dither.advice.compare import OVERLAP, TIE, own_candidates, tied
from dither.advice.goals.numbers import Goal, people_of
from dither.advice.plan import check_difference, epsilon_to_detect, people_to_detect, range_words
from dither.advice.simulation import Progress
from dither.core.domains import Domain, finite
from dither.core.question import LEAST_EPSILON, MOST_EPSILON, check_epsilon
from dither.errors import Infeasible, InvalidParameter, found
from dither.foundation.numerics.roots import decreasing_root
from dither.foundation.plotting import draw_rows
from dither.foundation.tables import ResultTable, as_text, percent, show_cell, show_column
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.numeric.base import WindowMechanism
from dither.mechanisms.optimal.mechanism import Optimal
from dither.mechanisms.shuffled import can_be_shuffled, epsilon_on_device
from dither.mechanisms.shuffled import shuffled as central

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIAR: Final = "one liar moves"  # a column of means and frequencies
_SHORT: Final = (64, 128, 256)  # cells of a report of one byte
_COST: Final = 1.02  # the largest factor of the error for fewer cells
WIDTH: Final = 80  # characters of a line at a terminal
_CLASS: Final = re.compile(r"^(\w+)(?!\()\b")  # the design in the name of a candidate, such as PM.truncated()


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(ResultTable):
    """The result of `dt.recommend`: mechanisms for a goal, the best first, each with its error and a reason.

    `best` is the first of them, as an object. For means and frequencies `one liar moves` is the most that one
    made-up report among n can move the estimate.
    """

    mechanisms: tuple[Mechanism[Any], ...]

    @property
    def best(self) -> Mechanism[Any]:
        """The first mechanism of the ranking."""
        return self.mechanisms[0]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the predicted errors, the best first; needs the extra `plot`."""
        about = title or self.title.partition("\n")[0]
        return draw_rows(self.rows, title=about, x="predicted error", bars="error", ax=ax)

    def __repr__(self) -> str:
        """Return the ranking in 80 columns; ties have the number of the first of them, with a mark.

        Errors with ranges are a tie if the ranges overlap, and others if they are equal.
        """
        best = self.rows[0]["error"]
        shared = [name for name in ("from", "to", "promise", LIAR) if name in self.rows[0]]
        rows = [
            [
                f"{1 + ties.index(True)}{'=' if sum(ties) > 1 else ' '}",
                row["mechanism"],
                row["error"],
                *(row.get(name) for name in shared),
                _relative(row["error"] / best),
            ]
            for ties, row in zip(
                ([tied(row, other, "error") for other in self.rows] for row in self.rows),
                self.rows,
                strict=True,
            )
        ]
        for index in range(2, 3 + len(shared)):  # the error and the columns after it
            for line, cell in zip(rows, show_column([line[index] for line in rows]), strict=True):
                line[index] = cell
        head = ["", "mechanism", "error", *("ε for" if name == "promise" else name for name in shared), ""]
        sides = "rlr" + "".join("l" if name == "promise" else "r" for name in shared) + "r"
        why = [
            f"{row['mechanism']} – {row['why']}"
            for row in self.rows
            if row is self.rows[0] or row["error"] < best * (1.0 - TIE)
        ]
        title, *notes = self.title.split("\n")
        if "from" in self.rows[0] and any(row[0].endswith("=") for row in rows):
            why.append(OVERLAP)
        above, below = ("\n".join(fill(text, WIDTH) for text in texts) for texts in ([title, *notes], why))
        return f"{above}\n\n{as_text(head, rows, align=sides)}\n\n{below}"


def _relative(ratio: float) -> str:
    """Return an error relative to the first: "best", "+3.7 %", "×2.06"."""
    if abs(ratio - 1.0) <= TIE:
        return "best"
    if ratio >= 2.0:
        return f"×{ratio:.3g}"
    return f"{'+' if ratio > 1.0 else '−'}{percent(abs(ratio - 1.0))}"


def recommend(
    domain: Domain,
    goal: Goal,
    *,
    epsilon: float,
    shuffled: int | None = None,
    delta: float = 1e-6,
    most_bytes: int | None = None,
    also: Sequence[Mechanism[Any]] = (),
    progress: Progress | None = None,
    guess: tuple[float, float] | None = None,
) -> Recommendation:
    """Return the mechanisms for a goal, ranked by the error predicted at a budget, the best first.

    With `shuffled=n`, the budget is the (ε, δ) of a person whose report is one of n in random order: devices
    have the largest ε that keeps this promise. For a list of answers it is computed for each mechanism, and
    for numbers one ε suffices for all. `dt.shuffled(…)` of a mechanism states the assumptions.

    With `most_bytes=1`, reports have at most one byte: windows have 64 to 256 cells, as few as cost less than
    2 %, and mechanisms that cannot be so short are left out.

    `also` are mechanisms of your own, on the same domain and with the same ε, to be ranked among them.

    With `guess=(low, high)`, where most values may lie, the title states the factor by which a wider domain
    increases the number of people for a mean.

    >>> from dither.core.domains import Interval
    >>> from dither import goals
    >>> round(recommend(Interval(0, 1), goals.Mean(n=10_000), epsilon=1)[0]["error"], 4)
    0.01
    """
    check(domain, goal)
    budget, among = check_epsilon(epsilon), ""
    if shuffled is not None:
        budget = epsilon_on_device(budget, n=shuffled, delta=delta)
        among = f" among {shuffled} shuffled reports (δ = {delta:g}; ε = {budget:.4g} on the device)"
    for mechanism in also:
        if shuffled is not None or abs(float(getattr(mechanism, "epsilon", 0.0)) - budget) > 1e-9 * budget:
            raise InvalidParameter(
                f"expected mechanisms in `also` with ε = {epsilon!r}, and no shuffled=; pass "
                f"mechanism.at({epsilon!r}), or epsilon=mechanism.epsilon"
            )
    ranking = _rank(
        domain, goal, budget, progress=progress, mixed=shuffled is not None, size=most_bytes, also=also
    )
    if shuffled is not None and domain.count is not None:
        ranking = goal.rank(goal.errors([_amplify(held, epsilon, shuffled, delta) for held, _ in ranking]))
        among = f" among {shuffled} shuffled reports (δ = {delta:g}; ε = {budget:.4g} or more on the device)"
    best = ranking[0][1]
    rows = []
    for number, (candidate, error) in enumerate(ranking):
        if number == 0:
            why = goal.reason(candidate, domain)
        elif error < best * (1.0 - TIE):
            why = f"{percent(1.0 - error / best)} less error than {ranking[0][0]}, "
            why += "not resolved" if goal.simulated else goal.instead
        elif error <= best * (1.0 + TIE):
            why = f"the same error as {ranking[0][0]}"
        else:
            why = f"{_more(error / best)} error {'of' if error >= 2.0 * best else 'than'} {ranking[0][0]}"
        liar = goal.one_liar(candidate.mechanism)
        moved = {} if liar is None else {LIAR: liar}
        span = spans(candidate.mechanism, error) if (spans := getattr(goal, "span", None)) else None
        if span is not None:
            moved = {"from": span[0], "to": span[1]}
            if number == 0:
                kind = "populations" if domain.line is None else "shapes"
                why += f"; of single {kind} from {show_cell(span[0])} to {show_cell(span[1])}"
        promise = {"promise": f"one {candidate.mechanism.guarantee.unit}"} if goal.units else {}
        rows.append({"mechanism": candidate.name, "error": error, **promise, **moved, "why": why})
    title = f"{goal} on {domain} with ε = {epsilon:g}{among}"
    mechanisms = tuple(candidate.mechanism for candidate, _ in ranking)
    if guess is not None:
        title += f"\n{range_words(mechanisms[0].question, guess)}"
    return Recommendation(title, tuple(rows), mechanisms)


def epsilon_for(
    domain: Domain,
    goal: Goal,
    target_error: float | None = None,
    *,
    detect: tuple[float, float] | None = None,
    power: float = 0.8,
    sampling: bool = True,
    shuffled: int | None = None,
    delta: float = 1e-6,
) -> float:
    """Return the smallest budget with which the best mechanism meets a target error, to four digits.

    The error contains the error of sampling n people from a population (see `dt.people_for`). With `detect`,
    it is the smallest ε with which n people in each of two arms show such a difference.

    With `shuffled=n` it is the central ε, at δ, of n shuffled reports: for a list of answers for the best
    mechanism, and for numbers for every pure mechanism.

    >>> from dither.core.domains import Interval
    >>> from dither import goals
    >>> round(epsilon_for(Interval(18, 100), goals.Mean(n=10_000), 0.5), 2)
    2.51
    """
    check(domain, goal)
    if _wants_difference(target_error, detect):
        if shuffled is not None:
            raise InvalidParameter(
                "expected reports that are not shuffled to plan a difference; leave shuffled out"
            )
        values = check_difference(domain, goal, detect, power)
        found = epsilon_to_detect(domain, goal, values, power, sampling, (LEAST_EPSILON, MOST_EPSILON))
        if found is None:
            raise Infeasible(
                f"no ε up to {MOST_EPSILON:g} shows this difference with {goal!r} in each arm; ask more "
                "people"
            )
        return found
    target, mixed = _target(target_error), shuffled is not None
    drawn = _sampling(domain, goal, sampling)
    if drawn:
        people = people_of(getattr(goal, "n", None))
        least = math.sqrt(drawn / people)
        if least >= target:
            raise Infeasible(
                f"expected a target above the sampling error of {people} people, {least:.3g}, got "
                f"{target:g}, so that no ε is enough; ask more than {math.ceil(drawn / target**2)} people, "
                "or plan only for the people who answer, with sampling=False"
            )
        target = math.sqrt(target**2 - least**2)  # the remaining error for the noise
    if shuffled is not None:
        central(1.0, n=shuffled, delta=delta)  # raises for a wrong n or δ before anything slow

    def excess(log_budget: float) -> float:
        error = _rank(domain, goal, math.exp(log_budget), wait=False, rough=True, mixed=mixed)[0][1]
        return math.log(max(error / target, 1e-300))

    low, high = math.log(LEAST_EPSILON), math.log(MOST_EPSILON)
    position = decreasing_root(excess, low, high, close=goal.close)  # from ε = 1, in steps of a factor e
    if goal.simulated and position is not None and low < position < high:
        best = _rank(domain, goal, math.exp(position), mixed=mixed)[0][0].mechanism

        def excess_of_best(log_budget: float) -> float:
            error = goal.error(best.at(math.exp(log_budget)))
            return math.log(1e6 if error is None else max(error / target, 1e-300))

        position = decreasing_root(excess_of_best, low, high, close=goal.close, start=position, step=0.1)
    if position is None:
        raise Infeasible(
            f"no ε up to {MOST_EPSILON:g} brings the error down to {target_error:g}; allow a larger error"
            + (", or ask more people" if hasattr(goal, "n") else "")
        )
    if shuffled is None:
        return math.exp(position)
    device: Any = math.exp(position)
    if domain.count is not None:
        device = _rank(domain, goal, device, mixed=mixed)[0][0].mechanism
    return central(device, n=shuffled, delta=delta).epsilon


def people_for(
    domain: Domain,
    goal: Goal,
    target_error: float | None = None,
    *,
    epsilon: float,
    detect: tuple[float, float] | None = None,
    power: float = 0.8,
    sampling: bool = True,
) -> int:
    """Return how many people the best mechanism needs to meet a target error; the goal is made without n.

    The error belongs to the estimate for a population: the error from privacy, plus the sampling error of the
    least favourable population (for a mean in the worst case, half at each end). With `sampling=False` it is
    only the error from privacy for the people who answer. For maps the sampling error is not derived and is
    left out. For quantiles and for distributions on an interval it is always included.

    With `detect=(0.10, 0.12)` in place of an error, the result is the number of people that each of two arms
    needs so that the 95 % interval of a difference between such shares, or means, excludes 0 with the
    probability `power`.

    >>> from dither.core.domains import Interval
    >>> import dither as dt
    >>> from dither import goals
    >>> people_for(Interval(0, 1), goals.Mean(), 0.01, epsilon=1)
    12478
    >>> people_for(Interval(0, 1), goals.Mean(), 0.01, epsilon=1, sampling=False)
    9978
    >>> yes_no = dt.Categories(["no", "yes"])
    >>> people_for(yes_no, goals.Frequencies(), epsilon=1, detect=(0.10, 0.12))
    39970
    """
    check(domain, goal)
    if getattr(goal, "n", None) is not None:
        raise InvalidParameter(
            "expected a goal without n, because dt.people_for computes n; leave it out, as in "
            f"dt.goals.{type(goal).__name__}()"
        )
    if _wants_difference(target_error, detect):
        values = check_difference(domain, goal, detect, power)
        return people_to_detect(domain, goal, values, power, check_epsilon(epsilon), sampling)
    budget, target = check_epsilon(epsilon), _target(target_error)
    people = goal.people(goal.candidates(domain, budget), target, _sampling(domain, goal, sampling))
    if people is None:
        raise Infeasible(
            f"at ε = {budget:g} no number of people brings the error down to {target:g}; allow a larger ε"
        )
    return people


def _wants_difference(target: float | None, detect: object) -> bool:
    """Return whether a difference is to be found; raise unless either it or a target error is given."""
    if (target is None) == (detect is None):
        raise InvalidParameter(
            "expected a target error, or detect=(0.10, 0.12), the values of two arms; give one of them"
        )
    return detect is not None


def _sampling(domain: Domain, goal: Goal, wanted: bool) -> float:
    return (goal.sampling(domain) or 0.0) if wanted else 0.0


def error_parts(domain: Domain, goal: Goal, *, epsilon: float) -> dict[str, float]:
    """Return the noise of the best mechanism and the sampling error; their squares add up."""
    noise = _rank(domain, goal, check_epsilon(epsilon))[0][1]
    drawn = _sampling(domain, goal, wanted=True)
    return {"noise": noise, "sampling": math.sqrt(drawn / people_of(getattr(goal, "n", None)))}


def check(domain: Domain, goal: Goal) -> None:
    """Raise InvalidParameter unless a goal applies to a domain."""
    if not isinstance(goal, Goal):
        raise InvalidParameter(
            f"expected a goal to be one of dt.goals, such as dt.goals.Mean(n=10_000), got {found(goal)}"
        )
    goal.check(domain)


def _rank(
    domain: Domain,
    goal: Goal,
    epsilon: float,
    *,
    wait: bool = True,
    rough: bool = False,
    progress: Progress | None = None,
    mixed: bool = False,
    size: int | None = None,
    also: Sequence[Mechanism[Any]] = (),
) -> list[tuple[Candidate, float]]:
    """Return the candidates and their errors, the best first; if `mixed`, those that can be shuffled.

    With a `size`, only candidates with reports of at most `size` bytes are kept.
    """
    candidates = [*goal.candidates(domain, epsilon, wait=wait), *own_candidates(also, domain, Mechanism)]
    if mixed:
        candidates = [candidate for candidate in candidates if can_be_shuffled(candidate.mechanism)]
        if not candidates or getattr(goal, "length", 1) > 1:
            raise Infeasible(
                "expected mechanisms with a bound for shuffling, but mechanisms for paths have no such "
                "bound; leave shuffled= out"
            )
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise InvalidParameter(f"most_bytes must be an integer from 1 upwards, not {found(size)}")
        candidates = [short for long in candidates if (short := _shorten(long, goal, size)) is not None]
        if not candidates:
            raise Infeasible(f"no mechanism for {domain} has reports of {size} bytes; allow more")
    able = goal.errors(candidates, rough=rough, progress=progress)
    if not able:
        raise Infeasible(f"no mechanism serves {goal!r} on {domain} with ε = {epsilon:g}")
    ranking = goal.rank(able)
    usual_first = None if rough else getattr(goal, "usual_first", None)
    return ranking if usual_first is None else usual_first(ranking)


def _shorten(candidate: Candidate, goal: Goal, size: int) -> Candidate | None:
    """Return a candidate with reports of at most `size` bytes; None if that costs 2 % or is impossible."""
    long = candidate.mechanism
    if long.report_bytes <= size:
        return candidate
    solved = type(long) is Optimal
    if not isinstance(long, WindowMechanism) or not (solved or type(long)._chooses_cells()):
        return None
    word = "outputs" if solved else "cells"
    for cells in _SHORT if not goal.simulated else _SHORT[-1:]:
        name, changed = candidate.name, cast(dict[str, Any], {word: cells})
        short = replace(
            candidate,
            name=name[:-1] + f", {word}={cells})" if solved else _CLASS.sub(rf"\1(cells={cells})", name),
            mechanism=replace(long, **changed),
        )
        if goal.simulated:  # errors are not exact enough to be compared
            return short
        before, after = goal.error(long), goal.error(short.mechanism)
        if before is not None and after is not None and after <= _COST * before:
            return short
    return None


def _amplify(candidate: Candidate, central: float, n: int, delta: float) -> Candidate:
    """Return a candidate with the largest ε on the device that keeps the central one."""
    device = epsilon_on_device(central, n=n, delta=delta, design=candidate.mechanism)
    return replace(candidate, mechanism=candidate.mechanism.at(device))


def _target(target_error: float | None) -> float:
    target = finite("a target error", target_error)
    if not target > 0.0:
        raise InvalidParameter(
            f"expected a target error to be a positive number in the domain's units, got "
            f"{found(target_error)}"
        )
    return target


def _more(ratio: float) -> str:
    return f"{ratio:.3g} times the" if ratio >= 2.0 else f"{percent(ratio - 1.0)} more"
