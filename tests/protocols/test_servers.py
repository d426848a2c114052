"""Three servers pair devices, and none of them knows the pairs."""

from __future__ import annotations

import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither import protocols
from dither.errors import ExchangeFailed, InvalidParameter
from dither.protocols import Standing, Terms
from dither.protocols.meeting import seat, server
from dither.protocols.servers import _free_ports, begin_share, combine, end_share
from dither.protocols.shuffling import PRIME
from dither.protocols.streams import Deadline

pytest.importorskip("mpyc")
pytest.importorskip("otc")


@pytest.mark.parametrize("n", [4, 5])
def test_pairs_by_three_servers(n: int) -> None:
    pairing = protocols.shuffle_pairs(n)
    assert len(pairing.pairs) == n // 2
    assert pairing.grouping is protocols.SHUFFLED


@given(st.integers(0, PRIME - 1), st.integers(0, PRIME - 1))
def test_shares_on_a_line_give_the_partner(partner: int, slope: int) -> None:
    shares = [(partner + x * slope) % PRIME for x in (1, 2, 3)]
    assert combine(shares) == partner
    for place in range(3):
        with pytest.raises(ExchangeFailed, match="fit together"):
            combine([(share + (place == at)) % PRIME for at, share in enumerate(shares)])


@pytest.mark.parametrize(
    "shares", [[1, 2], [1, 2, PRIME], [1, 2, -1], [1, 2, None], [1, 2, 3.0], [True, 1, 1]]
)
def test_what_are_no_shares_is_refused(shares: list[object]) -> None:
    with pytest.raises(ExchangeFailed, match="shares below"):
        combine(shares)


def test_servers_that_see_other_devices_do_not_pair() -> None:
    servers = [f"127.0.0.1:{port}" for port in _free_ports(3)]
    running = [begin_share(4, index, servers, b"names" + bytes([index == 2])) for index in range(3)]
    for process in running:
        with pytest.raises(ExchangeFailed, match="same devices"):
            end_share(process, 4, Deadline.after(30))


def test_a_server_that_is_missing_is_noticed_in_time() -> None:
    servers = [f"127.0.0.1:{port}" for port in _free_ports(3)]
    process = begin_share(4, 0, servers, b"")
    begin = time.monotonic()
    with pytest.raises(ExchangeFailed, match="in time"):
        end_share(process, 4, Deadline.after(1.5))
    assert time.monotonic() - begin < 10
    assert process.poll() is not None


def test_servers_listen_on_loopback_only() -> None:
    ports = _free_ports(3)
    process = begin_share(4, 2, [f"127.0.0.1:{port}" for port in ports], b"")
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            listens = subprocess.run(
                ["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True, check=False
            )
            if listens.returncode:
                pytest.skip("this system does not say who listens where")
            found = [line.split() for line in listens.stdout.splitlines() if f":{ports[2]:04X}" in line]
            found = [line for line in found if line[1].endswith(f":{ports[2]:04X}") and line[3] == "0A"]
            if found:
                break
            time.sleep(0.1)
        assert [line[1].split(":")[0] for line in found] == ["0100007F"]
    finally:
        process.kill()
        process.communicate()


def test_devices_find_their_partner_by_three_servers() -> None:
    n = 3
    jrr = dt.JRR(dt.Categories(2), p=0.7, rho=-0.4, n=n)
    terms = Terms(jrr, bits=4, grouping=protocols.SHUFFLED)
    shuffles = [f"127.0.0.1:{port}" for port in _free_ports(3)]
    meetings = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    addresses = [one.getsockname()[:2] for one in meetings]
    with ThreadPoolExecutor(n + 3) as pool:
        seated = [
            pool.submit(seat, one, n, server(index, shuffles), Deadline.after(40))
            for index, one in enumerate(meetings)
        ]
        outcomes = list(pool.map(lambda _: protocols.toss(terms, 2, addresses, timeout=40), range(n)))
        assert [one.result() for one in seated] == [n] * 3
    for one in meetings:
        one.close()
    assert sorted(one.standing for one in outcomes) == [Standing.PAIRED, Standing.PAIRED, Standing.ALONE]


@pytest.mark.slow
def test_three_servers_pair_uniformly() -> None:
    """Of four devices, the first's partner is any other as often; a dealer who never pairs 0 and 3 is not."""
    drawn = [protocols.shuffle_pairs(4).partners[0] for _ in range(60)]
    counts = np.bincount(drawn, minlength=4)[1:]
    assert ((counts - 20) ** 2 / 20).sum() < 27.7  # chi-square, 2 degrees of freedom, 1e-6
    assert ((np.array([30, 30, 0]) - 20) ** 2 / 20).sum() > 27.7


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        protocols.shuffle_pairs(1)
    with pytest.raises(InvalidParameter, match="three servers"):
        begin_share(4, 3, ["a:1"] * 3, b"")
