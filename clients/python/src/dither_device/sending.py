"""Batches, and how they reach a collector: directly, or encrypted through a relay (RFC 9458).

Nothing here is imported by a program that only answers. `ssl` is imported when something is sent, and
`cryptography` when a campaign has a sealing key.
"""

from __future__ import annotations

import json
import os
import sys
import time

from dither_device.exchange import MOST, exchange, judge, judge_withdrawal, split_address
from dither_device.text import DeviceError, canonical, need, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    from dither_device.account import Account
    from dither_device.campaign import Campaign
    from dither_device.state import State

    Batch = tuple[str, list[tuple[str, bytes]]]  # the identity; fingerprints and reports

    class Queue(Protocol):
        """The part of an account that sending needs."""

        def acknowledge(self, identity: str, sent: dict[str, Any] | None = None, /) -> int: ...
        def drop(self, identity: str, /) -> int: ...
        def withdraw(self, identity: str, /) -> int: ...
        def wire(self) -> dict[str, Any]: ...


PACKED = "application/vnd.dither.batch"
JSON = "application/json"  # content type of a withdrawal
_PATIENCE = 600.0  # time limit of a process that sends, in seconds


def packed_body(identity: str, label: str, reports: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the bytes of a batch: sorted by fingerprint and by report, so that it is always the same."""
    groups = _grouped(reports)
    reported = label.encode()
    need(len(reported) <= 64, "fields", "a label of at most 64 bytes")
    parts = [b"dither\0\x02", bytes.fromhex(identity), len(reported).to_bytes(1, "little"), reported]
    parts.append(len(groups).to_bytes(2, "little"))
    for fingerprint, some in groups:
        head = len(some[0]).to_bytes(4, "little") + len(some).to_bytes(4, "little")
        parts += [bytes.fromhex(fingerprint), head, *some]
    body = b"".join(parts)
    return body + sha256(body).digest()[:16]


def json_body(identity: str, label: str, reports: Iterable[tuple[str, bytes]]) -> str:
    """Return a batch as canonical JSON."""
    reported = {fingerprint: [report.hex() for report in some] for fingerprint, some in _grouped(reports)}
    return canonical({"batch": identity, "dither": 2, "label": label, "reports": reported})


def withdrawal_body(identity: str) -> str:
    """Return the body of a request to delete a batch."""
    return canonical({"dither": 2, "withdraw": identity})


def _grouped(reports: Iterable[tuple[str, bytes]]) -> list[tuple[str, list[bytes]]]:
    groups: dict[str, list[bytes]] = {}
    for fingerprint, report in reports:
        groups.setdefault(fingerprint, []).append(report)
    return sorted((fingerprint, sorted(some)) for fingerprint, some in groups.items())


# --- sending


class Sent:
    """What became of the reports that waited.

    `sent` reports are stored by the collector, `waiting` still wait, `refused` are the words of the collector
    about batches that it will never take; `dropped` is their number of reports. `problem` is the reason why
    the rest waits, or None; `retry_after` are seconds.
    """

    __slots__ = ("dropped", "problem", "refused", "retry_after", "sent", "waiting")

    def __init__(self) -> None:
        self.sent = self.waiting = self.dropped = 0
        self.refused: list[str] = []
        self.problem: str | None = None
        self.retry_after: float | None = None

    def __repr__(self) -> str:
        return f"Sent({self.sent} sent, {self.waiting} wait{f', {self.problem}' if self.problem else ''})"


def send(
    account: Account,
    campaign: Campaign,
    address: str,
    *,
    relay: str | None = None,
    label: str = "",
    timeout: float = 10.0,
    allowed: Callable[[], bool] | None = None,
) -> Sent:
    """Send what waits for a campaign to its collector, batch by batch; a batch always has the same bytes.

    If the campaign has a sealing key, everything is encrypted to it, and nothing is sent where `cryptography`
    is not installed. `relay` is the address of a relay that passes requests on to the collector's gateway.
    `allowed()` is called before every batch: after False, nothing more is sent.
    """
    done = Sent()
    location = f"{address.rstrip('/')}/v1/campaigns/{campaign.id}/batches"
    sealing_key = campaign.terms.get("sealing_key")

    present = campaign.terms["repeat"] == "present"

    def next_batch() -> Batch | None:
        if present:
            message = account.message(campaign)
            return None if message is None else (message["id"], _pairs(message))
        with account.transaction() as state:
            found = account.batch_in(state, _event(campaign))
        if found is None:
            return None
        return found[0], [(item["fingerprint"], bytes.fromhex(item["report"])) for item in found[1]]

    try:
        need(relay is None or sealing_key is not None, "key", "the campaign has no sealing key for a relay")
        if sealing_key is not None and not _can_seal():
            done.problem = "the campaign requires encryption: pip install cryptography"
        else:
            deliver(
                done,
                next_batch,
                lambda body: request("POST", location, body, sealing_key, relay, timeout),
                account,
                _public_label(account, campaign, label),
                allowed,
                {"campaign": campaign.id, "retry": campaign.terms["retry"]},
            )
    except DeviceError as error:
        done.problem = str(error)
    except Exception as error:  # a network error: no name, no route, a certificate
        done.problem = f"unreachable ({type(error).__name__})"
    try:
        listed = [mark for _, mark in _event(campaign)["questions"]]
        done.waiting = sum(item["fingerprint"] in listed for item in account.queue)
        done.waiting += present and account.message(campaign) is not None
    except DeviceError:
        pass
    return done


def deliver(
    done: Sent,
    next_batch: Callable[[], Batch | None],
    post: Callable[[bytes], tuple[int, dict[str, str], bytes]],
    account: Queue,
    label: str,
    allowed: Callable[[], bool] | None = None,
    noted: dict[str, Any] | None = None,
) -> None:
    """Send batch after batch until nothing waits or the collector refuses; `done` counts them.

    `noted` is the campaign and its `retry`, so that a batch can be taken back. A batch that the collector
    refuses for good is dropped, so that it does not hold up the others; its permanent answers are set aside.
    """
    while (batch := next_batch()) is not None:
        if allowed is not None and not allowed():
            done.problem = "off"
            return
        identity, reports = batch
        status, reported, text = post(packed_body(identity, label, reports))
        fate, word = judge(identity, status, text)
        if fate == "acknowledged":
            sent = None if noted is None else {**noted, "day": int(time.time()) // 86_400}
            done.sent += account.acknowledge(identity, sent)
        elif fate == "dropped":
            done.refused.append(word)
            done.dropped += account.drop(identity)
        else:
            done.problem = word or ("busy" if status == 503 else f"status {status}")
            done.retry_after = _seconds(reported.get("retry-after"))
            return


# --- taking back


class TakenBack:
    """The result of a withdrawal.

    `withdrawn` answers are deleted by the collector, `unsent` ones had not been sent and will not be. `left`
    batches were not confirmed, for the reasons in `refused`: ask again.
    """

    __slots__ = ("left", "refused", "unsent", "withdrawn")

    def __init__(self) -> None:
        self.withdrawn = self.unsent = self.left = 0
        self.refused: list[str] = []

    def __repr__(self) -> str:
        return f"TakenBack({self.withdrawn} withdrawn, {self.unsent} unsent, {self.left} left)"


def take_back(
    account: Queue, asker: str, campaign: str, post: Callable[[str, bytes], tuple[int, dict[str, str], bytes]]
) -> TakenBack:
    """Take back what an asker was given, as long as collectors can delete it: each batch by a request.

    Unsent reports leave the queue. `post` sends a body about a campaign, given by its id; `campaign` is the
    campaign of the waiting reports. No spent budget comes back.
    """
    from dither_device.rules import ASIDE

    done, today, state = TakenBack(), int(time.time()) // 86_400, account.wire()
    batches: dict[str, str] = {}
    for item in state["queue"]:
        if item["asker"] == asker and item["batch"] is None:
            done.unsent += account.acknowledge(item["id"])
        elif item["asker"] == asker and item["batch"] != ASIDE:
            batches[item["batch"]] = campaign
    for entry in state.get("sent", ()):
        if entry["asker"] == asker and entry["until"] >= today:
            batches[entry["id"]] = entry["campaign"]
    for identity, whose in batches.items():
        try:
            status, _, text = post(whose, withdrawal_body(identity).encode())
            withdrawn, word = judge_withdrawal(identity, status, text)
        except Exception as error:  # an error of the network, or of a relay
            withdrawn, status, word = False, 0, f"unreachable ({type(error).__name__})"
        if withdrawn:
            done.withdrawn += account.withdraw(identity)
        else:
            done.left += 1
            done.refused.append(word or f"status {status}")
    return done


def preview(opened: dict[str, Any], campaign: Campaign, label: str) -> list[str]:
    """Return the batches that `send` would make of a state of an account, as JSON; nothing is changed."""
    from dither_device.rules import Policy, decide
    from dither_device.state import State

    state = State(opened)
    if campaign.terms["repeat"] == "present":
        return _preview_message(state, campaign, label)
    bodies: list[str] = []
    while True:
        event = _event(campaign)
        reported = decide(state, event, Policy(), None).outcome
        if reported["is"] == "empty":
            return bodies
        reports = [
            (state.queue[name]["fingerprint"], state.queue[name]["report"]) for name in reported["reports"]
        ]
        identity = "<random>" if reported["id"] == event["id"] else reported["id"]
        some = [(mark, bytes.fromhex(report)) for mark, report in reports]
        bodies.append(json_body(identity, label_of(campaign, label), some))
        state.apply({"unqueue": reported["reports"]})


def _preview_message(state: State, campaign: Campaign, label: str) -> list[str]:
    """Return the message of presence that waits, as JSON."""
    from dither_device.rules import Policy, decide

    terms, target = campaign.presence()
    question = None if target is None else target.facts
    event = {"do": "message", "at": state.clock, "presence": terms, "question": question}
    reported = decide(state, event, Policy(), None).outcome
    if reported["is"] == "empty":
        return []
    return [
        json_body(reported["id"], label_of(campaign, label) if reported["public"] else "", _pairs(reported))
    ]


def _pairs(message: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Return the reports of a message of presence."""
    return [(mark, bytes.fromhex(report)) for mark, report in message["reports"]]


def _public_label(account: Account, campaign: Campaign, label: str) -> str:
    """Return the public label of batches; a device that carries a permanent label has no public one, ever."""
    if campaign.terms["repeat"] == "present":
        message = account.message(campaign)
        if message is None or not message["public"]:
            return ""
    return label_of(campaign, label)


def label_of(campaign: Campaign, label: str) -> str:
    """Return a label that the campaign lists; any other one is left out, so that the reports are counted."""
    return label if label in campaign.terms["labels"] else ""


def _event(campaign: Campaign) -> dict[str, Any]:
    """Return the event that makes a batch of what waits for a campaign."""
    marks = campaign.marks
    identity = os.urandom(16).hex()
    return {"do": "batch", "id": identity, "asker": campaign.asker, "most": 100, "questions": marks}


def _can_seal() -> bool:
    from dither_device.ohttp import can_seal

    return can_seal()


def request(
    method: str,
    address: str,
    body: bytes,
    sealing_key: str | None,
    relay: str | None = None,
    timeout: float = 10.0,
    most: int = MOST,
    form: str = PACKED,
) -> tuple[int, dict[str, str], bytes]:
    """Return status, fields and content of an answer; both ways encrypted if there is a sealing key.

    Raise Malformed with the word "relay" if nothing came back that the collector encrypted.
    """
    form = form if body else ""
    if sealing_key is None:
        return exchange(address, method, body, form, timeout, most)
    from dither_device.ohttp import GATEWAY, REQUEST, RESPONSE, binary_request, binary_response, encapsulate

    sealed, answers = encapsulate(sealing_key, binary_request(method, address, form, body))
    scheme, host, _ = split_address(address)
    to = relay or f"{scheme}://{host}{GATEWAY}"
    room = 2 * most + (1 << 10)  # an encrypted answer is padded to a power of two
    status, reported, text = exchange(to, "POST", sealed, REQUEST, timeout, room)
    # What a relay says by itself acknowledges nothing.
    need(status == 200 and reported.get("content-type") == RESPONSE, "relay", f"it answered {status}")
    return binary_response(answers.open(text))


def _seconds(text: str | None) -> float | None:
    try:
        return min(max(0.0, float(text or "")), 86_400.0)  # 0 for other texts
    except ValueError:
        return None


# --- in the background


def spawn(job: dict[str, Any]) -> int:
    """Start a process that sends, detached, so that it delays nobody's end. Return its number, or 0.

    It runs with the isolated path of the interpreter (-I), so that no module of the present folder is taken.
    """
    position = sys.executable
    if not position or getattr(sys, "frozen", False):
        return 0
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from dither_device.sending import main; main(sys.argv[2])"
    )
    words = [position, "-I", "-c", code, package, json.dumps(job)]
    try:
        if os.name == "posix":
            quiet = os.open(os.devnull, os.O_RDWR)
            try:
                actions = [(os.POSIX_SPAWN_DUP2, quiet, number) for number in (0, 1, 2)]
                return os.posix_spawn(position, words, os.environ, file_actions=actions, setpgroup=0)
            finally:
                os.close(quiet)
        from subprocess import DEVNULL, Popen

        detached = 0x00000008 | 0x00000200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
        Popen(words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, creationflags=detached)
    except Exception:
        pass
    return 0


def main(text: str) -> None:
    """Send the waiting reports for `spawn`; write the time of the next attempt next to the account."""
    from faulthandler import dump_traceback_later

    from dither_device.telemetry import Telemetry

    try:
        dump_traceback_later(_PATIENCE, exit=True)  # the process ends if the collector is too slow
        job = json.loads(text)
        names = ("app", "version", "key", "address", "relay", "folder")
        # DITHER_TELEMETRY_TEST is in the environment of this process too.
        tool = Telemetry(job["campaign"], **{name: job[name] for name in names}, background=False)
        done = tool.send()  # it looks at consent and at switches before every batch
        if done is not None and done.retry_after is not None and job["marker"]:
            later = time.time() + done.retry_after
            os.utime(job["marker"], (later, later))
    except Exception:  # nobody sees it: the next start tries again
        sys.exit(1)
