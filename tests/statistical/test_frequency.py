"""Samplers draw what the law says: digit by digit where that can be shown, by chi-square elsewhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither import mechanisms
from dither.core.kernels.coin import FINE, BiasedCoin
from dither.core.kernels.packing import count_bits, row_width, unpack_rows
from dither.core.kernels.sets import hashing
from dither.core.kernels.sets.bits import DIGITS, Bits
from dither.core.kernels.sets.hadamard import Columns, walsh_hadamard
from dither.core.kernels.sets.hashing import Hashing
from dither.core.kernels.sets.subsets import SubsetBits
from dither.errors import InvalidParameter
from tests.support.broken import frequency as twins
from tests.support.cases.frequency import KINDS, LISTED, names, numbered
from tests.support.chi_square import ALARM, p_value
from tests.support.sources import Recorded, Scripted

ALL_KINDS = [*KINDS, dt.KRR]


def test_a_coin_compares_every_bit():
    coin = BiasedCoin((7 << 64) + 5)
    first = np.array([6, 8, 7, 7, 7, 0, 2**64 - 1], dtype=np.uint64)
    late = np.array([4, 5, 6], dtype=np.uint64)
    tosses = coin.toss(7, Scripted(first, late))
    assert tosses.tolist() == [True, False, True, False, False, True, False]


@pytest.mark.parametrize("heads", [1, 2**127, 2**128 - 2, 0x5A5A << 112 | 0xBEEF << 40, 3 << 115])
def test_sliced_bits_are_comparisons_of_whole_numbers(heads):
    """Every bit says whether a random number, put together from the digits drawn for it, is below."""
    people = 2000  # of whose bits about thirty need the late digits
    kernel = Bits(64, BiasedCoin(2**128 - 1), BiasedCoin(heads))
    source = Recorded(dt.Seeded(5))
    reports = np.empty((people, 8), dtype=np.uint8)
    kernel.write(np.zeros(people, dtype=np.int64), reports, source)
    drawn = [
        np.unpackbits(np.frombuffer(part, np.uint8), bitorder="little") for part in source.given[:DIGITS]
    ]
    target = heads >> (FINE - DIGITS)
    number = np.zeros(people * 64, dtype=np.int64)
    for place in range(DIGITS):
        number |= (1 - drawn[place].astype(np.int64)) << place  # the digit is the complement of the bit
    got = np.unpackbits(reports, bitorder="little").reshape(-1)
    tied = number == target
    late = np.frombuffer(source.given[DIGITS], dtype=np.uint64)
    assert late.size == tied.sum() > 10
    rest = heads & ((1 << (FINE - DIGITS)) - 1)
    below = number < target
    below[tied] = late < np.uint64(rest >> (FINE - DIGITS - 64))
    others = np.arange(people * 64) % 64 > 0  # the bit of the input is of another coin, which is 1
    assert np.array_equal(got[others].astype(bool), below[others])
    assert got[~others].all()


@pytest.mark.parametrize("row", range(1, 8))
def test_every_column_is_drawn_equally_often(row):
    """All columns and both sides of the coin, enumerated: pluses for heads, minuses for tails, each twice."""
    columns = np.arange(8, dtype=np.uint8)
    kernel = Columns.largest(1.0, 7)
    for word, sign in ((0, 0), (2**64 - 1, 1)):
        out = np.empty(8, dtype=np.uint8)
        kernel.write(np.full(8, row - 1), out, Scripted(columns, np.full(8, word, dtype=np.uint64)))
        wanted = [column for column in range(8) if (row & column).bit_count() & 1 == sign]
        assert sorted(out.tolist()) == sorted(wanted * 2)


def test_the_transform_is_the_matrix_product():
    counts = np.random.default_rng(1).integers(0, 100, 16)
    matrix = [[1 - 2 * ((r & c).bit_count() & 1) for c in range(16)] for r in range(16)]
    assert walsh_hadamard(counts).tolist() == (np.array(matrix) @ counts).tolist()


HEADS, TAILS = 0, 2**64 - 1


@pytest.mark.parametrize("left", [1, 2, 3, 7, 64])
def test_the_next_element_is_taken_fairly(left):
    """Of `left` equal shares of the words exactly `wanted` take the element; the rest is drawn again."""
    share = (2**32 - 1) // left
    edges = np.array(
        [word for i in range(left) for word in (i * share, (i + 1) * share - 1)], dtype=np.uint32
    )
    for wanted in range(left + 1):
        # Whoever's coin shows heads has the input in the set, and one element less to take.
        coin, chosen = (TAILS, wanted) if wanted else (HEADS, 1)
        rows = first_element(left, chosen, coin, edges)
        assert rows[:, 0].astype(bool).tolist() == (edges // share < wanted).tolist()
        assert (rows.sum(axis=1) == chosen).all()
    rejected, again = np.array([share * left], dtype=np.uint32), np.array([0], dtype=np.uint64)
    assert first_element(left, 1, TAILS, rejected, again)[0, 0]


def first_element(left, chosen, coin, words, *more):
    """Return sets of left + 1 elements, of which the input is the last, from words for the first element."""
    kernel = SubsetBits(left + 1, chosen, BiasedCoin((2**64 - 2) << 64))
    script = [np.full(words.size, coin, dtype=np.uint64), words, *more]
    reports = np.empty((words.size, row_width(left + 1)), dtype=np.uint8)
    kernel.write(np.full(words.size, left), reports, Scripted(*script, then=dt.Seeded(1)))
    return unpack_rows(reports, left + 1)


@pytest.mark.parametrize("size", [1, 8, 13, 128, 200])
@pytest.mark.parametrize("people", [0, 1, 511, 512, 5000, 40_000])
def test_adders_count_like_a_sum(size, people):
    rng = np.random.default_rng(size + people)
    table = rng.random((people, size)) < rng.random(size)
    rows = np.packbits(table, axis=1, bitorder="little")
    assert count_bits(rows, size).tolist() == table.sum(axis=0).tolist()
    assert count_bits(rows[people // 3 :], size).tolist() == table[people // 3 :].sum(axis=0).tolist()
    assert np.array_equal(unpack_rows(rows, size), table)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("kind", LISTED, ids=names(LISTED))
def test_samples_follow_the_law(kind, epsilon):
    mechanism = kind(dt.Categories(5), epsilon=epsilon)
    for x in (0, 3, 4):
        reports = mechanism.perturb(np.full(100_000, x), source=dt.Seeded(31))
        assert p_value(numbered(reports), mechanism.probabilities(x)) > ALARM


@pytest.mark.parametrize("kind", [dt.KRR, mechanisms.RR], ids=["KRR", "RR"])
def test_one_by_one_follows_the_same_law(kind):
    mechanism = kind(dt.Categories(2), epsilon=1)
    source = dt.Seeded(4)
    cells = np.array([int(mechanism.perturb(1, source=source).cells) for _ in range(5_000)])
    assert p_value(cells, mechanism.probabilities(1)) > ALARM


@pytest.mark.parametrize("x", [0, 3, 4])
def test_sets_one_by_one_follow_the_same_law(x):
    mechanism = dt.SubsetSelection(dt.Categories(5), epsilon=1)
    source = dt.Seeded(4)
    cells = np.array([int(mechanism.perturb(x, source=source).cells[0]) for _ in range(4_000)])
    assert p_value(cells, mechanism.probabilities(x)) > ALARM


@pytest.mark.parametrize("kind", [dt.OLH, dt.rivals.BLH], ids=["OLH", "BLH"])
def test_buckets_follow_the_law_given_the_seed(kind):
    """The seed is public: relative to the bucket of the answer under it, every report has one law."""
    mechanism = kind(dt.Categories(50), epsilon=1)
    seeds, told = mechanism.question.kernel.hashing.unpack(
        mechanism.perturb(np.full(200_000, 17), source=dt.Seeded(6)).cells
    )
    true = mechanism.question.kernel.hashing.bucket(seeds, np.full(seeds.size, 17))
    offset = (told - true) % mechanism.question.kernel.window.cells
    assert p_value(offset, mechanism.question.kernel.window.probabilities(0)) > ALARM
    flat = np.bincount((seeds >> np.uint64(41)).astype(np.int64), minlength=64)
    assert stats.chisquare(flat).pvalue > ALARM


@pytest.mark.some(every=4)
@pytest.mark.parametrize("gap", [1, 2, 3, 64, 512, 1023])
@pytest.mark.parametrize("buckets", [2, 3, 4, 21])
def test_two_items_collide_as_often_as_chance(gap, buckets):
    count = 400_000
    seeds = hashing.seeds(count, dt.Seeded(gap))
    family = Hashing(buckets)
    for first in (0, 5, 700):
        one = family.bucket(seeds, np.full(count, first))
        two = family.bucket(seeds, np.full(count, first + gap))
        table = np.bincount(one * buckets + two, minlength=buckets**2)
        assert stats.chisquare(table).pvalue > ALARM  # all pairs of buckets alike, not only the equal ones


def test_hashing_without_an_offset_would_be_rejected():
    count = 400_000
    multiplier, _ = hashing.stretch(hashing.seeds(count, dt.Seeded(1)))
    one, three = (((multiplier * np.uint32(x)) >> np.uint32(31)).astype(int) for x in (1, 3))
    assert stats.chisquare(np.bincount(one * 2 + three, minlength=4)).pvalue < ALARM


def test_the_hash_never_changes():
    seeds = np.array([0, 1, 123456789, 2**47 - 1], dtype=np.uint64)
    words = [16294208416658607535, 7960286522194355700, 1096517131005258612, 11524233237275464377]
    assert hashing.mix(seeds).tolist() == words
    items = [0, 1, 1023, 2**32 - 1]
    by_hand = [
        ((word >> 32) * item + (word & 0xFFFFFFFF)) % 2**32 * 21 >> 32
        for word, item in zip(words, items, strict=True)
    ]
    assert Hashing(21).bucket(seeds, np.array(items)).tolist() == by_hand == [10, 1, 4, 13]


@pytest.mark.parametrize("items", [range(40), range(7, 90, 3)])
def test_counting_by_additions_is_counting_by_hashing(items):
    family = Hashing(5)
    seeds = hashing.seeds(70_000, dt.Seeded(2))
    buckets = np.arange(70_000) % 5
    direct = [int((family.bucket(seeds, np.full(seeds.size, item)) == buckets).sum()) for item in items]
    assert family.count(seeds, buckets, items).tolist() == direct
    assert family.count(seeds, buckets, np.array(items, dtype=np.uint32)).tolist() == direct


def test_rows_scattered_in_memory_are_refused():
    rows = np.zeros((50, 4), dtype=np.uint8)[:, :1]
    with pytest.raises(dt.errors.InvalidParameter, match="contiguous"):
        Bits.fair(1.0, 5).write(np.zeros(50, dtype=int), rows, dt.Seeded(1))


def test_a_forgotten_bit_is_rejected():
    honest, twin = (kind(dt.Categories(5), epsilon=1) for kind in (dt.OUE, twins.NotCleared))
    law = honest.probabilities(2)
    for mechanism, fits in ((honest, True), (twin, False)):
        reports = mechanism.perturb(np.full(20_000, 2), source=dt.Seeded(8))
        assert (p_value(numbered(reports), law) > ALARM) is fits


def test_a_missing_factor_is_rejected():
    honest, twin = (kind(dt.Categories(5), epsilon=1) for kind in (dt.KRR, twins.WithoutFactor))
    for mechanism, fits in ((honest, True), (twin, False)):
        cells = mechanism.perturb(np.full(20_000, 2), source=dt.Seeded(8)).cells
        assert (p_value(cells, honest.probabilities(2)) > ALARM) is fits


def test_sets_that_hold_the_answer_too_often_are_rejected():
    honest = dt.SubsetSelection(dt.Categories(6), epsilon=1)
    twin = twins.unfair_subsets(6, honest.question.kernel.chosen, 1.0)
    for kernel, fits in ((honest.question.kernel, True), (twin, False)):
        rows = np.empty((50_000, 1), dtype=np.uint8)
        kernel.write(np.full(50_000, 1), rows, dt.Seeded(3))
        assert (p_value(rows[:, 0], honest.probabilities(1)) > ALARM) is fits


def test_every_set_has_the_same_chance_whatever_the_order():
    """Pairs of other categories are held alike: the one that takes the answer's number too."""
    mechanism = dt.SubsetSelection(dt.Categories(9), epsilon=1.0)
    held = mechanism.perturb(np.full(60_000, 4), source=dt.Seeded(2)).values
    pairs = [int((held[:, a] & held[:, b]).sum()) for a, b in combinations([0, 1, 3, 5, 8], 2)]
    assert stats.chisquare(pairs).pvalue > ALARM


@pytest.mark.parametrize("kind", ALL_KINDS, ids=names(ALL_KINDS))
def test_threads_and_seeds(kind):
    mechanism = kind(dt.Categories(2), epsilon=1)
    answers = np.arange(80_000) % 2
    first, second = (mechanism.perturb(answers, source=dt.Seeded(3), threads=2) for _ in range(2))
    assert first == second
    assert first.cells.shape[0] == answers.size
    with pytest.raises(InvalidParameter, match="one value per person"):
        mechanism.perturb(answers[:6].reshape(2, 3))
