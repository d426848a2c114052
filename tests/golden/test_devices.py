"""Identity: the text of what a device needs, and its digest, stay what they are."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import dither as dt
from dither.core import registry
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.numeric.base import WindowMechanism
from dither.privacy.guarantee import Unit
from tests.golden.devices import CASES, FILE, WIDE

GOLDEN: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
COMBINATORS = {"Each", "Indicator", "Memoised", "Sampled"}


# Solved when they are made. The last bits of a solver's floats, and so its integers, depend on the processor.
SOLVED = {"Cumulative", "Workload"}


def assert_same_channel(made: dict[str, Any], pinned: dict[str, Any]) -> None:
    """Assert that two channels differ by rounding only: weights within 10^−6 of the largest."""
    tables = {"rows": [], "values": []}
    assert made | tables == pinned | tables
    ours, theirs = (
        [[int(device["values"][i], 16) for i in row] for row in device["rows"]] for device in (made, pinned)
    )
    gaps = np.abs(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float))
    assert gaps.max() <= 1e-6 * np.max(np.asarray(theirs, dtype=float))


def test_a_solved_channel_that_is_another_one_is_found() -> None:
    pinned = json.loads(GOLDEN["Workload"]["device"])
    other = {**pinned, "values": [f"{int(weight, 16) * 101 // 100:x}" for weight in pinned["values"]]}
    assert_same_channel(pinned, pinned)
    with pytest.raises(AssertionError):
        assert_same_channel(other, pinned)


def test_every_public_mechanism_and_combinator_is_pinned() -> None:
    assert GOLDEN.keys() == CASES.keys()
    covered = {name.partition(",")[0] for name in GOLDEN}
    assert covered == set(registry.names()) | COMBINATORS


@pytest.mark.parametrize("name", CASES)
@pytest.mark.some(every=2)
def test_device_texts_and_fingerprints_never_change(name: str) -> None:
    made, pinned = CASES[name](), GOLDEN[name]
    made = made.question if isinstance(made, Mechanism) else made
    if name in SOLVED:
        assert_same_channel(json.loads(made.device_text), json.loads(pinned["device"]))
    else:
        assert made.device_text == pinned["device"]
        assert made.fingerprint == pinned["fingerprint"]
    assert pinned["fingerprint"] == hashlib.sha256(pinned["device"].encode()).hexdigest()[:32]


@pytest.mark.some(every=9)
@pytest.mark.parametrize("name", [name for name in CASES if name.partition(",")[0] not in COMBINATORS])
def test_what_travels_is_all_that_a_device_needs(name: str) -> None:
    """A mechanism that was read runs the kernel of the text, and writes the same text again."""
    made = CASES[name]()
    again = dt.from_json(made.to_json())
    if name not in SOLVED:
        assert again.device_text == GOLDEN[name]["device"]
    assert again == made.question
    assert again.guarantee == made.guarantee


@pytest.mark.parametrize("name", GOLDEN)
def test_texts_name_no_class_no_module_and_no_words_of_ours(name: str) -> None:
    """What may be renamed or moved is not part of identity."""
    text = GOLDEN[name]["device"]
    for word in (
        *registry.names(),
        *(f"one {unit}" for unit in get_args(Unit)),
        "dither",
        "Interval",
        "Categories",
    ):
        assert not re.search(rf"\b{re.escape(word)}\b", text), word


def test_integers_beyond_2_to_the_53_are_hexadecimal_text() -> None:
    def numbers(data: Any) -> list[Any]:
        if isinstance(data, dict):
            return [one for value in data.values() for one in numbers(value)]
        if isinstance(data, list):
            return [one for value in data for one in numbers(value)]
        return [data] if isinstance(data, int | float) else []

    for name, pinned in GOLDEN.items():
        found = numbers(json.loads(pinned["device"]))
        assert all(abs(number) < 1 << 53 for number in found), name


# A class that moves, an enumeration whose words change.


@dataclass(frozen=True)
class Stage(WindowMechanism):
    """Podium under another name, in another module."""

    approximate: bool = False
    shape = dt.Podium.shape


def test_a_class_may_move_and_be_renamed() -> None:
    stage, podium = Stage(WIDE, epsilon=1), dt.Podium(WIDE, epsilon=1)
    assert Stage.__module__ != dt.Podium.__module__
    assert stage.fingerprint == podium.fingerprint == GOLDEN["Podium"]["fingerprint"]
    reports = podium.perturb([1.0, 2.0])
    assert (dt.Counts.of(reports) + dt.Counts.of(stage.perturb([1.0, 2.0]))).n == 4
    assert dt.Counts.of(stage.reports(reports)) == dt.Counts.of(reports)
    key = bytes(32)
    permanent = [
        dt.Memoised(one, key, name="age").perturb([1.0, 2.0, 3.0]).cells.tolist() for one in (stage, podium)
    ]
    assert permanent[0] == permanent[1]  # no device answers twice


def test_how_reports_are_read_is_not_part_of_identity() -> None:
    pm, tracs = dt.PM(WIDE, epsilon=1), CASES["TraCSC"]()
    for variant in (pm.truncated(), pm.compressed()):
        assert variant.fingerprint == pm.fingerprint
    assert tracs.read(dt.maps.Snapped(tracs.domain, 4, 4)).fingerprint == tracs.fingerprint
    assert dt.Memoised(pm, bytes(32), name="age").fingerprint == pm.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        dt.PM(dt.Interval(-3, 7.500001), epsilon=1),
        dt.PM(WIDE, epsilon=1.000001),
        dt.PM(WIDE, epsilon=1, cells=1 << 15),
        dt.rivals.OGPMU(WIDE, epsilon=1),
        dt.SW(WIDE, epsilon=1),
    ],
    ids=str,
)
def test_what_devices_do_differently_is_named_differently(other: Mechanism[Any]) -> None:
    assert other.fingerprint != GOLDEN["PM"]["fingerprint"]


def test_another_language_writes_the_same_text_and_digest(tmp_path: Path) -> None:
    """Node parses every text, writes it with its keys in order, and hashes it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node on this machine")
    script = tmp_path / "check.js"
    script.write_text(
        """
const crypto = require("crypto"), golden = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const canonical = (value) => Array.isArray(value) ? "[" + value.map(canonical).join(",") + "]"
  : value !== null && typeof value === "object"
  ? "{" + Object.keys(value).sort()
      .map((key) => JSON.stringify(key) + ":" + canonical(value[key])).join(",") + "}"
  : JSON.stringify(value);
const wrong = Object.entries(golden).filter(([, { device, fingerprint }]) =>
  canonical(JSON.parse(device)) !== device ||
  crypto.createHash("sha256").update(device, "utf8").digest("hex").slice(0, 32) !== fingerprint);
console.log(JSON.stringify(wrong.map(([name]) => name)));
""",
        encoding="utf-8",
    )
    run = subprocess.run([node, script, FILE], capture_output=True, text=True, check=True, encoding="utf-8")
    assert json.loads(run.stdout) == []
