"""Specifications, reports, summaries, campaigns, ledgers and messages, changed at random."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest

import dither as dt
from dither.core.kernels.kernel import LineKernel
from dither.errors import DitherError
from dither.foundation.canonical import canonical, digest
from dither.privacy import Pure
from dither.privacy.exact import exp_above
from tests.fuzz import mutations
from tests.fuzz.limits import MANY, SOME, fuzz
from tests.golden.devices import CASES, FOUR, TURN, UNIT, WIDE
from tests.support.cases.numbers import LATTICES
from tests.support.cases.optimal import KINDS, optimal
from tools.golden import WIRE

COMBINATORS = ("Each", "Indicator", "Memoised", "Sampled")
SMALL: dict[str, Callable[[], Any]] = {  # as the golden ones, with fewer cells: a case takes a millisecond
    "Laplace": lambda: dt.Laplace(WIDE, epsilon=1, cells=32),
    "Staircase": lambda: dt.Staircase(WIDE, epsilon=1, cells=64),
    "Gaussian": lambda: dt.Gaussian(WIDE, epsilon=1, delta=1e-3, cells=64),
    "Purkayastha": lambda: dt.rivals.Purkayastha(TURN, epsilon=1, cells=16),
}
TOML = """
[questions.age]
interval = [18, 100]
epsilon = 1
mechanism = "Podium"
cells = 256
[questions.hour]
circle = 24
epsilon = 0.5
[questions.browser]
categories = ["a", "b", 3]
epsilon = 1
mechanism = "KRR"
[questions.height]
interval = [0.5, 2.5]
mechanism = "OGPM"
loss = "squared"
epsilon = 2
"""


@cache
def specifications() -> list[dict[str, Any]]:
    """Every golden mechanism that is read fast."""
    made = {
        name: make for name, make in {**CASES, **SMALL}.items() if name.partition(",")[0] not in COMBINATORS
    }
    del made["Optimal, unbiased"]  # 50 ms each; the slow test of the golden files reads it
    return [json.loads(make().to_json()) for make in made.values()]


@cache
def solved() -> list[dict[str, Any]]:
    """What takes longer: lattices and solved mechanisms."""
    slow = [CASES["Laplace"](), CASES["Optimal, unbiased"]()]
    slow += [case(1.25) for case in LATTICES] + [optimal(kind, 1.25) for kind in KINDS]
    return [json.loads(one.to_json()) for one in slow]


def changed_specification(random: Random, of: list[dict[str, Any]]) -> Any:
    """Change the device text, with a fingerprint that fits, or the rest, or both."""
    data = json.loads(json.dumps(random.choice(of)))
    if "device" in data and random.random() < 0.6:
        inner = mutations.change(json.loads(data["device"]), random)
        try:
            data["device"] = canonical(inner)
            data["fingerprint"] = digest(data["device"])
        except (DitherError, AttributeError, RecursionError):
            data["device"] = mutations.dumped(inner)
    if random.random() < 0.6:
        data = mutations.change(data, random)
    return data


def specification(random: Random) -> None:
    text = mutations.dumped(changed_specification(random, specifications()))
    if random.random() < 0.1:
        text = mutations.text(text, random)
    if random.random() < 0.05:
        dt.from_json(mutations.bits(text.encode(errors="replace"), random))
    used(dt.from_json(text))


def slow_specification(random: Random) -> None:
    used(dt.from_json(mutations.dumped(changed_specification(random, solved()))))


def used(mechanism: Any) -> None:
    """A mechanism that was accepted can be asked what it is."""
    mechanism.describe()
    assert mechanism.guarantee.epsilon >= 0
    assert dt.from_json(mechanism.to_json()).fingerprint == mechanism.fingerprint
    kernel, guarantee = mechanism.kernel, mechanism.guarantee
    plain = isinstance(guarantee.bound, Pure) and not guarantee.assumes
    if plain and isinstance(kernel, LineKernel) and kernel.outcomes <= 64:
        keeps(kernel, guarantee.epsilon)


def keeps(kernel: LineKernel, epsilon: float) -> None:
    """The promise of what was accepted, by brute force over the ends and the middle of the domain."""
    line = kernel.line
    values = (line.low, line.high, line.low + line.length / 2, math.nextafter(line.high, line.low))
    laws = [kernel.probabilities(value) for value in values]
    bound = exp_above(Fraction(epsilon))
    for one, two in itertools.permutations(laws, 2):
        assert all(first <= bound * second for first, second in zip(one, two, strict=True))


def sealed(header: bytes, cells: bytes, version: int) -> bytes:
    body = b"dither\0" + struct.pack("<BI", version, len(header)) + header + cells
    return body + hashlib.sha256(body).digest()[:16]


@cache
def report_files() -> list[bytes]:
    now = [
        (dt.KRR(FOUR, epsilon=1).perturb(["firefox", "other"])).to_bytes(),
        (dt.OUE(FOUR, epsilon=1).perturb(["firefox", "other"])).to_bytes(),
        (dt.Podium(UNIT, epsilon=1).perturb([[0.5, 0.25], [0.0, 1.0]])).to_bytes(),
        (dt.OLH(FOUR, epsilon=1).perturb(["chrome"])).to_bytes(),
    ]
    return now + [base64.b64decode(row["bytes"]) for row in json.loads(WIRE.read_text(encoding="utf-8"))[::6]]


def report_bytes(random: Random) -> None:
    data = random.choice(report_files())
    version, length = struct.unpack_from("<BI", data, 7)
    header, cells = data[12 : 12 + length], data[12 + length : -16]
    if random.random() < 0.7:
        header = mutations.dumped(mutations.change(json.loads(header), random)).encode(errors="replace")
    if random.random() < 0.3:
        cells = mutations.bits(cells, random)
    data = sealed(header, cells, version)
    dt.from_bytes(mutations.bits(data, random) if random.random() < 0.2 else data)


@cache
def summary() -> dt.Counts:
    return dt.Counts.of(dt.KRR(FOUR, epsilon=1).perturb(["firefox", "other", "other"]))


def summary_bytes(random: Random) -> None:
    dt.Counts.from_bytes(mutations.bits(summary().to_bytes(), random), summary().question)


def summary_json(random: Random) -> None:
    text = mutations.dumped(mutations.change(json.loads(summary().to_json()), random))
    dt.Counts.from_json(mutations.text(text, random) if random.random() < 0.1 else text, summary().question)


def campaign_toml(random: Random) -> None:
    lines = TOML.strip().splitlines()
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(lines))
        name, _, _ = lines[at].partition(" = ")
        if name != lines[at] and random.random() < 0.6:
            lines[at] = f"{name} = {written(mutations.value(random))}"
        else:
            lines[at] = mutations.text(lines[at], random)
    dt.Questionnaire.from_toml("\n".join(lines))


def written(value: Any) -> str:
    """Return a value as TOML writes it, more or less."""
    return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf").replace("null", "1979-05-27")


@cache
def campaign() -> dt.Questionnaire:
    return dt.Questionnaire.from_toml(TOML)


def campaign_json(random: Random) -> None:
    text = mutations.dumped(mutations.change(json.loads(campaign().to_json()), random))
    dt.Questionnaire.from_json(mutations.text(text, random) if random.random() < 0.1 else text)


@cache
def ledger() -> dt.privacy.Ledger:
    book = dt.privacy.Ledger(epsilon=5, delta=1e-6)
    return book.give(dt.KRR(FOUR, epsilon=1), "browser").give(dt.OUE(FOUR, epsilon=1), "again")


def ledger_data(random: Random) -> None:
    dt.privacy.Ledger.from_wire(mutations.change(json.loads(json.dumps(ledger().wire())), random))


def values(random: Random) -> None:
    """What a person's device holds may be anything, too."""
    mechanism = random.choice(VALUES)
    given = mutations.change([0.5, [0.25, "a"], {"b": 1}], random)
    mechanism.perturb(
        random.choice((given, given[:1] if isinstance(given, list) else given, mutations.value(random)))
    )


VALUES: list[Any] = [
    dt.KRR(FOUR, epsilon=1),
    dt.KRR(dt.Categories(5), epsilon=1),
    dt.Podium(UNIT, epsilon=1),
    dt.Laplace(WIDE, epsilon=1, cells=32),
    dt.OGPM(TURN, epsilon=1),
    dt.PEM(dt.Text(6), epsilon=1),
    dt.PlanarLaplace(dt.Disk(1), epsilon=1),
]
WAYS = {
    "specification": specification,
    "report bytes": report_bytes,
    "summary bytes": summary_bytes,
    "summary JSON": summary_json,
    "campaign TOML": campaign_toml,
    "campaign JSON": campaign_json,
    "ledger": ledger_data,
    "values": values,
}


@pytest.mark.parametrize("way", WAYS)
def test_only_errors_of_dither_come_out(way: str) -> None:
    fuzz(WAYS[way], SOME)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_only_errors_of_dither_come_out_of_very_many(way: str) -> None:
    fuzz(WAYS[way], MANY)


@pytest.mark.slow
def test_only_errors_of_dither_come_out_of_large_mechanisms() -> None:
    fuzz(slow_specification, 2_000)
