"""Batches, and how they reach a collector: directly, or encrypted through a relay (RFC 9458).

Nothing here is imported by a program that only answers. `ssl` is imported when something is sent, and
`cryptography` when a campaign has a sealing key.
"""

from __future__ import annotations

import json
import os
import sys

from dither_device.campaign import check_sealing_key
from dither_device.exchange import MOST, exchange, judge, split_address
from dither_device.keyed import hmac
from dither_device.text import DeviceError, Malformed, canonical, need, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from dither_device.account import Account
    from dither_device.campaign import Campaign

    Exchange = Callable[[str, str, bytes, str], tuple[int, dict[str, str], bytes]]

PACKED = "application/vnd.dither.batch"
REQUEST, RESPONSE = "message/ohttp-req", "message/ohttp-res"
GATEWAY = "/.well-known/ohttp-gateway"
_PATIENCE = 600.0  # seconds of a process that sends


def packed_body(identity: str, label: str, reports: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the bytes of a batch: sorted by fingerprint and by report, so that it is always the same."""
    groups = _grouped(reports)
    told = label.encode()
    need(len(told) <= 64 and groups, "fields", "a label of at most 64 bytes, and a report")
    parts = [b"dither\0\x02", bytes.fromhex(identity), len(told).to_bytes(1, "little"), told]
    parts.append(len(groups).to_bytes(2, "little"))
    for fingerprint, some in groups:
        head = len(some[0]).to_bytes(4, "little") + len(some).to_bytes(4, "little")
        parts += [bytes.fromhex(fingerprint), head, *some]
    body = b"".join(parts)
    return body + sha256(body).digest()[:16]


def json_body(identity: str, label: str, reports: Iterable[tuple[str, bytes]]) -> str:
    """Return a batch as canonical JSON."""
    told = {fingerprint: [report.hex() for report in some] for fingerprint, some in _grouped(reports)}
    return canonical({"batch": identity, "dither": 2, "label": label, "reports": told})


def _grouped(reports: Iterable[tuple[str, bytes]]) -> list[tuple[str, list[bytes]]]:
    groups: dict[str, list[bytes]] = {}
    for fingerprint, report in reports:
        groups.setdefault(fingerprint, []).append(report)
    return sorted((fingerprint, sorted(some)) for fingerprint, some in groups.items())


# --- binary HTTP [RFC 9292], messages of known length


def _number(value: int) -> bytes:
    if value < 1 << 6:
        return value.to_bytes(1, "big")
    return (value | 1 << 14).to_bytes(2, "big") if value < 1 << 14 else (value | 1 << 31).to_bytes(4, "big")


def _text(data: bytes) -> bytes:
    return _number(len(data)) + data


def binary_request(method: str, address: str, form: str, body: bytes) -> bytes:
    """Return a request in binary HTTP, padded with zeros to a power of two of at least 1 024 bytes."""
    scheme, host, path = split_address(address)
    del scheme  # inside it is always https
    fields = _text(b"content-type") + _text(form.encode()) if form else b""
    head = b"".join(_text(word.encode()) for word in (method, "https", host, path))
    plain = _number(0) + head + _text(fields) + _text(body)
    return plain.ljust(max(1024, 1 << (len(plain) - 1).bit_length()), b"\0")


class _Parts:
    """The parts of a message in binary HTTP, read one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self) -> int:
        need(self.at < len(self.data), "text", "cut off")
        size = 1 << (self.data[self.at] >> 6)
        part = self.data[self.at : self.at + size]
        need(len(part) == size, "text", "cut off")
        self.at += size
        return int.from_bytes(part, "big") & (1 << 8 * size - 2) - 1

    def text(self) -> bytes:
        size = self.number()
        part = self.data[self.at : self.at + size]
        need(len(part) == size, "text", "cut off")
        self.at += size
        return part

    def section(self) -> bytes:
        """Return a part that may be left out where nothing follows."""
        return self.text() if self.at < len(self.data) else b""

    def fields(self) -> dict[str, str]:
        """Return a section of fields, by name."""
        inner = _Parts(self.section())
        seen: dict[str, str] = {}
        while inner.at < len(inner.data):
            name, value = inner.text(), inner.text()
            token = name and all(48 <= c <= 57 or 97 <= c <= 122 or c in b"!#$%&'*+-.^_`|~" for c in name)
            known = name.decode("latin-1")
            need(token and known not in seen and not any(c in value for c in b"\0\r\n"), "text", "a field")
            seen[known] = value.decode("latin-1")
        return seen


def binary_response(data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Return status, fields and content of a response; raise Malformed unless it is a whole one."""
    parts = _Parts(data)
    need(parts.number() == 1, "text", "a response of known length was expected")
    status = parts.number()
    while 100 <= status < 200:  # informational ones come before
        parts.fields()
        status = parts.number()
    need(200 <= status < 600, "text", "a status")
    told = parts.fields()
    content = parts.section()
    if parts.at < len(data) and data[parts.at]:
        parts.fields()
    need(not any(data[parts.at :]), "text", "followed by zeros alone")
    return status, told, content


# --- HPKE in base mode: X25519, HKDF-SHA256, AES-128-GCM [RFC 9180]

_VERSION, _KEM, _SUITE = b"HPKE-v1", b"KEM\0\x20", b"HPKE\0\x20\0\x01\0\x01"


def _expand(secret: bytes, suite: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return hmac(secret, length.to_bytes(2, "big") + _VERSION + suite + label + info + b"\x01")[:length]


def can_seal() -> bool:
    """Return whether requests can be encrypted here: `cryptography` is installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        AESGCM(X25519PrivateKey.generate().private_bytes_raw())
    except Exception:
        return False
    return True


def encapsulate(
    configuration: str, plain: bytes, ephemeral: bytes | None = None
) -> tuple[bytes, Callable[[bytes], bytes]]:
    """Return an encrypted request, of other bytes every time, and a function that opens its answer.

    `ephemeral` is a private key, for vectors alone.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key = check_sealing_key(configuration)
    own = X25519PrivateKey.from_private_bytes(ephemeral) if ephemeral else X25519PrivateKey.generate()
    public = own.public_key().public_bytes_raw()
    try:
        common = own.exchange(X25519PublicKey.from_public_bytes(key))
    except ValueError:
        raise Malformed("key", "everybody knows what is encrypted to it") from None
    header = bytes.fromhex(configuration[:2]) + _SUITE[4:]
    shared = _expand(
        hmac(b"", _VERSION + _KEM + b"eae_prk" + common), _KEM, b"shared_secret", public + key, 32
    )
    info = b"message/bhttp request\0" + header
    digests = [hmac(b"", _VERSION + _SUITE + text) for text in (b"psk_id_hash", b"info_hash" + info)]
    bound = b"".join([b"\0", *digests])
    secret = hmac(shared, _VERSION + _SUITE + b"secret")
    cipher = AESGCM(_expand(secret, _SUITE, b"key", bound, 16))
    sealed = cipher.encrypt(_expand(secret, _SUITE, b"base_nonce", bound, 12), plain, None)
    exported = _expand(secret, _SUITE, b"exp", bound, 32)
    answers = _expand(exported, _SUITE, b"sec", b"message/bhttp response", 16)

    def open_answer(answer: bytes) -> bytes:
        inner = hmac(public + answer[:16], answers)
        try:
            opener = AESGCM(hmac(inner, b"key\x01")[:16])
            return opener.decrypt(hmac(inner, b"nonce\x01")[:12], answer[16:], None)
        except Exception:  # a tag that does not fit, or too few bytes
            raise Malformed("text", "the answer was changed, or is that of another request") from None

    return header + public + sealed, open_answer


# --- sending


class Sent:
    """What became of the reports that waited.

    `sent` reports are stored by the collector, `waiting` still wait, `refused` are the words of the collector
    about batches that it will never take, which were dropped. `problem` says why the rest waits, or is None;
    `retry_after` are seconds.
    """

    __slots__ = ("problem", "refused", "retry_after", "sent", "waiting")

    def __init__(self) -> None:
        self.sent = self.waiting = 0
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
) -> Sent:
    """Send what waits for a campaign to its collector, batch by batch; a batch always has the same bytes.

    If the campaign has a sealing key, everything is encrypted to it, and nothing is sent where `cryptography`
    is not installed. `relay` is the address of a relay that passes requests on to the collector's gateway.
    """
    done = Sent()
    place = f"{address.rstrip('/')}/v1/campaigns/{campaign.id}/batches"
    sealing_key = campaign.terms.get("sealing_key")
    label = _label(campaign, label)
    try:
        need(relay is None or sealing_key is not None, "key", "the campaign has no sealing key for a relay")
        if sealing_key is not None and not can_seal():
            done.problem = "the campaign asks for encryption: pip install cryptography"
        while done.problem is None:
            with account.transaction() as state:
                found = account.batch_in(state, _event(campaign))
            if found is None:
                break
            identity, items = found
            reports = [(item["fingerprint"], bytes.fromhex(item["report"])) for item in items]
            body = packed_body(identity, label, reports)
            status, told, text = _post(place, body, sealing_key, relay, timeout)
            fate, word = judge(identity, status, text)
            if fate == "acknowledged":
                done.sent += account.acknowledge(identity)
            elif fate == "dropped":
                done.refused.append(word)
                account.acknowledge(identity)
            else:
                done.problem = word or f"status {status}"
                done.retry_after = _seconds(told.get("retry-after"))
    except DeviceError as error:
        done.problem = str(error)
    except Exception as error:  # of the network: no name, no route, a certificate
        done.problem = f"unreachable ({type(error).__name__})"
    try:
        listed = [mark for _, mark in _event(campaign)["questions"]]
        done.waiting = sum(item["fingerprint"] in listed for item in account.queue)
    except DeviceError:
        pass
    return done


def preview(opened: dict[str, Any], campaign: Campaign, label: str) -> list[str]:
    """Return the batches that `send` would make of a state of an account, as JSON; nothing is changed."""
    from dither_device.rules import Policy, State, decide

    state = State(opened)
    bodies: list[str] = []
    while True:
        event = _event(campaign)
        told = decide(state, event, Policy(), None).outcome
        if told["is"] == "empty":
            return bodies
        reports = [
            (state.queue[name]["fingerprint"], state.queue[name]["report"]) for name in told["reports"]
        ]
        identity = "<random>" if told["id"] == event["id"] else told["id"]
        some = [(mark, bytes.fromhex(report)) for mark, report in reports]
        bodies.append(json_body(identity, _label(campaign, label), some))
        state.apply({"unqueue": told["reports"]})


def _label(campaign: Campaign, label: str) -> str:
    return label if label in campaign.terms["labels"] else ""


def _event(campaign: Campaign) -> dict[str, Any]:
    """Return the event that makes a batch of what waits for a campaign."""
    marks = [[name, json.loads(text)["fingerprint"]] for name, text in campaign.questions.items()]
    identity = os.urandom(16).hex()
    return {"do": "batch", "id": identity, "asker": campaign.asker, "most": 100, "questions": marks}


def _post(
    place: str, body: bytes, sealing_key: str | None, relay: str | None, timeout: float
) -> tuple[int, dict[str, str], bytes]:
    if sealing_key is None:
        return exchange(place, "POST", body, PACKED, timeout)
    sealed, open_answer = encapsulate(sealing_key, binary_request("POST", place, PACKED, body))
    scheme, host, _ = split_address(place)
    to = relay or f"{scheme}://{host}{GATEWAY}"
    room = 2 * MOST + (1 << 10)  # an encrypted answer is padded to a power of two
    status, told, text = exchange(to, "POST", sealed, REQUEST, timeout, room)
    # What a relay says by itself acknowledges nothing.
    need(status == 200 and told.get("content-type") == RESPONSE, "relay", f"it answered {status}")
    return binary_response(open_answer(text))


def _seconds(text: str | None) -> float | None:
    try:
        return min(max(0.0, float(text or "")), 86_400.0)  # of no number, 0
    except ValueError:
        return None


# --- in the background


def spawn(job: dict[str, Any]) -> int:
    """Start a process that sends, and leave it alone: it delays nobody's end. Return its number, or 0.

    It runs with the isolated path of the interpreter (-I), so that no module of the present folder is taken.
    """
    place = sys.executable
    if not place or getattr(sys, "frozen", False):
        return 0
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from dither_device.sending import main; main(sys.argv[2])"
    )
    words = [place, "-I", "-c", code, package, json.dumps(job)]
    try:
        if os.name == "posix":
            quiet = os.open(os.devnull, os.O_RDWR)
            try:
                actions = [(os.POSIX_SPAWN_DUP2, quiet, number) for number in (0, 1, 2)]
                return os.posix_spawn(place, words, os.environ, file_actions=actions, setpgroup=0)
            finally:
                os.close(quiet)
        from subprocess import DEVNULL, Popen

        detached = 0x00000008 | 0x00000200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
        Popen(words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, creationflags=detached)
    except Exception:
        pass
    return 0


def main(text: str) -> None:
    """Send what waits, as `spawn` asks for; write when to try again beside the account."""
    from faulthandler import dump_traceback_later

    from dither_device.account import Account
    from dither_device.campaign import Campaign

    try:
        dump_traceback_later(_PATIENCE, exit=True)  # whoever answers too slowly, or never: it ends
        job = json.loads(text)
        with open(job["campaign"], encoding="utf-8") as stream:
            campaign = Campaign(stream.read(), key=job["key"])
        with Account(job["account"]) as account:
            done = send(account, campaign, job["address"], relay=job["relay"], label=job["label"])
        if done.retry_after is not None and job["marker"]:
            import time

            later = time.time() + done.retry_after
            os.utime(job["marker"], (later, later))
    except Exception:  # nobody sees it: the next start tries again
        sys.exit(1)
