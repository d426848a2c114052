"""A solved design as an exact channel: whole numbers whose ratios are at most e^ε."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from dither.errors import InvalidParameter
from dither.kernels.table.channel import Channel
from dither.optimal.queries.design import QueryDesign
from dither.privacy.exact import exp_below

_TOTAL: Final = 1 << 64  # the sum of a row; a channel scales it to 2^128 without rounding
_LEAST_SPARE: Final = 1e-9  # of the probability is left for the report that makes rows equal


def channel_of(design: QueryDesign, *, mirrored: bool) -> Channel:
    """Return the channel of a design, one more report than columns: each row's rest.

    A column of weight c has the integers L = ⌊c·(1 − δ)·2^64⌋ and H = ⌊L·E⁻⌋ with E⁻ ≤ e^ε. What a row lacks
    to 2^64 is the weight of the last report; δ is so large that its ratios are near 1. All ratios are
    checked.
    """
    bound = exp_below(Fraction(design.epsilon))
    patterns, weights = design.patterns, design.weights
    if mirrored:
        turned = ~(patterns == patterns[:, ::-1]).all(axis=1)
        patterns = np.concatenate([patterns, patterns[turned, ::-1]])
        weights = np.concatenate([weights, weights[turned]])
    sums = (1.0 + (float(bound) - 1.0) * patterns).T @ weights
    spare = max(_LEAST_SPARE, 4.0 * float(np.abs(sums - 1.0).max()))
    low = [int(weight * (1.0 - spare) / float(sums.max()) * _TOTAL) for weight in weights.tolist()]
    high = [int(one * bound) for one in low]
    columns = [(one, two) for one, two in zip(low, high, strict=True) if one > 0]
    marks = [row for row, one in zip(patterns.astype(np.int64).tolist(), low, strict=True) if one > 0]
    rows = []
    for place in range(design.inputs):
        row = [column[mark[place]] for column, mark in zip(columns, marks, strict=True)]
        rows.append([*row, _TOTAL - sum(row)])
    if min(row[-1] for row in rows) < 1:
        raise InvalidParameter("the weights of this design do not sum to 1")
    channel = Channel.of(rows)
    if channel.ratio > bound:  # in integers: that is the privacy proof
        raise InvalidParameter("this ε is too small for the number of inputs")
    return channel
