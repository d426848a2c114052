"""Three servers pair devices, and none of them knows the pairs."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dither.errors import ExchangeFailed, InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols.exchange import Deadline, reach
from dither.extensions.protocols.pairing import from_order
from dither.extensions.protocols.pairs import PRIME, begin_share, combine, end_share, free_ports
from tests.extensions.protocols.network import certificates
from tests.support.chi_square import ALARM
from tests.support.repository import ROOT

if find_spec("mpyc") is None:  # importing it would read the command line of pytest
    pytest.skip("mpyc is not installed", allow_module_level=True)
pytest.importorskip("nacl")


@pytest.mark.slow
def test_pairs_by_three_servers() -> None:
    pairing = protocols.shuffle_pairs(5)
    assert (len(pairing.pairs), len(pairing.alone)) == (2, 1)
    assert pairing.grouping == "shuffled"


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
def test_invalid_shares_are_refused(shares: list[object]) -> None:
    with pytest.raises(ExchangeFailed, match="each below the prime"):
        combine(shares)


NAMES, RECORDS = ["a", "b", "c", "d"], [1, 3, 5, 7]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "records", "common"),
    [
        (["a", "b", "c", "x"], RECORDS, [0, 1, 2]),  # a device enrolled here only
        (NAMES, [1, 3, 9, 7], [0, 1, 3]),  # a device gave another address here
        (["x", "y", "z", "d"], RECORDS, []),
    ],
)
def test_only_devices_that_all_servers_see_are_paired(
    names: list[str], records: list[int], common: list[int]
) -> None:
    servers = [f"127.0.0.1:{port}" for port in free_ports(3)]
    running = [begin_share(NAMES, RECORDS, index, servers) for index in range(2)]
    running.append(begin_share(names, records, 2, servers))
    if not common:
        for process in running:
            assert end_share(process, 4, Deadline.after(30)) == {}
        return
    held = [end_share(process, 4, Deadline.after(30)) for process in running]
    assert all(sorted(shares) == common for shares in held)
    places = {one: combine([shares[one][0] for shares in held]) for one in common}
    secrets = {one: combine([shares[one][1] for shares in held]) for one in common}
    (alone,) = [one for one, place in places.items() if place // 2 == 0]
    first, second = (one for one in common if one != alone)
    assert [places[first] // 2, places[second] // 2] == [RECORDS[second], RECORDS[first]]
    assert {places[first] % 2, places[second] % 2} == {0, 1}  # one of the two is the first
    assert secrets[first] == secrets[second] != secrets[alone]
    assert all(shares[first][1] != secrets[first] for shares in held)


@pytest.mark.slow
def test_servers_that_wait_for_other_numbers_do_not_pair() -> None:
    servers = [f"127.0.0.1:{port}" for port in free_ports(3)]
    running = [begin_share(NAMES[: 4 - index], RECORDS[: 4 - index], index, servers) for index in range(3)]
    for process in running:
        with pytest.raises(ExchangeFailed, match="same devices"):
            end_share(process, 4, Deadline.after(30))


@pytest.mark.slow
def test_a_silent_connection_does_not_stop_the_shuffle() -> None:
    ports = free_ports(3)
    servers = [f"127.0.0.1:{port}" for port in ports]
    running = [begin_share(NAMES, RECORDS, 2, servers)]
    end = Deadline.after(30)
    with reach(("127.0.0.1", ports[2]), end):
        running += [begin_share(NAMES, RECORDS, index, servers) for index in range(2)]
        assert all(len(end_share(process, 4, end)) == 4 for process in running)


def test_a_server_that_is_missing_is_noticed_in_time() -> None:
    servers = [f"127.0.0.1:{port}" for port in free_ports(3)]
    process = begin_share(NAMES, RECORDS, 0, servers)
    with pytest.raises(ExchangeFailed, match="in time"):
        end_share(process, 4, Deadline.after(1.5))
    assert process.poll() is not None


@pytest.mark.slow
def test_servers_listen_on_loopback_only() -> None:
    ports = free_ports(3)
    process = begin_share(NAMES, RECORDS, 2, [f"127.0.0.1:{port}" for port in ports])
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


@pytest.mark.slow
def test_a_server_does_not_unpickle_what_another_one_sends() -> None:
    code = """
import pickle, sys
sys.argv = ["shuffling", "--no-log"]
import mpyc.runtime
from dither.extensions.protocols.pairs import replace_pickle

class Attack:
    def __reduce__(self):
        return print, ("attacked",)

if sys.stdin.readline() == "replace\\n":
    replace_pickle(mpyc.runtime)
try:
    mpyc.runtime.pickle.loads(pickle.dumps(Attack()))
except ValueError:
    print("refused")
print(mpyc.runtime.mpc.run(mpyc.runtime.mpc.transfer(7)))
"""
    for asked, said in (("replace\n", ["refused", "[7]"]), ("\n", ["attacked", "[7]"])):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=60)
        assert done.stdout.split() == said, done.stderr


@pytest.mark.slow
def test_servers_use_tls_among_themselves(tmp_path: Path) -> None:
    """The second of the three both listens and connects: both sockets take part in a handshake."""
    tls, ports, end = certificates(tmp_path), free_ports(2), Deadline.after(30)
    with socket.create_server(("127.0.0.1", 0)) as third:
        third.settimeout(30)
        servers = [f"127.0.0.1:{port}" for port in (*ports, third.getsockname()[1])]
        process = begin_share(NAMES, RECORDS, 1, servers, tls)
        try:
            with third.accept()[0] as peer:
                peer.settimeout(30)
                with tls.server().wrap_socket(peer, server_side=True) as called:
                    assert called.getpeercert()  # the server showed its certificate
            with reach(("127.0.0.1", ports[1]), end, tls.client()) as calling:
                assert isinstance(calling, ssl.SSLSocket)
                assert calling.getpeercert()
        finally:
            process.kill()
            process.communicate()


TIMES = 60  # drawings of a pairing of four devices


@lru_cache(maxsize=1)
def many_times() -> list[list[list[list[int]]]]:
    """Return the shares of three processes in many shuffles: by server, shuffle and device, two each."""
    servers = [f"127.0.0.1:{port}" for port in free_ports(3)]
    running = []
    for index in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.extensions.protocols.pairing.many_shuffles"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps({"n": 4, "index": index, "servers": servers, "times": TIMES}) + "\n")
        process.stdin.flush()
        running.append(process)
    try:
        return [json.loads(process.communicate(timeout=300)[0]) for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()


def shuffled_many_times() -> list[int]:
    """Return the first device's partner in many shuffles."""
    held = many_times()
    return [combine([shares[time][0][0] for shares in held]) // 2 - 1 for time in range(TIMES)]


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1], ids=["partner and role", "secret"])
def test_one_server_holds_uniform_numbers(column: int) -> None:
    """What one server knows of a place and of a secret is uniform, although places are small numbers."""
    held = many_times()
    for shares in held:
        mine = [device[column] for shuffle in shares for device in shuffle]
        assert stats.kstest([share / PRIME for share in mine], "uniform").pvalue > ALARM
        assert len(set(mine)) == len(mine)  # partners hold different shares of the same secret
    numbers = [
        combine([shares[time][device][column] for shares in held])
        for time in range(TIMES)
        for device in range(4)
    ]
    uniform = stats.kstest([number / PRIME for number in numbers[:: 1 + column]], "uniform").pvalue > ALARM
    assert bool(uniform) is (column == 1)
    assert len(set(numbers)) == (8, 2 * TIMES)[column]  # a secret for every pair of every shuffle


@pytest.mark.slow
def test_roles_are_one_each_and_fair() -> None:
    held = many_times()
    roles = np.array(
        [
            [combine([shares[time][one][0] for shares in held]) % 2 for one in range(4)]
            for time in range(TIMES)
        ]
    )
    assert (roles.sum(axis=1) == 2).all()
    assert stats.binomtest(int(roles[:, 0].sum()), TIMES).pvalue > ALARM


def sorted_by_chosen_keys() -> list[int]:
    """The broken twin: devices are sorted by keys of their own choosing, and two of them collude.

    [Thesis, Sec. 4.4.1]. With keys at either end they are sure to be paired with honest devices.
    """
    generator = np.random.default_rng(1)
    keys = [[0.0, *generator.random(2), 1.0] for _ in range(TIMES)]
    return [from_order(np.argsort(row).tolist())[0] for row in keys]


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "fair"), [(shuffled_many_times, True), (sorted_by_chosen_keys, False)])
def test_three_servers_pair_uniformly(draw: Callable[[], list[int]], fair: bool) -> None:
    """Of four devices, the first's partner is any other as often; keys of one's own choosing are rejected."""
    counts = np.bincount(draw(), minlength=4)
    assert counts[0] == 0
    assert bool(stats.chisquare(counts[1:]).pvalue > ALARM) is fair


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        protocols.shuffle_pairs(1)
    with pytest.raises(InvalidParameter, match="three servers"):
        begin_share(NAMES, RECORDS, 3, ["a:1"] * 3)
