"""What a summary counts: sums stay exact, and counts that no reports have are noticed."""

from __future__ import annotations

import numpy as np

from dither.core.kernels.counting import LeadingBits


def test_groups_keep_the_sum_of_all_cells() -> None:
    counting = LeadingBits(cells=64, rest=3)
    reports = np.random.default_rng(1).integers(0, 64, 500).astype(np.uint8)
    counts = counting.count(reports)
    assert counts.size == counting.size == 9
    assert 8 * int(np.arange(8) @ counts[:-1]) + int(counts[-1]) == int(reports.sum())


def test_counts_that_no_reports_have_do_not_add_up() -> None:
    """Of n reports the last three bits add up to 7n at most."""
    counting = LeadingBits(cells=64, rest=3)
    counts = counting.count(np.full(20, 15, dtype=np.uint8))  # the largest cell of its group
    assert counts[-1] == 140
    assert counting.adds_up(counts, 20)
    assert not counting.adds_up(counts, 19)
    counts[-1] += 1
    assert not counting.adds_up(counts, 20)
