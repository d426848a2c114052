"""TLS on every socket: a whole collection inside it, and nobody outside it is served."""

from __future__ import annotations

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path

import pytest

import dither as dt
from dither import protocols
from dither.errors import ExchangeFailed, InvalidParameter
from dither.protocols import Certificates, Exchange, Role, Standing, Terms
from dither.protocols.net.meeting import dealer, seat
from dither.protocols.net.streams import Deadline, reach, run
from tests.protocols.network import at, beside, certificates, listening

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
def test_who_is_outside_is_not_served(who: str, ours: Certificates, theirs: Certificates) -> None:
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
