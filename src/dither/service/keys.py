"""Secret files of a collector: the key that signs campaigns, the one that opens sealed batches, the token."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dither.errors import InvalidParameter

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_SEALING: Final = "sealing "  # begins the file, so that neither key is taken for the other
_LEAST_TOKEN: Final = 16  # characters


def make_key(path: Path) -> Ed25519PrivateKey:
    """Draw a key and write it to a new file that its owner alone may read."""
    return _key(_write(path, secrets.token_hex(32)), path)


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the key of a file; raise InvalidParameter if it is none, or if others may read it."""
    return _key(_private(path, "a key"), path)


def make_sealing_key(path: Path) -> X25519PrivateKey:
    """Draw a key that opens sealed batches, and write it to a new file that its owner alone may read."""
    return _sealing_key(_write(path, _SEALING + secrets.token_hex(32)), path)


def read_sealing_key(path: Path) -> X25519PrivateKey:
    """Return the key of a file; raise InvalidParameter if it is none, or if others may read it."""
    return _sealing_key(_private(path, "a sealing key"), path)


def public_part(key: Ed25519PrivateKey | X25519PrivateKey) -> str:
    """Return the public key of a private one, as 64 hexadecimal digits."""
    return key.public_key().public_bytes_raw().hex()


def read_token(path: Path) -> str:
    """Return the token of a file; raise InvalidParameter if it is short, or if others may read it."""
    token = _private(path, "a token")
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise InvalidParameter(
            f"{path}: a token has at least {_LEAST_TOKEN} printable ASCII characters; draw it at random"
        )
    return token


def _key(text: str, path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))
    except ValueError:
        raise InvalidParameter(f"{path} is not a key that dither wrote: 64 hexadecimal digits") from None


def _sealing_key(text: str, path: Path) -> X25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    try:
        if not text.startswith(_SEALING):
            raise ValueError
        return X25519PrivateKey.from_private_bytes(bytes.fromhex(text.removeprefix(_SEALING)))
    except ValueError:
        raise InvalidParameter(
            f"{path} is not a sealing key; `dither campaign sealing-key FILE` makes one"
        ) from None


def _write(path: Path, text: str) -> str:
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise InvalidParameter(f"{path} exists already; a key is never replaced") from None
    with os.fdopen(handle, "w") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    return text


def _private(path: Path, what: str) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path} is not {what}") from None
    except FileNotFoundError:
        raise InvalidParameter(f"there is no file {path} with {what}") from None
    if os.name == "posix" and mode & 0o077:
        raise InvalidParameter(f"{path} may be read by others; say chmod 600 {path}, if it is yours")
    return text
