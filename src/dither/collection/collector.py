"""The collector of one or several campaigns, and the intake of batches."""

from __future__ import annotations

import datetime
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from dither.collection.campaign import Campaign
from dither.collection.campaign_list import CampaignList
from dither.collection.kept_changes import split_rows
from dither.collection.live import LiveCounts, News, Slot
from dither.collection.log import log
from dither.collection.ohttp import GatewayKeys
from dither.collection.presence import EMPTY_MESSAGE, MESSAGES, counts_presence
from dither.collection.published import Published
from dither.collection.refusals import BatchRefused, Reason
from dither.collection.settings import Settings
from dither.collection.signals import Signals, label_text
from dither.collection.store.store import (
    Arrived,
    CollectorStore,
    RefusedKey,
    Withdrawal,
)
from dither.core.batch import JSON, PACKED, ReadBatch, identity_digest
from dither.errors import InvalidParameter, MalformedReport, unknown_name

_WITHDRAWAL: Final = re.compile(rb'\{"dither":2,"withdraw":"([0-9a-f]{32})"\}')  # canonical JSON
_NO_KEYS: Final[GatewayKeys] = MappingProxyType({})


# The time for storing the last reports of a day, and for differences of clocks.
_SETTLED: Final = datetime.timedelta(minutes=10)


def today(ago: datetime.timedelta = datetime.timedelta()) -> datetime.date:
    """Return the present day in UTC, or the day a given time ago."""
    return (datetime.datetime.now(datetime.UTC) - ago).date()


class Collector:
    """Receives, checks and counts the batches of one or several campaigns.

    The HTTP handlers and the page read it; the writer adds to it. `campaigns` are the published ones by
    identity, `live` are the counts, `refused` the counts of refusals.
    `sealing_keys` decrypt the requests of devices; `signals` are the metrics of this and of other processes;
    `failing` is True after a failed write.
    """

    def __init__(
        self,
        store: CollectorStore,
        settings: Settings,
        day: Callable[[], datetime.date] = today,
        sealing_keys: GatewayKeys = _NO_KEYS,
        signals: Signals | None = None,
    ) -> None:
        self.store, self.settings, self.day, self.sealing_keys = store, settings, day, sealing_keys
        self.signals = signals or Signals()
        self.failing = False
        self.listed: CampaignList | None = None  # the list of campaigns, or None
        self.live = LiveCounts()
        self.began = time.monotonic()
        self.at_begin: list[Callable[[], None]] = []  # functions that are called once the collector serves
        self.at_end: list[Callable[[], None]] = []  # functions that stop the threads of the HTTP handlers
        self._campaigns: dict[str, Published] = {}
        self._kept_refusals = store.refusals()
        self._new_refusals: Counter[RefusedKey] = Counter()
        self._leaving_refusals: Counter[RefusedKey] = Counter()  # counts that are being written to the store
        self._lock = threading.Lock()
        self._rebuilding = False  # True after counts could not be built anew
        self.catch_up()

    def settled_day(self) -> datetime.date:
        """Return the day before which every day has its final counts.

        A report that arrived before midnight may be stored after it, also by another process. A period of
        presence that was shown at midnight would therefore change by single messages.
        """
        return today(_SETTLED) if self.day is today else self.day()

    def _know(self, published: Published) -> None:
        self.live.know(published.contract)
        self._campaigns = {**self._campaigns, published.id: published}

    @property
    def campaigns(self) -> Mapping[str, Published]:
        """The published campaigns, by identity, retired ones included."""
        return self._campaigns

    @property
    def refused(self) -> Mapping[RefusedKey, int]:
        """The number of refused batches, by campaign, day and reason."""
        with self._lock:
            return Counter(self._kept_refusals) + self._leaving_refusals + self._new_refusals

    def publish(self, published: Published) -> None:
        """Add a campaign, or its retirement; it is on disk when this returns."""
        self.store.publish(published)
        self._know(published)

    def refuse(self, reason: Reason, campaign: str = "") -> None:
        """Count a refusal; an unknown campaign is counted as ""."""
        campaign = campaign if campaign in self._campaigns else ""
        self.signals.add("refused_total", labels=label_text(reason=reason.value))
        with self._lock:
            self._new_refusals[RefusedKey(campaign, self.day(), reason)] += 1

    def keep_refusals(self) -> None:
        """Write the new counts of refusals to the store."""
        with self._lock:
            new, self._new_refusals = self._new_refusals, Counter()
            self._leaving_refusals = new
        try:
            if new:
                self.store.refuse(new)
        except BaseException:
            with self._lock:
                self._leaving_refusals, self._new_refusals = Counter(), self._new_refusals + new
            raise
        kept = self.store.refusals() if new else self._kept_refusals
        with self._lock:
            self._kept_refusals, self._leaving_refusals = kept, Counter()

    def catch_up(self) -> None:
        """Count the reports that other processes stored since the last time; at the start, all reports."""
        if self.store.reload() or self._rebuilding:
            self._rebuilding = True
            self._learn()
            self.live.rebuild(self.store.folded_counts(), self._news())
            self._rebuilding = False
        else:
            self.live.add_all(self._news())

    def _learn(self) -> None:
        """Add the campaigns of the store: earlier ones, and campaigns that another process published."""
        for published in self.store.campaigns():
            self._know(published)

    def _news(self) -> News:
        for item in self.store.news():
            if item.slot.campaign not in self._campaigns:
                self._learn()
            yield item

    def fold(self, campaign: str, day: datetime.date) -> int:
        """Replace the reports up to a past day by their counts; return the number of replaced parts."""
        if day >= self.day():
            raise InvalidParameter(f"expected a past day, because reports may still arrive, got {day}")
        return self._fold(campaign, day)

    def _fold(self, campaign: str, day: datetime.date, forgotten: datetime.date = datetime.date.min) -> int:
        self.catch_up()
        return self.store.fold(campaign, day, self.live, forgotten)

    def delete(self, campaign: str) -> list[str]:
        """Delete all reports of a campaign; return the files that they were exported to."""
        if campaign not in self._campaigns:
            raise unknown_name("campaign", campaign, list(self._campaigns))
        self.store.delete(campaign)
        self.live.clear(campaign)
        return self.store.exported_files(campaign)

    def tidy(self) -> None:
        """Fold days whose retry window is over, and forget the identities of their batches.

        An identity is kept until the window has closed and the day is folded. Each campaign has its own
        window. Withdrawn reports are overwritten after they have left the counts.
        """
        over = {
            campaign: self.day() - datetime.timedelta(published.contract.retry)
            for campaign, published in self._campaigns.items()
        }
        last: dict[str, datetime.date] = {}
        for campaign, day in sorted(self.store.days()):
            if campaign in over and day < over[campaign]:
                last[campaign] = day
        for campaign, day in last.items():
            parts = self._fold(campaign, day, over[campaign])
            if parts:
                log("folded", campaign=campaign, day=day.isoformat(), parts=parts)
        self.live.shrink()
        erased = self.store.erase(self.live)
        if erased:
            log("erased what was withdrawn", parts=erased)
        forgotten = self.store.forget(over)
        if forgotten:
            log("forgot identities of batches", count=forgotten)

    def health(self) -> dict[str, Any]:
        """Return the state of the collector, without any report."""
        return {
            "ready": not self.failing,
            "seconds": int(time.monotonic() - self.began),
            "campaigns": len(self._campaigns),
            "reports": sum(  # withdrawn reports leave this number with the next step, as everywhere
                self.live.n(published.id, name, shown=True)
                + self.live.waiting(published.id, name, shown=True)
                for published in self._campaigns.values()
                for name in published.contract.questions
                if not counts_presence(published.contract)  # no numbers of a period before its end
            ),
        }


def read(body: bytes, form: str) -> ReadBatch:
    """Return the batch in a body of a content type; raise BatchRefused if the body is not a batch."""
    try:
        if form == PACKED:
            return ReadBatch.from_bytes(body)
        if form == JSON:
            return ReadBatch.from_json(body.decode())
    except (MalformedReport, UnicodeDecodeError):
        raise BatchRefused(Reason.BODY) from None
    raise BatchRefused(Reason.FORM)


def check(collector: Collector, campaign: str, batch: ReadBatch) -> Arrived:
    """Return the parts to store; raise BatchRefused for a batch that the campaign does not accept.

    The writer checks, for many batches at once, that a device could have sent these reports.
    """
    published = collector.campaigns.get(campaign)
    if published is None:
        raise BatchRefused(Reason.CAMPAIGN)
    day = collector.day()
    reason = reason_closed(published, day, collector.settings.grace)
    if reason is not None:
        raise BatchRefused(reason)
    contract = published.contract
    if batch.label and batch.label not in contract.labels:
        raise BatchRefused(Reason.LABEL)
    present = counts_presence(contract)
    if not batch.groups and not present:
        raise BatchRefused(Reason.BODY)
    if batch.groups and batch.label and present:  # both together would be an identifier
        raise BatchRefused(Reason.MANY)
    sizes, most, parts = contract.report_sizes, contract.most_reports(day), []
    for fingerprint, size, data in batch.groups:
        known = sizes.get(fingerprint)
        if known is None:
            raise BatchRefused(Reason.FINGERPRINT)
        question, expected = known
        if contract.repeat == "kept change":
            if len(data) != size:
                raise BatchRefused(Reason.MANY)
            parts += _rows_of(contract, question, data, day, batch.label)
            continue
        if size != expected:
            raise BatchRefused(Reason.REPORT)
        if len(data) > most * size:
            raise BatchRefused(Reason.MANY)
        parts.append((Slot(campaign, question, day, batch.label), data))
    if not parts:
        parts.append((Slot(campaign, MESSAGES, day, batch.label), EMPTY_MESSAGE))
    return Arrived(identity_digest(batch.id), tuple(parts))


def _rows_of(
    contract: Campaign, question: str, report: bytes, day: datetime.date, label: str
) -> list[tuple[Slot, bytes]]:
    """Return the rows of a report about a kept change by their slots."""
    try:
        rows = split_rows(contract, question, report)
    except MalformedReport:
        raise BatchRefused(Reason.REPORT) from None
    return [(Slot(contract.id, name, day, label), cell) for name, cell in rows]


def read_withdrawal(collector: Collector, campaign: str, body: bytes, form: str) -> tuple[Withdrawal, str]:
    """Return the withdrawal in a body; raise BatchRefused for other bodies.

    A campaign that is over or retired also accepts it.
    """
    if form != JSON:
        raise BatchRefused(Reason.FORM)
    found = _WITHDRAWAL.fullmatch(body)
    if found is None:
        raise BatchRefused(Reason.BODY)
    if campaign not in collector.campaigns:
        raise BatchRefused(Reason.CAMPAIGN)
    identity = found[1].decode()
    return Withdrawal(identity_digest(bytes.fromhex(identity)), campaign, collector.day()), identity


def reason_closed(published: Published, day: datetime.date, grace: int) -> Reason | None:
    """Return the reason why a campaign accepts no batch on a day; None if it accepts batches."""
    if published.retired is not None and day >= published.retired[0]:
        return Reason.RETIRED
    if day < published.contract.begins:
        return Reason.EARLY
    if day > published.contract.ends + datetime.timedelta(grace):
        return Reason.LATE
    return None
