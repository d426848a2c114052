"""`Questionnaire.plan`: the error of each question of a campaign; how many people show that two arms differ.

Errors are errors of estimates for a population: the noise of privacy and the sampling error together, for
people who are spread evenly over every interval and list. All are closed formulas of the same decodings that
the estimates average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.domains import Domain, Interval, finite
from dither.core.domains.calendar import Calendar
from dither.core.question import CategoryQuestion, OptionalQuestion, Question, as_question
from dither.core.questionnaire import Questionnaire
from dither.errors import DitherError, InvalidParameter, NotIdentifiable
from dither.estimation.method import category_question, may_be_missing
from dither.estimation.reading import optional_reading
from dither.foundation.digits import plain
from dither.foundation.numerics.distributions import inverse_survival
from dither.foundation.numerics.roots import decreasing_root
from dither.foundation.plotting import draw_rows
from dither.foundation.tables import ResultTable, Row
from dither.privacy import Pure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.advice.goals.numbers import Goal
    from dither.core.repetition import KeptChange

_Z: Final = 1.959963984540054  # half the width of a 95 % interval, in standard errors
_MEDIANS: Final = (
    "Errors of medians are simulated, with the sampling error: root mean squares over twelve shapes.\n"
    "Those of single shapes are up to 2.5 times as large, and more between two peaks."
)
_PAIRS: Final = 4  # questions up to which every pair of them is planned
LOST: Final = "tables, slopes and groups of two questions, and differences of the same people"


@dataclass(frozen=True, eq=False, repr=False)
class Plan(ResultTable):
    """The result of `Questionnaire.plan`: for each question, and each pair, half a 95 % interval.

    `±` is for the campaign as it is; `privacy` and `sampling` are its two parts, whose squares add up.
    The last column is the other way to spend the same ε: each person answers every question with a part of
    it, or one question, drawn at random, with all of it.
    """

    note: str = ""

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw half of each interval; needs the extra `plot`."""
        return draw_rows(self.rows, title=title or self.title, x="half of a 95 % interval", bars="±", ax=ax)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n\n{self.note}" if self.note else super().__repr__()


@dataclass(frozen=True)
class Reading:
    """The contribution of one report to a variance, for people who are spread evenly.

    `noise` is n times the variance that privacy adds, `drawn` n times the variance of the values themselves.
    For a list, they belong to the share of one answer, and `own` and `other` are the noise of people with the
    answer and of others.
    """

    quantity: str
    noise: float
    drawn: float
    size: int = 0  # answers of a list
    own: float = 0.0
    other: float = 0.0
    unit: str = ""


def plan(questions: Mapping[str, Any] | Questionnaire, people: int) -> Plan:
    """Return the errors of a campaign with `people` answers, and of the other way to spend its ε.

    >>> import dither as dt
    >>> survey = dt.Questionnaire({
    ...     "pet": dt.KRR(dt.Categories(["cat", "dog"]), epsilon=1),
    ...     "home": dt.KRR(dt.Categories(["flat", "house"]), epsilon=1),
    ... })
    >>> [round(row["±"], 3) for row in plan(survey, 5_000)]
    [0.03, 0.03, 0.039]
    """
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 2:
        raise InvalidParameter(f"expected an integer number of people, at least 2, got {people!r}")
    campaign = Questionnaire.of(questions)
    question = {name: as_question(part) for name, part in campaign.questions.items()}
    count, guarantee = len(question), campaign.guarantee
    readings = {name: read(part) for name, part in question.items()}
    here = people / count if campaign.sampled else float(people)
    rows: list[dict[str, Any]] = [{"question": name, **_errors(readings[name], here)} for name in question]
    other = "± if split" if campaign.sampled else "± if sampled"
    several = count > 1 and isinstance(guarantee.bound, Pure)
    if several:
        budget = guarantee.epsilon / count if campaign.sampled else guarantee.epsilon
        there = people if campaign.sampled else people / count
        for row in rows:
            row[other] = _errors(_at(question[row["question"]], budget), there)["±"]
    for name, part in question.items():
        median = _median(part, part.epsilon, here)
        if median and several:
            median[other] = _median(part, budget, there).get("±")
        place = next(at for at, row in enumerate(rows) if row["question"] == name) + 1
        rows[place:place] = [{"question": name, **median}] if median else []
    medians = any(row["±"] and str(row["estimate"]).startswith("median") for row in rows)
    if 1 < count <= _PAIRS and not campaign.sampled:
        for first, second in combinations(question, 2):
            rows += map(dict, _pair(first, second, readings[first], readings[second], people))
    if several:
        rows = [{other: None, **row} for row in rows]
        rows = [{**{name: row[name] for name in row if name != other}, other: row[other]} for row in rows]
    many = f"{people:,}".replace(",", " ")
    how = "one question each" if campaign.sampled else "every question"
    title = f"{many} people answer {how}: half of a 95 % interval, for people who are spread evenly"
    notes = [_note(campaign, rows, other) if several else "", _MEDIANS if medians else ""]
    return Plan(title, tuple(rows), note="\n".join(filter(None, notes)))


def plan_of_days(changes: Mapping[str, KeptChange], people: int) -> Plan:
    """Return the errors of one day's share, root mean square over the days, from kept changes of `people`.

    >>> import dither as dt
    >>> smokes = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)
    >>> print(plan_of_days({"smokes": dt.KeptChange(smokes, days=365, changes=2)}, 100_000))
    At most 2 changes in 365 days, 100 000 people: half of a 95 % interval for a day, root mean square
    <BLANKLINE>
    question               estimate        ±
    smokes    share of yes, one day  0.07343
    """
    from dither.estimation.over_time import predicted_error

    rows: list[Row] = []
    for name, change in changes.items():
        listed = change.domain.listed
        quantity = "share, one day" if listed is None else f"share of {listed.labels[1]}, one day"
        rows.append({"question": name, "estimate": quantity, "±": _Z * predicted_error(change, people)})
    first = next(iter(changes.values()))
    often = "1 change" if first.changes == 1 else f"{first.changes} changes"
    many = f"{people:,}".replace(",", " ")
    title = f"At most {often} in {first.days} days, {many} people: half of a 95 % interval for a day"
    return Plan(f"{title}, root mean square", tuple(rows))


def _median(question: Question, epsilon: float, people: float) -> dict[str, Any]:
    """Return the error of the median of a number, if the table of simulations has one.

    A mechanism that the table does not have, such as the default for a mean, is replaced by `SW`.
    """
    from dither.advice.simulation import ShapeQuestion, error_table
    from dither.mechanisms.numeric.sw import SW

    line = question.domain.line
    if line is None or line.circular or line.scale or not question.alone:
        return {}
    if question.domain.optional:
        return {"estimate": "median, not predicted", "±": None, "privacy": None, "sampling": None}
    try:
        own = question.design().at(epsilon)
        smooth = SW(Interval(line.low, line.high), epsilon=epsilon)
    except (DitherError, TypeError, AttributeError):
        return {}
    table, half = error_table(), ShapeQuestion(None, 0.5)
    found, by = table.find(own, half, round(people)), ""
    if found is None:
        found, by = table.find(smooth, half, round(people)), " if asked by SW"
    if found is None:
        return {}
    unit = line.unit.span if isinstance(line.unit, Calendar) else line.unit
    quantity = f"median{by}" + (f", {unit}" if unit else "")
    return {"estimate": quantity, "±": _Z * found.error, "privacy": None, "sampling": None}


def _note(campaign: Questionnaire, rows: Sequence[Row], other: str) -> str:
    """Return a note about the better way of spending the budget, and the limits of `sampled`."""
    ratios = [row["±"] / row[other] for row in rows if row["±"] and row.get(other)]
    if not ratios:
        return ""
    least, most = min(ratios), max(ratios)
    if campaign.sampled:
        return (
            f"Each person answers one question with all of ε. This ends {LOST}.\nWith ε divided between the "
            f"questions, errors would be {1 / most:.2g} to {1 / least:.2g} times these."
        )
    better = (
        f"With `sampled = true`, one question each with all of ε, errors would be {1 / most:.2g} to "
        f"{1 / least:.2g} times these."
    )
    return f"{better}\nIt ends {LOST};\nsigned campaigns do not have it."


def read(question: Question) -> Reading | None:
    """Return the contribution of one report to the variance of the usual estimate, or None if unknown."""
    from dither.advice.goals.numbers import Mean

    line = question.domain.line
    try:
        if question.domain.listed is not None:
            return _of_list(category_question(question), len(question.domain.listed))
        if line is None:
            return None
        if line.circular:  # the error depends on the unknown agreement of the directions
            return Reading("mean direction (none if spread evenly)", math.inf, math.inf)
        if line.scale:  # the mean of positions is not the mean of values
            return Reading("2 % and 98 % quantiles", math.inf, math.inf)
        if may_be_missing(question):
            noise = _optional_noise(question)
        else:
            noise = Mean(criterion="average").spread(question.design())
    except (DitherError, TypeError, AttributeError):  # a mechanism without such formulas
        return None
    return None if noise is None else Reading("mean", noise, line.length**2 / 12.0, unit=line.unit)


def cost_of_range(question: Question, guess: tuple[float, float]) -> float:
    """Return the factor of people for a mean on a question's domain, compared with a guessed range.

    The values are uniform from the low to the high end of `guess`. The error of a mean has the
    noise of the mechanism, which grows with the domain, and the spread of the values.
    """
    low, high = finite("the low end of a guess", guess[0]), finite("the high end of a guess", guess[1])
    line = question.domain.line
    if line is None or line.circular or line.scale or not line.low <= low < high <= line.high:
        raise InvalidParameter(
            "expected a guess to be a range within the interval of a question, such as [10, 100], got "
            f"[{low:g}, {high:g}] for {question.domain if line is None else line.shown}"
        )
    narrow = replace(question.design(), domain=Interval(low, high)).question
    wide, own = read(question), read(narrow)
    if wide is None or own is None:
        raise NotIdentifiable(
            f"expected a question with a formula of the error of a mean, got {question.name}; simulate it, "
            "or ask by Podium"
        )
    return float((wide.noise + own.drawn) / (own.noise + own.drawn))


def range_words(question: Question, guess: tuple[float, float]) -> str:
    """Return a text with the cost of a question's domain compared with a guessed range, and advice."""
    times = plain(float(f"{cost_of_range(question, guess):.2g}"))
    low, high = (plain(float(end)) for end in guess)
    return (
        f"{question.domain} with values in [{low}, {high}]: {times} times the people of [{low}, {high}]. "
        "Use that range with clipped = true, or two phases that find it (dt.bounds)."
    )


def _of_list(question: CategoryQuestion, size: int) -> Reading:
    domain = question.domain
    share = min(domain.most / size, 0.5)
    noise, own, other = (question.variance(at) for at in (share, 1.0, 0.0))
    quantity = "share of an item" if domain.sets else "share of an answer"
    return Reading(quantity, noise, share * (1.0 - share), 0 if domain.sets else size, own, other)


def _optional_noise(question: OptionalQuestion) -> float | None:
    """Return the variance that privacy adds to the mean of an optional number that everybody answers."""
    kernel, line = question.kernel, question.line
    reading = optional_reading(kernel)
    if reading is None:
        return None
    cells, found = np.arange(kernel.outcomes), []
    for point in np.linspace(line.low, line.high, 17):
        law = kernel.likelihoods(cells, np.asarray(point))
        gaps = reading.values - (point - line.low) * reading.answered
        found.append(float(law @ gaps**2) - float(law @ gaps) ** 2)
    return float(np.mean(found))


def _at(question: Question, epsilon: float) -> Reading | None:
    """Return the same question at another ε: by the mechanism that would be chosen, if it was chosen."""
    from dither.advice.ask import _usual

    try:
        usual = _usual(question.domain, question.epsilon)[0].question.name == question.name
        design = _usual(question.domain, epsilon)[0] if usual else question.design().at(epsilon)
    except (DitherError, TypeError, AttributeError):
        return None
    return read(as_question(design))


def _errors(reading: Reading | None, people: float) -> dict[str, Any]:
    if reading is None or not math.isfinite(reading.noise):
        known = [] if reading is None else [reading.quantity]
        name = ", ".join([*known, "not predicted"])
        return {"estimate": name, "±": None, "privacy": None, "sampling": None}
    noise, drawn = (_Z * math.sqrt(part / people) for part in (reading.noise, reading.drawn))
    unit = reading.unit.span if isinstance(reading.unit, Calendar) else reading.unit
    quantity = reading.quantity + (f", {unit}" if unit else "")
    return {"estimate": quantity, "±": math.hypot(noise, drawn), "privacy": noise, "sampling": drawn}


def _pair(first: str, second: str, a: Reading | None, b: Reading | None, people: int) -> list[Row]:
    """Return the errors for two questions together, if their answers are independent."""
    known = all(part is not None and math.isfinite(part.noise) for part in (a, b))
    if not known or a is None or b is None or "item" in a.quantity + b.quantity:
        return []
    name = f"{first} × {second}"
    if a.size and b.size:  # a cell of the table of both
        r, c = 1.0 / a.size, 1.0 / b.size
        noise = (
            a.other * b.other + _more(a) * b.other * r + a.other * _more(b) * c + _more(a) * _more(b) * r * c
        )
        return [_row(name, "share of a cell", noise - r * c, r * c * (1.0 - r * c), people)]
    if a.size or b.size:
        of, group = (b, a) if a.size else (a, b)
        share, spread = 1.0 / group.size, of.drawn + of.noise
        variance = (group.other + _more(group) * share) * spread / share**2
        return [_row(name, "mean of a private group", variance - of.drawn / share, of.drawn / share, people)]
    variance = (a.drawn + a.noise) * (b.drawn + b.noise) / a.drawn**2
    return [_row(name, f"slope of {second}", variance - b.drawn / a.drawn, b.drawn / a.drawn, people)]


def _more(reading: Reading) -> float:
    """Return the surplus of the mean square of an answer's decoding for people with the answer."""
    return 1.0 + reading.own - reading.other


def _row(name: str, quantity: str, noise: float, drawn: float, people: int) -> Row:
    parts = [_Z * math.sqrt(max(part, 0.0) / people) for part in (noise, drawn)]
    error = math.hypot(*parts)
    return {"question": name, "estimate": quantity, "±": error, "privacy": parts[0], "sampling": parts[1]}


def people_to_detect(
    domain: Domain, goal: Goal, values: tuple[float, float], power: float, epsilon: float, sampling: bool
) -> int:
    """Return the number of people that each of two arms needs to find a difference with a probability.

    A difference is found if its 95 % interval excludes 0. It has the variance V/n, with V the variance of one
    person of each arm, so that n = V·((z₀.₉₇₅ + z_power)/difference)².
    """
    variance = _of_both(domain, goal, values, epsilon, sampling)
    reach = (_Z - inverse_survival(power)) / abs(values[0] - values[1])
    return max(2, math.ceil(variance * reach**2))


def power_of(
    domain: Domain, goal: Goal, values: tuple[float, float], epsilon: float, sampling: bool
) -> float:
    """Return the probability that the goal's n people in each of two arms show a difference."""
    from dither.advice.goals.numbers import people_of

    variance = _of_both(domain, goal, values, epsilon, sampling)
    far = abs(values[0] - values[1]) * math.sqrt(people_of(getattr(goal, "n", None)) / variance)
    return _normal_cdf(far - _Z) + _normal_cdf(-far - _Z)


def epsilon_to_detect(
    domain: Domain,
    goal: Goal,
    values: tuple[float, float],
    power: float,
    sampling: bool,
    ends: tuple[float, float],
) -> float | None:
    """Return the smallest ε with which a difference is found with a probability; None if no ε is enough."""

    def excess(log_epsilon: float) -> float:
        return power - power_of(domain, goal, values, math.exp(log_epsilon), sampling)

    position = decreasing_root(excess, math.log(ends[0]), math.log(ends[1]), close=1e-4)
    return None if position is None else math.exp(position)


def _of_both(
    domain: Domain, goal: Goal, values: tuple[float, float], epsilon: float, sampling: bool
) -> float:
    """Return the variance of one person of each arm, by the mechanism with the least variance."""
    from dither.advice.goals.numbers import Frequencies, Mean

    noises, drawn = [], 0.0
    for candidate in goal.candidates(domain, epsilon, wait=False):
        if isinstance(goal, Frequencies):
            noises.append(sum(float(candidate.mechanism.variance(value)) for value in values))
        elif isinstance(goal, Mean) and (spread := goal.spread(candidate.mechanism)) is not None:
            noises.append(2.0 * spread)
    if sampling:
        # For a share f it is f(1 − f); for numbers with this mean at most the variance of people at both
        # ends.
        low, high = _ends(domain, goal)
        known = isinstance(goal, Mean) and (goal.deviation is not None or goal.criterion == "average")
        each = goal.sampling(domain) if known else None
        drawn = sum((value - low) * (high - value) if each is None else each for value in values)
    return min(noises) + drawn


def _ends(domain: Domain, goal: Goal) -> tuple[float, float]:
    """Return the range of the number in which two arms may differ."""
    from dither.advice.goals.numbers import Frequencies, Mean

    line = domain.line
    if isinstance(goal, Frequencies):
        return 0.0, 1.0
    if isinstance(goal, Mean) and line is not None and not line.circular:
        return line.low, line.high
    raise InvalidParameter(
        f"expected shares of answers or means on an interval to plan a difference, got {goal!r} on {domain}"
    )


def check_difference(
    domain: Domain, goal: Goal, values: Sequence[float] | None, power: float
) -> tuple[float, float]:
    """Return the values of two arms; raise InvalidParameter unless the goal supports such a difference."""
    low, high = _ends(domain, goal)
    try:
        first, second = (float(value) for value in values or ())
    except (TypeError, ValueError):
        raise InvalidParameter("expected two numbers for a difference, such as detect=(0.10, 0.12)") from None
    if not (low <= first <= high and low <= second <= high and first != second):
        raise InvalidParameter(
            f"expected two different values from {low:g} to {high:g} for a difference, such as shares of "
            f"0.10 and 0.12, got {first:g} and {second:g}"
        )
    if not 0.0 < power < 1.0 or isinstance(power, bool):
        raise InvalidParameter(f"expected the power to be a probability, such as 0.8, got {power!r}")
    return first, second


def _normal_cdf(point: float) -> float:
    return 0.5 * math.erfc(-point / math.sqrt(2.0))
