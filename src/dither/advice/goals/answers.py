"""Goals about answers from a list, and about tables of them."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from dither.advice.catalogue import Candidate
from dither.advice.goals.numbers import Averaged, people_of
from dither.core.domains import Categories, Domain, Interval
from dither.core.domains.records import Profile
from dither.errors import DitherError, InvalidParameter, found
from dither.estimation.queries import cumulative
from dither.estimation.rows import rows
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded
from dither.foundation.tables import percent, show_cell
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.frequency.subset import SubsetIndices, SubsetSelection
from dither.mechanisms.marginals import Marginals
from dither.mechanisms.optimal.queries.store import prefixes
from dither.mechanisms.optimal.queries.workload import DEFAULT_CELLS, MOST_INPUTS, Cumulative

_RUNS: Final = 12  # simulations of an error
_MOST_PEOPLE: Final = 1 << 17  # people of one simulation
_ONE_WAY: Final = 0.3  # share of people who report one attribute, for rows
_ROWS_RUNS: Final = 2  # simulations of rows


@dataclass(frozen=True)
class Ranges(Averaged):
    """The share of n people below each edge of equal cells, or up to each answer of an ordinal scale.

    The error is the root mean square over the inner edges, for people spread evenly. On an interval the
    mechanisms for categories report the cell, and their frequencies are summed.
    """

    cells: int | None = None

    apart = True
    takes = (Interval, Categories)
    otherwise = "for tables of several attributes ask dt.goals.Tables"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cells is not None and (
            isinstance(self.cells, bool)
            or not isinstance(self.cells, int)
            or not 2 <= self.cells <= MOST_INPUTS
        ):
            raise InvalidParameter(
                f"expected cells to be an integer from 2 to {MOST_INPUTS}, got {found(self.cells)}"
            )

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        if isinstance(domain, Categories):
            if self.cells is not None:
                raise InvalidParameter(
                    "expected no cells for a scale, because its answers are the cells; leave cells out"
                )
            answers = domain
        else:
            answers = Categories(DEFAULT_CELLS if self.cells is None else self.cells)
        made: list[Candidate] = []
        with suppress(DitherError):  # too many answers, a budget out of range, or scipy is not installed
            made.append(Candidate("Cumulative", Cumulative(domain, epsilon=epsilon, cells=self.cells)))
        for kind in (KRR, SubsetIndices, SubsetSelection):
            try:
                made.append(Candidate(kind.__name__, kind(answers, epsilon=epsilon)))
            except InvalidParameter:  # sets too small or too large
                continue
        return made

    def spread(self, mechanism: Any) -> float:
        if isinstance(mechanism, Cumulative):
            return float(mechanism.average_variance / (len(mechanism.question.kernel.channel.values) - 1))
        size = len(mechanism.categories)
        matrix = prefixes(size)
        return summed_variance(mechanism, matrix) / (size - 1)

    def sampling(self, domain: Domain) -> float:
        """Return the mean of F(1 − F) over the inner edges, for people spread evenly."""
        size = len(domain) if isinstance(domain, Categories) else self.cells or DEFAULT_CELLS
        return (size + 1) / (6.0 * size)

    def least_error(self, candidates: list[Candidate]) -> float | None:
        solved = [
            candidate.mechanism for candidate in candidates if isinstance(candidate.mechanism, Cumulative)
        ]
        return _below(self, solved[0]) if solved else None

    def reason(self, first: Candidate, domain: Domain) -> str:
        if isinstance(first.mechanism, Cumulative):
            above = math.sqrt(1.0 + first.mechanism.gap) - 1.0
            smooth = show_cell(self.smooth_error(first.mechanism))
            return (
                f"solved: an error at most {percent(above)} above the smallest possible without bias; "
                f"dt.cumulative(reports, method='empirical bayes') has {smooth} for a smooth shape "
                f"(simulated: Beta(2, 5), {_RUNS} runs)"
            )
        return "the smallest error when frequencies are summed"

    def smooth_error(self, mechanism: Cumulative) -> float:
        """Return the predicted error of `dt.cumulative(reports, method="empirical bayes")`, simulated.

        People are drawn from a Beta(2, 5) over the cells. Beyond 2^17 people the error is taken to fall as
        1/√n. The estimate is biased where neighbouring cells are unlike, so it is never the default.
        """
        question: Any = mechanism.question
        n, edges = people_of(self.n), question.reading.edges
        size, people = len(edges) - 1, min(n, _MOST_PEOPLE)
        ends = np.linspace(0.0, 1.0, size + 1)
        below = 1.0 - (1.0 - ends) ** 6 - 6.0 * ends * (1.0 - ends) ** 5  # the cdf of Beta(2, 5)
        labels = mechanism.domain.labels if isinstance(mechanism.domain, Categories) else None
        squares = []
        for run in range(_RUNS):
            cells = np.random.default_rng(run).choice(size, people, p=np.diff(below))
            values = [labels[cell] for cell in cells] if labels else (edges[cells] + edges[cells + 1]) / 2.0
            reported = cumulative(mechanism.perturb(values, source=Seeded(run)), method="empirical bayes")
            truth = np.cumsum(np.bincount(cells, minlength=size)) / people
            squares.append(np.mean((np.asarray(reported.value) - truth)[:-1] ** 2))
        return math.sqrt(float(np.mean(squares)) * people / n)


@dataclass(frozen=True)
class Tables(Averaged):
    """The shares of all cells of all tables of `way` attributes among n people.

    The error is the root mean square over all cells, for people spread evenly. With `rows=True` the tables
    are for `dt.rows`: the error is the L1 distance of a table of two attributes in rows, simulated for
    attributes that each depend on the one before. Then more people may be asked about one attribute.

    >>> import dither as dt
    >>> profile = dt.Profile({name: dt.Categories(8) for name in "abcde"})
    >>> dt.recommend(profile, Tables(n=20_000, rows=True), epsilon=1)[0]["mechanism"]
    'Marginals(one_way=0.3)'
    """

    way: int = 2
    rows: bool = False

    apart = True
    takes = (Profile,)
    otherwise = "for one list of answers ask dt.goals.Frequencies"

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        made = [Candidate("Marginals", Marginals(domain, epsilon=epsilon, way=self.way))]
        if self.rows and self.way == 2 and len(domain.sizes) > 1:
            with suppress(InvalidParameter):  # attributes of many answers
                single = Marginals(domain, epsilon=epsilon, one_way=_ONE_WAY)
                made.append(Candidate(f"Marginals(one_way={_ONE_WAY})", single))
        return made

    def spread(self, mechanism: Any) -> float:
        if self.rows:
            return people_of(self.n) * _distance_of_rows(mechanism, people_of(self.n)) ** 2
        tables = combinations(mechanism.domain.sizes, self.way)
        return float(mechanism.average_variance / sum(math.prod(table) for table in tables))

    def sampling(self, domain: Any) -> float:
        """Return the mean of c(1 − c) over all cells, for people spread evenly; 0 if `rows`."""
        if self.rows:
            return 0.0
        sizes = [math.prod(table) for table in combinations(domain.sizes, self.way)]
        return float(sum(1.0 - 1.0 / size for size in sizes) / sum(sizes))

    def least_error(self, candidates: list[Candidate]) -> float | None:
        return None if self.rows else _below(self, candidates[0].mechanism)

    def reason(self, first: Candidate, domain: Domain) -> str:
        if self.rows:
            return f"rows are nearest in {_ROWS_RUNS} simulations; each attribute depends on the one before"
        above = math.sqrt(1.0 + first.mechanism.gap) - 1.0
        request = "linear functions of pairs" if first.mechanism.plan.field else "pairs themselves"
        return f"an error at most {percent(above)} above the smallest possible; it reports {request}"


def _distance_of_rows(mechanism: Marginals, n: int) -> float:
    """Return the mean L1 distance of the tables of pairs, between people and rows made from their reports."""
    people, distances = min(n, _MOST_PEOPLE), []
    sizes, names = mechanism.domain.sizes, mechanism.domain.names
    for run in range(_ROWS_RUNS):
        random = np.random.default_rng(run)
        codes = [random.beta(2.0, 4.0, people)]
        for _ in sizes[1:]:  # six in ten have about the relative rank of the previous attribute
            codes.append(np.where(random.random(people) < 0.6, codes[-1], random.beta(2.0, 4.0, people)))
        values = {
            name: np.minimum((code * size).astype(np.int64), size - 1)
            for name, code, size in zip(names, codes, sizes, strict=True)
        }
        answers = dict(zip(names, (part.labels for part in mechanism.domain.parts), strict=True))
        labelled = {name: [answers[name][code] for code in values[name].tolist()] for name in names}
        made = rows(mechanism.perturb(labelled, source=Seeded(run)), people, seed=run)
        for pair in combinations(range(len(sizes)), 2):
            first, second = (names[index] for index in pair)
            shape = sizes[pair[0]], sizes[pair[1]]
            cells = np.ravel_multi_index((values[first], values[second]), shape)
            truth = np.bincount(cells, minlength=math.prod(shape)).reshape(shape) / people
            distances.append(float(np.abs(made.shares(first, second) - truth).sum()))
    return float(np.mean(distances))


def _below(goal: Averaged, mechanism: Any) -> float | None:
    """Return the smallest error that the certified gap of a solved mechanism leaves possible."""
    error = goal.error(mechanism)
    if error is None or not math.isfinite(mechanism.gap):  # no bound is proved
        return None
    return error / math.sqrt(1.0 + mechanism.gap)


def summed_variance(protocol: Any, matrix: Floats) -> float:
    """Return the variance of one report, over all queries, when the frequencies of symmetric sets are summed.

    With sets of w out of k, K = aI + bJ: its diagonal is (p·E + 1 − p)·k/(w·E + k − w), its rows sum to k.
    """
    size = len(protocol.categories)
    chosen = getattr(protocol.question.kernel, "chosen", 1)
    ratio = float(protocol.question.kernel.ratio)
    own = float(protocol.rates[0])
    diagonal = (own * ratio + 1.0 - own) * size / (chosen * ratio + size - chosen)
    beside = (size - diagonal) / (size - 1)
    moments = np.full((size, size), beside) + (diagonal - beside) * np.eye(size)
    gram = matrix.T @ matrix
    return float(np.trace(np.linalg.solve(moments, gram)) - np.trace(gram) / size)
