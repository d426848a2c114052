"""What earlier versions wrote is read as it was meant, for ever."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from tests.support.broken.wire import READERS, header
from tools.golden import frequency

ROWS: list[tuple[str, dict[str, Any]]] = [
    (file.stem, row)
    for file in sorted(Path(__file__).parent.glob("wire-*.json"))
    for row in json.loads(file.read_text())
]
each_row = pytest.mark.parametrize(
    ("version", "row"), ROWS, ids=[f"{version} {row['case']}" for version, row in ROWS]
)


Reader = Callable[[bytes], dt.Reports]


def leaves(data: Any, name: str = "") -> list[tuple[str, Any]]:
    """Return every number and text of nested data with the name that it has there."""
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in leaves(value, key)]
    if isinstance(data, list):
        return [leaf for value in data for leaf in leaves(value, name)]
    return [(name, data)]


def written(mechanism: Any) -> set[tuple[str, Any]]:
    """Return the integers that a mechanism samples by; large ones are hexadecimal text in a device's text."""
    found = set()
    for called, value in leaves(json.loads(mechanism.device_text)):
        name = "cells" if called == "buckets" else called  # as version 1 called it
        found.add((name, value))
        if isinstance(value, str) and set(value) <= set("0123456789abcdef"):
            found.add((name, int(value, 16)))
    return found


def is_read(data: bytes, reader: Reader = dt.from_bytes) -> None:
    """Check what a reader finds against the bytes themselves, which are parsed here."""
    head, cells = header(data)
    said, parameters = head["specification"], head["specification"]["parameters"]
    reports = reader(data)
    mechanism = reports.mechanism
    raw = np.frombuffer(cells, dtype=head["dtype"]).reshape(head["shape"])
    np.testing.assert_array_equal(reports.cells, raw)
    assert reports.cells.dtype.itemsize == raw.dtype.itemsize
    assert type(mechanism).__name__ == said["mechanism"]
    assert mechanism.epsilon == parameters["epsilon"]
    for name in parameters["domain"].keys() & {"low", "high", "period", "length", "alphabet"}:
        assert getattr(mechanism.domain, name) == parameters["domain"][name]
    if "labels" in parameters["domain"]:
        assert len(mechanism.domain.labels) == parameters["domain"]["labels"]
    if said["mechanism"] == "Exponential":  # its rows are computed from ε, and their digest travelled
        assert mechanism.outcomes == said["sampled"]["kernel"]["cells"]
        return
    kept = written(mechanism)
    sampled = leaves(said["sampled"]["kernel"])
    assert sampled
    for leaf in sampled:
        assert leaf in kept or leaf == ("bits", 128), leaf


def with_another_step(data: bytes) -> bytes:
    """Return the same reports of a mechanism whose window is one unit flatter: it spends a little less."""
    head, cells = header(data)
    kernel = head["specification"]["sampled"]["kernel"]
    window = kernel.get("first", kernel)
    window["step"] += -1 if "width" in window else 1  # of a window, or of every answer that is not true
    text = json.dumps(head).encode()
    body = data[:8] + len(text).to_bytes(4, "little") + text + cells
    return body + hashlib.sha256(body).digest()[:16]


def with_step(row: dict[str, Any]) -> bool:
    return any(name == "step" for name, _ in leaves(json.loads(row["specification"])["sampled"]["kernel"]))


@each_row
def test_old_bytes_are_read(version: str, row: dict[str, Any]) -> None:
    data = base64.b64decode(row["bytes"])
    is_read(data)
    reports = dt.from_bytes(data)
    np.testing.assert_allclose(reports.values, row["values"], rtol=1e-15)  # as they were read then
    assert header(data)[0]["specification"] == json.loads(row["specification"])
    assert dt.from_json(row["specification"]) == reports.mechanism
    assert dt.audit(reports.mechanism, assume=reports.mechanism.guarantee.assumes).ok


STEPS = [row for _, row in ROWS if with_step(row)]


@pytest.mark.parametrize("row", STEPS, ids=lambda row: row["case"])
def test_integers_that_this_release_would_not_choose_are_read(row: dict[str, Any]) -> None:
    is_read(with_another_step(base64.b64decode(row["bytes"])))


@pytest.mark.parametrize("reader", READERS)
def test_a_broken_reader_is_found_out(reader: Reader) -> None:
    (row,) = [row for version, row in ROWS if version == "wire-1" and row["case"] == "Podium([-3, 7])"]
    data = with_another_step(base64.b64decode(row["bytes"]))
    is_read(data)
    with pytest.raises(AssertionError):
        is_read(data, reader)


def test_the_sampler_of_this_release_is_pinned() -> None:
    """The same words give the same reports: a change of the sampler is made on purpose."""
    mechanism = dt.Podium(dt.Interval(0, 1), epsilon=1.25)
    (row,) = [row for version, row in ROWS if version == "wire-1" and row["case"] == "Podium([0, 1])"]
    reports = mechanism.perturb(np.linspace(0, 1, 40), source=dt.Seeded(2025))
    assert reports == dt.from_bytes(base64.b64decode(row["bytes"]))


def test_the_frequency_samplers_of_this_release_are_pinned() -> None:
    pinned = [row for version, row in ROWS if version == "wire-1-frequency"]
    for old, new in zip(pinned, frequency(), strict=True):
        before, now = (dt.from_bytes(base64.b64decode(row["bytes"])) for row in (old, new))
        assert before == now, old["case"]
