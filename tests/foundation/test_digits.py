"""Digits in groups of three."""

from __future__ import annotations

from dither.foundation.digits import plain, whole


def test_numbers_are_grouped_by_narrow_spaces() -> None:
    assert whole(1234567) == "1\u202f234\u202f567"
    assert plain(-0.5) == "−0.5"
    assert plain(12345.0) == "12\u202f345"
    assert plain(12345678.0) == "1.23e+07"
