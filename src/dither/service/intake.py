"""The checks of a batch that need no store: its form, its campaign, its questions, its label, the day."""

from __future__ import annotations

import datetime

from dither.errors import MalformedReport
from dither.service.collector import Collector
from dither.service.contract import Published
from dither.service.live import Slot
from dither.service.refusal import BatchRefused, Reason
from dither.service.store.store import Arrived
from dither.wire.batch import JSON, PACKED, ReadBatch
from dither.wire.sealed import SEALED, unseal


def read(collector: Collector, campaign: str, body: bytes, form: str) -> ReadBatch:
    """Return the batch of a body of a content type; raise BatchRefused if it is not one.

    A sealed body is opened first. What is inside is read as if it had come so, within the same limit.
    """
    if form == SEALED:
        body, form = _opened(collector, campaign, body)
        if len(body) > collector.settings.body:
            raise BatchRefused(Reason.SIZE)
    try:
        if form == PACKED:
            return ReadBatch.from_bytes(body)
        if form == JSON:
            return ReadBatch.from_json(body.decode())
    except (MalformedReport, UnicodeDecodeError):
        raise BatchRefused(Reason.BODY) from None
    raise BatchRefused(Reason.FORM)


def _opened(collector: Collector, campaign: str, body: bytes) -> tuple[bytes, str]:
    """Return what a sealed body holds, and its content type; raise BatchRefused if it cannot be opened."""
    published = collector.campaigns.get(campaign)
    if published is None:
        raise BatchRefused(Reason.CAMPAIGN)
    key = collector.sealing_keys.get(published.contract.sealing_key or "")
    if key is None:
        raise BatchRefused(Reason.SEALED)
    try:
        return unseal(body, key, campaign)
    except MalformedReport:
        raise BatchRefused(Reason.SEALED) from None


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
    sizes, most, parts = contract.report_sizes, contract.most_reports(day), []
    for fingerprint, size, data in batch.groups:
        known = sizes.get(fingerprint)
        if known is None:
            raise BatchRefused(Reason.FINGERPRINT)
        question, expected = known
        if size != expected:
            raise BatchRefused(Reason.REPORT)
        if len(data) > most * size:
            raise BatchRefused(Reason.MANY)
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
