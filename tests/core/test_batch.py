"""The bytes of a batch: small, the same at every sending, refused where no device has written them."""

from __future__ import annotations

import json
import random

import pytest

from dither.core.batch import BatchBody
from dither.errors import DitherError, MalformedReport
from tests.conformance.batches import FILE, text

ID, ONE, TWO = "ab" * 16, "01" * 16, "02" * 16


def made() -> BatchBody:
    return BatchBody.of(ID, [(TWO, b"\x05\x00"), (ONE, b"\x09"), (TWO, b"\x04\x00")], "1.4")


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text()


@pytest.mark.parametrize(
    "one", json.loads(FILE.read_text(encoding="utf-8"))["batches"], ids=lambda one: one["label"]
)
def test_bodies_meet_the_vectors(one: dict[str, str]) -> None:
    assert BatchBody.from_json(one["json"]) == BatchBody.from_bytes(bytes.fromhex(one["packed"]))
    assert BatchBody.from_json(one["json"]).to_bytes().hex() == one["packed"]


def test_a_hundred_reports_are_small() -> None:
    batch = BatchBody.of(ID, [(ONE, number.to_bytes(2, "little")) for number in range(100)])
    assert len(batch.to_bytes()) <= 2_400
    assert len(batch.to_json()) <= 2_400


def test_the_order_of_drawing_does_not_show() -> None:
    reports = [(TWO, b"\x05\x00"), (ONE, b"\x09"), (TWO, b"\x04\x00")]
    bodies = {BatchBody.of(ID, random.Random(seed).sample(reports, 3), "1.4").to_bytes() for seed in range(9)}
    assert bodies == {made().to_bytes()}


def test_damaged_bytes_are_refused() -> None:
    body, rng = made().to_bytes(), random.Random(1)
    for place in range(len(body)):
        with pytest.raises(MalformedReport):
            BatchBody.from_bytes(body[:place])
        bad = bytearray(body)
        bad[place] ^= 1 << rng.randrange(8)
        with pytest.raises(MalformedReport):
            BatchBody.from_bytes(bytes(bad))
    with pytest.raises(MalformedReport):
        BatchBody.from_bytes(body + b"\x00")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dither", 1),
        ("dither", "2"),
        ("batch", ID.upper()),
        ("batch", 5),
        ("label", "x" * 65),
        ("label", None),
        ("label", "\ud800"),
        ("reports", []),
        ("reports", {ONE: []}),
        ("reports", {ONE: ["5"]}),
        ("reports", {ONE: [5]}),
        ("reports", {ONE: ["05", "0506"]}),
        ("reports", {ONE: ["06", "05"]}),
        ("reports", {ONE: "05"}),
        ("reports", {"x": ["05"]}),
        ("more", 1),
    ],
)
def test_bodies_that_no_device_writes(field: str, value: object) -> None:
    given = json.loads(made().to_json()) | {field: value}
    with pytest.raises(MalformedReport):
        BatchBody.from_json(json.dumps(given, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def test_hostile_texts_are_refused() -> None:
    for body in ("", "[", "[" * 100_000, "null", "1e999", '{"dither":2}', made().to_json() + " "):
        with pytest.raises(DitherError):
            BatchBody.from_json(body)


def test_a_message_of_presence_has_no_report() -> None:
    batch = BatchBody.of(ID, [], "1.4")
    assert BatchBody.from_bytes(batch.to_bytes()) == BatchBody.from_json(batch.to_json()) == batch
    assert len(batch.to_bytes()) == 8 + 16 + 1 + 3 + 2 + 16
