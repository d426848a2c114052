"""Invariant 12 of an account: several devices of one person."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

import dither as dt
from dither.errors import Mismatch, Refused
from tests.collection.account.devices import SetClock, make, number

FIRST, SECOND, THIRD = "1" * 32, "2" * 32, "3" * 32


# --- 12. several devices


def _devices(folder: Path) -> list[dt.Account]:
    phone = make(folder, name="phone", epsilon=1)
    laptop = dt.Account.join(folder / "laptop", phone.split("1/2"), now=SetClock())
    watch = dt.Account.join(folder / "watch", phone.split("1/3"), now=SetClock())
    return [phone, laptop, watch]


def test_12_devices_that_work_alone_stay_within_the_budget_by_their_parts(tmp_path: Path) -> None:
    devices = _devices(tmp_path)
    charged = Fraction(0)
    for device in devices:
        for step in range(30):
            try:
                device.answer(number(f"q {step}", 0.04), 1)
            except Refused:
                break
            charged += Fraction(number(epsilon=0.04).guarantee.epsilon)
    assert Fraction(9, 10) < charged <= 1 + Fraction(1, 1 << 52) + Fraction(1, 1 << 64)
    assert all("keeps to the part" in str(device.guarantee) for device in devices)


def test_12_merging_is_idempotent_and_commutative(tmp_path: Path) -> None:
    devices = _devices(tmp_path)
    for device, name in zip(devices, ("a", "b", "a"), strict=True):
        device.answer(number(name, 0.05, repeat="same"), 1)
        device.answer(number("mood", 0.05, repeat="once", days=1), 1)
    exports = [device.export() for device in devices]
    merged = []
    for place, order in enumerate(permutations(exports)):
        copy = tmp_path / f"copy {place}"
        copy.write_bytes((tmp_path / "phone").read_bytes())
        copy.chmod(0o600)
        with dt.Account.open(copy, now=SetClock()) as phone:
            for export in (*order, *order):
                phone.merge(export)
            merged.append(phone.export())
    assert len(set(merged)) == 1
    for device in devices[1:]:  # all devices know the same in the end
        for export in exports:
            device.merge(export)
        known = [device.wire()[name] for name in ("entries", "answers", "choices")]
        with dt.Account.open(tmp_path / "copy 0", now=SetClock()) as phone:
            assert known == [phone.wire()[name] for name in ("entries", "answers", "choices")]


def test_12_accounts_of_other_people_or_budgets_do_not_merge(tmp_path: Path) -> None:
    phone, other = make(tmp_path), make(tmp_path, name="other")
    with pytest.raises(Mismatch, match="another person"):
        phone.merge(other.export())
    for text in (
        "",
        "{}",
        "[]",
        "null",
        phone.export()[:-1],
        phone.export().replace('"account":3', '"account":4'),
    ):
        with pytest.raises(dt.errors.MalformedReport):
            phone.merge(text)


def test_12_what_was_spent_cannot_be_given_away(tmp_path: Path) -> None:
    phone = make(tmp_path)
    phone.answer(number(epsilon=0.75), 1)
    with pytest.raises(Refused, match="smaller part"):
        phone.split("1/2")
    laptop = dt.Account.join(tmp_path / "laptop", phone.split("1/4"), now=SetClock())
    assert laptop.left.epsilon == 0.25
    assert phone.left.epsilon == 0
