"""Reports: small, checked on the way in, and the same after a journey."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither.errors import MalformedReport, Mismatch
from tests.support.cases.numbers import EVERY, Case, names
from tests.support.travel import changed, narrower

PM = dt.PM(dt.Interval(0, 1), epsilon=1)


def shifted(data: dict[str, Any]) -> None:
    data["codebook"]["offset"] += 0.125


@pytest.mark.some(every=3)
@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_round_trips(case: Case) -> None:
    mechanism = case(0.7)
    again = dt.from_json(mechanism.to_json())
    assert again == mechanism.question
    assert again.design() == mechanism
    assert again.fingerprint == mechanism.fingerprint
    values = mechanism.line.from_unit(np.linspace(0, 1, 60))
    reports = mechanism.perturb(values, source=dt.Seeded(4))
    back = dt.from_bytes(reports.to_bytes())
    assert back == reports
    assert np.array_equal(back.values, reports.values)
    assert mechanism.reports(reports.cells.astype(np.int64)) == reports
    assert mechanism.reports(reports.cells.tolist()) == reports


@pytest.mark.some(every=3)
@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_mechanisms_and_reports_can_be_pickled(case: Case) -> None:
    mechanism = case(0.7)
    mechanism.worst_error("absolute")  # fills what is derived
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert copy.deepcopy(mechanism) == mechanism
    reports = mechanism.perturb(mechanism.line.from_unit(np.linspace(0, 1, 40)))
    assert pickle.loads(pickle.dumps(reports)) == reports


def test_what_was_read_survives_a_pickle() -> None:
    other = dt.from_json(changed(PM, whole=shifted))
    assert pickle.loads(pickle.dumps(other)).decode(np.array([0])) == other.decode(np.array([0]))


def test_reports_are_sequences() -> None:
    reports = PM.perturb(np.linspace(0, 1, 10), source=dt.Seeded(1))
    assert len(reports) == 10
    assert reports[2:5].cells.tolist() == reports.cells[2:5].tolist()
    assert np.asarray(reports).tolist() == reports.values.tolist() == list(reports)
    assert dt.Reports.concatenate([reports[:4], reports[4:]]) == reports
    assert reports != PM.perturb(np.linspace(0, 1, 10), source=dt.Seeded(2))
    assert "10 of PM on [0, 1]" in repr(reports)


def test_decoding_is_a_choice_of_the_collector() -> None:
    reports = PM.perturb(np.linspace(0, 1, 1000), source=dt.Seeded(1))
    cut = PM.truncated().reports(reports)
    small = reports.read_by(PM.compressed())
    assert cut.values.min() == 0.0
    assert cut.values.max() == 1.0
    assert 0 < small.values.min() < small.values.max() < 1
    assert np.array_equal(np.clip(reports.values, 0, 1), cut.values)
    assert cut == reports


def test_reports_of_another_mechanism_are_refused() -> None:
    reports = PM.perturb([0.1, 0.2])
    for other in (PM.at(2), dt.PM(dt.Interval(0, 2), epsilon=1), dt.OGPM(dt.Interval(0, 1), epsilon=1)):
        with pytest.raises(Mismatch):
            other.reports(reports)
        with pytest.raises(Mismatch):
            dt.Reports.concatenate([reports, other.perturb([0.1])])


@pytest.mark.parametrize(
    "raw", [[-1], [1 << 16], [0.5], ["a"], [[1], [2, 3]], None, np.ma.masked_array([1], [True]), [2**70]]
)
def test_what_no_device_could_have_sent(raw: object) -> None:
    with pytest.raises(MalformedReport):
        PM.reports(raw)


def test_the_integers_and_the_codebook_travel() -> None:
    """A collector decodes by what the devices used, not by what its own version would have computed."""
    other = dt.from_json(changed(PM, narrower(1), shifted))
    assert other.kernel.window.width == PM.question.kernel.window.width - 1
    assert other.kernel.start == PM.question.kernel.start
    assert other.decode(np.array([0]))[0] == PM.question.decode(np.array([0]))[0] + 0.125
    assert other.fingerprint != PM.fingerprint


@pytest.mark.parametrize("kind", [dt.PM, dt.SW, dt.Podium])
def test_integers_that_were_read_stay_however_reports_are_read(kind: type[dt.PM]) -> None:
    mechanism = kind(dt.Interval(0, 1), epsilon=1)
    other = dt.from_json(changed(mechanism, narrower(100), shifted))
    reports = other.perturb(np.linspace(0, 1, 500), source=dt.Seeded(1))
    for variant in (other.truncated(), other.compressed(), other.compressed().truncated()):
        assert variant.kernel == other.kernel
        assert variant.fingerprint == other.fingerprint
        assert reports.read_by(variant) == reports
        assert dt.mean(reports.read_by(variant)).value == dt.mean(reports).value
        again = pickle.loads(pickle.dumps(variant))
        assert again.fingerprint == other.fingerprint
        assert np.array_equal(again.decode(reports.cells), variant.decode(reports.cells))
        assert dt.from_json(variant.to_json()).fingerprint == other.fingerprint
    assert np.array_equal(reports.read_by(other.truncated()).values, np.clip(reports.values, 0, 1))
    assert other.at(2).kernel == mechanism.at(2).question.kernel  # another budget, other integers


def test_a_question_whose_integers_are_not_the_design_s() -> None:
    other = dt.from_json(changed(dt.SW(dt.Interval(0, 1), epsilon=1), narrower(100)))
    assert dt.mean(other.perturb([0.5] * 100)).n == 100
    with pytest.raises(Mismatch, match="expected the integers"):
        other.design()


@pytest.mark.parametrize("kind", [dt.TraCSC, dt.TraCSD])
def test_paths_keep_the_integers_that_were_read(kind: type[dt.TraCSC]) -> None:
    area = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 2))

    def both(device: dict[str, Any]) -> None:
        narrower(100)(device["first"])
        narrower(100)(device["second"])

    other = dt.from_json(changed(kind(area, epsilon=2), both))
    for variant in (other.read(None), pickle.loads(pickle.dumps(other))):
        assert variant.kernel.parts == other.kernel.parts
        assert variant.fingerprint == other.fingerprint


def test_noise_that_was_read_stays_however_reports_are_read() -> None:
    mechanism, older = (dt.Laplace(dt.Interval(0, 1), epsilon=eps, cells=256) for eps in (0.7, 0.699))
    other = dt.from_json(changed(mechanism, lambda device: device.update(older.question.device())))
    reports = other.perturb(np.linspace(0, 1, 500), source=dt.Seeded(1))
    cut = other.truncated()
    assert cut.kernel == older.question.kernel
    assert np.array_equal(reports.read_by(cut).values, np.clip(reports.values, 0, 1))
    assert pickle.loads(pickle.dumps(other)).kernel == older.question.kernel
    assert pickle.loads(pickle.dumps(cut)).fingerprint == other.fingerprint


def test_a_specification_that_spends_too_much_is_refused() -> None:
    steeper = f"{PM.question.kernel.window.step + (1 << 40):x}"
    with pytest.raises(MalformedReport):
        dt.from_json(changed(PM, lambda device: device.update(step=steeper)))


@pytest.mark.parametrize("change", ["mechanism", "parameters", "device", "fingerprint", "codebook", "dither"])
def test_specifications_that_lack_a_part(change: str) -> None:
    data = json.loads(PM.to_json())
    del data[change]
    with pytest.raises(MalformedReport):
        dt.from_json(json.dumps(data))
    data[change] = 99
    with pytest.raises(MalformedReport):
        dt.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "not json", '{"mechanism": "PM"}', "[" * 10_000])
def test_malformed_specifications(text: str) -> None:
    with pytest.raises(MalformedReport):
        dt.from_json(text)


GOOD = PM.perturb(np.linspace(0, 1, 50), source=dt.Seeded(1)).to_bytes()


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_changed_byte_is_an_error(place: int, change: int) -> None:
    bad = bytearray(GOOD)
    bad[place] ^= change
    with pytest.raises(MalformedReport):
        dt.from_bytes(bytes(bad))


@given(st.integers(0, len(GOOD) - 1))
def test_truncated_bytes_are_an_error(length: int) -> None:
    with pytest.raises(MalformedReport):
        dt.from_bytes(GOOD[:length])


@given(st.binary(max_size=200))
def test_foreign_bytes_are_an_error(data: bytes) -> None:
    with pytest.raises(MalformedReport):
        dt.from_bytes(data)


def test_reports_that_are_read_differently_are_not_put_together() -> None:
    """Two codebooks with one fingerprint: what a report stands for must not depend on who came first."""
    pm = dt.PM(dt.Interval(0, 1), epsilon=1, cells=64)
    cut = pm.truncated()
    assert cut.fingerprint == pm.fingerprint
    one, two = pm.perturb([0.1, 0.9]), cut.perturb([0.2])
    again = dt.PM(dt.Interval(0, 1), epsilon=1, cells=64).perturb([0.5])  # equal, not the same object
    for parts in ([one, two], [two, one], [one, again, two]):
        with pytest.raises(Mismatch, match="one codebook"):
            dt.Reports.concatenate(parts)
        with pytest.raises(Mismatch, match="one codebook"):
            dt.Counts.gather(parts)
    assert len(dt.Reports.concatenate([one, again, two.read_by(pm)])) == 4
    assert (dt.Counts.of(one) + dt.Counts.of(two).read_by(pm)).n == 3


def test_codebooks_that_were_read_are_compared() -> None:
    """The codebook of one device was changed on the way, and nothing else."""
    other = dt.from_json(changed(PM, whole=shifted))
    assert other.fingerprint == PM.fingerprint
    for parts in ([PM, other], [other, PM]):
        with pytest.raises(Mismatch, match="one codebook"):
            dt.Reports.concatenate([one.perturb([0.5]) for one in parts])
