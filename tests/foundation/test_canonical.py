"""Canonical JSON and large integers as text: what is written is read back, and nothing else is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.canonical import canonical, from_hexadecimal, hexadecimal, parse

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
texts = st.text(st.characters(exclude_categories=["Cs"]))
documents = st.dictionaries(
    texts, st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8)
)


@given(documents)
def test_a_canonical_text_is_read_back_and_is_json(data: dict[str, object]) -> None:
    text = canonical(data)
    assert parse(text) == data == json.loads(text, parse_int=float)
    assert canonical(parse(text)) == text


@pytest.mark.parametrize(
    "text", ["[1]", "1", '{"b":1,"a":2}', '{"a": 1}', '{"a":1.0}', '{"a":01}', '{"a":NaN}', "", None, b"{}"]
)
def test_what_is_not_canonical_is_refused(text: object) -> None:
    with pytest.raises(MalformedReport):
        parse(text)


@given(st.integers(0, 2**300))
def test_large_integers_are_text(number: int) -> None:
    assert from_hexadecimal(hexadecimal(number)) == number
    assert hexadecimal(number) == f"{number:x}"


@pytest.mark.parametrize("text", ["", "00", "01", "A", "0x1", "-1", " 1", "1 ", "g", "1" * 1025, 5, None])
def test_other_spellings_of_integers_are_refused(text: object) -> None:
    with pytest.raises(MalformedReport):
        from_hexadecimal(text)


@pytest.mark.parametrize("data", [2**53, float("inf"), float("nan"), {1, 2}, {"a": 2**60}])
def test_what_no_text_can_hold(data: object) -> None:
    with pytest.raises(InvalidParameter):
        canonical(data)
