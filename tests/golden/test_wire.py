"""What a release wrote is read as it was meant, for ever."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dither as dt
from tests.support.broken.wire import READERS, header
from tests.support.cases.numbers import NUMERIC
from tests.support.travel import changed
from tools.golden import WIRE, frequency, numeric

ROWS: dict[str, dict[str, Any]] = {row["case"]: row for row in json.loads(WIRE.read_text(encoding="utf-8"))}
Reader = Callable[[bytes], dt.Reports]


def data_of(case: str) -> bytes:
    return base64.b64decode(ROWS[case]["bytes"])


def is_read(data: bytes, reader: Reader = dt.from_bytes) -> None:
    """Check what a reader finds against the bytes themselves, which are parsed here."""
    head, cells = header(data)
    said = head["specification"]
    reports = reader(data)
    mechanism = reports.question
    raw = np.frombuffer(cells, dtype=head["dtype"]).reshape(head["shape"])
    np.testing.assert_array_equal(reports.cells, raw)
    assert reports.cells.dtype.itemsize == raw.dtype.itemsize
    assert mechanism.name == said["mechanism"]
    assert mechanism.epsilon == said["parameters"]["epsilon"]
    assert mechanism.device_text == said["device"]
    assert json.loads(json.dumps(mechanism.codebook())) == said["codebook"]


def flatter(device: dict[str, Any]) -> None:
    """Make a window one unit flatter: it spends a little less than this release would."""
    window = device.get("first", device)
    step = int(window["step"], 16) + (-1 if "start" in window else 1)  # of a window, or of every other answer
    window["step"] = f"{step:x}"


def with_another_step(data: bytes) -> bytes:
    """Return the same reports of a mechanism whose window is flatter."""
    head, cells = header(data)
    head["specification"] = json.loads(changed(dt.from_bytes(data).question, flatter))
    text = json.dumps(head).encode()
    body = data[:8] + len(text).to_bytes(4, "little") + text + cells
    return body + hashlib.sha256(body).digest()[:16]


def with_step(case: str) -> bool:
    device = json.loads(header(data_of(case))[0]["specification"]["device"])
    return "step" in device.get("first", device)


@pytest.mark.parametrize("case", ROWS)
@pytest.mark.some(every=2)
def test_bytes_are_read(case: str) -> None:
    data = data_of(case)
    is_read(data)
    reports = dt.from_bytes(data)
    np.testing.assert_allclose(reports.values, ROWS[case]["values"], rtol=1e-15)  # as they were read then
    assert reports.to_bytes() == data
    assert dt.from_json(json.dumps(header(data)[0]["specification"])) == reports.question
    assert dt.audit(reports.question, assume=reports.question.guarantee.assumes).ok


@pytest.mark.parametrize("case", [case for case in ROWS if with_step(case)])
def test_integers_that_this_release_would_not_choose_are_read(case: str) -> None:
    is_read(with_another_step(data_of(case)))


@pytest.mark.parametrize("reader", READERS)
def test_a_broken_reader_is_found_out(reader: Reader) -> None:
    data = with_another_step(data_of("Podium([-3, 7])"))
    is_read(data)
    with pytest.raises(AssertionError):
        is_read(data, reader)


def test_the_samplers_are_pinned() -> None:
    """The same words give the same reports: a change of a sampler is made on purpose."""
    for row in [*numeric(NUMERIC), *frequency()]:
        assert row["bytes"] == ROWS[row["case"]]["bytes"], row["case"]
