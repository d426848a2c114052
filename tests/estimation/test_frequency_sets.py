"""Sets of items: items, sizes, pairs and the most frequent ones, with intervals that hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable

ITEMS, MOST = 12, 4
RATES = np.array([0.7, 0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.0, 0.0, 0.0, 0.2, 0.4])
TRUE_BOTH = 0.7 * 0.5


def drawn(people: int, seed: int) -> np.ndarray:
    """Independent items; sets of varying sizes, the empty one and larger ones than MOST among them."""
    return np.random.default_rng(seed).random((people, ITEMS)) < RATES


@pytest.fixture(scope="module")
def runs() -> tuple[dt.SetResponse, list[np.ndarray], list[Any]]:
    asked = dt.SetResponse(dt.Several(ITEMS, most=MOST), epsilon=1.5)
    truth = drawn(200 * 400, 1)
    told = asked.perturb(truth, source=dt.Seeded(1))
    cuts = [slice(begin, begin + 200) for begin in range(0, len(truth), 200)]
    return asked, [truth[cut] for cut in cuts], [told[cut] for cut in cuts]


def covered(estimates: list[Any], truth: np.ndarray) -> np.ndarray:
    ends = np.array([np.asarray(one.interval(0.95)) for one in estimates])
    return ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean(axis=0)


def test_intervals_of_items_and_sizes_hold(runs: tuple[Any, list[np.ndarray], list[Any]]) -> None:
    _, _, reports = runs
    people = drawn(400_000, 2)
    have = people.sum(axis=1)
    # A person with more than MOST items tells about each of them with probability MOST/size.
    kept = people * np.minimum(1.0, MOST / np.maximum(have, 1))[:, None]
    found = [dt.frequencies(one) for one in reports]
    shares = covered(found, kept.mean(axis=0))
    assert 0.94 <= shares.mean() <= 0.97
    assert shares.min() > 0.90
    sizes = covered([one.sizes for one in found], np.array([(have >= j).mean() for j in range(1, MOST + 1)]))
    assert 0.93 <= sizes.mean() <= 0.975
    unbiased = np.mean([np.asarray(one.value) for one in found], axis=0) - kept.mean(axis=0)
    assert np.abs(unbiased).max() < 5 * np.asarray(found[0].standard_error).max() / np.sqrt(len(found))


def test_both_items_are_estimated_without_bias(runs: tuple[Any, list[np.ndarray], list[Any]]) -> None:
    domain = dt.Several(6, most=6)  # nobody has too many, so that nothing is thinned
    asked = dt.SetResponse(domain, epsilon=1.0)
    if asked.question.kernel.chosen < 2:
        asked = dt.SetResponse(dt.Several(20, most=3), epsilon=1.0)
    people = np.zeros((200_000, len(asked.domain)), dtype=bool)
    picked = np.random.default_rng(3).random((len(people), 3)) < [0.7, 0.5, 0.3]
    people[:, :3] = picked
    told = asked.perturb(people, source=dt.Seeded(4))
    parts = [
        dt.stats.joint_frequency(told[begin : begin + 2_000], 0, 1) for begin in range(0, len(people), 2_000)
    ]
    values, errors = (np.array([getattr(one, name) for one in parts]) for name in ("value", "standard_error"))
    assert abs(values.mean() - TRUE_BOTH) < 5 * values.std() / np.sqrt(len(parts))
    assert errors.mean() == pytest.approx(values.std(), rel=0.25)
    inside = [one.interval(0.95)[0] <= TRUE_BOTH <= one.interval(0.95)[1] for one in parts]
    assert np.mean(inside) > 0.87


def test_what_cannot_be_said_is_refused() -> None:
    single = dt.SetResponse(dt.Several(100, most=10), epsilon=2)
    reports = single.perturb([[1, 2]] * 50, source=dt.Seeded(1))
    other = single.perturb([[1, 2]] * 50, source=dt.Seeded(2))
    assert single.question.kernel.chosen == 1
    with pytest.raises(NotIdentifiable):
        dt.stats.joint_frequency(reports, 1, 2)
    with pytest.raises(InvalidParameter):
        dt.stats.joint_frequency(dt.KRR(dt.Categories(3), epsilon=1).perturb([1]), 1, 2)
    for test in (
        lambda: dt.stats.same_distribution(reports, reports),
        lambda: dt.stats.crosstab(reports, other),
    ):
        with pytest.raises(InvalidParameter, match="sets of items"):
            test()


def test_the_top_items_are_stated_as_far_as_they_are_known() -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    asked = dt.SetResponse(dt.Several(names, most=4), epsilon=3)
    people = [["a", "b"]] * 3_000 + [["a", "b", "c"]] * 2_000 + [["d"]] * 1_990 + [[]] * 1_000
    found = dt.frequencies(asked.perturb(people, source=dt.Seeded(2)))
    top = found.top(3)
    assert set(top.surely) == {"a", "b"}
    assert set(top.possibly) == {"a", "b", "c", "d"}
    assert "4 or more: " in repr(found)
    clipped = np.asarray(found.projected().value)
    assert clipped.min() >= 0
    assert clipped.sum() > 1.5  # shares of items do not sum to one


def test_groups_weights_and_differences_are_those_of_frequencies() -> None:
    asked = dt.SetResponse(dt.Several(["a", "b", "c"], most=2), epsilon=4)
    reports = asked.perturb([["a"], ["a", "b"]] * 500, source=dt.Seeded(3))
    groups = dt.estimate(reports, by=["even", "odd"] * 500)
    gap = groups["odd"]["b"] - groups["even"]["b"]
    assert gap.interval(0.95)[0] < 1 < gap.interval(0.95)[1] + 0.05
    assert dt.estimate(reports)["a"].value == dt.frequencies(reports)["a"].value


def test_shares_of_thinned_sets_are_lower_bounds() -> None:
    """Where people have more items than they tell about, a plain ± held in no run."""
    asked = dt.SetResponse(dt.Several(8, most=2), epsilon=3)
    rates = np.array([0.9, 0.8, 0.7, 0.5, 0.3, 0.1, 0.0, 0.0])
    held = np.zeros(8)
    for seed in range(40):
        people = np.random.default_rng(seed).random((600, 8)) < rates
        told = asked.perturb(people, source=dt.Seeded(seed))
        found = dt.frequencies(told)
        low, high = found.interval()
        held += (low <= rates) & (rates <= high)
    assert (held >= 36).all()
    assert "±" not in repr(found)
    assert repr(found[0]).startswith("≥ 0.")
    assert "have 2 items or more" in repr(found[0])
    assert found[0].lower_bound
    assert found.at_any_time()[0].interval()[1] > high[0]
    assert found.if_lying(0.01)[0].interval()[1] > high[0]
    assert dt.frequencies(told, weights=np.ones(600))[0].lower_bound
    one = dt.SetResponse(dt.Several(8, most=1), epsilon=3).perturb(people, source=dt.Seeded(1))
    assert "have an item or more, and report 1" in repr(dt.frequencies(one))
    everything = dt.SetResponse(dt.Several(8, most=8), epsilon=3).perturb(people, source=dt.Seeded(1))
    assert not dt.frequencies(everything)[0].lower_bound  # nothing is thinned


def test_sums_and_pairs_of_thinned_sets_are_lower_bounds() -> None:
    """Items that devices leave out are missing in sums, scores and pairs of items, too."""
    asked = dt.SetResponse(dt.Several(12, most=2), epsilon=3, pairs=True)
    rates = np.array([0.8, 0.7, 0.6, *[0.0] * 9])
    held = np.zeros(4)
    for seed in range(40):
        people = np.random.default_rng(seed).random((800, 12)) < rates
        told = asked.perturb(people, source=dt.Seeded(seed))
        found = dt.frequencies(told)
        pair = dt.stats.joint_frequency(told, 0, 1)
        held += [
            found.sum([0, 1]).covers(1.5),
            found.score({0: 1, 1: -1}).covers(0.1),
            (found.sum([0, 1]) * -1.0).covers(-1.5),
            pair.covers(0.56),
        ]
    assert (held >= 36).all()
    assert repr(found.sum([0, 1])).startswith("≥ 1.")
    assert found.sum([0, 1]).lower_bound
    assert pair.lower_bound
    assert not found.score({0: 1, 1: -1}).lower_bound
    weighted = dt.frequencies(told, weights=np.full(800, 2.0)).sum([0, 1])
    assert weighted.interval() == pytest.approx(found.sum([0, 1]).interval(), rel=0.01)
    alone = asked.perturb([[0], [1], []] * 300, source=dt.Seeded(1))
    assert not dt.stats.joint_frequency(alone, 0, 1).lower_bound  # nobody has more than one item
    assert "±" in repr(dt.frequencies(alone).sum([0, 1]))


def test_lower_bounds_are_marked_in_every_form() -> None:
    """Tables of groups, files, frames, formats and combinations had plain numbers."""
    asked = dt.SetResponse(dt.Several(8, most=2), epsilon=3)
    people = np.random.default_rng(1).random((800, 8)) < np.array([0.9, 0.8, 0.7, 0.5, 0.3, 0.1, 0.0, 0.0])
    told = asked.perturb(people, source=dt.Seeded(1))
    found = dt.frequencies(told)
    assert found[0].thinned == pytest.approx(float(found.sizes[2]))  # type: ignore[index]
    row = found.records()[0]
    assert (row["bound"], row["thinned"]) == ("≥", found[0].thinned)
    assert f"{found[0]:.2f}" == f"≥ {found[0].interval()[0]:.2f}"
    groups = dt.estimate(told, by=["a", "b"] * 400)
    assert "of the sets are thinned" in groups.title
    assert "a           0  ≥ 0." in repr(groups)
    assert groups.rows[0]["bound"] == "≥"
    halves = [told[:400], told[400:]]
    together = dt.stats.combine(halves)
    for bound in (together, found.over_looks(5), found.if_lying(0.01), 0.5 * found[0] + 0.5 * found[1]):
        assert bound.lower_bound
        assert "≥" in repr(bound)
        assert "thinned" in repr(bound) or "have 2 items or more" in repr(bound)
    added = float(dt.frequencies(halves[0]).sizes[2].interval()[1])  # type: ignore[index]
    assert together[7].interval()[1] > 0.9 * added  # what devices leave out is not averaged away
    gap = found[0] - found[1]
    assert not gap.lower_bound
    assert "of the sets are thinned" in repr(gap)
    assert "of the sets are thinned" in dt.stats.difference(groups).title
