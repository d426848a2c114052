"""Synthetic rows: a table with the estimated one- and two-way shares of the reports of several attributes.

For each pair the residual of the estimated table against the product of its margins is reduced to the
singular values above the noise level, shrunk [Gavish17]. The model is a maximum spanning forest of the
remaining pairs, by residual over noise. Rows are drawn along its trees [Chow68].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from dither.core.counts import Counts
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.marginals import tables
from dither.estimation.pairs import crosstab
from dither.estimation.projections import simplex
from dither.estimation.rounding import thousands
from dither.foundation.arrays import Floats, Integers
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pair = tuple[str, str]
_MOST_ROWS: Final = 10_000_000
_MOST_COPIES: Final = 1_000
_BEYOND: Final = 3.0  # standard errors of a cell; a singular value of noise may exceed its edge by this
_FEW: Final = 2.0  # the limit of noise is raised by this, over the root of the people of a question
_CLOSE: Final = 1e-9
_FITS: Final = 500


@dataclass(frozen=True, eq=False)
class PairTables:
    """Estimated tables of pairs of attributes with the standard error of every cell, and the people."""

    answers: Mapping[str, Sequence[Hashable]]
    margins: Mapping[str, Floats]  # unbiased shares of each attribute
    pairs: Mapping[Pair, Floats]  # empty for single attributes
    errors: Mapping[Pair, Floats]
    margin_errors: Mapping[str, Floats]
    n: int
    guarantee: Guarantee
    people: float  # average number of answers to one question
    agreeing: bool = False  # True if the tables agree about every attribute, which lowers their errors

    def redraw(self, random: np.random.Generator) -> PairTables:
        """Return tables with added normal errors, as other samples of the same people might give."""
        pairs = {
            pair: value + random.normal(size=value.shape) * self.errors[pair]
            for pair, value in self.pairs.items()
        }
        margins = {
            name: value + random.normal(size=value.size) * self.margin_errors[name]
            for name, value in self.margins.items()
        }
        return replace(self, pairs=pairs, margins=margins)


@dataclass(frozen=True, eq=False)
class _Dependence:
    """The dependence of a pair above the noise: the residual and its strength."""

    residual: Floats
    strength: float  # Frobenius norm relative to noise; 0 if nothing exceeds noise


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticRows(Tabular, Mapping[str, Sequence[Hashable]]):
    """Synthetic rows of several attributes: `rows["age"]` is one column. They are not people.

    `kept` are the pairs whose dependence is modelled directly. For `implied` pairs there is evidence of a
    dependence, but the rows have only the part that other pairs imply. For `lost` pairs the dependence could
    not be distinguished from chance. Standard errors computed from rows are wrong; use `error`, which needs
    `copies`.
    """

    answers: Mapping[str, Sequence[Hashable]]
    codes: Mapping[str, Integers]
    kept: tuple[Pair, ...]
    implied: tuple[Pair, ...]
    lost: tuple[Pair, ...]
    one_way_error: float  # expected L1 distance of the table of an attribute, on average
    two_way_error: float  # for a kept pair, before shrinking; nan without pairs
    people: int
    guarantee: Guarantee
    source: PairTables = field(repr=False)
    copies: tuple[SyntheticRows, ...] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> Sequence[Hashable]:
        if name not in self.codes:
            raise InvalidParameter(f"unknown column {found(name)}; expected one of {', '.join(self.codes)}")
        listed = self.answers[name]
        return [listed[code] for code in self.codes[name].tolist()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(next(iter(self.codes.values())))

    def records(self) -> list[Row]:
        """Return the rows, each with an answer for every attribute; no answer is empty."""
        columns = [self[name] for name in self.codes]
        return [dict(zip(self.codes, row, strict=True)) for row in zip(*columns, strict=True)]

    def shares(self, *names: str) -> Floats:
        """Return the table of some attributes in the rows."""
        shape = [len(self.answers[name]) for name in names]
        flat = np.ravel_multi_index([self.codes[name] for name in names], shape)
        return np.asarray(np.bincount(flat, minlength=math.prod(shape)).reshape(shape) / self.count)

    def error(self, statistic: Callable[[SyntheticRows], float]) -> float:
        """Return the standard error of a statistic of the rows: its standard deviation over the copies."""
        if len(self.copies) < 2:
            raise InvalidParameter(
                "expected copies for a standard error, got none: use dt.rows(reports, n, copies=20)"
            )
        return float(np.std([float(statistic(rows)) for rows in self.copies], ddof=1))

    def measurements(self) -> list[tuple[tuple[str, ...], Floats, float]]:
        """Return attributes, unbiased shares and their standard error, as `mbi.LinearMeasurement` takes them.

        `[mbi.LinearMeasurement(shares * n, names, stddev=error * n) for names, shares, error in …]`
        """
        given = self.source
        single = [((name,), value, _rms(given.margin_errors[name])) for name, value in given.margins.items()]
        return single + [
            (pair, value.reshape(-1), _rms(given.errors[pair])) for pair, value in given.pairs.items()
        ]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the strength of the dependence of each pair in the rows; needs the extra `plot`."""
        from dither.foundation.plotting import draw_rows

        pairs = list(combinations(self.codes, 2))
        names = {**dict.fromkeys(self.kept, "kept"), **dict.fromkeys(self.implied, "implied")}
        drawn: list[Row] = []
        for pair in pairs:
            table = self.shares(*pair)
            gap = np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0))).sum()
            drawn.append(
                {"pair": f"{pair[0]} × {pair[1]} ({names.get(pair, 'lost')})", "dependence": float(gap)}
            )
        return draw_rows(
            drawn,
            title=title or f"Synthetic rows\n{self.guarantee}",
            x="distance to independence",
            bars="dependence",
            ax=ax,
        )

    def __repr__(self) -> str:
        def show_pairs(pairs: Sequence[Pair]) -> str:
            return ", ".join(f"{a} × {b}" for a, b in pairs[:6]) + (", …" if len(pairs) > 6 else "") or "none"

        single = f"one-way error {self.one_way_error:.2g}"
        double = "" if math.isnan(self.two_way_error) else f", two-way error {self.two_way_error:.2g}"
        return (
            f"{thousands(self.count)} synthetic rows of {len(self)} attributes "
            f"from {thousands(self.people)} reports, {self.guarantee}\n"
            f"dependence kept: {show_pairs(self.kept)}\n"
            f"implied by others: {show_pairs(self.implied)}\n"
            f"lost (not distinguishable from chance): {show_pairs(self.lost)}\n"
            f"stated L1: {single}{double}; standard errors computed from rows are wrong, see .error"
        )


def rows(
    reports: Reports | Counts | Mapping[str, Reports], n: int, *, copies: int = 0, seed: int | None = None
) -> SyntheticRows:
    """Return n synthetic rows with the estimated one- and two-way shares of several attributes.

    `reports` come from `dt.Marginals`, or from `dt.Each` about categories. Rows are computed from the
    estimates, so they cost no privacy. A dependence that does not exceed noise is left out, and the result
    names it. `copies` are further sets of rows, redrawn from the errors of the estimates, for `error`.

    >>> import dither as dt
    >>> answers = dt.Categories(["yes", "no"])
    >>> survey = dt.Marginals({"tea": answers, "cup": answers}, epsilon=4)
    >>> people = {"tea": ["yes", "no"] * 5_000, "cup": ["yes", "no"] * 5_000}
    >>> made = dt.rows(survey.perturb(people, source=dt.Seeded(1)), 100, seed=1)
    >>> made.kept
    (('tea', 'cup'),)
    """
    for what, number, least, most in (("n", n, 1, _MOST_ROWS), ("copies", copies, 0, _MOST_COPIES)):
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise InvalidParameter(
                f"expected {what} to be an integer from {least} to {most}, got {found(number)}"
            )
    random = np.random.default_rng(seed)  # a plain generator is enough, because the estimates are public
    given = pair_tables(reports)
    further = tuple(_draw_rows(given.redraw(random), n, random) for _ in range(copies))
    return replace(_draw_rows(given, n, random), copies=further)


def pair_tables(reports: object) -> PairTables:
    """Return the estimated tables of all pairs of attributes."""
    if isinstance(reports, Reports | Counts):
        return _from_marginals(reports)
    parts = getattr(reports, "parts", None)
    if not isinstance(reports, Mapping) or not isinstance(parts, Mapping):
        raise InvalidParameter(
            f"expected reports of dt.Marginals, or of dt.Each about categories, got {found(reports)}"
        )
    if getattr(reports, "chosen", None) is not None:
        raise NotIdentifiable(
            "expected reports of several attributes from each person, because one attribute contains "
            "nothing about pairs; ask by dt.Marginals"
        )
    return _from_records(reports)


def _from_marginals(reports: Reports | Counts) -> PairTables:
    estimated = tables(reports)
    guarantee = next(iter(estimated.parts.values())).guarantee
    pairs, errors, margins, bounds = {}, {}, {}, {}
    for key, part in estimated.parts.items():
        value, error = np.asarray(part.value, dtype=np.float64), np.asarray(part.standard_error)
        if len(key) == 2:
            pairs[key[0], key[1]], errors[key[0], key[1]] = value, error
        else:
            margins[key[0]], bounds[key[0]] = value, error
    for (first, second), value in pairs.items():  # the tables agree about every attribute
        for name, axis in ((first, 1), (second, 0)):
            if name not in margins:
                held = [pair for pair in pairs if name in pair]
                margins[name] = value.sum(axis=axis)
                bounds[name] = np.sqrt((errors[first, second] ** 2).sum(axis=axis) / len(held))
    people = estimated.n / max(len(reports.question.kernel.functions), 1)
    ordered = {name: margins[name] for name in estimated.answers}
    return PairTables(
        estimated.answers, ordered, pairs, errors, bounds, estimated.n, guarantee, people, agreeing=True
    )


def _from_records(records: Mapping[str, Reports]) -> PairTables:
    from dither.estimation.verbs import frequencies

    for name, part in records.items():
        if "frequencies" not in part.question.quantities or part.question.domain.sets:
            raise InvalidParameter(
                f"expected attributes of categories for rows, but {name!r} is a number; ask numbers in bins, "
                "as dt.Categories"
            )
    if len(records) < 2:
        raise InvalidParameter(
            f"expected reports of at least two attributes, got {len(records)}; for one use dt.frequencies"
        )
    single = {name: frequencies(part) for name, part in records.items()}
    pairs, errors = {}, {}
    for first, second in combinations(records, 2):
        table = crosstab(records[first], records[second])
        pairs[first, second] = np.asarray(table.value, dtype=np.float64)
        errors[first, second] = np.asarray(table.standard_error, dtype=np.float64)
    question = getattr(records, "question", None)
    guarantee = getattr(question, "guarantee", next(iter(single.values())).guarantee)
    return PairTables(
        {name: tuple(part.labels) for name, part in single.items()},
        {name: np.asarray(part.value, dtype=np.float64) for name, part in single.items()},
        pairs,
        errors,
        {name: np.asarray(part.standard_error, dtype=np.float64) for name, part in single.items()},
        next(iter(single.values())).n,
        guarantee,
        float(next(iter(single.values())).n),
    )


def _draw_rows(given: PairTables, n: int, random: np.random.Generator) -> SyntheticRows:
    margins = {name: simplex(value) for name, value in given.margins.items()}
    found_pairs = {pair: _dependence(given, pair, margins) for pair in given.pairs}
    strong = [pair for pair, part in found_pairs.items() if part.strength > 0.0]
    strong.sort(key=lambda pair: -found_pairs[pair].strength)
    kept = _forest(list(margins), strong)
    joint = {pair: _fit(margins, pair, found_pairs[pair].residual) for pair in kept}
    lost = tuple(pair for pair, part in found_pairs.items() if not part.strength > 0.0)
    single = float(np.mean([_l1(error) for error in given.margin_errors.values()]))
    double = float(np.mean([_l1(error) for error in given.errors.values()])) if given.errors else math.nan
    return SyntheticRows(
        given.answers,
        _draw_codes(margins, joint, n, random),
        tuple(kept),
        tuple(pair for pair in strong if pair not in kept),
        lost,
        single,
        double,
        given.n,
        given.guarantee,
        given,
    )


def _rms(errors: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _l1(errors: Floats) -> float:
    """Return the expected sum of absolute normal errors."""
    return float(np.sum(errors) * math.sqrt(2.0 / math.pi))


def _dependence(given: PairTables, pair: Pair, margins: Mapping[str, Floats]) -> _Dependence:
    """Return the residual of a pair: singular values above noise, s → √(s² − edge²/2) [Gavish17]."""
    table = given.pairs[pair]
    residual = table - np.outer(table.sum(axis=1), table.sum(axis=0))
    # The largest singular value of noise is at most about the sum for the noisiest row and column; rows
    # and columns of a residual sum to 0, so that noise has (k − 1)·(l − 1) dimensions.
    errors = given.errors[pair] * _inflation(table.shape, len(margins) if given.agreeing else 2)
    noise, sides = _rms(errors), [max(size - 1, 1) for size in table.shape]
    across = math.sqrt(sides[1] / table.shape[1]) * float(np.sqrt((errors**2).sum(axis=1).max()))
    along = math.sqrt(sides[0] / table.shape[0]) * float(np.sqrt((errors**2).sum(axis=0).max()))
    edge = across + along
    # Counts of few people are skewed, so their largest singular value is larger.
    beyond = (edge + _BEYOND * float(errors.max())) * (1.0 + _FEW / math.sqrt(max(given.people, 1.0)))
    left, values, right = np.linalg.svd(residual, full_matrices=False)
    above = values > edge
    if not values[0] > beyond:
        return _Dependence(np.zeros_like(residual), 0.0)
    shrunk = np.where(above, np.sqrt(np.maximum(values**2 - edge**2 / 2.0, 0.0)), 0.0)
    expected = noise * math.sqrt(sides[0] * sides[1])
    return _Dependence(left * shrunk @ right, float(np.sqrt((shrunk**2).sum())) / max(expected, 1e-300))


def _inflation(shape: Sequence[int], attributes: int) -> float:
    """Return the error of a residual relative to a cell, if tables of `count` attributes agree about each.

    Agreement averages the (k − 1) + (l − 1) dimensions of the margins over the tables, and leaves the others.
    """
    rows_of, columns_of = shape
    inner = (rows_of - 1) * (columns_of - 1)
    left = inner + (rows_of + columns_of - 2) / max(attributes - 1, 1)
    return math.sqrt((rows_of * columns_of - 1) / left) if left > 0 else 1.0


def _forest(names: Sequence[str], ordered: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a maximum spanning forest; the strongest pairs come first (Kruskal)."""
    group = {name: name for name in names}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    kept = []
    for first, second in ordered:
        if root(first) != root(second):
            group[root(first)] = root(second)
            kept.append((first, second))
    return kept


def _fit(margins: Mapping[str, Floats], pair: Pair, residual: Floats) -> Floats:
    """Return a table without negative cells that has the margins, by iterative proportional fitting."""
    rows_of, columns_of = margins[pair[0]], margins[pair[1]]
    product = np.outer(rows_of, columns_of)
    table = np.maximum(product + residual, 1e-3 * product)
    for _ in range(_FITS):
        sums = table.sum(axis=1)
        table *= np.divide(rows_of, sums, out=np.zeros_like(sums), where=sums > 0.0)[:, None]
        sums = table.sum(axis=0)
        table *= np.divide(columns_of, sums, out=np.zeros_like(sums), where=sums > 0.0)[None, :]
        if np.abs(table.sum(axis=1) - rows_of).max() < _CLOSE:
            break
    return np.asarray(table)


def _draw_codes(
    margins: Mapping[str, Floats], joint: Mapping[Pair, Floats], n: int, random: np.random.Generator
) -> dict[str, Integers]:
    """Return the codes of n rows, drawn from the root of each tree to its leaves."""
    near: dict[str, list[tuple[str, Floats]]] = {name: [] for name in margins}
    for (first, second), table in joint.items():
        near[first].append((second, table))
        near[second].append((first, table.T))
    codes: dict[str, Integers] = {}
    for root in margins:
        waiting = [] if root in codes else [(root, np.zeros(n, dtype=np.int64), margins[root][None])]
        while waiting:
            name, parent, table = waiting.pop()
            codes[name] = _draw_column(parent, table, margins[name], random)
            waiting += [(other, codes[name], cells) for other, cells in near[name] if other not in codes]
    return {name: codes[name] for name in margins}


def _draw_column(parent: Integers, table: Floats, otherwise: Floats, random: np.random.Generator) -> Integers:
    """Return a code for each row, given the parent's, by systematic sampling: counts are nearly expected."""
    out = np.empty(parent.size, dtype=np.int64)
    for code in range(len(table)):
        here = np.flatnonzero(parent == code)
        total = table[code].sum()
        chances = table[code] / total if total > 0.0 else otherwise
        ends = np.floor(np.cumsum(chances) * here.size + random.random())
        ends[-1] = here.size
        counts = np.diff(np.minimum(ends, here.size), prepend=0.0).astype(np.int64)
        out[random.permutation(here)] = np.repeat(np.arange(chances.size), counts)
    return out
