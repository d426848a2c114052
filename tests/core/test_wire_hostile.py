"""Specifications that were written to break a device: each is refused, soon, in little memory."""

from __future__ import annotations

import hashlib
import json
import struct
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.core import wire as codec
from dither.errors import BudgetExceeded, InvalidParameter, MalformedReport
from dither.foundation.canonical import canonical, digest
from tests.golden.devices import CASES
from tests.support.travel import changed

SECONDS, BYTES = 2.0, 64 << 20
UNIT = dt.Interval(0, 1)


@pytest.fixture(autouse=True)
def _little() -> Iterator[None]:
    """Fail if a test takes long or allocates much."""
    tracemalloc.start()
    started = time.process_time()
    yield
    taken, (_, most) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < SECONDS
    assert most < BYTES


def parameter(mechanism: Any, **values: Any) -> str:
    return changed(mechanism, whole=lambda data: data["parameters"].update(values))


def codebook(mechanism: Any, **values: Any) -> str:
    return changed(mechanism, whole=lambda data: data.update(codebook=values))


PM, JOINT, LAPLACE, KRR = CASES["PM"](), CASES["JRR"](), CASES["Laplace"](), CASES["KRR"]()
EXPONENTIAL, OPTIMAL, OUE = CASES["Exponential"](), CASES["Optimal"](), CASES["OUE"]()
UNBIASED, LSRR = CASES["Optimal, unbiased"](), CASES["LSRR"]()
PATH = CASES["TraCSC, trajectory"]()


def deep(depth: int) -> Any:
    data: Any = 1
    for _ in range(depth):
        data = [data]
    return data


def lattice(**values: Any) -> str:
    return changed(LAPLACE, lambda device: device["lattice"].update(values))


HOSTILE: dict[str, Any] = {
    "a solved mechanism with ε = 9.2e18": lambda: parameter(UNBIASED, epsilon=9.2e18),
    "a solved mechanism with ε = 1e308": lambda: parameter(UNBIASED, epsilon=1e308),
    "a solved mechanism with a text for ε": lambda: parameter(UNBIASED, epsilon="1"),
    "a codebook of 4·10^8 cells": lambda: codebook(OPTIMAL, runs=[400_000_000], values=[0.5]),
    "a codebook of 4·10^8 cells, unbiased": lambda: codebook(UNBIASED, runs=[400_000_000], values=[0.5]),
    "a codebook with a run of 2^200": lambda: codebook(UNBIASED, runs=[1 << 200], values=[0.5]),
    "a lattice fraction of 10^14": lambda: lattice(fraction=10**14),
    "a lattice of 10^14 places": lambda: lattice(last=10**14),
    "a lattice that reaches 10^14": lambda: changed(
        LAPLACE, lambda device: device["lattice"]["noise"].update(reach=10**14)
    ),
    "a start fraction of 10^14": lambda: changed(PM, lambda device: device["start"].update(fraction=10**14)),
    "a scale of 1e308": lambda: changed(PM, lambda device: device["start"].update(scale=1e308)),
    "a scale of 1e308, lattice": lambda: changed(LAPLACE, lambda device: device["start"].update(scale=1e308)),
    "an interval of 1e-300": lambda: changed(PM, lambda device: device["domain"].update(low=0, high=1e-300)),
    "bits for 2^32 categories": lambda: changed(
        OUE, lambda device: device.update(size=1 << 32, domain={"kind": "categories", "count": 1 << 32})
    ),
    "a width of 28.5": lambda: changed(PM, lambda device: device.update(width=28.5)),
    "ε as a text": lambda: parameter(PM, epsilon="1"),
    "ε as a truth value": lambda: parameter(KRR, epsilon=True),
    "ε as a list": lambda: parameter(KRR, epsilon=[1.0]),
    "ε of 2^200": lambda: parameter(KRR, epsilon=1 << 200),
    "no ε": lambda: parameter(KRR, epsilon=None),
    "deep parameters": lambda: parameter(PM, decoding=deep(500)),
    "a deep device text": lambda: changed(PM, lambda device: device.update(start=deep(30))),
    "an integer of a million digits": lambda: '{"dither": 2, "mechanism": ' + "9" * 10**6 + "}",
    "very many brackets": lambda: "[" * 10**6,
    "a name that stands twice": lambda: PM.to_json().replace('{"dither": 2', '{"dither": 1, "dither": 2'),
    "NaN": lambda: PM.to_json().replace('"epsilon": 1.0', '"epsilon": NaN'),
    "1e999": lambda: PM.to_json().replace('"epsilon": 1.0', '"epsilon": 1e999'),
    "version 1": lambda: PM.to_json().replace('"dither": 2', '"dither": 1'),
    "version 2.0": lambda: PM.to_json().replace('"dither": 2', '"dither": 2.0'),
    "version true": lambda: PM.to_json().replace('"dither": 2', '"dither": true'),
    "half a letter": lambda: b"\xff\xfe\x00",
    "a lone surrogate": lambda: PM.to_json().replace('"PM"', '"\\ud800"'),
    "a mechanism of a long name": lambda: PM.to_json().replace('"PM"', '"' + "P" * 10**6 + '"'),
    "a mechanism that is a list": lambda: PM.to_json().replace('"PM"', "[]"),
}


OF_THE_DESIGN: dict[str, Any] = {  # a question does not read them; its design does
    "a fraction of 10^40000000": lambda: parameter(JOINT, p={"fraction": "1e40000000"}),
    "a fraction with a long exponent": lambda: parameter(JOINT, rho={"fraction": "-1e-40000000"}),
    "a fraction of a million digits": lambda: parameter(JOINT, p={"fraction": "9" * 10**6}),
    "a fraction with 0 below": lambda: parameter(JOINT, p={"fraction": "1/0"}),
    "a fraction that is a number": lambda: parameter(JOINT, p={"fraction": 1}),
    "a loss with a huge exponent": lambda: parameter(CASES["OGPM"](), loss={"loss": 1e300}),
    "a loss with a text": lambda: parameter(CASES["OGPM"](), loss={"loss": "2"}),
    "cells as a float": lambda: parameter(PM, cells=65536.0),
    "cells as a truth value": lambda: parameter(PM, cells=True),
    "a truth value as a number": lambda: parameter(OPTIMAL, unbiased=0),
    "a parameter of another mechanism": lambda: parameter(KRR, cells=4),
    "the domain, as a parameter": lambda: parameter(KRR, domain={"domain": {"kind": "circle", "period": 4}}),
    "points that are texts": lambda: parameter(EXPONENTIAL, points=["0", "1"]),
    "a choice that is a class": lambda: parameter(PM, decoding={"choice": "PM", "name": "OWN"}),
    "a choice of no member": lambda: parameter(PM, decoding={"choice": "Decoding", "name": "__class__"}),
    "a part solved anew": lambda: parameter(PATH, inner={"maker": "Optimal", "with": {"fresh": True}}),
    "a part with a float": lambda: parameter(PATH, inner={"maker": "OGPM", "with": {"cells": 64.0}}),
    "an array of long texts": lambda: parameter(LSRR, points={"array": ["a"] * 9, "dtype": "S200000000"}),
    "a tiny sensitivity": lambda: parameter(EXPONENTIAL, sensitivity=1e-30),
}


@pytest.mark.parametrize("name", OF_THE_DESIGN)
def test_hostile_parameters_make_no_design(name: str) -> None:
    question = dt.from_json(OF_THE_DESIGN[name]())
    with pytest.raises((MalformedReport, InvalidParameter)):
        question.design()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_specifications_are_malformed(name: str) -> None:
    with pytest.raises(MalformedReport):
        dt.from_json(HOSTILE[name]())


def test_a_tiny_sensitivity_is_answered_at_once() -> None:
    """The weights were powers with 10^9 digits; a weight below the smallest is the smallest."""
    for sensitivity in (1e-9, 1e-30, 5e-324):
        with pytest.raises(InvalidParameter):
            dt.Exponential(UNIT, [0, 1], epsilon=1, sensitivity=sensitivity)


def test_bits_for_very_many_categories_are_refused() -> None:
    for kind in (dt.OUE, dt.rivals.SUE):
        with pytest.raises(InvalidParameter, match=r"2\^24"):
            kind(dt.Categories(1 << 32), epsilon=1)
        assert kind(dt.Categories(1 << 24), epsilon=1).report_bytes == 1 << 21


def test_a_text_that_is_too_long_is_not_parsed() -> None:
    with pytest.raises(MalformedReport, match=f"at most {codec.MOST_BYTES}"):
        dt.from_json(" " * (codec.MOST_BYTES + 1))


def sealed(header: Any, cells: bytes = b"", version: int = 2) -> bytes:
    """Return bytes of reports with any header, and the checksum that fits."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = b"dither\0" + struct.pack("<BI", version, len(text)) + text + cells
    return body + hashlib.sha256(body).digest()[:16]


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({"dtype": "S2000000000", "shape": [0]}, b""),
        ({"dtype": "V2000000000", "shape": []}, b""),
        ({"dtype": "O", "shape": [1]}, bytes(8)),
        ({"dtype": "<f8", "shape": [1]}, bytes(8)),
        ({"dtype": ">u2", "shape": [1]}, bytes(2)),
        ({"dtype": "<u2,<u2", "shape": [1]}, bytes(4)),
        ({"dtype": [["a", "<u2"]], "shape": [1]}, bytes(2)),
        ({"dtype": "<u2", "shape": [-1]}, b""),
        ({"dtype": "<u2", "shape": [1.0]}, bytes(2)),
        ({"dtype": "<u2", "shape": [True]}, bytes(2)),
        ({"dtype": "<u2", "shape": "1"}, bytes(2)),
        ({"dtype": "<u2", "shape": 1}, bytes(2)),
        ({"dtype": "<u2", "shape": [0, 1 << 60]}, b""),
        ({"dtype": "<u2", "shape": [1] * 100}, bytes(2)),
        ({"more": 1}, b""),
        ({"specification": None}, b""),
    ],
    ids=repr,
)
def test_hostile_headers_are_malformed(changes: dict[str, Any], cells: bytes) -> None:
    header = {
        "specification": json.loads(PM.to_json()),
        "dtype": "<u2",
        "shape": [len(cells) // 2],
        **changes,
    }
    with pytest.raises(MalformedReport):
        dt.from_bytes(sealed(header, cells))


@pytest.mark.parametrize("header", [b"", b"\xff", b"null", b"[]", b"{}", b"[" * 10**5, b'"' * 7], ids=repr)
def test_headers_that_are_no_header(header: bytes) -> None:
    with pytest.raises(MalformedReport):
        dt.from_bytes(sealed(header))


@pytest.mark.parametrize(
    "data",
    ["text", 5, None, [1], memoryview(b"ditherditherditherditherdither")],
    ids=lambda data: type(data).__name__,
)
def test_things_that_are_no_bytes(data: Any) -> None:
    with pytest.raises(MalformedReport):
        dt.from_bytes(data)


# What a device accepts.


def test_a_device_refuses_what_its_policy_does_not_allow() -> None:
    text = dt.KRR(dt.Categories(4), epsilon=2).to_json()
    assert dt.from_json(text).epsilon == 2
    with pytest.raises(BudgetExceeded, match=r"ε ≤ 1 .*ε = 2"):
        dt.from_json(text, policy=dt.privacy.Policy())
    with pytest.raises(BudgetExceeded, match=r"ε ≤ 1.9"):
        dt.from_json(text, policy=dt.privacy.Policy(epsilon=1.9))
    with pytest.raises(InvalidParameter, match="that the policy lists, got 'KRR'"):
        dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, mechanisms=[dt.PM, "OUE"]))
    with pytest.raises(MalformedReport, match=f"at most 100 bytes, got {len(text.encode())}"):
        dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, bytes=100))
    with pytest.raises(InvalidParameter, match="within 0 s"):
        dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, seconds=0))
    for allowed in (None, ["KRR"], {dt.KRR}):
        made = dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, mechanisms=allowed))
        assert made.fingerprint == digest(canonical(json.loads(json.loads(text)["device"])))


def test_reports_are_read_by_the_same_policy() -> None:
    reports = dt.KRR(dt.Categories(4), epsilon=2).perturb([0, 1, 2])
    data = reports.to_bytes()
    assert dt.from_bytes(data, policy=dt.privacy.Policy(epsilon=2)) == reports
    with pytest.raises(BudgetExceeded):
        dt.from_bytes(data, policy=dt.privacy.Policy())
    with pytest.raises(MalformedReport, match="at most 10"):
        dt.from_bytes(data, policy=dt.privacy.Policy(epsilon=2, bytes=10))


def test_delta_and_assumptions_are_asked_for() -> None:
    gaussian = dt.Gaussian(UNIT, epsilon=1, delta=1e-6, cells=64).to_json()
    with pytest.raises(BudgetExceeded, match="δ ≤ 0"):
        dt.from_json(gaussian, policy=dt.privacy.Policy())
    assert dt.from_json(gaussian, policy=dt.privacy.Policy(delta=1e-6)).guarantee.delta <= 1e-6
    near = dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=0.25, cells=64)
    (assumption,) = near.guarantee.assumes
    with pytest.raises(BudgetExceeded, match=r"two values differ by at most 0\.25"):
        dt.from_json(near.to_json(), policy=dt.privacy.Policy())
    assert dt.from_json(near.to_json(), policy=dt.privacy.Policy(assumptions=[assumption])).epsilon == 1


def test_no_guarantee_is_refused_by_any_policy() -> None:
    most = dt.privacy.Policy(epsilon=float("inf"), delta=1)
    assert not most.accepts(dt.privacy.Guarantee(dt.privacy.Nothing("it is the value")))
    assert not most.accepts(dt.privacy.Guarantee(dt.privacy.Metric(1.0)))
    assert most.accepts(dt.privacy.Guarantee(dt.privacy.PAC(1.0, 0.5)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": "1"},
        {"epsilon": True},
        {"delta": 2},
        {"seconds": -1},
        {"bytes": 0},
        {"bytes": 1.5},
        {"mechanisms": "PM"},
        {"mechanisms": [3]},
        {"assumptions": "nobody lies"},
        {"assumptions": [3]},
    ],
    ids=repr,
)
def test_policies_that_cannot_be_built(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        dt.privacy.Policy(**wrong)


def test_a_policy_is_a_policy() -> None:
    with pytest.raises(InvalidParameter, match=r"dt\.privacy\.Policy"):
        dt.from_json(KRR.to_json(), policy=1.0)  # type: ignore[arg-type]


# Campaigns.

QUESTION = "[questions.age]\ninterval = [18, 100]\nepsilon = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "[questions.age]\ninterval = [18, 1e999]\nepsilon = 1",
        "[questions.age]\ninterval = [18, 100]\nepsilon = nan",
        "[questions.age]\ninterval = [18, 100]\nepsilon = 1979-05-27",
        "[questions.age]\ninterval = [0, 1e-300]\nepsilon = 1",
        "[questions.age]\ncategories = 4294967296\nepsilon = 1\nmechanism = 'OUE'",
        "[questions.age]\ncategories = [[1], [2]]\nepsilon = 1",
        "[questions.age]\ncircle = 1e300\nepsilon = 1",
        "[questions.age]\ninterval = [18, 100]\nepsilon = " + "9" * 5000,
        "[questions.age]\nepsilon = " + "[" * 5000,
        "\x00",
    ],
    ids=lambda text: text[-40:],
)
def test_hostile_campaigns_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter):
        dt.Questionnaire.from_toml(text)


def test_what_stands_outside_of_the_tables_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="'written': there are campaign, questions"):
        dt.Questionnaire.from_toml(f"written = 2026-01-01\n{QUESTION}")


def test_a_campaign_file_is_text(tmp_path: Path) -> None:
    path = tmp_path / "campaign.toml"
    path.write_bytes(QUESTION.encode("utf-16"))
    with pytest.raises(InvalidParameter, match="UTF-8"):
        dt.Questionnaire.read(path)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", '{"questions": []}', '{"questions": {"a": 1}}', "[" * 10**5]
)
def test_heads_of_files_that_are_none(text: str) -> None:
    with pytest.raises(MalformedReport):
        dt.Questionnaire.from_json(text)
