"""The goals of a first phase: the record, the table of docs/bounds.md that shows it, and a short form."""

from __future__ import annotations

import pytest

from tools.bounds import BEGIN, END, FEWEST, PAGE, ROWS, SHAPES, Sums, page, recorded, row_name, runs
from tools.coverage import lowest


def test_the_page_has_what_was_recorded() -> None:
    assert f"{BEGIN}\n{page()}\n{END}" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("epsilon", "share", "far"), ROWS)
def test_the_record_meets_the_goals(epsilon: float, share: float, far: bool) -> None:
    """50 times fewer people, 15 with one person in 100 at the far end; refused at ε = ½ with few people.

    The named mean holds in 93 to 97 % where bounds can be accepted; nobody uses those of ε = ½.
    """
    parts = recorded()[row_name(epsilon, share, far)]
    made = Sums.together(parts)
    assert len(parts) == len(SHAPES)
    assert all(part.runs >= 40 for part in parts)
    assert 0.93 <= made.mean_held / made.runs <= (0.97 if epsilon >= 1.0 else 1.0)
    assert made.outside_held >= 0.93 * made.runs
    for part in parts:
        assert part.mean_held >= lowest(0.95, part.runs)
        assert part.outside_held >= lowest(0.95, part.runs)
    if epsilon < 1.0:
        assert made.ready == 0
        return
    assert made.gain >= (15 if far else 50)
    if made.ready >= FEWEST:
        assert made.ready_gain >= (15 if far else 50)


@pytest.mark.slow
@pytest.mark.parametrize("far", [False, True])
def test_two_phases_need_far_fewer_people(far: bool) -> None:
    """The same with few runs of each shape, by the present code."""
    made = Sums.of([one for shape in range(len(SHAPES)) for one in runs(shape, 2.0, 0.3, far, 4)])
    assert made.ready > made.runs / 2
    assert made.ready_gain >= (15 if far else 50)
    assert made.mean_held >= lowest(0.95, made.runs)
    assert made.outside_held >= lowest(0.95, made.runs)
    assert not any(one.ready for shape in range(3) for one in runs(shape, 0.5, 0.1, far, 1))
