"""Which columns, and which single bits, of wide reports are worth a closer look."""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np

from dither.advice.audits.black_box.columns import Bit, bits_of, has_bits
from dither.advice.audits.black_box.parts import Columns
from dither.foundation.arrays import Array, Floats, Integers, Mask

_REPORTS: Final = 1 << 14  # that are looked at, or so many of each input
_OF_EACH: Final = 100
_ALWAYS, _BEST = 24, 24  # columns that are searched: the first ones, and the best of the others
_BITS: Final = 16  # single bits that are searched
_NOTABLE: Final = 3.0  # standard errors that two inputs must differ by in a bit
_VALUES: Final = 16  # different numbers, or quantiles, that a screened column is compared at
_PAIRS: Final = 256  # of inputs that are compared one by one; of more, the two that differ most


def screen(columns: Columns, which: Integers, half: Mask, pairs: Integers) -> tuple[list[str], list[Bit]]:
    """Return the columns and the single bits that separate two inputs best, all columns if they are few.

    Every bit of every column is counted, and of more than 48 columns where their values lie: on the reports
    that `half` marks, so that the others rank the events. This chooses what is searched; the events that are
    found are tested on fresh reports.
    """
    inputs = int(pairs.max()) + 1
    places = np.flatnonzero(half)[-max(_REPORTS, _OF_EACH * inputs) :]
    places = places[np.argsort(which[places], kind="stable")]
    known, starts, totals = np.unique(which[places], return_index=True, return_counts=True)
    place = np.full(inputs, -1)
    place[known[known < inputs]] = np.flatnonzero(known < inputs)
    both = place[pairs][(place[pairs] >= 0).all(axis=1)]
    many = len(columns) > _ALWAYS + _BEST
    bits: list[tuple[float, Bit]] = []
    best: dict[str, float] = {}
    for name, column in columns.items():
        recent = column[places]
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
    """Return rows of 0 and 1: which of a few values it is, or which quantiles it is above."""
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
    """Return for each column of 0 and 1, ordered by input, by how many standard errors two inputs differ."""
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
