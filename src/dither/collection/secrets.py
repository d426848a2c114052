"""Secret files of a collector: the signing key, the key that decrypts requests, and the token."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dither.errors import InvalidParameter
from dither.foundation.atomic import new_private_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey


PRIVATE: Final = "dither-private-key-1:"  # prefix of the file; the purpose and 64 digits follow
_SIGNS, _OPENS = PRIVATE + "ed25519:", PRIVATE + "x25519:"
_LEAST_TOKEN: Final = 16  # characters


def make_key(path: Path) -> Ed25519PrivateKey:
    """Draw a key and write it to a new file that only its owner may read."""
    return _key(_write(path, _SIGNS + secrets.token_hex(32)), path)


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the key of a file; raise InvalidParameter for other contents, or if others may read it."""
    return _key(_private(path, "a key"), path)


def make_sealing_key(path: Path) -> X25519PrivateKey:
    """Draw a key that decrypts requests, and write it to a new file that only its owner may read."""
    return _sealing_key(_write(path, _OPENS + secrets.token_hex(32)), path)


def read_sealing_key(path: Path) -> X25519PrivateKey:
    """Return the key of a file; raise InvalidParameter for other contents, or if others may read it."""
    return _sealing_key(_private(path, "a sealing key"), path)


def public_part(key: Ed25519PrivateKey | X25519PrivateKey) -> str:
    """Return the public key of a private one, as 64 hexadecimal digits."""
    return key.public_key().public_bytes_raw().hex()


def read_token(path: Path) -> str:
    """Return the token of a file; raise InvalidParameter if it is short, or if others may read it."""
    token = _private(path, "a token")
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise InvalidParameter(
            f"{path}: expected a token of at least {_LEAST_TOKEN} printable ASCII characters; draw it at "
            "random"
        )
    return token


def refuse_private(what: str, text: object) -> None:
    """Raise InvalidParameter if a private key is given where a public one belongs."""
    if isinstance(text, str) and text.lstrip().startswith("dither-private-key"):
        raise InvalidParameter(
            f"expected a public key as {what}, got a private one; use the public one that `dither serve` "
            "and `dither campaign` print, and replace the key if anybody saw the private one"
        )


def _key(text: str, path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(
        _secret(text, _SIGNS, f"{path} is not a signing key; `dither campaign publish --new-key` makes one")
    )


def _sealing_key(text: str, path: Path) -> X25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(
        _secret(text, _OPENS, f"{path} is not a sealing key; `dither campaign sealing-key FILE` makes one")
    )


def _secret(text: str, kind: str, otherwise: str) -> bytes:
    try:
        data = bytes.fromhex(text.removeprefix(kind))
    except ValueError:
        data = b""
    if not text.startswith(kind) or len(data) != 32:
        raise InvalidParameter(otherwise)
    return data


def _write(path: Path, text: str) -> str:
    try:
        with new_private_file(path) as part:
            part.write_text(text + "\n", encoding="utf-8")
    except FileExistsError:
        raise InvalidParameter(
            f"cannot replace {path}, because a key is never overwritten; give another file"
        ) from None
    return text


def _private(path: Path, what: str) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidParameter(f"expected {path} to be {what}; check the name of the file") from None
    except FileNotFoundError:
        raise InvalidParameter(f"file not found: {path} ({what}); check the name") from None
    if os.name == "posix" and mode & 0o077:
        raise InvalidParameter(
            f"expected {path} to be readable by its owner only; run chmod 600 {path} if the file is yours"
        )
    return text
