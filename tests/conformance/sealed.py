"""Vectors of sealed bodies, with fixed keys that seal nothing else.

`python -m tests.conformance.sealed` writes conformance/2/sealed.json anew.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.conformance.batches import vectors as batches
from tests.support.hpke import seal

FILE: Final = Path(__file__).parents[2] / "conformance" / "2" / "sealed.json"
PRIVATE: Final = hashlib.sha256(b"sealing key").digest()
CAMPAIGN: Final = hashlib.sha256(b"campaign").hexdigest()
OTHER: Final = hashlib.sha256(b"another campaign").hexdigest()


def padded(form: int, body: bytes, size: int = 1024) -> bytes:
    """Return what is encrypted: the form, the length, the body, zeros."""
    return (bytes([form]) + len(body).to_bytes(4, "little") + body).ljust(size, b"\0")


def made(plain: bytes, number: int, campaign: str = CAMPAIGN) -> tuple[str, str]:
    """Return an ephemeral private key and the sealed bytes, as hexadecimal text."""
    key = X25519PrivateKey.from_private_bytes(PRIVATE).public_key().public_bytes_raw()
    ephemeral = hashlib.sha256(b"ephemeral %d" % number).digest()
    info = b"dither sealed 1\n" + campaign.encode()
    return ephemeral.hex(), seal(plain, key, info, ephemeral).hex()


def vectors() -> dict[str, Any]:
    """Return sealed bodies, and such as a collector must refuse."""
    sealed = []
    for one in batches():
        for form, body in ((1, one["json"].encode()), (2, bytes.fromhex(one["packed"]))):
            size = max(1024, 1 << (len(body) + 4).bit_length())
            ephemeral, text = made(padded(form, body, size), len(sealed))
            sealed.append(
                {
                    "form": ("json", "packed")[form - 1],
                    "body": one["json"] if form == 1 else body.hex(),
                    "ephemeral": ephemeral,
                    "sealed": text,
                }
            )
    body = batches()[0]["json"].encode()
    fine = padded(1, body)
    wrong = {
        "a form that is not known": padded(3, body),
        "form 0": padded(0, body),
        "padding that is not zero": fine[:-1] + b"\x01",
        "no padding": fine[: 5 + len(body)],
        "padded to a multiple that is no power of two": padded(1, body, 3072),
        "padded too far": padded(1, body, 2048),
        "a length beyond the end": fine[:1] + (1020).to_bytes(4, "little") + fine[5:],
        "the largest length": fine[:1] + b"\xff\xff\xff\xff" + fine[5:],
        "nothing inside": b"",
        "a head that is cut off": b"\x01\x00\x00\x00",
    }
    refused = [
        {"reason": reason, "sealed": made(plain, 100 + number)[1]}
        for number, (reason, plain) in enumerate(wrong.items())
    ]
    refused.append({"reason": "sealed for another campaign", "sealed": made(fine, 200, OTHER)[1]})
    key = X25519PrivateKey.from_private_bytes(PRIVATE).public_key().public_bytes_raw().hex()
    head = {"dither": 2, "private": PRIVATE.hex(), "key": key, "campaign": CAMPAIGN}
    return {**head, "sealed": sealed, "refused": refused}


def text() -> str:
    """Return the text of the file."""
    data = vectors()
    rows = {
        name: ",\n".join(json.dumps(one, ensure_ascii=False) for one in data.pop(name))
        for name in ("sealed", "refused")
    }
    lists = ",\n".join(f'"{name}": [\n{some}\n]' for name, some in rows.items())
    return f"{json.dumps(data)[:-1]},\n{lists}}}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
