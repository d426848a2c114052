"""Broken readers of bytes: each returns reports, and each is wrong about something that travelled."""

from __future__ import annotations

import json
from typing import Any

import dither as dt


def header(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the cells of bytes that `dt.to_bytes` wrote, without any help from dither."""
    length = int.from_bytes(data[8:12], "little")
    return json.loads(data[12 : 12 + length]), data[12 + length : -16]


def other_byte_order(data: bytes) -> dt.Reports:
    """Read cells of several bytes from their other end."""
    reports = dt.from_bytes(data)
    return reports.mechanism.reports(reports.cells.byteswap())


def backwards(data: bytes) -> dt.Reports:
    """Read the last report first."""
    return dt.from_bytes(data)[::-1]


def recomputed(data: bytes) -> dt.Reports:
    """Compute the integers from ε anew instead of reading those that travelled."""
    reports = dt.from_bytes(data)
    parameters = dict(reports.mechanism.parameters())
    return type(reports.mechanism)(parameters.pop("domain"), **parameters).reports(reports.cells)


def another_budget(data: bytes) -> dt.Reports:
    """Forget ε, and assume 1."""
    reports = dt.from_bytes(data)
    return reports.mechanism.at(1.0).reports(reports.cells)


def another_domain(data: bytes) -> dt.Reports:
    """Forget the domain, and assume the unit interval."""
    reports = dt.from_bytes(data)
    mechanism = reports.mechanism
    return type(mechanism)(dt.Interval(0, 1), epsilon=mechanism.epsilon).reports(reports.cells)


READERS = (other_byte_order, backwards, recomputed, another_budget, another_domain)
