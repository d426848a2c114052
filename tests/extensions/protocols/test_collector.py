"""The collector takes each device once, estimates without bias whoever vanishes, and refuses the rest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither import results
from dither.errors import ExchangeFailed, InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols import Terms
from dither.extensions.protocols.device import report
from dither.extensions.protocols.report_body import read_report
from dither.results import Collection, Standing
from tests.extensions.protocols.network import at, beside, listening

JRR = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=4)
TERMS = Terms(JRR, bits=4)


@pytest.mark.slow
@pytest.mark.slow
def test_estimates_stay_unbiased_and_their_errors_right_whoever_vanishes() -> None:
    """Of 60 people some toss alone: the mean over many collections is the truth, the error the real one."""
    n, formed, size = 60, 10, 1_000
    jrr = dt.JRR(JRR.domain, p=Fraction(7, 10), rho=Fraction(-2, 5), n=n)
    terms = Terms(jrr, bits=10)
    source, holders = dt.Seeded(8), 57
    standings = (Standing.PAIRED,) * (2 * formed) + (Standing.LOST,) * (n - 2 * formed)
    values = np.array([1] * holders + [0] * (n - holders))
    told = []
    for _ in range(size):
        order = source.permutation(n)  # partners, and who loses one, do not depend on answers
        coins = np.empty(n, dtype=bool)
        coins[: 2 * formed] = terms.mechanism.pairs.draw(formed, source).reshape(-1)
        coins[2 * formed :] = [coin.truthful[0] for coin in terms.alone(n - 2 * formed, source=source)]
        cells = np.where(coins, values[order], 1 - values[order]).astype(np.uint8)
        told.append(float(Collection(terms, cells[:, None], standings).frequencies()["yes"].value))
    came = Collection(terms, cells[:, None], standings)
    variance = came.reading.count_variance(holders) / n**2
    assert abs(np.mean(told) - holders / n) < 4.9 * np.sqrt(variance / size)
    spread = np.sqrt(2.0 / size) * 4.9
    assert abs(np.var(told) / variance - 1.0) < spread
    full = terms.mechanism.count_variance(holders) / n**2
    assert abs(np.var(told) / full - 1.0) > spread  # as if all pairs had been formed: rejected


# --- what must not come in ---------------------------------------------------------------------------------


def test_the_collector_takes_each_device_once() -> None:
    jrr = dt.JRR(JRR.domain, p=0.7, rho=-0.4, n=2)
    terms = Terms(jrr, bits=4)
    tossed, other = (results.Tossed(terms.alone(1), Standing.ALONE, name=name * 16) for name in (b"a", b"b"))
    truth, lie = (terms.mechanism.reports(np.array([cell], dtype=np.uint8)) for cell in (0, 1))
    with listening() as desk, beside(lambda: protocols.collect(desk, terms, timeout=10)) as result:
        report(terms, tossed, truth, at(desk), timeout=5)
        report(terms, tossed, truth, at(desk), timeout=5)  # sent again: thanked again
        with pytest.raises(ExchangeFailed):
            report(terms, tossed, lie, at(desk), timeout=5)  # not another one
        with pytest.raises(ExchangeFailed):
            report(Terms(jrr, bits=5), other, lie, at(desk), timeout=5)
        report(terms, other, lie, at(desk), timeout=5)
    (came,) = result
    assert came.cells.tolist() == [[0], [1]]


def test_a_collection_that_nobody_joins() -> None:
    with listening() as desk, pytest.raises(ExchangeFailed, match="no device"):
        protocols.collect(desk, TERMS, timeout=0.2)


@given(st.binary(min_size=2, max_size=2), st.integers(0, 255))
def test_reports_that_no_device_could_send_are_refused(cells: bytes, standing: int) -> None:
    body = b"n" * 16 + TERMS.digest + bytes([standing]) + cells
    if standing < 4 and max(cells) < 2:
        assert read_report(TERMS, 2, body)[2].tolist() == list(cells)
    else:
        with pytest.raises((ExchangeFailed, dt.errors.MalformedReport)):
            read_report(TERMS, 2, body)


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="one dealer or three"):
        protocols.toss(TERMS, 1, [("127.0.0.1", 1)] * 2)
    with pytest.raises(InvalidParameter, match="private source"):
        protocols.toss(TERMS, 1, [("127.0.0.1", 1)], source=dt.Seeded(1))
    for host in ("0.0.0.0", "::", "localhost", "fe80::1%lo"):
        with pytest.raises(InvalidParameter, match="its partner can reach"):
            protocols.toss(TERMS, 1, [("127.0.0.1", 1)], host=host)
    for host in ("203.0.113.1", "2001:db8::1"):
        with pytest.raises(InvalidParameter, match="IP address of this machine"):
            protocols.toss(TERMS, 1, [("127.0.0.1", 1)], host=host)
    with pytest.raises(InvalidParameter, match="16 bytes"):
        results.Tossed(TERMS.alone(1), Standing.ALONE, name=b"x" * 17)
    alone = results.Tossed(TERMS.alone(1), Standing.ALONE)
    for delay in (-1, float("nan"), True, "1"):
        with pytest.raises(InvalidParameter, match="delay"):
            report(TERMS, alone, TERMS.mechanism.reports([0]), ("127.0.0.1", 1), delay=delay)
    for timeout in (0, -1, float("nan"), "5", True):
        with pytest.raises(InvalidParameter, match="timeout"):
            protocols.toss(TERMS, 1, [("127.0.0.1", 1)], timeout=timeout)
    with pytest.raises(InvalidParameter, match="expected reports of at most"):
        Collection(TERMS, np.zeros((5, 1), dtype=np.uint8), (Standing.ALONE,) * 5)
    with pytest.raises(InvalidParameter, match="one standing for each device"):
        Collection(TERMS, np.zeros((2, 1), dtype=np.uint8), (Standing.ALONE,))
    came = Collection(TERMS, np.zeros((1, 1), dtype=np.uint8), (Standing.ALONE,))
    assert came.frequencies().n == 1
    with pytest.raises(InvalidParameter, match="from 0 to 0"):
        came.frequencies(1)
