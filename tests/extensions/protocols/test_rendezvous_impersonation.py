"""An enrolled device that wants another pair's coins: it learns no other pair, and takes nobody's place."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

import dither as dt
from dither import results
from dither.errors import ExchangeFailed
from dither.extensions import protocols
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.device import converse
from dither.extensions.protocols.exchange import Deadline
from dither.extensions.protocols.messages import pack_address
from dither.extensions.protocols.pairs import PRIME
from dither.extensions.protocols.rendezvous import (
    DEALT_SIZE,
    SHARED_SIZE,
    DevicePair,
    Enrolled,
    address_record,
    dealer,
    pack_dealt,
    read_dealt,
    read_shared,
    seat,
)
from dither.results import Standing
from tests.extensions.protocols.network import at, beside, listening

pytest.importorskip("nacl")
TERMS = Terms(dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=4), bits=4)
SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
SECONDS = 20.0


def told(bodies: dict[int, bytes]) -> dict[int, DevicePair]:
    pairs = {one: read_dealt(body) for one, body in bodies.items()}
    return {one: pair for one, pair in pairs.items() if pair is not None}


@pytest.mark.parametrize("knows", ["another pair's secret", "no secret"])
def test_an_enrolled_device_cannot_take_a_partners_place(knows: str) -> None:
    """It knows all addresses and comes first; it gets no byte, and the partners toss with each other."""
    forged: list[socket.socket] = []
    true: dict[int, DevicePair] = {}

    def places(devices: Sequence[Enrolled], deadline: Deadline) -> dict[int, bytes]:
        bodies = dealer(devices, deadline)
        true.update(told(bodies))
        victim = next(one for one, pair in true.items() if pair.role is Role.SECOND)
        secret = next(pair.secret for pair in true.values() if pair.secret != true[victim].secret)
        attack = Exchange(TERMS, Role.FIRST, 2, secret=secret if knows == "another pair's secret" else b"")
        forged.append(socket.create_connection(devices[victim].address, timeout=SECONDS))
        forged[0].sendall(attack.start())
        return bodies

    with listening() as meeting, ThreadPoolExecutor(5) as pool:
        seated = pool.submit(seat, meeting, 4, places, Deadline.after(SECONDS))
        tossing = [pool.submit(protocols.toss, TERMS, 2, [at(meeting)], timeout=SECONDS) for _ in range(4)]
        outcomes = [one.result() for one in tossing]
        assert seated.result() == 4
    with forged[0] as attacker:
        assert attacker.recv(1) == b""  # closed without an answer
    assert [one.standing for one in outcomes] == [Standing.PAIRED] * 4
    tags = [one.pair for one in outcomes]
    assert sorted(tags.count(tag) for tag in tags) == [2, 2, 2, 2]
    assert set(tags) == {pair.tag for pair in true.values()}


def test_somebody_at_the_partners_address_learns_nothing() -> None:
    """The first device calls; who answers without the secret has seen a nonce, and is refused."""
    first = Exchange(TERMS, Role.FIRST, secret=SECRET)
    hello = first.start()
    impostor = Exchange(TERMS, Role.SECOND, secret=OTHER)
    impostor.start()
    answer = impostor.receive(Exchange(TERMS, Role.FIRST, secret=OTHER).start())
    assert SECRET not in hello
    with pytest.raises(ExchangeFailed, match="this pair's secret"):
        first.receive(answer)
    assert not first.agreed
    with pytest.raises(ExchangeFailed, match="has failed"):
        first.receive(b"")


def test_a_recorded_hello_does_not_open_an_exchange() -> None:
    """It is answered, since its tag is right. The next message needs the secret; the partner comes later."""
    recorded = Exchange(TERMS, Role.FIRST, secret=SECRET).start()

    def attack() -> bytes:
        with socket.create_connection(at(here), timeout=SECONDS) as connection:
            connection.sendall(recorded)
            answer = connection.recv(1 << 16)
            assert len(answer) == 22 + 54 + 16  # a HELLO: terms and a nonce
            connection.sendall(recorded)  # anything that is not a fresh OFFER
            return connection.recv(1)

    def both() -> list[dt.jrr.Coin]:
        assert attack() == b""
        exchange = Exchange(TERMS, Role.FIRST, secret=SECRET)
        with socket.create_connection(at(here), timeout=SECONDS) as connection:
            protocols.device.run(exchange, connection, Deadline.after(SECONDS))
        return exchange.coins()

    with listening() as here, beside(both) as result:
        coins = protocols.device.toss_with_caller(
            lambda: Exchange(TERMS, Role.SECOND, secret=SECRET),
            here,
            Deadline.after(SECONDS),
            protocols.DeviceTLS(),
        )
    assert len(coins) == len(result[0]) == 1


@pytest.mark.parametrize("step", range(10))
def test_a_changed_byte_is_refused_at_once(step: int) -> None:
    """Somebody on the way who does not have the secret changes one bit of a body: nothing is answered."""
    first, second = (Exchange(TERMS, role, secret=SECRET) for role in Role)
    second.start()
    said, sides = first.start(), (second, first)
    for turn in range(step):
        said = sides[turn % 2].receive(said)
    changed = bytearray(said)
    changed[22 + 8] ^= 1
    with pytest.raises(ExchangeFailed):
        sides[step % 2].receive(bytes(changed))


def test_transfers_depend_on_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same nonces, and thus the same first messages but for tags, the keys of transfers differ."""
    seen: dict[bytes, set[bytes]] = {SECRET: set(), OTHER: set()}
    build = protocols.exchange.TableSender
    for secret, sessions in seen.items():

        def spy(
            bits: int, session: bytes, source: dt.randomness.Source, into: set[bytes] = sessions
        ) -> object:
            into.add(session)
            return build(bits, session, source)

        monkeypatch.setattr(protocols.exchange, "TableSender", spy)
        converse(*(Exchange(TERMS, role, secret=secret, source=dt.Seeded(int(role))) for role in Role))
    assert len(seen[SECRET]) == len(seen[OTHER]) == 2
    assert not seen[SECRET] & seen[OTHER]


# --- what a device is told ---------------------------------------------------------------------------------

DEVICES = [Enrolled(bytes([65 + one]) * 16, (f"127.0.{one}.1", 5000 + one)) for one in range(7)]


def test_a_device_receives_only_its_own_pair() -> None:
    """No byte of a PLACE depends on a device that is not the partner, and no two pairs share a secret."""
    bodies = dealer(DEVICES, Deadline.after(SECONDS))
    assert sorted(bodies) == list(range(7))
    pairs = told(bodies)
    assert len({pair.secret for pair in pairs.values()}) == 3
    for one, body in bodies.items():
        assert len(body) == DEALT_SIZE
        if one not in pairs:
            assert body == pack_dealt(None)
            continue
        partner = next(other for other in pairs if DEVICES[other].address == pairs[one].partner)
        assert pairs[partner].partner == DEVICES[one].address
        assert pairs[partner].secret == pairs[one].secret
        assert {pairs[one].role, pairs[partner].role} == set(Role)
        assert body[1:] == pack_address(DEVICES[partner].address) + pairs[one].secret
        assert pairs[one].secret.hex() not in repr(pairs[one])
        assert str(pairs[one].secret) not in repr(pairs[one])


def shared(number: int, slope: int) -> list[bytes]:
    return [((number + x * slope) % PRIME).to_bytes(32, "little") for x in (1, 2, 3)]


@pytest.mark.parametrize("role", Role)
def test_shares_of_three_servers_determine_one_pair(role: Role) -> None:
    address, secret = ("::1", 65535), int.from_bytes(SECRET, "little")
    place = 2 * address_record(pack_address(address)) + role
    bodies = [one + two for one, two in zip(shared(place, 3 << 200), shared(secret, 5 << 200), strict=True)]
    assert {len(body) for body in bodies} == {SHARED_SIZE}
    assert read_shared(bodies) == DevicePair(role, address, SECRET)
    alone = [one + two for one, two in zip(shared(int(role), 7), shared(secret, 5), strict=True)]
    assert read_shared(alone) is None
    with pytest.raises(ExchangeFailed):
        read_shared([bodies[0], bodies[0], bodies[2]])  # two shares are not enough to choose another pair
    even = [one + two for one, two in zip(shared(4 * 5, 7), shared(secret, 5), strict=True)]
    with pytest.raises(ExchangeFailed, match="expected an address"):
        read_shared(even)


def test_the_collector_sees_another_name_than_the_meeting_point() -> None:
    names: list[bytes] = []

    def places(devices: Sequence[Enrolled], deadline: Deadline) -> dict[int, bytes]:
        names.extend(device.name for device in devices)
        return dealer(devices, deadline)

    def one() -> results.Tossed:
        tossed = protocols.toss(TERMS, 1, [at(meeting)], timeout=SECONDS)
        protocols.report(TERMS, tossed, tossed.coins[0].apply("yes"), at(desk), timeout=SECONDS, delay=0.01)
        return tossed

    with listening() as meeting, listening() as desk, ThreadPoolExecutor(6) as pool:
        pool.submit(seat, meeting, 4, places, Deadline.after(SECONDS))
        collected = pool.submit(protocols.collect, desk, TERMS, timeout=SECONDS)
        tossed = [future.result() for future in [pool.submit(one) for _ in range(4)]]
        came = collected.result()
    assert len(set(names)) == len(set(came.names)) == 4
    assert not {name.hex() for name in names} & set(came.names)
    for outcome in tossed:
        assert outcome.name.hex() in came.names
        assert outcome.pair not in "".join(came.names)
        assert "pair" not in repr(outcome).lower().replace("paired", "")
