"""The streams behind the default source last as long as their key is used."""

import os

import pytest

from dither import randomness


@pytest.mark.parametrize("new", [randomness._gcm, randomness._chacha])
def test_a_stream_outlives_any_nonce(new, monkeypatch):
    # A nonce of ones would let a block counter inside it overflow at once.
    monkeypatch.setattr(os, "urandom", lambda size: b"\xff" * size)
    encryptor = new()
    for _ in range(8):
        assert len(encryptor.update(bytes(1 << 16))) == 1 << 16


def test_the_stream_of_every_key_differs():
    first, second = (randomness._chacha().update(bytes(64)) for _ in range(2))
    assert first != second
