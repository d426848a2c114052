"""Sealed bodies: RFC 9180's own vector, ours, and everything that must not open."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dither.errors import InvalidParameter, MalformedReport, MissingExtra
from dither.wire.batch import JSON, PACKED, public_key, seal, sealed_size, suite, unseal
from tests.conformance.sealed import FILE, text
from tests.support import hpke

VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
KEY, CAMPAIGN = VECTORS["key"], VECTORS["campaign"]
PRIVATE = X25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["private"]))
SMALL_ORDER = [  # points whose product with any secret is zero [RFC 7748, 6.1]
    "00" * 32,
    "01" + "00" * 31,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


def test_the_vector_of_rfc_9180() -> None:
    """Appendix A.1.1, message 0: the implementation that writes our vectors makes the same bytes."""
    made = hpke.seal(
        b"Beauty is truth, truth beauty",
        bytes.fromhex("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d"),
        b"Ode on a Grecian Urn",
        bytes.fromhex("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736"),
        b"Count-0",
    )
    assert made.hex() == (
        "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
        "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
    )


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text()


def test_the_vectors_open() -> None:
    for one in VECTORS["sealed"]:
        body, form = unseal(bytes.fromhex(one["sealed"]), PRIVATE, CAMPAIGN)
        assert form == {"json": JSON, "packed": PACKED}[one["form"]]
        assert one["body"] == (body.decode() if form == JSON else body.hex())


@pytest.mark.parametrize("one", VECTORS["refused"], ids=lambda one: one["reason"])
def test_what_is_not_padded_or_bound_so_is_refused(one: dict[str, str]) -> None:
    with pytest.raises(MalformedReport):
        unseal(bytes.fromhex(one["sealed"]), PRIVATE, CAMPAIGN)


def test_sealing_again_gives_other_bytes_and_the_same_body() -> None:
    made = {seal(b"{}", JSON, KEY, CAMPAIGN) for _ in range(5)}
    assert len(made) == 5
    assert {unseal(one, PRIVATE, CAMPAIGN) for one in made} == {(b"{}", JSON)}
    assert not {one[:32] for one in made} & {seal(b"{}", JSON, KEY, CAMPAIGN)[:32]}


def test_lengths_are_powers_of_two() -> None:
    sizes = (0, 1, 1018, 1019, 1020, 2043, 2044, 5000, 1 << 16)
    expected = [1024, 1024, 1024, 1024, 2048, 2048, 4096, 8192, 1 << 17]
    assert [sealed_size(size) - 48 for size in sizes] == expected
    for size in sizes:
        sealed = seal(bytes(size), PACKED, KEY, CAMPAIGN)
        assert len(sealed) == sealed_size(size)
        assert unseal(sealed, PRIVATE, CAMPAIGN) == (bytes(size), PACKED)


def test_every_flipped_bit_and_every_cut_is_refused() -> None:
    sealed = seal(b"{}", JSON, KEY, CAMPAIGN)
    damaged = [
        sealed[:at] + bytes([sealed[at] ^ 1 << bit]) + sealed[at + 1 :]
        for at in range(len(sealed))
        for bit in range(8)
    ]
    damaged += [sealed[:size] for size in range(len(sealed))] + [sealed + b"\0", b"\0" + sealed]
    damaged += [bytes.fromhex(point) + sealed[32:] for point in SMALL_ORDER]
    opened = 0
    for one in damaged:
        try:
            unseal(one, PRIVATE, CAMPAIGN)
        except MalformedReport:
            continue
        opened += 1
    assert opened == 0


def test_another_key_and_another_campaign_do_not_open() -> None:
    sealed = seal(b"{}", JSON, KEY, CAMPAIGN)
    for key, campaign in ((X25519PrivateKey.generate(), CAMPAIGN), (PRIVATE, "0" * 64), (PRIVATE, "")):
        with pytest.raises(MalformedReport, match="cannot be opened"):
            unseal(sealed, key, campaign)


def test_the_implementation_of_the_tests_and_the_library_agree() -> None:
    for number in range(20):
        plain, info = bytes([number]) * number, b"about %d" % number
        made = hpke.seal(plain, bytes.fromhex(KEY), info, bytes([number + 1]) * 32)
        assert suite().decrypt(made, PRIVATE, info) == plain
        with pytest.raises(InvalidTag):
            suite().decrypt(made, PRIVATE, info + b"x")


@pytest.mark.parametrize(
    "bad", [None, 5, "", "ab", KEY.upper(), KEY + "00", KEY[:-1], " " + KEY[1:], *SMALL_ORDER]
)
def test_keys_that_protect_nothing_are_refused(bad: object) -> None:
    with pytest.raises(InvalidParameter, match="sealing key"):
        public_key(bad)


def test_an_old_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.hpke", None)
    suite.cache_clear()
    with pytest.raises(MissingExtra, match=r"dither\[service\]"):
        seal(b"{}", JSON, KEY, CAMPAIGN)
    monkeypatch.undo()
    assert len(seal(b"{}", JSON, KEY, CAMPAIGN)) == 1072
