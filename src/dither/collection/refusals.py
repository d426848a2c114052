"""Why a batch is not accepted."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why a batch was not accepted. The value is what answers, metrics and the page show."""

    BODY = "body"  # damaged, truncated, not canonical, or not a batch
    FORM = "form"  # a content type that is neither JSON nor packed
    SEALED = "sealed"  # an encrypted request that cannot be decrypted: another key, or changed on the way
    REQUEST = "request"  # an encrypted request that is neither a batch nor for a campaign
    SIZE = "size"  # more bytes than are allowed
    SLOW = "slow"  # the body did not arrive in time
    RATE = "rate"  # too many reports from one address
    CAMPAIGN = "campaign"  # no such campaign
    RETIRED = "retired"
    EARLY = "early"  # before the first day of the campaign
    LATE = "late"  # after its last day and the days of grace
    FINGERPRINT = "fingerprint"  # a question that the campaign does not ask
    LABEL = "label"  # a label that the campaign does not list
    REPORT = "report"  # no device could have sent it
    MANY = "many"  # more reports to a question than one person has
    CONFLICT = "conflict"  # a known identity with other bytes

    @property
    def status(self) -> int:
        """The status code of the answer."""
        return _STATUS.get(self, 422)

    @property
    def words(self) -> str:
        """One sentence for the reader of the answer."""
        return _WORDS[self]


_STATUS = {
    Reason.BODY: 400,
    Reason.FORM: 415,
    Reason.SEALED: 400,
    Reason.REQUEST: 400,
    Reason.SIZE: 413,
    Reason.SLOW: 408,
    Reason.RATE: 429,
    Reason.CAMPAIGN: 404,
    Reason.RETIRED: 410,
    Reason.EARLY: 403,
    Reason.LATE: 410,
    Reason.CONFLICT: 409,
}
_WORDS = {
    Reason.BODY: "the body is neither a batch of version 2 nor a withdrawal, or it is damaged",
    Reason.FORM: "send application/vnd.dither.batch or application/json; message/ohttp-req to the gateway",
    Reason.SEALED: "the encrypted request cannot be opened with a key of this collector",
    Reason.REQUEST: "encrypted requests are a batch, a withdrawal, the reading of a campaign or the list",
    Reason.SIZE: "the body has more bytes than this collector accepts; send fewer reports in a batch",
    Reason.SLOW: "the body did not arrive in time; send the same bytes again",
    Reason.RATE: "too many reports from this address; send the same bytes again later",
    Reason.CAMPAIGN: "this collector has no such campaign",
    Reason.RETIRED: "the campaign was retired; nothing is collected any more",
    Reason.EARLY: "the campaign has not begun",
    Reason.LATE: "the campaign has ended",
    Reason.FINGERPRINT: "the campaign does not ask this question",
    Reason.LABEL: "the campaign does not list this label",
    Reason.REPORT: "a report is one that no device could have sent",
    Reason.MANY: "a batch holds one report to a question; send the others in batches of their own",
    Reason.CONFLICT: "a batch of this identity and with other bytes was stored before",
}


class BatchRefused(Exception):
    """A batch is not accepted; the reason is counted, and nothing of the batch is stored."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.words)
        self.reason = reason
