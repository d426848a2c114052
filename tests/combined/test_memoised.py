"""Permanent answers: the same for the same value on the same device, fresh everywhere else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain
from dither.privacy import Unit

AGE = dt.Podium(dt.Interval(0, 100), epsilon=1, cells=64)
KEY = bytes(range(32))
ALARM = 1e-6


def test_the_same_value_gives_the_same_report() -> None:
    device = dt.Memoised(AGE, KEY)
    first = device.perturb([30.0, 40.0, 30.0])
    assert first.cells[0] == first.cells[2]
    assert first == device.perturb([30, 40, 30])
    assert first[1:2] == device.perturb(np.array([40.0], dtype=np.float32))
    assert device.perturb([0.0]) == device.perturb([-0.0])
    assert device.perturb(np.array([[30.0], [40.0]])).cells.shape == (2, 1)
    assert device.perturb(30.0).cells.shape == ()
    assert first == pickle.loads(pickle.dumps(device)).perturb([30.0, 40.0, 30.0])


def test_devices_questions_and_values_are_independent() -> None:
    values = np.arange(64) + 0.5
    ours = dt.Memoised(AGE, KEY).perturb(values).cells
    others = [
        dt.Memoised(AGE, bytes(32)).perturb(values).cells,
        dt.Memoised(AGE.at(1.1), KEY).perturb(values).cells,
        dt.Memoised(dt.Podium(dt.Interval(0, 101), epsilon=1, cells=64), KEY).perturb(values).cells,
    ]
    assert all((ours == other).sum() < 20 for other in others)
    assert np.unique(ours).size > 10


def test_over_devices_the_law_is_the_mechanism_s() -> None:
    source = dt.Seeded(5)
    cells = np.array([int(dt.Memoised(AGE, source.take(32)).perturb(30.0).cells) for _ in range(1_500)])
    expected = np.array([float(p) for p in AGE.probabilities(30.0)]) * cells.size
    assert stats.chisquare(np.bincount(cells, minlength=64), expected).pvalue > ALARM
    elsewhere = np.array([float(p) for p in AGE.probabilities(60.0)]) * cells.size
    assert stats.chisquare(np.bincount(cells, minlength=64), elsewhere).pvalue < ALARM


def test_answers_survive_a_release() -> None:
    """Golden cells: if these change, every device answers again, and spends its budget again."""
    device = dt.Memoised(dt.Podium(dt.Interval(0, 100), epsilon=1), KEY)
    assert device.perturb([0.0, 30.0, 99.5]).cells.tolist() == [943, 20677, 41139]


def test_a_whole_turn_is_no_turn() -> None:
    device = dt.Memoised(dt.OGPM(dt.Circle(360), epsilon=1), KEY)
    assert device.perturb([0.0]) == device.perturb([360.0])


def test_the_promise_is_for_a_person_and_says_what_it_assumes() -> None:
    guarantee = dt.Memoised(AGE, KEY).guarantee
    assert guarantee.bound == AGE.guarantee.bound
    assert guarantee.unit is Unit.PERSON
    assert "the value never changes" in guarantee.assumes
    assert not guarantee.implies(AGE.guarantee)


def test_the_key_is_never_shown() -> None:
    device = dt.Memoised(AGE, KEY)
    assert "key" not in repr(device)
    assert repr(KEY)[2:-1] not in repr(device) + device.describe()


def test_the_collector_needs_no_key() -> None:
    device = dt.Memoised(AGE, KEY)
    sent = device.perturb([30.0, 50.0])
    assert AGE.reports(sent.cells) == sent == device.reports(sent.cells)
    assert device.fingerprint == AGE.fingerprint
    assert len(device.perturb([])) == 0


def test_new_keys_are_new() -> None:
    assert len(dt.Memoised.new_key()) == 32
    assert dt.Memoised.new_key() != dt.Memoised.new_key()


@pytest.mark.parametrize("key", [b"", b"short", "k" * 32, None, 7])
def test_a_key_is_thirty_two_bytes(key: object) -> None:
    with pytest.raises(InvalidParameter):
        dt.Memoised(AGE, key)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        dt.Memoised(dt.Each(age=AGE), KEY)
    with pytest.raises(InvalidParameter, match="dealt once"):
        dt.Memoised(dt.JRR(dt.Categories(2), p=0.6, rho=-0.1, n=4), KEY)
    with pytest.raises(OutsideDomain):
        dt.Memoised(AGE, KEY).perturb([101.0])
    with pytest.raises(OutsideDomain):
        dt.Memoised(AGE, KEY).perturb([float("nan")])
