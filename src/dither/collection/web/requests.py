"""Requests of devices and operators: campaigns, reports, limits and metrics."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import hmac
import json
import os
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dither.collection.collector import Collector, check, read, read_withdrawal
from dither.collection.log import log
from dither.collection.ohttp import (
    KEYS,
    REQUEST,
    RESPONSE,
    BinaryRequest,
    BinaryResponse,
    configurations,
    decapsulate,
    sealed_size,
)
from dither.collection.refusals import BatchRefused, Reason
from dither.collection.settings import Networks, limited_as
from dither.collection.store.store import StoreUnavailable
from dither.collection.writer import Writer
from dither.core.counts import Counts
from dither.errors import DitherError, InvalidParameter, MalformedReport

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


Handler = Callable[..., Awaitable["Response | None"]]  # handler of a request; an application returns None

_ROTATION: Final = 600.0  # seconds after which a returning address is not recognised
_MOST: Final = 1 << 20  # largest number of distinguished addresses


class RateLimits:
    """A bucket of tokens for each address, one token per report: `burst` at first, `rate` more each second.

    The number of reports in a batch is known only after its body was read. Therefore a request is allowed
    while a token is left, and charged for one report. The other reports are charged later and may leave a
    debt that delays the next requests.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._forget()

    def _forget(self) -> None:
        self._salt = os.urandom(16)
        self._until = self._clock() + _ROTATION
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def allow(self, address: str) -> bool:
        """Return whether a request of an address may be answered, and charge it for one report."""
        name, tokens, now = self._bucket(address)
        allowed = tokens >= 1.0
        self._buckets[name] = (tokens - allowed, now)
        return allowed

    def charge(self, address: str, reports: int) -> None:
        """Charge an address for further reports, even without tokens."""
        name, tokens, now = self._bucket(address)
        self._buckets[name] = (tokens - reports, now)

    def _bucket(self, address: str) -> tuple[bytes, float, float]:
        """Return the name of an address, the tokens it has now, and the time."""
        now = self._clock()
        if now >= self._until or len(self._buckets) >= _MOST:
            self._forget()
        name = hashlib.blake2b(address.encode(), key=self._salt, digest_size=8).digest()
        tokens, before = self._buckets.get(name, (self._burst, now))
        return name, min(self._burst, tokens + (now - before) * self._rate), now


def client_address(scope: Mapping[str, Any], proxies: Networks) -> str:
    """Return the address of a request's sender; a listed proxy is trusted about the forwarded address.

    Of several forwarded addresses, the last one that is not a listed proxy's counts: the earlier ones are
    claims of the sender. "unix" is the name of a proxy on a local socket.
    """
    peer = scope.get("client")
    address = str(peer[0]) if peer else "unix"
    if address in proxies:
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                forwarded = [hop.strip() for hop in value.decode("latin-1").split(",")]
                address = next((hop for hop in reversed(forwarded) if hop not in proxies), address)
    return address


def operation_handlers(writer: Writer, token: str | None) -> dict[str, Handler]:
    """Return the handlers of operators; admin actions need a token."""
    from starlette.responses import JSONResponse, PlainTextResponse

    collector = writer.collector

    async def health(request: Request) -> Response:
        return JSONResponse(collector.health())

    async def ready(request: Request) -> Response:
        able = await asyncio.to_thread(writer.able)
        return JSONResponse({"ready": able}, 200 if able else 503)

    async def metrics(request: Request) -> Response:
        collector.signals.set("waiting", writer.waiting)
        return PlainTextResponse(
            collector.signals.exposition(collector), media_type="text/plain; version=0.0.4"
        )

    async def act(request: Request) -> Response:
        if not is_permitted(request, token):
            return JSONResponse({"words": "this needs the token, in the header authorization"}, 401)
        try:
            done = await _act(writer, request.path_params["action"], await _asked(request))
        except StoreUnavailable:
            return JSONResponse({"words": "the store cannot be written now"}, 503)
        except (DitherError, ValueError, KeyError, TypeError, RecursionError) as error:
            words = str(error) if isinstance(error, DitherError) else "campaign or day is missing or wrong"
            return JSONResponse({"words": words}, 400)
        log("admin action", action=request.path_params["action"])
        return JSONResponse(done, 404 if "words" in done else 200)

    shown: dict[str, Handler] = {"health": health, "ready": ready, "metrics": metrics}
    return shown if token is None else {**shown, "act": act}


def is_permitted(request: Request, token: str | None) -> bool:
    """Return whether a request carries the token, compared in constant time."""
    given = request.headers.get("authorization", "")
    return token is not None and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


async def _asked(request: Request) -> dict[str, Any]:
    body = await request.body()
    found = json.loads(body) if body else {}
    if not isinstance(found, dict):
        raise TypeError
    return found


async def _act(writer: Writer, action: str, questions: dict[str, Any]) -> dict[str, Any]:
    collector = writer.collector
    match action:
        case "reload":
            known = await asyncio.to_thread(writer.reload)
            return {"campaigns": known}
        case "fold":
            day, campaign = datetime.date.fromisoformat(questions["day"]), str(questions["campaign"])
            parts = await asyncio.wrap_future(writer.call(lambda: collector.fold(campaign, day)))
            return {"folded": parts}
        case "delete":
            campaign = str(questions["campaign"])
            files = await asyncio.wrap_future(writer.call(lambda: collector.delete(campaign)))
            return {"deleted": campaign, "exported": files}
        case "counts":
            names = str(questions["campaign"]), str(questions["question"])
            since = questions.get("since")
            first = None if since is None else datetime.date.fromisoformat(since)
            made = await asyncio.to_thread(_counts, collector, *names, questions.get("by"), first)
            return {"counts": made}
    return {"words": "the actions are reload, fold, delete and counts"}


def _counts(
    collector: Collector, campaign: str, question: str, by: object, since: datetime.date | None
) -> dict[str, str]:
    """Return all stored reports of a question, including waiting ones: summaries in hexadecimal, by group.

    Groups are days or labels, as `by` says; without it there is one group with an empty name. `since` is the
    first day whose reports are used.
    """
    live = collector.live
    found = live.days(campaign, question) if since is not None or by == "day" else []
    days = [day for day in found if since is None or day >= since]
    every: list[datetime.date | None] = [None] if since is None else [*days]
    parts: dict[str, tuple[list[datetime.date | None], str | None]] = {"": (every, None)}
    if by == "day":
        parts = {day.isoformat(): ([day], None) for day in days}
    elif by == "label":
        parts = {label: (every, label) for label in live.labels(campaign, question)}
    elif by is not None:
        raise InvalidParameter("expected by to be day or label; correct it, or leave it out")
    empty = Counts.empty(live.question_of(campaign, question))
    return {
        group: sum((live.summary(campaign, question, day, label) for day in own), empty).to_bytes().hex()
        for group, (own, label) in parts.items()
    }


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

_JSON: Final = b"application/json"
_ALWAYS: Final = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_KEY_PROBLEM: Final = "https://iana.org/assignments/http-problem-types#ohttp-key"  # [RFC 9458, 5.3]
_PROBLEM: Final = b"application/problem+json"  # [RFC 9457]
# headers that pages of other origins may read
_EXPOSED: Final = (b"access-control-expose-headers", b"retry-after")
_RETRY: Final = {408: b"1", 429: b"10", 503: b"5"}  # seconds until the next attempt, by status


async def reply(
    send: Send, status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]] = (), kind: bytes = _JSON
) -> None:
    """Send an answer, in JSON unless another content type is given."""
    given = [(b"content-type", kind), *_ALWAYS, (b"content-length", b"%d" % len(body)), *headers]
    if status in _RETRY:
        given.append((b"retry-after", _RETRY[status]))
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body})


def refusal_body(reason: Reason) -> bytes:
    """Return the answer to a batch that is refused."""
    facts = {"refused": reason.value, "words": reason.words}
    if reason is Reason.SEALED:
        facts |= {"type": _KEY_PROBLEM, "title": reason.words}
    return json.dumps(facts).encode()


def header(scope: Mapping[str, Any], name: bytes) -> bytes | None:
    """Return a header of a request by its lower-case name, or None."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def content_type(scope: Mapping[str, Any]) -> str:
    """Return the content type of a request in lower case, without parameters, or ""."""
    return media_type((header(scope, b"content-type") or b"").decode("latin-1"))


def media_type(text: str) -> str:
    """Return a content type in lower case, without parameters."""
    return text.partition(";")[0].strip().lower()


def cors(scope: Mapping[str, Any], origins: tuple[str, ...]) -> Headers:
    """Return the headers that allow a page of a listed origin to read the answer."""
    origin = header(scope, b"origin")
    if not origins:
        return []
    if "*" in origins:
        return [] if origin is None else [(b"access-control-allow-origin", b"*"), _EXPOSED]
    # Also without an origin: a cache would give the answer without the header to a page that needs it.
    if origin is not None and origin.decode("latin-1") in origins:
        return [(b"access-control-allow-origin", origin), _EXPOSED, (b"vary", b"origin")]
    return [(b"vary", b"origin")]


BUNDLES: Final = (
    *("dither.js", "dither.global.js", "core.js", "account.js", "angles.js", "auto.js", "hashed.js"),
    *("box.js", "lattice.js", "nearest.js", "packed.js", "paths.js", "projective.js", "relay.js", "rules.js"),
    *("optional.js", "several.js", "signatures.js"),
)


INTEGRITY: Final = "integrity.json"  # the digests of the bundles, written with each build


def integrity(data: bytes) -> str:
    """Return the digest of a file in the form of the attribute integrity=: sha384-…"""
    return "sha384-" + b64encode(hashlib.sha384(data).digest()).decode()


def bundle(name: str) -> bytes | None:
    """Return a file of the JavaScript client; None if it is not installed."""
    packaged = Path(str(resources.files("dither"))) / "clients" / "javascript" / name
    in_repository = Path(__file__).parents[4] / "clients" / "javascript" / "dist" / name
    for path in (packaged, in_repository):
        if path.is_file():
            return path.read_bytes()
    return None


LIST: Final = "/v1/list"


def text_at(collector: Collector, path: str) -> str | None:
    """Return the campaign or the list of campaigns at a path, or None."""
    if path == LIST:
        return None if collector.listed is None else collector.listed.to_json()
    name, slash, part = path.removeprefix(_BEFORE).partition("/")
    found = collector.campaigns.get(name) if path.startswith(_BEFORE) else None
    if found is None or (slash and (part != "card" or found.card is None)):
        return None
    return found.card[0] if slash and found.card is not None else found.to_json()


def campaign_handlers(collector: Collector) -> dict[str, Handler]:
    """Return the handlers of campaigns and of the client."""
    from starlette.responses import Response

    def answer(request: Request, body: str | bytes, kind: str, status: int = 200, age: int = 60) -> Response:
        headers = {"cache-control": f"public, max-age={age}", "x-content-type-options": "nosniff"}
        made = Response(body, status, headers, media_type=kind)
        for name, value in cors(request.scope, collector.settings.origins):
            made.headers[name.decode()] = value.decode("latin-1")
        return made

    async def every(request: Request) -> Response:
        listed = [
            {
                "id": published.id,
                "name": published.contract.name,
                "version": published.contract.version,
                "begins": published.contract.begins.isoformat(),
                "ends": published.contract.ends.isoformat(),
                "retired": published.retired is not None,
            }
            for published in collector.campaigns.values()
        ]
        return answer(request, json.dumps({"campaigns": listed}), "application/json")

    async def public(request: Request) -> Response:
        found = text_at(collector, request.url.path)
        if found is None:
            words = json.dumps({"words": "this collector has no such campaign or list"})
            return answer(request, words, "application/json", 404)
        return answer(request, found, "application/json")

    async def client(request: Request) -> Response:
        name = request.path_params["name"]
        found = bundle(name) if name in (*BUNDLES, INTEGRITY) else None
        if found is None:
            return answer(request, "there is no such file", "text/plain", 404)
        kind = "application/json" if name == INTEGRITY else "text/javascript"
        return answer(request, found, kind, age=3600)

    return {"campaigns": every, "public": public, "client": client}


PATH: Final = "/v1/campaigns/{campaign}/batches"
WITHDRAWALS: Final = "/v1/campaigns/{campaign}/withdrawals"
METHODS: Final = ("POST", "OPTIONS")
_BEFORE, _, _AFTER = PATH.partition("{campaign}")
_TAKEN_BACK: Final = WITHDRAWALS.rpartition("}")[2]
_WITHDRAWAL_BYTES: Final = 1 << 10  # bytes of a body
_BUSY: Final = json.dumps({"words": "the store cannot be written now; send the same bytes again"}).encode()
_LOST: Final = json.dumps({"words": "the body did not arrive; send the same bytes again"}).encode()
_LARGE: Final = 1 << 17  # smallest size, in bytes, of a body that is read in a thread
_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-max-age", b"86400"),
]


class _Gone(Exception):
    """The client disconnected before its body was complete."""


class _Lost(Exception):
    """A server or a proxy lost the body or a part of it, so the device is not at fault."""


class Unfinished:
    """Limits the bytes of incoming bodies: to 64 largest bodies in total, and 4 per address.

    A connection that omits the end of a large body would otherwise occupy memory for `patience` seconds.
    The address None means relays; they are only counted in total.
    """

    def __init__(self, largest: int) -> None:
        self._most, self._most_each = 64 * largest, 4 * largest
        self._bytes: Counter[str | None] = Counter()
        self._total = 0

    def add(self, address: str | None, count: int) -> bool:
        """Count bytes that arrived; return whether they are within the limits."""
        self._bytes[address] += count
        self._total += count
        return self._total <= self._most and (address is None or self._bytes[address] <= self._most_each)

    def remove(self, address: str | None, count: int) -> None:
        """Subtract the bytes of a body that is complete or was abandoned."""
        self._bytes[address] -= count
        self._total -= count
        if not self._bytes[address]:
            del self._bytes[address]


class Batches:
    """The intake, as an ASGI application: batches, and the gateway of encrypted requests."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._collector = writer.collector
        settings = self._collector.settings
        self._limits = RateLimits(settings.rate, settings.burst)
        self._unfinished = Unfinished(settings.body)
        self._proxies, self._relays = Networks(settings.proxies), Networks(settings.relays)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed = cors(scope, self._collector.settings.origins)
        if scope["method"] == "OPTIONS":
            known = any(name == b"access-control-allow-origin" for name, _ in allowed)
            await reply(send, 204 if known else 403, b"", [*allowed, *(_PREFLIGHT if known else [])])
            return
        campaign = scope["path_params"].get("campaign")
        if scope["method"] != "POST":
            await reply(send, 200, configurations(self._collector.sealing_keys), allowed, KEYS.encode())
            return
        began = time.perf_counter_ns()
        try:
            address = client_address(scope, self._proxies)
            charged = limited_as(address) if address not in self._relays else None
            if charged is not None and not self._limits.allow(charged):
                raise BatchRefused(Reason.RATE)
            form, most = content_type(scope), self._collector.settings.body
            if campaign is None:
                if form != REQUEST:
                    raise BatchRefused(Reason.FORM)
                body = await self._body(scope, receive, sealed_size(most), charged)
                answer = await self._open(body, charged)
                await reply(send, 200, answer, allowed, RESPONSE.encode())
            elif scope["path"].endswith(_TAKEN_BACK):
                body = await self._body(scope, receive, min(most, _WITHDRAWAL_BYTES), charged)
                status, reported = await self._withdraw(campaign, body, form)
                await reply(send, status, reported, allowed)
            else:
                body = await self._body(scope, receive, most, charged)
                status, reported = await self._take(campaign, body, form, charged)
                await reply(send, status, reported, allowed)
        except BatchRefused as refused:
            self._collector.refuse(refused.reason, campaign or "")
            kind = _PROBLEM if refused.reason is Reason.SEALED else _JSON
            await reply(send, refused.reason.status, refusal_body(refused.reason), allowed, kind)
        except _Lost:
            await reply(send, 503, _LOST, allowed)
        except _Gone:
            return
        self._collector.signals.observe("answer_seconds", (time.perf_counter_ns() - began) // 1000)

    async def _take(self, campaign: str, body: bytes, form: str, charged: str | None) -> tuple[int, bytes]:
        """Store a batch; return the status and the body of the answer. `charged` is the address, if any."""
        try:
            batch = await asyncio.to_thread(read, body, form) if len(body) > _LARGE else read(body, form)
            arrived = check(self._collector, campaign, batch)
            if charged is not None and (reports := batch.reports) > 1:
                self._limits.charge(charged, reports - 1)
            await self._writer.store(arrived)
        except BatchRefused as refused:
            self._collector.refuse(refused.reason, campaign)
            return refused.reason.status, refusal_body(refused.reason)
        except StoreUnavailable:
            return 503, _BUSY
        return 200, b'{"batch":"%s"}' % batch.id.hex().encode()

    async def _withdraw(self, campaign: str, body: bytes, form: str) -> tuple[int, bytes]:
        """Withdraw a batch; return the status and the body of the answer, the same for any identity."""
        try:
            withdrawal, identity = read_withdrawal(self._collector, campaign, body, form)
            await self._writer.store(withdrawal)
        except BatchRefused as refused:
            self._collector.refuse(refused.reason, campaign)
            return refused.reason.status, refusal_body(refused.reason)
        except StoreUnavailable:
            return 503, _BUSY
        return 200, b'{"withdrawn":"%s"}' % identity.encode()

    async def _open(self, body: bytes, charged: str | None) -> bytes:
        """Return the encrypted answer to an encrypted request; raise BatchRefused if it cannot be opened.

        Refusals are encrypted as well [RFC 9458, 5.2], so that a relay cannot read them.
        """
        request = (body, self._collector.sealing_keys)
        try:
            plain, exchange = (
                await asyncio.to_thread(decapsulate, *request)
                if len(body) > _LARGE
                else decapsulate(*request)
            )
        except MalformedReport:
            raise BatchRefused(Reason.SEALED) from None
        self._collector.signals.add("opened_total")
        status, reply = await self._within(plain, charged)
        after = _RETRY.get(status, b"").decode()
        return exchange.encrypt_answer(BinaryResponse(status, "application/json", reply, after).to_bytes())

    async def _within(self, plain: bytes, charged: str | None) -> tuple[int, bytes]:
        """Return the status and the body of the answer to a request in binary HTTP."""
        reason = Reason.REQUEST
        try:
            request = BinaryRequest.from_bytes(plain)
        except MalformedReport:
            request = BinaryRequest("", "")
        campaign = campaign_of(request.path)
        if request.method == "GET":
            found = text_at(self._collector, request.path)
            if found is not None:
                return 200, found.encode()
            if request.path.removeprefix(_BEFORE).isalnum():
                reason = Reason.CAMPAIGN
        elif request.method == "POST" and campaign is not None:
            if len(request.content) <= self._collector.settings.body:
                return await self._take(campaign, request.content, media_type(request.kind), charged)
            reason = Reason.SIZE
        elif request.method == "POST" and (taken := campaign_of(request.path, _TAKEN_BACK)) is not None:
            campaign = taken
            if len(request.content) <= _WITHDRAWAL_BYTES:
                return await self._withdraw(taken, request.content, media_type(request.kind))
            reason = Reason.SIZE
        self._collector.refuse(reason, campaign or "")
        return reason.status, refusal_body(reason)

    async def _body(self, scope: Scope, receive: Receive, most: int, charged: str | None) -> bytes:
        """Return the body; raise BatchRefused if it is too large or arrives too slowly.

        Raise _Lost if it is not complete, or if too many bodies are being received.
        """
        stated = header(scope, b"content-length")
        if stated is not None and (not stated.isdigit() or int(stated[:20]) > most):
            raise BatchRefused(Reason.SIZE)
        if has_arrived(receive):  # most bodies, which need no timer and no memory for long
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body = bytes(message.get("body", b""))
        else:
            body = await self._parts(receive, most, charged)
        if len(body) > most:
            raise BatchRefused(Reason.SIZE)
        if not body if stated is None else len(body) != int(stated):
            raise _Lost
        return body

    async def _parts(self, receive: Receive, most: int, charged: str | None) -> bytes:
        """Return a body that arrives in parts, up to the first part that makes it too long."""
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self._collector.settings.patience):
                while more and len(body) <= most:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if not self._unfinished.add(charged, len(message.get("body", b""))):
                        raise _Lost
        except TimeoutError:
            raise BatchRefused(Reason.SLOW) from None
        finally:
            self._unfinished.remove(charged, len(body))
        return bytes(body)


def has_arrived(receive: Receive) -> bool:
    """Return whether uvicorn has read the end of a request, so that its body is received at once."""
    return getattr(getattr(receive, "__self__", None), "more_body", True) is False


def campaign_of(path: str, after: str = _AFTER) -> str | None:
    """Return the campaign of a path of the intake; None if it is another path."""
    if not path.startswith(_BEFORE) or not path.endswith(after):
        return None
    campaign = path[len(_BEFORE) : -len(after)]
    return campaign if campaign and "/" not in campaign else None
