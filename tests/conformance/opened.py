"""Vectors of mistakes of an app: answers after the last day, and labels that the campaign does not list.

`python -m tests.conformance.opened` writes clients/conformance/2/open.json anew.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from dither.collection.campaign import Campaign
from dither.collection.published import Published
from tests.conformance.refused import FOLDER
from tests.conformance.signatures import KEY, contract

FILE: Final = FOLDER / "open.json"
LABELS: Final = ("1.0", "1.1", "Größe <b>", "__proto__")
RETIRED: Final = datetime.date(2026, 6, 1)
DAYS: Final = ("2026-01-01", "2026-05-31", "2026-06-01", "2026-12-31", "2027-01-01", "2031-03-05")
OTHERS: Final = ("", "1.2", "1", "constructor", "größe <b>", "toString")


def campaign() -> Campaign:
    """Return a campaign of a year with labels."""
    return replace(contract(), labels=LABELS)


def cases() -> Iterator[dict[str, Any]]:
    """Yield days and labels of each campaign, with whether it takes answers then and such batches."""
    made = campaign()
    for retired, last in ((False, made.ends), (True, RETIRED - datetime.timedelta(days=1))):
        for day in DAYS:
            yield {"retired": retired, "day": day, "label": "", "open": day <= str(last), "listed": True}
    for label in (*LABELS, *OTHERS):
        listed = label in ("", *LABELS)
        yield {"retired": False, "day": DAYS[0], "label": label, "open": True, "listed": listed}


def text() -> str:
    """Return the file, one line for each case."""
    published = Published.sign(campaign(), KEY)
    head: dict[str, Any] = {"dither": 2, "key": published.key, "published": published.to_json()}
    head["retired"] = published.retire(RETIRED, KEY).to_json()
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in cases())
    return f'{json.dumps(head)[:-1]}, "open": [\n{rows}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
