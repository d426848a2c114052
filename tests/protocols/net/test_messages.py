"""Fixed bytes of every message: little endian, and refused in any other version."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import ExchangeFailed
from dither.protocols import Exchange, Role, Standing, Terms
from dither.protocols.net.messages import NO_EXCHANGE, VERSION, ExpectedMessage, Kind, Reader, pack
from dither.protocols.net.report_body import pack_report, read_report
from tests.protocols import golden

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
        (dt.JRR.over(dt.SUE(dt.Categories(10), epsilon=1), rho=0, n=2), [[1, 2], [3, 0]], "01 02 03 00"),
    ],
    ids=["two bytes", "four bytes", "eight bytes", "rows of bits"],
)
def test_the_body_of_a_report(mechanism: Any, cells: list[Any], sent: str) -> None:
    terms = Terms(mechanism)
    told = terms.mechanism.reports(np.array(cells, dtype=terms.mechanism.layout.base)).cells
    body = pack_report(b"0123456789abcdef", terms, Standing.LOST, told)
    assert body[:16] == b"0123456789abcdef"
    assert body[16:48] == terms.digest
    assert body[48:].hex(" ") == f"02 {sent}"
    # The byte order of the machine does not matter: an array in the other order is sent the same.
    swapped = told.astype(told.dtype.newbyteorder(">"))
    assert pack_report(b"0123456789abcdef", terms, Standing.LOST, swapped) == body
    name, standing, read = read_report(terms, len(cells), body)
    assert (name, standing, read.tolist()) == (b"0123456789abcdef", Standing.LOST, told.tolist())
    assert read.dtype == terms.mechanism.layout.base


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
