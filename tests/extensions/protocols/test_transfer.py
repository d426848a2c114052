"""Oblivious transfer: the right keys and entries, nothing else for either side, and no wrong point.

The group: arithmetic as in the reference, and no point from outside is accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import reduce
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dither as dt
from dither.errors import ExchangeFailed, MissingExtra
from dither.extensions.protocols import transfer as group
from dither.extensions.protocols.transfer import (
    KEY,
    KeyReceiver,
    KeySender,
    TableReceiver,
    TableSender,
    query_size,
    reply_size,
)
from tests.extensions.protocols import edwards
from tests.extensions.protocols.edwards import BASE, SMALL, L, P
from tests.support.sources import Scripted

bindings = pytest.importorskip("nacl.bindings")

scalars = st.integers(1, L - 1)


def raw(number: int) -> bytes:
    return number.to_bytes(32, "little")


@settings(max_examples=20)
@given(scalars, scalars)
def test_arithmetic_is_that_of_the_reference(one: int, other: int) -> None:
    first, second = edwards.multiply(one, BASE), edwards.multiply(other, BASE)
    assert group.generate_point(raw(one)) == edwards.encode(first)
    assert group.multiply_point(raw(other), edwards.encode(first)) == edwards.encode(
        edwards.multiply(other, first)
    )
    points = edwards.encode(first), edwards.encode(second)
    assert group.add_points(*points) == edwards.encode(edwards.add(first, second))
    assert group.subtract_points(*points) == edwards.encode(edwards.add(first, edwards.negate(second)))


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
def test_points_outside_the_group_are_refused_group(name: str) -> None:
    for accept in (group.check_point, lambda point: group.multiply_point(raw(5), point)):
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
        group.check_point(edwards.encode(edwards.multiply(number, BASE)))


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
        with pytest.raises(MissingExtra, match=r"libsodium.*\.\[protocols\]"):
            dt.protocols.local_pairs(jrr, bits=4)
    finally:
        group.libsodium.cache_clear()


# --- scalars -----------------------------------------------------------------------------------------------


@given(st.binary(min_size=64, max_size=64))
def test_scalars_are_reduced_and_never_zero(data: bytes) -> None:
    zeros = bytes(64) + L.to_bytes(64, "little")
    drawn = group.draw_scalar(Scripted(zeros + data + (1).to_bytes(64, "little")))
    assert int.from_bytes(drawn, "little") == (int.from_bytes(data, "little") % L or 1)


pytest.importorskip("nacl")
SESSION, OTHER = bytes(range(32)), bytes(range(1, 33))


def sides(seed: int = 1, session: bytes = SESSION) -> tuple[KeySender, KeyReceiver]:
    sender = KeySender(session, dt.Seeded(seed))
    return sender, KeyReceiver(session, sender.public, dt.Seeded(seed + 1000))


# --- one key of two ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", list(product((0, 1), repeat=3)))
def test_the_receiver_has_the_key_of_its_bit_and_not_the_other(bits: tuple[int, ...]) -> None:
    sender, receiver = sides()
    for bit in bits:
        query, key = receiver.query(bit)
        keys = sender.keys(query)
        assert key == keys[bit]
        assert key != keys[1 - bit]
        assert len(key) == KEY


def reference(session: bytes, a: int, b: int, bit: int, count: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Return A, B and both keys, in plain integers and from the formulas of the paper."""
    public = edwards.multiply(a, BASE)
    query = edwards.multiply(b, BASE) if bit == 0 else edwards.add(edwards.multiply(b, BASE), public)
    points = [edwards.multiply(a, query), edwards.multiply(a, edwards.add(query, edwards.negate(public)))]
    told = edwards.encode(public), edwards.encode(query)
    first, second = (key_of(session, *told, count, edwards.encode(point)) for point in points)
    return *told, first, second


def key_of(session: bytes, public: bytes, query: bytes, count: int, shared: bytes) -> bytes:
    """Return the key that a shared point is hashed to, with what both sides have seen."""
    fields = session + public + query + count.to_bytes(8, "little") + shared
    return hashlib.blake2b(fields, digest_size=16, person=b"dither transfer2").digest()


@settings(max_examples=10)
@given(st.integers(1, L - 1), st.integers(1, L - 1), st.integers(0, 1), st.integers(0, 2))
def test_points_and_keys_are_those_of_the_reference(a: int, b: int, bit: int, before: int) -> None:
    assume(b not in (a, L - a))  # else a query is the public key, or the identity
    sender = KeySender(SESSION, Scripted(a.to_bytes(64, "little")))
    receiver = KeyReceiver(SESSION, sender.public, Scripted(b.to_bytes(64, "little") * (before + 1)))
    for _ in range(before):
        sender.keys(receiver.query(1 - bit)[0])
    query, key = receiver.query(bit)
    assert (sender.public, query, *sender.keys(query)) == reference(SESSION, a, b, bit, before)
    assert key == reference(SESSION, a, b, bit, before)[2 + bit]


def test_golden_keys() -> None:
    """Fixed bytes: what another implementation must compute for a = 3, b = 5 and the first transfer."""
    sender = KeySender(SESSION, Scripted((3).to_bytes(64, "little")))
    assert sender.public.hex() == "d4b4f5784868c3020403246717ec169ff79e26608ea126a1ab69ee77d1b16712"
    for bit, (query, key) in enumerate(
        (
            (
                "edc876d6831fd2105d0b4389ca2e283166469289146e2ce06faefe98b22548df",
                "01734c0145782d44bdf57ebea9ef15e7",
            ),
            (
                "b4b937fca95b2f1e93e41e62fc3c78818ff38a66096fad6e7973e5c90006d321",
                "ad9063f9ddcf29a8155063d214cc86b5",
            ),
        )
    ):
        receiver = KeyReceiver(SESSION, sender.public, Scripted((5).to_bytes(64, "little")))
        asked, got = receiver.query(bit)
        assert (asked.hex(), got.hex()) == (query, key)


def test_two_transfers_never_share_a_key() -> None:
    """Not within an exchange, with the same query again, in another session, nor in the other direction."""
    keys: list[bytes] = []
    for session in (SESSION, OTHER):
        sender, receiver = sides(session=session)  # the same secrets in both sessions
        queries = [receiver.query(count % 2)[0] for count in range(20)]
        for query in (*queries, *queries, queries[0], queries[0]):
            keys += sender.keys(query)
    assert len(keys) == 2 * 2 * 42
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("same_session", [False, True])
def test_a_reflected_exchange_gives_no_known_key(same_session: bool) -> None:
    """A partner sends back a device's own public key, and then the device's own queries.

    The device must not derive the same keys as sender and as receiver. The broken twin has one session for
    both directions, and does.
    """
    sender = KeySender(SESSION, dt.Seeded(1))
    receiver = KeyReceiver(SESSION if same_session else OTHER, sender.public, dt.Seeded(2))
    query, key = receiver.query(1)
    assert (key in sender.keys(query)) is same_session


# --- what the receiver cannot learn ------------------------------------------------------------------------


def known_to_the_receiver(public: bytes, query: bytes, secret: int) -> list[bytes]:
    """Return points that the receiver can compute: small combinations of G, A, B and b·A."""
    parts = [BASE, edwards.decode(public), edwards.decode(query)]
    parts.append(edwards.multiply(secret, parts[1]))
    multiples = [[edwards.negate(part), edwards.IDENTITY, part, edwards.add(part, part)] for part in parts]
    return [edwards.encode(reduce(edwards.add, chosen)) for chosen in product(*multiples)]


def no_subtraction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: both keys come from a·B."""
    monkeypatch.setattr(group, "subtract_points", lambda one, other: one)


def no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: the sender's secret is 1, so that a·B is B."""
    monkeypatch.setattr(group, "draw_scalar", lambda source: (1).to_bytes(32, "little"))


@pytest.mark.parametrize(
    ("bit", "break_it"), [(0, None), (1, None), (0, no_subtraction), (0, no_secret), (1, no_secret)]
)
def test_the_other_key_does_not_follow_from_what_the_receiver_knows(
    bit: int, break_it: Callable[[pytest.MonkeyPatch], None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = 123456789
    scalar = secret.to_bytes(32, "little")
    if break_it is not None:
        break_it(monkeypatch)
    sender = KeySender(SESSION, dt.Seeded(5))
    monkeypatch.setattr(group, "draw_scalar", lambda source: scalar)
    query, key = KeyReceiver(SESSION, sender.public, dt.Seeded(6)).query(bit)
    keys = sender.keys(query)
    candidates = {
        key_of(SESSION, sender.public, query, 0, point)
        for point in known_to_the_receiver(sender.public, query, secret)
    }
    assert key in candidates  # the search finds the key that it should find
    assert (keys[1 - bit] in candidates) is (break_it is not None)


# --- what the sender cannot learn --------------------------------------------------------------------------


def test_the_query_of_one_is_that_of_zero_moved_by_the_public_key() -> None:
    """With b uniform, both are therefore uniform in a group of prime order: no sender sees the bit."""
    sender, _ = sides()
    for seed in range(5):
        zero, one = (KeyReceiver(SESSION, sender.public, dt.Seeded(seed)).query(bit)[0] for bit in (0, 1))
        assert edwards.decode(one) == edwards.add(edwards.decode(zero), edwards.decode(sender.public))


def observed(public: edwards.Point) -> list[bool]:
    """Return what a sender sees of eight choices of 0, then of 1, by multiplying the queries by L."""
    receiver = KeyReceiver(SESSION, edwards.encode(public), dt.Seeded(3))
    bits = [0] * 8 + [1] * 8
    queries = [edwards.decode(receiver.query(bit)[0]) for bit in bits]
    return [edwards.multiply(L, query) != edwards.IDENTITY for query in queries]


@pytest.mark.some(every=4)
@pytest.mark.parametrize("order", range(1, 8))
def test_a_public_key_that_would_show_the_choice_is_refused(
    order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack on a receiver that does not check: a component of small order appears in queries for 1."""
    public = edwards.multiply(77, BASE)
    assert not any(observed(public))
    poisoned = edwards.add(public, SMALL[order])
    with pytest.raises(ExchangeFailed):
        observed(poisoned)
    monkeypatch.setattr(group, "check_point", lambda point: None)
    monkeypatch.setattr(group, "multiply_point", lambda scalar, point: point)
    assert observed(poisoned) == [False] * 8 + [True] * 8


# --- wrong points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFUSED)
def test_points_outside_the_group_are_refused(name: str) -> None:
    point = REFUSED[name]
    with pytest.raises(ExchangeFailed, match="prime-order group"):
        KeyReceiver(SESSION, point, dt.Seeded(1))
    sender, receiver = sides()
    with pytest.raises(ExchangeFailed, match="prime-order group"):
        sender.keys(point)
    tables = TableSender(4, SESSION, dt.Seeded(1))
    queries = TableReceiver(4, SESSION, tables.public, dt.Seeded(2)).query([3])
    with pytest.raises(ExchangeFailed):
        tables.reply(queries[:96] + point, np.zeros((1, 16), dtype=bool))
    query, key = receiver.query(0)
    assert sender.keys(query)[0] == key  # what was refused is not counted as a transfer


def test_the_public_key_is_refused_as_a_query() -> None:
    sender, _ = sides()
    with pytest.raises(ExchangeFailed, match="differs from the public key"):
        sender.keys(sender.public)


def test_no_secret_is_shown() -> None:
    secret = (123456789).to_bytes(32, "little")
    sender = KeySender(SESSION, Scripted(secret + bytes(32)))
    square = group.multiply_point(secret, sender.public)
    receiver = KeyReceiver(SESSION, sender.public, dt.Seeded(6))
    table = TableReceiver(4, SESSION, sender.public, dt.Seeded(7))
    table.query([11])
    for one in (sender, receiver, table):
        assert repr(one).startswith(f"<{type(one).__module__}.{type(one).__name__} object at")
    with pytest.raises(ExchangeFailed) as failed:
        sender.keys(REFUSED["small order, 1"])
    shown = repr(failed.value) + str(failed.value.__cause__)
    assert not any(hidden.hex() in shown or repr(hidden) in shown for hidden in (secret, square))


# --- one entry of a table ----------------------------------------------------------------------------------


def test_every_entry_can_be_read() -> None:
    tables = np.random.default_rng(1).integers(0, 2, (16, 16)).astype(bool)
    sender = TableSender(4, SESSION, dt.Seeded(1))
    receiver = TableReceiver(4, SESSION, sender.public, dt.Seeded(2))
    reply = sender.reply(receiver.query(range(16)), tables)
    assert receiver.read(reply) == [tables[choice, choice] for choice in range(16)]


def keystream(key: bytes, size: int) -> np.ndarray:
    """Return AES-128's keystream in counter mode, from its beginning."""
    cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return np.frombuffer(cipher.update(bytes(size)), np.uint8)


@pytest.mark.parametrize("same_keys", [False, True])
def test_no_other_entry_can_be_read(same_keys: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the keys of one choice, every other entry still lacks at least one keystream: a fair coin each.

    The broken twin has the same two keys for the first digit, so that another entry can be read.
    """
    bits, choice, size = 8, 0b10110010, 60
    honest, chosen = KeySender.keys, {place: choice >> place & 1 for place in range(bits)}
    agree = np.zeros((size, 1 << bits), dtype=bool)
    for seed in range(size):
        sender = TableSender(bits, SESSION, dt.Seeded(seed))
        receiver = KeyReceiver(SESSION, sender.public, dt.Seeded(seed + 1000))
        asked = [receiver.query(digit) for digit in chosen.values()]

        def keys(one: KeySender, query: bytes, first: bytes = asked[0][0]) -> tuple[bytes, bytes]:
            pair = honest(one, query)
            return (pair[chosen[0]],) * 2 if query == first else pair

        if same_keys:
            monkeypatch.setattr(KeySender, "keys", keys)
        queries = b"".join(query for query, _ in asked)
        reply = sender.reply(queries, np.zeros((1, 1 << bits), dtype=bool))  # of zeros: the mask itself
        guess = reduce(np.bitwise_xor, (keystream(key, reply_size(bits)) for _, key in asked))
        right = np.unpackbits(np.frombuffer(reply, np.uint8), bitorder="little")
        agree[seed] = right == np.unpackbits(guess, bitorder="little")
    assert agree[:, choice].all()
    others = np.delete(agree, choice, axis=1)
    fair = abs(others.mean() - 0.5) < 4.9 * 0.5 / np.sqrt(others.size)
    none = others.mean(axis=0).max() < 0.5 + 6.0 * 0.5 / np.sqrt(size)
    assert (fair and none) is not same_keys


def test_queries_have_one_length_and_are_never_repeated() -> None:
    sender = TableSender(4, SESSION, dt.Seeded(1))
    receiver = TableReceiver(4, SESSION, sender.public, dt.Seeded(2))
    asked = receiver.query([0, 15, 0])
    assert len(asked) == 3 * query_size(4)
    assert len({asked[at : at + 32] for at in range(0, len(asked), 32)}) == 12


@given(st.integers(0, 15), st.binary(min_size=2, max_size=2))
@settings(max_examples=40)
def test_whether_a_reply_can_be_read_does_not_depend_on_the_choice(choice: int, reply: bytes) -> None:
    """Any two bytes are a masked table of 16 entries: a sender learns nothing from a failure."""
    sender = TableSender(4, SESSION, dt.Seeded(1))
    receiver = TableReceiver(4, SESSION, sender.public, dt.Seeded(choice))
    receiver.query([choice])
    assert len(receiver.read(reply)) == 1


def test_wrong_lengths_are_refused() -> None:
    sender = TableSender(4, SESSION, dt.Seeded(1))
    receiver = TableReceiver(4, SESSION, sender.public, dt.Seeded(2))
    asked = receiver.query([3, 4])
    for queries in (asked[:-1], asked[:-32], asked + asked[:32], b""):
        with pytest.raises(ExchangeFailed, match="4 queries of 32 bytes"):
            sender.reply(queries, np.zeros((2, 16), dtype=bool))
    for reply in (b"", bytes(3), bytes(5)):
        receiver.query([5, 6])
        with pytest.raises(ExchangeFailed, match="2 bytes"):
            receiver.read(reply)
    assert receiver.read(b"") == []  # what could not be read is not asked for any more
