"""Fixed bytes of every message: little endian, and refused in any other version.

TLS on every socket: a whole collection inside it, and nobody outside it is served.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import ExchangeFailed, InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols import Certificates, Exchange, Role, Terms
from dither.extensions.protocols.exchange import Deadline, reach, run
from dither.extensions.protocols.messages import NO_EXCHANGE, VERSION, ExpectedMessage, Kind, Reader, pack
from dither.extensions.protocols.rendezvous import dealer, seat
from dither.extensions.protocols.report_body import pack_report, read_report
from dither.results import Standing
from tests.extensions.protocols import golden
from tests.extensions.protocols.network import at, beside, certificates, listening

pytest.importorskip("nacl")
JRR = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2)


def test_the_head_of_a_message() -> None:
    message = pack(Kind.DONE, 0x01020304, b"exchange", b"four")
    assert message.hex(" ", 1) == (
        "64 6a 72 72 02 05 04 03 02 01 65 78 63 68 61 6e 67 65 04 00 00 00 66 6f 75 72"
    )
    reader = Reader()
    reader.feed(message)
    assert reader.take(ExpectedMessage(Kind.DONE, 0x01020304, b"exchange", 4, 4)) == b"four"


def test_the_body_of_a_hello() -> None:
    terms = Terms(JRR, bits=5)
    vars(terms)["digest"] = bytes(32)
    hello = Exchange(terms, Role.SECOND, 0x0102, source=golden.Shake("nonce"))
    first = Exchange(terms, Role.FIRST, 0x0102, source=golden.Shake("other"))
    hello.start()
    body = hello.receive(first.start())[22:]
    assert body[:6].hex(" ") == "01 05 02 01 00 00"  # role, bits, and 258 tosses
    assert (
        body[6:38].hex() == "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
    )  # of 32 zeros
    assert body[38:54] == golden.Shake("nonce").take(16)
    assert len(body) == 54 + 16  # the tag


def test_a_whole_exchange() -> None:
    """The ten messages with fixed randomness: a device of another release computes the same."""
    assert golden.exchange() == json.loads(golden.FILE.read_text())


@pytest.mark.parametrize(
    ("mechanism", "cells", "sent"),
    [
        (dt.JRR(dt.Categories(300), p=0.5, rho=0, n=2), [1, 258], "01 00 02 01"),
        (dt.JRR(dt.Categories(70_000), p=0.5, rho=0, n=2), [66051], "03 02 01 00"),
        (
            dt.JRR.over(dt.OLH(dt.Categories(300), epsilon=1), rho=0, n=2),
            [0x0102030405060001],
            "01 00 06 05 04 03 02 01",
        ),
        (
            dt.JRR.over(dt.rivals.SUE(dt.Categories(10), epsilon=1), rho=0, n=2),
            [[1, 2], [3, 0]],
            "01 02 03 00",
        ),
    ],
    ids=["two bytes", "four bytes", "eight bytes", "rows of bits"],
)
def test_the_body_of_a_report(mechanism: Any, cells: list[Any], sent: str) -> None:
    terms = Terms(mechanism)
    told = terms.mechanism.reports(np.array(cells, dtype=terms.mechanism.question.layout.base)).cells
    body = pack_report(b"0123456789abcdef", terms, Standing.LOST, told)
    assert body[:16] == b"0123456789abcdef"
    assert body[16:48] == terms.digest
    assert body[48:].hex(" ") == f"02 {sent}"
    # The byte order of the machine does not matter: an array in the other order is sent the same.
    swapped = told.astype(told.dtype.newbyteorder(">"))
    assert pack_report(b"0123456789abcdef", terms, Standing.LOST, swapped) == body
    name, standing, read = read_report(terms, len(cells), body)
    assert (name, standing, read.tolist()) == (b"0123456789abcdef", Standing.LOST, told.tolist())
    assert read.dtype == terms.mechanism.question.layout.base


def test_another_version_is_refused() -> None:
    """Also one with big-endian integers: the first message names its version before any."""
    assert VERSION == 2
    old = struct.pack(">4sBBI8sI", b"djrr", 1, 1, 0, NO_EXCHANGE, 54) + bytes(54)
    for size, said in ((5, "in version 2"), (len(old), "version 1; this device speaks version 2")):
        second = Exchange(Terms(JRR, bits=4), Role.SECOND)
        second.start()
        with pytest.raises(ExchangeFailed, match=said):
            second.receive(old[:size])
    reader = Reader()
    reader.feed(struct.pack(">4sBBI8sI", b"djrr", 1, 18, 0, NO_EXCHANGE, 50) + bytes(50))
    with pytest.raises(ExchangeFailed, match="version 1"):
        reader.take(ExpectedMessage(Kind.REPORT, 0, NO_EXCHANGE, 0, 1 << 24))


pytest.importorskip("nacl")
TERMS = Terms(dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2), bits=4)
SECONDS = 20.0


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("theirs"))


def test_a_collection_inside_tls(ours: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every socket is wrapped: four connections are opened and four accepted. Silent strangers do no harm."""
    wrapped: list[bool] = []
    wrap = ssl.SSLContext.wrap_socket

    def spy(self: ssl.SSLContext, plain: socket.socket, server_side: bool = False, **more: object) -> object:
        wrapped.append(server_side)
        return wrap(self, plain, server_side, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", spy)

    def one() -> Standing:
        tls = ours.device()
        tossed = protocols.toss(TERMS, 70, [at(meeting)], timeout=SECONDS, tls=tls)
        told = dt.Reports.concatenate([coin.apply("yes") for coin in tossed.coins])
        protocols.report(TERMS, tossed, told, at(desk), timeout=SECONDS, tls=tls.servers)
        return tossed.standing

    with ExitStack() as open_:
        meeting, desk, pool = map(open_.enter_context, (listening(), listening(), ThreadPoolExecutor(4)))
        with socket.create_connection(at(meeting)), socket.create_connection(at(desk)):
            seated = pool.submit(seat, meeting, 2, dealer, Deadline.after(SECONDS), tls=ours.server())
            collected = pool.submit(
                protocols.collect, desk, TERMS, rounds=70, timeout=SECONDS, tls=ours.server()
            )
            outcomes = [future.result() for future in [pool.submit(one) for _ in range(2)]]
            assert seated.result() == 2
            assert collected.result().paired == 2
    assert outcomes == [Standing.PAIRED] * 2
    assert wrapped.count(False) == 5  # two at the meeting point, one to the partner, two at the collector
    assert wrapped.count(True) == 5 + 2


def test_a_toss_over_sockets_that_the_caller_wrapped(ours: Certificates) -> None:
    one, other = socket.socketpair()
    first, second = (Exchange(TERMS, role, 5) for role in Role)

    def partner() -> None:
        with ours.server().wrap_socket(other, server_side=True) as inside:
            run(second, inside, Deadline.after(SECONDS))

    with beside(partner), ours.client().wrap_socket(one, server_hostname="localhost") as inside:
        run(first, inside, Deadline.after(SECONDS))
    assert len(first.coins()) == len(second.coins()) == 5


@pytest.mark.parametrize("who", ["plain", "other authority", "no certificate", "plain server"])
def test_clients_without_a_certificate_are_not_served(
    who: str, ours: Certificates, theirs: Certificates
) -> None:
    anonymous = ssl.create_default_context(cafile=str(ours.authority))
    client = {"other authority": theirs.client(), "no certificate": anonymous, "plain server": ours.client()}
    tls = protocols.DeviceTLS(client.get(who))
    server = None if who == "plain server" else ours.server()

    def wait() -> None:
        with pytest.raises(ExchangeFailed, match="in time"):
            seat(meeting, 2, dealer, Deadline.after(1.2), tls=server)

    with listening() as meeting, beside(wait):
        tossed = protocols.toss(TERMS, 1, [at(meeting)], timeout=1.0, tls=tls)
    assert tossed.standing is Standing.UNPLACED


@pytest.mark.parametrize("check", [True, False])
def test_the_name_in_a_certificate_is_checked(check: bool, ours: Certificates) -> None:
    def serve() -> None:
        with here.accept()[0] as peer, suppress(OSError):
            ours.server().wrap_socket(peer, server_side=True).close()

    with socket.create_server(("127.0.0.2", 0)) as here, beside(serve):  # not in the certificate
        outcome = pytest.raises(ExchangeFailed, match="certificate") if check else nullcontext()
        with outcome:
            reach(at(here), Deadline.after(5), ours.client(check_hostname=check)).close()


def test_files_that_are_no_certificates(tmp_path: Path, ours: Certificates) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n")
    for broken in (
        Certificates(wrong, ours.key, ours.authority),
        Certificates(ours.certificate, wrong, ours.authority),
        Certificates(ours.certificate, ours.key, wrong),
        Certificates(ours.certificate, ours.key, tmp_path / "missing.pem"),
    ):
        for build in (broken.client, broken.server):
            with pytest.raises(InvalidParameter, match="PEM files") as caught:
                build()
            assert "secret" not in str(caught.value)
