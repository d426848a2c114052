"""Vectors of withdrawals: bodies, what a device makes of answers, and bodies that a collector must refuse.

`python -m tests.conformance.withdrawals` writes clients/conformance/2/withdrawals.json anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "withdrawals.json"
BATCH: Final = "5f0c9a3be1d84762a0b1c2d3e4f50617"
OTHER: Final = "00112233445566778899aabbccddeeff"
NAMED: Final = f'{{"withdrawn":"{BATCH}"}}'


def body(batch: str) -> str:
    """Return the body that withdraws a batch."""
    return f'{{"dither":2,"withdraw":"{batch}"}}'


def answers() -> Iterator[tuple[str, int, str, bool]]:
    """Yield a name, the status and the content of an answer, and whether the batch is withdrawn."""
    yield "it names the batch", 200, NAMED, True
    yield "it names the batch, with white space and fields beside it", 202, f' {{"a": 1, {NAMED[1:]} ', True
    for reason, text in (
        ("nothing", ""),
        ("an empty object", "{}"),
        ("a page", "<!doctype html><title>Welcome</title>"),
        ("another batch", f'{{"withdrawn":"{OTHER}"}}'),
        ("the acknowledgement of the batch", f'{{"batch":"{BATCH}"}}'),
        ("upper-case digits", NAMED.replace("5f0c9a3b", "5F0C9A3B")),
        ("true", '{"withdrawn":true}'),
        ("a list", f'{{"withdrawn":["{BATCH}"]}}'),
        ("a key that stands twice", f'{{"withdrawn":"{BATCH}","withdrawn":"{BATCH}"}}'),
        ("a text that was cut", NAMED[:-1]),
        ("a refusal", '{"refused":"rate","words":"later"}'),
    ):
        yield f"200, {reason}", 200, text, False
    for status in (199, 301, 304, 307, 400, 404, 409, 410, 500, 503):
        yield f"{status}, which names the batch", status, NAMED, False
    for status, word in ((400, "body"), (404, "campaign"), (408, "slow"), (409, "conflict"), (429, "rate")):
        yield f"{status} {word}", status, json.dumps({"refused": word, "words": "a sentence"}), False


def refused() -> Iterator[tuple[str, str]]:
    """Yield why a collector must refuse a body, and the body."""
    yield "white space", body(BATCH).replace(":", ": ")
    yield "another order", f'{{"withdraw":"{BATCH}","dither":2}}'
    yield "another version", body(BATCH).replace("2", "1", 1)
    yield "no version", f'{{"withdraw":"{BATCH}"}}'
    yield "a field beside it", body(BATCH).replace("}", ',"x":1}')
    yield "a key that stands twice", f'{{"dither":2,"withdraw":"{OTHER}","withdraw":"{BATCH}"}}'
    yield "upper-case digits", body(BATCH.upper())
    yield "a digit too few", body(BATCH[:-1])
    yield "a digit too many", body(f"{BATCH}0")
    yield "a list of batches", f'{{"dither":2,"withdraw":["{BATCH}","{OTHER}"]}}'
    yield "a number", '{"dither":2,"withdraw":12345678901234567890123456789012}'
    yield "a batch", f'{{"batch":"{BATCH}","dither":2,"label":"","reports":{{}}}}'
    yield "nothing", "{}"
    yield "null", "null"
    yield "a line feed at the end", body(BATCH) + "\n"


def text() -> str:
    """Return the text of the file."""
    digests = {batch: hashlib.sha256(bytes.fromhex(batch)).hexdigest()[:32] for batch in (BATCH, OTHER)}
    sent = [{"batch": batch, "body": body(batch), "digest": digest} for batch, digest in digests.items()]
    told = [
        {"name": name, "batch": BATCH, "status": status, "content": content.encode().hex(), "withdrawn": done}
        for name, status, content, done in answers()
    ]
    wrong = [{"reason": reason, "body": text} for reason, text in refused()]
    parts = (",\n".join(json.dumps(one) for one in rows) for rows in (sent, told, wrong))
    return '{{"dither": 2, "bodies": [\n{}\n], "answers": [\n{}\n], "refused": [\n{}\n]}}\n'.format(*parts)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
