"""Vectors of Oblivious HTTP, with fixed keys that encrypt nothing else.

`python -m tests.conformance.ohttp` writes clients/conformance/2/ohttp.json anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dither.collection import ohttp
from dither.collection.ohttp import BinaryRequest, BinaryResponse, configuration, decapsulate, encapsulate
from dither.core.batch import JSON, PACKED
from tests.conformance.batches import vectors as batches

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "ohttp.json"
PRIVATE: Final = X25519PrivateKey.from_private_bytes(hashlib.sha256(b"sealing key").digest())
CONFIGURATION: Final = configuration(PRIVATE)
VECTORS_KEYS: Final = {CONFIGURATION: PRIVATE}
CAMPAIGN: Final = hashlib.sha256(b"campaign").hexdigest()
HOST: Final = "city.example"
PATH: Final = f"/v1/campaigns/{CAMPAIGN}"
APPENDIX: Final = {  # RFC 9458, Appendix A, as it is printed
    "name": "RFC 9458, Appendix A",
    "configuration": (
        "01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003"
    ),
    "private": "3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a",
    "ephemeral": "bc51d5e930bda26589890ac7032f70ad12e4ecb37abb1b65b1256c9c48999c73",
    "plain": "00034745540568747470730b6578616d706c652e636f6d012f",
    "sealed": (
        "010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b472"
        "6374e469135906992e1268c594d2a10c695d858c40a026e7965e7d86b83dd440b2c0185204b4d63525"
    ),
    "nonce": "c789e7151fcba46158ca84b04464910d",
    "opened": "0140c8",
    "answer": "c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd",
}
SMALL_ORDER: Final = [  # points whose product with any secret is zero [RFC 7748, 6.1]
    "00" * 32,
    "01" + "00" * 31,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]
_KEY: Final = CONFIGURATION[6:70]


@contextmanager
def drawn(nonce: str = "00" * 16) -> Iterator[None]:
    """Let a given nonce be drawn."""
    with patch.object(ohttp, "_draw_nonce", lambda: bytes.fromhex(nonce)):
        yield


def encrypted(plain: bytes, number: int, opened: bytes = b"") -> dict[str, str]:
    """Return a request and its answer, encrypted with keys of a number."""
    ephemeral, nonce = (hashlib.sha256(b"%s %d" % (name, number)).hexdigest() for name in (b"key", b"nonce"))
    with drawn(nonce[:32]):
        sealed, _ = encapsulate(plain, CONFIGURATION, bytes.fromhex(ephemeral))
        answer = decapsulate(sealed, {CONFIGURATION: PRIVATE})[1].encrypt_answer(opened)
    made = {"configuration": CONFIGURATION, "private": PRIVATE.private_bytes_raw().hex()}
    made |= {"ephemeral": ephemeral, "plain": plain.hex(), "sealed": sealed.hex(), "nonce": nonce[:32]}
    return made | {"opened": opened.hex(), "answer": answer.hex()}


def trimmed(plain: bytes) -> dict[str, Any]:
    """Return a padded message as the file has it: without the zeros at its end, and its length."""
    return {"plain": plain.rstrip(b"\0").hex(), "length": len(plain)}


def requests() -> list[tuple[str, BinaryRequest]]:
    """Return the requests of devices, with a name each."""
    made = [
        ("the reading of a campaign", BinaryRequest("GET", PATH)),
        ("the list", BinaryRequest("GET", "/v1/list")),
    ]
    for number, one in enumerate(batches()):
        for kind, body in ((JSON, one["json"].encode()), (PACKED, bytes.fromhex(one["packed"]))):
            made.append((f"batch {number}", BinaryRequest("POST", PATH + "/batches", kind, body)))
    around = (
        len(BinaryRequest("POST", PATH + "/batches", PACKED, b"7" * 99).to_bytes(HOST).rstrip(b"\0")) - 99
    )
    for size in (0, 1, 63, 64, 1024 - around, 1025 - around, 2048 - around, 2049 - around, 16383, 16384):
        made.append((f"{size} bytes", BinaryRequest("POST", PATH + "/batches", PACKED, b"7" * size)))
    return made


def inside() -> dict[str, bytes]:
    """Return what is encrypted as it must be, and is no request that a collector answers, by the reason."""
    body = bytes.fromhex(batches()[0]["packed"])
    fine = BinaryRequest("POST", PATH + "/batches", PACKED, body).to_bytes(HOST)
    end = len(fine.rstrip(b"\0"))

    def other(method: str, path: str) -> bytes:
        return BinaryRequest(method, path, PACKED, body).to_bytes(HOST)

    nested, _ = encapsulate(fine, CONFIGURATION, hashlib.sha256(b"nested").digest())
    return {
        "nothing": b"",
        "zeros": bytes(1024),
        "a response": b"\x01" + fine[1:],
        "indeterminate length": b"\x02" + fine[1:],
        "a framing that nobody knows": b"\x04" + fine[1:],
        "cut off in the path": fine[:40],
        "cut off in a field": fine[:130],
        "cut off in the body": fine[: end - 5],
        "a length of 8 bytes beyond the end": fine[:1] + b"\xff" * 8 + fine[1:],
        "padding that is not zero": fine[:-1] + b"\x01",
        "another method": other("PUT", PATH + "/batches"),
        "a method in lower case": other("post", PATH + "/batches"),
        "the reading of batches": other("GET", PATH + "/batches"),
        "a batch to the address of a campaign": other("POST", PATH),
        "the operator's page": other("GET", "/metrics"),
        "an admin action": other("POST", "/v1/admin/reload"),
        "a path that leaves": other("GET", f"{PATH}/../../../metrics"),
        "a query": other("GET", "/v1/list?x"),
        "encrypted twice": BinaryRequest("POST", ohttp.GATEWAY, ohttp.REQUEST, nested).to_bytes(HOST),
        "a field in upper case": fine.replace(b"content-type", b"Content-Type"),
        "a pseudo field": fine.replace(b"content-type", b":ontent-type"),
        "a line end in a field": fine.replace(b"vnd.dither", b"vnd\r\nither"),
    }


def outside() -> dict[str, bytes]:
    """Return encrypted requests that no key opens, by the reason."""
    plain = BinaryRequest("GET", PATH).to_bytes(HOST)
    sealed = bytes.fromhex(encrypted(plain, 500)["sealed"])
    other = f"{int(CONFIGURATION[:2], 16) ^ 1:02x}"
    return {
        "nothing": b"",
        "a header alone": sealed[:7],
        "no ciphertext": sealed[:39],
        "a tag that is cut off": sealed[:54],
        "a byte less": sealed[:-1],
        "a byte more": sealed + b"\0",
        "another key id": bytes.fromhex(other) + sealed[1:],
        "another KEM, P-256": sealed[:1] + b"\x00\x10" + sealed[3:],
        "another KDF, HKDF-SHA384": sealed[:3] + b"\x00\x02" + sealed[5:],
        "another AEAD, AES-256-GCM": sealed[:5] + b"\x00\x02" + sealed[7:],
        "another AEAD, ChaCha20Poly1305": sealed[:5] + b"\x00\x03" + sealed[7:],
        "an export-only AEAD": sealed[:5] + b"\xff\xff" + sealed[7:],
        "not encrypted": plain,
        **{f"an ephemeral key of small order, {n}": sealed[:7] + bytes.fromhex(point) + sealed[39:]
           for n, point in enumerate(SMALL_ORDER)},
    }  # fmt: skip


def configurations() -> dict[str, str]:
    """Return key configurations to which nothing may be encrypted, by the reason."""
    return {
        "no text": "",
        "a key alone": _KEY,
        "upper case": CONFIGURATION.upper(),
        "a byte less": CONFIGURATION[:-2],
        "a byte more": CONFIGURATION + "00",
        "half a byte": CONFIGURATION[:-1],
        "a key of 31 bytes": CONFIGURATION[:6] + _KEY[2:] + CONFIGURATION[70:],
        "a key of 33 bytes": CONFIGURATION[:6] + "00" + _KEY + CONFIGURATION[70:],
        "another KEM": CONFIGURATION[:2] + "0010" + CONFIGURATION[6:],
        "no algorithms": CONFIGURATION[:70] + "0000",
        "other algorithms": CONFIGURATION[:70] + "0004" + "00010003",
        "the algorithms across two pairs": CONFIGURATION[:70] + "0008" + "0002000100010003",
        "a wrong length of the algorithms": CONFIGURATION[:70] + "0008" + "00010001",
        "the length of a list": "0029" + CONFIGURATION,
        **{f"a key of small order, {n}": CONFIGURATION[:6] + point + CONFIGURATION[70:]
           for n, point in enumerate(SMALL_ORDER)},
    }  # fmt: skip


def responses() -> list[dict[str, Any]]:
    """Return responses in binary HTTP, each with what is read from it, or refused."""
    fine = BinaryResponse(200, JSON, b'{"batch":"00"}').to_bytes()
    read = {
        "an acknowledgement": fine,
        "without padding": fine.rstrip(b"\0") + b"\0",
        "without trailers": fine.rstrip(b"\0"),
        "a refusal": BinaryResponse(422, JSON, b'{"refused":"label"}').to_bytes(),
        "busy, with the seconds to wait": BinaryResponse(503, JSON, b'{"refused":"busy"}', "5").to_bytes(),
        "a status alone": bytes.fromhex("0140c8"),
        "a status in four bytes": bytes.fromhex("01800000c8"),
        "after an informational one": bytes.fromhex("014066") + b"\x00" + fine[1:],
        "with trailers": bytes.fromhex("0140c8") + b"\x00" + b"\x02{}" + b"\x04\x01a\x01b",
        "a long body": BinaryResponse(200, JSON, b"7" * 500).to_bytes(),
    }
    refused = {
        "nothing": b"",
        "a request": b"\x00" + fine[1:],
        "indeterminate length": b"\x03" + fine[1:],
        "a status of 0": bytes.fromhex("0100"),
        "a status of 600": bytes.fromhex("014258"),
        "cut off": fine[:20],
        "cut off in the body": fine.rstrip(b"\0")[:-3],
        "padding that is not zero": fine[:-1] + b"\x01",
    }
    made: list[dict[str, Any]] = []
    for name, plain in read.items():
        found = BinaryResponse.from_bytes(plain)
        told = {"status": found.status, "content": found.content.hex()}
        made.append({"name": name, "plain": plain.hex(), **told})
    return [
        *made,
        *({"name": name, "plain": plain.hex(), "refused": True} for name, plain in refused.items()),
    ]


def vectors() -> dict[str, Any]:
    """Return everything that the file holds."""
    written = [
        {"name": name, "method": one.method, "address": f"https://{HOST}{one.path}", "form": one.kind}
        | {"body": one.content.hex(), **trimmed(one.to_bytes(HOST))}
        for name, one in requests()
    ]
    answer = BinaryResponse(200, JSON, b'{"batch":"00"}').to_bytes()
    exchanges = [
        {"name": name} | encrypted(one.to_bytes(HOST), number, answer)
        for number, (name, one) in enumerate(requests()[:4])
    ]
    refused = [
        {"reason": reason, "inside": False, "sealed": sealed.hex()} for reason, sealed in outside().items()
    ]
    wrong = inside()
    refused += [
        {"reason": reason, "inside": True, "sealed": encrypted(plain, 100 + number)["sealed"]}
        for number, (reason, plain) in enumerate(wrong.items())
    ]
    bad = [{"reason": reason, "configuration": text} for reason, text in configurations().items()]
    head = {"dither": 2, "campaign": CAMPAIGN}
    lists = {"requests": written, "exchanges": [APPENDIX, *exchanges], "responses": responses()}
    return {**head, **lists, "configurations": bad, "refused": refused}


def text() -> str:
    """Return the text of the file: one line for each vector."""
    data = vectors()
    rows = {
        name: ",\n".join(json.dumps(one, ensure_ascii=False) for one in data.pop(name))
        for name in [name for name in data if isinstance(data[name], list)]
    }
    lists = ",\n".join(f'"{name}": [\n{some}\n]' for name, some in rows.items())
    return f"{json.dumps(data)[:-1]},\n{lists}}}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
