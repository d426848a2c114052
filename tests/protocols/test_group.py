"""The group: arithmetic as in the reference, and no point from outside is accepted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dither as dt
from dither.errors import ExchangeFailed, MissingExtra
from dither.protocols import group
from tests.protocols import edwards
from tests.protocols.edwards import BASE, SMALL, L, P
from tests.support.sources import Scripted

bindings = pytest.importorskip("nacl.bindings")

scalars = st.integers(1, L - 1)


def raw(number: int) -> bytes:
    return number.to_bytes(32, "little")


@settings(max_examples=20)
@given(scalars, scalars)
def test_arithmetic_is_that_of_the_reference(one: int, other: int) -> None:
    first, second = edwards.multiply(one, BASE), edwards.multiply(other, BASE)
    assert group.generate(raw(one)) == edwards.encode(first)
    assert group.multiply(raw(other), edwards.encode(first)) == edwards.encode(edwards.multiply(other, first))
    points = edwards.encode(first), edwards.encode(second)
    assert group.add(*points) == edwards.encode(edwards.add(first, second))
    assert group.subtract(*points) == edwards.encode(edwards.add(first, edwards.negate(second)))


def refused() -> dict[str, bytes]:
    """Return encodings that must not be accepted, by what is wrong with them."""
    small = {f"small order, {place}": edwards.encode(point) for place, point in enumerate(SMALL)}
    shifted = {
        f"small component, {place}": edwards.encode(edwards.add(edwards.multiply(7, BASE), point))
        for place, point in enumerate(SMALL)
        if point != edwards.IDENTITY
    }
    off = next(y for y in range(2, 100) if edwards.recover(y, 0) is None)
    canonical = next(y for y in range(2, 19) if edwards.recover(y, 0) is not None)
    return {
        **small,
        **shifted,
        "not on the curve": raw(off),
        "y not reduced": raw(canonical + P),
        "identity, y not reduced": raw(1 + P),
        "identity with the sign of x": raw(1 | 1 << 255),
        "all ones": b"\xff" * 32,
        "empty": b"",
        "short": edwards.encode(BASE)[:31],
        "long": edwards.encode(BASE) + b"\0",
    }


REFUSED = refused()


@pytest.mark.parametrize("name", REFUSED)
def test_points_outside_the_group_are_refused(name: str) -> None:
    for accept in (group.check, lambda point: group.multiply(raw(5), point)):
        with pytest.raises(ExchangeFailed, match="prime-order group"):
            accept(REFUSED[name])


def test_there_are_eight_points_of_small_order() -> None:
    """The reference finds them by itself: one of order 1, one of 2, two of 4 and four of 8."""
    orders = [
        next(order for order in (1, 2, 4, 8) if edwards.multiply(order, point) == edwards.IDENTITY)
        for point in SMALL
    ]
    assert sorted(orders) == [1, 2, 4, 4, 8, 8, 8, 8]
    assert "small order, 7" in REFUSED
    assert "small component, 7" in REFUSED


def test_points_of_the_group_are_accepted() -> None:
    for number in (1, 2, 7, L - 1):
        group.check(edwards.encode(edwards.multiply(number, BASE)))


# --- libsodium before CVE-2025-69277 was fixed -------------------------------------------------------------


def accepts_order_two(point: bytes) -> bool:
    """The broken check: of L·P only the x coordinate is compared with the identity's."""
    return edwards.multiply(L, edwards.decode(point))[0] == 0


def old_multiply(scalar: bytes, point: bytes) -> bytes:
    if not accepts_order_two(point):
        raise RuntimeError
    return point


@pytest.mark.parametrize(
    "changes",
    [
        {"crypto_core_ed25519_is_valid_point": accepts_order_two},
        {"crypto_scalarmult_ed25519_noclamp": old_multiply},
        {"crypto_core_ed25519_is_valid_point": lambda point: True},
        {"crypto_core_ed25519_is_valid_point": lambda point: False},
    ],
)
def test_a_libsodium_that_accepts_too_much_is_noticed(changes: dict[str, Callable[..., Any]]) -> None:
    assert group.refuses_small_components(bindings)
    broken = SimpleNamespace(**{**vars(bindings), **changes})
    assert not group.refuses_small_components(broken)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("crypto_core_ed25519_is_valid_point", accepts_order_two),
        ("has_crypto_core_ed25519", False),
        ("has_crypto_scalarmult_ed25519", False),
    ],
)
def test_no_toss_with_an_unsafe_libsodium(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    jrr = dt.JRR(dt.Categories(2), p=0.7, rho=-0.2, n=2)
    monkeypatch.setattr(bindings, name, value)
    group.libsodium.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"libsodium.*dither\[protocols\]"):
            dt.protocols.local_pairs(jrr, bits=4)
    finally:
        group.libsodium.cache_clear()


# --- scalars -----------------------------------------------------------------------------------------------


@given(st.binary(min_size=64, max_size=64))
def test_scalars_are_reduced_and_never_zero(data: bytes) -> None:
    zeros = bytes(64) + L.to_bytes(64, "little")
    drawn = group.draw_scalar(Scripted(zeros + data + (1).to_bytes(64, "little")))
    assert int.from_bytes(drawn, "little") == (int.from_bytes(data, "little") % L or 1)
