"""Vectors of exchanges: what a device makes of an answer to a batch, and which addresses it may use.

`python -m tests.conformance.exchange` writes clients/conformance/2/exchange.json anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "exchange.json"
BATCH: Final = "5f0c9a3be1d84762a0b1c2d3e4f50617"
OTHER: Final = "00112233445566778899aabbccddeeff"
ACKNOWLEDGED, DROPPED, KEPT = "acknowledged", "dropped", "kept"
USED, REFUSED = "used", "refused"
FINAL: Final = (
    (400, "body"),
    (400, "request"),
    (413, "size"),
    (415, "form"),
    (422, "fingerprint"),
    (422, "report"),
    (422, "many"),
    (410, "retired"),
    (410, "late"),
)
LATER: Final = (
    (400, "sealed"),
    (422, "label"),
    (403, "early"),
    (404, "campaign"),
    (408, "slow"),
    (429, "rate"),
)


def _refusal(word: Any) -> str:
    return json.dumps({"refused": word, "words": "a sentence"})


def answers() -> Iterator[tuple[str, int, str, str]]:
    """Yield a name, the status and the content of an answer, and what becomes of the batch."""
    named = f'{{"batch":"{BATCH}"}}'
    yield "it names the batch", 200, named, ACKNOWLEDGED
    yield "it names the batch, with white space", 200, f' {{ "batch" : "{BATCH}" }}\n', ACKNOWLEDGED
    yield "it names the batch, with fields beside it", 200, f'{{"at":[1,{{}}],{named[1:]}', ACKNOWLEDGED
    yield "it names the batch, with another 2xx", 202, named, ACKNOWLEDGED
    yield "it names the batch in escaped letters", 299, named.replace("5f0c", "\\u0035f0c"), ACKNOWLEDGED
    for reason, text in (
        ("nothing", ""),
        ("an empty object", "{}"),
        ("a page", "<!doctype html><title>Welcome</title><a href=/login>Sign in</a>"),
        ("a page that repeats the request", f"<html>{named}</html>"),
        ("another batch", f'{{"batch":"{OTHER}"}}'),
        ("upper-case digits", f'{{"batch":"{BATCH.upper()}"}}'),
        ("a digit too many", f'{{"batch":"{BATCH}0"}}'),
        ("a digit too few", f'{{"batch":"{BATCH[:-1]}"}}'),
        ("a space", f'{{"batch":" {BATCH}"}}'),
        ("a list", f'["{BATCH}"]'),
        ("a list for a text", f'{{"batch":["{BATCH}"]}}'),
        ("a text for an object", f'"{BATCH}"'),
        ("the name of another field", f'{{"id":"{BATCH}"}}'),
        ("the batch in a part", f'{{"answer":{named}}}'),
        ("true", "true"),
        ("null", "null"),
        ("null for a text", '{"batch":null}'),
        ("true for a text", '{"batch":true}'),
        ("a text that was cut", named[:-1]),
        ("a text behind it", f"{named}{named}"),
        ("a key that stands twice, the last one right", f'{{"batch":"{OTHER}","batch":"{BATCH}"}}'),
        ("a key that stands twice, the first one right", f'{{"batch":"{BATCH}","batch":"{OTHER}"}}'),
        ("a number that JSON does not have", f'{{"batch":"{BATCH}","at":NaN}}'),
        ("brackets without an end", "[" * 10_000),
    ):
        yield f"200, {reason}", 200, text, KEPT
    yield "204 without content", 204, "", KEPT
    for status in (300, 301, 302, 303, 304, 307, 308):
        yield f"{status}, which names the batch", status, named, KEPT
    for status in (199, 400, 404, 500, 503):
        yield f"{status}, which names the batch", status, named, KEPT
    yield "a conflict", 409, _refusal("conflict"), ACKNOWLEDGED
    for text in ("", "{}", named, "<html>409 Conflict</html>", _refusal("busy"), _refusal(["conflict"])):
        yield f"409, not a conflict of the collector: {text[:20]}", 409, text, KEPT
    for status, word in FINAL:
        yield f"{status} {word}", status, _refusal(word), DROPPED
    for status, word in LATER:
        yield f"{status} {word}", status, _refusal(word), KEPT
    yield "503, the store cannot be written", 503, '{"words":"busy"}', KEPT
    yield "a refusal without a sentence", 422, '{"refused":"report"}', DROPPED
    yield "a refusal with a 2xx", 200, _refusal("report"), KEPT
    for status in (400, 410, 413, 415, 422):
        for text in ("", "<html>no</html>", "null", '["refused"]', '{"error":"no"}', '{"refused":""}'):
            yield f"{status}, not a word of the collector: {text}", status, text, KEPT
        yield f"{status}, a list for a word", status, _refusal(["report"]), KEPT
        yield f"{status}, a number for a word", status, _refusal(1), KEPT


def addresses() -> Iterator[tuple[str, str]]:
    """Yield an address, and whether a device may send to it."""
    for address in (
        "https://city.example",
        "https://city.example/",
        "https://city.example/v1/campaigns/00",
        "https://city.example:8443/a/v1/campaigns/00",
        "HTTPS://City.Example/v1",
        "https://10.0.0.1/v1",
        "https://[2001:db8::1]/v1",
        "http://localhost/v1",
        "http://LocalHost:8000/v1",
        "http://127.0.0.1:8000/v1",
        "http://127.255.1.9/v1",
        "http://[::1]:8000/v1",
        "http://[::1]/v1",
    ):
        yield address, USED
    for address in (
        "http://city.example/v1",
        "http://10.0.0.1/v1",
        "http://192.168.1.2/v1",
        "http://0.0.0.0/v1",
        "http://[::]/v1",
        "http://[::2]/v1",
        "http://localhost.city.example/v1",
        "http://city.example.localhost/v1",
        "http://localhost@city.example/v1",
        "http://127.0.0.1@city.example/v1",
        "http://127.0.0.1:80@city.example/v1",
        "http://127.0.0.1.city.example/v1",
        "http://127.city.example/v1",
        "http://127.0.0.256/v1",
        "http://127.0.0/v1",
        "http://127.0.0.1.1/v1",
        "http://1127.0.0.1/v1",
        "http:///v1",
        "https:///v1",
        "https://user@city.example/v1",
        "https://user:word@city.example/v1",
        "https://city.example/v1?campaign=00",
        "https://city.example/v1#00",
        "https://city.example\\@other.example/v1",
        "https://city.example/v 1",
        "https://city.example/v1\n",
        " https://city.example/v1",
        "ftp://city.example/v1",
        "ws://city.example/v1",
        "file:///etc/passwd",
        "httpss://city.example/v1",
    ):
        yield address, REFUSED


def text() -> str:
    """Return the text of the file."""
    told = [
        {"name": name, "batch": BATCH, "status": status, "content": content.encode().hex(), "fate": fate}
        for name, status, content, fate in answers()
    ]
    used = [{"address": address, "verdict": verdict} for address, verdict in addresses()]
    parts = (",\n".join(json.dumps(one) for one in rows) for rows in (told, used))
    return '{{"dither": 2, "answers": [\n{}\n], "addresses": [\n{}\n]}}\n'.format(*parts)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
