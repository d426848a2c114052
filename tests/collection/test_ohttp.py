"""Oblivious HTTP: the vectors of RFC 9458 and ours, and everything that must not open."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dither.collection.ohttp import (
    BinaryRequest,
    BinaryResponse,
    configuration,
    configurations,
    decapsulate,
    encapsulate,
    public_key,
    sealed_size,
)
from dither.core.batch import PACKED
from dither.errors import InvalidParameter, MalformedReport
from tests.conformance.ohttp import CONFIGURATION, FILE, HOST, PATH, PRIVATE, SMALL_ORDER, drawn, inside, text

VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
KEYS = {CONFIGURATION: PRIVATE}
PLAIN = BinaryRequest("GET", PATH).to_bytes(HOST)


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text()


@pytest.mark.parametrize("one", VECTORS["exchanges"], ids=lambda one: one["name"])
def test_exchanges(one: dict[str, str]) -> None:
    """The first is Appendix A of the RFC, as it is printed: every byte of the request and of the answer."""
    private = X25519PrivateKey.from_private_bytes(bytes.fromhex(one["private"]))
    plain, opened = bytes.fromhex(one["plain"]), bytes.fromhex(one["opened"])
    with drawn(one["nonce"]):
        sealed, device = encapsulate(plain, one["configuration"], bytes.fromhex(one["ephemeral"]))
        assert sealed.hex() == one["sealed"]
        found, gateway = decapsulate(sealed, {one["configuration"]: private})
        assert found == plain
        assert gateway.encrypt_answer(opened).hex() == one["answer"]
    assert device.decrypt_answer(bytes.fromhex(one["answer"])) == opened


def test_requests_and_responses_in_binary_http() -> None:
    for one in VECTORS["requests"]:
        body = bytes.fromhex(one["body"])
        made = BinaryRequest(one["method"], one["address"].removeprefix(f"https://{HOST}"), one["form"], body)
        data = bytes.fromhex(one["plain"]).ljust(one["length"], b"\0")
        assert made.to_bytes(HOST) == data
        assert BinaryRequest.from_bytes(data) == made
    for one in VECTORS["responses"]:
        data = bytes.fromhex(one["plain"])
        if "refused" in one:
            with pytest.raises(MalformedReport):
                BinaryResponse.from_bytes(data)
        else:
            read = BinaryResponse.from_bytes(data)
            assert (read.status, read.content.hex()) == (one["status"], one["content"])


def test_the_example_of_rfc_9292() -> None:
    """Its section 5.1, with padding: two fields, of which one is not read."""
    head = "0003474554056874747073000a2f68656c6c6f2e747874406c0a757365722d6167656e74346375726c2f372e31362e33"
    rest = (
        "206c69626375726c2f372e31362e33204f70656e53534c2f302e392e376c207a6c69622f312e322e3304686f73740f7777"
        "772e6578616d706c652e636f6d0f6163636570742d6c616e677561676506656e2c206d690000"
    )
    data = bytes.fromhex(head + rest)
    for padding in (b"", bytes(1), bytes(7)):
        assert BinaryRequest.from_bytes(data + padding) == BinaryRequest("GET", "/hello.txt")
    # The empty body and the empty trailers may be left out; nothing else.
    whole = len(data) - 2
    for size in range(len(data)):
        if size in (whole, whole + 1, 23):  # 23: the end of the control data
            assert BinaryRequest.from_bytes(data[:size]).path == "/hello.txt"
        else:
            with pytest.raises(MalformedReport):
                BinaryRequest.from_bytes(data[:size])


def test_the_library_that_hpke_is_in_opens_what_we_encrypt() -> None:
    """`cryptography` 47 has HPKE, without the exporter: requests are opened in both directions."""
    hpke = pytest.importorskip("cryptography.hazmat.primitives.hpke")
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
    header = bytes.fromhex(CONFIGURATION[:2] + "002000010001")
    info = b"message/bhttp request\0" + header
    for size in (0, 1, 100, 5000):
        plain = b"7" * size
        sealed, _ = encapsulate(plain, CONFIGURATION)
        assert suite.decrypt(sealed[7:], PRIVATE, info) == plain
        assert decapsulate(header + suite.encrypt(plain, PRIVATE.public_key(), info), KEYS)[0] == plain


def test_what_cannot_be_opened_or_read_is_refused() -> None:
    for one in VECTORS["refused"]:
        sealed = bytes.fromhex(one["sealed"])
        if one["inside"]:
            plain, _ = decapsulate(sealed, KEYS)
            assert plain == inside()[one["reason"]] or one["reason"] == "encrypted twice"
        else:
            with pytest.raises(MalformedReport):
                decapsulate(sealed, KEYS)


@pytest.mark.parametrize("one", VECTORS["configurations"], ids=lambda one: one["reason"])
def test_configurations_that_protect_nothing_are_refused(one: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter, match="sealing key"):
        public_key(one["configuration"])


@pytest.mark.parametrize("bad", [None, 5, b"00", [CONFIGURATION]])
def test_a_configuration_is_a_text(bad: object) -> None:
    with pytest.raises(InvalidParameter, match="sealing key"):
        public_key(bad)


def test_other_algorithms_may_be_offered_beside_ours() -> None:
    both = CONFIGURATION[:70] + "0008" + "00010003" + "00010001"
    sealed, exchange = encapsulate(PLAIN, both)
    plain, gateway = decapsulate(sealed, {both: PRIVATE})
    assert plain == PLAIN
    assert exchange.decrypt_answer(gateway.encrypt_answer(b"x")) == b"x"


def test_every_flipped_bit_and_every_cut_is_refused() -> None:
    sealed, exchange = encapsulate(b"GET", CONFIGURATION)
    answer = decapsulate(sealed, KEYS)[1].encrypt_answer(b"OK")

    def damaged(data: bytes) -> list[bytes]:
        flipped = [
            data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            for at in range(len(data))
            for bit in range(8)
        ]
        return [*flipped, *(data[:size] for size in range(len(data))), data + b"\0", b"\0" + data]

    wrong = [(decapsulate, (one, KEYS)) for one in damaged(sealed)]
    wrong += [(exchange.decrypt_answer, (one,)) for one in damaged(answer)]  # type: ignore[list-item]
    for open_it, given in wrong:
        with pytest.raises(MalformedReport):
            open_it(*given)  # type: ignore[operator]
    assert exchange.decrypt_answer(answer) == b"OK"


def test_another_key_and_another_request_do_not_open() -> None:
    sealed, first = encapsulate(PLAIN, CONFIGURATION)
    again, second = encapsulate(PLAIN, CONFIGURATION)
    assert sealed[7:39] != again[7:39]
    with pytest.raises(MalformedReport):
        decapsulate(sealed, {CONFIGURATION: X25519PrivateKey.generate()})
    with pytest.raises(MalformedReport):
        decapsulate(sealed, {})
    answer = decapsulate(sealed, KEYS)[1].encrypt_answer(b"OK")
    assert first.decrypt_answer(answer) == b"OK"
    with pytest.raises(MalformedReport):
        second.decrypt_answer(answer)


def test_two_keys_at_once_and_two_of_one_id() -> None:
    """Keys are found by their id, so that they can be replaced; where two have one id, both are tried."""
    other = X25519PrivateKey.generate()
    same = CONFIGURATION[:2] + configuration(other)[2:]
    for second in (configuration(other), same):
        keys = {CONFIGURATION: PRIVATE, second: other}
        for name in keys:
            assert decapsulate(encapsulate(PLAIN, name)[0], keys)[0] == PLAIN
    served = configurations({CONFIGURATION: PRIVATE, same: other})
    assert served.hex() == f"0029{CONFIGURATION}0029{same}"


def test_small_points_of_a_device_are_refused() -> None:
    sealed, _ = encapsulate(PLAIN, CONFIGURATION)
    for point in SMALL_ORDER:
        with pytest.raises(MalformedReport):
            decapsulate(sealed[:7] + bytes.fromhex(point) + sealed[39:], KEYS)


def test_lengths_are_powers_of_two() -> None:
    for size in (0, 1, 300, 849, 900, 2000, 5000, 1 << 16):
        plain = BinaryRequest("POST", PATH + "/batches", PACKED, bytes(size)).to_bytes(HOST)
        assert len(plain) >= 1024
        assert len(plain).bit_count() == 1
        sealed = encapsulate(plain, CONFIGURATION)[0]
        assert len(sealed) == len(plain) + 55 <= sealed_size(size)
    answers = {len(BinaryResponse(status, "application/json", b"x" * size).to_bytes())
               for status, size in ((200, 45), (422, 120), (503, 0))}  # fmt: skip
    assert answers == {512}


def test_nothing_shows_the_secret() -> None:
    sealed, exchange = encapsulate(PLAIN, CONFIGURATION)
    assert exchange._keys._secret.hex() not in repr(exchange) + sealed.hex()
