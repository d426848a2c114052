"""Vectors of batches: the bytes of a body.

`python -m tests.conformance.batches` writes clients/conformance/2/batches.json anew.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Final

from dither.core.batch import BatchBody

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "batches.json"


def vectors() -> list[dict[str, Any]]:
    """Return batches, and their bodies in both forms."""
    random_ = random.Random("batches")
    made = []
    for questions, count, size, label in (
        (1, 1, 1, ""),
        (1, 100, 2, "1.4"),
        (3, 7, 8, "é, 日本"),
        (2, 3, 40, "x" * 64),
        (0, 0, 0, "1.4 linux"),
        (0, 0, 0, ""),
    ):
        reports = [
            {"fingerprint": fingerprint, "report": random_.randbytes(size).hex()}
            for fingerprint in (random_.randbytes(16).hex() for _ in range(questions))
            for _ in range(count)
        ]
        random_.shuffle(reports)
        identity = random_.randbytes(16).hex()
        batch = BatchBody.of(
            identity, [(one["fingerprint"], bytes.fromhex(one["report"])) for one in reports], label
        )
        made.append(
            {
                "batch": identity,
                "label": label,
                "reports": reports,
                "json": batch.to_json(),
                "packed": batch.to_bytes().hex(),
            }
        )
    return made


def text() -> str:
    """Return the text of the file."""
    rows = ",\n".join(json.dumps(one, ensure_ascii=False) for one in vectors())
    return f'{{"dither": 2, "batches": [\n{rows}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
