"""Common texts and their frequencies: prefixes are extended level by level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dither.core.counts import name_result
from dither.core.kernels.sets.prefix import PrefixKernel
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.frequency import EstimatedFrequencies, read
from dither.foundation.arrays import Bytes, Integers, Words
from dither.foundation.numerics.binomial import binomial_threshold


@name_result
def heavy_hitters(reports: Reports, *, most: int = 64, false_alarm: float = 0.01) -> EstimatedFrequencies:
    """Return the common texts and their estimated frequencies, the most frequent first.

    Every level has its own group of people. A prefix is followed if its estimated frequency is above a
    threshold that one absent prefix passes on average; at most `most` prefixes are followed. A text is
    returned if its frequency is above a threshold that no absent text passes with probability
    1 − `false_alarm`. The frequencies come from the last level; its people had no part in choosing the
    candidates. They are unbiased for every candidate, and a little too large on average for those just above
    the threshold. `.projected()` has posterior means instead, under the distribution of the frequencies of
    all candidates of the last level. Selection does not bias them.
    """
    kernel = reports.question.kernel if isinstance(reports, Reports) else None
    if not isinstance(kernel, PrefixKernel):
        made = reports.question.name if isinstance(reports, Reports) else type(reports).__name__
        raise InvalidParameter(f"expected reports of dt.PEM to find heavy hitters, got reports of {made}")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidParameter(
            f"expected most, the number of prefixes to follow, to be an integer of at least 1, got "
            f"{found(most)}"
        )
    if not 0.0 < false_alarm < 1.0:
        raise InvalidParameter(
            f"expected false_alarm to be a probability strictly between 0 and 1, got {found(false_alarm)}"
        )
    cells = reports.cells.reshape(-1)
    level = kernel.levels(cells)
    prefixes, keys = np.zeros((1, 0), dtype=np.uint8), np.zeros(1, dtype=np.uint64)
    for here, end in enumerate(kernel.ends):
        prefixes, keys = _extend(kernel, prefixes, keys, end)
        own = cells[level == here]
        if not own.size:
            raise NotIdentifiable(
                f"expected reports of level {here + 1} of {len(kernel.ends)}, got none; ask more people"
            )
        supports = kernel.oracle.hashing.count(*kernel.oracle.hashing.unpack(own), kernel.items(keys))
        alarms = false_alarm if here == len(kernel.ends) - 1 else 1.0
        kept = _common(kernel, supports, own.size, alarms)[:most]
        others = np.delete(supports, kept) / own.size
        prefixes, keys, supports = prefixes[kept], keys[kept], supports[kept]
    texts = tuple(kernel.text.decode(prefixes))
    found_texts = read(supports, own.size, kernel.oracle, texts, reports.question.guarantee)
    return replace(found_texts, unlisted=others)


def _extend(kernel: PrefixKernel, prefixes: Bytes, keys: Words, end: int) -> tuple[Bytes, Words]:
    """Return every prefix of length `end` that begins with one of the prefixes, and its key."""
    symbols = np.arange(kernel.text.symbols + 1, dtype=np.uint8)
    for index in range(prefixes.shape[1], end):
        over = (
            prefixes[:, -1] == 0 if index else np.zeros(1, dtype=np.bool_)
        )  # an ended text is extended by end symbols
        parent, symbol = np.nonzero(~over[:, None] | (symbols == 0))
        prefixes = np.column_stack([prefixes[parent], symbols[symbol]])
        keys = kernel.follow(keys[parent], symbols[symbol])
    return prefixes, keys


def _common(kernel: PrefixKernel, supports: Integers, n: int, alarms: float) -> Integers:
    """Return the indices, largest first, of supports that on average only `alarms` absent prefixes exceed."""
    if not supports.size:
        return np.zeros(0, dtype=np.int64)
    # The support of an absent prefix is exactly binomial. With few expected reports it is far from normal.
    threshold = binomial_threshold(min(alarms / supports.size, 0.5), n, float(kernel.oracle.rates[1]))
    order = np.argsort(-supports, kind="stable")
    common: Integers = order[supports[order] > threshold]
    return common
