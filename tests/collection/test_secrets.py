"""Secret files: written once, for their owner alone, and neither kind is taken for the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dither.collection.secrets import (
    make_key,
    make_sealing_key,
    public_part,
    read_key,
    read_sealing_key,
    read_token,
)
from dither.errors import InvalidParameter

Make = Callable[[Path], Any]
KINDS = pytest.mark.parametrize(
    ("make", "read"), [(make_key, read_key), (make_sealing_key, read_sealing_key)]
)


@KINDS
def test_a_key_is_read_back(make: Make, read: Make, tmp_path: Path) -> None:
    made = public_part(make(tmp_path / "key"))
    assert public_part(read(tmp_path / "key")) == made
    assert len(bytes.fromhex(made)) == 32
    assert public_part(make(tmp_path / "other")) != made
    assert made not in (tmp_path / "key").read_text()


@KINDS
def test_a_key_is_never_replaced(make: Make, read: Make, tmp_path: Path) -> None:
    made = public_part(make(tmp_path / "key"))
    with pytest.raises(InvalidParameter, match="never overwritten"):
        make(tmp_path / "key")
    assert public_part(read(tmp_path / "key")) == made


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
@KINDS
def test_others_may_not_read_it(make: Make, read: Make, tmp_path: Path) -> None:
    umask = os.umask(0)  # a generous one
    try:
        make(tmp_path / "key")
    finally:
        os.umask(umask)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    for mode in (0o640, 0o604, 0o620):
        (tmp_path / "key").chmod(mode)
        with pytest.raises(InvalidParameter, match="chmod 600"):
            read(tmp_path / "key")


def test_a_secret_of_one_kind_is_refused_as_the_other_kind(tmp_path: Path) -> None:
    make_key(tmp_path / "signs")
    make_sealing_key(tmp_path / "opens")
    with pytest.raises(InvalidParameter, match="not a sealing key"):
        read_sealing_key(tmp_path / "signs")
    with pytest.raises(InvalidParameter, match="not a signing key"):
        read_key(tmp_path / "opens")


@KINDS
@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"\xff\xfe",
            b"ab" * 31,
            b"ab" * 32,
            b"dither-private-key-1:",
            b"dither-private-key-1:ed25519:",
        ),
        *(b"dither-private-key-1:x25519:" + b"ab" * 31, b"dither-private-key-1:ed25519:" + b"zz" * 32),
        b"dither-private-key-2:ed25519:" + b"ab" * 32,
    ],
)
def test_a_damaged_file_is_refused_without_its_content(
    make: Make, read: Make, content: bytes, tmp_path: Path
) -> None:
    place = tmp_path / "key"
    place.write_bytes(content)
    place.chmod(0o600)
    with pytest.raises(InvalidParameter) as refusal:
        read(place)
    assert str(place) in str(refusal.value)
    assert "abab" not in str(refusal.value)


@pytest.mark.parametrize(
    "token", ["", "short", "fifteen letters", "sixteen letters\x00", "sechzehn Zeichen ä"]
)
def test_a_token_is_long_and_printable(token: str, tmp_path: Path) -> None:
    place = tmp_path / "token"
    place.write_text(token, encoding="utf-8")
    place.chmod(0o600)
    with pytest.raises(InvalidParameter, match="at least 16 printable ASCII characters"):
        read_token(place)


def test_a_token_is_read_without_its_line_end(tmp_path: Path) -> None:
    place = tmp_path / "token"
    place.write_text("sixteen letters!\n", encoding="utf-8")
    place.chmod(0o600)
    assert read_token(place) == "sixteen letters!"
