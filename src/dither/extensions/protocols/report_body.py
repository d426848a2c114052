"""The body of a REPORT message, which a device sends to the collector.

    name 16 · digest of the terms 32 · standing 1 · reports

Sizes are in bytes. The reports answer all questions in order. The mechanism's layout defines their size.
Their integers are little-endian on every machine.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any, Final

import numpy as np

from dither.errors import ExchangeFailed, InvalidParameter
from dither.extensions.protocols.terms import Terms
from dither.foundation.arrays import Array
from dither.mechanisms.joint.joint import Joint

NAME: Final = 16  # bytes of a device's name
_HEAD: Final = struct.Struct("<16s32sB")


class Standing(IntEnum):
    """The origin of a device's coins. Without a partner they are plain randomized response."""

    PAIRED = 0  # tossed with a partner
    ALONE = 1  # the number of devices was odd, and this one had no partner
    LOST = 2  # the partner did not connect, disconnected, or broke the protocol
    UNPLACED = 3  # no server named a partner


def report_size(terms: Terms, rounds: int) -> int:
    """Return the number of bytes of a body with one report for each of `rounds` questions."""
    return _HEAD.size + rounds * terms.mechanism.question.layout.itemsize


def pack_report(name: bytes, terms: Terms, standing: Standing, cells: Array) -> bytes:
    """Return the body with these reports; `cells` has one row for each question."""
    if len(name) != NAME:
        raise InvalidParameter(
            f"expected the name of a device to have {NAME} bytes; leave it out to draw one"
        )
    return _HEAD.pack(name, terms.digest, standing) + cells.astype(_travelling(terms.mechanism)).tobytes()


def read_report(terms: Terms, rounds: int, body: bytes) -> tuple[bytes, Standing, Array]:
    """Return the name, standing and checked reports; raise a DitherError if no device could send them."""
    rule = terms.mechanism
    if len(body) != report_size(terms, rounds):
        raise ExchangeFailed("a device sends one report for each question")
    name, digest, standing = _HEAD.unpack_from(body)
    if digest != terms.digest or standing not in set(Standing):
        raise ExchangeFailed("the device answers another question, or has an unknown standing")
    flat = np.frombuffer(body, dtype=_travelling(rule), offset=_HEAD.size).astype(rule.question.layout.base)
    return name, Standing(standing), rule.reports(flat.reshape(rounds, *rule.question.layout.shape)).cells


def _travelling(rule: Joint) -> np.dtype[Any]:
    """Return the type of one integer of a report on the wire."""
    return rule.question.layout.base.newbyteorder("<")
