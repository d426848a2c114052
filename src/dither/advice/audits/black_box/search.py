"""The search for the event that separates two inputs best: columns and bits, and a classifier of them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.advice.audits.black_box.columns import Binning, Bit, Edges, Event, bins_of, bits_of, has_bits
from dither.advice.audits.black_box.parts import Columns
from dither.foundation.arrays import Array, Floats, Integers, Mask

_STEPS: Final = 8
_RIDGE: Final = 1.0  # shrinkage of the weights towards 1: the sum of the log ratios
_MOST_WEIGHT: Final = 4.0  # if the reports of two inputs are separable, weights would grow without bound
_NAME: Final = "score"


@dataclass(frozen=True, eq=False)
class Score:
    """Bins of a weighted sum of log ratios, a score of the similarity to reports of the first input."""

    binnings: tuple[Binning, ...]
    ratios: tuple[Floats, ...]  # the log ratios of each column, by bin
    weights: Floats
    edges: Edges

    @property
    def column(self) -> str:
        """The name of the binned column or score."""
        return "the classifier's score"

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.edges.size

    def bins(self, columns: Columns, count: int) -> Integers:
        """Return the bin of each of `count` reports."""
        features = [
            ratios[binning.bins(columns, count)]
            for binning, ratios in zip(self.binnings, self.ratios, strict=True)
        ]
        return self.edges.bins({_NAME: _sum(np.stack(features, axis=1), self.weights)}, count)

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return self.edges.names()

    def words(self, chosen: Mask) -> str:
        """Return a set of bins in words."""
        names = [
            f"{weight:.2g}·[{binning.column}]"
            for binning, weight in zip(self.binnings, self.weights.tolist(), strict=True)
        ]
        about = self.edges.words(chosen).removeprefix(_NAME).strip()
        return f"the sum of log ratios {' + '.join(names)} is {about}"


def score_reports(
    tables: list[tuple[Binning, Integers, Floats]], first: Mask, half: Mask
) -> tuple[Score, Integers] | None:
    """Return the bins of a score, and the bin of each report, or None without two informative columns.

    A table is a binning, the bins of the reports, and the counts of both inputs in the first half. `first`
    says which reports are of the first input. Log ratios come from one half, weights from the other.
    """
    ratios = [_log_ratios(counts) for _, _, counts in tables]
    features = np.stack([ratio[bins] for ratio, (_, bins, _) in zip(ratios, tables, strict=True)], axis=1)
    useful = np.flatnonzero(features.std(axis=0) > 0.02)
    if len(useful) < 2 or not (~half).any():
        return None
    features = features[:, useful]
    weights = _fit(features[~half], first[~half])
    bins = bins_of(_NAME, _sum(features, weights))
    if not bins or not isinstance(bins[0], Edges):
        return None
    edges = bins[0]
    score = Score(
        tuple(tables[at][0] for at in useful.tolist()),
        tuple(ratios[at] for at in useful.tolist()),
        weights,
        edges,
    )
    return score, edges.bins({_NAME: _sum(features, weights)}, len(features))


def _log_ratios(counts: Floats) -> Floats:
    """Return ln(p/q) of every bin, shrunk towards 0 where few reports fell into it."""
    totals = np.maximum(counts.sum(axis=1), 1.0)
    shares = (counts + 1.0) / (totals[:, None] + counts.shape[1])
    return np.asarray(np.log(shares[0] / shares[1]), dtype=np.float64)


def _sum(features: Floats, weights: Floats) -> Floats:
    # Rounded, and added column by column: one set of columns has one score, in a batch of any size.
    total = np.zeros(len(features))
    for at, weight in enumerate(weights.tolist()):
        total += weight * features[:, at]
    return np.round(total, 9)


def _fit(features: Floats, first: Mask) -> Floats:
    """Return the weights of a logistic regression without intercept, by Newton's method."""
    weights = np.ones(features.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30.0, 30.0)))
        slope = features.T @ (first - chance) - _RIDGE * (weights - 1.0)
        curve = (features * (chance * (1.0 - chance))[:, None]).T @ features
        step = np.linalg.solve(curve + _RIDGE * np.eye(len(weights)), slope)
        weights = np.clip(weights + step, -_MOST_WEIGHT, _MOST_WEIGHT)
        if float(np.abs(step).max()) < 1e-6:
            break
    return weights


_CAREFUL: Final = 3.0  # standard errors, when a set is chosen
_CLASSIFIED: Final = 2  # pairs of inputs for which a classifier is trained
_MOST_COLUMNS: Final = 12  # columns that a classifier combines
_MOST_PAIRS: Final = 1200  # searched pairs of inputs: those that differ most in one bin


@dataclass(frozen=True, eq=False)
class CandidateEvent:
    """An event that seems likelier under the input `first` than under `second`, by e^score."""

    first: int
    second: int
    event: Event
    score: float


def search(
    columns: Columns, which: Integers, pairs: Integers, *, delta: float, errors: float
) -> list[CandidateEvent]:
    """Return candidate events, best first: at most one of each pair and column.

    `which` is the index of each report's input, `pairs` are the ordered pairs of indices, and `errors` is the
    number of standard errors that the ranking subtracts.
    """
    count = len(which)
    inputs = int(pairs.max()) + 1
    half = np.arange(count) % 2 == 0
    found: list[CandidateEvent] = []
    tables: list[tuple[Binning, Integers, Floats, Floats]] = []
    names, bits = screen(columns, which, half, pairs)
    for binning in (*(made for name in names for made in bins_of(name, columns[name])), *bits):
        bins = binning.bins(columns, count)
        learn, check = (tally(which[part], bins[part], inputs, binning.size) for part in (half, ~half))
        tables.append((binning, bins, learn, check))
        found += _of_column(binning, learn, check, pairs, delta, errors)
    found.sort(key=_rank)
    if len(tables) > 1:
        found += _classifier_events(found, tables, which, half, delta, errors)
        found.sort(key=_rank)
    return found


def _rank(candidate: CandidateEvent) -> float:
    """Return the sort key of a candidate; among about equal scores, the earlier and simpler column wins."""
    return -round(candidate.score, 1)


def tally(which: Integers, bins: Integers, inputs: int, size: int) -> Floats:
    """Return the number of reports of each input in each bin."""
    return np.bincount(which * size + bins, minlength=inputs * size).reshape(inputs, size).astype(np.float64)


def _of_column(
    binning: Binning, learn: Floats, check: Floats, pairs: Integers, delta: float, errors: float
) -> list[CandidateEvent]:
    if len(pairs) > _MOST_PAIRS:
        pairs = _most_different(learn, pairs)
    first, second = pairs[:, 0], pairs[:, 1]
    chosen = best_sets(learn[first], learn[second], delta)
    scores = lower(check[first], check[second], chosen, delta, errors)
    both = learn + check
    final = best_sets(both[first], both[second], delta)  # the same rule on all samples: the test has others
    return [
        CandidateEvent(int(a), int(b), Event(binning, mask), float(score))
        for a, b, mask, score in zip(first, second, final, scores, strict=True)
        if mask.any()
    ]


def _most_different(counts: Floats, pairs: Integers) -> Integers:
    """Return half of `_MOST_PAIRS` pairs: those with the largest lower bound on ln(p/q) of a single bin."""
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    least = np.log(np.maximum(_wilson(counts, totals, -_CAREFUL), 1e-12))
    most = np.log(_wilson(counts, totals, _CAREFUL))
    scores = np.stack([(low - most).max(axis=1) for low in least])[pairs[:, 0], pairs[:, 1]]
    return pairs[np.sort(np.argpartition(-scores, _MOST_PAIRS // 2)[: _MOST_PAIRS // 2])]


def best_sets(first: Floats, second: Floats, delta: float, *, from_the_top: bool = False) -> Mask:
    """Return for each row of counts the set of bins with the largest lower bound on ε.

    Sets begin with the bins of the largest ratios, or `from_the_top` with the last bins of a score.
    """
    ones, twos = (np.maximum(side.sum(axis=1, keepdims=True), 1.0) for side in (first, second))
    if from_the_top:
        order = np.broadcast_to(np.arange(first.shape[1])[::-1], first.shape)
    else:
        ratio = (first + 0.5) / ones / ((second + 0.5) / twos)
        order = np.argsort(-ratio, axis=1, kind="stable")
    ahead = np.cumsum(np.take_along_axis(first, order, axis=1), axis=1)
    behind = np.cumsum(np.take_along_axis(second, order, axis=1), axis=1)
    bound = _log_ratio(ahead, ones, behind, twos, delta, _CAREFUL)
    length = np.argmax(bound, axis=1)
    ranks = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    return np.asarray(ranks <= length[:, None], dtype=np.bool_)


def lower(first: Floats, second: Floats, chosen: Mask, delta: float, errors: float) -> Floats:
    """Return an approximate lower bound on ε for each row of counts and set of bins."""
    return _log_ratio(
        (first * chosen).sum(axis=1),
        np.maximum(first.sum(axis=1), 1.0),
        (second * chosen).sum(axis=1),
        np.maximum(second.sum(axis=1), 1.0),
        delta,
        errors,
    )


def _log_ratio(
    ahead: Floats, of: Floats, behind: Floats, out_of: Floats, delta: float, errors: float
) -> Floats:
    """Return ln((p − δ)/q) with p at its lower and q at its upper end of Wilson's interval [Wilson27]."""
    low = _wilson(ahead, of, -errors) - delta
    high = _wilson(behind, out_of, errors)
    return np.log(np.maximum(low, 1e-12)) - np.log(high)


def _wilson(hits: Floats, trials: Floats, errors: float) -> Floats:
    square = errors * errors
    centre = hits + square / 2.0
    spread = errors * np.sqrt(hits * (trials - hits) / trials + square / 4.0)
    return np.maximum((centre + spread) / (trials + square), 0.0)


def _classifier_events(
    found: list[CandidateEvent],
    tables: list[tuple[Binning, Integers, Floats, Floats]],
    which: Integers,
    half: Mask,
    delta: float,
    errors: float,
) -> list[CandidateEvent]:
    """Return events about a classifier's score, for the pairs of inputs that already look best."""
    best: list[CandidateEvent] = []
    for pair in dict.fromkeys((event.first, event.second) for event in found):
        if len(best) == _CLASSIFIED:
            break
        first, second = pair
        ranked = {
            id(event.event.binning): event.score for event in found if (event.first, event.second) == pair
        }
        used = sorted(tables, key=lambda table: -ranked.get(id(table[0]), -np.inf))[:_MOST_COLUMNS]
        here = (which == first) | (which == second)
        score = score_reports(
            [(binning, bins[here], learn[[first, second]]) for binning, bins, learn, _ in used],
            which[here] == first,
            half[here],
        )
        if score is None:
            break
        binning, bins = score
        order = np.where(which[here] == first, 0, 1)
        counts = [tally(order[part], bins[part], 2, binning.size) for part in (half[here], ~half[here])]
        chosen = best_sets(counts[0][:1], counts[0][1:], delta, from_the_top=True)
        mark = lower(counts[1][:1], counts[1][1:], chosen, delta, errors)
        both = counts[0] + counts[1]
        mask = best_sets(both[:1], both[1:], delta, from_the_top=True)[0]
        best.append(CandidateEvent(first, second, Event(binning, mask), float(mark[0])))
    return best


_REPORTS: Final = 1 << 14  # examined reports, or _OF_EACH of each input
_OF_EACH: Final = 100
_ALWAYS, _BEST = 24, 24  # columns that are searched: the first ones, and the best of the others
_BITS: Final = 16  # single bits that are searched
_NOTABLE: Final = 3.0  # standard errors; the least difference of two inputs in a bit
_VALUES: Final = 16  # numbers, or quantiles, at which a screened column is compared
_PAIRS: Final = 256  # pairs of inputs that are compared one by one; otherwise the two that differ most


def screen(columns: Columns, which: Integers, half: Mask, pairs: Integers) -> tuple[list[str], list[Bit]]:
    """Return the columns and the single bits that separate two inputs best, all columns if they are few.

    On the reports that `half` marks, every bit of every column is counted; for more than 48 columns, also
    where their values lie. The other reports rank the events. This restricts the search; the events that are
    found are tested on fresh reports.
    """
    inputs = int(pairs.max()) + 1
    indices = np.flatnonzero(half)[-max(_REPORTS, _OF_EACH * inputs) :]
    indices = indices[np.argsort(which[indices], kind="stable")]
    known, starts, totals = np.unique(which[indices], return_index=True, return_counts=True)
    index = np.full(inputs, -1)
    index[known[known < inputs]] = np.flatnonzero(known < inputs)
    both = index[pairs][(index[pairs] >= 0).all(axis=1)]
    many = len(columns) > _ALWAYS + _BEST
    bits: list[tuple[float, Bit]] = []
    best: dict[str, float] = {}
    for name, column in columns.items():
        recent = column[indices]
        each = np.zeros(0)
        if has_bits(name) and len(both):
            data = bits_of(recent)
            each = _separation(np.unpackbits(data, axis=1, bitorder="little"), starts, totals, both)
            notable = np.flatnonzero(each > _NOTABLE)
            bits += [
                (float(each[at]), Bit(name, int(at))) for at in notable[np.argsort(-each[notable])][:_BITS]
            ]
        if many and len(both):
            values = _separation(_indicators(recent), starts, totals, both)
            best[name] = float(max(each.max(initial=0.0), values.max(initial=0.0)))
    bits.sort(key=lambda scored: -scored[0])
    names = list(columns)
    if many:
        others = sorted(names[_ALWAYS:], key=lambda name: -best.get(name, 0.0))[:_BEST]
        names = [name for name in names if name in {*names[:_ALWAYS], *others}]
    return names, [bit for _, bit in bits[:_BITS]]


def _indicators(column: Array) -> Array:
    """Return rows of 0 and 1: which of a few values a number has, or which quantiles are below it."""
    if column.ndim > 1:
        return np.zeros((len(column), 0), dtype=np.uint8)
    if column.dtype.kind == "O":
        codes = np.array([zlib.crc32(repr(value).encode()) for value in column.tolist()], dtype=np.uint32)
        return np.unpackbits(bits_of(codes), axis=1, bitorder="little")
    numbers = column.astype(np.float64)
    values = np.unique(numbers[~np.isnan(numbers)])
    if len(values) <= _VALUES:
        return np.asarray(numbers[:, None] == values, dtype=np.uint8)
    cuts = np.quantile(numbers[~np.isnan(numbers)], np.linspace(0.0, 1.0, _VALUES + 1)[1:-1])
    return np.asarray(numbers[:, None] > cuts, dtype=np.uint8)


def _separation(ones: Array, starts: Integers, totals: Integers, pairs: Integers) -> Floats:
    """Return, for columns of 0 and 1 ordered by input, the difference of two inputs in standard errors."""
    shares = (np.add.reduceat(ones, starts, axis=0, dtype=np.int64) + 0.5) / (totals[:, None] + 1.0)
    if len(pairs) > _PAIRS:
        high, low = shares.argmax(axis=0), shares.argmin(axis=0)
        at = np.arange(shares.shape[1])
        return _errors(shares[high, at], shares[low, at], totals[high], totals[low])
    first, second = pairs[:, 0], pairs[:, 1]
    gaps = _errors(shares[first], shares[second], totals[first][:, None], totals[second][:, None])
    return np.asarray(gaps.max(axis=0, initial=0.0), dtype=np.float64)


def _errors(first: Floats, second: Floats, ones: Integers, twos: Integers) -> Floats:
    share = (first * ones + second * twos) / (ones + twos)
    return np.asarray(np.abs(first - second) / np.sqrt(share * (1.0 - share) * (1.0 / ones + 1.0 / twos)))
