"""Rate limits: by address, without an address, and a proxy is believed only if it is named."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from dither.collection.settings import Networks, limited_as
from dither.collection.web.requests import RateLimits, Unfinished, client_address, has_arrived


def test_a_bucket_is_emptied_and_filled_again() -> None:
    now = [0.0]
    limits = RateLimits(2.0, 4, lambda: now[0])
    assert [limits.allow("a") for _ in range(6)] == [True] * 4 + [False] * 2
    assert limits.allow("b")
    now[0] += 1.0
    assert [limits.allow("a") for _ in range(3)] == [True, True, False]


def test_reports_are_counted_and_a_debt_is_waited_for() -> None:
    now = [0.0]
    limits = RateLimits(2.0, 4, lambda: now[0])
    assert limits.allow("a")
    limits.charge("a", 9)  # a batch of ten
    assert limits._bucket("a")[1] == -6.0
    now[0] += 3.0
    assert not limits.allow("a")
    now[0] += 0.5
    assert limits.allow("a")
    assert not limits.allow("a")


def test_the_salt_changes_and_no_address_is_kept() -> None:
    now = [0.0]
    limits = RateLimits(0.001, 1, lambda: now[0])
    limits.allow("203.0.113.9")
    first = set(limits._buckets)
    assert not any(b"203" in name for name in first)
    now[0] += 601
    assert limits.allow("203.0.113.9")  # forgotten
    assert not first & set(limits._buckets)


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "expected"),
    [
        ("203.0.113.9", None, [], "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", [], "203.0.113.9"),  # nobody named it a proxy
        ("127.0.0.1", "198.51.100.1", ["127.0.0.1"], "198.51.100.1"),
        (
            "127.0.0.1",
            "6.6.6.6, 198.51.100.1",
            ["127.0.0.1"],
            "198.51.100.1",
        ),  # the first is the sender's word
        ("127.0.0.1", "198.51.100.1, 10.0.0.2", ["127.0.0.1", "10.0.0.2"], "198.51.100.1"),
        ("127.0.0.1", "127.0.0.1", ["127.0.0.1"], "127.0.0.1"),
        ("127.0.0.1", None, ["127.0.0.1"], "127.0.0.1"),
        (None, "198.51.100.1", ["unix"], "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", None, [], "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", None, [], "2001:db8:1:2::/64"),
        ("::1", "fe80::1%eth0", ["::1"], "fe80::/64"),
        ("::1", "not : an address", ["::1"], "not : an address"),
    ],
)
def test_whose_address_counts(peer: Any, forwarded: Any, proxies: list[str], expected: str) -> None:
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    scope = {"client": None if peer is None else (peer, 1), "headers": headers}
    assert limited_as(client_address(scope, Networks(proxies))) == expected


def test_unfinished_bodies_are_limited_for_each_address_and_in_all() -> None:
    unfinished = Unfinished(1000)
    assert unfinished.add("a", 4000)
    assert not unfinished.add("a", 1)
    assert unfinished.add("b", 4000)  # the bytes of another address do not count
    unfinished.remove("a", 4001)
    assert unfinished.add("a", 4000)
    assert unfinished.add(None, 56_000)  # a relay
    assert not unfinished.add("c", 1)
    unfinished.remove(None, 56_000)
    assert unfinished.add("c", 1)


def test_a_body_that_uvicorn_has_is_known_before_it_is_received() -> None:
    """Such a body needs no timer. Where the server says nothing, there is one."""
    impl = pytest.importorskip("uvicorn.protocols.http.httptools_impl")
    cycle = impl.RequestResponseCycle.__new__(impl.RequestResponseCycle)
    for more in (True, False):
        cycle.more_body = more
        assert has_arrived(cycle.receive) is not more
    assert not has_arrived(lambda: None)
    assert "self.cycle.more_body = False" in inspect.getsource(impl.HttpToolsProtocol.on_message_complete)
