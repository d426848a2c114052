"""The checks of a batch that need no store: its form, its campaign, its questions, its label, the day."""

from __future__ import annotations

import datetime
from typing import Final

from dither.errors import MalformedReport
from dither.service.collector import Collector
from dither.service.contract import Published
from dither.service.live import Slot
from dither.service.refusal import BatchRefused, Reason
from dither.service.store.store import Arrived
from dither.wire.batch import ReadBatch

PACKED: Final = "application/vnd.dither.batch"
JSON: Final = "application/json"


def read(body: bytes, form: str) -> ReadBatch:
    """Return the batch of a body of a content type; raise BatchRefused if it is not one."""
    try:
        if form == PACKED:
            return ReadBatch.from_bytes(body)
        if form == JSON:
            return ReadBatch.from_json(body.decode())
    except (MalformedReport, UnicodeDecodeError):
        raise BatchRefused(Reason.BODY) from None
    raise BatchRefused(Reason.FORM)


def check(collector: Collector, campaign: str, batch: ReadBatch) -> Arrived:
    """Return what is to be stored; raise BatchRefused for a batch that the campaign does not accept.

    Whether its numbers are reports that a device could have sent is checked by the writer, for many batches
    at once.
    """
    published = collector.campaigns.get(campaign)
    if published is None:
        raise BatchRefused(Reason.CAMPAIGN)
    day = collector.day()
    reason = closed(published, day, collector.settings.grace)
    if reason is not None:
        raise BatchRefused(reason)
    contract = published.contract
    if batch.label and batch.label not in contract.labels:
        raise BatchRefused(Reason.LABEL)
    sizes, parts = contract.report_sizes, []
    for fingerprint, size, data in batch.groups:
        known = sizes.get(fingerprint)
        if known is None:
            raise BatchRefused(Reason.FINGERPRINT)
        question, expected = known
        if size != expected:
            raise BatchRefused(Reason.REPORT)
        parts.append((Slot(campaign, question, day, batch.label), data))
    return Arrived(batch.id, tuple(parts))


def closed(published: Published, day: datetime.date, grace: int) -> Reason | None:
    """Return why a campaign accepts nothing on a day; None if it does."""
    if published.retired is not None and day >= published.retired[0]:
        return Reason.RETIRED
    if day < published.contract.begins:
        return Reason.EARLY
    if day > published.contract.ends + datetime.timedelta(grace):
        return Reason.LATE
    return None
