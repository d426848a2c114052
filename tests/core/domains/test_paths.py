"""Paths as arrays."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt


def test_paths_from_what_callers_have() -> None:
    one = dt.Paths.of(np.zeros((5, 2)))
    assert (len(one), one.lengths.tolist()) == (1, [5])
    several = dt.Paths.of(np.zeros((3, 4, 2)))
    assert (len(several), several.lengths.tolist()) == (3, [4, 4, 4])
    ragged = dt.Paths.of([[(0, 0)], np.ones((3, 2)), [(2, 2), (3, 3)]])
    assert ragged.lengths.tolist() == [1, 3, 2]
    assert ragged[2].tolist() == [[2, 2], [3, 3]]
    assert ragged[-1].tolist() == ragged[2].tolist()
    assert ragged.begins.tolist() == [True, True, False, False, True, False]
    assert dt.Paths.split(ragged.points, ragged.begins).offsets.tolist() == ragged.offsets.tolist()
    assert len(dt.Paths.of([])) == 0
    assert dt.Paths.of(ragged) is ragged
    assert [len(path) for path in ragged.like(np.zeros(12))] == [1, 3, 2]
    assert dt.Paths.of([(1, 2), (3, 4)]).lengths.tolist() == [2]
    assert dt.Paths.of((1.0, 2.0)).lengths.tolist() == [1]
    assert "0.1234" not in repr(dt.Paths.of([(0.1234, 0.5)]))


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((0, 2)),
        np.zeros((2, 0, 2)),
        [[(0, 0)], []],
        [np.zeros((3, 2)), np.zeros((3, 3))],
        np.zeros(3),
        np.zeros((2, 2, 2, 2)),
        [["a", "b"]],
        [[(0, 0), (1, 1)], [(0, 0), (1,)]],
        5.0,
        None,
        np.ma.masked_array([[1.0, 2.0]], [[True, False]]),
    ],
)
def test_paths_that_are_none(bad: object) -> None:
    with pytest.raises(dt.errors.OutsideDomain):
        dt.Paths.of(bad)


def test_offsets_that_do_not_fit() -> None:
    for offsets in ([0], [0, 2], [1, 3], [0.0, 3.0], [[0, 3]], []):
        with pytest.raises(dt.errors.InvalidParameter):
            dt.Paths(np.zeros((3, 2)), np.asarray(offsets))
    with pytest.raises(dt.errors.OutsideDomain):
        dt.Paths(np.zeros((3, 2)), np.array([0, 2, 2, 3]))
    with pytest.raises(IndexError):
        dt.Paths.of(np.zeros((3, 2)))[1]
